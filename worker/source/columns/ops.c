/* Index a source of columns: the headers of all files are read at every open.
 * Offsets are read for bucket_by, and whole files for checksums, except those
 * that the cache has with equal stamps. */
#include <stdio.h>

#include "worker/source/columns/columns.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"
#include "worker/source/manifest.h"
#include "worker/source/ops.h"

static fby_err scan_shard(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_build *b     = arg;
    struct fby_index *out   = b->out;
    struct fby_shard *shard = &out->shards[i];
    char              path[FBY_PATH_SIZE];
    if (atomic_load(stop)) {
        return FBY_GONE;
    }
    fby_shard_init(shard, b->names.at[i], FBY_SOURCE_COLUMNS);
    fby_err err = fby_path_join(out->parts.base, shard->name, path, why);
    if (err == FBY_OK) {
        err = fby_columns_scan(out->root, path, shard, why);
    }
    if (err == FBY_OK && (b->spec->lengths != NULL || out->hashed)) {
        err = fby_build_read_shard(b, shard, stop, why);
    }
    return fby_error_prefix(why, err, "shard %s", shard->name);
}

static fby_err index_columns(
    struct fby_build *self, struct fby_error_detail *why)
{
    return fby_build_each_name(self, FBY_EXPAND_TABLES, scan_shard, self, why);
}

/* The shard is one .npz, or a folder with a file for each column. */
static fby_err path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    (void)index;
    const struct fby_column *column = &shard->columns[number];
    if (fby_is_npz(shard->name)) {
        return fby_path_format(out, why, "%s", shard->name);
    }
    return fby_path_format(out, why, "%s/%s.%s", shard->name, column->name,
        column->part == FBY_COLUMN_CSR ? "npz" : "npy");
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
    .path     = path,
    .describe = describe,
    .encode   = fby_columns_encode,
    .decode   = fby_columns_decode,
};
