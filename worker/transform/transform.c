/* SPDX-License-Identifier: Apache-2.0 */
/* transform.c - count the memory of a transform's buffers, and free it. The
 * modules that use a buffer allocate it. */
#include "worker/transform/transform_private.h"

#include <stdlib.h>

#include "common/mem.h"

struct fby_transform *fby_transform_create(
    const struct fby_transform_limits *limits)
{
    const struct fby_transform_limits no_limits = {.share = UINT64_MAX};
    struct fby_transform             *self      = fby_zalloc(sizeof(*self));
    self->limits = limits != NULL ? *limits : no_limits;
    return self;
}

/* Free all buffers except the mask, which fby_stack_write uses until it has
 * decoded all masks of a sample. */
static void free_buffers(struct fby_transform *self)
{
    for (int i = 0; i < 2; i++) {
        fby_scratch_fini(&self->decoded[i]);
        fby_scratch_fini(&self->results[i]);
    }
    fby_scratch_fini(&self->before_yuv);
    fby_scratch_fini(&self->step_memory);
    fby_resizer_fini(&self->resizer);
}

/* Bytes of a buffer after it has grown to `needed` bytes. */
static uint64_t grown_bytes(const struct fby_scratch *scratch, uint64_t needed)
{
    return scratch->size_bytes > needed ? scratch->size_bytes : needed;
}

/* Bytes that the transform holds after its buffers have grown to `need`. */
static uint64_t total_bytes(
    const struct fby_transform *self, const struct fby_need *need)
{
    uint64_t bytes = need->library_bytes;
    for (int i = 0; i < 2; i++) {
        bytes += grown_bytes(&self->decoded[i], need->decoded[i]) +
                 grown_bytes(&self->results[i], need->results[i]);
    }
    return bytes + grown_bytes(&self->before_yuv, need->before_yuv) +
           grown_bytes(&self->step_memory, need->step_memory) +
           self->mask.size_bytes +
           grown_bytes(&self->resizer.memory, need->resizer);
}

/* Take the part of `bytes` that is beyond the thread's share from the quota. */
static fby_err borrow_excess(
    struct fby_transform *self, uint64_t bytes, struct fby_error_detail *why)
{
    struct fby_shared_quota *quota     = self->limits.quota;
    uint64_t                 share     = self->limits.share;
    uint64_t                 available = share + fby_shared_quota_limit(quota);
    fby_err                  err = fby_shared_quota_take(quota, bytes - share);
    if (err == FBY_OK) {
        self->borrowed = bytes - share;
    } else if (err == FBY_FULL) {
        fby_error_set(why, err,
            "decoding the sample takes %llu bytes, this worker has %llu for "
            "it; raise its --memory",
            (unsigned long long)bytes, (unsigned long long)available);
    }
    return err;
}

fby_err fby_transform_reserve(struct fby_transform *self,
    const struct fby_need *need, struct fby_error_detail *why)
{
    uint64_t bytes = total_bytes(self, need);
    if (bytes > self->limits.share) {
        free_buffers(self); /* earlier samples may have made them too large */
        bytes = total_bytes(self, need);
    }
    return bytes > self->limits.share ? borrow_excess(self, bytes, why)
                                      : FBY_OK;
}

void fby_transform_release(struct fby_transform *self)
{
    const struct fby_need no_need = {0}; /* no buffer grows */
    if (total_bytes(self, &no_need) > self->limits.share) {
        free_buffers(self);
    }
    if (self->borrowed > 0) {
        fby_shared_quota_return(self->limits.quota, self->borrowed);
        self->borrowed = 0;
    }
}

void fby_transform_destroy(struct fby_transform **self_p)
{
    if (*self_p != NULL) {
        free_buffers(*self_p);
        fby_scratch_fini(&(*self_p)->mask);
        free(*self_p);
        *self_p = NULL;
    }
}
