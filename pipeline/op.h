/* op.h - the tables of ops: names, parameters, draws and shapes.
 *
 * The parser, the canonical form and the plan know no op by name; they know
 * this table. The pixels themselves are worker/transform's business: it has
 * what each kind of step does. To add an op: an entry in a table of op_*.c,
 * steps that do it, a golden. Ops of the device have a table of their own: a
 * worker checks them and sends them on, the trainer's client does them
 * (trainer_client/expand/ops.h), and what they draw is decided here. */
#ifndef FBY_PIPELINE_OP_H
#define FBY_PIPELINE_OP_H

#include "common/err.h"
#include "pipeline/step.h"
#include "pipeline/types.h"

struct fby_draw; /* pipeline/plan/draw.h */

enum fby_op_id { /* in canonical content: add, never renumber */
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

    FBY_OP_DEVICE_NORMALIZE       = 32, /* of the device: 32 to 47 */
    FBY_OP_DEVICE_HORIZONTAL_FLIP = 33,
    FBY_OP_DEVICE_VERTICAL_FLIP   = 34,
    FBY_OP_DEVICE_COLOUR_JITTER   = 35,
    FBY_OP_DEVICE_RANDOM_ERASING  = 36,
    FBY_OP_DEVICE_MIXUP           = 37,
    FBY_OP_DEVICE_CUTMIX          = 38
};

struct fby_param {
    const char *name;
    const char *expects; /* for errors: "one or two integers, 1 to 65535" */
    bool        real;
    bool        spread;       /* one number stands for all max_n of them */
    bool        ordered;      /* of two, the first is not above the second */
    bool        field;        /* a field of the content: its position */
    const char *const *words; /* stand for 0, 1, ..; ends with NULL; or NULL */
    uint32_t           min_n; /* numbers; 0: may be left out */
    uint32_t           max_n;
    double             min; /* each number, inclusive */
    double             max;
    struct fby_value   fallback; /* n = 0: none */
};

enum {
    FBY_PAIR_LABEL = 1
}; /* the parameter of mixup and cutmix: whose rows
                                are mixed like those of the image */

enum { FBY_MAX_STEPS = 4 }; /* of an op */

/* What an op does to one sample, all decided before a pixel is touched:
 * take the box (x, y, w, h) of the picture, scale it to out_w x out_h, mirror
 * it, then do the steps. An op that does less leaves the rest as identity. */
struct fby_op_plan {
    uint32_t        x, y, w, h;
    uint32_t        out_w, out_h;
    bool            flip;
    uint32_t        n_steps;
    struct fby_step steps[FBY_MAX_STEPS];
};

/* The picture's size after all of it. Pure. */
struct fby_size fby_op_plan_size(const struct fby_op_plan *plan);

struct fby_op {
    const char    *name;
    enum fby_op_id id;
    uint32_t       version; /* raised when its behaviour changes */
    bool is_colour; /* its steps need red, green and blue: not with yuv420 */
    bool moves;     /* moves pixels by random parameters */
    bool masks;     /* device: a mask may have it */
    bool levels;    /* device: stands before normalize */
    bool pairs;     /* device: mixes two rows; stands last */
    const struct fby_param *params;
    uint32_t                n_params;
    /* Check what the parameters' own rules cannot. May be NULL. */
    fby_err (*check)(const struct fby_op_use *use, struct fby_why *why);
    /* The shape after the op; unknown dimensions are 0. NULL: unchanged. */
    struct fby_shape (*shape)(
        const struct fby_op_use *use, struct fby_shape in);
    /* The draws and the geometry for a picture of `in` (all dims known).
     * Pure: integers and tables only. FBY_BAD_SAMPLE when the picture cannot
     * be used (a crop larger than it), with the reason in `why`. NULL: an op
     * of the device that draws nothing. */
    fby_err (*plan)(const struct fby_op_use *use, struct fby_draw *draw,
        struct fby_shape in, struct fby_op_plan *out, struct fby_why *why);
};

/* By name or id; NULL when there is none. */
const struct fby_op *fby_op_named(const char *name);
const struct fby_op *fby_op_by_id(uint32_t id);

/* How many of these have that name: the next one's occurrence. */
uint32_t fby_op_count(
    const struct fby_op_use *uses, uint32_t n, const char *name);

/* Set the occurrence of each op of the field: how many of its name stand before
 * it, on the worker and then on the device. */
void fby_field_number_ops(struct fby_field_content *field);

/* Are these parameters, each in its bounds, right beside each other?
 * Errors: FBY_CONFIG with the reason. */
FBY_CHECKED fby_err fby_op_check(
    const struct fby_op_use *use, struct fby_why *why);

/* The table, for docs and for the nearest name in errors. */
extern const struct fby_op *const fby_ops[];
extern const size_t               fby_n_ops;

/* The same of the device's ops. */
const struct fby_op              *fby_device_op_named(const char *name);
const struct fby_op              *fby_device_op_by_id(uint32_t id);
extern const struct fby_op *const fby_device_ops[];
extern const size_t               fby_n_device_ops;

#endif
