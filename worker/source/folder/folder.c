/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/folder/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/shard_builder.h"

struct folder_list { /* class folders while they are listed */
    struct fby_folder *folders;
    uint32_t           n;
    uint32_t           n_dangling; /* skipped links */
    bool               has_files;  /* files lie where folders are expected */
};

/* Add the folders in `listing`, which is that of `parent`. */
static fby_err add_folders(const struct fby_listing *listing,
    const char *parent, struct folder_list *out, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        char name[FBY_PATH_SIZE];
        if (!listing->entries[i].is_dir) {
            continue;
        }
        err = fby_path_join(parent, listing->entries[i].name, name, why);
        if (err == FBY_OK) {
            out->folders =
                fby_array_grow(out->folders, out->n, sizeof(*out->folders));
            out->folders[out->n++] =
                (struct fby_folder){.name = fby_strdup(name)};
        }
    }
    out->has_files = out->has_files || listing->count > 0;
    out->n_dangling += listing->n_dangling;
    return err;
}

/* Replace the folders of `list` by the folders in them. */
static fby_err descend(const struct fby_root *root, const char *path,
    struct folder_list *list, struct fby_error_detail *why)
{
    struct folder_list below = {.n_dangling = list->n_dangling};
    fby_err            err   = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < list->n; i++) {
        char               full_path[FBY_PATH_SIZE];
        struct fby_listing listing = {0};
        err = fby_path_join(path, list->folders[i].name, full_path, why);
        if (err == FBY_OK) {
            err = fby_listing_read(root, full_path, NULL, &listing, why);
        }
        if (err == FBY_OK) {
            err = add_folders(&listing, list->folders[i].name, &below, why);
        }
        fby_listing_fini(&listing);
    }
    fby_folders_free(list->folders, list->n);
    *list = below;
    return err;
}

static int compare_folders(const void *a, const void *b)
{
    return strcmp(((const struct fby_folder *)a)->name,
        ((const struct fby_folder *)b)->name);
}

fby_err fby_folder_list_classes(const struct fby_root *root, const char *path,
    uint32_t depth, struct fby_folder **classes, uint32_t *count,
    struct fby_error_detail *why)
{
    struct folder_list list = {.folders = fby_zalloc(sizeof(*list.folders))};
    fby_err            err  = FBY_OK;
    list.folders[0].name    = fby_strdup("");
    list.n                  = 1;
    for (uint32_t i = 0; err == FBY_OK && i < depth; i++) {
        err = descend(root, path, &list, why);
    }
    if (list.n > 0) {
        qsort(list.folders, list.n, sizeof(*list.folders), compare_folders);
        list.folders[0].n_dangling = list.n_dangling;
    } else if (err == FBY_OK) {
        err = fby_error_set(why, FBY_CONFIG,
            "the folder %s:%s has no class folders (%s); expected is one "
            "folder a class, with the class's files in it: CLASS/0001.jpg (for "
            "files without classes: class_depth: 0)",
            fby_root_name(root), path,
            list.has_files ? "it has only files" : "it is empty");
    }
    *classes = list.folders;
    *count   = list.n;
    return err;
}

uint32_t fby_folder_class_depth(const struct fby_content *content)
{
    if (content == NULL || (!content->flat && content->class_depth == 0)) {
        return 1;
    }
    return content->class_depth;
}

void fby_folders_free_files(struct fby_folder *folders, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t f = 0; f < folders[i].count; f++) {
            free(folders[i].files[f].path);
        }
        free(folders[i].files);
        folders[i].files = NULL;
        folders[i].count = 0;
    }
}

void fby_folders_free(struct fby_folder *folders, uint32_t count)
{
    fby_folders_free_files(folders, count);
    for (uint32_t i = 0; i < count; i++) {
        free(folders[i].name);
    }
    free(folders);
}

uint64_t fby_folders_count_dangling(
    const struct fby_folder *folders, uint32_t count)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        n += folders[i].n_dangling;
    }
    return n;
}

struct folder_walk { /* a walk of a class folder, `top`, and those below it */
    const struct fby_root *root;
    const char            *base; /* path of the folder that contains `top` */
    const atomic_bool     *stop;
    struct fby_folder     *top;            /* gets the files that are found */
    struct fby_folder_ancestors ancestors; /* of the current folder */
};

static fby_err add_file(struct folder_walk *w, const char *path,
    const struct fby_stamp *stamp, struct fby_error_detail *why)
{
    struct fby_name_parts parts;
    if (!fby_name_split(path, &parts)) {
        return FBY_OK; /* skip a hidden file, or one without an extension */
    }
    if (!fby_name_is_plain(path)) { /* with the root, unlike fby_name_check() */
        return fby_error_set(why, FBY_CONFIG,
            "the name %s in %s:%.200s has control characters or is not UTF-8: "
            "rename it",
            fby_text_show(path).text, fby_root_name(w->root), w->base);
    }
    FBY_TRY(fby_name_check(path, &parts, why));
    struct fby_folder *folder = w->top;
    uint32_t           n      = folder->count++;
    folder->files    = fby_array_grow(folder->files, n, sizeof(*folder->files));
    folder->files[n] = (struct fby_folder_file){fby_strdup(path), *stamp};
    return FBY_OK;
}

fby_err fby_folder_enter(struct fby_folder_ancestors *self, const char *path,
    const struct fby_stamp *stamp, struct fby_error_detail *why)
{
    if (self->depth >= FBY_FOLDER_MAX_DEPTH) {
        return fby_error_set(why, FBY_CONFIG,
            "%s lies more than %d folders deep", path, FBY_FOLDER_MAX_DEPTH);
    }
    for (uint32_t i = 0; i < self->depth; i++) {
        bool is_same = self->stamps[i].device == stamp->device &&
                       self->stamps[i].inode == stamp->inode;
        if (is_same) {
            return fby_error_set(why, FBY_CONFIG,
                "%s is a link to a folder that it lies in: remove the link",
                path);
        }
    }
    self->stamps[self->depth++] = *stamp;
    return FBY_OK;
}

static fby_err walk_dir(
    struct folder_walk *w, const char *path, struct fby_error_detail *why);

static fby_err visit_entry(struct folder_walk *w, const char *dir,
    const struct fby_entry *entry, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(dir, entry->name, path, why));
    if (!entry->is_dir) {
        return add_file(w, path, &entry->stamp, why);
    }
    FBY_TRY(fby_folder_enter(&w->ancestors, path, &entry->stamp, why));
    fby_err err = walk_dir(w, path, why);
    w->ancestors.depth--;
    return err;
}

/* Add all files of the folder `path`, which is relative to w->base. */
static fby_err walk_dir(
    struct folder_walk *w, const char *path, struct fby_error_detail *why)
{
    char               full_path[FBY_PATH_SIZE];
    struct fby_listing listing = {0};
    fby_err            err     = fby_path_join(w->base, path, full_path, why);
    if (err == FBY_OK) {
        err = fby_listing_read(w->root, full_path, NULL, &listing, why);
    }
    w->top->n_dangling += listing.n_dangling;
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        err = atomic_load(w->stop)
                  ? FBY_GONE
                  : visit_entry(w, path, &listing.entries[i], why);
    }
    fby_listing_fini(&listing);
    return err;
}

/* The number of bytes before the first dot of the file name. */
static size_t key_size(const char *path)
{
    struct fby_name_parts parts = {0};
    return fby_name_split(path, &parts) ? parts.key_size : 0;
}

/* strcmp of whole paths would give another order: '-' and ' ' in a longer key
 * sort before the dot that ends a key. */
int fby_folder_compare_paths(const char *a, const char *b)
{
    size_t a_size = key_size(a); /* also the offset of the dot */
    size_t b_size = key_size(b);
    int    order  = memcmp(a, b, a_size < b_size ? a_size : b_size);
    if (order == 0 && a_size != b_size) {
        order = a_size < b_size ? -1 : 1;
    }
    return order != 0 ? order : strcmp(a + a_size, b + b_size);
}

/* After a stop all files are equal, so that the sort ends soon. */
static int by_key(const void *a, const void *b, void *arg)
{
    const atomic_bool *stop = *(const atomic_bool *const *)arg;
    return atomic_load(stop) ? 0
                             : fby_folder_compare_paths(
                                   ((const struct fby_folder_file *)a)->path,
                                   ((const struct fby_folder_file *)b)->path);
}

fby_err fby_folder_find_files(const struct fby_root *root, const char *path,
    const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why)
{
    struct folder_walk w = {
        .root = root, .base = path, .stop = stop, .top = self};
    fby_err err = walk_dir(&w, self->name, why);
    if (self->count > 0) {
        qsort_r(
            self->files, self->count, sizeof(*self->files), by_key, &w.stop);
    }
    return err == FBY_OK && atomic_load(stop) ? FBY_GONE : err;
}

fby_err fby_folder_find_class_files(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why)
{
    FBY_TRY(fby_folder_find_files(root, path, stop, self, why));
    if (self->count == 0 && self->name[0] == '\0') {
        return fby_error_set(why, FBY_CONFIG,
            "the folder %s:%s has no files with an extension, such as 7.jpg: "
            "correct the path, or add files",
            fby_root_name(root), path);
    }
    if (self->count == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the class folder %s " FBY_FOLDER_WITHOUT_FILES
            ", such as 7.jpg: add some, or, if it is no class, move it "
            "elsewhere",
            fby_text_show(self->name).text);
    }
    return FBY_OK;
}

/* The index after the last file of the sample that begins with file `first`. */
static uint32_t find_end_of_sample(
    const struct fby_folder *self, uint32_t first, size_t size)
{
    const char *key = self->files[first].path;
    uint32_t    end = first + 1;
    while (end < self->count && key_size(self->files[end].path) == size &&
           memcmp(self->files[end].path, key, size) == 0) {
        end++;
    }
    return end;
}

static bool reads_any(const struct fby_folder_filter *filter,
    const struct fby_folder_file *files, uint32_t n, size_t key_size_bytes)
{
    uint32_t i = 0;
    while (i < n &&
           !filter->reads(filter->arg, files[i].path + key_size_bytes + 1)) {
        i++;
    }
    return i < n;
}

/* Keep files `first` to `end` - 1, moved to index `kept`, or free them. */
static uint32_t keep_or_free(struct fby_folder *self, uint32_t kept,
    uint32_t first, uint32_t end, bool keep)
{
    for (uint32_t i = first; i < end; i++) {
        if (keep) {
            self->files[kept++] = self->files[i];
        } else {
            free(self->files[i].path);
        }
    }
    return kept;
}

fby_err fby_folder_select_samples(struct fby_folder *self,
    const struct fby_folder_filter *filter, struct fby_error_detail *why)
{
    char     example[FBY_PATH_SIZE] = "";
    uint32_t kept                   = 0;
    uint32_t count                  = self->count;
    for (uint32_t first = 0; first < count;) {
        size_t   size = key_size(self->files[first].path);
        uint32_t end  = find_end_of_sample(self, first, size);
        bool keep = reads_any(filter, &self->files[first], end - first, size);
        if (!keep) {
            snprintf(example, sizeof(example), "%s", self->files[first].path);
        }
        kept  = keep_or_free(self, kept, first, end, keep);
        first = end;
    }
    self->count      = kept;
    self->n_left_out = count - kept;
    if (count > 0 && kept == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the %sfolder %s has no file that a field reads (%s), only files "
            "such as %s%s",
            self->name[0] != '\0' ? "class " : "",
            fby_text_show(self->name).text, filter->suffixes,
            fby_text_show(example).text,
            self->name[0] != '\0'
                ? ": correct `from`, or move the folder out of the data"
                : "");
    }
    return FBY_OK;
}

/* Add a file as a member of the last sample, or of a new sample if the last one
 * has another key. */
static fby_err add_to_shards(struct fby_shard_builder *builder,
    const struct fby_folder_file *file, uint32_t class_id,
    struct fby_error_detail *why)
{
    size_t      size   = key_size(file->path);
    const char *suffix = file->path + size + 1; /* 1: the dot */
    if (builder->count == 0 ||
        !fby_shard_last_key_is(
            fby_shard_builder_last_shard(builder), file->path, size)) {
        FBY_TRY(fby_shard_builder_begin_sample(
            builder, file->path, size, class_id, why));
    }
    return fby_shard_builder_add_file(builder, suffix, &file->stamp, why);
}

fby_err fby_folders_to_shards(const struct fby_folder *classes,
    uint32_t n_classes, struct fby_shard **shards, uint32_t *n_shards,
    struct fby_error_detail *why)
{
    struct fby_shard_builder builder = {.kind = FBY_SOURCE_FOLDER};
    fby_err                  err     = FBY_OK;
    for (uint32_t c = 0; err == FBY_OK && c < n_classes; c++) {
        for (uint32_t f = 0; err == FBY_OK && f < classes[c].count; f++) {
            err = add_to_shards(&builder, &classes[c].files[f], c, why);
        }
    }
    if (err == FBY_OK) {
        err = fby_shard_builder_finish(&builder, why);
    }
    *shards   = builder.shards;
    *n_shards = builder.count;
    return err;
}
