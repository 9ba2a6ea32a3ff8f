/* SPDX-License-Identifier: Apache-2.0 */
/* Index a folder. Threads walk its class folders, and then all samples are cut
 * into virtual shards of 1,024. The walk reads only names and stamps (size,
 * inode and times). The content of files is read only for checksums and
 * lengths, and only if the cache has no shard with equal stamps. */
#include "worker/source/ops.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"

static fby_err walk_class(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_build *build = arg;
    struct fby_index *index = build->out;
    return fby_folder_find_class_files(
        index->root, index->location.base, stop, &index->folders[i], why);
}

static fby_err index_folder(
    struct fby_build *self, struct fby_error_detail *why)
{
    struct fby_index *out = self->out;

    fby_err err = fby_folder_list_classes(
        out->root, out->location.base, &out->folders, &out->n_folders, why);
    if (err == FBY_OK) {
        err = fby_build_run_jobs(self, out->n_folders, walk_class, self, why);
    }
    if (err == FBY_OK) {
        err = fby_folders_to_shards(
            out->folders, out->n_folders, &out->shards, &out->n_shards, why);
    }
    fby_folders_free_files(out->folders, out->n_folders);
    return err == FBY_OK ? fby_build_complete_shards(self, why) : err;
}

/* Write the path of member `number`, which is a file. */
static fby_err write_path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    (void)index;
    return fby_path_format(out, why, "%s.%s",
        fby_shard_key(shard, fby_shard_sample_of(shard, number)),
        fby_shard_suffix(shard, number));
}

/* Refuse a label field with fewer classes than there are class folders, because
 * the class ids of the last folders would not be valid. */
static fby_err check_classes(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_error_detail *why)
{
    uint32_t n_folders = fby_dataset_class_count(dataset);
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        if (fby_field_is_folder_id(field) && field->as.label.classes > 0 &&
            field->as.label.classes < n_folders) {
            return fby_error_set(why, FBY_CONFIG,
                "field %s: classes is %u, and there are %u class folders; "
                "raise classes to at least %u",
                field->name, field->as.label.classes, n_folders, n_folders);
        }
    }
    return FBY_OK;
}

const struct fby_source_ops fby_folder_ops = {
    .index        = index_folder,
    .path         = write_path,
    .check_fields = check_classes,
};
