/* weights.h - the source pixels that make a result pixel, and their weights.
 *
 * Pillow's BILINEAR for one axis: each result pixel is the centre of a
 * triangle, which is wider than a source pixel by the factor that the axis
 * shrinks. Weights are scaled to a sum of one and rounded to 22 bits of
 * fraction. Integer arithmetic makes them equal on every machine. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_WEIGHTS_H
#define FBY_WORKER_TRANSFORM_RESIZE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FBY_WEIGHT_BITS = 22 }; /* of fraction: 2^22 is one */

/* Result pixels [first, first + n) of an axis that is scaled from `from` steps
 * to `to` pixels. A step is a source pixel, unless the source was decoded
 * smaller: then each source pixel covers `unit` steps, and the first step is
 * `skew` steps into the first source pixel. */
struct fby_axis_spec {
    uint32_t from, to;   /* steps and result pixels, 1 to 65535 */
    uint32_t first, n;   /* result pixels wanted, n >= 1 */
    uint32_t unit, skew; /* 1 and 0; or 2, 4, 8 and less than that */
    bool     mirror;     /* the last result pixel comes first */
    bool     reversed;   /* count from the end: changes no weight, only which of
                            two equally near pixels nearest.h takes */
};

/* The number of source pixels that contain the steps. */
static inline uint32_t fby_axis_pixels(const struct fby_axis_spec *spec)
{
    return (spec->skew + spec->from + spec->unit - 1) / spec->unit;
}

struct fby_reach { /* the source pixels under a triangle */
    uint32_t first;
    uint32_t n;
};

/* An axis with the weights of all its result pixels. */
struct fby_axis {
    struct fby_axis_spec    spec;
    const struct fby_reach *reaches; /* spec.n; counted from all.first */
    const uint32_t         *weights; /* those of reach i begin at i * most */
    uint32_t                most;    /* upper bound of reaches[i].n */
    struct fby_reach        all;     /* the union of all reaches */
    void                   *kernel_plan; /* weights in a kernel's own form */
};

/* Weight of pixel `i` for result pixel `o`; 0 outside its reach. */
static inline uint32_t fby_axis_weight(
    const struct fby_axis *axis, uint32_t o, uint32_t i)
{
    const struct fby_reach *reach = &axis->reaches[o];
    return i - reach->first < reach->n
               ? axis->weights[(size_t)o * axis->most + i - reach->first]
               : 0;
}

/* An upper bound of the source pixels of a result pixel. Pure. */
uint32_t fby_axis_most(const struct fby_axis_spec *spec);

/* The source pixels of all result pixels. Pure. */
struct fby_reach fby_axis_reach(const struct fby_axis_spec *spec);

/* Bytes of memory that fby_axis_plan needs. */
size_t fby_axis_bytes(const struct fby_axis_spec *spec);

/* Compute the reaches and weights of an axis in `memory`: fby_axis_bytes,
 * aligned for u32. The result points into it. Pure. */
struct fby_axis fby_axis_plan(const struct fby_axis_spec *spec, void *memory);

#endif
