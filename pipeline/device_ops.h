/* device_ops.h - the ops of the device that a content lists, and their draws.
 *
 * What may stand in a list, what is drawn for which row of a batch, and who is
 * mixed with whom: pure, the same for a worker, a trainer's client and
 * `forebay plan`. proto/PROTOCOL.md, "Ops of the device". */
#ifndef FBY_PIPELINE_DEVICE_OPS_H
#define FBY_PIPELINE_DEVICE_OPS_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/op.h"

enum { FBY_PAIR_GROUP = 8 }; /* rows of a global batch, pairs within them */

/* Where a row stands. */
struct fby_device_place {
    uint64_t seed, epoch, step;
    uint32_t row;    /* of the global batch */
    uint64_t sample; /* whose values it holds: the substitute's */
};

/* What op `i` of the field draws for the row. */
struct fby_op_plan fby_device_plan(const struct fby_field_content *field,
    uint32_t i, const struct fby_device_place *place);

/* The row that `row` is mixed with: the one before it among the rows of its
 * group that are the step's own, or among those that pad it; the first with
 * the last. `own` rows of the `rows` that there are hold samples of their own;
 * all count in the global batch, row < rows. */
uint32_t fby_pair_partner(uint32_t row, uint32_t own, uint32_t rows);

/* The op of the field that mixes rows, which is its last; or NULL. */
const struct fby_op_use *fby_device_pairing(
    const struct fby_field_content *field);

/* The field whose pairing mixes the rows of label field `i`; or NULL. */
const struct fby_field_content *fby_mixed_by(
    const struct fby_content *content, uint32_t i);

/* Does any field mix rows? Then a rank must have whole groups of them.
 * Errors: FBY_CONFIG with both numbers. */
FBY_CHECKED fby_err fby_content_check_world(
    const struct fby_content *content, uint32_t world, struct fby_why *why);

/* The list of field `i`, by itself and with the label it names.
 * Errors: FBY_CONFIG; *at is the op at fault. */
FBY_CHECKED fby_err fby_device_ops_check(const struct fby_content *content,
    uint32_t i, uint32_t *at, struct fby_why *why);

/* What an op draws, over fixed trials; PROTOCOL.md, "Fingerprint". */
struct fby_digest fby_device_behaviour(const struct fby_op *op);

/* What a HEADER says of the list, when there is one: its canonical bytes, and
 * BLAKE2b-256 of its ops' behaviours. */
void fby_device_list_encode(
    const struct fby_field_content *field, struct fby_buffer *out);
struct fby_digest fby_device_list_behaviour(
    const struct fby_field_content *field);

#endif
