#include "worker/source/folder/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "pipeline/text.h"
#include "worker/source/parts.h"

enum { MAX_DEPTH = 16 /* levels of folders in a class */ };

/* Move the names of a listing's folders into a new array. */
static struct fby_folder *move_dirs(
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
        *classes = move_dirs(&listing, count);
        if (*count == 0) {
            err = fby_error_set(why, FBY_CONFIG,
                "the folder %s:%s has no class folders (%s); expected is one "
                "folder a class, with the class's files in it: CLASS/0001.jpg",
                fby_root_name(root), path,
                listing.count == 0 ? "it is empty" : "only files lie in it");
        }
    }
    fby_listing_fini(&listing);
    return err;
}

void fby_folders_free_files(struct fby_folder *classes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t f = 0; f < classes[i].count; f++) {
            free(classes[i].files[f].path);
        }
        free(classes[i].files);
        classes[i].files = NULL;
        classes[i].count = 0;
    }
}

void fby_folders_free(struct fby_folder *classes, uint32_t count)
{
    fby_folders_free_files(classes, count);
    for (uint32_t i = 0; i < count; i++) {
        free(classes[i].name);
    }
    free(classes);
}

struct folder_walk {
    const struct fby_root *root;
    const char            *base; /* path of the folder of class folders */
    const atomic_bool     *stop;
    struct fby_folder     *found;
    uint32_t               depth;                /* number of open folders */
    struct fby_stamp       above[MAX_DEPTH + 1]; /* their stamps */
};

static void append(
    struct fby_folder *self, const char *path, const struct fby_stamp *stamp)
{
    uint32_t n  = self->count;
    self->files = fby_array_grow(self->files, n, sizeof(*self->files));
    self->files[n] =
        (struct fby_folder_file){.path = fby_strdup(path), .stamp = *stamp};
    self->count = n + 1;
}

static fby_err add_file(struct folder_walk *w, const char *path,
    const struct fby_stamp *stamp, struct fby_error_detail *why)
{
    struct fby_name_parts parts;
    if (!fby_name_split(path, &parts)) {
        return FBY_OK;
    }
    FBY_TRY(fby_name_check(path, &parts, why));
    append(w->found, path, stamp);
    return FBY_OK;
}

static fby_err enter_folder(struct folder_walk *w, const char *path,
    const struct fby_stamp *stamp, struct fby_error_detail *why)
{
    if (w->depth >= MAX_DEPTH) {
        return fby_error_set(why, FBY_CONFIG,
            "%s lies more than %d folders deep", path, MAX_DEPTH);
    }
    for (uint32_t i = 0; i < w->depth; i++) {
        if (w->above[i].device == stamp->device &&
            w->above[i].inode == stamp->inode) {
            return fby_error_set(why, FBY_CONFIG,
                "%s is a link to a folder that it lies in", path);
        }
    }
    w->above[w->depth++] = *stamp;
    return FBY_OK;
}

static fby_err walk_dir(
    struct folder_walk *w, const char *path, struct fby_error_detail *why);

static fby_err visit_entry(struct folder_walk *w, const char *dir,
    const struct fby_entry *entry, struct fby_error_detail *why)
{
    char    path[FBY_PATH_SIZE];
    fby_err err = fby_path_join(dir, entry->name, path, why);
    if (err != FBY_OK) {
        return err;
    }
    if (!entry->is_dir) {
        return add_file(w, path, &entry->stamp, why);
    }
    err = enter_folder(w, path, &entry->stamp, why);
    if (err == FBY_OK) {
        err = walk_dir(w, path, why);
        w->depth--;
    }
    return err;
}

static fby_err walk_dir(
    struct folder_walk *w, const char *path, struct fby_error_detail *why)
{
    char               below[FBY_PATH_SIZE];
    struct fby_listing listing = {0};
    fby_err            err     = fby_path_join(w->base, path, below, why);
    if (err == FBY_OK) {
        err = fby_listing_read(w->root, below, NULL, &listing, why);
    }
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        err = atomic_load(w->stop)
                  ? FBY_GONE
                  : visit_entry(w, path, &listing.entries[i], why);
    }
    fby_listing_fini(&listing);
    return err;
}

static size_t key_size(const char *path)
{
    struct fby_name_parts parts = {0};
    return fby_name_split(path, &parts) ? parts.key_size : 0;
}

/* Compare by key, then suffix. strcmp of the whole path gives another order,
 * because `-` and ` ` are below the dot that ends a key. */
static int by_key(const void *a, const void *b)
{
    const char *x = ((const struct fby_folder_file *)a)->path;
    const char *y = ((const struct fby_folder_file *)b)->path;
    size_t      m = key_size(x);
    size_t      n = key_size(y);
    int         c = memcmp(x, y, m < n ? m : n);
    if (c == 0 && m != n) {
        c = m < n ? -1 : 1;
    }
    return c != 0 ? c : strcmp(x + m, y + n);
}

fby_err fby_folder_find_files(const struct fby_root *root, const char *path,
    const atomic_bool *stop, struct fby_folder *self,
    struct fby_error_detail *why)
{
    struct folder_walk w = {
        .root = root, .base = path, .stop = stop, .found = self};
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

static fby_err cut_file(struct fby_parts *parts,
    const struct fby_folder_file *file, uint32_t class_id,
    struct fby_error_detail *why)
{
    size_t size = key_size(file->path);
    if (parts->count == 0 ||
        !fby_shard_last_key_is(fby_parts_last(parts), file->path, size)) {
        FBY_TRY(fby_parts_begin_sample(parts, file->path, size, class_id, why));
    }
    return fby_parts_add_file(parts, file->path + size + 1, &file->stamp, why);
}

fby_err fby_folders_to_shards(const struct fby_folder *classes,
    uint32_t n_classes, struct fby_shard **shards, uint32_t *n_shards,
    struct fby_error_detail *why)
{
    struct fby_parts parts = {.kind = FBY_SOURCE_FOLDER};
    fby_err          err   = FBY_OK;
    for (uint32_t c = 0; err == FBY_OK && c < n_classes; c++) {
        for (uint32_t f = 0; err == FBY_OK && f < classes[c].count; f++) {
            err = cut_file(&parts, &classes[c].files[f], c, why);
        }
    }
    if (err == FBY_OK) {
        err = fby_parts_finish(&parts, why);
    }
    *shards   = parts.shards;
    *n_shards = parts.count;
    return err;
}
