#include "worker/source/folder/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/parts.h"

enum { MAX_DEPTH = 16 /* folders within a class */ };

static uint32_t count_dirs(const struct fby_listing *listing)
{
    uint32_t dirs = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        dirs += listing->entries[i].is_dir ? 1 : 0;
    }
    return dirs;
}

static fby_err refuse_flat(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_why *why)
{
    return fby_because(why, FBY_CONFIG,
        "the folder %s:%s has no class folders (%s); expected is one folder a "
        "class, with the class's files in it: CLASS/0001.jpg",
        fby_root_name(root), path,
        listing->count == 0 ? "it is empty" : "only files lie in it");
}

/* Move the names of a listing's folders into a new array. */
static struct fby_folder_class *take_dirs(
    struct fby_listing *listing, uint32_t *count)
{
    struct fby_folder_class *classes =
        fby_zalloc(count_dirs(listing) * sizeof(*classes));
    *count = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir) {
            classes[(*count)++].name = entry->name;
            entry->name              = NULL;
        }
    }
    return classes;
}

fby_err fby_folder_classes(const struct fby_root *root, const char *path,
    struct fby_folder_class **classes, uint32_t *count, struct fby_why *why)
{
    struct fby_listing listing = {0};
    fby_err            err = fby_listing_read(root, path, NULL, &listing, why);
    if (err == FBY_OK && count_dirs(&listing) == 0) {
        err = refuse_flat(root, path, &listing, why);
    }
    if (err == FBY_OK) {
        *classes = take_dirs(&listing, count);
    }
    fby_listing_fini(&listing);
    return err;
}

void fby_folder_forget_files(struct fby_folder_class *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        free(self->files[i].path);
    }
    free(self->files);
    self->files = NULL;
    self->count = 0;
}

void fby_folder_classes_free(struct fby_folder_class *classes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fby_folder_forget_files(&classes[i]);
        free(classes[i].name);
    }
    free(classes);
}

struct walk {
    const struct fby_root   *root;
    const char              *base; /* the folder of class folders */
    const atomic_bool       *stop;
    struct fby_folder_class *found;
    struct fby_stamp         above[MAX_DEPTH + 1]; /* folders we are in */
    uint32_t                 depth;
};

static void append(struct fby_folder_class *self, const char *path,
    const struct fby_stamp *stamp)
{
    uint32_t n  = self->count;
    self->files = fby_array_grow(self->files, n, sizeof(*self->files));
    self->files[n] =
        (struct fby_folder_file){.path = fby_strdup(path), .stamp = *stamp};
    self->count = n + 1;
}

static fby_err take_file(struct walk *w, const char *path,
    const struct fby_stamp *stamp, struct fby_why *why)
{
    struct fby_name_parts parts;
    if (!fby_name_split(path, &parts)) {
        return FBY_OK;
    }
    fby_err err = fby_name_check(path, &parts, why);
    if (err == FBY_OK) {
        append(w->found, path, stamp);
    }
    return err;
}

static fby_err enter(struct walk *w, const char *path,
    const struct fby_stamp *stamp, struct fby_why *why)
{
    if (w->depth >= MAX_DEPTH) {
        return fby_because(why, FBY_CONFIG, "%s lies more than %d folders deep",
            path, MAX_DEPTH);
    }
    for (uint32_t i = 0; i < w->depth; i++) {
        if (w->above[i].device == stamp->device &&
            w->above[i].inode == stamp->inode) {
            return fby_because(why, FBY_CONFIG,
                "%s is a link to a folder that it lies in", path);
        }
    }
    w->above[w->depth++] = *stamp;
    return FBY_OK;
}

static fby_err walk_dir(struct walk *w, const char *path, struct fby_why *why);

static fby_err take_entry(struct walk *w, const char *dir,
    const struct fby_entry *entry, struct fby_why *why)
{
    char    path[FBY_PATH_SIZE];
    fby_err err = fby_path_join(dir, entry->name, path, why);
    if (err != FBY_OK) {
        return err;
    }
    if (!entry->is_dir) {
        return take_file(w, path, &entry->stamp, why);
    }
    err = enter(w, path, &entry->stamp, why);
    if (err == FBY_OK) {
        err = walk_dir(w, path, why);
        w->depth--;
    }
    return err;
}

static fby_err walk_dir(struct walk *w, const char *path, struct fby_why *why)
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
                  : take_entry(w, path, &listing.entries[i], why);
    }
    fby_listing_fini(&listing);
    return err;
}

static size_t key_size(const char *path)
{
    struct fby_name_parts parts = {0};
    return fby_name_split(path, &parts) ? parts.key_size : 0;
}

/* By key, then suffix: as strcmp would have it if the dot between them sorted
 * before every letter, which it does not (`-` and ` ` are below it). */
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

fby_err fby_folder_gather(const struct fby_root *root, const char *path,
    const atomic_bool *stop, struct fby_folder_class *self, struct fby_why *why)
{
    struct walk w   = {.root = root, .base = path, .stop = stop, .found = self};
    fby_err     err = walk_dir(&w, self->name, why);
    if (self->count > 0) {
        qsort(self->files, self->count, sizeof(*self->files), by_key);
    }
    return err;
}

fby_err fby_folder_walk(const struct fby_root *root, const char *path,
    const atomic_bool *stop, struct fby_folder_class *self, struct fby_why *why)
{
    fby_err err = fby_folder_gather(root, path, stop, self, why);
    if (err == FBY_OK && self->count == 0) {
        err = fby_because(why, FBY_CONFIG,
            "the class folder %s has no files named KEY.EXTENSION in it; an "
            "empty folder would take a class id, so fill or remove it",
            fby_text_show(self->name).text);
    }
    return err;
}

static fby_err cut_file(struct fby_parts *parts,
    const struct fby_folder_file *file, uint32_t class_id, struct fby_why *why)
{
    size_t  size = key_size(file->path);
    fby_err err  = FBY_OK;
    if (!fby_parts_goes_on(parts, file->path, size)) {
        err = fby_parts_begin_sample(parts, file->path, size, class_id, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    return fby_parts_add_file(parts, file->path + size + 1, &file->stamp, why);
}

fby_err fby_folder_cut(const struct fby_folder_class *classes,
    uint32_t n_classes, struct fby_shard **shards, uint32_t *n_shards,
    struct fby_why *why)
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
