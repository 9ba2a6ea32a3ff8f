/* SPDX-License-Identifier: Apache-2.0 */
/* weights.h - the source pixels of each result pixel, and their weights.
 *
 * Pillow's BILINEAR for one axis: a result pixel is a weighted mean of source
 * pixels. The weights are the heights of a triangle whose centre is the result
 * pixel. If the axis shrinks by a factor, the triangle is wider by that factor.
 * Weights are scaled to a sum of one and rounded to 22 bits of fraction.
 * Integer arithmetic makes them equal on every machine. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_WEIGHTS_H
#define FBY_WORKER_TRANSFORM_RESIZE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FBY_WEIGHT_BITS = 22 }; /* of fraction: 2^22 is one */

/* An axis (width or height) that is scaled from `from` to `to` pixels, of which
 * the result pixels [first, first + n) are wanted. `from` counts pixels of full
 * size. If the source was decoded smaller, a source pixel covers `unit` of
 * them, and the axis begins `offset` of them into the first source pixel. */
struct fby_axis_spec {
    uint32_t from, to; /* 1 to 65535 */
    uint32_t first, n; /* n >= 1 */
    uint32_t unit;     /* 1, 2, 4 or 8 */
    uint32_t offset;   /* below `unit` */
    bool     mirror;   /* write the last wanted pixel first */
    bool     reversed; /* count pixels from the end. Changes no weight. Only
                          nearest.h uses it, if two pixels are equally near */
};

/* The number of source pixels that cover the axis. */
static inline uint32_t fby_axis_pixels(const struct fby_axis_spec *spec)
{
    return (spec->offset + spec->from + spec->unit - 1) / spec->unit;
}

/* A reach: adjacent source pixels, such as those with a weight in a result
 * pixel. */
struct fby_reach {
    uint32_t first;
    uint32_t n;
};

/* An axis with the weights of all its result pixels. */
struct fby_axis {
    struct fby_axis_spec    spec;
    struct fby_reach        used;      /* the union of all reaches */
    const struct fby_reach *reaches;   /* [spec.n wanted result pixels];
                                          `first` is counted from used.first */
    uint32_t                max_reach; /* upper bound of reaches[i].n */
    const uint32_t         *weights; /* of reaches[i]: from i * max_reach on */
    void                   *kernel_plan; /* the weights in the kernel's form */
};

/* Weight of source pixel `i` (counted from used.first) in result pixel `o`; 0
 * outside its reach. If `i` is before the reach, the difference wraps around to
 * a large number. */
static inline uint32_t fby_axis_weight(
    const struct fby_axis *axis, uint32_t o, uint32_t i)
{
    const struct fby_reach *reach = &axis->reaches[o];
    return i - reach->first < reach->n
               ? axis->weights[(size_t)o * axis->max_reach + i - reach->first]
               : 0;
}

/* An upper bound of the number of source pixels in a reach. Pure. */
uint32_t fby_axis_max_reach(const struct fby_axis_spec *spec);

/* The source pixels that all wanted result pixels need. Pure. */
struct fby_reach fby_axis_reach(const struct fby_axis_spec *spec);

/* Bytes of memory that fby_axis_plan needs. */
size_t fby_axis_memory_bytes(const struct fby_axis_spec *spec);

/* Compute the reaches and weights of an axis. They are stored in `memory`,
 * which has fby_axis_memory_bytes and is aligned for u32. Pure. */
struct fby_axis fby_axis_plan(const struct fby_axis_spec *spec, void *memory);

#endif
