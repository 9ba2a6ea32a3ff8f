/* SPDX-License-Identifier: Apache-2.0 */
/* index_files.c - index shards of one file each, perhaps with an index file.
 * One job for each shard opens its files and compares their stamps with the
 * cache. If they differ, the job scans the shard. */
#include <string.h>

#include "common/mem.h"
#include "pipeline/sources/traits.h"
#include "worker/source/index_build.h"
#include "worker/source/sample_lengths.h"

struct indexing { /* shared by all jobs */
    struct fby_build           *build;
    const struct fby_file_kind *kind;
};

/* ---- the files of a shard ------------------------------------------------ */

/* Open a file and append it to `files`. */
static fby_err open_file(const struct fby_root *root, const char *path,
    struct fby_shard_files *files, struct fby_error_detail *why)
{
    uint32_t n = files->n;
    FBY_TRY(fby_object_open_stamped(
        root, path, &files->objects[n], &files->stamps[n], why));
    files->n++;
    return FBY_OK;
}

static fby_err open_files(struct indexing *indexing,
    struct fby_shard_files *files, struct fby_error_detail *why)
{
    const struct fby_index     *out  = indexing->build->out;
    const struct fby_file_kind *kind = indexing->kind;
    char                        path[FBY_PATH_SIZE];
    if (kind->check_name != NULL) {
        FBY_TRY(kind->check_name(indexing->build->spec, files->name, why));
    }
    FBY_TRY(fby_path_join(out->location.base, files->name, path, why));
    FBY_TRY(open_file(out->root, path, files, why));
    if (kind->index_suffix == NULL) {
        return FBY_OK;
    }
    /* Replace the suffix of the data file, which has the same length. */
    size_t suffix_size = strlen(kind->index_suffix);
    memcpy(path + strlen(path) - suffix_size, kind->index_suffix, suffix_size);
    return fby_error_prefix(
        why, open_file(out->root, path, files, why), "its index beside it");
}

static fby_err check_unchanged(
    const struct fby_shard_files *files, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < files->n; i++) {
        FBY_TRY(fby_stamp_check(&files->objects[i], &files->stamps[i], why));
    }
    return FBY_OK;
}

/* ---- the shard ----------------------------------------------------------- */

/* Move the cached shard into the index, if its files have equal stamps, and if
 * it has lengths exactly when they are needed. Returns false if not moved. */
static bool move_from_cache(
    struct fby_build *b, uint32_t i, const struct fby_shard_files *files)
{
    struct fby_shard *cached = b->cached_shards[i];
    if (cached == NULL || cached->kind != b->spec->kind) {
        return false;
    }
    bool has_lengths   = cached->lengths != NULL;
    bool needs_lengths = b->spec->length_field != NULL;
    bool is_unchanged =
        fby_shard_count_stamps(cached) == files->n &&
        cached->size == files->stamps[0].size &&
        fby_stamps_equal(cached->stamps, files->stamps, files->n);
    if (!is_unchanged || has_lengths != needs_lengths) {
        return false;
    }
    b->out->shards[i] = *cached;
    *cached           = (struct fby_shard){0};
    return true;
}

/* Read the lengths of the samples if bucket_by needs them. */
static fby_err read_lengths(const struct indexing *indexing,
    struct fby_shard *shard, const struct fby_shard_files *files,
    struct fby_error_detail *why)
{
    const struct fby_length_source source = {
        .field  = indexing->build->spec->length_field,
        .object = &files->objects[0],
        .stop   = files->stop};
    return source.field != NULL ? fby_member_lengths_read(&source, shard, why)
                                : FBY_OK;
}

static fby_err scan_shard(struct indexing *indexing, struct fby_shard *shard,
    const struct fby_shard_files *files, struct fby_error_detail *why)
{
    fby_shard_init(shard, files->name, indexing->build->spec->kind);
    shard->stamps =
        fby_memdup(files->stamps, files->n * sizeof(files->stamps[0]));
    shard->size = files->stamps[0].size;
    FBY_TRY(indexing->kind->scan(indexing->build->spec, files, shard, why));
    /* A token file that is shorter than a sequence has no samples. */
    if (shard->n_samples == 0 &&
        !fby_source_traits(shard->kind)->has_sequences) {
        return fby_error_set(why, FBY_CONFIG, "it has no samples");
    }
    FBY_TRY(read_lengths(indexing, shard, files, why));
    return check_unchanged(files, why);
}

static fby_err add_checksum(struct fby_shard *shard,
    const struct fby_shard_files *files, struct fby_error_detail *why)
{
    struct fby_checksum_state sum;
    fby_checksum_begin(&sum);
    for (uint32_t i = 0; i < files->n; i++) {
        FBY_TRY(fby_checksum_add_file(
            &sum, &files->objects[i], &files->stamps[i], files->stop, why));
    }
    shard->sum          = fby_checksum_end(&sum);
    shard->has_checksum = true;
    return FBY_OK;
}

static fby_err index_shard(struct indexing *indexing, uint32_t i,
    const struct fby_shard_files *files, struct fby_error_detail *why)
{
    struct fby_build *b         = indexing->build;
    struct fby_shard *shard     = &b->out->shards[i];
    bool              reused    = move_from_cache(b, i, files);
    bool              needs_sum = b->out->hashed && !shard->has_checksum;
    atomic_fetch_add(&b->reused, reused ? 1U : 0U);
    atomic_fetch_add(&b->n_read, !reused || needs_sum ? 1U : 0U);
    if (!reused) {
        FBY_TRY(scan_shard(indexing, shard, files, why));
    }
    return needs_sum ? add_checksum(shard, files, why) : FBY_OK;
}

static fby_err open_and_index(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct indexing       *indexing = arg;
    struct fby_shard_files files    = {
           .name = indexing->build->names.list[i], .stop = stop};
    fby_err err = open_files(indexing, &files, why);
    if (err == FBY_OK) {
        err = index_shard(indexing, i, &files, why);
    }
    for (uint32_t k = 0; k < files.n; k++) {
        fby_object_close(&files.objects[k]);
    }
    return fby_error_prefix(why, err, "shard %s", files.name);
}

fby_err fby_build_file_shards(struct fby_build *self,
    const struct fby_file_kind *kind, struct fby_error_detail *why)
{
    struct indexing indexing = {.build = self, .kind = kind};
    return fby_build_run_job_per_name(
        self, FBY_EXPAND_FILES, open_and_index, &indexing, why);
}
