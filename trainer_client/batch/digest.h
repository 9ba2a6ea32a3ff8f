/* digest.h - the digests of a stream: of a sample, of a step, of all steps.
 *
 * They are taken over raw values, before expansion, so dtype, layout, device
 * and codec do not change them. They are taken over the delivered fields, so
 * selecting fields does. proto/PROTOCOL.md, "Digests of the stream", is the
 * definition. */
#ifndef FBY_CLIENT_BATCH_DIGEST_H
#define FBY_CLIENT_BATCH_DIGEST_H

#include "common/hash.h"
#include "pipeline/types.h"
#include "trainer_client/batch/batch_input.h"
#include "trainer_client/expand/ragged_offsets.h"

struct fby_digest_field { /* one selected field of a batch, in name order */
    const char      *name;
    enum fby_type    type;
    struct fby_shape shape;        /* of one sample */
    const uint8_t   *raw;          /* all rows, one after another */
    uint64_t         sample_bytes; /* of one row; ragged: of max_length */
    const struct fby_ragged_offsets *rows; /* NULL: rows are equally long */
};

/* The digest of row `row`, which shows sample `sample`. Any thread. */
struct fby_sum fby_sample_digest(uint64_t sample,
    const struct fby_digest_field *fields, uint32_t n_fields, uint32_t row);

/* The digest of a step, from those of its rows. Any thread. */
struct fby_sum fby_step_digest(uint64_t epoch, uint64_t step,
    const struct fby_sum *samples, uint32_t rows);

/* Set digests, digest and has_digests of input->batch, whose values were made
 * from the slot that still holds the raw bytes. Any thread. */
void fby_batch_digest(
    const struct fby_setup *setup, const struct fby_batch_input *input);

/* The stream's digest is fby_sum over the steps' digests in order:
 * fby_sum_begin, then fby_sum_add(step->bytes) each, then fby_sum_end. */

#endif
