/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TRIES = 64 }; /* to find a name that no file has */

static fby_err set_io_error(
    const struct fby_output *self, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_IO, "%s: %s", self->path,
        errno != 0 ? strerror(errno) : "an earlier write failed");
}

static bool is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Set real_path: that of the file to which a link leads, else `path`. Returns
 * false if it is too long. */
static bool resolve_path(struct fby_output *self)
{
    struct stat st;
    char       *real = NULL;
    if (lstat(self->path, &st) == 0 && S_ISLNK(st.st_mode)) {
        real = realpath(self->path, NULL); /* NULL: it leads to no file */
    }
    int n = snprintf(self->real_path, sizeof(self->real_path), "%s",
        real != NULL ? real : self->path);
    free(real);
    return n >= 0 && (size_t)n < sizeof(self->real_path);
}

/* Set part_path. Returns false if it is too long. */
static bool choose_part_path(struct fby_output *self)
{
    char     suffix[16] = "";
    uint32_t number     = 0;
    if (!self->in_place && getrandom(&number, sizeof(number), 0) > 0) {
        snprintf(suffix, sizeof(suffix), ".%08x.part", (unsigned)number);
    }
    int n = snprintf(self->part_path, sizeof(self->part_path), "%s%s",
        self->real_path, suffix);
    return n >= 0 && (size_t)n < sizeof(self->part_path);
}

static fby_err check_path(struct fby_output *self, struct fby_error_detail *why)
{
    struct stat st;
    bool        fits   = resolve_path(self);
    bool        exists = lstat(self->real_path, &st) == 0;
    self->in_place     = exists && !S_ISREG(st.st_mode);
    fits               = fits && choose_part_path(self);
    if (self->path[0] == '\0') {
        return fby_error_set(why, FBY_USAGE, "'' is not the name of a file");
    }
    int error = !fits ? ENAMETOOLONG : is_dir(self->path) ? EISDIR : 0;
    /* Refuse a read-only FILE: the rename would replace it. */
    if (error == 0 && exists && access(self->path, W_OK) != 0 &&
        errno != ENOENT) { /* a link may lead to a file that is made now */
        error = errno;
    }
    if (error == 0) {
        return FBY_OK;
    }
    errno = error;
    return set_io_error(self, why);
}

/* Create the new file: never one that is there, or to which a link leads.
 * Its mode is that of fopen(), which mkstemp() would not give it. Returns NULL
 * and sets errno on failure. */
static FILE *create_part(struct fby_output *self)
{
    int fd = -1;
    for (int i = 0; i < MAX_TRIES && fd < 0; i++) {
        if (!choose_part_path(self)) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        fd = open(
            self->part_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) {
            return NULL;
        }
    }
    return fd < 0 ? NULL : fdopen(fd, "wb");
}

fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_error_detail *why)
{
    *self       = (struct fby_output){.path = path};
    fby_err err = check_path(self, why);
    if (err != FBY_OK) {
        return err;
    }
    self->file =
        self->in_place ? fopen(self->real_path, "wb") : create_part(self);
    return self->file != NULL ? FBY_OK : set_io_error(self, why);
}

fby_err fby_output_check(const char *path, struct fby_error_detail *why)
{
    struct fby_output self = {.path = path};
    fby_err           err  = check_path(&self, why);
    if (err == FBY_OK && !self.in_place) {
        err = fby_output_open(&self, path, why);
        fby_output_close(&self); /* removes the file again */
    }
    return err;
}

void fby_output_write(struct fby_output *self, const void *bytes, size_t size)
{
    errno = 0;
    if (fwrite(bytes, 1, size, self->file) != size && self->error == 0) {
        self->error = errno;
    }
}

fby_err fby_output_finish(struct fby_output *self, struct fby_error_detail *why)
{
    errno       = 0; /* stays 0 if only ferror() reports a failure */
    bool failed = ferror(self->file) != 0;
    failed      = fclose(self->file) != 0 || failed;
    errno       = self->error != 0 ? self->error : errno;
    self->file  = NULL;
    fby_err err = FBY_OK;
    if (failed ||
        (!self->in_place && rename(self->part_path, self->real_path) != 0)) {
        err = set_io_error(self, why);
    }
    if (err != FBY_OK && !self->in_place) {
        unlink(self->part_path);
    }
    return err;
}

void fby_output_close(struct fby_output *self)
{
    if (self->file != NULL) {
        fclose(self->file);
        self->file = NULL;
        if (!self->in_place) {
            unlink(self->part_path);
        }
    }
}
