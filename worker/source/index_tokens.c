/* Token files into shards: one job a file, in parallel. Of a file that the
 * cache knows with the same stamp (and the same one of its index beside it)
 * nothing is read; of any other one only headers are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/source/expand.h"
#include "worker/source/index_build.h"
#include "worker/source/shard_sum.h"
#include "worker/source/token_file.h"

enum { FILES = 2 }; /* of a shard: the tokens, and the index beside them */

struct token_files {
    struct fby_build  *build;
    struct fby_names   names;
    struct fby_shard **cached; /* beside the names; NULL where there is none */
};

struct open_files {
    const char        *name;
    uint32_t           n;
    int                fd[FILES];
    struct fby_stamp   stamps[FILES];
    const atomic_bool *stop;
};

/* ---- the files of a shard ------------------------------------------------ */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name);
    size_t m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* What is easily taken for a token file. */
static fby_err check_name(
    enum fby_tokens_format format, const char *name, struct fby_why *why)
{
    if (format == FBY_TOKENS_MEGATRON && !ends_with(name, ".bin")) {
        return fby_because(why, FBY_CONFIG,
            "files of format megatron end with .bin; the .idx is looked for "
            "beside them");
    }
    if (format == FBY_TOKENS_MDS && ends_with(name, ".json")) {
        return fby_because(why, FBY_CONFIG,
            "name the shards, such as shard.*.mds; each says what is in it");
    }
    if (format == FBY_TOKENS_MDS && !ends_with(name, ".mds")) {
        return fby_because(why, FBY_CONFIG,
            "shards of format mds end with .mds; those that are compressed "
            "(.mds.zstd and the like) must be unpacked first");
    }
    return FBY_OK;
}

static fby_err open_one(struct fby_build *b, const char *path,
    struct open_files *files, struct fby_why *why)
{
    struct stat st;
    uint32_t    n = files->n;
    fby_err     err =
        fby_root_open(b->out->root, path, FBY_WANT_FILE, &files->fd[n], why);
    if (err != FBY_OK) {
        return err;
    }
    files->n = n + 1;
    if (fstat(files->fd[n], &st) != 0) {
        return fby_because(why, FBY_IO, "cannot stat: %s", strerror(errno));
    }
    files->stamps[n] = fby_stamp_of(&st);
    return FBY_OK;
}

static fby_err open_files(
    struct fby_build *b, struct open_files *files, struct fby_why *why)
{
    enum fby_tokens_format format = b->spec->tokens->format;
    char                   path[FBY_PATH_SIZE];
    fby_err                err = check_name(format, files->name, why);
    if (err == FBY_OK) {
        err = fby_path_join(b->out->parts.base, files->name, path, why);
    }
    if (err == FBY_OK) {
        err = open_one(b, path, files, why);
    }
    if (err == FBY_OK && format == FBY_TOKENS_MEGATRON) {
        snprintf(path + strlen(path) - 4, sizeof(".idx"), ".idx");
        err = open_one(b, path, files, why);
        if (err != FBY_OK) {
            return fby_because_in(why, err, "its index beside it");
        }
    }
    return err;
}

static fby_err check_files(const struct open_files *files, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < files->n; i++) {
        err = fby_stamp_check(files->fd[i], &files->stamps[i], why);
    }
    return err;
}

/* ---- what is in them ----------------------------------------------------- */

static bool take_cached(
    struct token_files *t, uint32_t i, const struct open_files *files)
{
    struct fby_shard *cached = t->cached[i];
    if (cached == NULL || cached->sequences == NULL ||
        cached->size != files->stamps[0].size) {
        return false;
    }
    for (uint32_t k = 0; k < files->n; k++) {
        if (!fby_stamp_equal(&cached->stamps[k], &files->stamps[k])) {
            return false;
        }
    }
    t->build->out->shards[i] = *cached;
    *cached                  = (struct fby_shard){0};
    return true;
}

static fby_err read_runs(const struct fby_tokens *how,
    const struct open_files *files, struct fby_sequences *out,
    struct fby_why *why)
{
    uint32_t              last = files->n - 1; /* the one with the header */
    struct fby_token_file file = {
        .fd   = files->fd[last],
        .size = files->stamps[last].size,
        .stop = files->stop,
    };
    fby_err err = FBY_CONFIG;
    switch (how->format) {
    case FBY_TOKENS_FLAT:
        return fby_flat_read(&file, how->end, out, why);
    case FBY_TOKENS_MDS:
        return fby_mds_read(&file, how->column, out, why);
    case FBY_TOKENS_MEGATRON:
        err = fby_megatron_read(&file, files->stamps[0].size, out, why);
        return err == FBY_OK ? err
                             : fby_because_in(why, err, "its index beside it");
    }
    return fby_because(why, err, "token files of no known format");
}

static fby_err scan(struct fby_build *b, struct fby_shard *shard,
    const struct open_files *files, struct fby_why *why)
{
    fby_shard_init(shard, files->name, false);
    shard->size      = files->stamps[0].size;
    shard->sequences = fby_sequences_create(b->spec->tokens);
    shard->stamps =
        fby_memdup(files->stamps, files->n * sizeof(files->stamps[0]));
    fby_err err = read_runs(b->spec->tokens, files, shard->sequences, why);
    if (err == FBY_OK) {
        err = fby_shard_finish_sequences(shard, why);
    }
    return err == FBY_OK ? check_files(files, why) : err;
}

static fby_err sum_files(struct fby_shard *shard,
    const struct open_files *files, struct fby_why *why)
{
    struct fby_sum_state sum;
    fby_err              err = FBY_OK;
    fby_sum_begin(&sum);
    for (uint32_t i = 0; err == FBY_OK && i < files->n; i++) {
        err = fby_sum_add_file(
            &sum, files->fd[i], &files->stamps[i], files->stop, why);
    }
    if (err == FBY_OK) {
        shard->sum    = fby_sum_end(&sum);
        shard->hashed = true;
    }
    return err;
}

static fby_err index_open_files(struct token_files *t, uint32_t i,
    const struct open_files *files, struct fby_why *why)
{
    struct fby_build *b      = t->build;
    struct fby_shard *shard  = &b->out->shards[i];
    bool              reused = take_cached(t, i, files);
    bool              sum    = b->out->hashed && !shard->hashed;
    fby_err           err    = FBY_OK;
    atomic_fetch_add(&b->reused, reused ? 1U : 0U);
    atomic_fetch_add(&b->fresh, !reused || sum ? 1U : 0U);
    if (!reused) {
        err = scan(b, shard, files, why);
    }
    return err == FBY_OK && sum ? sum_files(shard, files, why) : err;
}

static fby_err index_files(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct token_files *t     = arg;
    struct open_files   files = {.name = t->names.at[i], .stop = stop};
    fby_err             err   = open_files(t->build, &files, why);
    if (err == FBY_OK) {
        err = index_open_files(t, i, &files, why);
    }
    for (uint32_t k = 0; k < files.n; k++) {
        close(files.fd[k]);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "shard %s", files.name);
}

/* Found before the threads start: each job then has its own entry. */
static void match_cached(struct token_files *t)
{
    t->cached = fby_zalloc(t->names.count * sizeof(struct fby_shard *));
    for (uint32_t i = 0; i < t->names.count; i++) {
        t->cached[i] = fby_build_cached(t->build, t->names.at[i]);
    }
}

fby_err fby_build_tokens(struct fby_build *self, struct fby_why *why)
{
    struct fby_index  *out = self->out;
    struct token_files t   = {.build = self};
    fby_err            err =
        fby_expand(out->root, &out->parts, FBY_EXPAND_FILES, &t.names, why);
    if (err == FBY_OK) {
        match_cached(&t);
        out->n_shards = t.names.count;
        out->shards   = fby_zalloc(out->n_shards * sizeof(*out->shards));
        err = fby_build_run(self, out->n_shards, index_files, &t, why);
    }
    free(t.cached);
    fby_names_fini(&t.names);
    return err;
}
