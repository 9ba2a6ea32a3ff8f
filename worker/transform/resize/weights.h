/* weights.h - which source pixels make a result pixel, and how much of each.
 *
 * Pillow's BILINEAR for one axis: a triangle stands on each result pixel, as
 * much wider than a source pixel as the axis shrinks; weights are scaled to a
 * sum of one and rounded to 22 bits of fraction. They come from whole numbers
 * only, so they are the same for every compiler and machine. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_WEIGHTS_H
#define FBY_WORKER_TRANSFORM_RESIZE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FBY_WEIGHT_BITS = 22 }; /* of fraction: 2^22 is one */

/* Result pixels [first, first + n) of an axis that is scaled from `from` to
 * `to`. What is scaled may be finer than the pixels at hand: each of these then
 * covers `unit` of its steps, and it begins `skew` steps into the first. */
struct fby_axis_spec {
    uint32_t from, to;   /* steps and result pixels, 1 to 65535 */
    uint32_t first, n;   /* result pixels wanted, n >= 1 */
    uint32_t unit, skew; /* 1 and 0; or 2, 4, 8 and less than that */
    bool     mirror;     /* the last result pixel comes first */
    bool     reversed;   /* scaled from the end on: no weight differs, but which
                            of two equally near pixels nearest.h takes */
};

/* Pixels at hand: those that the steps lie in. */
static inline uint32_t fby_axis_pixels(const struct fby_axis_spec *spec)
{
    return (spec->skew + spec->from + spec->unit - 1) / spec->unit;
}

struct fby_reach { /* pixels under a triangle */
    uint32_t first;
    uint32_t n;
};

struct fby_axis {
    struct fby_axis_spec    spec;
    const struct fby_reach *reaches;     /* spec.n; counted from all.first */
    const uint32_t         *weights;     /* reach i's begin at i * most */
    uint32_t                most;        /* no result pixel takes more pixels */
    struct fby_reach        all;         /* all pixels that any of them takes */
    void                   *kernel_plan; /* a kernel's own form, or NULL */
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

/* No result pixel takes more pixels than this. */
uint32_t fby_axis_most(const struct fby_axis_spec *spec);

/* All pixels that the result pixels take. Pure. */
struct fby_reach fby_axis_reach(const struct fby_axis_spec *spec);

/* Bytes of memory that planning takes. */
size_t fby_axis_bytes(const struct fby_axis_spec *spec);

/* Plan into `memory`, fby_axis_bytes of it, aligned for u32; the axis points
 * there. Pure. */
struct fby_axis fby_axis_plan(const struct fby_axis_spec *spec, void *memory);

#endif
