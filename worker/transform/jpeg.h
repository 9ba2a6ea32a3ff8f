/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg.h - decode a JPEG in memory, or a part of it, to rows of RGB or of the
 * stored Y, Cb and Cr.
 *
 * The values depend on the file alone. The settings are: accurate integer DCT,
 * fancy upsampling, no block smoothing, EXIF orientation applied, grey copied
 * to the three channels. With these settings libjpeg-turbo makes the same bytes
 * with and without SIMD.
 *
 * Files are untrusted. A file whose header claims more than a limit below is
 * refused (FBY_BAD_SAMPLE) before memory is allocated for its pixels. A file is
 * also refused at the first warning of the library, so a picture with missing
 * or damaged data is never delivered. These are accepted:
 *   - baseline, extended and progressive Huffman coding with 8 bits, in grey,
 *     YCbCr, RGB, CMYK and YCCK. CMYK becomes RGB as in Pillow: the inks are
 *     taken as inverted (Adobe), and the colour profile is ignored;
 *   - any bytes after the data of the last pixel (files of one scan) or after
 *     the end marker (other files), because cameras append thumbnails and
 *     padding;
 *   - damaged EXIF data: the picture is then decoded as stored.
 * Two channels, 12 bits and arithmetic coding are refused, and the
 * message names the reason. */
#ifndef FBY_WORKER_TRANSFORM_JPEG_H
#define FBY_WORKER_TRANSFORM_JPEG_H

#include "worker/transform/picture.h"

enum {
    FBY_JPEG_MAX_SCANS = 100,
    /* All coefficients of a file of several scans (progressive, for example),
     * 2 bytes each, are kept until its last scan is read. */
    FBY_JPEG_MAX_COEFFICIENT_BYTES = 256 << 20,
    /* A block of 8 x 8 pixels has at least one bit, so a byte has at most 512
     * pixels. The limit is twice that. */
    FBY_JPEG_MAX_PIXELS_PER_BYTE = 1024
};

/* The decoder. Rows below the part are not read, and pixels above it or to its
 * sides are not computed, so damage there may go unnoticed. Without downscaling
 * (unit 1) the pixels equal those of the whole picture, byte for byte.
 * scratch[0] holds some rows; scratch[1] holds the region if the orientation is
 * not 1. */
extern const struct fby_picture_decoder fby_jpeg_picture;

#endif
