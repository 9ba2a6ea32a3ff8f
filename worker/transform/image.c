/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - scratch memory, which grows to the largest picture and is aligned
 * for SIMD.
 *
 * The size of a picture comes from its file. So when memory is short, the
 * caller gets FBY_FULL, and the process continues. */
#include "worker/transform/image.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };

fby_err fby_scratch_grow(struct fby_scratch *scratch, size_t size_bytes)
{
    if (size_bytes <= scratch->size_bytes) {
        return FBY_OK;
    }
    fby_scratch_fini(scratch);
    if (size_bytes > SIZE_MAX - ALIGNMENT) {
        return FBY_FULL;
    }
    size_t rounded  = (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    scratch->memory = aligned_alloc(ALIGNMENT, rounded);
    if (scratch->memory == NULL) {
        return FBY_FULL;
    }
    scratch->size_bytes = rounded;
    return FBY_OK;
}

void fby_scratch_fini(struct fby_scratch *scratch)
{
    free(scratch->memory);
    *scratch = (struct fby_scratch){0};
}

fby_err fby_image_alloc(struct fby_scratch *scratch, struct fby_size size,
    uint32_t channels, struct fby_image *out)
{
    size_t  stride = (size_t)size.w * channels;
    fby_err err    = fby_scratch_grow(scratch, stride * size.h);
    if (err == FBY_OK) {
        *out = (struct fby_image){scratch->memory, stride, size.w, size.h};
    }
    return err;
}
