/* picture.h - the interface of picture decoders.
 *
 * A decoder reads the header and reports it to a sink, which answers with the
 * part it wants. The decoder then delivers the rows of that part from top to
 * bottom. The format of a file is known from its first bytes, not its name. */
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

/* The facts that a file's header gives. */
struct fby_picture_head {
    uint32_t width; /* pixels, upright: after orientation */
    uint32_t height;
    uint32_t orientation;   /* 1 to 8 */
    uint32_t channels;      /* bytes of a pixel: 3, or 1 of a mask */
    bool     is_scalable;   /* can be decoded smaller, by a unit of 2, 4, 8 */
    bool     is_whole;      /* a part cannot be decoded alone */
    bool     is_ycbcr;      /* Y, Cb, Cr are stored and can be delivered */
    uint64_t library_bytes; /* most memory the library allocates to decode */
};

/* The part of a picture that a sink wants. */
struct fby_picture_part {
    struct fby_box box;  /* pixels, upright; within the picture */
    uint32_t       unit; /* 1; or 2, 4, 8 if is_scalable: this many pixels, in x
                            and in y, become one */
    bool           ycbcr; /* deliver Y, Cb, Cr, not RGB; only if is_ycbcr */
};

/* The delivered pixels: those of `unit` that the box touches. */
struct fby_picture_region {
    uint32_t width, height;
    uint32_t skew_x, skew_y; /* offset of the box's upper left corner in the
                                first one, in pixels of the picture; < unit */
};

/* Bytes of each scratch buffer that decoding needs. */
struct fby_picture_need {
    uint64_t scratch[2];
};

/* The receiver of a decoder's pixels. */
struct fby_picture_sink {
    /* Called after the header is read, before memory is allocated for pixels:
     * set *part. An error ends the decoding and is returned. */
    fby_err (*head)(void *arg, const struct fby_picture_head *head,
        struct fby_picture_part *part, struct fby_why *why);
    /* Called with the next rows of the region, upright, top to bottom.
     * FBY_RESIZE_ROW_SLACK (resize/resize.h) bytes after each row are readable.
     */
    void (*rows)(void *arg, const struct fby_image *rows);
    void *arg;
};

/* Decode the part that the sink asks for. */
typedef fby_err fby_picture_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_why *why);

/* The functions of one picture format; jpeg.h and png.h describe them. `head`
 * reads only the header, `stream` decodes a part. */
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
