/* SPDX-License-Identifier: Apache-2.0 */
/* orient.h - read and apply the EXIF orientation of a picture.
 *
 * The orientation, 1 to 8, says how to mirror and turn the stored picture to
 * make it upright; 1 means "as stored". It is read from the first directory (a
 * list of tags) of the EXIF block. A picture with damaged EXIF data is taken as
 * stored, not refused. */
#ifndef FBY_WORKER_TRANSFORM_ORIENT_H
#define FBY_WORKER_TRANSFORM_ORIENT_H

#include <stdbool.h>

#include "pipeline/plan/geometry.h"
#include "worker/transform/image.h"

/* Returns the orientation, 1 to 8, in the payload of an APP1 segment
 * ("Exif\0\0", then a TIFF header), or 0 if the payload is not EXIF. */
uint32_t fby_exif_orientation(const uint8_t *payload, size_t size_bytes);

/* True if the orientation swaps width and height. */
static inline bool fby_orientation_turns(uint32_t orientation)
{
    return orientation >= 5 && orientation <= 8;
}

/* True if the first stored pixel is at the right of the upright picture. */
static inline bool fby_orientation_from_right(uint32_t orientation)
{
    return orientation == 2 || orientation == 3 || orientation == 6 ||
           orientation == 7;
}

/* True if the first stored pixel is at the bottom of the upright picture. */
static inline bool fby_orientation_from_bottom(uint32_t orientation)
{
    return orientation == 3 || orientation == 4 || orientation == 7 ||
           orientation == 8;
}

/* Map a box of the upright picture, `width` x `height`, to the stored one. */
struct fby_box fby_orient_stored_box(const struct fby_box *upright,
    uint32_t width, uint32_t height, uint32_t orientation);

/* Copy some rows of a stored picture to their places in `out`, the whole
 * upright picture. in->pixels begins with row `first_row` of the stored
 * picture. Width and height of `out` are those of the stored picture, swapped
 * if the orientation turns it. */
void fby_orient_rows(const struct fby_image *in, uint32_t first_row,
    uint32_t orientation, const struct fby_image *out);

#endif
