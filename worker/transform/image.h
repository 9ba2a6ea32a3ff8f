/* image.h - a picture in memory, and the buffers pictures are made in.
 *
 * Every picture on its way through the transform stage is RGB, 8 bits each,
 * interleaved; a mask has one byte a pixel. A picture is a view: it may be a
 * part of a larger one, so rows are `stride` bytes apart. The memory belongs to
 * a fby_scratch, which grows to what the largest picture needs and is used
 * again for the next. */
#ifndef FBY_WORKER_TRANSFORM_IMAGE_H
#define FBY_WORKER_TRANSFORM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/plan/geometry.h"

enum { FBY_RGB = 3 }; /* bytes of a picture's pixel */

struct fby_image {
    uint8_t *pixels; /* borrowed */
    size_t   stride; /* bytes from one row to the next */
    uint32_t width;  /* pixels */
    uint32_t height; /* rows */
};

/* Start from {0}. */
struct fby_scratch {
    void  *memory;     /* owned; 64-byte aligned */
    size_t size_bytes; /* of it */
};

/* Make `scratch` hold at least `size_bytes`; what it held is lost when it
 * has to grow. Errors: FBY_FULL when the machine has no such memory. */
FBY_CHECKED fby_err fby_scratch_need(
    struct fby_scratch *scratch, size_t size_bytes);

/* Give the memory back; it may be used again. */
void fby_scratch_fini(struct fby_scratch *scratch);

/* Bytes of an RGB picture without gaps between rows. */
static inline uint64_t fby_image_bytes(uint32_t width, uint32_t height)
{
    return (uint64_t)width * height * FBY_RGB;
}

/* A picture of `channels` bytes a pixel, without gaps between rows, in
 * `scratch`. Errors: FBY_FULL, as above. */
FBY_CHECKED fby_err fby_image_of(struct fby_scratch *scratch,
    struct fby_size size, uint32_t channels, struct fby_image *out);

#endif
