/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/mem.h"
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

/* Call stat() for the entry at `path` in the open directory `dir_fd`. A link is
 * followed to its target. */
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
    return S_ISLNK(st->st_mode) ? stat_target(root, path, st, why) : FBY_OK;
}

static void append_entry(
    struct fby_listing *out, const char *name, const struct stat *st)
{
    uint32_t n      = out->count;
    out->entries    = fby_array_grow(out->entries, n, sizeof(*out->entries));
    out->entries[n] = (struct fby_entry){
        .name   = fby_strdup(name),
        .is_dir = S_ISDIR(st->st_mode),
        .stamp  = fby_stamp_of(st),
    };
    out->count = n + 1;
}

struct dir_reader {
    const struct fby_root *root;
    const char            *path; /* of the directory, beneath the root */
    const char            *glob; /* NULL: all names match */
    DIR                   *dir;
};

static fby_err add_entry(const struct dir_reader *r, const char *name,
    struct fby_listing *out, struct fby_error_detail *why)
{
    char        path[FBY_PATH_SIZE];
    struct stat st;
    FBY_TRY(fby_path_join(r->path, name, path, why));
    FBY_TRY(stat_entry(r->root, dirfd(r->dir), path, &st, why));
    if (out->count == INT32_MAX) { /* fby_array_grow() counts in 32 bits */
        return fby_error_set(
            why, FBY_CONFIG, "too many entries in %s", r->path);
    }
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
        append_entry(out, name, &st);
    }
    return FBY_OK;
}

static fby_err read_entries(const struct dir_reader *r, struct fby_listing *out,
    struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK) {
        errno = 0; /* at the end of the directory, readdir() leaves it at 0 */
        const struct dirent *dirent = readdir(r->dir);
        if (dirent == NULL) {
            break;
        }
        const char *name = dirent->d_name;
        if (name[0] != '.' &&
            (r->glob == NULL || fby_glob_match(r->glob, name))) {
            err = add_entry(r, name, out, why);
        }
    }
    if (err == FBY_OK && errno != 0) {
        err = fby_error_set(why, FBY_IO, "cannot list %s:%s: %s",
            fby_root_name(r->root), r->path, strerror(errno));
    }
    return err;
}

static int compare_names(const void *a, const void *b)
{
    const struct fby_entry *x = a;
    const struct fby_entry *y = b;
    return strcmp(x->name, y->name);
}

fby_err fby_listing_read(const struct fby_root *root, const char *path,
    const char *glob, struct fby_listing *out, struct fby_error_detail *why)
{
    *out   = (struct fby_listing){0};
    int fd = -1;
    FBY_TRY(fby_root_open(root, path, FBY_WANT_DIR, &fd, why));
    struct dir_reader r = {
        .root = root, .path = path, .glob = glob, .dir = fdopendir(fd)};
    if (r.dir == NULL) {
        close(fd);
        return fby_error_set(why, FBY_IO, "cannot list %s:%s: %s",
            fby_root_name(root), path, strerror(errno));
    }
    fby_err err = read_entries(&r, out, why);
    closedir(r.dir);
    if (out->count > 0) {
        qsort(out->entries, out->count, sizeof(*out->entries), compare_names);
    }
    return err;
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
