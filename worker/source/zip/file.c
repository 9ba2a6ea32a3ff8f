/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/zip/file.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

enum { WINDOW = 1 << 20 /* most bytes of a directory in memory */ };

static fby_err find_directory(
    struct fby_zip_file *self, struct fby_error_detail *why)
{
    size_t   n    = self->size < FBY_ZIP_TAIL ? self->size : FBY_ZIP_TAIL;
    uint8_t *tail = fby_zalloc(n + 1); /* not 0 bytes for an empty file */
    fby_err  err  = fby_object_read(self->object, self->size - n, tail, n, why);
    if (err == FBY_OK) {
        err =
            fby_zip_find_directory(tail, n, self->size, &self->directory, why);
    }
    free(tail);
    return err;
}

fby_err fby_zip_file_open(struct fby_zip_file *self,
    const struct fby_object *object, uint64_t size,
    struct fby_error_detail *why)
{
    *self = (struct fby_zip_file){.object = object, .size = size};
    FBY_TRY(find_directory(self, why));
    uint64_t n   = self->directory.size;
    self->window = fby_zalloc(n < WINDOW ? n + 1 : WINDOW);
    self->unread = fby_reader(self->window, 0);
    self->next   = self->directory.offset;
    return FBY_OK;
}

void fby_zip_file_fini(struct fby_zip_file *self)
{
    free(self->window);
    *self = (struct fby_zip_file){0};
}

/* The bytes of the directory that are not in the window yet. */
static uint64_t bytes_after_window(const struct fby_zip_file *self)
{
    return self->directory.offset + self->directory.size - self->next;
}

bool fby_zip_file_has_more(const struct fby_zip_file *self)
{
    return self->unread.left > 0 || bytes_after_window(self) > 0;
}

/* Move the unread bytes to the front of the window, and read more bytes. */
static fby_err fill_window(
    struct fby_zip_file *self, struct fby_error_detail *why)
{
    uint64_t rest = bytes_after_window(self);
    size_t   kept = self->unread.left;
    size_t   n    = rest < WINDOW - kept ? (size_t)rest : WINDOW - kept;
    memmove(self->window, self->unread.at, kept);
    FBY_TRY(
        fby_object_read(self->object, self->next, self->window + kept, n, why));
    self->next += n;
    self->unread = fby_reader(self->window, kept + n);
    return FBY_OK;
}

fby_err fby_zip_file_next(struct fby_zip_file *self, struct fby_zip_member *out,
    struct fby_zip_name *name, struct fby_error_detail *why)
{
    if (self->unread.left < FBY_ZIP_ENTRY_MAX && bytes_after_window(self) > 0) {
        FBY_TRY(fill_window(self, why));
    }
    return fby_zip_next_member(&self->unread, out, name, why);
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
            FBY_ZIP_COMPRESSED
            "; save it with np.savez instead of np.savez_compressed, or "
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
