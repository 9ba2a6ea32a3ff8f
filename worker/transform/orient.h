/* orient.h - read and apply the EXIF orientation of a picture.
 *
 * The tag's eight values are the symmetries of a rectangle. The reader scans
 * the first directory of the EXIF block, bounded by the block's size. Damaged
 * EXIF data means 1, "as stored"; the picture is not refused. */
#ifndef FBY_WORKER_TRANSFORM_ORIENT_H
#define FBY_WORKER_TRANSFORM_ORIENT_H

#include <stdbool.h>

#include "pipeline/plan/geometry.h"
#include "worker/transform/image.h"

/* The orientation, 1 to 8, in the payload of an APP1 segment ("Exif\0\0",
 * then a TIFF header); 0 when the payload is not EXIF. */
uint32_t fby_exif_orientation(const uint8_t *payload, size_t size_bytes);

/* Does the orientation swap width and height? */
static inline bool fby_orientation_turns(uint32_t orientation)
{
    return orientation >= 5 && orientation <= 8;
}

/* Map a box of the upright picture, `width` x `height`, to the stored one. */
struct fby_box fby_orient_box(const struct fby_box *upright, uint32_t width,
    uint32_t height, uint32_t orientation);

/* Copy `in`, rows of a stored picture from `first_row` on, to `out`, the whole
 * upright picture. The sides of `out` are those of the stored picture, swapped
 * if fby_orientation_turns. */
void fby_orient(const struct fby_image *in, uint32_t first_row,
    uint32_t orientation, const struct fby_image *out);

#endif
