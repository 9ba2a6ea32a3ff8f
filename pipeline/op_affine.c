/* op_affine.c - ops that turn, shear, scale and move: rotate and affine. */
#include "pipeline/op_private.h"
#include "pipeline/plan/angle.h"
#include "pipeline/plan/fixed.h"

enum { DEGREES = 0 };

#define DEGREES_PARAM                                                       \
    {                                                                       \
        .name    = "degrees",                                               \
        .expects = "a number a (-a to a), or two, the lower first; within " \
                   "-360 to 360",                                           \
        .real = true, .ordered = true, .min_n = 1, .max_n = 2, .min = -360, \
        .max = 360                                                          \
    }

static struct fby_step step_of(int64_t angle, int64_t fill)
{
    struct fby_step step     = {.kind = FBY_STEP_AFFINE};
    step.v[FBY_AFFINE_ANGLE] = angle;
    step.v[FBY_AFFINE_SCALE] = 65536;
    step.v[FBY_AFFINE_FILL]  = fill;
    return step;
}

/* ---- rotate ---- */

enum { ROTATE_FILL = 1 };

static const struct fby_param rotate_params[] = {
    [DEGREES]     = DEGREES_PARAM,
    [ROTATE_FILL] = FBY_FILL_PARAM,
};

/* Its angles are counter-clockwise. */
static fby_err rotate_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    (void)why;
    int64_t angle = fby_op_draw_around(draw, &use->params[DEGREES]);
    *out          = fby_op_identity(in);
    fby_op_add_step(out, step_of(-angle, use->params[ROTATE_FILL].i[0]));
    return FBY_OK;
}

const struct fby_op fby_op_rotate = {
    .name     = "rotate",
    .id       = FBY_OP_ROTATE,
    .moves    = true,
    .version  = 1,
    .params   = rotate_params,
    .n_params = FBY_COUNT(rotate_params),
    .shape    = fby_op_same_shape,
    .plan     = rotate_plan,
};

/* ---- affine ---- */

enum { TRANSLATE = 1, SCALE = 2, SHEAR = 3, AFFINE_FILL = 4 };

static const struct fby_param affine_params[] = {
    [DEGREES]   = DEGREES_PARAM,
    [TRANSLATE] = {.name = "translate",
        .expects = "one or two numbers, 0 to 1 (at most that share of the "
                   "width, of the height)",
        .real    = true,
        .max_n   = 2,
        .spread  = true,
        .min     = 0,
        .max     = 1},
    [SCALE]     = {.name = "scale",
            .expects     = "one or two numbers, 0.1 to 10, the lower first",
            .real        = true,
            .ordered     = true,
            .max_n       = 2,
            .spread      = true,
            .min         = 0.1,
            .max         = 10},
    [SHEAR] =
        {
            .name    = "shear",
            .expects = "a number a (-a to a degrees along x), two (along x), "
                       "or four (along x, along y); within -80 to 80",
            .real    = true,
            .ordered = true,
            .max_n   = 4,
            .min     = -80,
            .max     = 80,
        },
    [AFFINE_FILL] = FBY_FILL_PARAM,
};

static fby_err affine_check(const struct fby_op_use *use, struct fby_why *why)
{
    const struct fby_value *shear = &use->params[SHEAR];
    if (shear->n == 3 || (shear->n == 4 && (shear->r[0] > shear->r[1] ||
                                               shear->r[2] > shear->r[3]))) {
        return fby_because(why, FBY_CONFIG, "shear: expected %s",
            affine_params[SHEAR].expects);
    }
    return FBY_OK;
}

/* Whole pixels, at most that share of the side to either end. */
static int64_t draw_shift(struct fby_draw *draw, double share, uint32_t side)
{
    int64_t most = (int64_t)(fby_q32(share) * side >> 32);
    return fby_draw_between(draw, -most, most);
}

static void draw_shears(
    const struct fby_op_use *use, struct fby_draw *draw, struct fby_step *step)
{
    const struct fby_value *shear = &use->params[SHEAR];
    if (shear->n == 4) {
        step->v[FBY_AFFINE_TAN_X] =
            fby_tan_q16(fby_plan_uniform_q16(draw, shear->r[0], shear->r[1]));
        step->v[FBY_AFFINE_TAN_Y] =
            fby_tan_q16(fby_plan_uniform_q16(draw, shear->r[2], shear->r[3]));
    } else if (shear->n > 0) {
        step->v[FBY_AFFINE_TAN_X] =
            fby_tan_q16(fby_op_draw_around(draw, shear));
    }
}

/* The draws in the order of the parameters, of those that were given. */
static fby_err affine_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    const struct fby_value *shift = &use->params[TRANSLATE];
    const struct fby_value *scale = &use->params[SCALE];
    struct fby_step         step =
        step_of(fby_op_draw_around(draw, &use->params[DEGREES]),
            use->params[AFFINE_FILL].i[0]);
    (void)why;
    if (shift->n > 0) {
        step.v[FBY_AFFINE_RIGHT] = draw_shift(draw, shift->r[0], in.dims[1]);
        step.v[FBY_AFFINE_DOWN]  = draw_shift(draw, shift->r[1], in.dims[0]);
    }
    if (scale->n > 0) {
        step.v[FBY_AFFINE_SCALE] =
            fby_plan_uniform_q16(draw, scale->r[0], scale->r[1]);
    }
    draw_shears(use, draw, &step);
    *out = fby_op_identity(in);
    fby_op_add_step(out, step);
    return FBY_OK;
}

const struct fby_op fby_op_affine = {
    .name     = "affine",
    .id       = FBY_OP_AFFINE,
    .moves    = true,
    .version  = 1,
    .params   = affine_params,
    .n_params = FBY_COUNT(affine_params),
    .check    = affine_check,
    .shape    = fby_op_same_shape,
    .plan     = affine_plan,
};
