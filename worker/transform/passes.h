/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - combine a field's ops into few passes over the pixels.
 *
 * Crops, mirrors and one scaling form one pass, whatever their order: a pass
 * has a fixed order, and the coordinates are adjusted to it. A pass computes
 * only the pixels that are in its result. A second scaling begins a new pass,
 * and so does a crop, scaling or mirror after a step (an op's other effect,
 * such as a blur). The result is the same, byte for byte, as if the ops ran one
 * by one. Pure. */
#ifndef FBY_WORKER_TRANSFORM_PASSES_H
#define FBY_WORKER_TRANSFORM_PASSES_H

#include "pipeline/op.h"
#include "pipeline/plan/geometry.h"
#include "worker/transform/resize/resize.h"

/* A field's ops with their plans: plans[i] is the plan of uses[i]. */
struct fby_planned_ops {
    const struct fby_op_use  *uses;  /* borrowed, n_ops entries */
    const struct fby_op_plan *plans; /* borrowed, n_ops entries */
    uint32_t                  n_ops;
};

/* Crop the picture to `box`, scale the box to the size `to`, crop the scaled
 * picture to `window`, then mirror the window. */
struct fby_pass {
    struct fby_box  box;
    struct fby_size to;
    struct fby_box  window;
    bool            mirror;
    bool            reversed; /* the ops mirror before they scale, which rounds
                                 to other pixels in a mask (nearest.h) */
    uint32_t        steps_from, steps_end; /* the steps of ops [steps_from,
                                              steps_end) follow the pass */
};

/* All passes of a field. */
struct fby_passes {
    struct fby_size result_size;
    uint32_t        n; /* at least 1 */
    struct fby_pass list[FBY_MAX_OPS + 1];
};

/* Plan the passes of `n_ops` ops on a picture of size `in`.
 * Returns false if a plan does not fit its input picture; *bad_op is then the
 * index of that plan. */
FBY_CHECKED bool fby_passes_plan(const struct fby_op_plan *plans,
    uint32_t n_ops, struct fby_size in, struct fby_passes *out,
    uint32_t *bad_op);

/* The scale of a source that was decoded smaller: a source pixel covers `unit`
 * x `unit` pixels of the full-size picture. The first pixel of the pass's box
 * is offset_x columns and offset_y rows into the first source pixel. */
struct fby_source_scale {
    uint32_t unit, offset_x, offset_y;
};
extern const struct fby_source_scale fby_unscaled; /* 1, 0, 0 */

/* Returns the resize that carries out a pass on a source of `scale`. */
struct fby_resize_spec fby_pass_resize_spec(
    const struct fby_pass *pass, const struct fby_source_scale *scale);

/* Returns the largest unit (8, 4 or 2) at which the decoded box is at least
 * `oversize` times as wide and as high as `pass->to`, or 1 if there is none. */
uint32_t fby_pass_largest_unit(const struct fby_pass *pass, uint32_t oversize);

#endif
