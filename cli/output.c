#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static fby_err failed(
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

/* Set `part`, the path to write to first. */
static fby_err choose_part(
    struct fby_output *self, struct fby_error_detail *why)
{
    struct stat st;
    self->replaced = lstat(self->path, &st) != 0 || S_ISREG(st.st_mode);
    int n = snprintf(self->part, sizeof(self->part), "%s%s", self->path,
        self->replaced ? ".part" : "");
    if (n >= 0 && (size_t)n < sizeof(self->part) && !is_dir(self->path)) {
        return FBY_OK;
    }
    errno = is_dir(self->path) ? EISDIR : ENAMETOOLONG;
    return failed(self, why);
}

fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_error_detail *why)
{
    *self       = (struct fby_output){.path = path};
    fby_err err = choose_part(self, why);
    if (err != FBY_OK) {
        return err;
    }
    self->file = fopen(self->part, "wb");
    return self->file != NULL ? FBY_OK : failed(self, why);
}

fby_err fby_output_check(const char *path, struct fby_error_detail *why)
{
    struct fby_output self = {.path = path};
    fby_err           err  = choose_part(&self, why);
    if (err == FBY_OK && self.replaced) {
        err = fby_output_open(&self, path, why);
        fby_output_close(&self);
    } else if (err == FBY_OK && access(path, W_OK) != 0) {
        err = failed(&self, why);
    }
    return err;
}

fby_err fby_output_keep(struct fby_output *self, struct fby_error_detail *why)
{
    errno       = 0;
    bool lost   = ferror(self->file) != 0;
    lost        = fclose(self->file) != 0 || lost;
    self->file  = NULL;
    fby_err err = FBY_OK;
    if (lost || (self->replaced && rename(self->part, self->path) != 0)) {
        err = failed(self, why);
    }
    if (err != FBY_OK && self->replaced) {
        unlink(self->part);
    }
    return err;
}

void fby_output_close(struct fby_output *self)
{
    if (self->file != NULL) {
        fclose(self->file);
        self->file = NULL;
        if (self->replaced) {
            unlink(self->part);
        }
    }
}
