/* op_pair.c - ops that only a device does: normalize, and mixup and cutmix,
 * which mix two rows of a batch. */
#include "pipeline/op_private.h"
#include "pipeline/plan/beta.h"
#include "pipeline/plan/fixed.h"

/* ---- normalize ---- */

static const struct fby_param normalize_params[] = {
    {.name       = "mean",
        .expects = "one or three numbers, -1000000 to 1000000",
        .real    = true,
        .spread  = true,
        .min_n   = 1,
        .max_n   = 3,
        .min     = -FBY_NORMALIZE_MAX,
        .max     = FBY_NORMALIZE_MAX},
    {.name       = "std",
        .expects = "one or three numbers, 0.000001 to 1000000",
        .real    = true,
        .spread  = true,
        .min_n   = 1,
        .max_n   = 3,
        .min     = 1 / FBY_NORMALIZE_MAX,
        .max     = FBY_NORMALIZE_MAX},
};

const struct fby_op fby_device_normalize = {
    .name     = "normalize",
    .id       = FBY_OP_DEVICE_NORMALIZE,
    .version  = 1,
    .params   = normalize_params,
    .n_params = FBY_COUNT(normalize_params),
};

/* ---- mixup, cutmix ---- */

enum { ALPHA = 0 };

static const struct fby_param pair_params[] = {
    [ALPHA]          = {.name = "alpha",
                 .expects     = "a number, 0.01 to 64",
                 .real        = true,
                 .min_n       = 1,
                 .max_n       = 1,
                 .min         = 0.01,
                 .max         = 64,
                 .fallback    = {.n = 1, .real = true, .r = {1}}},
    [FBY_PAIR_LABEL] = {.name = "label",
        .expects              = "the name of a label field with one_hot",
        .field                = true,
        .min_n                = 1,
        .max_n                = 1,
        .min                  = 0,
        .max                  = FBY_MAX_FIELDS - 1},
};

static fby_err mixup_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    (void)why;
    *out = fby_op_identity(in);
    fby_op_add_step(
        out, (struct fby_step){.kind = FBY_STEP_MIXUP,
                 .v = {fby_plan_beta(draw, use->params[ALPHA].r[0])}});
    return FBY_OK;
}

/* Half of `side` times the square root of what lambda lacks of the whole. */
static int64_t half_side(uint64_t side, uint32_t lambda)
{
    return (int64_t)fby_isqrt(side * side * (FBY_LAMBDA_ONE - lambda) >> 26);
}

/* From `at - half` to `at + half`, within 0..side. */
static void cut(int64_t at, int64_t half, int64_t side, int64_t out[2])
{
    out[0] = at > half ? at - half : 0;
    out[1] = (at + half < side ? at + half : side) - out[0];
}

static fby_err cutmix_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    uint32_t lambda = fby_plan_beta(draw, use->params[ALPHA].r[0]);
    uint32_t height = in.dims[0];
    uint32_t width  = in.dims[1];
    int64_t  x[2];
    int64_t  y[2];
    (void)why;
    *out = fby_op_identity(in);
    cut((int64_t)fby_draw_below(draw, width), half_side(width, lambda), width,
        x);
    cut((int64_t)fby_draw_below(draw, height), half_side(height, lambda),
        height, y);
    fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_CUTMIX,
                             .v = {x[0], y[0], x[1], y[1], lambda}});
    return FBY_OK;
}

const struct fby_op fby_device_mixup = {
    .name     = "mixup",
    .id       = FBY_OP_DEVICE_MIXUP,
    .version  = 1,
    .pairs    = true,
    .params   = pair_params,
    .n_params = FBY_COUNT(pair_params),
    .plan     = mixup_plan,
};

const struct fby_op fby_device_cutmix = {
    .name     = "cutmix",
    .id       = FBY_OP_DEVICE_CUTMIX,
    .version  = 1,
    .pairs    = true,
    .params   = pair_params,
    .n_params = FBY_COUNT(pair_params),
    .plan     = cutmix_plan,
};
