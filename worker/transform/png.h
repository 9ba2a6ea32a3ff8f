/* SPDX-License-Identifier: Apache-2.0 */
/* png.h - decode a PNG in memory, or a part of it, to rows of RGB or of ids.
 *
 * A picture is what Pillow's `convert("RGB")` makes of the file: grey is copied
 * to the three channels, fewer than 8 bits are scaled to 8, a palette is
 * expanded. An alpha channel, a transparent colour and transparent palette
 * entries are ignored. Of 16 bits a channel the upper 8 are taken, except in
 * grey without alpha, where values above 255 become 255. In a mask, each pixel
 * is one byte with the stored number: a grey value that is not scaled, or an
 * index into the palette. Gamma, colour profiles and EXIF data are not applied.
 *
 * Files are untrusted. These are refused (FBY_BAD_SAMPLE) before memory is
 * allocated for pixels, and the message names the reason:
 *   - a mask in RGB, with an alpha channel, or of 16 bits;
 *   - more pixels, or larger ancillary chunks, than a limit below.
 * Files that libspng refuses are refused, too. All chunks up to the last one
 * with pixels need a correct checksum, even if their rows are not wanted.
 * Chunks after the pixels are not read. */
#ifndef FBY_WORKER_TRANSFORM_PNG_H
#define FBY_WORKER_TRANSFORM_PNG_H

#include "worker/transform/picture.h"

enum {
    /* The limit for one ancillary chunk, and for all that the library keeps. */
    FBY_PNG_MAX_CHUNK_BYTES = 4 << 20,
    /* A byte inflates to at most 1032 bytes, each with at most 8 pixels. */
    FBY_PNG_MAX_PIXELS_PER_BYTE = 8 * 1032
};

/* True if the file begins with the signature of PNG. */
bool fby_picture_is_png(const struct fby_picture_file *file);

/* The decoder of pictures, and that of masks. The unit of a part must be 1.
 * scratch[0] holds a row, scratch[1] all rows of an interlaced file. */
extern const struct fby_picture_decoder fby_png_picture;
extern const struct fby_picture_decoder fby_png_mask;

#endif
