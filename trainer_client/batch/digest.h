/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - compute the digests of samples and of steps.
 *
 * A digest is a hash of the raw values of the selected fields, before they are
 * expanded. So it does not depend on dtype, layout, device or codec. The digest
 * of a stream is fby_checksum over the digests of its steps in order.
 * proto/PROTOCOL.md, "Digests of the stream", is the definition. */
#ifndef FBY_CLIENT_BATCH_DIGEST_H
#define FBY_CLIENT_BATCH_DIGEST_H

#include "common/hash.h"
#include "pipeline/types.h"
#include "trainer_client/batch/make_batch.h"
#include "trainer_client/expand/ragged_offsets.h"

struct fby_digest_field { /* a selected field of a batch; in name order */
    const char      *name;
    enum fby_type    type;
    struct fby_shape shape;        /* of one sample; ragged: of the longest */
    const uint8_t   *raw;          /* raw bytes of all rows of the batch */
    uint64_t         sample_bytes; /* bytes of a row; ragged: of the longest */
    const struct fby_ragged_offsets *rows; /* NULL: rows are equally long */
};

/* Returns the digest of row `row`, whose sample number is `sample`. Pure. */
struct fby_checksum fby_sample_digest(uint64_t sample,
    const struct fby_digest_field *fields, uint32_t n_fields, uint32_t row);

/* Returns the digest of a step; `samples` are the digests of its rows. Pure. */
struct fby_checksum fby_step_digest(uint64_t epoch, uint64_t step,
    const struct fby_checksum *samples, uint32_t rows);

/* Set digests, digest and has_digests of input->batch. Call this after
 * fby_make_batch and before the request slot is cleared. Any thread. */
void fby_batch_compute_digests(
    const struct fby_setup *setup, const struct fby_batch_input *input);

#endif
