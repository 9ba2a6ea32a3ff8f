/* picture.h - a picture file in memory, and how its pixels come out of it.
 *
 * What decoders of pictures have in common: they tell the size from the header
 * alone, are then told which part is wanted, and hand on its rows from top to
 * bottom. A file's kind is seen from its first bytes, not from its name. */
#ifndef FBY_WORKER_TRANSFORM_PICTURE_H
#define FBY_WORKER_TRANSFORM_PICTURE_H

#include <stdbool.h>

#include "pipeline/plan/geometry.h"
#include "pipeline/types.h"
#include "worker/transform/image.h"

#define FBY_PICTURE_MAX_PIXELS ((uint64_t)FBY_MAX_PIXELS)

struct fby_picture_file {
    const uint8_t *bytes; /* borrowed */
    size_t         size;
};

struct fby_picture_head {
    uint32_t width; /* pixels, upright: after orientation */
    uint32_t height;
    uint32_t orientation;   /* 1 to 8 */
    uint32_t channels;      /* bytes of a pixel: 3, or 1 of a mask */
    bool     is_scalable;   /* may be decoded smaller: units of 2, 4, 8 */
    bool     is_whole;      /* no part can be decoded alone */
    bool     is_ycbcr;      /* stored as Y, Cb, Cr, and had as such */
    uint64_t library_bytes; /* what the library takes to decode it, at most */
};

/* What is wanted of a picture. */
struct fby_picture_part {
    struct fby_box box;  /* pixels, upright; within the picture */
    uint32_t       unit; /* 1; or 2, 4, 8: pixels that become one, in x and in
                            y, if the head says that it is scalable */
    bool ycbcr;          /* pixels of Y, Cb, Cr, if the head says so, not RGB */
};

/* What is delivered of it: the pixels of `unit` that the box touches. */
struct fby_picture_region {
    uint32_t width, height;
    uint32_t skew_x, skew_y; /* of the box's upper left corner in the first
                                of them, in pixels of the picture; < unit */
};

/* Bytes of each scratch memory that decoding takes. */
struct fby_picture_need {
    uint64_t scratch[2];
};

/* Whom the pixels go to. */
struct fby_picture_sink {
    /* The header is read: say which part. Nothing was taken yet for what it
     * announces. Anything but FBY_OK ends the decoding with it. */
    fby_err (*head)(void *arg, const struct fby_picture_head *head,
        struct fby_picture_part *part, struct fby_why *why);
    /* The next rows of the region, upright, top to bottom.
     * FBY_RESIZE_ROW_SLACK (resize/resize.h) bytes after the end of each may be
     * read. */
    void (*rows)(void *arg, const struct fby_image *rows);
    void *arg;
};

/* Decode a part of a picture into a sink. */
typedef fby_err fby_picture_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why);

/* A kind of picture file. `head` reads the header alone, `stream` decodes a
 * part; jpeg.h and png.h say more. */
struct fby_picture_decoder {
    fby_err (*head)(const struct fby_picture_file *file,
        struct fby_picture_head *out, struct fby_why *why);
    struct fby_picture_region (*region)(const struct fby_picture_head *head,
        const struct fby_picture_part                                 *part);
    struct fby_picture_need (*need)(const struct fby_picture_head *head,
        const struct fby_picture_part                             *part);
    fby_picture_stream *stream;
};

/* Decode a whole picture into `whole`; *out is a view of it. Any thread.
 * Errors: the decoder's. */
FBY_CHECKED fby_err fby_picture_decode(
    const struct fby_picture_decoder *decoder,
    const struct fby_picture_file *file, struct fby_scratch *whole,
    struct fby_image *out, struct fby_why *why);

#endif
