/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.h - the two passes of a resize, each for one row. Internal to resize/.
 *
 * A kernel is a table of functions for one vector instruction set. All kernels
 * make the same bytes. A tap is a source pixel (or row) that is multiplied by a
 * weight and added to a result pixel (or row). */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_KERNEL_H
#define FBY_WORKER_TRANSFORM_RESIZE_KERNEL_H

#include "common/simd.h"
#include "worker/transform/resize/weights.h"

enum {
    RESIZE_SLACK = 64, /* bytes after a row that kernels may read or write */
    RESIZE_HALF  = 1 << (FBY_WEIGHT_BITS - 1) /* one half, for rounding */
};

struct resize_kernel {
    /* Each kernel has its own form of the weights of an axis: its plan. The
     * first function of an axis returns an upper bound of the plan's bytes. The
     * second writes the plan to axis->kernel_plan, aligned to 32 bytes. */
    size_t (*x_plan_bytes)(const struct fby_axis_spec *x);
    void (*x_write_plan)(const struct fby_axis *x);
    size_t (*y_plan_bytes)(const struct fby_axis_spec *y);
    void (*y_write_plan)(const struct fby_axis *y);

    /* Scale the pixels of one source row. Up to RESIZE_SLACK bytes are read
     * after the end of `in`, and written after the end of `out`. */
    void (*scale_x)(const struct fby_axis *x, const uint8_t *in, uint8_t *out);

    /* Compute `size` bytes of result row `o`. `rows` lists the source rows of
     * its reach, and three more that may be read. Up to RESIZE_SLACK bytes
     * after the `size` bytes of each source row are read. Exactly `size` bytes
     * are written. */
    void (*scale_y)(const struct fby_axis *y, uint32_t o,
        const uint8_t *const *rows, size_t size, uint8_t *out);
};

/* The number of groups of `group_taps` taps that the result pixel with the most
 * taps needs. */
static inline uint32_t resize_max_tap_groups(
    const struct fby_axis *axis, uint32_t group_taps)
{
    uint32_t max = 0;
    for (uint32_t o = 0; o < axis->spec.n; o++) {
        max = axis->reaches[o].n > max ? axis->reaches[o].n : max;
    }
    return (max + group_taps - 1) / group_taps;
}

/* The first of `n` adjacent source pixels that include all taps of result pixel
 * `o`. Near the end of the row they begin before the first tap. */
static inline uint32_t resize_first_tap(
    const struct fby_axis *x, uint32_t o, uint32_t n)
{
    uint32_t first = x->reaches[o].first;
    uint32_t limit = x->used.n > n ? x->used.n - n : 0;
    return first < limit ? first : limit;
}

/* Call loop(..., n), an always-inlined function. Up to 3, n is passed as a
 * constant, so that the compiler unrolls the loop over n in this function. */
#define RESIZE_UNROLLED(n, loop, ...)     \
    ((n) == 1      ? loop(__VA_ARGS__, 1) \
        : (n) == 2 ? loop(__VA_ARGS__, 2) \
        : (n) == 3 ? loop(__VA_ARGS__, 3) \
                   : loop(__VA_ARGS__, n))

extern const struct resize_kernel resize_portable;
extern const struct resize_kernel resize_avx2; /* only on x86-64 */
extern const struct resize_kernel resize_avx512;

/* The best kernel of this build that needs no instructions beyond `level`. */
const struct resize_kernel *resize_kernel_for(enum fby_simd level);

#endif
