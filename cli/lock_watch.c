/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lock_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Set *out if another process has a lock on some part of the file. A write lock
 * would conflict with any lock; F_GETLK does not set it. */
static int find_lock(int fd, bool *out)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &lock) != 0) {
        return errno;
    }
    *out = lock.l_type != F_UNLCK;
    return 0;
}

/* Keep new users out: lock the file for writing, and write into it for those
 * that open it after this process has ended. Returns false if a user has locked
 * the file in the meantime. A file that is not empty has another purpose, so it
 * stays as it is. One that this process cannot write keeps no user out. */
static bool keep_users_out(int fd)
{
    static const char text[] = "ended\n";
    struct flock      lock   = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) != 0) {
        return errno != EAGAIN && errno != EACCES;
    }
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size == 0) {
        ssize_t written = write(fd, text, sizeof(text) - 1);
        (void)written; /* on a full disk only the lock keeps users out */
    }
    return true;
}

/* Open the file. It does not become the controlling terminal, and a named pipe
 * does not wait for its writer. */
static int open_for(int access, const char *path)
{
    return open(path, access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

fby_err fby_lock_watch_open(
    struct fby_lock_watch *self, const char *path, struct fby_error_detail *why)
{
    bool unused = false;
    int  fd     = open_for(O_RDWR, path);
    if (fd < 0) {
        fd = open_for(O_RDONLY, path);
    }
    int error = fd < 0 ? errno : find_lock(fd, &unused);
    *self     = (struct fby_lock_watch){.fd = fd};
    if (error == 0) {
        return FBY_OK;
    }
    fby_lock_watch_close(self);
    return fby_error_set(why, FBY_IO,
        "%s: cannot watch the locks of the "
        "file: %s",
        path, strerror(error));
}

bool fby_lock_watch_update(
    struct fby_lock_watch *self, bool is_locked, int64_t now_ns)
{
    if (self->start_ns == 0) {
        self->start_ns = now_ns;
    }
    self->was_locked = self->was_locked || is_locked;
    return !is_locked && (self->was_locked || now_ns - self->start_ns >=
                                                  FBY_LOCK_WATCH_GRACE_NS);
}

bool fby_lock_watch_has_ended(struct fby_lock_watch *self, int64_t now_ns)
{
    bool is_locked = false;
    if (self->fd < 0) {
        return false;
    }
    if (find_lock(self->fd, &is_locked) != 0) {
        is_locked = true; /* unknown: keep serving */
    }
    return fby_lock_watch_update(self, is_locked, now_ns) &&
           keep_users_out(self->fd);
}

void fby_lock_watch_close(struct fby_lock_watch *self)
{
    if (self->fd >= 0) {
        close(self->fd);
        self->fd = -1;
    }
}
