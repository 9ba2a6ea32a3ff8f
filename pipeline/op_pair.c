/* SPDX-License-Identifier: Apache-2.0 */
/* op_pair.c - ops that only the device has: normalize, and mixup and cutmix,
 * which mix pairs of rows of a batch. */
#include "pipeline/op_private.h"
#include "pipeline/plan/beta.h"

/* ---- normalize ---- */

static const struct fby_param normalize_params[] = {
    {FBY_REALS("mean", 1, 3, -FBY_NORMALIZE_MAX, FBY_NORMALIZE_MAX,
         "one or three numbers, -1000000 to 1000000"),
        .broadcast = true},
    {FBY_REALS("std", 1, 3, 1 / FBY_NORMALIZE_MAX, FBY_NORMALIZE_MAX,
         "one or three numbers, 0.000001 to 1000000"),
        .broadcast = true},
};

const struct fby_op fby_device_normalize = {
    FBY_OP("normalize", DEVICE_NORMALIZE), FBY_OP_PARAMS(normalize_params)};

/* ---- mixup, cutmix ---- */

enum { ALPHA = 0 }; /* index of the parameter `alpha` */

static const struct fby_param pair_params[] = {
    [ALPHA] = {FBY_REALS("alpha", 1, 1, 0.01, 64, "a number, 0.01 to 64"),
        .fallback = {.n = 1, .real = true, .r = {1}}},
    [FBY_MIXING_LABEL] = {FBY_INTEGERS("label", 1, 1, 0, FBY_MAX_FIELDS - 1,
                              "the name of a label field with one_hot"),
        .is_field = true},
};

static fby_err mixup_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    (void)why;
    *out = fby_op_plan_identity(in);
    fby_op_add_step(
        out, (struct fby_step){.kind = FBY_STEP_MIXUP,
                 .v = {fby_draw_beta(draw, use->params[ALPHA].r[0])}});
    return FBY_OK;
}

/* Half the side of the box that cutmix replaces: side * sqrt(1 - lambda) / 2,
 * rounded down. The shift has 24 bits for Q24, and 2 for the square of 1/2. */
static int64_t half_side(uint64_t side, uint32_t lambda)
{
    return (int64_t)fby_isqrt(side * side * (FBY_LAMBDA_ONE - lambda) >> 26);
}

/* Set out[0] to the start and out[1] to the length of the range from centre -
 * half to centre + half, clipped to 0..side. */
static void clip_range(
    int64_t centre, int64_t half, int64_t side, int64_t out[2])
{
    out[0] = centre > half ? centre - half : 0;
    out[1] = (centre + half < side ? centre + half : side) - out[0];
}

static fby_err cutmix_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    uint32_t lambda = fby_draw_beta(draw, use->params[ALPHA].r[0]);
    uint32_t height = in.dims[0];
    uint32_t width  = in.dims[1];
    int64_t  x[2]; /* left edge and width of the box */
    int64_t  y[2]; /* upper edge and height */
    (void)why;
    *out = fby_op_plan_identity(in);
    clip_range((int64_t)fby_draw_below(draw, width), half_side(width, lambda),
        width, x);
    clip_range((int64_t)fby_draw_below(draw, height), half_side(height, lambda),
        height, y);
    fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_CUTMIX,
                             .v = {x[0], y[0], x[1], y[1], lambda}});
    return FBY_OK;
}

#define PAIR_OP(op_name, op_id) \
    FBY_OP(op_name, op_id), FBY_OP_PARAMS(pair_params), .mixes_rows = true

const struct fby_op fby_device_mixup = {
    PAIR_OP("mixup", DEVICE_MIXUP), .plan = mixup_plan};
const struct fby_op fby_device_cutmix = {
    PAIR_OP("cutmix", DEVICE_CUTMIX), .plan = cutmix_plan};
