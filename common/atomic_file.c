/* SPDX-License-Identifier: Apache-2.0 */
#include "common/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define ENDING ".part"
enum {
    MAX_TRIES = 64, /* to find a name that no file has */
    N_DIGITS  = 8
};

/* Set part_path. Returns false if it is too long. */
static bool choose_part_path(struct fby_atomic_file *self)
{
    uint32_t number = 0; /* if there is no random one: the caller tries again */
    (void)!getrandom(&number, sizeof(number), 0);
    int n = snprintf(self->part_path, sizeof(self->part_path), "%s.%0*x" ENDING,
        self->path, N_DIGITS, (unsigned)number);
    return n >= 0 && (size_t)n < sizeof(self->part_path);
}

/* Create the new file: never one that is there, or to which a link leads.
 * mkstemp() would not give it the mode. Returns -1 and sets errno on failure. */
static int create_part(struct fby_atomic_file *self, mode_t mode)
{
    int fd = -1;
    errno  = EEXIST;
    for (int i = 0; i < MAX_TRIES && fd < 0 && errno == EEXIST; i++) {
        if (!choose_part_path(self)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(
            self->part_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    return fd;
}

static fby_err set_cause(struct fby_error_detail *why, int error)
{
    return fby_error_set(why, FBY_IO, "%s",
        error != 0 ? strerror(error) : "an earlier write failed");
}

fby_err fby_atomic_file_open(struct fby_atomic_file *self, const char *path,
    mode_t mode, struct fby_error_detail *why)
{
    *self  = (struct fby_atomic_file){.path = path};
    int fd = create_part(self, mode);
    if (fd < 0) {
        return set_cause(why, errno);
    }
    self->file = fdopen(fd, "wb");
    if (self->file == NULL) {
        int error = errno;
        (void)close(fd);
        (void)unlink(self->part_path);
        return set_cause(why, error);
    }
    return FBY_OK;
}

fby_err fby_atomic_file_open_in_place(struct fby_atomic_file *self,
    const char *path, struct fby_error_detail *why)
{
    *self = (struct fby_atomic_file){.path = path, .file = fopen(path, "wb")};
    return self->file != NULL ? FBY_OK : set_cause(why, errno);
}

void fby_atomic_file_write(
    struct fby_atomic_file *self, const void *bytes, size_t size)
{
    errno = 0;
    if (fwrite(bytes, 1, size, self->file) != size && self->error == 0) {
        self->error = errno;
    }
}

static void remove_part(const struct fby_atomic_file *self)
{
    if (self->part_path[0] != '\0') {
        (void)unlink(self->part_path);
    }
}

fby_err fby_atomic_file_finish(
    struct fby_atomic_file *self, struct fby_error_detail *why)
{
    bool is_in_place = self->part_path[0] == '\0';
    errno            = 0; /* stays 0 if only ferror() reports a failure */
    bool failed      = ferror(self->file) != 0;
    failed           = fclose(self->file) != 0 || failed;
    int error        = self->error != 0 ? self->error : errno;
    self->file       = NULL;
    if (!failed && !is_in_place && rename(self->part_path, self->path) != 0) {
        failed = true;
        error  = errno;
    }
    if (failed) {
        remove_part(self);
        return set_cause(why, error);
    }
    return FBY_OK;
}

void fby_atomic_file_close(struct fby_atomic_file *self)
{
    if (self->file != NULL) {
        (void)fclose(self->file);
        self->file = NULL;
        remove_part(self);
    }
}

bool fby_atomic_file_is_part_suffix(const char *suffix)
{
    return suffix[0] == '.' &&
           strspn(suffix + 1, "0123456789abcdef") == N_DIGITS &&
           strcmp(suffix + 1 + N_DIGITS, ENDING) == 0;
}
