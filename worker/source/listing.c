/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/array.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/location.h"

fby_err fby_path_join(const char *dir, const char *name,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why)
{
    int n = snprintf(out, FBY_PATH_SIZE, "%s%s%s", dir,
        dir[0] != '\0' && name[0] != '\0' ? "/" : "", name);
    if (n >= 0 && n < FBY_PATH_SIZE) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "a path of more than %d bytes, below %.100s", FBY_PATH_SIZE - 1, dir);
}

static fby_err stat_target(const struct fby_root *root, const char *path,
    struct stat *st, struct fby_error_detail *why)
{
    int fd = -1;
    FBY_TRY(fby_root_open(root, path, FBY_WANT_EITHER, &fd, why));
    fby_err err = FBY_OK;
    if (fstat(fd, st) != 0) {
        err = fby_error_set(
            why, FBY_IO, "cannot stat %s: %s", path, strerror(errno));
    }
    close(fd);
    return err;
}

/* Call lstat() for the entry at `path` in the open directory `dir_fd`. */
static fby_err stat_entry(const struct fby_root *root, int dir_fd,
    const char *path, struct stat *st, struct fby_error_detail *why)
{
    const char *slash = strrchr(path, '/');
    const char *name  = slash != NULL ? slash + 1 : path;
    if (fstatat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW) != 0) {
        fby_err err = errno == ENOENT   ? FBY_NOT_FOUND
                      : errno == EACCES ? FBY_CONFIG
                                        : FBY_IO;
        return fby_error_set(why, err, "cannot stat %s:%s: %s",
            fby_root_name(root), path, strerror(errno));
    }
    return FBY_OK;
}

/* Does the link `name` in `dir_fd` lead nowhere, or to itself? */
static bool is_dangling(int dir_fd, const char *name)
{
    struct stat st;
    return fstatat(dir_fd, name, &st, 0) != 0 &&
           (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
}

struct dir_reader {
    const struct fby_listing_request *request;
    DIR                              *dir;
    uint32_t                          n_dangling; /* skipped links */
};

/* Call stat() for the target of a link. For a dangling link *st still has the
 * type of a link. */
static fby_err follow_link(struct dir_reader *r, const char *path,
    const char *name, struct stat *st, struct fby_error_detail *why)
{
    if (is_dangling(dirfd(r->dir), name)) {
        r->n_dangling++;
        return FBY_OK;
    }
    return stat_target(r->request->root, path, st, why);
}

/* Call stat() for an entry, or only set its type if that suffices. */
static fby_err stat_dirent(struct dir_reader *r, const struct dirent *dirent,
    struct stat *st, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    if (dirent->d_type == DT_REG && !r->request->with_stamps) {
        st->st_mode = S_IFREG;
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(r->request->path, dirent->d_name, path, why));
    FBY_TRY(stat_entry(r->request->root, dirfd(r->dir), path, st, why));
    return S_ISLNK(st->st_mode) ? follow_link(r, path, dirent->d_name, st, why)
                                : FBY_OK;
}

static fby_err visit_dirent(
    struct dir_reader *r, struct dirent *dirent, struct fby_error_detail *why)
{
    struct stat st = {.st_mode = 0};
    FBY_TRY(stat_dirent(r, dirent, &st, why));
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        return FBY_OK;
    }
    const struct fby_entry entry = {.name = dirent->d_name,
        .is_dir                           = S_ISDIR(st.st_mode),
        .stamp                            = fby_stamp_of(&st)};
    return r->request->visit(r->request->arg, &entry, why);
}

/* Is it an entry that is never data: hidden, or made by a desktop system? */
static bool is_skipped(const char *name)
{
    static const char *const made_by_systems[] = {
        "Thumbs.db", "ehthumbs.db", "desktop.ini", "__MACOSX"};
    size_t n = sizeof(made_by_systems) / sizeof(made_by_systems[0]);
    size_t i = 0;
    while (i < n && strcasecmp(name, made_by_systems[i]) != 0) {
        i++;
    }
    return name[0] == '.' || i < n;
}

bool fby_listing_wants(
    const struct fby_listing_request *request, const char *name)
{
    return !is_skipped(name) &&
           (request->glob == NULL || fby_glob_match(request->glob, name));
}

static fby_err read_entries(struct dir_reader *r, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK) {
        errno = 0; /* at the end of the directory, readdir() leaves it at 0 */
        struct dirent *dirent = readdir(r->dir);
        if (dirent == NULL) {
            break;
        }
        if (fby_listing_wants(r->request, dirent->d_name)) {
            err = visit_dirent(r, dirent, why);
        }
    }
    if (err == FBY_OK && errno != 0) {
        err = fby_error_set(why, FBY_IO, "cannot list %s:%s: %s",
            fby_root_name(r->request->root), r->request->path, strerror(errno));
    }
    return err;
}

fby_err fby_listing_visit_local(const struct fby_listing_request *request,
    uint32_t *n_dangling, struct fby_error_detail *why)
{
    struct dir_reader r  = {.request = request};
    int               fd = -1;
    FBY_TRY(
        fby_root_open(request->root, request->path, FBY_WANT_DIR, &fd, why));
    r.dir = fdopendir(fd);
    if (r.dir == NULL) {
        close(fd);
        return fby_error_set(why, FBY_IO, "cannot list %s:%s: %s",
            fby_root_name(request->root), request->path, strerror(errno));
    }
    fby_err err = read_entries(&r, why);
    closedir(r.dir);
    *n_dangling = r.n_dangling;
    return err;
}

fby_err fby_listing_visit(const struct fby_root *root, const char *path,
    const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why)
{
    const struct fby_listing_request request = {
        .root = root, .path = path, .glob = glob, .visit = visit, .arg = arg};
    *n_dangling = 0;
    return fby_root_object_ops(root)->list(&request, n_dangling, why);
}

static int compare_names(const void *a, const void *b)
{
    const struct fby_entry *x = a;
    const struct fby_entry *y = b;
    return strcmp(x->name, y->name);
}

fby_err fby_listing_add(
    void *listing, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct fby_listing *self = listing;
    uint32_t            n    = self->count;
    if (n == INT32_MAX) { /* fby_array_grow() counts in 32 bits */
        return fby_error_set(
            why, FBY_CONFIG, "too many entries in a directory");
    }
    self->entries    = fby_array_grow(self->entries, n, sizeof(*self->entries));
    self->entries[n] = *entry;
    self->entries[n].name = fby_strdup(entry->name);
    self->count           = n + 1;
    return FBY_OK;
}

/* Those of an archive mostly are. */
static bool is_sorted(const struct fby_listing *self)
{
    uint32_t i = 1;
    while (i < self->count &&
           compare_names(&self->entries[i - 1], &self->entries[i]) <= 0) {
        i++;
    }
    return i >= self->count;
}

void fby_listing_sort(struct fby_listing *self)
{
    if (!is_sorted(self)) {
        qsort(
            self->entries, self->count, sizeof(*self->entries), compare_names);
    }
}

fby_err fby_listing_read(const struct fby_root *root, const char *path,
    const char *glob, struct fby_listing *out, struct fby_error_detail *why)
{
    const struct fby_listing_request request = {.root = root,
        .path                                         = path,
        .glob                                         = glob,
        .with_stamps                                  = true,
        .visit                                        = fby_listing_add,
        .arg                                          = out};
    *out                                     = (struct fby_listing){0};
    fby_err err =
        fby_root_object_ops(root)->list(&request, &out->n_dangling, why);
    fby_listing_sort(out);
    return err;
}

void fby_listing_log_dangling(
    const struct fby_root *root, const char *path, uint64_t n)
{
    if (n > 0) {
        fby_warn("LINKS-DANGLING",
            "skipped %s in %s:%s: the target does not exist",
            fby_plural(n, "link").text, fby_root_name(root), path);
    }
}

bool fby_listing_has_dirs(const struct fby_listing *self)
{
    uint32_t i = 0;
    while (i < self->count && !self->entries[i].is_dir) {
        i++;
    }
    return i < self->count;
}

void fby_listing_fini(struct fby_listing *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        free(self->entries[i].name);
    }
    free(self->entries);
    *self = (struct fby_listing){0};
}
