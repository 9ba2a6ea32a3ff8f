/* passes.h - what a field's ops do to a picture, in as few passes as can be.
 *
 * Crops, mirrors and one scaling commute up to numbers: they are one pass, in
 * which only the pixels that end up in the result are made. Another scaling
 * begins another pass, and so does what follows steps on the pixels. The result
 * is that of the ops one after the other, byte for byte. Pure. */
#ifndef FBY_WORKER_TRANSFORM_PASSES_H
#define FBY_WORKER_TRANSFORM_PASSES_H

#include "pipeline/op.h"
#include "pipeline/plan/geometry.h"
#include "worker/transform/resize/resize.h"

/* A field's ops, ready to run: uses[i] is done as plans[i] says. */
struct fby_op_run {
    const struct fby_op_use  *uses;  /* borrowed, n_ops of them */
    const struct fby_op_plan *plans; /* borrowed, n_ops of them */
    uint32_t                  n_ops;
};

/* Take `box` of the picture, scale it to the size `to`, keep `window` of that,
 * then mirror it. */
struct fby_pass {
    struct fby_box  box;
    struct fby_size to;
    struct fby_box  window;
    bool            mirror;
    bool            reversed; /* it was mirrored before it was scaled */
    uint32_t        op; /* position of the one that scales; of the last else */
    uint32_t        steps_from, steps_end; /* ops whose steps come after it */
};

struct fby_passes {
    struct fby_size size; /* of the result */
    uint32_t        n;    /* at least 1 */
    struct fby_pass at[FBY_MAX_OPS + 1];
};

/* The passes of `n_ops` ops on a picture of size `in`.
 * False when a plan does not fit the picture it meets; *bad_op says which. */
FBY_CHECKED bool fby_passes_plan(const struct fby_op_plan *plans,
    uint32_t n_ops, struct fby_size in, struct fby_passes *out,
    uint32_t *bad_op);

/* How fine a pass' source is: `unit` of the box' pixels, in x and in y, are one
 * of the source's, and the box begins `skew` of its pixels into the first. */
struct fby_grain {
    uint32_t unit, skew_x, skew_y;
};
extern const struct fby_grain fby_unscaled; /* 1, 0, 0 */

/* The resize that a pass is, from such a source. */
struct fby_resize_spec fby_pass_resize(
    const struct fby_pass *pass, const struct fby_grain *grain);

/* The largest unit, 1, 2, 4 or 8, at which the box is still at least `times`
 * as large as what it is scaled to, in x and in y. */
uint32_t fby_pass_unit(const struct fby_pass *pass, uint32_t times);

#endif
