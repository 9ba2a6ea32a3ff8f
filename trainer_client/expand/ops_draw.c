/* SPDX-License-Identifier: Apache-2.0 */
/* ops_draw.c - turn a field's list of ops into its plan, and the steps that
 * pipeline/device_ops.h samples into the parameters of a row. */
#include "trainer_client/expand/ops_draw.h"

#include "pipeline/derived.h"
#include "pipeline/device_ops.h"
#include "pipeline/plan/beta.h"

_Static_assert((int)FBY_OPS_BRIGHTNESS == (int)FBY_STEP_BRIGHTNESS &&
                   (int)FBY_OPS_CONTRAST == (int)FBY_STEP_CONTRAST &&
                   (int)FBY_OPS_SATURATION == (int)FBY_STEP_SATURATION &&
                   (int)FBY_OPS_HUE == (int)FBY_STEP_HUE,
    "kernels use the same numbers of steps");

/* ---- the plan of a field ------------------------------------------------- */

/* Add the stage for an op that changes levels. Other ops have no stage. */
static void add_stage(struct fby_ops_plan *plan, const struct fby_op_use *use)
{
    enum { VALUE_PARAM = 3 }; /* index of the parameter `value` */
    uint32_t id = use->op->id;
    if (id == FBY_OP_DEVICE_NORMALIZE) {
        plan->stages[plan->n_stages++] = FBY_OPS_NORMALIZE;
    } else if (id == FBY_OP_DEVICE_COLOUR_JITTER) {
        plan->stages[plan->n_stages++] = FBY_OPS_JITTER;
    } else if (id == FBY_OP_DEVICE_RANDOM_ERASING) {
        plan->stages[plan->n_stages++] = FBY_OPS_ERASE;
        for (uint32_t c = 0; c < 3; c++) {
            plan->erase_value[c] = (float)use->params[VALUE_PARAM].r[c];
        }
    }
}

/* Flips are the only ops of the device that masks may have, too. */
static bool is_flip(const struct fby_op *op)
{
    return op->allows_masks;
}

struct fby_ops_plan fby_ops_plan_of(const struct fby_field_content *field)
{
    struct fby_ops_plan plan = {.width = field->shape.dims[1],
        .height                        = field->shape.dims[0],
        .plain                         = 1,
        .normalized                    = fby_field_is_normalized(field)};
    for (uint32_t i = 0; i < field->n_device; i++) {
        const struct fby_op_use *use = &field->device[i];
        add_stage(&plan, use);
        plan.plain = plan.plain && (is_flip(use->op) ||
                                       use->op->id == FBY_OP_DEVICE_NORMALIZE);
    }
    for (uint32_t c = 0; c < 3 && fby_field_is_normalized(field); c++) {
        plan.mean[c] = (float)field->as.rgb8.mean[c];
        plan.std[c]  = (float)field->as.rgb8.std[c];
    }
    return plan;
}

/* ---- the parameters of a row --------------------------------------------- */

/* Mirror the range from *first to *end - 1 within a side of `side` pixels. */
static void mirror_range(uint32_t side, uint32_t *first, uint32_t *end)
{
    uint32_t new_first = side - *end;
    *end               = side - *first;
    *first             = new_first;
}

/* A flip also mirrors the box that an earlier op erased, if any. */
static void flip_horizontally(struct fby_ops_row *row, uint32_t width)
{
    row->mirror_x ^= 1;
    if (row->erase.right > row->erase.left) {
        mirror_range(width, &row->erase.left, &row->erase.right);
    }
}

static void flip_vertically(struct fby_ops_row *row, uint32_t height)
{
    row->mirror_y ^= 1;
    if (row->erase.right > row->erase.left) {
        mirror_range(height, &row->erase.top, &row->erase.bottom);
    }
}

/* The box of a step whose values are left, top, width and height. */
static struct fby_ops_box box_of(const int64_t v[4])
{
    return (struct fby_ops_box){(uint32_t)v[0], (uint32_t)v[1],
        (uint32_t)(v[0] + v[2]), (uint32_t)(v[1] + v[3])};
}

static void append_jitter(struct fby_ops_row *row, const struct fby_step *step)
{
    row->jitter[row->n_jitter] = (uint8_t)step->kind;
    row->factor[row->n_jitter] = (float)step->v[0] / 65536.0F; /* Q16 */
    row->n_jitter++;
}

static void set_mixup(struct fby_ops_row *row, int64_t lambda)
{
    row->pair  = FBY_OPS_MIXUP;
    row->share = (float)lambda / (float)FBY_LAMBDA_ONE;
    row->partner_share =
        (float)(FBY_LAMBDA_ONE - lambda) / (float)FBY_LAMBDA_ONE;
    row->label_share         = row->share;
    row->label_partner_share = row->partner_share;
}

/* The weight of a label is the share of its picture in the mixed area. */
static void set_cutmix(
    struct fby_ops_row *row, struct fby_size size, const int64_t v[4])
{
    double area              = (double)(v[2] * v[3]);
    double lambda            = 1.0 - area / ((double)size.w * size.h);
    row->pair                = FBY_OPS_CUTMIX;
    row->cut                 = box_of(v);
    row->label_share         = (float)lambda;
    row->label_partner_share = (float)(1.0 - lambda);
}

static void apply_step(
    struct fby_ops_row *row, struct fby_size size, const struct fby_step *step)
{
    if (step->kind == FBY_STEP_VERTICAL_FLIP) {
        flip_vertically(row, size.h);
    } else if (step->kind == FBY_STEP_ERASE) {
        row->erase = box_of(step->v);
    } else if (step->kind == FBY_STEP_MIXUP) {
        set_mixup(row, step->v[0]);
    } else if (step->kind == FBY_STEP_CUTMIX) {
        set_cutmix(row, size, step->v);
    } else {
        append_jitter(row, step);
    }
}

static void apply_op(struct fby_ops_row *row, const struct fby_op_plan *plan)
{
    struct fby_size size = {plan->w, plan->h};
    if (plan->flip) {
        flip_horizontally(row, size.w);
    }
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        apply_step(row, size, &plan->steps[i]);
    }
}

void fby_ops_draw(const struct fby_field_content *field,
    const struct fby_ops_batch *batch, struct fby_ops_row *rows)
{
    struct fby_device_row position = {
        .seed = batch->seed, .epoch = batch->epoch, .step = batch->step};
    for (uint32_t r = 0; r < batch->rows; r++) {
        rows[r]         = (struct fby_ops_row){0};
        position.row    = batch->first_row + r;
        position.sample = batch->samples[r];
        for (uint32_t i = 0; i < field->n_device; i++) {
            struct fby_op_plan plan = fby_device_draw_plan(field, i, &position);
            apply_op(&rows[r], &plan);
        }
        rows[r].partner = fby_pair_partner(r, batch->own, batch->rows);
    }
}
