/* SPDX-License-Identifier: Apache-2.0 */
/* op_policy.c - ops that draw which change to make: trivial_augment_wide draws
 * one change and its strength; rand_augment draws several of fixed strength.
 *
 * Each of the fourteen changes has `bins` strengths, from 0 to the maximum of
 * the change. The changes and the numbers are those of torchvision. */
#include "pipeline/op_private.h"

enum change {
    IDENTITY,
    SHEAR_X,
    SHEAR_Y,
    TRANSLATE_X,
    TRANSLATE_Y,
    ROTATE,
    BRIGHTNESS,
    COLOUR,
    CONTRAST,
    SHARPNESS,
    POSTERIZE,
    SOLARIZE,
    AUTOCONTRAST,
    EQUALIZE,
    N_CHANGES
};

/* The largest strength of each change: `wide` is for trivial_augment_wide,
 * `gentle` for rand_augment. */
struct maxima {
    int64_t shear, factor, degrees; /* in Q16 (times 65536) */
    int64_t bits;                   /* bits that posterize removes */
    struct { /* in pixels: side * numerator / denominator + fixed */
        int64_t numerator, denominator, fixed;
    } shift;
};

static const struct maxima wide = {
    .shear   = 64881, /* 0.99 */
    .factor  = 64881,
    .degrees = 135 << 16,
    .bits    = 6,
    .shift   = {.numerator = 0, .denominator = 1, .fixed = 32},
};
static const struct maxima gentle = {
    .shear   = 19661, /* 0.3 */
    .factor  = 58982, /* 0.9 */
    .degrees = 30 << 16,
    .bits    = 4,
    .shift   = {.numerator = 150, .denominator = 331, .fixed = 0},
};

struct strength {
    const struct maxima *max;
    int64_t              bin, last; /* the bin drawn, and the last bin */
    int64_t              sign;      /* 1 or -1 */
    int64_t              fill;      /* level of pixels from outside */
};

/* largest * bin / last, the strength at the bin, rounded with halves up. */
static int64_t bin_value(const struct strength *s, int64_t largest)
{
    return (2 * largest * s->bin + s->last) / (2 * s->last);
}

/* The shift along a side, in whole pixels, rounded down. */
static int64_t shift_along(const struct strength *s, uint32_t side)
{
    int64_t denominator = s->max->shift.denominator;
    int64_t largest     = s->max->shift.numerator * side +
                      s->max->shift.fixed * denominator; /* times denominator */
    return s->sign * (largest * s->bin / (denominator * s->last));
}

/* An affine step with one value set. A shear keeps the upper left corner. */
static struct fby_step affine_step(
    const struct strength *s, enum fby_affine_value index, int64_t value)
{
    struct fby_step step     = {.kind = FBY_STEP_AFFINE};
    step.v[FBY_AFFINE_SCALE] = FBY_Q16_ONE;
    step.v[FBY_AFFINE_FILL]  = s->fill;
    step.v[FBY_AFFINE_CORNER] =
        index == FBY_AFFINE_TAN_X || index == FBY_AFFINE_TAN_Y;
    step.v[index] = value;
    return step;
}

static struct fby_step value_step(enum fby_step_kind kind, int64_t value)
{
    return (struct fby_step){.kind = kind, .v = {value}};
}

/* The factor of a change of brightness, colour, contrast or sharpness, Q16. */
static int64_t change_factor(const struct strength *s)
{
    return FBY_Q16_ONE + s->sign * bin_value(s, s->max->factor);
}

/* The threshold of solarize: 255 * (1 - bin / last), rounded up. */
static int64_t solarize_threshold(const struct strength *s)
{
    return (255 * (s->last - s->bin) + s->last - 1) / s->last;
}

static struct fby_step step_of_change(
    enum change change, const struct strength *s, struct fby_shape in)
{
    switch (change) {
    case SHEAR_X:
        return affine_step(
            s, FBY_AFFINE_TAN_X, s->sign * bin_value(s, s->max->shear));
    case SHEAR_Y:
        return affine_step(
            s, FBY_AFFINE_TAN_Y, s->sign * bin_value(s, s->max->shear));
    case TRANSLATE_X:
        return affine_step(s, FBY_AFFINE_RIGHT, shift_along(s, in.dims[1]));
    case TRANSLATE_Y:
        return affine_step(s, FBY_AFFINE_DOWN, shift_along(s, in.dims[0]));
    case ROTATE: /* counter-clockwise */
        return affine_step(
            s, FBY_AFFINE_ANGLE, -s->sign * bin_value(s, s->max->degrees));
    case BRIGHTNESS:
        return value_step(FBY_STEP_BRIGHTNESS, change_factor(s));
    case COLOUR:
        return value_step(FBY_STEP_SATURATION, change_factor(s));
    case CONTRAST:
        return value_step(FBY_STEP_CONTRAST, change_factor(s));
    case SHARPNESS:
        return value_step(FBY_STEP_SHARPNESS, change_factor(s));
    case POSTERIZE: /* the step has the bits that are kept */
        return value_step(FBY_STEP_POSTERIZE, 8 - bin_value(s, s->max->bits));
    case SOLARIZE:
        return value_step(FBY_STEP_SOLARIZE, solarize_threshold(s));
    case AUTOCONTRAST:
        return value_step(FBY_STEP_AUTOCONTRAST, 0);
    case EQUALIZE:
        return value_step(FBY_STEP_EQUALIZE, 0);
    case IDENTITY: /* add_change makes no step for it */
    case N_CHANGES:
        break;
    }
    return (struct fby_step){0}; /* not reached */
}

static void add_change(struct fby_op_plan *plan, enum change change,
    const struct strength *s, struct fby_shape in)
{
    if (change != IDENTITY) {
        fby_op_add_step(plan, step_of_change(change, s, in));
    }
}

static int64_t draw_sign(struct fby_draw *draw)
{
    return fby_draw_below(draw, 2) == 0 ? 1 : -1;
}

#define BINS_PARAM                                                     \
    {                                                                  \
        FBY_INTEGERS(                                                  \
            "bins", 1, 1, 2, 256, "an integer, 2 to 256 (strengths)"), \
            .fallback = {                                              \
                .n = 1,                                                \
                .i = {31}                                              \
            }                                                          \
    }

/* ---- trivial_augment_wide ---- */

enum { WIDE_BINS = 0, WIDE_FILL = 1 }; /* indices of parameters */

static const struct fby_param wide_params[] = {
    [WIDE_BINS] = BINS_PARAM,
    [WIDE_FILL] = FBY_FILL_PARAM,
};

static fby_err wide_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    int64_t               bins   = use->params[WIDE_BINS].i[0];
    enum change           change = (enum change)fby_draw_below(draw, N_CHANGES);
    int64_t               bin = (int64_t)fby_draw_below(draw, (uint64_t)bins);
    const struct strength strength = {
        &wide, bin, bins - 1, draw_sign(draw), use->params[WIDE_FILL].i[0]};
    (void)why;
    *out = fby_op_plan_identity(in);
    add_change(out, change, &strength, in);
    return FBY_OK;
}

const struct fby_op fby_op_trivial_augment_wide = {
    FBY_OP("trivial_augment_wide", TRIVIAL_AUGMENT), FBY_OP_PARAMS(wide_params),
    .moves_pixels = true, .is_colour = true, .plan = wide_plan};

/* ---- rand_augment ---- */

/* Indices of parameters. */
enum { OPS = 0, MAGNITUDE = 1, RAND_BINS = 2, RAND_FILL = 3 };

static const struct fby_param rand_params[] = {
    [OPS]       = {FBY_INTEGERS("ops", 1, 1, 1, FBY_MAX_STEPS,
                       "an integer, 1 to 4 (how many, one after the other)"),
              .fallback = {.n = 1, .i = {2}}},
    [MAGNITUDE] = {FBY_INTEGERS("magnitude", 1, 1, 0, 255,
                       "an integer, 0 to 255, below bins"),
        .fallback = {.n = 1, .i = {9}}},
    [RAND_BINS] = BINS_PARAM,
    [RAND_FILL] = FBY_FILL_PARAM,
};

static fby_err rand_check(
    const struct fby_op_use *use, struct fby_error_detail *why)
{
    return use->params[MAGNITUDE].i[0] < use->params[RAND_BINS].i[0]
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG, "magnitude: expected %s",
                     rand_params[MAGNITUDE].expects);
}

static fby_err rand_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    (void)why;
    *out = fby_op_plan_identity(in);
    for (int64_t i = 0; i < use->params[OPS].i[0]; i++) {
        enum change change = (enum change)fby_draw_below(draw, N_CHANGES);
        const struct strength strength = {&gentle, use->params[MAGNITUDE].i[0],
            use->params[RAND_BINS].i[0] - 1, draw_sign(draw),
            use->params[RAND_FILL].i[0]};
        add_change(out, change, &strength, in);
    }
    return FBY_OK;
}

const struct fby_op fby_op_rand_augment = {FBY_OP("rand_augment", RAND_AUGMENT),
    FBY_OP_PARAMS(rand_params), .moves_pixels = true, .is_colour = true,
    .check = rand_check, .plan = rand_plan};
