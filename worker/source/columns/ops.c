/* SPDX-License-Identifier: Apache-2.0 */
/* Index a source of columns. The headers of all files are read whenever the
 * dataset is opened. If the cache has no shard with equal stamps (object.h),
 * all offsets are read for bucket_by, and whole files for checksums. */
#include <stdio.h>

#include "worker/source/columns/columns.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"
#include "worker/source/manifest.h"
#include "worker/source/ops.h"

static fby_err scan_shard(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_build *build = arg;
    struct fby_index *index = build->out;
    struct fby_shard *shard = &index->shards[i];
    char              path[FBY_PATH_SIZE];
    if (atomic_load(stop)) {
        return FBY_GONE;
    }
    fby_shard_init(shard, build->names.list[i], FBY_SOURCE_COLUMNS);
    fby_err err = fby_path_join(index->location.base, shard->name, path, why);
    if (err == FBY_OK) {
        err = fby_columns_scan(index->root, path, shard, why);
    }
    if (err == FBY_OK && (build->spec->length_field != NULL || index->hashed)) {
        err = fby_build_complete_shard(build, shard, stop, why);
    }
    return fby_error_prefix(why, err, "shard %s", shard->name);
}

static fby_err index_columns(
    struct fby_build *self, struct fby_error_detail *why)
{
    return fby_build_run_job_per_name(
        self, FBY_EXPAND_TABLES, scan_shard, self, why);
}

/* Write the path of the file that has column `number`. */
static fby_err write_path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    (void)index;
    const struct fby_column *column = &shard->columns[number];
    if (fby_is_npz(shard->name)) {
        return fby_path_format(out, why, "%s", shard->name);
    }
    return fby_path_format(out, why, "%s/%s.%s", shard->name, column->name,
        column->role == FBY_COLUMN_CSR ? "npz" : "npy");
}

static void describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_error_detail *text)
{
    (void)dataset;
    (void)member;
    snprintf(text->text, sizeof(text->text),
        "shard %.200s, row %u (sample %llu)", at->shard->name, at->sample,
        (unsigned long long)at->number);
}

const struct fby_source_ops fby_columns_ops = {
    .index    = index_columns,
    .path     = write_path,
    .describe = describe,
    .encode   = fby_columns_encode,
    .decode   = fby_columns_decode,
};
