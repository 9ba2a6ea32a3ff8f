/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - a picture in memory, and the buffers of pictures.
 *
 * All pictures of the transform stage are interleaved, three channels (mostly
 * RGB) of 8 bits each; a mask has one byte a pixel. A fby_image is a view,
 * possibly of a part of a larger picture, so its rows begin `stride` bytes
 * apart. The memory belongs to a fby_scratch, which is reused, and grows to the
 * largest picture. */
#ifndef FBY_WORKER_TRANSFORM_IMAGE_H
#define FBY_WORKER_TRANSFORM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/plan/geometry.h"

enum { FBY_RGB = 3 }; /* bytes of an RGB pixel */

/* A view of pixels. */
struct fby_image {
    uint8_t *pixels; /* borrowed */
    size_t   stride; /* bytes from one row to the next */
    uint32_t width;  /* pixels */
    uint32_t height; /* rows */
};

/* A buffer that grows. Initialise to {0}. */
struct fby_scratch {
    void  *memory;     /* owned; 64-byte aligned */
    size_t size_bytes; /* size of `memory` */
};

/* Grow `scratch` to `size_bytes` if it is smaller. Its contents are then lost.
 * Errors: FBY_FULL when the allocation fails. */
FBY_CHECKED fby_err fby_scratch_grow(
    struct fby_scratch *scratch, size_t size_bytes);

/* Free the memory; `scratch` may be used again. */
void fby_scratch_fini(struct fby_scratch *scratch);

/* Bytes of an RGB picture without gaps between rows. */
static inline uint64_t fby_image_bytes(uint32_t width, uint32_t height)
{
    return (uint64_t)width * height * FBY_RGB;
}

/* Allocate a picture of `channels` bytes a pixel in `scratch`, without gaps
 * between rows. Errors: FBY_FULL as fby_scratch_grow. */
FBY_CHECKED fby_err fby_image_alloc(struct fby_scratch *scratch,
    struct fby_size size, uint32_t channels, struct fby_image *out);

#endif
