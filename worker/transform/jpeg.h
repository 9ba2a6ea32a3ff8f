/* jpeg.h - one JPEG in memory, or a part of it, to rows of RGB, or of the
 * Y, Cb and Cr that it stores.
 *
 * The values are fixed by the file alone: accurate integer DCT, fancy
 * upsampling, no block smoothing, EXIF orientation applied, grey spread over
 * the three channels. libjpeg-turbo makes the same bytes with and without
 * SIMD under these settings.
 *
 * A file is trusted in nothing. It is refused (FBY_BAD_SAMPLE) before any
 * memory is taken for its pixels when it claims more than a limit below, and
 * afterwards as soon as the library warns: a picture with missing or damaged
 * data is never half delivered. What is accepted:
 *   - baseline, extended and progressive Huffman coding, 8 bits, grey, YCbCr
 *     and RGB; CMYK, YCCK, two channels, 12 bits and arithmetic coding are
 *     refused by name;
 *   - any bytes after the data of the last pixel (of a file in one scan) or
 *     after the end marker (of others): cameras append thumbnails and pads;
 *   - damaged EXIF data: the picture then stands as it is stored. */
#ifndef FBY_WORKER_TRANSFORM_JPEG_H
#define FBY_WORKER_TRANSFORM_JPEG_H

#include "worker/transform/picture.h"

enum {
    FBY_JPEG_MAX_SCANS = 100,
    /* A file in several scans is held as coefficients, 2 bytes each. */
    FBY_JPEG_MAX_COEFFICIENT_BYTES = 256 << 20,
    /* No Huffman-coded file packs more: below one bit a block. */
    FBY_JPEG_MAX_PIXELS_PER_BYTE = 1024
};

/* Read the header alone; pixel data is not looked at. Any thread.
 * Errors: FBY_BAD_SAMPLE as in the file's head, FBY_FULL. */
FBY_CHECKED fby_err fby_jpeg_read_head(const struct fby_picture_file *file,
    struct fby_picture_head *out, struct fby_why *why);

/* Pure. */
struct fby_picture_region fby_jpeg_region(
    const struct fby_picture_head *head, const struct fby_picture_part *part);
struct fby_picture_need fby_jpeg_need(
    const struct fby_picture_head *head, const struct fby_picture_part *part);

/* Decode a part of a picture. What lies below it in the file is not looked at,
 * and of what lies above or beside it no pixel is made: damage there may stay
 * unseen. With a unit of 1 the pixels are those of the whole picture, byte for
 * byte. scratch[0] holds some rows, scratch[1] the region of a picture that is
 * turned on the way.
 *
 * Thread: any, with its own scratch.
 * Errors: FBY_BAD_SAMPLE with the cause; FBY_FULL when memory is short; the
 *         sink's. */
FBY_CHECKED fby_err fby_jpeg_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why);

extern const struct fby_picture_decoder fby_jpeg_picture;

/* Decode a whole picture into `whole`; *out is a view of it.
 * Errors: as above. */
FBY_CHECKED fby_err fby_jpeg_decode(const struct fby_picture_file *file,
    struct fby_scratch *whole, struct fby_image *out, struct fby_why *why);

#endif
