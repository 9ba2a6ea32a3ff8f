/* A folder into shards: its class folders are walked in parallel and cut into
 * parts of 1,024 samples. Names and stamps are all that takes; only with --hash
 * are files read, and not those of parts that the cache knows with the same
 * stamps. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/source/index_build.h"
#include "worker/source/manifest.h"
#include "worker/source/shard_sum.h"

static fby_err walk_class(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct fby_build *b = arg;
    return fby_folder_walk(
        b->out->root, b->out->parts.base, stop, &b->out->classes[i], why);
}

struct summing {
    const struct fby_index *index;
    const struct fby_shard *shard;
    const atomic_bool      *stop;
    struct fby_sum_state    sum;
};

static fby_err sum_member(
    struct summing *s, uint32_t member, struct fby_why *why)
{
    char    path[FBY_PATH_SIZE];
    int     fd  = -1;
    fby_err err = fby_index_path(s->index, s->shard, member, path, why);
    if (err == FBY_OK) {
        err = fby_root_open(s->index->root, path, FBY_WANT_FILE, &fd, why);
    }
    if (err == FBY_OK) {
        err = fby_sum_add_file(
            &s->sum, fd, &s->shard->stamps[member], s->stop, why);
        close(fd);
        if (err != FBY_OK) {
            return fby_because_in(why, err, "file %s", path);
        }
    }
    return err;
}

static fby_err sum_members(struct fby_build *b, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_why *why)
{
    struct summing s   = {.index = b->out, .shard = shard, .stop = stop};
    fby_err        err = FBY_OK;
    fby_sum_begin(&s.sum);
    for (uint32_t m = 0; err == FBY_OK && m < shard->members; m++) {
        err = sum_member(&s, m, why);
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
    if (cached == NULL || !cached->folder || !cached->hashed ||
        cached->members != shard->members ||
        cached->samples != shard->samples) {
        return false;
    }
    shard->sum             = cached->sum;
    shard->hashed          = true;
    struct fby_digest now  = fby_shard_digest(shard);
    struct fby_digest then = fby_shard_digest(cached);
    bool              same = fby_digest_equal(&now, &then);
    for (uint32_t m = 0; same && m < shard->members; m++) {
        same = fby_stamp_equal(&shard->stamps[m], &cached->stamps[m]);
    }
    shard->hashed = same;
    return same;
}

static fby_err sum_folder_shard(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct fby_build *b      = arg;
    struct fby_shard *shard  = &b->out->shards[i];
    bool              reused = take_cached_sum(b, shard);
    atomic_fetch_add(&b->reused, reused ? 1U : 0U);
    atomic_fetch_add(&b->fresh, reused ? 0U : 1U);
    return reused ? FBY_OK : sum_members(b, shard, stop, why);
}

fby_err fby_build_folder(struct fby_build *self, struct fby_why *why)
{
    struct fby_index *out = self->out;
    fby_err           err = fby_folder_classes(
                  out->root, out->parts.base, &out->classes, &out->n_classes, why);
    if (err == FBY_OK) {
        err = fby_build_run(self, out->n_classes, walk_class, self, why);
    }
    if (err == FBY_OK) {
        err = fby_folder_cut(
            out->classes, out->n_classes, &out->shards, &out->n_shards, why);
    }
    for (uint32_t i = 0; i < out->n_classes; i++) {
        fby_folder_forget_files(&out->classes[i]);
    }
    if (err == FBY_OK && out->hashed) {
        err = fby_build_run(self, out->n_shards, sum_folder_shard, self, why);
    }
    return err;
}
