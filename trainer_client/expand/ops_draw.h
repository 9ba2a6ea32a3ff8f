/* ops_draw.h - what the device's ops do to each row of a batch.
 *
 * The plan of a field, made once at open, and the draws of a batch as one array
 * of plain structs (ops.h): pure functions of the content, the seed and
 * the place of the batch, for every device. */
#ifndef FBY_CLIENT_EXPAND_OPS_DRAW_H
#define FBY_CLIENT_EXPAND_OPS_DRAW_H

#include "pipeline/types.h"
#include "trainer_client/expand/ops_plan.h"

/* Rows of a global batch that lie beside each other. */
struct fby_ops_batch {
    uint64_t        seed, epoch, step;
    uint32_t        first_row; /* of the global batch; begins a group */
    uint32_t        rows;
    uint32_t        own;     /* of these rows: the others are padding */
    const uint64_t *samples; /* a row each; substitutes stand in already */
};

/* Of a picture with a list of device ops. */
struct fby_ops_plan fby_ops_plan_of(const struct fby_field_content *field);

/* For each row what the field's list draws. */
void fby_ops_draw(const struct fby_field_content *field,
    const struct fby_ops_batch *batch, struct fby_ops_row *rows);

#endif
