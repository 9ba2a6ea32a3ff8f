/* SPDX-License-Identifier: Apache-2.0 */
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

fby_err fby_path_format(char out[FBY_PATH_SIZE], struct fby_error_detail *why,
    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out, FBY_PATH_SIZE, format, args);
    va_end(args);
    return n >= 0 && n < FBY_PATH_SIZE
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG, "a path of more than %d bytes",
                     FBY_PATH_SIZE - 1);
}

fby_err fby_index_path(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    const struct fby_source_ops *ops = fby_source_ops(shard->kind);
    char                         file[FBY_PATH_SIZE];
    if (ops->path == NULL) {
        return fby_path_join(self->location.base, shard->name, out, why);
    }
    FBY_TRY(ops->path(self, shard, number, file, why));
    if (file[0] == '/') { /* relative to the root, as in some lists */
        return fby_path_join("", file + 1, out, why);
    }
    return fby_path_join(self->location.base, file, out, why);
}

fby_err fby_index_open(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t number, struct fby_object *out,
    struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    FBY_TRY(fby_index_path(self, shard, number, path, why));
    return fby_object_open(self->root, path, out, why);
}

fby_err fby_build_run_jobs(struct fby_build *self, uint32_t jobs,
    fby_build_job *job, void *arg, struct fby_error_detail *why)
{
    const struct fby_jobs work = {
        job, arg, jobs, self->spec->threads, self->progress};
    return fby_jobs_run(&work, why);
}

fby_err fby_build_run_job_per_name(struct fby_build *self,
    enum fby_expand_want want, fby_build_job *job, void *arg,
    struct fby_error_detail *why)
{
    struct fby_index *out = self->out;
    FBY_TRY(
        fby_pattern_expand(out->root, &out->location, want, &self->names, why));
    out->n_shards = self->names.count;
    out->shards   = fby_zalloc(out->n_shards * sizeof(*out->shards));
    self->cached_shards =
        fby_zalloc(out->n_shards * sizeof(struct fby_shard *));
    for (uint32_t i = 0; i < out->n_shards; i++) {
        self->cached_shards[i] =
            fby_build_find_cached(self, self->names.list[i]);
    }
    return fby_build_run_jobs(self, out->n_shards, job, arg, why);
}

static int compare_with_shard_name(const void *name, const void *shard)
{
    return strcmp(name, ((const struct fby_shard *)shard)->name);
}

struct fby_shard *fby_build_find_cached(
    struct fby_build *self, const char *name)
{
    if (self->cached.count == 0) {
        return NULL;
    }
    return bsearch(name, self->cached.shards, self->cached.count,
        sizeof(*self->cached.shards), compare_with_shard_name);
}

/* Set the location and the root. All errors are FBY_USAGE, because a client
 * sent the location. */
static fby_err find_location(struct fby_build *b, struct fby_error_detail *why)
{
    const char       *pattern = b->spec->pattern;
    struct fby_index *out     = b->out;
    if (!fby_location_is_named(pattern)) {
        return fby_error_set(why, FBY_USAGE,
            "%s is a plain path; a worker opens only what lies below its "
            "roots: write NAME:path",
            fby_text_show(pattern).text);
    }
    fby_err err =
        fby_location_split(pattern, b->spec->kind, &out->location, why);
    if (err == FBY_OK) {
        err =
            fby_roots_find(b->spec->roots, out->location.root, &out->root, why);
    }
    return err == FBY_CONFIG ? FBY_USAGE : err;
}

static void append_text(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

/* Write the identity of the source: its kind, its location without links, and
 * all settings on which its manifest depends. */
static void write_identity(struct fby_build *b)
{
    const struct fby_dataset_spec *spec = b->spec;
    const struct fby_index        *out  = b->out;
    const struct fby_source_ops   *ops  = fby_source_ops(spec->kind);
    append_text(&b->identity, fby_source_traits(spec->kind)->key->name);
    append_text(&b->identity, " ");
    if (ops->describe_index != NULL) {
        ops->describe_index(spec, &b->identity);
    }
    append_text(&b->identity, fby_root_dir(out->root));
    append_text(&b->identity, "/");
    append_text(&b->identity, out->location.base);
    append_text(&b->identity, "/");
    append_text(&b->identity, out->location.rest);
    for (uint32_t i = 0; i < spec->n_file_columns; i++) {
        append_text(&b->identity, " ");
        append_text(&b->identity, spec->file_columns[i]);
    }
    if (spec->length_field != NULL) {
        append_text(&b->identity, " lengths");
        for (uint32_t i = 0; i < spec->length_field->n_from; i++) {
            append_text(&b->identity, " ");
            append_text(&b->identity, spec->length_field->from[i]);
        }
    }
    fby_put_u8(&b->identity, 0);
}

static bool find_cache_file(const struct fby_build *b, char path[FBY_PATH_SIZE])
{
    return fby_cache_path(b->spec->cache_dir, (const char *)b->identity.data,
               path) == FBY_OK;
}

static void load_cache(struct fby_build *b)
{
    char                    path[FBY_PATH_SIZE];
    struct fby_error_detail why = {0};
    if (!find_cache_file(b, path)) {
        return;
    }
    fby_err err =
        fby_cache_load(path, (const char *)b->identity.data, &b->cached, &why);
    if (err != FBY_OK) {
        fby_cached_manifest_fini(&b->cached);
    }
    if (err != FBY_OK && err != FBY_NOT_FOUND) {
        fby_warn("CACHE-IGNORED", "%s; indexed again", why.text);
    }
}

/* Should the manifest be stored in the cache? Some sources list their folders,
 * or read the headers of columns, at every open. Of these, only checksums and
 * lengths are worth storing. */
static bool should_store(const struct fby_build *b)
{
    bool changed =
        atomic_load(&b->n_read) > 0 || b->out->n_shards != b->cached.count;
    bool lists_at_open = fby_source_traits(b->spec->kind)->lists_folders;
    bool has_read_data = b->out->hashed || b->spec->length_field != NULL;
    return changed && (has_read_data || !lists_at_open);
}

/* Store the manifest in the cache. If this fails, log the reason, or fail if
 * the caller needs the stored manifest. */
static fby_err store_cache(
    const struct fby_build *b, struct fby_error_detail *failed)
{
    static const char remedy[] =
        "in a container mount a volume there, else set FOREBAY_CACHE_DIR to a "
        "folder with write access and space";
    char                             path[FBY_PATH_SIZE];
    struct fby_error_detail          why      = {0};
    const struct fby_cached_manifest manifest = {
        b->out->shards, b->out->n_shards, b->out->hashed};
    if (!should_store(b)) {
        return FBY_OK;
    }
    if (!find_cache_file(b, path)) {
        if (b->spec->must_store) {
            return fby_error_set(failed, FBY_CONFIG,
                "nowhere to keep the manifest: give --cache, or set "
                "FOREBAY_CACHE_DIR or HOME");
        }
        if (b->spec->cache_dir == NULL) { /* else it is "": no cache wanted */
            fby_warn("CACHE-NONE",
                "nowhere to keep the manifest: set FOREBAY_CACHE_DIR or HOME; "
                "the next open indexes again");
        }
    } else if (fby_cache_store(path, (const char *)b->identity.data, &manifest,
                   &why) != FBY_OK) {
        if (b->spec->must_store) {
            return fby_error_set(failed, FBY_IO, "%s: %s", why.text, remedy);
        }
        fby_warn("CACHE-NOT-WRITTEN", "%s: %s; the next open indexes again",
            why.text, remedy);
    }
    return FBY_OK;
}

static fby_err open_archive(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_index *out = arg;
    (void)i; /* the only job */
    return fby_archive_open(
        out->root, out->location.base, stop, &out->archive, why);
}

/* If the source may lie in an archive, and does, open the archive and make it
 * the root. */
static fby_err enter_archive(struct fby_build *b, struct fby_error_detail *why)
{
    struct fby_index *out = b->out;
    if (!fby_source_traits(b->spec->kind)->reads_zip ||
        fby_location_zip_length(out->location.base, 0) == 0) {
        return FBY_OK;
    }
    FBY_TRY(fby_build_run_jobs(b, 1, open_archive, out, why));
    if (out->archive != NULL) {
        out->root = fby_archive_root(out->archive);
    }
    return FBY_OK;
}

fby_err fby_index_build(const struct fby_dataset_spec *spec,
    struct fby_progress progress, struct fby_index *out,
    struct fby_error_detail *why)
{
    struct fby_build b = {.spec = spec, .progress = progress, .out = out};
    *out               = (struct fby_index){0};
    FBY_TRY(find_location(&b, why));
    write_identity(&b);
    load_cache(&b);
    out->hashed = spec->hash || b.cached.hashed;
    fby_err err = enter_archive(&b, why);
    if (err == FBY_OK) {
        err = fby_source_ops(spec->kind)->index(&b, why);
    }
    /* Here FBY_USAGE means that a link in the data is outside the root, and
     * FBY_BAD_SAMPLE that an entry of an archive is damaged. */
    err         = err == FBY_USAGE || err == FBY_BAD_SAMPLE ? FBY_CONFIG : err;
    out->reused = atomic_load(&b.reused);
    if (err == FBY_OK) {
        err = store_cache(&b, why);
    }
    free(b.cached_shards);
    fby_names_fini(&b.names);
    fby_cached_manifest_fini(&b.cached);
    fby_buffer_fini(&b.identity);
    return err;
}

void fby_index_fini(struct fby_index *self)
{
    for (uint32_t i = 0; i < self->n_shards; i++) {
        fby_shard_fini(&self->shards[i]);
    }
    free(self->shards);
    fby_folders_free(self->folders, self->n_folders);
    fby_archive_destroy(&self->archive);
    *self = (struct fby_index){0};
}
