/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/zip/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/location.h"
#include "pipeline/text.h"
#include "worker/source/listing.h"
#include "worker/source/object.h"
#include "worker/source/zip/content.h"
#include "worker/source/zip/entries.h"

struct fby_archive {
    struct fby_root            *root; /* whose files the functions below read */
    char                       *path; /* of the archive, beneath the root */
    struct fby_object           file; /* the open archive */
    struct fby_stamp            stamp; /* of `file` */
    struct fby_zip_entries      entries;
    struct fby_zip_scratch_pool scratch; /* has a lock of its own */
};

/* ---- paths ---- */

/* The path of a file relative to the archive; "" is the archive, and NULL if
 * the path does not lead into it. */
static const char *path_within(const struct fby_archive *self, const char *path)
{
    size_t n = strlen(self->path);
    if (strncmp(path, self->path, n) != 0 ||
        (path[n] != '/' && path[n] != '\0')) {
        return NULL;
    }
    return path + n + (path[n] == '/' ? 1 : 0);
}

static fby_err error_from_path(const struct fby_archive *self, const char *path,
    const char *fault, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_NOT_FOUND, "%s:%s is %s",
        fby_root_name(self->root), path, fault);
}

/* ---- listing ---- */

struct archive_dir { /* lists one folder of an archive */
    const struct fby_archive *archive;
    char   prefix[FBY_PATH_SIZE]; /* of the names of its entries: "cats/" */
    size_t prefix_size;
    const struct fby_listing_request *request;
};

/* The number of the first entry after those in the folder `name` of `dir`. Their
 * names begin with the prefix, `name` and a slash. */
static uint32_t find_end_of_dir(const struct archive_dir *dir, const char *name)
{
    char text[2 * FBY_PATH_SIZE];
    /* '0' is the character after the slash. */
    snprintf(text, sizeof(text), "%s%s0", dir->prefix, name);
    return fby_zip_entries_find(&dir->archive->entries, text);
}

/* The stamp of the folder whose first entry is `first`. All folders have
 * different inodes, since they cannot be links to each other. */
static struct fby_stamp stamp_of_dir(
    const struct archive_dir *dir, uint32_t first, size_t name_size)
{
    struct fby_stamp stamp = dir->archive->stamp;
    stamp.inode =
        (uint64_t)first * FBY_PATH_SIZE + dir->prefix_size + name_size;
    stamp.size = 0;
    return stamp;
}

static struct fby_stamp stamp_of_entry(
    const struct fby_archive *self, uint32_t number)
{
    struct fby_stamp stamp = self->stamp;
    stamp.size             = self->entries.list[number].size;
    return stamp;
}

/* Refuse a folder with the name of a file. */
static fby_err check_dir_name(const struct archive_dir *dir, const char *name,
    struct fby_error_detail *why)
{
    const struct fby_zip_entries *entries = &dir->archive->entries;
    char                          text[2 * FBY_PATH_SIZE];
    snprintf(text, sizeof(text), "%s%s", dir->prefix, name);
    uint32_t file = fby_zip_entries_find(entries, text);
    return file == entries->count ||
                   strcmp(fby_zip_entry_name(entries, file), text) != 0
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%s:%s has a file and a folder named %s; pack it again "
                     "without one of them",
                     fby_root_name(dir->archive->root), dir->archive->path,
                     fby_text_show(text).text);
}

/* Visit the file or folder that entry *number is or lies in. Sets *number to the
 * next entry after it. */
static fby_err add_next(
    struct archive_dir *dir, uint32_t *number, struct fby_error_detail *why)
{
    uint32_t    first = *number;
    const char *rest =
        fby_zip_entry_name(&dir->archive->entries, first) + dir->prefix_size;
    size_t n = strcspn(rest, "/");
    char   name[FBY_PATH_SIZE]; /* the entry has at most so many bytes */
    memcpy(name, rest, n);
    name[n]     = '\0';
    bool is_dir = rest[n] == '/';
    *number     = is_dir ? find_end_of_dir(dir, name) : first + 1;
    if (n == 0 || !fby_listing_wants(dir->request, name)) {
        return FBY_OK;
    }
    if (is_dir) {
        FBY_TRY(check_dir_name(dir, name, why));
    }
    const struct fby_entry entry = {.name = name,
        .is_dir                           = is_dir,
        .stamp                            = is_dir ? stamp_of_dir(dir, first, n)
                                                   : stamp_of_entry(dir->archive, first)};
    return dir->request->visit(dir->request->arg, &entry, why);
}

/* Set the prefix of the names in the folder `within`, and *first to the number
 * of their first. Errors: FBY_NOT_FOUND. */
static fby_err begin_dir(struct archive_dir *dir, const char *path,
    const char *within, uint32_t *first, struct fby_error_detail *why)
{
    const struct fby_zip_entries *entries = &dir->archive->entries;

    int n = snprintf(dir->prefix, sizeof(dir->prefix), "%s%s", within,
        within[0] != '\0' ? "/" : "");
    if (n < 0 || (size_t)n >= sizeof(dir->prefix)) {
        return error_from_path(dir->archive, path, "not there", why);
    }
    dir->prefix_size = (size_t)n;
    *first           = fby_zip_entries_find(entries, dir->prefix);
    if (*first < entries->count && strncmp(fby_zip_entry_name(entries, *first),
                                       dir->prefix, dir->prefix_size) == 0) {
        return FBY_OK;
    }
    uint32_t file    = fby_zip_entries_find(entries, within);
    bool     is_file = file < entries->count &&
                   strcmp(fby_zip_entry_name(entries, file), within) == 0;
    return error_from_path(
        dir->archive, path, is_file ? "not a directory" : "not there", why);
}

static fby_err list_dir(const struct fby_listing_request *request,
    /* NOLINTNEXTLINE(readability-non-const-parameter): as fby_object_ops.list */
    uint32_t *n_dangling, struct fby_error_detail *why)
{
    const struct fby_archive *self   = fby_root_state(request->root);
    const char               *within = path_within(self, request->path);
    struct archive_dir        dir    = {.archive = self, .request = request};
    uint32_t                  i      = 0;
    (void)n_dangling; /* an archive has no links */
    if (within == NULL) {
        return error_from_path(self, request->path, "not there", why);
    }
    FBY_TRY(begin_dir(&dir, request->path, within, &i, why));
    while (i < self->entries.count &&
           strncmp(fby_zip_entry_name(&self->entries, i), dir.prefix,
               dir.prefix_size) == 0) {
        FBY_TRY(add_next(&dir, &i, why));
    }
    return FBY_OK;
}

/* ---- files ---- */

static fby_err open_entry(const struct fby_root *root, const char *path,
    struct fby_object *out, struct fby_error_detail *why)
{
    struct fby_archive           *self    = fby_root_state(root);
    const struct fby_zip_entries *entries = &self->entries;
    const char                   *within  = path_within(self, path);
    uint32_t                      i =
        within != NULL ? fby_zip_entries_find(entries, within) : entries->count;
    if (i == entries->count ||
        strcmp(fby_zip_entry_name(entries, i), within) != 0) {
        return error_from_path(self, path, "not there", why);
    }
    *out = (struct fby_object){
        .ops = fby_root_object_ops(root), .state = self, .entry = i};
    return FBY_OK;
}

static fby_err stamp_entry(const struct fby_object *object,
    struct fby_stamp *out, struct fby_error_detail *why)
{
    const struct fby_archive *self  = object->state;
    struct fby_stamp          stamp = {0};
    FBY_TRY(fby_object_stamp(&self->file, &stamp, why));
    stamp.size = self->entries.list[object->entry].size;
    *out       = stamp;
    return FBY_OK;
}

static struct fby_zip_content content_of(const struct fby_object *object)
{
    struct fby_archive *self = object->state;
    uint32_t            i    = object->entry;
    return (struct fby_zip_content){
        .file       = &self->file,
        .file_size  = self->stamp.size,
        .entry      = &self->entries.list[i],
        .name_bytes = strlen(fby_zip_entry_name(&self->entries, i)),
        .pool       = &self->scratch,
    };
}

static fby_err read_entry(const struct fby_object *object, uint64_t offset,
    void *buffer, size_t *size, struct fby_error_detail *why)
{
    struct fby_zip_content content = content_of(object);
    return fby_zip_content_read(&content, offset, buffer, size, why);
}

static fby_err visit_entry(const struct fby_object *object,
    fby_object_visit_fn *visit, void *arg, struct fby_error_detail *why)
{
    struct fby_zip_content content = content_of(object);
    return fby_zip_content_visit(&content, visit, arg, why);
}

static void close_entry(struct fby_object *object)
{
    (void)object; /* the archive stays open */
}

static const struct fby_object_ops archive_ops = {
    .open  = open_entry,
    .list  = list_dir,
    .stamp = stamp_entry,
    .read  = read_entry,
    .visit = visit_entry,
    .close = close_entry,
};

/* ---- the archive ---- */

/* Open the first plain file in `path` whose name ends in .zip. Without one *out
 * stays closed. `found` gets its path. */
static fby_err find_archive(const struct fby_root *root, const char *path,
    char found[FBY_PATH_SIZE], struct fby_object *out,
    struct fby_error_detail *why)
{
    *out       = (struct fby_object){0};
    size_t end = fby_location_zip_length(path, 0);
    while (end > 0 && end < FBY_PATH_SIZE) {
        struct fby_error_detail ignored;
        memcpy(found, path, end);
        found[end]  = '\0';
        fby_err err = fby_object_open(root, found, out, &ignored);
        if (err == FBY_OK) {
            return FBY_OK;
        }
        if (err != FBY_NOT_FOUND) { /* NOT_FOUND: a folder, or not there */
            return fby_error_set(why, err, "%s", ignored.text);
        }
        end = fby_location_zip_length(path, end);
    }
    return FBY_OK;
}

static fby_err read_archive(struct fby_archive *self, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    const char *slash = strrchr(self->path, '/');
    FBY_TRY(fby_object_stamp(&self->file, &self->stamp, why));
    FBY_TRY(fby_zip_entries_read(&self->file, self->stamp.size,
        slash != NULL ? slash + 1 : self->path, stop, &self->entries, why));
    return fby_stamp_check(&self->file, &self->stamp, why);
}

fby_err fby_archive_open(const struct fby_root *root, const char *path,
    const atomic_bool *stop, struct fby_archive **out,
    struct fby_error_detail *why)
{
    char              found[FBY_PATH_SIZE];
    struct fby_object file;
    *out = NULL;
    FBY_TRY(find_archive(root, path, found, &file, why));
    if (!fby_object_is_open(&file)) {
        return FBY_OK;
    }
    struct fby_archive *self = fby_zalloc(sizeof(*self));
    self->path               = fby_strdup(found);
    self->file               = file;
    fby_zip_scratch_pool_init(&self->scratch);
    self->root  = fby_root_create_with_ops(root, &archive_ops, self);
    fby_err err = fby_error_prefix(why, read_archive(self, stop, why), "%s:%s",
        fby_root_name(root), self->path);
    if (err != FBY_OK) {
        fby_archive_destroy(&self);
        return err;
    }
    if (self->entries.n_links > 0) {
        fby_warn("LINKS-SKIPPED",
            "%s in %s:%s skipped: links in an archive are not followed; pack "
            "their files: zip without -y",
            fby_plural(self->entries.n_links, "link").text, fby_root_name(root),
            self->path);
    }
    *out = self;
    return FBY_OK;
}

void fby_archive_destroy(struct fby_archive **self_p)
{
    struct fby_archive *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_zip_scratch_pool_fini(&self->scratch);
    fby_zip_entries_fini(&self->entries);
    fby_object_close(&self->file);
    fby_root_destroy(&self->root);
    free(self->path);
    free(self);
}

const struct fby_root *fby_archive_root(const struct fby_archive *self)
{
    return self->root;
}

const char *fby_archive_path(const struct fby_archive *self)
{
    return self->path;
}
