#include "worker/source/zip_file.h"

#include <stdlib.h>

#include "common/mem.h"

static fby_err find_directory(const struct fby_zip_file *self,
    struct fby_zip_directory *out, struct fby_why *why)
{
    size_t   n    = self->size < FBY_ZIP_TAIL ? self->size : FBY_ZIP_TAIL;
    uint8_t *tail = fby_zalloc(n + 1);
    fby_err  err  = fby_object_read(self->object, self->size - n, tail, n, why);
    if (err == FBY_OK) {
        err = fby_zip_find(tail, n, self->size, out, why);
    }
    free(tail);
    return err;
}

fby_err fby_zip_file_open(struct fby_zip_file *self,
    const struct fby_object *object, uint64_t size, struct fby_why *why)
{
    struct fby_zip_directory place = {0};
    *self       = (struct fby_zip_file){.object = object, .size = size};
    fby_err err = find_directory(self, &place, why);
    if (err != FBY_OK) {
        return err;
    }
    self->directory = fby_zalloc(place.size + 1);
    self->left      = fby_reader(self->directory, place.size);
    return fby_object_read(
        object, place.offset, self->directory, place.size, why);
}

void fby_zip_file_fini(struct fby_zip_file *self)
{
    free(self->directory);
    *self = (struct fby_zip_file){0};
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
    fby_err err =
        fby_object_read(self->object, member->head, head, sizeof(head), why);
    return err == FBY_OK ? fby_zip_begin(head, member, self->size, out, why)
                         : err;
}
