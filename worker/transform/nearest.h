/* nearest.h - scale a mask by taking the nearest pixel: no id is ever mixed.
 *
 * Result pixel o of an axis that n pixels become m of is source pixel
 * floor((2o + 1) n / 2m): the one its centre lies in, as in Pillow's NEAREST.
 * Like the resizer (resize.h) it takes a source's rows one by one. */
#ifndef FBY_WORKER_TRANSFORM_NEAREST_H
#define FBY_WORKER_TRANSFORM_NEAREST_H

#include "worker/transform/resize.h"

/* Start from {0}; all rows in order. Pixels are single bytes. */
struct fby_nearest {
    struct fby_resize_spec spec;
    struct fby_image       out;
    uint32_t               taken; /* source rows seen */
    uint32_t               made;  /* result rows */
};

/* Get ready for all rows of a source, whose part `spec` goes to `out`. */
void fby_nearest_begin(struct fby_nearest *self,
    const struct fby_resize_spec *spec, const struct fby_image *out);
void fby_nearest_row(struct fby_nearest *self, const uint8_t *row);

#endif
