#include "worker/transform/scratch.h"

#include <stdlib.h>

#include "common/mem.h"

struct fby_transform *fby_transform_create(
    const struct fby_transform_limits *limits)
{
    const struct fby_transform_limits none = {.share = UINT64_MAX};
    struct fby_transform             *self = fby_zalloc(sizeof(*self));
    self->limits                           = limits != NULL ? *limits : none;
    return self;
}

static void release_buffers(struct fby_transform *self)
{
    for (int i = 0; i < 2; i++) {
        fby_scratch_fini(&self->decoded[i]);
        fby_scratch_fini(&self->made[i]);
    }
    fby_scratch_fini(&self->whole);
    fby_scratch_fini(&self->steps);
    fby_resizer_fini(&self->resizer);
}

static uint64_t bytes_of(const struct fby_scratch *scratch, uint64_t needed)
{
    return scratch->size_bytes > needed ? scratch->size_bytes : needed;
}

/* Bytes that the transform holds after it grew to `need`. */
static uint64_t bytes_with(
    const struct fby_transform *self, const struct fby_need *need)
{
    uint64_t bytes = need->libraries;
    for (int i = 0; i < 2; i++) {
        bytes += bytes_of(&self->decoded[i], need->decoded[i]) +
                 bytes_of(&self->made[i], need->made[i]);
    }
    return bytes + bytes_of(&self->whole, need->whole) +
           bytes_of(&self->steps, need->steps) + self->plane.size_bytes +
           bytes_of(&self->resizer.memory, need->resize);
}

static fby_err borrow_quota(
    struct fby_transform *self, uint64_t bytes, struct fby_why *why)
{
    struct fby_shared_quota *quota = self->limits.quota;
    uint64_t                 share = self->limits.share;
    uint64_t                 most  = share + fby_shared_quota_limit(quota);
    fby_err                  err = fby_shared_quota_take(quota, bytes - share);
    if (err == FBY_OK) {
        self->borrowed = bytes - share;
    } else if (err == FBY_FULL) {
        fby_because(why, err,
            "decoding the sample takes %llu bytes, this worker has %llu for "
            "it; raise its --memory",
            (unsigned long long)bytes, (unsigned long long)most);
    }
    return err;
}

fby_err fby_transform_reserve(struct fby_transform *self,
    const struct fby_need *need, struct fby_why *why)
{
    uint64_t bytes = bytes_with(self, need);
    if (bytes > self->limits.share) {
        release_buffers(self);
        bytes = bytes_with(self, need);
    }
    return bytes > self->limits.share ? borrow_quota(self, bytes, why) : FBY_OK;
}

void fby_transform_release(struct fby_transform *self)
{
    const struct fby_need nothing = {0};
    if (bytes_with(self, &nothing) > self->limits.share) {
        release_buffers(self);
    }
    if (self->borrowed > 0) {
        fby_shared_quota_give(self->limits.quota, self->borrowed);
        self->borrowed = 0;
    }
}

void fby_transform_destroy(struct fby_transform **self_p)
{
    if (*self_p != NULL) {
        release_buffers(*self_p);
        fby_scratch_fini(&(*self_p)->plane);
        free(*self_p);
        *self_p = NULL;
    }
}

void fby_transform_charge(
    struct fby_transform *self, uint32_t op_id, int64_t cpu_ns)
{
    self->costs[op_id].calls++;
    self->costs[op_id].cpu_ns += cpu_ns;
}

struct fby_cost fby_transform_cost(
    const struct fby_transform *self, uint32_t op_id)
{
    return op_id < FBY_N_COSTS ? self->costs[op_id] : (struct fby_cost){0};
}
