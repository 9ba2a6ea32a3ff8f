/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/object.h"

#include <stdlib.h>

#include "common/mem.h"
#include "worker/source/object_file.h"
#include "worker/source/roots.h"

enum { CHECKSUM_STEP = 1 << 20 /* bytes read at a time */ };

const struct fby_object_ops *fby_object_ops_of(const struct fby_root *root)
{
    const struct fby_object_ops *ops = fby_root_object_ops(root);
    return ops != NULL ? ops : &fby_local_file_ops;
}

fby_err fby_object_open(const struct fby_root *root, const char *path,
    struct fby_object *out, struct fby_error_detail *why)
{
    *out = (struct fby_object){0};
    return fby_object_ops_of(root)->open(root, path, out, why);
}

fby_err fby_object_open_stamped(const struct fby_root *root, const char *path,
    struct fby_object *out, struct fby_stamp *stamp,
    struct fby_error_detail *why)
{
    fby_err err = fby_object_open(root, path, out, why);
    if (err == FBY_OK) {
        err = fby_object_stamp(out, stamp, why);
    }
    if (err != FBY_OK) {
        fby_object_close(out);
    }
    return err;
}

bool fby_object_exists(const struct fby_root *root, const char *path)
{
    struct fby_object object;
    bool exists = fby_object_open(root, path, &object, NULL) == FBY_OK;
    fby_object_close(&object);
    return exists;
}

void fby_object_close(struct fby_object *self)
{
    if (fby_object_is_open(self)) {
        self->ops->close(self);
    }
    *self = (struct fby_object){0};
}

fby_err fby_object_stamp(const struct fby_object *self, struct fby_stamp *out,
    struct fby_error_detail *why)
{
    return self->ops->stamp(self, out, why);
}

fby_err fby_stamp_check(const struct fby_object *self,
    const struct fby_stamp *stamp, struct fby_error_detail *why)
{
    struct fby_stamp now = {0};
    fby_err          err = fby_object_stamp(self, &now, why);
    if (err != FBY_OK || fby_stamps_equal(&now, stamp, 1)) {
        return err;
    }
    if (now.size == stamp->size) {
        return fby_error_set(why, FBY_STALE, "%s since it was indexed",
            fby_stamp_change(stamp, &now));
    }
    return fby_error_set(why, FBY_STALE,
        "%s: %llu bytes when it was indexed, %llu now",
        fby_stamp_change(stamp, &now), (unsigned long long)stamp->size,
        (unsigned long long)now.size);
}

fby_err fby_object_read_some(const struct fby_object *self, uint64_t offset,
    void *buffer, size_t *size, struct fby_error_detail *why)
{
    fby_err err    = FBY_OK;
    size_t  done   = 0; /* bytes read so far */
    bool    is_end = false;
    while (err == FBY_OK && !is_end && done < *size) {
        uint8_t *to = (uint8_t *)buffer + done;
        size_t   n  = *size - done; /* bytes wanted, then bytes read */
        err         = self->ops->read(self, offset + done, to, &n, why);
        is_end      = n == 0;
        done += err == FBY_OK ? n : 0;
    }
    *size = done;
    return fby_error_prefix(why, err, "cannot read");
}

fby_err fby_object_read(const struct fby_object *self, uint64_t offset,
    void *buffer, size_t size, struct fby_error_detail *why)
{
    size_t n = size;
    FBY_TRY(fby_object_read_some(self, offset, buffer, &n, why));
    return n < size ? fby_error_set(
                          why, FBY_IO, "cannot read: the file became shorter")
                    : FBY_OK;
}

struct summing { /* adds the bytes of an object to a checksum */
    struct fby_checksum_state *sum;
    const atomic_bool         *stop;
};

static fby_err add_bytes(void *arg, const void *bytes, size_t size)
{
    struct summing *self = arg;
    if (atomic_load(self->stop)) {
        return FBY_GONE;
    }
    fby_checksum_add(self->sum, bytes, size);
    return FBY_OK;
}

static fby_err visit_in_steps(const struct fby_object *self,
    fby_object_visit_fn *visit, void *arg, struct fby_error_detail *why)
{
    uint8_t *buffer = fby_zalloc(CHECKSUM_STEP);
    fby_err  err    = FBY_OK;
    size_t   n      = CHECKSUM_STEP; /* bytes of the last read */
    for (uint64_t offset = 0; err == FBY_OK && n == CHECKSUM_STEP;
         offset += n) {
        err = fby_object_read_some(self, offset, buffer, &n, why);
        if (err == FBY_OK) {
            err = visit(arg, buffer, n);
        }
    }
    free(buffer);
    return err;
}

/* Call `visit` for all bytes, in order. */
static fby_err visit_bytes(const struct fby_object *self,
    fby_object_visit_fn *visit, void *arg, struct fby_error_detail *why)
{
    if (self->ops->visit == NULL) {
        return visit_in_steps(self, visit, arg, why);
    }
    fby_err err = self->ops->visit(self, visit, arg, why);
    return err == FBY_GONE ? err : fby_error_prefix(why, err, "cannot read");
}

fby_err fby_checksum_add_file(struct fby_checksum_state *sum,
    const struct fby_object *self, const struct fby_stamp *stamp,
    const atomic_bool *stop, struct fby_error_detail *why)
{
    FBY_TRY(fby_stamp_check(self, stamp, why));
    struct summing summing = {sum, stop};
    fby_err        err     = visit_bytes(self, add_bytes, &summing, why);
    return err == FBY_OK ? fby_stamp_check(self, stamp, why) : err;
}
