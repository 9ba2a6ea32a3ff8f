/* kernel.h - the two passes of a resize, for one row each. Internal to resize/.
 *
 * A kernel is a table of functions, one for each vector instruction set. All
 * kernels make the same bytes. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_KERNEL_H
#define FBY_WORKER_TRANSFORM_RESIZE_KERNEL_H

#include "common/simd.h"
#include "worker/transform/resize/weights.h"

enum {
    RESIZE_SLACK = 64, /* bytes after a row that kernels may read or write */
    RESIZE_HALF  = 1 << (FBY_WEIGHT_BITS - 1) /* for rounding */
};

struct resize_kernel {
    /* The kernel's own form of the weights of an axis: its most bytes, and the
     * function that makes it at axis->kernel_plan, which is 32-byte aligned.
     * x scales the pixels of a row, y the rows. */
    size_t (*x_bytes)(const struct fby_axis_spec *x);
    void (*x_prepare)(const struct fby_axis *x);
    size_t (*y_bytes)(const struct fby_axis_spec *y);
    void (*y_prepare)(const struct fby_axis *y);

    /* Scale the pixels of one source row. Up to RESIZE_SLACK bytes after the
     * end of `in` are read, and after the end of `out` written. */
    void (*across)(const struct fby_axis *x, const uint8_t *in, uint8_t *out);

    /* Make `size` bytes of result row `o` from the source rows of its reach.
     * `rows` has three more entries, and each row is readable for RESIZE_SLACK
     * bytes after `size`. Exactly `size` bytes are written. */
    void (*down)(const struct fby_axis *y, uint32_t o,
        const uint8_t *const *rows, size_t size, uint8_t *out);
};

/* Call loop(..., n). For n up to 3 the call has a constant: the compiler then
 * unrolls an always-inlined loop, and its sums stay in registers. */
#define RESIZE_UNROLLED(n, loop, ...) \
    do {                              \
        switch (n) {                  \
        case 1:                       \
            loop(__VA_ARGS__, 1);     \
            break;                    \
        case 2:                       \
            loop(__VA_ARGS__, 2);     \
            break;                    \
        case 3:                       \
            loop(__VA_ARGS__, 3);     \
            break;                    \
        default:                      \
            loop(__VA_ARGS__, n);     \
            break;                    \
        }                             \
    } while (0)

extern const struct resize_kernel resize_portable;
extern const struct resize_kernel resize_avx2; /* where the build has them */
extern const struct resize_kernel resize_avx512;

/* The best kernel of this build that needs no more than `level`. */
const struct resize_kernel *resize_kernel_of(enum fby_simd level);

#endif
