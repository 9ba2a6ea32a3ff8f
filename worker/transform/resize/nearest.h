/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - scale a mask by copying the nearest pixel, so that ids are never
 * mixed.
 *
 * On an axis that is scaled from n to m pixels, result pixel o copies source
 * pixel floor((2o + 1) n / 2m), which contains its centre, as in Pillow's
 * NEAREST. With `reversed`, o and the source pixel are both counted from the
 * end of the axis. Source rows are passed one by one, as to the resizer
 * (resize.h). */
#ifndef FBY_WORKER_TRANSFORM_RESIZE_NEAREST_H
#define FBY_WORKER_TRANSFORM_RESIZE_NEAREST_H

#include "worker/transform/resize/resize.h"

/* The source pixels that the result reads. `axis->unit` must be 1: masks are
 * never decoded smaller. Pure. */
struct fby_reach fby_nearest_resize_reach(const struct fby_axis_spec *axis);

/* The state of one resize. Initialise to {0}. Pixels are single bytes. */
struct fby_nearest_resize {
    struct fby_resize_spec spec;
    struct fby_image       out;
    uint32_t first_column; /* source column where passed rows begin */
    uint32_t next_row;     /* index of the next source row */
    uint32_t rows_out;     /* number of result rows so far */
};

/* Begin a resize. Pass only the source rows that the result reads (the reach of
 * spec->y), in order, each cut to the columns that it reads (the reach of
 * spec->x). */
void fby_nearest_resize_begin(struct fby_nearest_resize *self,
    const struct fby_resize_spec *spec, const struct fby_image *out);

/* Pass the next source row. */
void fby_nearest_resize_add_row(
    struct fby_nearest_resize *self, const uint8_t *row);

#endif
