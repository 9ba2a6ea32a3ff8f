/* What is read of the files of a shard: how long its samples are, and XXH3-128
 * of all, one after another: of a part of a folder in the order of its members,
 * of columns in that of their names. What the cache has of the same files, with
 * the same stamps, is not read again. */
#include "common/mem.h"
#include "worker/source/columns/row_lengths.h"
#include "worker/source/index_build.h"
#include "worker/source/manifest.h"
#include "worker/source/member_lengths.h"
#include "worker/source/shard_sum.h"

struct summing {
    const struct fby_index *index;
    const struct fby_shard *shard;
    const atomic_bool      *stop;
    struct fby_sum_state    sum;
};

static fby_err sum_file(struct summing *s, uint32_t file, struct fby_why *why)
{
    char              path[FBY_PATH_SIZE];
    struct fby_object object;
    fby_err           err = fby_index_path(s->index, s->shard, file, path, why);
    if (err == FBY_OK) {
        err = fby_object_open(s->index->root, path, &object, why);
    }
    if (err == FBY_OK) {
        err = fby_sum_add_file(
            &s->sum, &object, &s->shard->stamps[file], s->stop, why);
        fby_object_close(&object);
        if (err != FBY_OK) {
            return fby_because_in(why, err, "file %s", path);
        }
    }
    return err;
}

static fby_err sum_files(struct fby_build *b, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_why *why)
{
    struct summing s   = {.index = b->out, .shard = shard, .stop = stop};
    fby_err        err = FBY_OK;
    fby_sum_begin(&s.sum);
    uint32_t n = fby_shard_stamps(shard);
    for (uint32_t f = 0; err == FBY_OK && f < n; f++) {
        err = fby_shard_is_value(shard, f) ? FBY_OK : sum_file(&s, f, why);
    }
    if (err == FBY_OK) {
        shard->sum    = fby_sum_end(&s.sum);
        shard->hashed = true;
    }
    return err;
}

/* Of the same files in the same places, whatever was read of them; or NULL. */
static const struct fby_shard *find_same(
    struct fby_build *b, const struct fby_shard *shard)
{
    const struct fby_shard *cached = fby_build_cached(b, shard->name);
    uint32_t                n      = fby_shard_stamps(shard);
    if (cached == NULL || cached->folder != shard->folder ||
        fby_shard_stamps(cached) != n || cached->samples != shard->samples) {
        return NULL;
    }
    struct fby_shard alike = *cached;
    alike.hashed           = shard->hashed;
    alike.lengths          = shard->lengths;
    struct fby_digest now  = fby_shard_digest(shard);
    struct fby_digest then = fby_shard_digest(&alike);
    bool              same = fby_digest_equal(&now, &then);
    for (uint32_t f = 0; same && f < n; f++) {
        same = fby_stamp_equal(&shard->stamps[f], &cached->stamps[f]);
    }
    return same ? cached : NULL;
}

static fby_err read_lengths(struct fby_build *b, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_why *why)
{
    const struct fby_field_content *field   = b->spec->lengths;
    const struct fby_members        members = {
               .field = field, .index = b->out, .stop = stop};
    return fby_shard_has_rows(shard)
               ? fby_row_lengths_read(b->out, shard, field, stop, why)
               : fby_member_lengths_read(&members, shard, why);
}

static fby_err read_files(struct fby_build *b, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_why *why)
{
    fby_err err = FBY_OK;
    if (b->spec->lengths != NULL && shard->lengths == NULL) {
        err = read_lengths(b, shard, stop, why);
    }
    return err == FBY_OK && b->out->hashed && !shard->hashed
               ? sum_files(b, shard, stop, why)
               : err;
}

fby_err fby_build_read(struct fby_build *self, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_why *why)
{
    const struct fby_shard *same    = find_same(self, shard);
    bool                    lengths = self->spec->lengths != NULL;
    if (same != NULL && lengths && same->lengths != NULL) {
        shard->lengths =
            fby_memdup(same->lengths, shard->samples * sizeof(*shard->lengths));
    }
    if (same != NULL && self->out->hashed && same->hashed) {
        shard->sum    = same->sum;
        shard->hashed = true;
    }
    bool reused = shard->hashed == self->out->hashed &&
                  (shard->lengths != NULL || !lengths);
    atomic_fetch_add(&self->reused, reused ? 1U : 0U);
    atomic_fetch_add(&self->fresh, reused ? 0U : 1U);
    return reused ? FBY_OK : read_files(self, shard, stop, why);
}

static fby_err read_part(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct fby_build *b = arg;
    return fby_build_read(b, &b->out->shards[i], stop, why);
}

fby_err fby_build_read_all(struct fby_build *self, struct fby_why *why)
{
    struct fby_index *out = self->out;
    return out->hashed || self->spec->lengths != NULL
               ? fby_build_run(self, out->n_shards, read_part, self, why)
               : FBY_OK;
}
