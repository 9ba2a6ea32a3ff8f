/* nearest.h - scale a mask by taking the nearest pixel, so that ids are never
 * mixed.
 *
 * On an axis scaled from n to m pixels, result pixel o is source pixel
 * floor((2o + 1) n / 2m), the one that contains its centre, as in Pillow's
 * NEAREST. Both are counted from the end if the axis was mirrored before.
 * Source rows are passed one by one, as to the resizer (resize.h). */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_NEAREST_H
#define FBY_WORKER_TRANSFORM_RESIZE_NEAREST_H

#include "worker/transform/resize/resize.h"

/* The source pixels that the result reads, for a unit of 1. Pure. */
struct fby_reach fby_nearest_resize_reach(const struct fby_axis_spec *axis);

/* The state of one resize. Initialise to {0}. Pixels are single bytes. */
struct fby_nearest_resize {
    struct fby_resize_spec spec;
    struct fby_image       out;
    uint32_t               left; /* first pixel of each source row */
    uint32_t               row;  /* next source row */
    uint32_t               made; /* result rows */
};

/* Begin a resize. Its rows are those of the reach of spec->y, in order, and
 * each has the pixels of the reach of spec->x. */
void fby_nearest_resize_begin(struct fby_nearest_resize *self,
    const struct fby_resize_spec *spec, const struct fby_image *out);

/* Pass the next source row. */
void fby_nearest_resize_row(
    struct fby_nearest_resize *self, const uint8_t *row);

#endif
