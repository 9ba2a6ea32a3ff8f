/* jpeg.h - one JPEG in memory to RGB, or only what its header says.
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

struct fby_jpeg_head {
    uint32_t width; /* pixels, upright: after orientation */
    uint32_t height;
    uint64_t scratch_bytes[2]; /* what decoding needs of each scratch memory */
    uint64_t library_bytes;    /* and libjpeg beside it, at most */
};

/* Read the header alone; pixel data is not looked at. Any thread.
 * Errors: FBY_BAD_SAMPLE as in the file's head, FBY_FULL. */
FBY_CHECKED fby_err fby_jpeg_read_head(const struct fby_jpeg_file *file,
    struct fby_jpeg_head *out, struct fby_why *why);

/* Asked once the header is read, before memory is taken for what it announces;
 * anything but FBY_OK ends the decoding with it. */
struct fby_jpeg_gate {
    fby_err (*fn)(
        void *arg, const struct fby_jpeg_head *head, struct fby_why *why);
    void *arg;
};

/* Decode the whole picture, upright, into scratch[0]; *out is a view of it.
 * scratch[1] is for the rows of a picture that is turned on the way. `gate`
 * may be NULL.
 *
 * Thread: any, with its own scratch.
 * Errors: FBY_BAD_SAMPLE with the cause; FBY_FULL when memory is short; the
 *         gate's. */
FBY_CHECKED fby_err fby_jpeg_decode(const struct fby_jpeg_file *file,
    const struct fby_jpeg_gate *gate, struct fby_scratch scratch[2],
    struct fby_image *out, struct fby_why *why);

#endif
