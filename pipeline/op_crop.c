/* op_crop.c - ops that are a box and a size: crops, resize, horizontal_flip. */
#include "pipeline/op_private.h"
#include "pipeline/plan/geometry.h"

/* Positions of parameters in an op's table. */
enum { SIZE = 0, SCALE = 1, RATIO = 2 };
enum { SHORTER = 0, EXACT = 1 };
enum { P = 0 };

#define LARGEST 16384 /* pixels, of a side that an op makes */

/* A size: "224" stands for [224, 224]; the order is height, width. */
#define SIZE_PARAM(at_least)                                            \
    {                                                                   \
        .name    = "size",                                              \
        .expects = "one or two integers, 1 to 16384 ([height, width])", \
        .spread = true, .min_n = (at_least), .max_n = 2, .min = 1,      \
        .max = LARGEST                                                  \
    }

static uint32_t height_of(const struct fby_value *size)
{
    return (uint32_t)size->i[0];
}

static uint32_t width_of(const struct fby_value *size)
{
    return (uint32_t)size->i[1];
}

static void take(struct fby_op_plan *plan, const struct fby_box *box)
{
    plan->x     = box->x;
    plan->y     = box->y;
    plan->w     = box->w;
    plan->h     = box->h;
    plan->out_w = box->w;
    plan->out_h = box->h;
}

static struct fby_size picture(struct fby_shape in)
{
    return (struct fby_size){.w = in.dims[1], .h = in.dims[0]};
}

static struct fby_size wanted(const struct fby_value *size)
{
    return (struct fby_size){.w = width_of(size), .h = height_of(size)};
}

static fby_err refuse(
    const char *op, struct fby_shape in, const char *need, struct fby_why *why)
{
    return fby_because(why, FBY_BAD_SAMPLE,
        "%s cannot use a picture of %u x %u pixels (width x height): %s", op,
        in.dims[1], in.dims[0], need);
}

static fby_err refuse_small(const char *op, struct fby_shape in,
    const struct fby_value *size, struct fby_why *why)
{
    return fby_because(why, FBY_BAD_SAMPLE,
        "%s needs a picture of at least %u x %u pixels (width x height), this "
        "one has %u x %u; put a resize before it",
        op, width_of(size), height_of(size), in.dims[1], in.dims[0]);
}

static struct fby_shape sized(struct fby_shape in, const struct fby_value *size)
{
    in.dims[0] = height_of(size);
    in.dims[1] = width_of(size);
    return in;
}

/* ---- random_resized_crop ---- */

static const struct fby_param rrc_params[] = {
    [SIZE]  = SIZE_PARAM(1),
    [SCALE] = FBY_PAIR_PARAM("scale", 0.0001, 1, 0.08, 1),
    [RATIO] = FBY_PAIR_PARAM("ratio", 0.01, 100, 0.75, 1.3333333333333333),
};

static struct fby_shape rrc_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    return sized(in, &use->params[SIZE]);
}

static fby_err rrc_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    struct fby_box box;
    if (!fby_plan_random_resized_crop(draw, picture(in), use->params[SCALE].r,
            use->params[RATIO].r, &box)) {
        return refuse("random_resized_crop", in, "sides are 1 to 65535", why);
    }
    *out = fby_op_identity(in);
    take(out, &box);
    out->out_w = width_of(&use->params[SIZE]);
    out->out_h = height_of(&use->params[SIZE]);
    return FBY_OK;
}

/* ---- resize ---- */

static const struct fby_param resize_params[] = {
    [SHORTER] = {.name = "shorter",
        .expects       = "an integer, 1 to 16384 (pixels of the shorter side)",
        .max_n         = 1,
        .min           = 1,
        .max           = LARGEST},
    [EXACT]   = SIZE_PARAM(0),
};

static fby_err resize_check(const struct fby_op_use *use, struct fby_why *why)
{
    if ((use->params[SHORTER].n > 0) == (use->params[EXACT].n > 0)) {
        return fby_because(why, FBY_CONFIG,
            "resize takes either 'shorter' (keeps the aspect) or 'size', and "
            "one of them");
    }
    return FBY_OK;
}

/* With `shorter` only a square's sides are known before the picture is. */
static struct fby_shape resize_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    if (use->params[EXACT].n > 0) {
        return sized(in, &use->params[EXACT]);
    }
    struct fby_size size;
    if (!fby_plan_resize_shorter(
            picture(in), (uint32_t)use->params[SHORTER].i[0], &size)) {
        size = (struct fby_size){0};
    }
    in.dims[0] = size.h;
    in.dims[1] = size.w;
    return in;
}

static fby_err resize_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    (void)draw;
    struct fby_shape after = resize_shape(use, in);
    if (after.dims[0] == 0 || in.dims[0] == 0 || in.dims[1] == 0) {
        return refuse(
            "resize", in, "a side would not be within 1 to 65535", why);
    }
    *out       = fby_op_identity(in);
    out->out_w = after.dims[1];
    out->out_h = after.dims[0];
    return FBY_OK;
}

/* ---- center_crop and random_crop ---- */

static const struct fby_param crop_params[] = {
    [SIZE] = SIZE_PARAM(1),
};

static struct fby_shape crop_shape(
    const struct fby_op_use *use, struct fby_shape in)
{
    return sized(in, &use->params[SIZE]);
}

static fby_err center_crop_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_why *why)
{
    (void)draw;
    struct fby_box box;
    if (!fby_plan_center_crop(picture(in), wanted(&use->params[SIZE]), &box)) {
        return refuse_small("center_crop", in, &use->params[SIZE], why);
    }
    *out = fby_op_identity(in);
    take(out, &box);
    return FBY_OK;
}

static fby_err random_crop_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_why *why)
{
    struct fby_box box;
    if (!fby_plan_random_crop(
            draw, picture(in), wanted(&use->params[SIZE]), &box)) {
        return refuse_small("random_crop", in, &use->params[SIZE], why);
    }
    *out = fby_op_identity(in);
    take(out, &box);
    return FBY_OK;
}

/* ---- horizontal_flip ---- */

static const struct fby_param flip_params[] = {[P] = FBY_P_PARAM(0.5)};

static fby_err flip_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    (void)why;
    *out      = fby_op_identity(in);
    out->flip = fby_plan_flip(draw, use->params[P].r[0]);
    return FBY_OK;
}

const struct fby_op fby_op_random_resized_crop = {
    .name     = "random_resized_crop",
    .id       = FBY_OP_RANDOM_RESIZED_CROP,
    .moves    = true,
    .version  = 1,
    .params   = rrc_params,
    .n_params = FBY_COUNT(rrc_params),
    .shape    = rrc_shape,
    .plan     = rrc_plan,
};

const struct fby_op fby_op_resize = {
    .name     = "resize",
    .id       = FBY_OP_RESIZE,
    .version  = 1,
    .params   = resize_params,
    .n_params = FBY_COUNT(resize_params),
    .check    = resize_check,
    .shape    = resize_shape,
    .plan     = resize_plan,
};

const struct fby_op fby_op_center_crop = {
    .name     = "center_crop",
    .id       = FBY_OP_CENTER_CROP,
    .version  = 1,
    .params   = crop_params,
    .n_params = FBY_COUNT(crop_params),
    .shape    = crop_shape,
    .plan     = center_crop_plan,
};

const struct fby_op fby_op_random_crop = {
    .name     = "random_crop",
    .id       = FBY_OP_RANDOM_CROP,
    .moves    = true,
    .version  = 1,
    .params   = crop_params,
    .n_params = FBY_COUNT(crop_params),
    .shape    = crop_shape,
    .plan     = random_crop_plan,
};

const struct fby_op fby_op_horizontal_flip = {
    .name     = "horizontal_flip",
    .id       = FBY_OP_HORIZONTAL_FLIP,
    .moves    = true,
    .version  = 1,
    .params   = flip_params,
    .n_params = FBY_COUNT(flip_params),
    .shape    = fby_op_same_shape,
    .plan     = flip_plan,
};

const struct fby_op fby_device_horizontal_flip = {
    .name     = "horizontal_flip",
    .id       = FBY_OP_DEVICE_HORIZONTAL_FLIP,
    .moves    = true,
    .version  = 1,
    .masks    = true,
    .params   = flip_params,
    .n_params = FBY_COUNT(flip_params),
    .shape    = fby_op_same_shape,
    .plan     = flip_plan,
};
