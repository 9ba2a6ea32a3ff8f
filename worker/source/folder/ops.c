/* SPDX-License-Identifier: Apache-2.0 */
/* Index a folder. Threads walk its class folders, and then all samples are cut
 * into virtual shards of 1,024. The walk reads only names and stamps (size,
 * inode and times). The content of files is read only for checksums and
 * lengths, and only if the cache has no shard with equal stamps. */
#include "worker/source/ops.h"
#include <string.h>

#include "common/log.h"
#include "common/plural.h"
#include "pipeline/class_names.h"
#include "pipeline/text.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"

/* Does a field of the content `arg` read files with this suffix? */
static bool content_reads(const void *arg, const char *suffix)
{
    const struct fby_content *content = arg;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        for (uint32_t k = 0; k < field->n_from; k++) {
            if (fby_equal_ignoring_case(field->from[k], suffix)) {
                return true;
            }
        }
    }
    return false;
}

/* Does any field read files? False if all fields are ids of class folders. */
static bool has_file_fields(const struct fby_content *content)
{
    uint32_t i = 0;
    while (
        i < content->n_fields && fby_field_is_folder_id(&content->fields[i])) {
        i++;
    }
    return i < content->n_fields;
}

/* List the suffixes that the fields read, as far as they fit. */
static void list_suffixes(
    const struct fby_content *content, char *out, size_t size)
{
    out[0] = '\0';
    for (uint32_t i = 0; content != NULL && i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        bool is_file                          = !fby_field_is_folder_id(field);
        for (uint32_t k = 0; is_file && k < field->n_from; k++) {
            fby_text_append_name(out, size, field->from[k]);
        }
    }
}

static fby_err walk_class(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_build              *build   = arg;
    struct fby_index              *index   = build->out;
    const struct fby_content      *content = build->spec->content;
    char                           suffixes[128];
    const struct fby_folder_filter filter = {content_reads, content, suffixes};
    list_suffixes(content, suffixes, sizeof(suffixes));
    FBY_TRY(fby_folder_find_class_files(
        index->root, index->location.base, stop, &index->folders[i], why));
    return content != NULL && has_file_fields(content)
               ? fby_folder_select_samples(&index->folders[i], &filter, why)
               : FBY_OK;
}

static void log_skipped(const struct fby_index *index)
{
    unsigned long long n = 0;
    fby_listing_log_dangling(index->root, index->location.base,
        fby_folders_count_dangling(index->folders, index->n_folders));
    for (uint32_t i = 0; i < index->n_folders; i++) {
        n += index->folders[i].n_left_out;
    }
    if (n > 0) {
        fby_info("FILES-LEFT-OUT",
            "%s of %s:%s left out: no field reads such files",
            fby_plural(n, "file").text, fby_root_name(index->root),
            index->location.base);
    }
}

static fby_err index_folder(
    struct fby_build *self, struct fby_error_detail *why)
{
    struct fby_index *out = self->out;

    fby_err err = fby_folder_list_classes(out->root, out->location.base,
        fby_folder_class_depth(self->spec->content), &out->folders,
        &out->n_folders, why);
    if (err == FBY_OK) {
        err = fby_build_run_jobs(self, out->n_folders, walk_class, self, why);
    }
    if (err == FBY_OK) {
        err = fby_folders_to_shards(
            out->folders, out->n_folders, &out->shards, &out->n_shards, why);
    }
    fby_folders_free_files(out->folders, out->n_folders);
    if (err == FBY_OK) {
        log_skipped(out);
    }
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

/* Refuse class folders whose names are not in `names` of the field. */
static fby_err check_names(const struct fby_dataset *dataset,
    const struct fby_content *content, const struct fby_field_content *field,
    struct fby_error_detail *why)
{
    struct fby_name_range names = fby_field_names(field);
    for (uint32_t i = 0; i < dataset->index.n_folders; i++) {
        uint32_t    id   = 0;
        const char *name = dataset->index.folders[i].name;
        if (!fby_class_names_find(
                &content->class_names, names, name, strlen(name), &id)) {
            return fby_class_names_refuse(&content->class_names, field, name,
                strlen(name), FBY_CONFIG, why);
        }
    }
    return FBY_OK;
}

/* Refuse a label field with fewer classes than there are class folders (here,
 * or those that number them), because the last ids would not be valid. */
static fby_err check_count(const struct fby_dataset *dataset,
    const struct fby_field_content *field, struct fby_error_detail *why)
{
    uint32_t n_classes = fby_dataset_class_count(dataset);
    uint32_t allowed   = field->as.label.classes;
    if (allowed == 0 || allowed >= n_classes) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "field %s: classes is %u, and there are %u class folders; raise "
        "classes to at least %u",
        field->name, allowed, n_classes, n_classes);
}

static fby_err check_labels(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        if (!fby_field_is_folder_id(field)) {
            continue;
        }
        FBY_TRY(fby_field_names(field).n > 0
                    ? check_names(dataset, content, field, why)
                    : check_count(dataset, field, why));
    }
    return FBY_OK;
}

const struct fby_source_ops fby_folder_ops = {
    .index        = index_folder,
    .path         = write_path,
    .check_fields = check_labels,
};
