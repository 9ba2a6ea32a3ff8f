/* jpeg.h - decode a JPEG in memory, or a part of it, to rows of RGB or of the
 * stored Y, Cb and Cr.
 *
 * The values depend on the file alone: accurate integer DCT, fancy upsampling,
 * no block smoothing, EXIF orientation applied, grey copied to the three
 * channels. With these settings libjpeg-turbo makes the same bytes with and
 * without SIMD.
 *
 * Files are untrusted. A file is refused (FBY_BAD_SAMPLE) before memory is
 * allocated for its pixels if it claims more than a limit below, and later at
 * the first warning of the library: a picture with missing or damaged data is
 * never delivered. Accepted are:
 *   - baseline, extended and progressive Huffman coding, 8 bits, grey, YCbCr
 *     and RGB; CMYK, YCCK, two channels, 12 bits and arithmetic coding are
 *     refused by name;
 *   - any bytes after the data of the last pixel (files of one scan) or after
 *     the end marker (other files): cameras append thumbnails and padding;
 *   - damaged EXIF data: the picture is then decoded as stored. */
#ifndef FBY_WORKER_TRANSFORM_JPEG_H
#define FBY_WORKER_TRANSFORM_JPEG_H

#include "worker/transform/picture.h"

enum {
    FBY_JPEG_MAX_SCANS = 100,
    /* A file of several scans is kept as coefficients of 2 bytes. */
    FBY_JPEG_MAX_COEFFICIENT_BYTES = 256 << 20,
    /* No Huffman-coded file has more: that is below one bit a block. */
    FBY_JPEG_MAX_PIXELS_PER_BYTE = 1024
};

/* Read the header; pixel data is not checked. Any thread.
 * Errors: FBY_BAD_SAMPLE as at the top of this file, FBY_FULL. */
FBY_CHECKED fby_err fby_jpeg_read_head(const struct fby_picture_file *file,
    struct fby_picture_head *out, struct fby_why *why);

/* The region that decoding `part` delivers. Pure. */
struct fby_picture_region fby_jpeg_region(
    const struct fby_picture_head *head, const struct fby_picture_part *part);

/* The scratch memory that decoding `part` needs. Pure. */
struct fby_picture_need fby_jpeg_need(
    const struct fby_picture_head *head, const struct fby_picture_part *part);

/* Decode a part of a picture. Rows below the part are not read, and pixels
 * above or beside it are not made: damage there may go unnoticed. With a unit
 * of 1 the pixels equal those of the whole picture, byte for byte. scratch[0]
 * holds some rows, scratch[1] the region if the orientation is not 1.
 *
 * Thread: any, with its own scratch.
 * Errors: FBY_BAD_SAMPLE with the cause; FBY_FULL when memory is short; the
 *         sink's. */
FBY_CHECKED fby_err fby_jpeg_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why);

/* The functions above, as a table. */
extern const struct fby_picture_decoder fby_jpeg_picture;

/* Decode a whole picture into `whole`; *out is a view of it.
 * Errors: as fby_jpeg_stream. */
FBY_CHECKED fby_err fby_jpeg_decode(const struct fby_picture_file *file,
    struct fby_scratch *whole, struct fby_image *out, struct fby_why *why);

#endif
