/* orient.h - EXIF orientation: which way up the camera was held.
 *
 * The tag's eight values are the symmetries of a rectangle. The reader walks
 * the first directory of the EXIF block, bounded by the block's size; whatever
 * is damaged there means 1, "as stored": a picture is not refused for it. */
#ifndef FBY_WORKER_TRANSFORM_ORIENT_H
#define FBY_WORKER_TRANSFORM_ORIENT_H

#include <stdbool.h>

#include "pipeline/plan/geometry.h"
#include "worker/transform/image.h"

/* The orientation, 1 to 8, in the payload of an APP1 segment ("Exif\0\0",
 * then a TIFF header); 0 when the payload is no EXIF at all. */
uint32_t fby_exif_orientation(const uint8_t *payload, size_t size_bytes);

/* Does it swap width and height? */
static inline bool fby_orientation_turns(uint32_t orientation)
{
    return orientation >= 5 && orientation <= 8;
}

/* Where a box of the upright picture, `width` x `height`, lies in the stored
 * one. */
struct fby_box fby_orient_box(const struct fby_box *upright, uint32_t width,
    uint32_t height, uint32_t orientation);

/* Write `in`, which are rows of a stored picture from `first_row` on, to their
 * places in `out`, the whole upright picture: its sides are those of the
 * stored one, swapped where the orientation turns. */
void fby_orient(const struct fby_image *in, uint32_t first_row,
    uint32_t orientation, const struct fby_image *out);

#endif
