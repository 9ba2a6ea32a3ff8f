/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/shard_builder.h"

#include <stdio.h>

#include "common/array.h"

struct fby_shard *fby_shard_builder_last_shard(
    const struct fby_shard_builder *self)
{
    return &self->shards[self->count - 1];
}

static fby_err begin_shard(
    struct fby_shard_builder *self, struct fby_error_detail *why)
{
    char     name[32];
    uint32_t n = self->count;
    if (n >= FBY_MAX_VIRTUAL_SHARDS) {
        return fby_error_set(why, FBY_CONFIG, "more than %llu samples",
            (unsigned long long)FBY_MAX_VIRTUAL_SHARDS *
                FBY_VIRTUAL_SHARD_SAMPLES);
    }
    self->shards = fby_array_grow(self->shards, n, sizeof(*self->shards));
    snprintf(name, sizeof(name), "part-%07u", n); /* n has 1 to 7 digits */
    fby_shard_init(&self->shards[n], name, self->kind);
    self->count = n + 1;
    return FBY_OK;
}

fby_err fby_shard_builder_finish(
    struct fby_shard_builder *self, struct fby_error_detail *why)
{
    return self->count == 0
               ? FBY_OK
               : fby_shard_finish(fby_shard_builder_last_shard(self), why);
}

fby_err fby_shard_builder_begin_sample(struct fby_shard_builder *self,
    const char *key, size_t key_size, int64_t class_id,
    struct fby_error_detail *why)
{
    if (self->count == 0 || fby_shard_builder_last_shard(self)->n_samples ==
                                FBY_VIRTUAL_SHARD_SAMPLES) {
        FBY_TRY(fby_shard_builder_finish(self, why));
        FBY_TRY(begin_shard(self, why));
    }
    return fby_shard_add_sample(
        fby_shard_builder_last_shard(self), key, key_size, class_id, why);
}

fby_err fby_shard_builder_add_file(struct fby_shard_builder *self,
    const char *suffix, const struct fby_stamp *stamp,
    struct fby_error_detail *why)
{
    struct fby_shard *shard = fby_shard_builder_last_shard(self);
    FBY_TRY(fby_shard_add_member(shard, suffix, 0, stamp->size, why));
    shard->stamps[shard->n_members - 1] = *stamp;
    shard->size += stamp->size;
    return FBY_OK;
}
