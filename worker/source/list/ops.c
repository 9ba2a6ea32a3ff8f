/* SPDX-License-Identifier: Apache-2.0 */
/* Index a list. Read its rows into virtual shards of 1,024 samples
 * (shard_builder.h). Then open, in parallel, the files that the rows name, for
 * their stamps. The index has the values and paths, so that the list is read
 * only once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/fields/kind.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"
#include "worker/source/list/list.h"
#include "worker/source/ops.h"
#include "worker/source/roots.h"

static fby_err read_object(const struct fby_object *object,
    const struct fby_stamp *stamp, char *out, struct fby_error_detail *why)
{
    FBY_TRY(fby_object_read(object, 0, out, (size_t)stamp->size, why));
    return fby_stamp_check(object, stamp, why);
}

/* Read the whole list; a NUL follows the text. The caller frees *out. */
static fby_err read_list(const struct fby_index *index, char **out,
    size_t *size, struct fby_error_detail *why)
{
    struct fby_object object;
    struct fby_stamp  stamp;
    char              path[FBY_PATH_SIZE];
    FBY_TRY(
        fby_path_join(index->location.base, index->location.rest, path, why));
    FBY_TRY(fby_object_open_stamped(index->root, path, &object, &stamp, why));
    fby_err err = FBY_OK;
    if (stamp.size > FBY_LIST_MAX_BYTES) {
        err = fby_error_set(why, FBY_CONFIG,
            "a list of %llu bytes; at most %d are read: cut it into several",
            (unsigned long long)stamp.size, FBY_LIST_MAX_BYTES);
    } else {
        *size = (size_t)stamp.size;
        *out  = fby_zalloc(*size + 1);
        err   = read_object(&object, &stamp, *out, why);
    }
    fby_object_close(&object);
    return err;
}

/* The text of a member: its path, or its value. */
static struct fby_span text_of(const struct fby_shard *shard, uint32_t member)
{
    return (struct fby_span){shard->texts.data + shard->text_offset[member],
        shard->text_size[member]};
}

/* Name a missing file by its path from the list's folder, as most lists do, or
 * by its absolute path if it is not below this folder. */
static fby_err refuse_missing_file(const struct fby_index *index,
    struct fby_span path, struct fby_error_detail *why)
{
    bool is_from_root = *(const char *)path.data == '/'; /* path.h */
    return fby_error_set(why, FBY_NOT_FOUND,
        "there is no file %s%.*s: correct its path, or remove the line",
        is_from_root ? fby_root_dir(index->root) : "",
        (int)(path.size < 300 ? path.size : 300), (const char *)path.data);
}

/* Set the size and stamp (object.h) of a member that is a file. */
static fby_err stat_member(struct fby_build *build, struct fby_shard *shard,
    uint32_t member, struct fby_error_detail *why)
{
    char              path[FBY_PATH_SIZE];
    struct fby_object object;
    struct fby_stamp *stamp = &shard->stamps[member];
    FBY_TRY(fby_index_path(build->out, shard, member, path, why));
    fby_err err =
        fby_object_open_stamped(build->out->root, path, &object, stamp, why);
    if (err == FBY_NOT_FOUND) {
        return refuse_missing_file(build->out, text_of(shard, member), why);
    }
    FBY_TRY(err);
    shard->member_bytes[member] = stamp->size;
    shard->size += stamp->size;
    fby_object_close(&object);
    return FBY_OK;
}

/* A job: set the sizes and stamps of all files of virtual shard `i`. */
static fby_err stat_shard(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_build *build = arg;
    struct fby_shard *shard = &build->out->shards[i];
    for (uint32_t m = 0; m < shard->n_members; m++) {
        if (atomic_load(stop)) {
            return FBY_GONE;
        }
        if (!fby_shard_is_value(shard, m)) {
            FBY_TRY(fby_error_prefix(why, stat_member(build, shard, m, why),
                "%.200s, line %s", build->out->location.rest,
                fby_shard_key(shard, fby_shard_sample_of(shard, m))));
        }
    }
    return FBY_OK;
}

static fby_err index_list(struct fby_build *self, struct fby_error_detail *why)
{
    struct fby_index        *out     = self->out;
    struct fby_shard_builder builder = {.count = 0};
    char                    *text    = NULL;
    size_t                   size    = 0;
    fby_err                  err     = read_list(out, &text, &size, why);
    if (err == FBY_OK) {
        bool is_json = fby_text_ends_with(out->location.rest, ".jsonl");
        const struct fby_list list = {text, size, is_json,
            self->spec->file_columns, self->spec->n_file_columns,
            out->location.base, fby_root_dir(out->root)};
        err           = fby_list_build_shards(&list, &builder, why);
        out->shards   = builder.shards;
        out->n_shards = builder.count;
    }
    free(text);
    FBY_TRY(fby_error_prefix(why, err, "%.200s", out->location.rest));
    FBY_TRY(fby_build_run_jobs(self, out->n_shards, stat_shard, self, why));
    return fby_build_complete_shards(self, why);
}

/* Write the path of member `number`, which is a file. */
static fby_err write_path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    (void)index;
    struct fby_span text = text_of(shard, number);
    return fby_path_format(
        out, why, "%.*s", (int)text.size, (const char *)text.data);
}

/* Describe a sample, whose key is the number of its line. */
static void describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_error_detail *text)
{
    const struct fby_shard *shard       = at->shard;
    char                    detail[256] = "";
    if (member != NULL && !fby_shard_is_value(shard, member->index)) {
        struct fby_span name = text_of(shard, member->index);
        snprintf(detail, sizeof(detail), ", file %.*s", (int)name.size,
            (const char *)name.data);
    } else if (member == NULL) {
        char columns[160];
        fby_sample_write_extensions(at, columns, sizeof(columns));
        snprintf(detail, sizeof(detail), " (columns: %s)", columns);
    }
    snprintf(text->text, sizeof(text->text),
        "list %.200s, line %s, sample %llu%s", dataset->index.location.rest,
        fby_shard_key(shard, at->sample), (unsigned long long)at->number,
        detail);
}

/* Returns the first missing column of field->from; NULL if enough exist. A
 * stack (several maps as one array) needs all of the columns. Any other field
 * needs one of them. */
static const char *missing_column(
    const struct fby_dataset *dataset, const struct fby_field_content *field)
{
    const char *first_missing = NULL;
    bool        needs_all     = fby_field_kind(field)->is_stack;
    for (uint32_t i = 0; i < field->n_from; i++) {
        const char *name = field->from[i];
        /* "folder" is the class id, which is not a column. */
        bool exists = strcmp(name, "folder") == 0 ||
                      fby_dataset_has_extension(dataset, name);
        if (exists && !needs_all) {
            return NULL;
        }
        if (!exists && first_missing == NULL) {
            first_missing = name;
        }
    }
    return first_missing;
}

/* Refuse the missing column `name`. The message lists only the columns of the
 * first shard, which most likely has all. */
static fby_err refuse_missing(const struct fby_index *index,
    const struct fby_field_content *field, const char *name,
    struct fby_error_detail *why)
{
    const struct fby_shard *shard   = &index->shards[0];
    struct fby_nearest      nearest = {.word = name};
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        fby_nearest_offer(&nearest, shard->suffixes[i]);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%.200s: field %s: no row has a value in a column %s%s; columns: "
        "%.200s",
        index->location.rest, field->name, name,
        fby_nearest_hint(&nearest, NULL).text, nearest.known);
}

/* Refuse a field if its column has no value in any row: then the name is
 * probably misspelt. A single row without a value fails when it is read. */
static fby_err check_fields(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_error_detail *why)
{
    const struct fby_index *index = &dataset->index;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const char *name = missing_column(dataset, &content->fields[i]);
        if (name != NULL) {
            return refuse_missing(index, &content->fields[i], name, why);
        }
    }
    return FBY_OK;
}

const struct fby_source_ops fby_list_ops = {
    .index        = index_list,
    .path         = write_path,
    .describe     = describe,
    .check_fields = check_fields,
};
