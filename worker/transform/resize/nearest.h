/* nearest.h - scale a mask by taking the nearest pixel: no id is ever mixed.
 *
 * Result pixel o of an axis that n pixels become m of is source pixel
 * floor((2o + 1) n / 2m): the one its centre lies in, as in Pillow's NEAREST;
 * both counted from the end of an axis that was mirrored before.
 * Like the resizer (resize.h) it takes a source's rows one by one. */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_NEAREST_H
#define FBY_WORKER_TRANSFORM_RESIZE_NEAREST_H

#include "worker/transform/resize/resize.h"

/* All pixels that the result pixels take, of a unit of 1. Pure. */
struct fby_reach fby_nearest_resize_reach(const struct fby_axis_spec *axis);

/* Start from {0}; rows in order. Pixels are single bytes. */
struct fby_nearest_resize {
    struct fby_resize_spec spec;
    struct fby_image       out;
    uint32_t               left; /* where rows begin */
    uint32_t               row;  /* of the source, the next one */
    uint32_t               made; /* result rows */
};

/* Get ready for the rows that `spec` reaches in y, and of each the pixels that
 * it reaches in x. */
void fby_nearest_resize_begin(struct fby_nearest_resize *self,
    const struct fby_resize_spec *spec, const struct fby_image *out);
void fby_nearest_resize_row(
    struct fby_nearest_resize *self, const uint8_t *row);

#endif
