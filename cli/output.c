/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static fby_err choose_part_path(
    struct fby_output *self, struct fby_error_detail *why)
{
    struct stat st;
    self->in_place = lstat(self->path, &st) == 0 && !S_ISREG(st.st_mode);
    int  n         = snprintf(self->part_path, sizeof(self->part_path), "%s%s",
                 self->path, self->in_place ? "" : ".part");
    bool fits      = n >= 0 && (size_t)n < sizeof(self->part_path);
    if (fits && !is_dir(self->path)) {
        return FBY_OK;
    }
    errno = fits ? EISDIR : ENAMETOOLONG;
    return set_io_error(self, why);
}

fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_error_detail *why)
{
    *self       = (struct fby_output){.path = path};
    fby_err err = choose_part_path(self, why);
    if (err != FBY_OK) {
        return err;
    }
    self->file = fopen(self->part_path, "wb");
    return self->file != NULL ? FBY_OK : set_io_error(self, why);
}

fby_err fby_output_check(const char *path, struct fby_error_detail *why)
{
    struct fby_output self = {.path = path};
    fby_err           err  = choose_part_path(&self, why);
    if (err == FBY_OK && !self.in_place) {
        err = fby_output_open(&self, path, why);
        fby_output_close(&self); /* removes the file again */
    } else if (err == FBY_OK && access(path, W_OK) != 0) {
        err = set_io_error(&self, why);
    }
    return err;
}

fby_err fby_output_finish(struct fby_output *self, struct fby_error_detail *why)
{
    errno       = 0; /* stays 0 if only ferror() reports a failure */
    bool failed = ferror(self->file) != 0;
    failed      = fclose(self->file) != 0 || failed;
    self->file  = NULL;
    fby_err err = FBY_OK;
    if (failed ||
        (!self->in_place && rename(self->part_path, self->path) != 0)) {
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
