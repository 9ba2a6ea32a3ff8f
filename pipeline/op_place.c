/* op_place.c - ops that move whole pixels: vertical_flip and pad. */
#include "pipeline/op_private.h"
#include "pipeline/plan/geometry.h"

/* ---- vertical_flip ---- */

static const struct fby_param flip_params[] = {FBY_P_PARAM(0.5)};

static fby_err flip_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    (void)why;
    *out = fby_op_identity(in);
    if (fby_plan_flip(draw, use->params[0].r[0])) {
        fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_VERTICAL_FLIP});
    }
    return FBY_OK;
}

const struct fby_op fby_op_vertical_flip = {
    .name     = "vertical_flip",
    .id       = FBY_OP_VERTICAL_FLIP,
    .moves    = true,
    .version  = 1,
    .params   = flip_params,
    .n_params = FBY_COUNT(flip_params),
    .shape    = fby_op_same_shape,
    .plan     = flip_plan,
};

const struct fby_op fby_device_vertical_flip = {
    .name     = "vertical_flip",
    .id       = FBY_OP_DEVICE_VERTICAL_FLIP,
    .moves    = true,
    .version  = 1,
    .masks    = true,
    .params   = flip_params,
    .n_params = FBY_COUNT(flip_params),
    .shape    = fby_op_same_shape,
    .plan     = flip_plan,
};

/* ---- pad ---- */

enum { PADDING = 0, FILL = 1, MODE = 2 };

static const struct fby_param pad_params[] = {
    [PADDING] = {.name = "padding",
        .expects = "one, two or four integers, 0 to 4096 (all sides; [left and "
                   "right, top and bottom]; [left, top, right, bottom])",
        .min_n   = 1,
        .max_n   = 4,
        .min     = 0,
        .max     = 4096},
    [FILL]    = FBY_FILL_PARAM,
    [MODE]    = {.name = "mode",
           .expects    = "constant, edge, reflect or symmetric",
           .words      = fby_pad_modes,
           .min_n      = 1,
           .max_n      = 1,
           .min        = FBY_PAD_CONSTANT,
           .max        = FBY_PAD_SYMMETRIC,
           .fallback   = {.n = 1, .i = {FBY_PAD_CONSTANT}}},
};

static fby_err pad_check(const struct fby_op_use *use, struct fby_why *why)
{
    return use->params[PADDING].n != 3
               ? FBY_OK
               : fby_because(why, FBY_CONFIG, "padding: expected %s",
                     pad_params[PADDING].expects);
}

/* A shape is asked for before the parameters are checked. */
static int64_t limited(int64_t padding)
{
    int64_t most = (int64_t)pad_params[PADDING].max;
    padding      = padding < 0 ? 0 : padding;
    return padding > most ? most : padding;
}

static struct fby_step pad_step(const struct fby_op_use *use)
{
    const struct fby_value *pad  = &use->params[PADDING];
    struct fby_step         step = {.kind = FBY_STEP_PAD};
    for (uint32_t i = 0; i < 4; i++) {
        step.v[i] = limited(pad->n > 0 ? pad->i[i % pad->n] : 0);
    }
    step.v[4] = use->params[FILL].i[0];
    step.v[5] = use->params[MODE].i[0];
    return step;
}

static struct fby_shape pad_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    struct fby_step step = pad_step(use);
    struct fby_size size =
        fby_step_size(&step, (struct fby_size){in.dims[1], in.dims[0]});
    in.dims[0] = in.dims[0] > 0 ? size.h : 0;
    in.dims[1] = in.dims[1] > 0 ? size.w : 0;
    return in;
}

/* A mirror reaches to the other end of the picture, no further. */
static bool reaches_too_far(const struct fby_step *step, struct fby_size size)
{
    int64_t less    = step->v[FBY_PAD_MODE] == FBY_PAD_REFLECT ? 1 : 0;
    int64_t w       = (int64_t)size.w - less;
    int64_t h       = (int64_t)size.h - less;
    bool    mirrors = step->v[FBY_PAD_MODE] == FBY_PAD_REFLECT ||
                   step->v[FBY_PAD_MODE] == FBY_PAD_SYMMETRIC;
    return mirrors && (step->v[0] > w || step->v[2] > w || step->v[1] > h ||
                          step->v[3] > h);
}

static fby_err pad_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    struct fby_step step = pad_step(use);
    struct fby_size size = {in.dims[1], in.dims[0]};
    struct fby_size end  = fby_step_size(&step, size);
    (void)draw;
    if (end.w > FBY_MAX_SIDE || end.h > FBY_MAX_SIDE ||
        reaches_too_far(&step, size)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "pad cannot use a picture of %u x %u pixels (width x height): %s",
            size.w, size.h,
            end.w > FBY_MAX_SIDE || end.h > FBY_MAX_SIDE
                ? "a side would not be within 1 to 65535"
                : "it is smaller than what is to be mirrored");
    }
    *out = fby_op_identity(in);
    fby_op_add_step(out, step);
    return FBY_OK;
}

const struct fby_op fby_op_pad = {
    .name     = "pad",
    .id       = FBY_OP_PAD,
    .version  = 1,
    .params   = pad_params,
    .n_params = FBY_COUNT(pad_params),
    .check    = pad_check,
    .shape    = pad_shape,
    .plan     = pad_plan,
};
