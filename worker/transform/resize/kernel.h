/* kernel.h - the two passes of a resize, for one row each.
 *
 * A kernel is a table of functions, one table for each vector instruction set;
 * all make the same bytes. For this folder alone. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_KERNEL_H
#define FBY_WORKER_TRANSFORM_RESIZE_KERNEL_H

#include "common/simd.h"
#include "worker/transform/resize/weights.h"

enum {
    RESIZE_SLACK = 64, /* bytes after a row that kernels may read or write */
    RESIZE_HALF  = 1 << (FBY_WEIGHT_BITS - 1)
};

struct resize_kernel {
    /* Bytes of an axis' own form, at most, and making it at axis->plan: x
     * scales pixels in a row, y rows. That memory is 32-byte aligned. */
    size_t (*x_bytes)(const struct fby_axis_spec *x);
    void (*x_prepare)(const struct fby_axis *x);
    size_t (*y_bytes)(const struct fby_axis_spec *y);
    void (*y_prepare)(const struct fby_axis *y);

    /* Scale the pixels of one source row. RESIZE_SLACK bytes after `in` are
     * read, after `out` written. */
    void (*across)(const struct fby_axis *x, const uint8_t *in, uint8_t *out);

    /* `size` bytes of result row `o` out of the rows of its reach. Three
     * more rows follow in `rows`; all can be read up to RESIZE_SLACK bytes
     * after `size`. Exactly `size` bytes are written. */
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

/* The kernel of a level: the best that this build has and is not above it. */
const struct resize_kernel *resize_kernel_of(enum fby_simd level);

#endif
