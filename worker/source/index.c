#include "worker/source/index.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "pipeline/schema.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "worker/source/index_build.h"
#include "worker/source/jobs.h"
#include "worker/source/ops.h"

fby_err fby_path_format(
    char out[FBY_PATH_SIZE], struct fby_why *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out, FBY_PATH_SIZE, format, args);
    va_end(args);
    return n >= 0 && n < FBY_PATH_SIZE
               ? FBY_OK
               : fby_because(why, FBY_CONFIG, "a path of more than %d bytes",
                     FBY_PATH_SIZE - 1);
}

fby_err fby_index_path(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    const struct fby_source_ops *ops = fby_source_ops(shard->kind);
    char                         file[FBY_PATH_SIZE];
    if (ops->path == NULL) {
        return fby_path_join(self->parts.base, shard->name, out, why);
    }
    fby_err err = ops->path(self, shard, number, file, why);
    return err == FBY_OK ? fby_path_join(self->parts.base, file, out, why)
                         : err;
}

fby_err fby_build_run(struct fby_build *self, uint32_t jobs, fby_build_job *job,
    void *arg, struct fby_why *why)
{
    struct fby_jobs work = {
        .job      = job,
        .arg      = arg,
        .jobs     = jobs,
        .threads  = self->spec->threads,
        .progress = self->progress,
    };
    return fby_jobs_run(&work, why);
}

/* Found before the threads start: each job then has its own entry. */
static void match_cached(struct fby_build *b)
{
    b->known = fby_zalloc(b->names.count * sizeof(struct fby_shard *));
    for (uint32_t i = 0; i < b->names.count; i++) {
        b->known[i] = fby_build_cached(b, b->names.at[i]);
    }
}

fby_err fby_build_named(struct fby_build *self, enum fby_expand_want want,
    fby_build_job *job, void *arg, struct fby_why *why)
{
    struct fby_index *out = self->out;
    fby_err err = fby_expand(out->root, &out->parts, want, &self->names, why);
    if (err != FBY_OK) {
        return err;
    }
    match_cached(self);
    out->n_shards = self->names.count;
    out->shards   = fby_zalloc(out->n_shards * sizeof(*out->shards));
    return fby_build_run(self, out->n_shards, job, arg, why);
}

static int by_shard_name(const void *name, const void *shard)
{
    return strcmp(name, ((const struct fby_shard *)shard)->name);
}

struct fby_shard *fby_build_cached(struct fby_build *self, const char *name)
{
    if (self->cached.count == 0) {
        return NULL;
    }
    return bsearch(name, self->cached.shards, self->cached.count,
        sizeof(*self->cached.shards), by_shard_name);
}

static fby_err find_source(struct fby_build *b, struct fby_why *why)
{
    const char       *pattern = b->spec->pattern;
    struct fby_index *out     = b->out;
    if (!fby_location_is_named(pattern)) {
        return fby_because(why, FBY_USAGE,
            "%s is a plain path; a worker opens only what lies below its "
            "roots: write NAME:path",
            fby_text_show(pattern).text);
    }
    fby_err err = fby_location_split(pattern, b->spec->kind, &out->parts, why);
    if (err == FBY_OK) {
        err = fby_roots_named(b->spec->roots, out->parts.root, &out->root, why);
    }
    return err == FBY_CONFIG ? FBY_USAGE : err;
}

static void put_text(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

/* Lengths of other rows, or members, are another manifest. */
static void name_lengths(struct fby_build *b)
{
    const struct fby_field_content *field = b->spec->lengths;
    put_text(&b->source, " lengths");
    for (uint32_t i = 0; i < field->n_from; i++) {
        put_text(&b->source, " ");
        put_text(&b->source, field->from[i]);
    }
}

/* What the cache is filed under: the place, however it is spelled. */
static void name_source(struct fby_build *b)
{
    const struct fby_index      *out = b->out;
    const struct fby_source_ops *ops = fby_source_ops(b->spec->kind);
    put_text(&b->source, fby_source_traits(b->spec->kind)->key->name);
    put_text(&b->source, " ");
    if (ops->describe_index != NULL) {
        ops->describe_index(b->spec, &b->source);
    }
    put_text(&b->source, fby_root_dir(out->root));
    put_text(&b->source, "/");
    put_text(&b->source, out->parts.base);
    put_text(&b->source, "/");
    put_text(&b->source, out->parts.rest);
    for (uint32_t i = 0; i < b->spec->n_files; i++) {
        put_text(&b->source, " ");
        put_text(&b->source, b->spec->files[i]);
    }
    if (b->spec->lengths != NULL) {
        name_lengths(b);
    }
    fby_put_u8(&b->source, 0);
}

static bool cache_file(const struct fby_build *b, char path[FBY_PATH_SIZE])
{
    return fby_cache_path(b->spec->cache_dir, (const char *)b->source.data,
               path) == FBY_OK;
}

static void load_cache(struct fby_build *b)
{
    char           path[FBY_PATH_SIZE];
    struct fby_why why = {0};
    if (!cache_file(b, path)) {
        return;
    }
    fby_err err =
        fby_cache_load(path, (const char *)b->source.data, &b->cached, &why);
    if (err != FBY_OK) {
        fby_cached_fini(&b->cached);
    }
    if (err != FBY_OK && err != FBY_NOT_FOUND) {
        fby_warn("CACHE-IGNORED", "%s; indexed again", why.text);
    }
}

/* A folder is listed at every open anyway, and headers of columns are read;
 * only what was read of all files is worth keeping. */
static bool worth_keeping(const struct fby_build *b)
{
    return !fby_source_traits(b->spec->kind)->is_listed || b->out->hashed ||
           b->spec->lengths != NULL;
}

static void store_cache(const struct fby_build *b)
{
    char                    path[FBY_PATH_SIZE];
    struct fby_why          why = {0};
    const struct fby_index *out = b->out;
    bool                    changed =
        atomic_load(&b->fresh) > 0 || out->n_shards != b->cached.count;
    if (!changed || !worth_keeping(b)) {
        return;
    }
    struct fby_cached what = {
        .shards = out->shards, .count = out->n_shards, .hashed = out->hashed};
    if (!cache_file(b, path)) {
        if (b->spec->cache_dir == NULL) { /* "" wants none */
            fby_warn("CACHE-NONE",
                "nowhere to keep the manifest: set FOREBAY_CACHE_DIR or HOME; "
                "the next open indexes again");
        }
        return;
    }
    if (fby_cache_store(path, (const char *)b->source.data, &what, &why) !=
        FBY_OK) {
        fby_warn(
            "CACHE-NOT-WRITTEN", "%s; the next open indexes again", why.text);
    }
}

fby_err fby_index_build(const struct fby_dataset_spec *spec,
    struct fby_progress progress, struct fby_index *out, struct fby_why *why)
{
    struct fby_build b = {.spec = spec, .progress = progress, .out = out};
    *out               = (struct fby_index){0};
    fby_err err        = find_source(&b, why);
    if (err != FBY_OK) {
        return err;
    }
    name_source(&b);
    load_cache(&b);
    out->hashed = spec->hash || b.cached.hashed;
    err         = fby_source_ops(spec->kind)->index(&b, why);
    err         = err == FBY_USAGE ? FBY_CONFIG : err; /* a link in the data */
    out->reused = atomic_load(&b.reused);
    if (err == FBY_OK) {
        store_cache(&b);
    }
    free(b.known);
    fby_names_fini(&b.names);
    fby_cached_fini(&b.cached);
    fby_buffer_fini(&b.source);
    return err;
}

void fby_index_fini(struct fby_index *self)
{
    for (uint32_t i = 0; i < self->n_shards; i++) {
        fby_shard_fini(&self->shards[i]);
    }
    free(self->shards);
    fby_folder_classes_free(self->classes, self->n_classes);
    *self = (struct fby_index){0};
}
