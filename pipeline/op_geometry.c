/* SPDX-License-Identifier: Apache-2.0 */
/* op_geometry.c - ops that crop, resize, flip and pad. */
#include "pipeline/op_private.h"

/* Indices of the parameters of each op. */
enum { SIZE = 0, SCALE = 1, RATIO = 2 };  /* crops; most have only a size */
enum { SHORTER = 0, EXACT = 1 };          /* resize */
enum { P = 0 };                           /* flips */
enum { PADDING = 0, FILL = 1, MODE = 2 }; /* pad */

#define MAX_PARAM_SIDE 16384 /* pixels of a side that a parameter gives */
/* A size [height, width]; a single number stands for both. */
#define SIZE_PARAM(at_least)                                      \
    {                                                             \
        FBY_INTEGERS("size", at_least, 2, 1, MAX_PARAM_SIDE,      \
            "one or two integers, 1 to 16384 ([height, width])"), \
            .broadcast = true                                     \
    }

static struct fby_size picture_size(struct fby_shape in)
{
    return (struct fby_size){.w = in.dims[1], .h = in.dims[0]};
}

static struct fby_size wanted_size(const struct fby_value *size)
{
    return (struct fby_size){
        .w = (uint32_t)size->i[1], .h = (uint32_t)size->i[0]};
}

/* The plan that crops a picture to `box` and scales the box to `size`. */
static struct fby_op_plan crop_plan(
    const struct fby_box *box, struct fby_size size)
{
    return (struct fby_op_plan){.x = box->x,
        .y                         = box->y,
        .w                         = box->w,
        .h                         = box->h,
        .out_w                     = size.w,
        .out_h                     = size.h};
}

static fby_err refuse_picture(const char *op, struct fby_shape in,
    const char *reason, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "%s cannot use a picture of %u x %u pixels (width x height): %s", op,
        in.dims[1], in.dims[0], reason);
}

/* The shape `in` with other sides. */
static struct fby_shape with_size(struct fby_shape in, struct fby_size size)
{
    in.dims[0] = size.h;
    in.dims[1] = size.w;
    return in;
}

/* ---- random_resized_crop ---- */

/* "rrc" is random_resized_crop. */
static const struct fby_param rrc_params[] = {
    [SIZE]  = SIZE_PARAM(1),
    [SCALE] = FBY_PAIR_PARAM("scale", 0.0001, 1, 0.08, 1),
    [RATIO] = FBY_PAIR_PARAM("ratio", 0.01, 100, 0.75, 1.3333333333333333),
};

static struct fby_shape crop_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    return with_size(in, wanted_size(&use->params[SIZE]));
}

static fby_err rrc_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    struct fby_box box;
    if (!fby_plan_random_resized_crop(draw, picture_size(in),
            use->params[SCALE].r, use->params[RATIO].r, &box)) {
        return refuse_picture(
            "random_resized_crop", in, "sides are 1 to 65535", why);
    }
    *out = crop_plan(&box, wanted_size(&use->params[SIZE]));
    return FBY_OK;
}

const struct fby_op fby_op_random_resized_crop = {
    FBY_OP("random_resized_crop", RANDOM_RESIZED_CROP),
    FBY_OP_PARAMS(rrc_params), .moves_pixels = true, .shape = crop_shape,
    .plan = rrc_plan};

/* ---- resize ---- */

static const struct fby_param resize_params[] = {
    [SHORTER] = {FBY_INTEGERS("shorter", 0, 1, 1, MAX_PARAM_SIDE,
        "an integer, 1 to 16384 (pixels of the shorter side)")},
    [EXACT]   = SIZE_PARAM(0),
};

static fby_err resize_check(
    const struct fby_op_use *use, struct fby_error_detail *why)
{
    if ((use->params[SHORTER].n > 0) == (use->params[EXACT].n > 0)) {
        return fby_error_set(why, FBY_CONFIG,
            "resize needs either 'shorter' (keeps the aspect) or 'size'");
    }
    return FBY_OK;
}

/* With `shorter` the sides are 0 (unknown) if the sides of `in` are unknown. */
static struct fby_shape resize_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    struct fby_size size = wanted_size(&use->params[EXACT]);
    if (use->params[EXACT].n == 0 &&
        !fby_plan_resize_shorter(
            picture_size(in), (uint32_t)use->params[SHORTER].i[0], &size)) {
        size = (struct fby_size){0};
    }
    return with_size(in, size);
}

static fby_err resize_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    (void)draw;
    struct fby_shape after = resize_shape(use, in);
    if (after.dims[0] == 0 || in.dims[0] == 0 || in.dims[1] == 0) {
        return refuse_picture(
            "resize", in, "a side would not be within 1 to 65535", why);
    }
    *out       = fby_op_plan_identity(in);
    out->out_w = after.dims[1];
    out->out_h = after.dims[0];
    return FBY_OK;
}

const struct fby_op fby_op_resize = {FBY_OP("resize", RESIZE),
    FBY_OP_PARAMS(resize_params), .check = resize_check, .shape = resize_shape,
    .plan = resize_plan};

/* ---- center_crop and random_crop ---- */

static const struct fby_param crop_params[] = {
    [SIZE] = SIZE_PARAM(1),
};

/* The plan of both ops. random_crop draws the position of its box. */
static fby_err fixed_crop_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_error_detail *why)
{
    struct fby_size whole = picture_size(in);
    struct fby_size size  = wanted_size(&use->params[SIZE]);
    struct fby_box  box;
    bool            fits = use->op->id == FBY_OP_CENTER_CROP
                               ? fby_plan_center_crop(whole, size, &box)
                               : fby_plan_random_crop(draw, whole, size, &box);
    if (!fits) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "%s needs a picture of at least %u x %u pixels (width x height), "
            "this one has %u x %u; put a resize before it",
            use->op->name, size.w, size.h, in.dims[1], in.dims[0]);
    }
    *out = crop_plan(&box, size);
    return FBY_OK;
}

const struct fby_op fby_op_center_crop = {FBY_OP("center_crop", CENTER_CROP),
    FBY_OP_PARAMS(crop_params), .shape = crop_shape, .plan = fixed_crop_plan};

const struct fby_op fby_op_random_crop = {FBY_OP("random_crop", RANDOM_CROP),
    FBY_OP_PARAMS(crop_params), .moves_pixels = true, .shape = crop_shape,
    .plan = fixed_crop_plan};

/* ---- horizontal_flip and vertical_flip ---- */

static const struct fby_param flip_params[] = {[P] = FBY_P_PARAM(0.5)};

static fby_err horizontal_flip_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_error_detail *why)
{
    (void)why;
    *out      = fby_op_plan_identity(in);
    out->flip = fby_draw_bool(draw, use->params[P].r[0]);
    return FBY_OK;
}

static fby_err vertical_flip_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_error_detail *why)
{
    (void)why;
    *out = fby_op_plan_identity(in);
    if (fby_draw_bool(draw, use->params[P].r[0])) {
        fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_VERTICAL_FLIP});
    }
    return FBY_OK;
}

#define FLIP_OP(op_name, op_id, plan_flip)                                    \
    FBY_OP(op_name, op_id), FBY_OP_PARAMS(flip_params), .moves_pixels = true, \
                                                        .plan = (plan_flip)

const struct fby_op fby_op_horizontal_flip = {
    FLIP_OP("horizontal_flip", HORIZONTAL_FLIP, horizontal_flip_plan)};
const struct fby_op fby_op_vertical_flip = {
    FLIP_OP("vertical_flip", VERTICAL_FLIP, vertical_flip_plan)};
const struct fby_op fby_device_horizontal_flip = {
    FLIP_OP("horizontal_flip", DEVICE_HORIZONTAL_FLIP, horizontal_flip_plan),
    .allows_masks = true};
const struct fby_op fby_device_vertical_flip = {
    FLIP_OP("vertical_flip", DEVICE_VERTICAL_FLIP, vertical_flip_plan),
    .allows_masks = true};

/* ---- pad ---- */

static const struct fby_param pad_params[] = {
    [PADDING] = {FBY_INTEGERS("padding", 1, 4, 0, 4096,
        "one, two or four integers, 0 to 4096 (all sides; [left and right, "
        "top and bottom]; [left, top, right, bottom])")},
    [FILL]    = FBY_FILL_PARAM,
    [MODE]    = {FBY_INTEGERS("mode", 1, 1, FBY_PAD_CONSTANT, FBY_PAD_SYMMETRIC,
                     "constant, edge, reflect or symmetric"),
           .words    = fby_pad_modes, /* by enum fby_pad_mode */
           .fallback = {.n = 1, .i = {FBY_PAD_CONSTANT}}},
};

static fby_err pad_check(
    const struct fby_op_use *use, struct fby_error_detail *why)
{
    return use->params[PADDING].n != 3
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG, "padding: expected %s",
                     pad_params[PADDING].expects);
}

/* Clamp a padding to its range. This is needed because the shape of an op is
 * computed before the parameters of a content from the network are checked. */
static int64_t clamp_padding(int64_t padding)
{
    int64_t max = (int64_t)pad_params[PADDING].max;
    padding     = padding < 0 ? 0 : padding;
    return padding > max ? max : padding;
}

static struct fby_step pad_step(const struct fby_op_use *use)
{
    const struct fby_value *pad  = &use->params[PADDING];
    struct fby_step         step = {.kind = FBY_STEP_PAD};
    /* The four sides take the one, two or four numbers in turn. */
    for (uint32_t i = FBY_PAD_LEFT; i <= FBY_PAD_BOTTOM; i++) {
        step.v[i] = clamp_padding(pad->n > 0 ? pad->i[i % pad->n] : 0);
    }
    step.v[FBY_PAD_FILL] = use->params[FILL].i[0];
    step.v[FBY_PAD_MODE] = use->params[MODE].i[0];
    return step;
}

static struct fby_shape pad_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    struct fby_step step = pad_step(use);
    struct fby_size size = fby_step_size(&step, picture_size(in));
    in.dims[0]           = in.dims[0] > 0 ? size.h : 0;
    in.dims[1]           = in.dims[1] > 0 ? size.w : 0;
    return in;
}

/* True if a mirrored border would be larger than the picture that it mirrors.
 * Reflect does not repeat the edge pixel, so its limit is one pixel less. */
static bool is_border_too_large(
    const struct fby_step *step, struct fby_size size)
{
    const int64_t *v       = step->v;
    bool           reflect = v[FBY_PAD_MODE] == FBY_PAD_REFLECT;
    bool           mirrors = reflect || v[FBY_PAD_MODE] == FBY_PAD_SYMMETRIC;
    int64_t        max_x   = (int64_t)size.w - (reflect ? 1 : 0);
    int64_t        max_y   = (int64_t)size.h - (reflect ? 1 : 0);
    return mirrors && (v[FBY_PAD_LEFT] > max_x || v[FBY_PAD_RIGHT] > max_x ||
                          v[FBY_PAD_TOP] > max_y || v[FBY_PAD_BOTTOM] > max_y);
}

static fby_err pad_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    struct fby_step step  = pad_step(use);
    struct fby_size after = fby_step_size(&step, picture_size(in));
    (void)draw;
    if (after.w > FBY_MAX_SIDE || after.h > FBY_MAX_SIDE) {
        return refuse_picture(
            "pad", in, "a side would not be within 1 to 65535", why);
    }
    if (is_border_too_large(&step, picture_size(in))) {
        return refuse_picture(
            "pad", in, "it is smaller than the border that mirrors it", why);
    }
    *out = fby_op_plan_identity(in);
    fby_op_add_step(out, step);
    return FBY_OK;
}

const struct fby_op fby_op_pad = {FBY_OP("pad", PAD), FBY_OP_PARAMS(pad_params),
    .check = pad_check, .shape = pad_shape, .plan = pad_plan};
