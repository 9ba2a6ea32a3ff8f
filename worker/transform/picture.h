/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - the interface of picture decoders.
 *
 * A decoder reads the header and reports it to a sink, which answers with the
 * part of the picture that it wants. The decoder then delivers the rows of that
 * part from top to bottom. A caller tells the format of a file by its first
 * bytes, not by its name. */
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

/* The properties of a picture, from the header of its file. */
struct fby_picture_head {
    uint32_t width; /* pixels of the upright picture */
    uint32_t height;
    uint32_t orientation;   /* how to turn the stored picture upright: the EXIF
                               value, 1 (as stored) to 8 */
    uint32_t channels;      /* bytes of a pixel: 3, or 1 in a mask */
    bool     is_scalable;   /* can be decoded at 1/2, 1/4 and 1/8 of its size */
    bool     needs_whole;   /* only the whole picture can be decoded */
    bool     is_ycbcr;      /* Y, Cb, Cr are stored and can be delivered */
    bool     is_cmyk;       /* four inks are stored; RGB is delivered */
    bool     is_clipped;    /* grey of 16 bits is stored, and delivered as RGB:
                               values above 255 become 255 */
    uint64_t library_bytes; /* most memory that the library allocates */
};

/* The part of a picture that a sink wants. */
struct fby_picture_part {
    struct fby_box box;   /* full-size pixels of the upright picture */
    uint32_t       unit;  /* unit x unit pixels become one pixel; 1, or 2, 4
                             or 8 if is_scalable */
    bool           ycbcr; /* deliver Y, Cb, Cr, not RGB; needs is_ycbcr */
};

/* The picture that a decoder delivers for a part. It covers the box; each of
 * its pixels covers unit x unit full-size pixels. */
struct fby_picture_region {
    uint32_t width, height; /* delivered pixels */
    /* Full-size pixels from the upper left corner of the first delivered pixel
     * to that of the box; less than `unit`. */
    uint32_t offset_x, offset_y;
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
        struct fby_picture_part *part, struct fby_error_detail *why);
    /* Called with the next rows of the region, from top to bottom. At least
     * FBY_RESIZE_ROW_SLACK (resize/resize.h) bytes after a row are readable. */
    void (*rows)(void *arg, const struct fby_image *rows);
    void *arg;
};

/* Decode the part that the sink wants. Any thread, with its own scratch.
 * Errors: FBY_BAD_SAMPLE  the file is refused; `why` has the cause
 *         FBY_FULL        memory is short
 *         those of sink->head */
typedef fby_err fby_picture_stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_error_detail *why);

/* The functions of one picture format, such as fby_jpeg_picture (jpeg.h). */
struct fby_picture_decoder {
    /* Read the header; pixel data is not checked. Any thread.
     * Errors: FBY_BAD_SAMPLE, FBY_FULL; *out is then unchanged. */
    fby_err (*head)(const struct fby_picture_file *file,
        struct fby_picture_head *out, struct fby_error_detail *why);
    /* The region that decoding `part` delivers. Pure. */
    struct fby_picture_region (*region)(const struct fby_picture_head *head,
        const struct fby_picture_part                                 *part);
    /* The scratch memory that decoding `part` needs. Pure. */
    struct fby_picture_need (*need)(const struct fby_picture_head *head,
        const struct fby_picture_part                             *part);
    fby_picture_stream *stream;
};

/* A part of a picture, decoded into memory by fby_picture_decode_part. */
struct fby_decoded_part {
    const struct fby_picture_decoder *decoder; /* set by the caller */
    struct fby_picture_part   part; /* set by the caller; an empty box means the
                                       whole picture */
    struct fby_picture_head   head;
    struct fby_picture_region region;  /* its size and offset */
    struct fby_scratch        memory;  /* holds `image`; the caller frees it */
    struct fby_image          image;   /* the region */
    uint32_t                  n_ready; /* rows of `image` that are decoded */
};

/* Decode decoded->part of a file into decoded->image. Any thread.
 * Errors: those of the decoder. */
FBY_CHECKED fby_err fby_picture_decode_part(struct fby_decoded_part *decoded,
    const struct fby_picture_file *file, struct fby_error_detail *why);

/* Decode a whole picture into `memory`; *out is a view of it. Any thread.
 * Errors: those of the decoder. */
FBY_CHECKED fby_err fby_picture_decode(
    const struct fby_picture_decoder *decoder,
    const struct fby_picture_file *file, struct fby_scratch *memory,
    struct fby_image *out, struct fby_error_detail *why);

/* ---- for decoders ---- */

/* Check the size that a file's header claims. `format` names the format in
 * messages; a byte of it can hold at most `pixels_per_byte` pixels.
 * Errors: FBY_BAD_SAMPLE when the size is too large. */
FBY_CHECKED fby_err fby_picture_check_size(const char *format,
    const struct fby_picture_file *file, uint32_t width, uint32_t height,
    uint32_t pixels_per_byte, struct fby_error_detail *why);

/* Allocate the scratch buffers of a picture.
 * Errors: FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_picture_alloc_scratch(
    const struct fby_picture_need *need, const struct fby_picture_head *head,
    struct fby_scratch scratch[2], struct fby_error_detail *why);

#endif
