#include "worker/source/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/index_build.h"
#include "worker/source/jobs.h"

enum { KIND_TEXT = 160 }; /* bytes of name_kind, with NUL */

static fby_err too_long(struct fby_why *why)
{
    return fby_because(
        why, FBY_CONFIG, "a path of more than %d bytes", FBY_PATH_SIZE - 1);
}

/* Paths of a list are below its own directory. */
static fby_err list_path(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t member, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    char     file[FBY_PATH_SIZE];
    uint32_t size = shard->text_size[member];
    if (size >= sizeof(file)) {
        return too_long(why);
    }
    memcpy(file, shard->texts.data + shard->text_at[member], size);
    file[size] = '\0';
    return fby_path_join(self->parts.base, file, out, why);
}

/* A suffix begins with the name of the folder that the file is in. */
static fby_err parallel_path(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t member, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    char            file[FBY_PATH_SIZE];
    struct fby_side side   = {{0}, {0}};
    const char     *suffix = fby_shard_suffix(shard, member);
    size_t          n      = strcspn(suffix, ".");
    for (uint32_t i = 0; i < self->n_classes; i++) {
        fby_location_side(self->parts.rest, i, &side);
        if (strlen(side.name) == n && memcmp(side.name, suffix, n) == 0) {
            break;
        }
    }
    int length = snprintf(file, sizeof(file), "%s/%s%s", side.path,
        fby_shard_key(shard, fby_shard_sample_of(shard, member)), suffix + n);
    return length >= 0 && length < (int)sizeof(file)
               ? fby_path_join(self->parts.base, file, out, why)
               : too_long(why);
}

fby_err fby_index_path(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t member, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    char file[FBY_PATH_SIZE];
    bool column = fby_shard_has_rows(shard) && !fby_is_npz(shard->name);
    if (!shard->folder && !column) {
        return fby_path_join(self->parts.base, shard->name, out, why);
    }
    if (shard->kind == FBY_SOURCE_LIST) {
        return list_path(self, shard, member, out, why);
    }
    if (shard->kind == FBY_SOURCE_PARALLEL) {
        return parallel_path(self, shard, member, out, why);
    }
    int n =
        column
            ? snprintf(file, sizeof(file), "%s/%s.%s", shard->name,
                  shard->columns[member].name,
                  shard->columns[member].part == FBY_COLUMN_CSR ? "npz" : "npy")
            : snprintf(file, sizeof(file), "%s.%s",
                  fby_shard_key(shard, fby_shard_sample_of(shard, member)),
                  fby_shard_suffix(shard, member));
    if (n < 0 || n >= (int)sizeof(file)) {
        return too_long(why);
    }
    return fby_path_join(self->parts.base, file, out, why);
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

/* It is looked through at each open, file by file. */
static bool lists_files(const struct fby_build *b)
{
    return b->spec->kind == FBY_SOURCE_FOLDER ||
           b->spec->kind == FBY_SOURCE_COLUMNS ||
           b->spec->kind == FBY_SOURCE_LIST ||
           b->spec->kind == FBY_SOURCE_PARALLEL;
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

/* "folder ", and of token files how they are read and cut: another cut is
 * another manifest. */
static const char *name_kind(const struct fby_build *b, char out[KIND_TEXT])
{
    static const char *const kinds[] = {
        [FBY_SOURCE_FOLDER]   = "folder ",
        [FBY_SOURCE_SHARDS]   = "shards ",
        [FBY_SOURCE_LIST]     = "list ",
        [FBY_SOURCE_PARALLEL] = "parallel ",
        [FBY_SOURCE_COLUMNS]  = "columns ",
    };
    const struct fby_tokens *tokens = b->spec->tokens;
    if (b->spec->kind != FBY_SOURCE_TOKENS) {
        return kinds[b->spec->kind];
    }
    int n =
        snprintf(out, KIND_TEXT, "tokens %d %d %u %u %s ", (int)tokens->format,
            (int)tokens->type, tokens->length, tokens->shift, tokens->column);
    if (tokens->packed) {
        snprintf(out + n, KIND_TEXT - (size_t)n, "packed %u ", tokens->end);
    }
    return out;
}

/* Lengths of other rows, or members, are another manifest. */
static void name_lengths(struct fby_build *b)
{
    const struct fby_field_content *field = b->spec->lengths;
    fby_put_bytes(&b->source, " lengths", strlen(" lengths"));
    for (uint32_t i = 0; i < field->n_from; i++) {
        fby_put_bytes(&b->source, " ", 1);
        fby_put_bytes(&b->source, field->from[i], strlen(field->from[i]));
    }
}

/* What the cache is filed under: the place, however it is spelled. */
static void name_source(struct fby_build *b)
{
    char                    kind[KIND_TEXT];
    const struct fby_index *out    = b->out;
    const char             *text[] = {
                    name_kind(b, kind),
                    fby_root_dir(out->root),
                    "/",
                    out->parts.base,
                    "/",
                    out->parts.rest,
    };
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        fby_put_bytes(&b->source, text[i], strlen(text[i]));
    }
    for (uint32_t i = 0; i < b->spec->n_files; i++) {
        fby_put_bytes(&b->source, " ", 1);
        fby_put_bytes(&b->source, b->spec->files[i], strlen(b->spec->files[i]));
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
    return !lists_files(b) || b->out->hashed || b->spec->lengths != NULL;
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

static fby_err build(struct fby_build *b, struct fby_why *why)
{
    switch (b->spec->kind) {
    case FBY_SOURCE_FOLDER:
        return fby_build_folder(b, why);
    case FBY_SOURCE_SHARDS:
        return fby_build_tars(b, why);
    case FBY_SOURCE_COLUMNS:
        return fby_build_columns(b, why);
    case FBY_SOURCE_LIST:
        return fby_build_list(b, why);
    case FBY_SOURCE_PARALLEL:
        return fby_build_parallel(b, why);
    case FBY_SOURCE_TOKENS:
        return fby_build_tokens(b, why);
    }
    return fby_because(why, FBY_CONFIG, "a source of no known kind");
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
    err         = build(&b, why);
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
