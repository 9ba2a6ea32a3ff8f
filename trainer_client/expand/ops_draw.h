/* SPDX-License-Identifier: Apache-2.0 */
/* ops_draw.h - sample the random parameters of the device's ops.
 *
 * The plan of a field is made once, at open. The parameters of a batch are an
 * array of struct fby_ops_row, one for each row. They depend only on the
 * content of the pipeline, the seed, the epoch and the step, so they are the
 * same on each device. */
#ifndef FBY_CLIENT_EXPAND_OPS_DRAW_H
#define FBY_CLIENT_EXPAND_OPS_DRAW_H

#include "pipeline/types.h"
#include "trainer_client/expand/ops_plan.h"

/* Consecutive rows of a global batch. */
struct fby_ops_batch {
    uint64_t        seed, epoch, step;
    uint32_t        first_row; /* in the global batch; a multiple of 8 */
    uint32_t        rows;
    uint32_t        own;     /* number of rows before the padding rows */
    const uint64_t *samples; /* number of the sample of each row */
};

/* The plan of a picture field with a list of device ops. */
struct fby_ops_plan fby_ops_plan_of(const struct fby_field_content *field);

/* Sample the parameters of each row for the field's list of ops. `rows` has
 * batch->rows elements. */
void fby_ops_draw(const struct fby_field_content *field,
    const struct fby_ops_batch *batch, struct fby_ops_row *rows);

#endif
