/* SPDX-License-Identifier: Apache-2.0 */
/* memory_object.h - bytes in memory as an object: a second implementation of
 * worker/source/object.h, beside local files. */
#ifndef FBY_TESTS_WORKER_SOURCE_MEMORY_OBJECT_H
#define FBY_TESTS_WORKER_SOURCE_MEMORY_OBJECT_H

#include <string.h>

#include "worker/source/object.h"

struct memory {
    const void      *data;
    struct fby_stamp stamp; /* size included */
    size_t           most;  /* bytes that one read returns; 0: all */
    unsigned         reads;
    unsigned         closes;
};

static inline fby_err memory_stamp(const struct fby_object *self,
    struct fby_stamp *out, struct fby_error_detail *why)
{
    (void)why;
    *out = ((const struct memory *)self->state)->stamp;
    return FBY_OK;
}

static inline fby_err memory_read(const struct fby_object *self,
    uint64_t offset, void *buffer, size_t *size, struct fby_error_detail *why)
{
    struct memory *memory = self->state;
    uint64_t       end    = memory->stamp.size;
    uint64_t       left   = offset < end ? end - offset : 0;
    memory->reads++;
    if (memory->data == NULL) {
        return fby_error_set(why, FBY_IO, "it was forgotten");
    }
    *size = *size < left ? *size : (size_t)left;
    *size = memory->most > 0 && memory->most < *size ? memory->most : *size;
    memcpy(buffer, (const uint8_t *)memory->data + (end - left), *size);
    return FBY_OK;
}

static inline void memory_close(struct fby_object *self)
{
    ((struct memory *)self->state)->closes++;
}

/* Open an object that belongs to no root. `memory` must outlive it. */
static inline struct fby_object memory_object(struct memory *memory)
{
    static const struct fby_object_ops ops = {
        .stamp = memory_stamp, .read = memory_read, .close = memory_close};
    return (struct fby_object){.ops = &ops, .state = memory};
}

static inline struct memory memory_of(const void *data, size_t size)
{
    return (struct memory){.data = data, .stamp = {.size = size}};
}

#endif
