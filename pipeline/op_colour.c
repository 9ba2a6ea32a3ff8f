/* SPDX-License-Identifier: Apache-2.0 */
/* op_colour.c - ops that change colours: grayscale, random_grayscale,
 * colour_jitter, gaussian_blur and random_erasing. */
#include <string.h>

#include "pipeline/op_private.h"

/* ---- grayscale, random_grayscale ---- */

/* The plan of both ops. grayscale has no parameters and is always applied. */
static fby_err grayscale_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_error_detail *why)
{
    (void)why;
    *out = fby_op_plan_identity(in);
    if (use->op->n_params == 0 || fby_draw_bool(draw, use->params[0].r[0])) {
        fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_GREY});
    }
    return FBY_OK;
}

const struct fby_op fby_op_grayscale = {
    FBY_OP("grayscale", GRAYSCALE), .is_colour = true, .plan = grayscale_plan};

static const struct fby_param grayscale_params[] = {FBY_P_PARAM(0.1)};

const struct fby_op fby_op_random_grayscale = {
    FBY_OP("random_grayscale", RANDOM_GRAYSCALE),
    FBY_OP_PARAMS(grayscale_params), .is_colour = true, .plan = grayscale_plan};

/* ---- colour_jitter ---- */

/* Indices of the parameters, and their number. */
enum { BRIGHTNESS = 0, CONTRAST = 1, SATURATION = 2, HUE = 3, N_JITTERS = 4 };

#define FACTOR_PARAM(param_name)                                              \
    {                                                                         \
        FBY_REALS(param_name, 0, 2, 0, 16,                                    \
            "a number a, 0 to 16 (1 - a to 1 + a), or two, the lower first"), \
            .ordered = true                                                   \
    }

static const struct fby_param jitter_params[] = {
    [BRIGHTNESS] = FACTOR_PARAM("brightness"),
    [CONTRAST]   = FACTOR_PARAM("contrast"),
    [SATURATION] = FACTOR_PARAM("saturation"),
    [HUE]        = {FBY_REALS("hue", 0, 2, -0.5, 0.5,
                        "a number a, 0 to 0.5 (-a to a), or two, -0.5 to 0.5, "
                               "the lower first"),
               .ordered = true},
};

static fby_err jitter_check(
    const struct fby_op_use *use, struct fby_error_detail *why)
{
    uint32_t given = 0;
    for (uint32_t i = 0; i < N_JITTERS; i++) {
        given += use->params[i].n;
    }
    if (given == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "colour_jitter needs brightness, contrast, saturation or hue");
    }
    if (use->params[HUE].n == 1 && use->params[HUE].r[0] < 0) {
        return fby_error_set(
            why, FBY_CONFIG, "hue: expected %s", jitter_params[HUE].expects);
    }
    return FBY_OK;
}

/* Draw the value of parameter `i`, in Q16 (times 65536). */
static int64_t draw_jitter(
    struct fby_draw *draw, const struct fby_value *value, uint32_t i)
{
    if (i == HUE) {
        return fby_op_draw_q16(draw, value);
    }
    double a = value->r[0];
    if (value->n == 2) {
        return fby_draw_uniform_q16(draw, a, value->r[1]);
    }
    /* Draw a number from 1 - a to 1 + a, which is not below 0. */
    int64_t low = FBY_Q16_ONE - fby_q16(a < 1 ? a : 1);
    return fby_draw_between(draw, low, FBY_Q16_ONE + fby_q16(a));
}

/* Draw the order of the four changes, then a value for each change given. */
static fby_err jitter_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    static const enum fby_step_kind kinds[N_JITTERS] = {FBY_STEP_BRIGHTNESS,
        FBY_STEP_CONTRAST, FBY_STEP_SATURATION, FBY_STEP_HUE};
    uint32_t                        order[N_JITTERS];
    int64_t                         values[N_JITTERS] = {0};
    (void)why;
    *out = fby_op_plan_identity(in);
    fby_draw_order_of_four(draw, order);
    for (uint32_t i = 0; i < N_JITTERS; i++) {
        if (use->params[i].n > 0) {
            values[i] = draw_jitter(draw, &use->params[i], i);
        }
    }
    for (uint32_t i = 0; i < N_JITTERS; i++) {
        uint32_t change = order[i];
        if (use->params[change].n > 0) {
            fby_op_add_step(out, (struct fby_step){.kind = kinds[change],
                                     .v                  = {values[change]}});
        }
    }
    return FBY_OK;
}

#define JITTER_OP(op_id)                                          \
    FBY_OP("colour_jitter", op_id), FBY_OP_PARAMS(jitter_params), \
        .check = jitter_check, .plan = jitter_plan

const struct fby_op fby_op_colour_jitter = {
    JITTER_OP(COLOUR_JITTER), .is_colour = true};
const struct fby_op fby_device_colour_jitter = {
    JITTER_OP(DEVICE_COLOUR_JITTER), .before_normalize = true};

/* ---- gaussian_blur ---- */

enum { KERNEL = 0, SIGMA = 1 }; /* indices of parameters */

static const struct fby_param blur_params[] = {
    [KERNEL] = {FBY_INTEGERS("kernel", 1, 2, 1, 31,
                    "one or two odd integers, 1 to 31 ([height, width])"),
        .broadcast = true},
    [SIGMA]  = {FBY_REALS("sigma", 1, 2, 0.1, 16,
                    "one or two numbers, 0.1 to 16, the lower first"),
         .broadcast = true, .ordered = true,
         .fallback = {.n = 2, .real = true, .r = {0.1, 2}}},
};

static fby_err blur_check(
    const struct fby_op_use *use, struct fby_error_detail *why)
{
    const struct fby_value *kernel = &use->params[KERNEL];
    if (kernel->i[0] % 2 == 0 || kernel->i[1] % 2 == 0) {
        return fby_error_set(why, FBY_CONFIG, "kernel: expected %s",
            blur_params[KERNEL].expects);
    }
    return FBY_OK;
}

static fby_err blur_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    int64_t       height = use->params[KERNEL].i[0];
    int64_t       width  = use->params[KERNEL].i[1];
    const double *sigma  = use->params[SIGMA].r;
    /* The border is mirrored, so half of the kernel must fit in the picture. */
    if (height / 2 >= in.dims[0] || width / 2 >= in.dims[1]) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "gaussian_blur needs a picture of at least %lld x %lld pixels "
            "(width x height), this one has %u x %u",
            (long long)width / 2 + 1, (long long)height / 2 + 1, in.dims[1],
            in.dims[0]);
    }
    int64_t drawn_sigma = fby_draw_uniform_q16(draw, sigma[0], sigma[1]);
    *out                = fby_op_plan_identity(in);
    fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_BLUR,
                             .v = {width, height, drawn_sigma}});
    return FBY_OK;
}

const struct fby_op fby_op_gaussian_blur = {
    FBY_OP("gaussian_blur", GAUSSIAN_BLUR), FBY_OP_PARAMS(blur_params),
    .check = blur_check, .plan = blur_plan};

/* ---- random_erasing ---- */

enum { P = 0, SCALE = 1, RATIO = 2, VALUE = 3 }; /* indices of parameters */

#define ERASING_PARAMS                                        \
    [P]     = FBY_P_PARAM(0.5),                               \
    [SCALE] = FBY_PAIR_PARAM("scale", 0.0001, 1, 0.02, 0.33), \
    [RATIO] = FBY_PAIR_PARAM("ratio", 0.01, 100, 0.3, 3.3)

static const struct fby_param erasing_params[] = {
    ERASING_PARAMS,
    [VALUE] = {FBY_INTEGERS(
                   "value", 1, 3, 0, 255, "one or three integers, 0 to 255"),
        .broadcast = true, .fallback = {.n = 3, .i = {0, 0, 0}}},
};

static fby_err erasing_plan(const struct fby_op_use *use, struct fby_draw *draw,
    struct fby_shape in, struct fby_op_plan *out, struct fby_error_detail *why)
{
    struct fby_size picture = {in.dims[1], in.dims[0]};
    struct fby_box  box;
    const int64_t  *value = use->params[VALUE].i;
    (void)why;
    *out = fby_op_plan_identity(in);
    if (fby_draw_bool(draw, use->params[P].r[0]) &&
        fby_plan_random_erasing(
            draw, picture, use->params[SCALE].r, use->params[RATIO].r, &box)) {
        fby_op_add_step(out, (struct fby_step){.kind = FBY_STEP_ERASE,
                                 .v = {box.x, box.y, box.w, box.h, value[0],
                                     value[1], value[2]}});
    }
    return FBY_OK;
}

const struct fby_op fby_op_random_erasing = {
    FBY_OP("random_erasing", RANDOM_ERASING), FBY_OP_PARAMS(erasing_params),
    .plan = erasing_plan};

/* The value is a level of 0 to 1 or, after normalize, any number. */
static const struct fby_param device_erasing_params[] = {
    ERASING_PARAMS,
    [VALUE] = {FBY_REALS("value", 1, 3, -FBY_NORMALIZE_MAX, FBY_NORMALIZE_MAX,
                   "one or three numbers, -1000000 to 1000000"),
        .broadcast = true, .fallback = {.n = 3, .real = true, .r = {0, 0, 0}}},
};

/* A step has only integers, and this value is a real number. So the plan has 0
 * there, and the device reads the value from the parameters. */
static fby_err device_erasing_plan(const struct fby_op_use *use,
    struct fby_draw *draw, struct fby_shape in, struct fby_op_plan *out,
    struct fby_error_detail *why)
{
    struct fby_op_use without_value = *use;
    memset(without_value.params[VALUE].i, 0, sizeof(use->params[VALUE].i));
    return erasing_plan(&without_value, draw, in, out, why);
}

const struct fby_op fby_device_random_erasing = {
    FBY_OP("random_erasing", DEVICE_RANDOM_ERASING),
    FBY_OP_PARAMS(device_erasing_params), .plan = device_erasing_plan};
