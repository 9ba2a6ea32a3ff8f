/* augment.h - the draws of ops that change more than box and size.
 *
 * Pure functions of (draw, parameters): whole numbers only, each rounding
 * fixed in proto/PROTOCOL.md, "Draws". Q16 is a number times 65536. */
#ifndef FBY_PIPELINE_PLAN_AUGMENT_H
#define FBY_PIPELINE_PLAN_AUGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/plan/draw.h"
#include "pipeline/plan/geometry.h"

/* x * 65536, rounded towards 0. */
int64_t fby_q16(double x);

/* Uniform on low..high, both Q16 of the reals; takes a draw of `between`. */
int64_t fby_plan_uniform_q16(struct fby_draw *draw, double low, double high);

/* A random order of four: order[i] is who comes i-th; three draws. */
void fby_plan_order_of_four(struct fby_draw *draw, uint32_t order[4]);

/* A box of a share `scale` of the picture, of an aspect h/w in `ratio`
 * (log-uniform), smaller than the picture in both directions: ten tries, then
 * false. Pairs as for fby_plan_random_resized_crop. */
FBY_CHECKED bool fby_plan_random_erasing(struct fby_draw *draw,
    struct fby_size picture, const double scale[2], const double ratio[2],
    struct fby_box *out);

#endif
