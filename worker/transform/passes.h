/* passes.h - combine a field's ops into as few passes over the pixels as
 * possible.
 *
 * Crops, mirrors and one scaling are one pass, since they commute if their
 * numbers are adjusted. It makes only the pixels that end up in the result. A
 * second scaling begins a new pass, and so does a crop, scaling or mirror after
 * steps. The result equals that of the ops one by one, byte for byte. Pure. */
#ifndef FBY_WORKER_TRANSFORM_PASSES_H
#define FBY_WORKER_TRANSFORM_PASSES_H

#include "pipeline/op.h"
#include "pipeline/plan/geometry.h"
#include "worker/transform/resize/resize.h"

/* A field's ops, ready to run: plans[i] says what uses[i] does. */
struct fby_op_run {
    const struct fby_op_use  *uses;  /* borrowed, n_ops of them */
    const struct fby_op_plan *plans; /* borrowed, n_ops of them */
    uint32_t                  n_ops;
};

/* Crop the picture to `box`, scale that to the size `to`, crop the result to
 * `window`, then mirror it. */
struct fby_pass {
    struct fby_box  box;
    struct fby_size to;
    struct fby_box  window;
    bool            mirror;
    bool            reversed; /* the mirror comes before the scaling */
    uint32_t        op; /* index of the op that scales, else of the last op */
    uint32_t        steps_from, steps_end; /* ops whose steps follow the pass */
};

/* All passes of a field. */
struct fby_passes {
    struct fby_size size; /* of the result */
    uint32_t        n;    /* at least 1 */
    struct fby_pass at[FBY_MAX_OPS + 1];
};

/* Plan the passes of `n_ops` ops on a picture of size `in`.
 * Returns false if plan *bad_op does not fit its input picture. */
FBY_CHECKED bool fby_passes_plan(const struct fby_op_plan *plans,
    uint32_t n_ops, struct fby_size in, struct fby_passes *out,
    uint32_t *bad_op);

/* How a pass sees its source if it was decoded smaller: one source pixel covers
 * `unit` pixels of the box, in x and in y, and the box begins `skew` of its
 * pixels into the first source pixel. */
struct fby_grain {
    uint32_t unit, skew_x, skew_y;
};
extern const struct fby_grain fby_unscaled; /* 1, 0, 0 */

/* The resize that does a pass. */
struct fby_resize_spec fby_pass_resize(
    const struct fby_pass *pass, const struct fby_grain *grain);

/* The largest unit, 1, 2, 4 or 8, at which the decoded box has at least `times`
 * the sides of the size it is scaled to. */
uint32_t fby_pass_unit(const struct fby_pass *pass, uint32_t times);

#endif
