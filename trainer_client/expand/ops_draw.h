/* ops_draw.h - draw the random parameters of the device's ops.
 *
 * A field's plan is made once, at open. The parameters of a batch are one array
 * of plain structs (ops_plan.h). They are pure functions of the content, the
 * seed and the position of the batch, the same for every device. */
#ifndef FBY_CLIENT_EXPAND_OPS_DRAW_H
#define FBY_CLIENT_EXPAND_OPS_DRAW_H

#include "pipeline/types.h"
#include "trainer_client/expand/ops_plan.h"

/* The position of consecutive rows of a global batch. */
struct fby_ops_batch {
    uint64_t        seed, epoch, step;
    uint32_t        first_row; /* of the global batch; begins a group */
    uint32_t        rows;
    uint32_t        own;     /* rows before the padding */
    const uint64_t *samples; /* one per row, substitutes included */
};

/* The plan of a picture field with a list of device ops. */
struct fby_ops_plan fby_ops_plan_of(const struct fby_field_content *field);

/* Draw the parameters of each row for the field's list. */
void fby_ops_draw(const struct fby_field_content *field,
    const struct fby_ops_batch *batch, struct fby_ops_row *rows);

#endif
