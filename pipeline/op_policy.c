/* op_policy.c - ops that draw what they do: trivial_augment_wide, rand_augment.
 *
 * Both pick among torchvision's fourteen, each at one of `bins` strengths from
 * nothing to its own most. The numbers are torchvision's. */
#include "pipeline/op_private.h"

enum choice {
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
    CHOICES
};

/* The most of each. */
struct most {
    int64_t shear, factor, degrees; /* Q16 */
    int64_t bits;                   /* that posterize takes away */
    struct {                        /* pixels: a share of the side, or fixed */
        int64_t of_side, per, fixed;
    } shift;
};

static const struct most wide = {
    .shear   = 64881, /* 0.99 */
    .factor  = 64881,
    .degrees = 135 << 16,
    .bits    = 6,
    .shift   = {.of_side = 0, .per = 1, .fixed = 32},
};
static const struct most gentle = {
    .shear   = 19661, /* 0.3 */
    .factor  = 58982, /* 0.9 */
    .degrees = 30 << 16,
    .bits    = 4,
    .shift   = {.of_side = 150, .per = 331, .fixed = 0},
};

struct strength {
    const struct most *most;
    int64_t            bin, last; /* of the bins */
    int64_t            sign;      /* 1 or -1 */
    int64_t            fill;
};

/* most * bin / last, halves up. */
static int64_t share(const struct strength *s, int64_t most)
{
    return (2 * most * s->bin + s->last) / (2 * s->last);
}

/* Whole pixels, rounded down. */
static int64_t shift(const struct strength *s, uint32_t side)
{
    int64_t of_side = s->most->shift.of_side * side;
    int64_t most    = of_side + s->most->shift.fixed * s->most->shift.per;
    return s->sign * (most * s->bin / (s->most->shift.per * s->last));
}

static struct fby_step moved(
    const struct strength *s, enum fby_affine_value which, int64_t value)
{
    struct fby_step step     = {.kind = FBY_STEP_AFFINE};
    step.v[FBY_AFFINE_SCALE] = 65536;
    step.v[FBY_AFFINE_FILL]  = s->fill;
    step.v[FBY_AFFINE_CORNER] =
        which == FBY_AFFINE_TAN_X || which == FBY_AFFINE_TAN_Y;
    step.v[which] = value;
    return step;
}

static struct fby_step with_value(enum fby_step_kind kind, int64_t value)
{
    return (struct fby_step){.kind = kind, .v = {value}};
}

static int64_t factor(const struct strength *s)
{
    return 65536 + s->sign * share(s, s->most->factor);
}

/* Values from 255 * (1 - bin / last) on, rounded up. */
static int64_t threshold(const struct strength *s)
{
    return (255 * (s->last - s->bin) + s->last - 1) / s->last;
}

static struct fby_step geometric_step(
    enum choice choice, const struct strength *s, struct fby_shape in)
{
    switch ((int)choice) {
    case SHEAR_X:
        return moved(s, FBY_AFFINE_TAN_X, s->sign * share(s, s->most->shear));
    case SHEAR_Y:
        return moved(s, FBY_AFFINE_TAN_Y, s->sign * share(s, s->most->shear));
    case TRANSLATE_X:
        return moved(s, FBY_AFFINE_RIGHT, shift(s, in.dims[1]));
    case TRANSLATE_Y:
        return moved(s, FBY_AFFINE_DOWN, shift(s, in.dims[0]));
    default: /* ROTATE, counter-clockwise */
        return moved(
            s, FBY_AFFINE_ANGLE, -s->sign * share(s, s->most->degrees));
    }
}

static struct fby_step colour_step(enum choice choice, const struct strength *s)
{
    switch ((int)choice) {
    case BRIGHTNESS:
        return with_value(FBY_STEP_BRIGHTNESS, factor(s));
    case COLOUR:
        return with_value(FBY_STEP_SATURATION, factor(s));
    case CONTRAST:
        return with_value(FBY_STEP_CONTRAST, factor(s));
    case SHARPNESS:
        return with_value(FBY_STEP_SHARPNESS, factor(s));
    case POSTERIZE:
        return with_value(FBY_STEP_POSTERIZE, 8 - share(s, s->most->bits));
    case SOLARIZE:
        return with_value(FBY_STEP_SOLARIZE, threshold(s));
    case AUTOCONTRAST:
        return with_value(FBY_STEP_AUTOCONTRAST, 0);
    default: /* EQUALIZE */
        return with_value(FBY_STEP_EQUALIZE, 0);
    }
}

static void add_choice(struct fby_op_plan *plan, enum choice choice,
    const struct strength *s, struct fby_shape in)
{
    if (choice != IDENTITY) {
        fby_op_add_step(plan, choice <= ROTATE ? geometric_step(choice, s, in)
                                               : colour_step(choice, s));
    }
}

static enum choice draw_choice(struct fby_draw *draw)
{
    return (enum choice)fby_draw_below(draw, CHOICES);
}

static int64_t draw_sign(struct fby_draw *draw)
{
    return fby_draw_below(draw, 2) == 0 ? 1 : -1;
}

#define BINS_PARAM                                                     \
    {                                                                  \
        .name = "bins", .expects = "an integer, 2 to 256 (strengths)", \
        .min_n = 1, .max_n = 1, .min = 2, .max = 256, .fallback = {    \
            .n = 1,                                                    \
            .i = {31}                                                  \
        }                                                              \
    }

/* ---- trivial_augment_wide ---- */

enum { WIDE_BINS = 0, WIDE_FILL = 1 };

static const struct fby_param wide_params[] = {
    [WIDE_BINS] = BINS_PARAM,
    [WIDE_FILL] = FBY_FILL_PARAM,
};

static fby_err wide_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    int64_t               bins   = use->params[WIDE_BINS].i[0];
    enum choice           choice = draw_choice(draw);
    int64_t               bin = (int64_t)fby_draw_below(draw, (uint64_t)bins);
    const struct strength strength = {
        &wide, bin, bins - 1, draw_sign(draw), use->params[WIDE_FILL].i[0]};
    (void)why;
    *out = fby_op_identity(in);
    add_choice(out, choice, &strength, in);
    return FBY_OK;
}

const struct fby_op fby_op_trivial_augment_wide = {
    .name      = "trivial_augment_wide",
    .id        = FBY_OP_TRIVIAL_AUGMENT,
    .moves     = true,
    .version   = 1,
    .is_colour = true,
    .params    = wide_params,
    .n_params  = FBY_COUNT(wide_params),
    .shape     = fby_op_same_shape,
    .plan      = wide_plan,
};

/* ---- rand_augment ---- */

enum { OPS = 0, MAGNITUDE = 1, RAND_BINS = 2, RAND_FILL = 3 };

static const struct fby_param rand_params[] = {
    [OPS]       = {.name = "ops",
              .expects   = "an integer, 1 to 4 (how many, one after the other)",
              .min_n     = 1,
              .max_n     = 1,
              .min       = 1,
              .max       = FBY_MAX_STEPS,
              .fallback  = {.n = 1, .i = {2}}},
    [MAGNITUDE] = {.name = "magnitude",
        .expects         = "an integer, 0 to 255, below bins",
        .min_n           = 1,
        .max_n           = 1,
        .min             = 0,
        .max             = 255,
        .fallback        = {.n = 1, .i = {9}}},
    [RAND_BINS] = BINS_PARAM,
    [RAND_FILL] = FBY_FILL_PARAM,
};

static fby_err rand_check(const struct fby_op_use *use, struct fby_why *why)
{
    return use->params[MAGNITUDE].i[0] < use->params[RAND_BINS].i[0]
               ? FBY_OK
               : fby_because(why, FBY_CONFIG, "magnitude: expected %s",
                     rand_params[MAGNITUDE].expects);
}

static fby_err rand_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    (void)why;
    *out = fby_op_identity(in);
    for (int64_t i = 0; i < use->params[OPS].i[0]; i++) {
        enum choice           choice   = draw_choice(draw);
        const struct strength strength = {&gentle, use->params[MAGNITUDE].i[0],
            use->params[RAND_BINS].i[0] - 1, draw_sign(draw),
            use->params[RAND_FILL].i[0]};
        add_choice(out, choice, &strength, in);
    }
    return FBY_OK;
}

const struct fby_op fby_op_rand_augment = {
    .name      = "rand_augment",
    .id        = FBY_OP_RAND_AUGMENT,
    .moves     = true,
    .version   = 1,
    .is_colour = true,
    .params    = rand_params,
    .n_params  = FBY_COUNT(rand_params),
    .check     = rand_check,
    .shape     = fby_op_same_shape,
    .plan      = rand_plan,
};
