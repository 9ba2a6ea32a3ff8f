/* SPDX-License-Identifier: Apache-2.0 */
/* op_affine.c - ops that rotate, shear, scale and shift: rotate and affine. */
#include "pipeline/op_private.h"

enum { DEGREES = 0 }; /* index of a parameter that both ops have */

#define DEGREES_PARAM                                                \
    {                                                                \
        FBY_REALS("degrees", 1, 2, -360, 360,                        \
            "a number a (-a to a), or two, the lower first; within " \
            "-360 to 360"),                                          \
            .ordered = true                                          \
    }

/* The step that rotates a picture clockwise by `angle` (degrees, Q16). */
static struct fby_step rotation_step(int64_t angle, int64_t fill)
{
    struct fby_step step     = {.kind = FBY_STEP_AFFINE};
    step.v[FBY_AFFINE_ANGLE] = angle;
    step.v[FBY_AFFINE_SCALE] = FBY_Q16_ONE;
    step.v[FBY_AFFINE_FILL]  = fill;
    return step;
}

/* ---- rotate ---- */

enum { ROTATE_FILL = 1 }; /* index of the parameter */

static const struct fby_param rotate_params[] = {
    [DEGREES]     = DEGREES_PARAM,
    [ROTATE_FILL] = FBY_FILL_PARAM,
};

/* The angles of rotate are counter-clockwise, those of the step clockwise. */
static fby_err rotate_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    (void)why;
    int64_t angle = fby_op_draw_q16(draw, &use->params[DEGREES]);
    *out          = fby_op_plan_identity(in);
    fby_op_add_step(out, rotation_step(-angle, use->params[ROTATE_FILL].i[0]));
    return FBY_OK;
}

const struct fby_op fby_op_rotate = {FBY_OP("rotate", ROTATE),
    FBY_OP_PARAMS(rotate_params), .moves_pixels = true, .plan = rotate_plan};

/* ---- affine ---- */

/* Indices of the other parameters. */
enum { TRANSLATE = 1, SCALE = 2, SHEAR = 3, AFFINE_FILL = 4 };

static const struct fby_param affine_params[] = {
    [DEGREES]     = DEGREES_PARAM,
    [TRANSLATE]   = {FBY_REALS("translate", 0, 2, 0, 1,
                         "one or two numbers, 0 to 1 (at most that share of "
                           "the width, of the height)"),
          .broadcast = true},
    [SCALE]       = {FBY_REALS("scale", 0, 2, 0.1, 10,
                         "one or two numbers, 0.1 to 10, the lower first"),
              .ordered = true, .broadcast = true},
    [SHEAR]       = {FBY_REALS("shear", 0, 4, -80, 80,
                         "a number a (-a to a degrees along x), two (along x), "
                               "or four (along x, along y); within -80 to 80"),
              .ordered = true},
    [AFFINE_FILL] = FBY_FILL_PARAM,
};

static fby_err affine_check(
    const struct fby_op_use *use, struct fby_error_detail *why)
{
    const struct fby_value *shear = &use->params[SHEAR];
    /* `ordered` checks lists of two numbers; four numbers are two pairs. */
    bool is_wrong_pair = shear->n == 4 && (shear->r[0] > shear->r[1] ||
                                              shear->r[2] > shear->r[3]);
    if (shear->n == 3 || is_wrong_pair) {
        return fby_error_set(why, FBY_CONFIG, "shear: expected %s",
            affine_params[SHEAR].expects);
    }
    return FBY_OK;
}

/* Draw a shift in pixels, at most `share` of the side in either direction. */
static int64_t draw_shift(struct fby_draw *draw, double share, uint32_t side)
{
    int64_t limit = (int64_t)(fby_q32(share) * side >> 32); /* rounded down */
    return fby_draw_between(draw, -limit, limit);
}

static void draw_shears(
    const struct fby_op_use *use, struct fby_draw *draw, struct fby_step *step)
{
    const struct fby_value *shear = &use->params[SHEAR];
    if (shear->n == 4) {
        step->v[FBY_AFFINE_TAN_X] =
            fby_tan_q16(fby_draw_uniform_q16(draw, shear->r[0], shear->r[1]));
        step->v[FBY_AFFINE_TAN_Y] =
            fby_tan_q16(fby_draw_uniform_q16(draw, shear->r[2], shear->r[3]));
    } else if (shear->n > 0) {
        step->v[FBY_AFFINE_TAN_X] = fby_tan_q16(fby_op_draw_q16(draw, shear));
    }
}

/* Draw the parameters given, in the table's order. Angles are clockwise. */
static fby_err affine_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    const struct fby_value *shift = &use->params[TRANSLATE];
    const struct fby_value *scale = &use->params[SCALE];
    struct fby_step         step =
        rotation_step(fby_op_draw_q16(draw, &use->params[DEGREES]),
            use->params[AFFINE_FILL].i[0]);
    (void)why;
    if (shift->n > 0) {
        step.v[FBY_AFFINE_RIGHT] = draw_shift(draw, shift->r[0], in.dims[1]);
        step.v[FBY_AFFINE_DOWN]  = draw_shift(draw, shift->r[1], in.dims[0]);
    }
    if (scale->n > 0) {
        step.v[FBY_AFFINE_SCALE] =
            fby_draw_uniform_q16(draw, scale->r[0], scale->r[1]);
    }
    draw_shears(use, draw, &step);
    *out = fby_op_plan_identity(in);
    fby_op_add_step(out, step);
    return FBY_OK;
}

const struct fby_op fby_op_affine = {FBY_OP("affine", AFFINE),
    FBY_OP_PARAMS(affine_params), .moves_pixels = true, .check = affine_check,
    .plan = affine_plan};
