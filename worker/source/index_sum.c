/* XXH3-128 of all files of a shard, one after another: of a part of a folder in
 * the order of its members, of columns in that of their names. Those that the
 * cache has a sum of, with the same stamps, are not read. */
#include <unistd.h>

#include "worker/source/index_build.h"
#include "worker/source/manifest.h"
#include "worker/source/shard_sum.h"

struct summing {
    const struct fby_index *index;
    const struct fby_shard *shard;
    const atomic_bool      *stop;
    struct fby_sum_state    sum;
};

static fby_err sum_file(struct summing *s, uint32_t file, struct fby_why *why)
{
    char    path[FBY_PATH_SIZE];
    int     fd  = -1;
    fby_err err = fby_index_path(s->index, s->shard, file, path, why);
    if (err == FBY_OK) {
        err = fby_root_open(s->index->root, path, FBY_WANT_FILE, &fd, why);
    }
    if (err == FBY_OK) {
        err = fby_sum_add_file(
            &s->sum, fd, &s->shard->stamps[file], s->stop, why);
        close(fd);
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

/* The sum of the same files, if the cache has one. */
static bool take_cached_sum(struct fby_build *b, struct fby_shard *shard)
{
    const struct fby_shard *cached = fby_build_cached(b, shard->name);
    uint32_t                n      = fby_shard_stamps(shard);
    if (cached == NULL || !cached->hashed || cached->folder != shard->folder ||
        fby_shard_stamps(cached) != n || cached->samples != shard->samples) {
        return false;
    }
    shard->sum             = cached->sum;
    shard->hashed          = true;
    struct fby_digest now  = fby_shard_digest(shard);
    struct fby_digest then = fby_shard_digest(cached);
    bool              same = fby_digest_equal(&now, &then);
    for (uint32_t f = 0; same && f < n; f++) {
        same = fby_stamp_equal(&shard->stamps[f], &cached->stamps[f]);
    }
    shard->hashed = same;
    return same;
}

fby_err fby_build_sum(struct fby_build *self, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_why *why)
{
    bool reused = take_cached_sum(self, shard);
    atomic_fetch_add(&self->reused, reused ? 1U : 0U);
    atomic_fetch_add(&self->fresh, reused ? 0U : 1U);
    return reused ? FBY_OK : sum_files(self, shard, stop, why);
}
