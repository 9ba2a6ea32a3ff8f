/* picture.h - read the pixels of one picture in the order of its result, on the
 * host.
 *
 * Ops of the device read a picture, mirrored or not, some pixels of a line at a
 * time. For RGB these are returned in place, from the raw bytes. For YUV planes
 * the line of a tile is converted and kept, since its other pixels come
 * next. */
#ifndef FBY_CLIENT_EXPAND_PICTURE_H
#define FBY_CLIENT_EXPAND_PICTURE_H

#include "trainer_client/expand/image.h"
#include "trainer_client/expand/yuv.h"

struct fby_picture {
    const uint8_t   *raw; /* borrowed */
    uint32_t         width, height;
    bool             mirror_x, mirror_y;
    fby_yuv_line_fn *to_rgb; /* NULL: the picture is RGB already */
    const uint8_t   *made;   /* Y of the line that is in `rgb`; NULL: none */
    uint8_t          rgb[3 * FBY_YUV_COLUMNS]; /* a line of a tile */
};

/* Initialize for a sample of a plan of FBY_EXPAND_OPS with three channels. */
void fby_picture_init(struct fby_picture *self,
    const struct fby_expansion *plan, const struct fby_ops_row *row,
    const uint8_t *raw);

/* RGB of pixels x to x + *n - 1 of line y of the result; with mirror_x in
 * reverse order. *n is the most that the caller wants on entry, within the
 * line, and at least 1 on return. Valid until the next call. */
const uint8_t *fby_picture_pixels(
    struct fby_picture *self, uint32_t x, uint32_t y, uint32_t *n);

#endif
