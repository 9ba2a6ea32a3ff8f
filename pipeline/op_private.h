/* op_private.h - what the files of the op table share. */
#ifndef FBY_PIPELINE_OP_PRIVATE_H
#define FBY_PIPELINE_OP_PRIVATE_H

#include "pipeline/op.h"
#include "pipeline/plan/augment.h"

#define FBY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* How often: one number, 0 to 1. */
#define FBY_P_PARAM(default_p)                                                \
    {                                                                         \
        .name = "p", .expects = "a number, 0 to 1 (how often)", .real = true, \
        .min_n = 1, .max_n = 1, .min = 0, .max = 1, .fallback = {             \
            .n    = 1,                                                        \
            .real = true,                                                     \
            .r    = {default_p}                                               \
        }                                                                     \
    }
/* Two numbers from `low` to `high`; which ones when they are left out. */
#define FBY_PAIR_PARAM(its_name, low, high, default_0, default_1)            \
    {                                                                        \
        .name    = (its_name),                                               \
        .expects = "two numbers, " #low " to " #high ", the lower first",    \
        .real = true, .ordered = true, .min_n = 2, .max_n = 2, .min = (low), \
        .max = (high), .fallback = {                                         \
            .n    = 2,                                                       \
            .real = true,                                                    \
            .r    = {default_0, default_1}                                   \
        }                                                                    \
    }
/* The level of pixels that come from nowhere. */
#define FBY_FILL_PARAM                                                 \
    {                                                                  \
        .name = "fill", .expects = "an integer, 0 to 255", .min_n = 1, \
        .max_n = 1, .min = 0, .max = 255, .fallback = {                \
            .n = 1,                                                    \
            .i = {0}                                                   \
        }                                                              \
    }

/* The plan that changes nothing. */
struct fby_op_plan fby_op_identity(struct fby_shape in);
/* The shape of an op that keeps the size. */
struct fby_shape fby_op_same_shape(
    const struct fby_op_use *use, struct fby_shape in);

void fby_op_add_step(struct fby_op_plan *plan, struct fby_step step);

/* One number a stands for -a..a, two are low and high. */
int64_t fby_op_draw_around(
    struct fby_draw *draw, const struct fby_value *value);

extern const struct fby_op fby_op_random_resized_crop, fby_op_resize;
extern const struct fby_op fby_op_center_crop, fby_op_random_crop;
extern const struct fby_op fby_op_horizontal_flip;
extern const struct fby_op fby_op_vertical_flip, fby_op_pad;
extern const struct fby_op fby_op_grayscale, fby_op_random_grayscale;
extern const struct fby_op fby_op_colour_jitter, fby_op_gaussian_blur;
extern const struct fby_op fby_op_random_erasing;
extern const struct fby_op fby_op_rotate, fby_op_affine;
extern const struct fby_op fby_op_trivial_augment_wide, fby_op_rand_augment;

extern const struct fby_op fby_device_normalize;
extern const struct fby_op fby_device_horizontal_flip;
extern const struct fby_op fby_device_vertical_flip;
extern const struct fby_op fby_device_colour_jitter;
extern const struct fby_op fby_device_random_erasing;
extern const struct fby_op fby_device_mixup, fby_device_cutmix;

#endif
