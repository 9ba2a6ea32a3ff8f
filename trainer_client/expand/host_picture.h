/* SPDX-License-Identifier: Apache-2.0 */
/* host_picture.h - find the raw pixels of a flipped picture, line by line of
 * the output.
 *
 * The caller reads some pixels of a line at a time. If the picture is RGB,
 * fby_picture_pixels returns a pointer into the raw bytes. If it is YUV planes,
 * the function converts one line of a tile (yuv.h) and keeps it for the next
 * calls. */
#ifndef FBY_CLIENT_EXPAND_HOST_PICTURE_H
#define FBY_CLIENT_EXPAND_HOST_PICTURE_H

#include "trainer_client/expand/host.h"
#include "trainer_client/expand/yuv.h"

struct fby_picture {
    const uint8_t   *raw;           /* borrowed */
    uint32_t         width, height; /* pixels */
    bool             mirror_x, mirror_y;
    fby_yuv_line_fn *to_rgb;      /* NULL: `raw` is RGB */
    const uint8_t   *converted_y; /* start of the Y values of the line in `rgb`;
                                     NULL: none */
    uint8_t          rgb[3 * FBY_YUV_COLUMNS]; /* a line of a tile */
};

/* Initialize for a picture of three channels, of kind FBY_EXPAND_OPS. */
void fby_picture_init(struct fby_picture *self,
    const struct fby_expansion *plan, const struct fby_ops_row *row,
    const uint8_t *raw);

/* Find the raw RGB pixels that become pixels x to x + *n - 1 of line y of the
 * output. With mirror_x they are in reverse order. The caller sets *n to the
 * number of pixels that it wants from the line. The function may reduce *n, but
 * not below 1. The pointer is valid until the next call. */
const uint8_t *fby_picture_pixels(
    struct fby_picture *self, uint32_t x, uint32_t y, uint32_t *n);

#endif
