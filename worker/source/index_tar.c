/* Tars into shards: one job a tar, in parallel. Of a tar that the cache knows
 * with the same stamp nothing is read; any other one is scanned. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/source/expand.h"
#include "worker/source/index_build.h"
#include "worker/source/shard_sum.h"
#include "worker/source/tar.h"

struct tars {
    struct fby_build  *build;
    struct fby_names   names;
    struct fby_shard **cached; /* beside the names; NULL where there is none */
};

/* Move the cached index of an unchanged tar. */
static bool take_cached(
    struct tars *t, uint32_t i, const struct fby_stamp *stamp)
{
    struct fby_shard *cached = t->cached[i];
    if (cached == NULL || cached->folder || cached->size != stamp->size ||
        !fby_stamp_equal(cached->stamps, stamp)) {
        return false;
    }
    t->build->out->shards[i] = *cached;
    *cached                  = (struct fby_shard){0};
    return true;
}

struct open_tar {
    const char        *name;
    int                fd;
    struct fby_stamp   stamp;
    const atomic_bool *stop;
};

static fby_err sum_tar(struct fby_build *b, struct fby_shard *shard,
    const struct open_tar *tar, struct fby_why *why)
{
    if (!b->out->hashed || shard->hashed) {
        return FBY_OK;
    }
    struct fby_sum_state sum;
    fby_sum_begin(&sum);
    fby_err err = fby_sum_add_file(&sum, tar->fd, &tar->stamp, tar->stop, why);
    if (err == FBY_OK) {
        shard->sum    = fby_sum_end(&sum);
        shard->hashed = true;
    }
    return err;
}

static fby_err scan_tar(
    struct fby_shard *shard, const struct open_tar *tar, struct fby_why *why)
{
    const struct fby_tar_file file = {
        .fd = tar->fd, .size = tar->stamp.size, .stop = tar->stop};
    fby_shard_init(shard, tar->name, false);
    shard->stamps = fby_memdup(&tar->stamp, sizeof(tar->stamp));
    fby_err err   = fby_tar_scan(&file, shard, why);
    return err == FBY_OK ? fby_stamp_check(tar->fd, &tar->stamp, why) : err;
}

static fby_err index_open_tar(
    struct tars *t, uint32_t i, const struct open_tar *tar, struct fby_why *why)
{
    struct fby_build *b      = t->build;
    struct fby_shard *shard  = &b->out->shards[i];
    bool              reused = take_cached(t, i, &tar->stamp);
    bool              fresh  = !reused || (b->out->hashed && !shard->hashed);
    fby_err           err    = FBY_OK;
    atomic_fetch_add(&b->reused, reused ? 1U : 0U);
    atomic_fetch_add(&b->fresh, fresh ? 1U : 0U);
    if (!reused) {
        err = scan_tar(shard, tar, why);
    }
    return err == FBY_OK ? sum_tar(b, shard, tar, why) : err;
}

static fby_err open_tar(
    const struct fby_index *out, struct open_tar *tar, struct fby_why *why)
{
    char        path[FBY_PATH_SIZE];
    struct stat st;
    fby_err     err = fby_path_join(out->parts.base, tar->name, path, why);
    if (err == FBY_OK) {
        err = fby_root_open(out->root, path, FBY_WANT_FILE, &tar->fd, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    if (fstat(tar->fd, &st) != 0) {
        close(tar->fd);
        return fby_because(why, FBY_IO, "cannot stat: %s", strerror(errno));
    }
    tar->stamp = fby_stamp_of(&st);
    return FBY_OK;
}

static fby_err index_tar(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct tars    *t   = arg;
    struct open_tar tar = {.name = t->names.at[i], .stop = stop};
    fby_err         err = open_tar(t->build->out, &tar, why);
    if (err == FBY_OK) {
        err = index_open_tar(t, i, &tar, why);
        close(tar.fd);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "shard %s", tar.name);
}

/* Found before the threads start: each job then has its own entry. */
static void match_cached(struct tars *t)
{
    t->cached = fby_zalloc(t->names.count * sizeof(struct fby_shard *));
    for (uint32_t i = 0; i < t->names.count; i++) {
        t->cached[i] = fby_build_cached(t->build, t->names.at[i]);
    }
}

fby_err fby_build_tars(struct fby_build *self, struct fby_why *why)
{
    struct fby_index *out = self->out;
    struct tars       t   = {.build = self};
    fby_err           err =
        fby_expand(out->root, &out->parts, FBY_EXPAND_FILES, &t.names, why);
    if (err == FBY_OK) {
        match_cached(&t);
        out->n_shards = t.names.count;
        out->shards   = fby_zalloc(out->n_shards * sizeof(*out->shards));
        err           = fby_build_run(self, out->n_shards, index_tar, &t, why);
    }
    free(t.cached);
    fby_names_fini(&t.names);
    return err;
}
