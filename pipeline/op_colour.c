/* op_colour.c - ops that change colours: grayscale, random_grayscale,
 * colour_jitter, gaussian_blur and random_erasing. */
#include <string.h>

#include "pipeline/op_private.h"

/* ---- grayscale, random_grayscale ---- */

static fby_err grayscale_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_why *why)
{
    (void)why;
    *out = fby_op_identity(in);
    if (use->op->n_params == 0 || fby_plan_flip(draw, use->params[0].r[0])) {
        fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_GREY});
    }
    return FBY_OK;
}

const struct fby_op fby_op_grayscale = {
    .name      = "grayscale",
    .id        = FBY_OP_GRAYSCALE,
    .version   = 1,
    .is_colour = true,
    .shape     = fby_op_same_shape,
    .plan      = grayscale_plan,
};

static const struct fby_param grayscale_params[] = {FBY_P_PARAM(0.1)};

const struct fby_op fby_op_random_grayscale = {
    .name      = "random_grayscale",
    .id        = FBY_OP_RANDOM_GRAYSCALE,
    .version   = 1,
    .is_colour = true,
    .params    = grayscale_params,
    .n_params  = FBY_COUNT(grayscale_params),
    .shape     = fby_op_same_shape,
    .plan      = grayscale_plan,
};

/* ---- colour_jitter ---- */

enum { BRIGHTNESS = 0, CONTRAST = 1, SATURATION = 2, HUE = 3, JITTERS = 4 };

#define FACTOR_PARAM(its_name)                                                \
    {                                                                         \
        .name    = (its_name),                                                \
        .expects = "a number a, 0 to 16 (1 - a to 1 + a), or two, the lower " \
                   "first",                                                   \
        .real = true, .ordered = true, .max_n = 2, .min = 0, .max = 16        \
    }

static const struct fby_param jitter_params[] = {
    [BRIGHTNESS] = FACTOR_PARAM("brightness"),
    [CONTRAST]   = FACTOR_PARAM("contrast"),
    [SATURATION] = FACTOR_PARAM("saturation"),
    [HUE]        = {.name = "hue",
               .expects   = "a number a, 0 to 0.5 (-a to a), or two, -0.5 to "
                                   "0.5, the lower first",
               .real      = true,
               .ordered   = true,
               .max_n     = 2,
               .min       = -0.5,
               .max       = 0.5},
};

static fby_err jitter_check(const struct fby_op_use *use, struct fby_why *why)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < JITTERS; i++) {
        given += use->params[i].n;
    }
    if (given == 0) {
        return fby_because(why, FBY_CONFIG,
            "colour_jitter needs brightness, contrast, saturation or hue");
    }
    if (use->params[HUE].n == 1 && use->params[HUE].r[0] < 0) {
        return fby_because(
            why, FBY_CONFIG, "hue: expected %s", jitter_params[HUE].expects);
    }
    return FBY_OK;
}

static int64_t draw_jitter(
    struct fby_draw *draw, const struct fby_value *value, uint32_t i)
{
    if (i == HUE) {
        return fby_op_draw_around(draw, value);
    }
    double a = value->r[0];
    return value->n == 2
               ? fby_plan_uniform_q16(draw, a, value->r[1])
               : fby_draw_between(draw, fby_q16(a < 1 ? a : 1) * -1 + 65536,
                     fby_q16(a) + 65536);
}

/* The order first, then the values of those that were asked for. */
static fby_err jitter_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    static const enum fby_step_kind kinds[JITTERS] = {FBY_STEP_BRIGHTNESS,
        FBY_STEP_CONTRAST, FBY_STEP_SATURATION, FBY_STEP_HUE};
    uint32_t                        order[JITTERS];
    int64_t                         values[JITTERS] = {0};
    (void)why;
    *out = fby_op_identity(in);
    fby_plan_order_of_four(draw, order);
    for (uint32_t i = 0; i < JITTERS; i++) {
        if (use->params[i].n > 0) {
            values[i] = draw_jitter(draw, &use->params[i], i);
        }
    }
    for (uint32_t i = 0; i < JITTERS; i++) {
        uint32_t k = order[i];
        if (use->params[k].n > 0) {
            fby_op_add_step(
                out, (struct fby_step){.kind = kinds[k], .v = {values[k]}});
        }
    }
    return FBY_OK;
}

const struct fby_op fby_op_colour_jitter = {
    .name      = "colour_jitter",
    .id        = FBY_OP_COLOUR_JITTER,
    .version   = 1,
    .is_colour = true,
    .params    = jitter_params,
    .n_params  = FBY_COUNT(jitter_params),
    .check     = jitter_check,
    .shape     = fby_op_same_shape,
    .plan      = jitter_plan,
};

const struct fby_op fby_device_colour_jitter = {
    .name     = "colour_jitter",
    .id       = FBY_OP_DEVICE_COLOUR_JITTER,
    .version  = 1,
    .levels   = true,
    .params   = jitter_params,
    .n_params = FBY_COUNT(jitter_params),
    .check    = jitter_check,
    .shape    = fby_op_same_shape,
    .plan     = jitter_plan,
};

/* ---- gaussian_blur ---- */

enum { KERNEL = 0, SIGMA = 1 };

static const struct fby_param blur_params[] = {
    [KERNEL] = {.name = "kernel",
        .expects      = "one or two odd integers, 1 to 31 ([height, width])",
        .spread       = true,
        .min_n        = 1,
        .max_n        = 2,
        .min          = 1,
        .max          = 31},
    [SIGMA]  = {.name = "sigma",
         .expects     = "one or two numbers, 0.1 to 16, the lower first",
         .real        = true,
         .spread      = true,
         .ordered     = true,
         .min_n       = 1,
         .max_n       = 2,
         .min         = 0.1,
         .max         = 16,
         .fallback    = {.n = 2, .real = true, .r = {0.1, 2}}},
};

static fby_err blur_check(const struct fby_op_use *use, struct fby_why *why)
{
    const struct fby_value *kernel = &use->params[KERNEL];
    if (kernel->i[0] % 2 == 0 || kernel->i[1] % 2 == 0) {
        return fby_because(why, FBY_CONFIG, "kernel: expected %s",
            blur_params[KERNEL].expects);
    }
    return FBY_OK;
}

static fby_err blur_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    int64_t       height = use->params[KERNEL].i[0];
    int64_t       width  = use->params[KERNEL].i[1];
    const double *sigma  = use->params[SIGMA].r;
    if (height / 2 >= in.dims[0] || width / 2 >= in.dims[1]) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "gaussian_blur needs a picture of at least %lld x %lld pixels "
            "(width x height), this one has %u x %u",
            (long long)width / 2 + 1, (long long)height / 2 + 1, in.dims[1],
            in.dims[0]);
    }
    *out = fby_op_identity(in);
    fby_op_add_step(
        out, (struct fby_step){
                 .kind = FBY_STEP_BLUR,
                 .v    = {width, height,
                        fby_plan_uniform_q16(draw, sigma[0], sigma[1])},
             });
    return FBY_OK;
}

const struct fby_op fby_op_gaussian_blur = {
    .name     = "gaussian_blur",
    .id       = FBY_OP_GAUSSIAN_BLUR,
    .version  = 1,
    .params   = blur_params,
    .n_params = FBY_COUNT(blur_params),
    .check    = blur_check,
    .shape    = fby_op_same_shape,
    .plan     = blur_plan,
};

/* ---- random_erasing ---- */

enum { P = 0, SCALE = 1, RATIO = 2, VALUE = 3 };

static const struct fby_param erasing_params[] = {
    [P]     = FBY_P_PARAM(0.5),
    [SCALE] = FBY_PAIR_PARAM("scale", 0.0001, 1, 0.02, 0.33),
    [RATIO] = FBY_PAIR_PARAM("ratio", 0.01, 100, 0.3, 3.3),
    [VALUE] = {.name = "value",
        .expects     = "one or three integers, 0 to 255",
        .spread      = true,
        .min_n       = 1,
        .max_n       = 3,
        .min         = 0,
        .max         = 255,
        .fallback    = {.n = 3, .i = {0, 0, 0}}},
};

static fby_err erasing_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_why *why)
{
    struct fby_size picture = {in.dims[1], in.dims[0]};
    struct fby_box  box;
    const int64_t  *value = use->params[VALUE].i;
    (void)why;
    *out = fby_op_identity(in);
    if (fby_plan_flip(draw, use->params[P].r[0]) &&
        fby_plan_random_erasing(
            draw, picture, use->params[SCALE].r, use->params[RATIO].r, &box)) {
        fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_ERASE,
                                 .v = {box.x, box.y, box.w, box.h, value[0],
                                     value[1], value[2]}});
    }
    return FBY_OK;
}

const struct fby_op fby_op_random_erasing = {
    .name     = "random_erasing",
    .id       = FBY_OP_RANDOM_ERASING,
    .version  = 1,
    .params   = erasing_params,
    .n_params = FBY_COUNT(erasing_params),
    .shape    = fby_op_same_shape,
    .plan     = erasing_plan,
};

/* On the device the value is what a level is there: of 0..1, or normalised. */
static const struct fby_param device_erasing_params[] = {
    [P]     = FBY_P_PARAM(0.5),
    [SCALE] = FBY_PAIR_PARAM("scale", 0.0001, 1, 0.02, 0.33),
    [RATIO] = FBY_PAIR_PARAM("ratio", 0.01, 100, 0.3, 3.3),
    [VALUE] = {.name = "value",
        .expects     = "one or three numbers, -1000000 to 1000000",
        .real        = true,
        .spread      = true,
        .min_n       = 1,
        .max_n       = 3,
        .min         = -FBY_NORMALIZE_MAX,
        .max         = FBY_NORMALIZE_MAX,
        .fallback    = {.n = 3, .real = true, .r = {0, 0, 0}}},
};

/* Steps are whole numbers: the value is not one of them. */
static fby_err device_erasing_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_why *why)
{
    struct fby_op_use whole = *use;
    memset(whole.params[VALUE].i, 0, sizeof(whole.params[VALUE].i));
    return erasing_plan(&whole, draw, in, out, why);
}

const struct fby_op fby_device_random_erasing = {
    .name     = "random_erasing",
    .id       = FBY_OP_DEVICE_RANDOM_ERASING,
    .version  = 1,
    .params   = device_erasing_params,
    .n_params = FBY_COUNT(device_erasing_params),
    .shape    = fby_op_same_shape,
    .plan     = device_erasing_plan,
};
