/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/object_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fault.h"
#include "worker/source/roots.h"

/* ---- directories ---- */

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

static fby_err list_dir(const struct fby_listing_request *request,
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

/* ---- files ---- */

static fby_err open_file(const struct fby_root *root, const char *path,
    struct fby_object *out, struct fby_error_detail *why)
{
    int fd = -1;
    FBY_TRY(fby_root_open(root, path, FBY_WANT_FILE, &fd, why));
    *out = (struct fby_object){.ops = &fby_local_file_ops, .fd = fd};
    return FBY_OK;
}

static fby_err stamp_file(const struct fby_object *self, struct fby_stamp *out,
    struct fby_error_detail *why)
{
    struct stat st;
    if (fstat(self->fd, &st) != 0) {
        return fby_error_set(why, FBY_IO, "cannot stat: %s", strerror(errno));
    }
    if (st.st_nlink == 0) { /* no path leads to the open file */
        return fby_error_set(
            why, FBY_STALE, "was replaced or removed since it was opened");
    }
    *out = fby_stamp_of(&st);
    return FBY_OK;
}

static fby_err read_file(const struct fby_object *self, uint64_t offset,
    void *buffer, size_t *size, struct fby_error_detail *why)
{
    ssize_t n = -1;
    do {
        n = pread(self->fd, buffer, *size, (off_t)offset);
    } while (n < 0 && errno == EINTR);
    if (fby_fault_takes_effect("worker.read_error", "read")) {
        n     = -1;
        errno = (int)fby_fault_param("worker.read_error", "errno", EIO);
    }
    if (n < 0) {
        return fby_error_set(why, FBY_IO, "%s", strerror(errno));
    }
    *size = (size_t)n;
    return FBY_OK;
}

static void close_file(struct fby_object *self)
{
    close(self->fd);
}

int fby_object_local_fd(const struct fby_object *self)
{
    return self->ops == &fby_local_file_ops ? self->fd : -1;
}

const struct fby_object_ops fby_local_file_ops = {
    .open  = open_file,
    .list  = list_dir,
    .stamp = stamp_file,
    .read  = read_file,
    .close = close_file,
};
