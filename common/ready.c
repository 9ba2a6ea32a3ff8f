/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ready.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/atomic_file.h"
#include "common/log.h"

enum { LINE_SIZE = 512, MODE = 0644 };

static fby_err refuse(
    const char *path, const char *cause, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "--ready-file %.100s: %s: give the path of a file in a directory that "
        "this process can write",
        path, cause);
}

/* A device or a pipe is refused: renaming would replace it by a file. */
fby_err fby_ready_prepare(const char *path, struct fby_error_detail *why)
{
    struct stat about;
    if (path == NULL || (lstat(path, &about) != 0 && errno == ENOENT)) {
        return FBY_OK;
    }
    if (lstat(path, &about) != 0) {
        return refuse(path, strerror(errno), why);
    }
    if (!S_ISREG(about.st_mode)) {
        return refuse(path, "this is no regular file", why);
    }
    return unlink(path) == 0 ? FBY_OK : refuse(path, strerror(errno), why);
}

static void write_to_descriptor(int fd, const char *line, size_t length)
{
    if (write(fd, line, length) != (ssize_t)length) {
        fby_warn("READY", "cannot write the endpoint to --ready-fd");
    }
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}

static fby_err write_to_file(const char *path, const char *line, size_t length,
    struct fby_error_detail *why)
{
    struct fby_atomic_file  file;
    struct fby_error_detail cause = {""};
    fby_err err = fby_atomic_file_open(&file, path, MODE, &cause);
    if (err == FBY_OK) {
        fby_atomic_file_write(&file, line, length);
        err = fby_atomic_file_finish(&file, &cause);
    }
    return err == FBY_OK ? FBY_OK : refuse(path, cause.text, why);
}

fby_err fby_ready_announce(int fd, const char *path, const char *endpoint,
    struct fby_error_detail *why)
{
    char   line[LINE_SIZE];
    int    n      = snprintf(line, sizeof(line), "%.510s\n", endpoint);
    size_t length = (size_t)n;
    /* First the file: who reads the descriptor may look for it. */
    fby_err err =
        path != NULL ? write_to_file(path, line, length, why) : FBY_OK;
    if (fd >= 0 && err == FBY_OK) {
        write_to_descriptor(fd, line, length);
    }
    return err;
}

void fby_ready_withdraw(const char *path)
{
    if (path != NULL) {
        (void)unlink(path);
    }
}
