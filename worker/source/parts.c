#include "worker/source/parts.h"

#include <stdio.h>
#include <string.h>

#include "common/array.h"

struct fby_shard *fby_parts_last(const struct fby_parts *self)
{
    return &self->shards[self->count - 1];
}

static fby_err begin_shard(struct fby_parts *self, struct fby_why *why)
{
    char     name[32];
    uint32_t n = self->count;
    if (n >= FBY_MAX_PARTS) {
        return fby_because(why, FBY_CONFIG, "more than %llu samples",
            (unsigned long long)FBY_MAX_PARTS * FBY_PART_SAMPLES);
    }
    self->shards = fby_array_grow(self->shards, n, sizeof(*self->shards));
    snprintf(name, sizeof(name), "part-%07u", n);
    fby_shard_init(&self->shards[n], name, self->kind);
    self->count = n + 1;
    return FBY_OK;
}

fby_err fby_parts_finish(struct fby_parts *self, struct fby_why *why)
{
    return self->count == 0 ? FBY_OK
                            : fby_shard_finish(fby_parts_last(self), why);
}

bool fby_parts_goes_on(
    const struct fby_parts *self, const char *key, size_t key_size)
{
    if (self->count == 0 || fby_parts_last(self)->samples == 0) {
        return false;
    }
    const struct fby_shard *s    = fby_parts_last(self);
    const char             *last = fby_shard_key(s, s->samples - 1);
    return strlen(last) == key_size && memcmp(last, key, key_size) == 0;
}

fby_err fby_parts_begin_sample(struct fby_parts *self, const char *key,
    size_t key_size, int64_t class_id, struct fby_why *why)
{
    fby_err err = FBY_OK;
    bool    full =
        self->count == 0 || fby_parts_last(self)->samples == FBY_PART_SAMPLES;
    if (full) {
        err = fby_parts_finish(self, why);
    }
    if (err == FBY_OK && full) {
        err = begin_shard(self, why);
    }
    return err == FBY_OK ? fby_shard_add_sample(fby_parts_last(self), key,
                               key_size, class_id, why)
                         : err;
}

fby_err fby_parts_add_file(struct fby_parts *self, const char *suffix,
    const struct fby_stamp *stamp, struct fby_why *why)
{
    struct fby_shard *shard = fby_parts_last(self);
    fby_err err = fby_shard_add_member(shard, suffix, 0, stamp->size, why);
    if (err == FBY_OK) {
        shard->stamps[shard->members - 1] = *stamp;
        shard->size += stamp->size;
    }
    return err;
}
