/* op.h - the table of worker ops: names, parameters, draws and shapes.
 *
 * The parser, the canonical form and the plan know no op by name; they know
 * this table. The pixels themselves are worker/transform's business: it has
 * what each kind of step does. To add an op: an entry in a table of op_*.c,
 * steps that do it, a golden. */
#ifndef FBY_COMMON_PIPELINE_OP_H
#define FBY_COMMON_PIPELINE_OP_H

#include "common/err.h"
#include "common/pipeline/step.h"
#include "common/pipeline/types.h"

struct fby_draw; /* common/plan/draw.h */

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
    FBY_OP_RAND_AUGMENT        = 16
};

struct fby_param {
    const char *name;
    const char *expects; /* for errors: "one or two integers, 1 to 65535" */
    bool        real;
    bool        spread;       /* one number stands for all max_n of them */
    bool        ordered;      /* of two, the first is not above the second */
    const char *const *words; /* stand for 0, 1, ..; ends with NULL; or NULL */
    uint32_t           min_n; /* numbers; 0: may be left out */
    uint32_t           max_n;
    double             min; /* each number, inclusive */
    double             max;
    struct fby_value   fallback; /* n = 0: none */
};

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
    const struct fby_param *params;
    uint32_t                n_params;
    /* Check what the parameters' own rules cannot. May be NULL. */
    fby_err (*check)(const struct fby_op_use *use, struct fby_why *why);
    /* The shape after the op; unknown dimensions are 0. */
    struct fby_shape (*shape)(
        const struct fby_op_use *use, struct fby_shape in);
    /* The draws and the geometry for a picture of `in` (all dims known).
     * Pure: integers and tables only. FBY_BAD_SAMPLE when the picture cannot
     * be used (a crop larger than it), with the reason in `why`. */
    fby_err (*plan)(const struct fby_op_use *use, struct fby_draw *draw,
        struct fby_shape in, struct fby_op_plan *out, struct fby_why *why);
};

/* By name or id; NULL when there is none. */
const struct fby_op *fby_op_named(const char *name);
const struct fby_op *fby_op_by_id(uint32_t id);

/* Are these parameters, each in its bounds, right beside each other?
 * Errors: FBY_CONFIG with the reason. */
FBY_CHECKED fby_err fby_op_check(
    const struct fby_op_use *use, struct fby_why *why);

/* The table, for docs and for the nearest name in errors. */
extern const struct fby_op *const fby_ops[];
extern const size_t               fby_n_ops;

#endif
