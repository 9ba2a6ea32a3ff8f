/* digest.h - the digests of a stream: sample, step, all steps.
 *
 * Taken over raw values, before expansion, so that dtype, layout, device and
 * codec change nothing; over the delivered fields, so that selecting fields
 * does. proto/PROTOCOL.md, "Digests of the stream", is the definition. */
#ifndef FBY_CLIENT_BATCH_DIGEST_H
#define FBY_CLIENT_BATCH_DIGEST_H

#include "common/hash.h"
#include "pipeline/types.h"
#include "trainer_client/expand/ragged_offsets.h"

struct fby_digest_field { /* one selected field of a batch, in name order */
    const char      *name;
    enum fby_type    type;
    struct fby_shape shape;        /* of one sample */
    const uint8_t   *raw;          /* the rows, one after another */
    uint64_t         sample_bytes; /* of one row; where they vary, of the
                                      longest */
    const struct fby_ragged_offsets
        *rows; /* where they vary in length, else NULL */
};

/* Of row `row`, which shows sample `sample`. Any thread. */
struct fby_sum fby_sample_digest(uint64_t sample,
    const struct fby_digest_field *fields, uint32_t n_fields, uint32_t row);

/* Of a step, from its rows' digests. Any thread. */
struct fby_sum fby_step_digest(uint64_t epoch, uint64_t step,
    const struct fby_sum *samples, uint32_t rows);

/* The stream's digest is fby_sum over the steps' digests in order:
 * fby_sum_begin, fby_sum_add(step->bytes) each, fby_sum_end. */

#endif
