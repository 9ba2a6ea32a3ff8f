/* jpeg.h - one JPEG in memory to RGB, or only its size.
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

#include "worker/transform/image.h"

#define FBY_JPEG_MAX_PIXELS (UINT64_C(1) << 26) /* 67,108,864 */
enum {
    FBY_JPEG_MAX_SCANS = 100,
    /* A file in several scans is held as coefficients, 2 bytes each. */
    FBY_JPEG_MAX_COEFFICIENT_BYTES = 256 << 20,
    /* No Huffman-coded file packs more: below one bit a block. */
    FBY_JPEG_MAX_PIXELS_PER_BYTE = 1024
};

struct fby_jpeg_file {
    const uint8_t *bytes; /* borrowed */
    size_t         size;
};

/* Width and height after orientation, from the header alone; pixel data is
 * not looked at. Any thread.
 * Errors: FBY_BAD_SAMPLE as in the file's head, FBY_FULL. */
FBY_CHECKED fby_err fby_jpeg_size(const struct fby_jpeg_file *file,
    uint32_t *out_width, uint32_t *out_height, struct fby_why *why);

/* Decode the whole picture into scratch[0] or, if it has to be turned,
 * scratch[1]; *out is a view of that buffer.
 *
 * Thread: any, with its own scratch.
 * Errors: FBY_BAD_SAMPLE with the cause; FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_jpeg_decode(const struct fby_jpeg_file *file,
    struct fby_scratch scratch[2], struct fby_image *out, struct fby_why *why);

#endif
