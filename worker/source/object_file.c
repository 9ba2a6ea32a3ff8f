/* SPDX-License-Identifier: Apache-2.0 */
/* object_file.c - the implementation of objects (object.h) for local files. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fault.h"
#include "worker/source/object.h"
#include "worker/source/roots.h"

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
    .list  = fby_listing_visit_local,
    .stamp = stamp_file,
    .read  = read_file,
    .close = close_file,
};
