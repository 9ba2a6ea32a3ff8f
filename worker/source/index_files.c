/* Files into shards: one job a file, in parallel. Stamps tell whether the cache
 * knows it; both files of a pair must be those that were indexed together. */
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/index_build.h"
#include "worker/source/shard_sum.h"

struct indexing {
    struct fby_build           *build;
    const struct fby_file_kind *kind;
};

/* ---- the files of a shard ------------------------------------------------ */

static fby_err open_one(const struct fby_root *root, const char *path,
    struct fby_shard_files *files, struct fby_why *why)
{
    uint32_t n   = files->n;
    fby_err  err = fby_object_open_stamped(
         root, path, &files->objects[n], &files->stamps[n], why);
    files->n += err == FBY_OK ? 1 : 0;
    return err;
}

/* Its name is the shard's but for the ending. */
static fby_err open_beside(const struct fby_root *root, const char *ending,
    char *path, struct fby_shard_files *files, struct fby_why *why)
{
    size_t n = strlen(ending);
    snprintf(path + strlen(path) - n, n + 1, "%s", ending);
    fby_err err = open_one(root, path, files, why);
    return err == FBY_OK ? err
                         : fby_because_in(why, err, "its index beside it");
}

static fby_err open_files(
    struct indexing *x, struct fby_shard_files *files, struct fby_why *why)
{
    const struct fby_index     *out  = x->build->out;
    const struct fby_file_kind *kind = x->kind;
    char                        path[FBY_PATH_SIZE];
    fby_err                     err = FBY_OK;
    if (kind->check_name != NULL) {
        err = kind->check_name(x->build->spec, files->name, why);
    }
    if (err == FBY_OK) {
        err = fby_path_join(out->parts.base, files->name, path, why);
    }
    if (err == FBY_OK) {
        err = open_one(out->root, path, files, why);
    }
    return err == FBY_OK && kind->beside != NULL
               ? open_beside(out->root, kind->beside, path, files, why)
               : err;
}

static fby_err check_files(
    const struct fby_shard_files *files, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < files->n; i++) {
        err = fby_stamp_check(&files->objects[i], &files->stamps[i], why);
    }
    return err;
}

/* ---- what is in them ----------------------------------------------------- */

static bool take_cached(
    struct fby_build *b, uint32_t i, const struct fby_shard_files *files)
{
    struct fby_shard *known = b->known[i];
    if (known == NULL || known->kind != b->spec->kind ||
        fby_shard_stamps(known) != files->n ||
        (known->lengths != NULL) != (b->spec->lengths != NULL) ||
        known->size != files->stamps[0].size) {
        return false;
    }
    for (uint32_t k = 0; k < files->n; k++) {
        if (!fby_stamp_equal(&known->stamps[k], &files->stamps[k])) {
            return false;
        }
    }
    b->out->shards[i] = *known;
    *known            = (struct fby_shard){0};
    return true;
}

static fby_err scan(struct indexing *x, struct fby_shard *shard,
    const struct fby_shard_files *files, struct fby_why *why)
{
    fby_shard_init(shard, files->name, x->build->spec->kind);
    shard->stamps =
        fby_memdup(files->stamps, files->n * sizeof(files->stamps[0]));
    fby_err err = x->kind->scan(x->build->spec, files, shard, why);
    return err == FBY_OK ? check_files(files, why) : err;
}

static fby_err sum_files(struct fby_shard *shard,
    const struct fby_shard_files *files, struct fby_why *why)
{
    struct fby_sum_state sum;
    fby_err              err = FBY_OK;
    fby_sum_begin(&sum);
    for (uint32_t i = 0; err == FBY_OK && i < files->n; i++) {
        err = fby_sum_add_file(
            &sum, &files->objects[i], &files->stamps[i], files->stop, why);
    }
    if (err == FBY_OK) {
        shard->sum    = fby_sum_end(&sum);
        shard->hashed = true;
    }
    return err;
}

static fby_err index_open_files(struct indexing *x, uint32_t i,
    const struct fby_shard_files *files, struct fby_why *why)
{
    struct fby_build *b      = x->build;
    struct fby_shard *shard  = &b->out->shards[i];
    bool              reused = take_cached(b, i, files);
    bool              sum    = b->out->hashed && !shard->hashed;
    fby_err           err    = FBY_OK;
    atomic_fetch_add(&b->reused, reused ? 1U : 0U);
    atomic_fetch_add(&b->fresh, !reused || sum ? 1U : 0U);
    if (!reused) {
        err = scan(x, shard, files, why);
    }
    return err == FBY_OK && sum ? sum_files(shard, files, why) : err;
}

static fby_err index_files(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct indexing       *x     = arg;
    struct fby_shard_files files = {
        .name = x->build->names.at[i], .stop = stop};
    fby_err err = open_files(x, &files, why);
    if (err == FBY_OK) {
        err = index_open_files(x, i, &files, why);
    }
    for (uint32_t k = 0; k < files.n; k++) {
        fby_object_close(&files.objects[k]);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "shard %s", files.name);
}

fby_err fby_build_files(struct fby_build *self,
    const struct fby_file_kind *kind, struct fby_why *why)
{
    struct indexing x = {.build = self, .kind = kind};
    return fby_build_named(self, FBY_EXPAND_FILES, index_files, &x, why);
}
