/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/npy_reader.h"

#include <stdlib.h>

#include "common/mem.h"

enum { FIRST_READ = 256 /* bytes; the header of most files has 128 */ };

/* If the first, short read does not have the whole header, read it again. */
fby_err fby_npy_file_read_head(const struct fby_object *object,
    struct fby_extent extent, struct fby_npy *out, size_t *head_size,
    struct fby_error_detail *why)
{
    uint8_t first[FIRST_READ];
    size_t  n = extent.size < FIRST_READ ? extent.size : FIRST_READ;
    FBY_TRY(fby_object_read(object, extent.offset, first, n, why));
    fby_err err = fby_npy_read_head(first, n, out, head_size, why);
    if (err == FBY_OK || n == extent.size) {
        return err;
    }
    n              = extent.size < FBY_NPY_HEAD ? extent.size : FBY_NPY_HEAD;
    uint8_t *bytes = fby_zalloc(n);
    err            = fby_object_read(object, extent.offset, bytes, n, why);
    if (err == FBY_OK) {
        err = fby_npy_read_head(bytes, n, out, head_size, why);
    }
    free(bytes);
    return err;
}

static fby_err find_directory(const struct fby_zip_file *self,
    struct fby_zip_directory *out, struct fby_error_detail *why)
{
    size_t   n    = self->size < FBY_ZIP_TAIL ? self->size : FBY_ZIP_TAIL;
    uint8_t *tail = fby_zalloc(n + 1); /* not 0 bytes for an empty file */
    fby_err  err  = fby_object_read(self->object, self->size - n, tail, n, why);
    if (err == FBY_OK) {
        err = fby_zip_find_directory(tail, n, self->size, out, why);
    }
    free(tail);
    return err;
}

fby_err fby_zip_file_open(struct fby_zip_file *self,
    const struct fby_object *object, uint64_t size,
    struct fby_error_detail *why)
{
    struct fby_zip_directory found = {0};
    *self = (struct fby_zip_file){.object = object, .size = size};
    FBY_TRY(find_directory(self, &found, why));
    self->directory = fby_zalloc(found.size + 1);
    self->unread    = fby_reader(self->directory, found.size);
    return fby_object_read(
        object, found.offset, self->directory, found.size, why);
}

void fby_zip_file_fini(struct fby_zip_file *self)
{
    free(self->directory);
    *self = (struct fby_zip_file){0};
}

fby_err fby_zip_file_find_content(const struct fby_zip_file *self,
    const struct fby_zip_member *member, uint64_t *out,
    struct fby_error_detail *why)
{
    uint8_t head[FBY_ZIP_HEAD]; /* the member's header, before its content */
    if (member->is_encrypted) {
        return fby_error_set(
            why, FBY_CONFIG, "it is encrypted; save it without a password");
    }
    if (!member->is_stored) {
        return fby_error_set(why, FBY_CONFIG,
            "it is compressed, so its rows cannot be read in place; "
            "save it with np.savez instead of np.savez_compressed, or "
            "save_npz(..., compressed=False)");
    }
    if (member->head_offset > self->size ||
        self->size - member->head_offset < sizeof(head)) {
        return fby_error_set(
            why, FBY_CONFIG, "damaged zip file: a member beyond the end");
    }
    FBY_TRY(fby_object_read(
        self->object, member->head_offset, head, sizeof(head), why));
    return fby_zip_data_offset(head, member, self->size, out, why);
}
