/* SPDX-License-Identifier: Apache-2.0 */
/* op.h - the tables of ops: names, parameters, draws and shapes.
 *
 * An op changes a picture. There are two tables. Ops of the worker are applied
 * in worker/transform/. Ops of the device are applied by the trainer's client
 * (trainer_client/expand/ops.h); the worker only checks them. The parser, the
 * canonical bytes and `forebay plan` read these tables and know no op by name.
 * docs/extending.md says how to add an op.
 *
 * Words: an op plan (struct fby_op_plan) is what one op does to one sample.
 * pipeline/plan/ has the functions that draw op plans and the order of samples.
 * A dataset plan (worker/plan/) is a pipeline applied to one dataset. To expand
 * a batch (trainer_client/expand/) is to turn its values into tensors. To
 * expand a pattern (worker/source/expand.h) is to list its file names. */
#ifndef FBY_PIPELINE_OP_H
#define FBY_PIPELINE_OP_H

#include "common/err.h"
#include "pipeline/step.h"
#include "pipeline/types.h"

struct fby_draw; /* pipeline/plan/draw.h */

enum fby_op_id { /* in canonical bytes: add numbers, never change one */
    FBY_OP_RANDOM_RESIZED_CROP = 1,
    FBY_OP_RESIZE              = 2,
    FBY_OP_CENTER_CROP         = 3,
    FBY_OP_RANDOM_CROP         = 4,
    FBY_OP_HORIZONTAL_FLIP     = 5,
    FBY_OP_VERTICAL_FLIP       = 6,
    FBY_OP_PAD                 = 7,
    FBY_OP_GRAYSCALE           = 8,
    FBY_OP_RANDOM_GRAYSCALE    = 9,
    FBY_OP_COLOUR_JITTER       = 10,
    FBY_OP_GAUSSIAN_BLUR       = 11,
    FBY_OP_RANDOM_ERASING      = 12,
    FBY_OP_ROTATE              = 13,
    FBY_OP_AFFINE              = 14,
    FBY_OP_TRIVIAL_AUGMENT     = 15,
    FBY_OP_RAND_AUGMENT        = 16,

    FBY_OP_DEVICE_NORMALIZE       = 32, /* 32 to 47 are ops of the device */
    FBY_OP_DEVICE_HORIZONTAL_FLIP = 33,
    FBY_OP_DEVICE_VERTICAL_FLIP   = 34,
    FBY_OP_DEVICE_COLOUR_JITTER   = 35,
    FBY_OP_DEVICE_RANDOM_ERASING  = 36,
    FBY_OP_DEVICE_MIXUP           = 37,
    FBY_OP_DEVICE_CUTMIX          = 38
};

struct fby_param {
    const char *name;
    const char *expects;   /* for errors: "one or two integers, 1 to 65535" */
    bool        real;      /* its numbers are real, else integers */
    bool        broadcast; /* a single number stands for max_n equal ones */
    bool        ordered;   /* two numbers: the first is not above the second */
    bool        is_field;  /* the name of a field, stored as its index */
    const char *const *words; /* names of 0, 1, ..., then NULL; NULL: none */
    uint32_t min_n; /* least count of numbers; 0: optional, no default */
    uint32_t max_n; /* largest count */
    double   min;   /* smallest value of each number, inclusive */
    double   max;   /* largest value, inclusive */
    struct fby_value fallback; /* the default; n = 0: none */
};

/* Index of the parameter of mixup and cutmix that names the label field. */
enum { FBY_MIXING_LABEL = 1 };

enum { FBY_MAX_STEPS = 4 }; /* steps of an op plan */

/* The effect of an op on one sample, drawn before the picture is decoded: crop
 * the picture to the box (x, y, w, h), resize it to out_w x out_h, mirror it
 * from left to right if `flip`, then apply the steps. Sizes are in pixels. */
struct fby_op_plan {
    uint32_t        x, y, w, h;
    uint32_t        out_w, out_h;
    bool            flip;
    uint32_t        n_steps;
    struct fby_step steps[FBY_MAX_STEPS];
};

/* The plan that leaves a picture of shape `in` unchanged. Pure. */
struct fby_op_plan fby_op_plan_identity(struct fby_shape in);

/* The size of a picture after the plan. Pure. */
struct fby_size fby_op_plan_size(const struct fby_op_plan *plan);

struct fby_op {
    const char    *name;
    enum fby_op_id id;
    uint32_t version;      /* raised if the op makes other values than before */
    bool     is_colour;    /* needs red, green and blue: not with yuv420 */
    bool     moves_pixels; /* by amounts that are drawn at random */
    bool     allows_masks; /* device: a mask may have the op */
    bool     before_normalize; /* device: needs levels of 0 to 1 */
    bool     mixes_rows;       /* device: mixes rows in pairs; must be last */
    const struct fby_param *params;
    uint32_t                n_params;
    /* Check rules between parameters. NULL: there are none. */
    fby_err (*check)(
        const struct fby_op_use *use, struct fby_error_detail *why);
    /* The shape after the op; unknown dimensions are 0. NULL: no change. */
    struct fby_shape (*shape)(
        const struct fby_op_use *use, struct fby_shape in);
    /* Draw the plan for a picture of shape `in`, whose dimensions are known.
     * Pure. NULL: an op of the device that draws nothing.
     * Errors: FBY_BAD_SAMPLE if the op cannot use the picture, for example if
     * the picture is smaller than the crop. */
    fby_err (*plan)(const struct fby_op_use *use, struct fby_draw *draw,
        struct fby_shape in, struct fby_op_plan *out,
        struct fby_error_detail *why);
};

/* The shape of a picture of shape `in` after the op; 0 is unknown. Pure. */
struct fby_shape fby_op_shape(
    const struct fby_op_use *use, struct fby_shape in);

/* The op of the worker that has this name or id; NULL if there is none. */
const struct fby_op *fby_op_named(const char *name);
const struct fby_op *fby_op_by_id(uint32_t id);

/* The number of ops called `name` among the `n` ops. */
uint32_t fby_op_count(
    const struct fby_op_use *ops, uint32_t n, const char *name);

/* Set `occurrence` of each op of the field: the number of ops with the same
 * name before it. Ops of the worker come before those of the device. */
void fby_field_number_repeated_ops(struct fby_field_content *field);

/* Check the rules between the parameters of an op. Each parameter is already
 * known to be in its range. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_op_check(
    const struct fby_op_use *use, struct fby_error_detail *why);

/* The ops of the worker. */
extern const struct fby_op *const fby_ops[];
extern const size_t               fby_n_ops;

/* The same two functions and the table for ops of the device. */
const struct fby_op              *fby_device_op_named(const char *name);
const struct fby_op              *fby_device_op_by_id(uint32_t id);
extern const struct fby_op *const fby_device_ops[];
extern const size_t               fby_n_device_ops;

#endif
