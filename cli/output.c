/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/utf8.h"

struct fby_shown_path fby_show_path(const char *path)
{
    struct fby_shown_path shown;
    snprintf(shown.text, sizeof(shown.text), "%s", path);
    fby_make_one_line(shown.text);
    return shown;
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

static fby_err check_path(struct fby_output *self, struct fby_error_detail *why)
{
    struct stat st;
    bool        fits   = resolve_path(self);
    bool        exists = lstat(self->real_path, &st) == 0;
    self->in_place     = exists && !S_ISREG(st.st_mode);
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
    return fby_error_set(why, FBY_IO, "%s: %s", self->path, strerror(error));
}

fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_error_detail *why)
{
    *self       = (struct fby_output){.path = path};
    fby_err err = check_path(self, why);
    if (err != FBY_OK) {
        return err;
    }
    err =
        self->in_place
            ? fby_atomic_file_open_in_place(&self->whole, self->real_path, why)
            : fby_atomic_file_open(&self->whole, self->real_path, 0666, why);
    self->file = self->whole.file;
    return fby_error_prefix(why, err, "%s", path);
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
    fby_atomic_file_write(&self->whole, bytes, size);
}

fby_err fby_output_finish(struct fby_output *self, struct fby_error_detail *why)
{
    return fby_error_prefix(
        why, fby_atomic_file_finish(&self->whole, why), "%s", self->path);
}

void fby_output_close(struct fby_output *self)
{
    fby_atomic_file_close(&self->whole);
}
