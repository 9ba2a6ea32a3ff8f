/* jpeg.h - one JPEG in memory, or a part of it, to rows of RGB.
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

#include <stdbool.h>

#include "common/plan/geometry.h"
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
    uint32_t orientation;   /* 1 to 8 */
    bool     is_scalable;   /* may be decoded smaller: units of 2, 4, 8 */
    uint64_t library_bytes; /* what libjpeg takes to decode it, at most */
};

/* Read the header alone; pixel data is not looked at. Any thread.
 * Errors: FBY_BAD_SAMPLE as in the file's head, FBY_FULL. */
FBY_CHECKED fby_err fby_jpeg_read_head(const struct fby_jpeg_file *file,
    struct fby_jpeg_head *out, struct fby_why *why);

/* What is wanted of a picture. */
struct fby_jpeg_part {
    struct fby_box box;  /* pixels, upright; within the picture */
    uint32_t       unit; /* 1; or 2, 4, 8: pixels that become one, in x and in
                            y, if the head says that it is scalable */
};

/* What is delivered of it: the pixels of `unit` that the box touches. */
struct fby_jpeg_region {
    uint32_t width, height;
    uint32_t skew_x, skew_y; /* of the box's upper left corner in the first
                                of them, in pixels of the picture; < unit */
};

/* Pure. */
struct fby_jpeg_region fby_jpeg_region_of(
    const struct fby_jpeg_head *head, const struct fby_jpeg_part *part);

/* Bytes of each scratch memory that decoding it takes. Pure. */
struct fby_jpeg_need {
    uint64_t scratch[2];
};
struct fby_jpeg_need fby_jpeg_need_of(
    const struct fby_jpeg_head *head, const struct fby_jpeg_part *part);

/* Whom the pixels go to. */
struct fby_jpeg_sink {
    /* The header is read: say which part. Nothing was taken yet for what it
     * announces. Anything but FBY_OK ends the decoding with it. */
    fby_err (*head)(void *arg, const struct fby_jpeg_head *head,
        struct fby_jpeg_part *part, struct fby_why *why);
    /* The next rows of the region, upright, top to bottom. 32 bytes after the
     * end of each may be read. */
    void (*rows)(void *arg, const struct fby_image *rows);
    void *arg;
};

/* Decode a part of a picture. What lies below it in the file is not looked at,
 * and of what lies above or beside it no pixel is made: damage there may stay
 * unseen. With a unit of 1 the pixels are those of the whole picture, byte for
 * byte. scratch[0] holds some rows, scratch[1] the region of a picture that is
 * turned on the way.
 *
 * Thread: any, with its own scratch.
 * Errors: FBY_BAD_SAMPLE with the cause; FBY_FULL when memory is short; the
 *         sink's. */
FBY_CHECKED fby_err fby_jpeg_stream(const struct fby_jpeg_file *file,
    const struct fby_jpeg_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why);

/* Decode a whole picture into `whole`; *out is a view of it.
 * Errors: as above. */
FBY_CHECKED fby_err fby_jpeg_decode(const struct fby_jpeg_file *file,
    struct fby_scratch *whole, struct fby_image *out, struct fby_why *why);

#endif
