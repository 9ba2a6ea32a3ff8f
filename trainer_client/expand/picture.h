/* picture.h - the pixels of one picture in the order of its result, on
 * the host.
 *
 * Ops of the device ask for pixels of a mirrored picture, a run of a line at a
 * time. Of red, green and blue that is a place in the raw bytes; of planes the
 * line of a tile is made, and kept, since its other pixels come next. */
#ifndef FBY_CLIENT_EXPAND_PICTURE_H
#define FBY_CLIENT_EXPAND_PICTURE_H

#include "trainer_client/expand/image.h"
#include "trainer_client/expand/yuv.h"

struct fby_picture {
    const uint8_t   *raw; /* borrowed */
    uint32_t         width, height;
    bool             mirror_x, mirror_y;
    fby_yuv_line_fn *to_rgb; /* of planes; else NULL */
    const uint8_t   *made;   /* Y of what is in `rgb`; NULL: nothing */
    uint8_t          rgb[3 * FBY_YUV_COLUMNS]; /* of a line of a tile */
};

/* A sample of a plan of FBY_EXPAND_OPS whose pixels have three channels. */
void fby_picture_init(struct fby_picture *self,
    const struct fby_expansion *plan, const struct fby_ops_row *row,
    const uint8_t *raw);

/* Red, green and blue of pixels x to x + *n - 1 of line y of the result; with
 * mirror_x the last of them first. In: so many at most, which the line has;
 * out: one at least. They stay until the next call. */
const uint8_t *fby_picture_pixels(
    struct fby_picture *self, uint32_t x, uint32_t y, uint32_t *n);

#endif
