/* SPDX-License-Identifier: Apache-2.0 */
/* op_private.h - macros and functions that the files of ops (op_*.c) share. */
#ifndef FBY_PIPELINE_OP_PRIVATE_H
#define FBY_PIPELINE_OP_PRIVATE_H

#include "pipeline/op.h"
#include "pipeline/plan/draw.h"
#include "pipeline/plan/fixed.h"
#include "pipeline/plan/geometry.h"

#define FBY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The members of struct fby_op that every op sets. */
#define FBY_OP(op_name, op_id) \
    .name = (op_name), .id = FBY_OP_##op_id, .version = 1
#define FBY_OP_PARAMS(table) .params = (table), .n_params = FBY_COUNT(table)

/* A parameter of min_count to max_count numbers, each from `low` to `high`. */
#define FBY_INTEGERS(param_name, min_count, max_count, low, high, text) \
    .name = (param_name), .expects = (text), .min_n = (min_count),      \
    .max_n = (max_count), .min = (low), .max = (high)
#define FBY_REALS(...) FBY_INTEGERS(__VA_ARGS__), .real = true

/* A parameter that several ops have: the probability that the op is applied. */
#define FBY_P_PARAM(default_p)                                      \
    {                                                               \
        FBY_REALS("p", 1, 1, 0, 1, "a number, 0 to 1 (how often)"), \
            .fallback = {                                           \
                .n    = 1,                                          \
                .real = true,                                       \
                .r    = {default_p}                                 \
            }                                                       \
    }
/* A parameter of two numbers from `low` to `high`, the lower first. */
#define FBY_PAIR_PARAM(param_name, low, high, default_0, default_1) \
    {                                                               \
        FBY_REALS(param_name, 2, 2, low, high,                      \
            "two numbers, " #low " to " #high ", the lower first"), \
            .ordered = true, .fallback = {                          \
                .n    = 2,                                          \
                .real = true,                                       \
                .r    = {default_0, default_1}                      \
            }                                                       \
    }
/* A parameter for the level of pixels from outside the picture. */
#define FBY_FILL_PARAM                                              \
    {                                                               \
        FBY_INTEGERS("fill", 1, 1, 0, 255, "an integer, 0 to 255"), \
            .fallback = {                                           \
                .n = 1,                                             \
                .i = {0}                                            \
            }                                                       \
    }

/* Append a step; a plan has at most FBY_MAX_STEPS. */
void fby_op_add_step(struct fby_op_plan *plan, struct fby_step step);

/* Draw a number in Q16 (times 65536): between the two numbers of `value`, or
 * from -a to a if it has only one number a. */
int64_t fby_op_draw_q16(struct fby_draw *draw, const struct fby_value *value);

/* All ops, in the order of their lists in error messages and docs. */
/* clang-format off */
#define FBY_EACH_OP(X)                                                  \
    X(random_resized_crop) X(resize) X(center_crop) X(random_crop)      \
    X(horizontal_flip) X(vertical_flip) X(pad) X(grayscale)             \
    X(random_grayscale) X(colour_jitter) X(gaussian_blur)               \
    X(random_erasing) X(rotate) X(affine) X(trivial_augment_wide)       \
    X(rand_augment)
#define FBY_EACH_DEVICE_OP(X)                                           \
    X(normalize) X(horizontal_flip) X(vertical_flip) X(colour_jitter)   \
    X(random_erasing) X(mixup) X(cutmix)
/* clang-format on */

#define X(name) extern const struct fby_op fby_op_##name;
FBY_EACH_OP(X)
#undef X
#define X(name) extern const struct fby_op fby_device_##name;
FBY_EACH_DEVICE_OP(X)
#undef X

#endif
