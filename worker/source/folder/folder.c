/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/folder/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "pipeline/text.h"
#include "worker/source/shard_builder.h"

enum { MAX_DEPTH = 16 /* levels of folders below a class folder */ };

/* Make an array of the folders of a listing, and move their names to it. */
static struct fby_folder *take_folders(
    struct fby_listing *listing, uint32_t *count)
{
    struct fby_folder *classes = NULL;
    uint32_t           n       = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir) {
            classes     = fby_array_grow(classes, n, sizeof(*classes));
            classes[n]  = (struct fby_folder){.name = entry->name};
            entry->name = NULL;
            n++;
        }
    }
    *count = n;
    return classes;
}

fby_err fby_folder_list_classes(const struct fby_root *root, const char *path,
    struct fby_folder **classes, uint32_t *count, struct fby_error_detail *why)
{
    struct fby_listing listing = {0};
    fby_err            err = fby_listing_read(root, path, NULL, &listing, why);
    if (err == FBY_OK) {
        *classes = take_folders(&listing, count);
        if (*count == 0) {
            err = fby_error_set(why, FBY_CONFIG,
                "the folder %s:%s has no class folders (%s); expected is one "
                "folder a class, with the class's files in it: CLASS/0001.jpg",
                fby_root_name(root), path,
                listing.count == 0 ? "it is empty" : "it has only files");
        }
    }
    fby_listing_fini(&listing);
    return err;
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

struct folder_walk { /* a walk of a class folder, `top`, and those below it */
    const struct fby_root *root;
    const char            *base; /* path of the folder that contains `top` */
    const atomic_bool     *stop;
    struct fby_folder     *top;   /* gets the files that are found */
    uint32_t               depth; /* levels below `top`; 0: in `top` itself */
    struct fby_stamp ancestors[MAX_DEPTH]; /* [i]: folder at depth i + 1 */
};

static fby_err add_file(struct folder_walk *w, const char *path,
    const struct fby_stamp *stamp, struct fby_error_detail *why)
{
    struct fby_name_parts parts;
    if (!fby_name_split(path, &parts)) {
        return FBY_OK; /* skip a hidden file, or one without an extension */
    }
    FBY_TRY(fby_name_check(path, &parts, why));
    struct fby_folder *folder = w->top;
    uint32_t           n      = folder->count++;
    folder->files    = fby_array_grow(folder->files, n, sizeof(*folder->files));
    folder->files[n] = (struct fby_folder_file){fby_strdup(path), *stamp};
    return FBY_OK;
}

/* Go down one level, into the folder `path`. Refuse a folder that is too deep,
 * and a link back to a folder above, which would be an endless loop. */
static fby_err enter_folder(struct folder_walk *w, const char *path,
    const struct fby_stamp *stamp, struct fby_error_detail *why)
{
    if (w->depth >= MAX_DEPTH) {
        return fby_error_set(why, FBY_CONFIG,
            "%s lies more than %d folders deep", path, MAX_DEPTH);
    }
    for (uint32_t i = 0; i < w->depth; i++) {
        bool is_same = w->ancestors[i].device == stamp->device &&
                       w->ancestors[i].inode == stamp->inode;
        if (is_same) {
            return fby_error_set(why, FBY_CONFIG,
                "%s is a link to a folder that it lies in", path);
        }
    }
    w->ancestors[w->depth++] = *stamp;
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
    FBY_TRY(enter_folder(w, path, &entry->stamp, why));
    fby_err err = walk_dir(w, path, why);
    w->depth--;
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

/* Compare by key, then by suffix. strcmp of whole paths would give another
 * order: '-' and ' ' in a longer key sort before the dot that ends a key. */
static int by_key(const void *a, const void *b)
{
    const char *x      = ((const struct fby_folder_file *)a)->path;
    const char *y      = ((const struct fby_folder_file *)b)->path;
    size_t      x_size = key_size(x); /* also the offset of the dot */
    size_t      y_size = key_size(y);
    int         order  = memcmp(x, y, x_size < y_size ? x_size : y_size);
    if (order == 0 && x_size != y_size) {
        order = x_size < y_size ? -1 : 1;
    }
    return order != 0 ? order : strcmp(x + x_size, y + y_size);
}

fby_err fby_folder_find_files(const struct fby_root *root, const char *path,
    const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why)
{
    struct folder_walk w = {
        .root = root, .base = path, .stop = stop, .top = self};
    fby_err err = walk_dir(&w, self->name, why);
    if (self->count > 0) {
        qsort(self->files, self->count, sizeof(*self->files), by_key);
    }
    return err;
}

fby_err fby_folder_find_class_files(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why)
{
    FBY_TRY(fby_folder_find_files(root, path, stop, self, why));
    if (self->count == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the class folder %s has no files named KEY.EXTENSION in it; an "
            "empty folder would take a class id, so fill or remove it",
            fby_text_show(self->name).text);
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
