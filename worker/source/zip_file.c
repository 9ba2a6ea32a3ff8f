#include "worker/source/zip_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"

fby_err fby_read_at(
    int fd, uint64_t offset, uint8_t *out, size_t size, struct fby_why *why)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, out + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return fby_because(why, FBY_IO, "reading failed: %s",
                n < 0 ? strerror(errno) : "the file became shorter");
        }
        done += (size_t)n;
    }
    return FBY_OK;
}

static fby_err find_directory(const struct fby_zip_file *self,
    struct fby_zip_directory *out, struct fby_why *why)
{
    size_t   n    = self->size < FBY_ZIP_TAIL ? self->size : FBY_ZIP_TAIL;
    uint8_t *tail = fby_zalloc(n + 1);
    fby_err  err  = fby_read_at(self->fd, self->size - n, tail, n, why);
    if (err == FBY_OK) {
        err = fby_zip_find(tail, n, self->size, out, why);
    }
    free(tail);
    return err;
}

fby_err fby_zip_file_open(
    struct fby_zip_file *self, int fd, uint64_t size, struct fby_why *why)
{
    struct fby_zip_directory place = {0};
    *self       = (struct fby_zip_file){.fd = fd, .size = size};
    fby_err err = find_directory(self, &place, why);
    if (err != FBY_OK) {
        return err;
    }
    self->directory = fby_zalloc(place.size + 1);
    self->left      = fby_reader(self->directory, place.size);
    return fby_read_at(fd, place.offset, self->directory, place.size, why);
}

void fby_zip_file_fini(struct fby_zip_file *self)
{
    free(self->directory);
    *self = (struct fby_zip_file){.fd = -1};
}

fby_err fby_zip_file_next(
    struct fby_zip_file *self, struct fby_zip_member *out, struct fby_why *why)
{
    return fby_zip_next(&self->left, out, why);
}

fby_err fby_zip_file_place(const struct fby_zip_file *self,
    const struct fby_zip_member *member, uint64_t *out, struct fby_why *why)
{
    uint8_t head[FBY_ZIP_HEAD];
    if (member->is_encrypted) {
        return fby_because(
            why, FBY_CONFIG, "it is encrypted; save it without a password");
    }
    if (!member->is_stored) {
        return fby_because(why, FBY_CONFIG,
            "it is compressed, so its rows cannot be read where they lie; "
            "save it with np.savez instead of np.savez_compressed, or "
            "save_npz(..., compressed=False)");
    }
    if (member->head > self->size || self->size - member->head < sizeof(head)) {
        return fby_because(
            why, FBY_CONFIG, "damaged zip file: it begins beyond the end");
    }
    fby_err err = fby_read_at(self->fd, member->head, head, sizeof(head), why);
    return err == FBY_OK ? fby_zip_begin(head, member, self->size, out, why)
                         : err;
}
