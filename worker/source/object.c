#include "worker/source/object.h"

fby_err fby_object_open(const struct fby_root *root, const char *path,
    struct fby_object *out, struct fby_why *why)
{
    *out = (struct fby_object){0};
    return fby_root_object_ops(root)->open(root, path, out, why);
}

fby_err fby_object_open_stamped(const struct fby_root *root, const char *path,
    struct fby_object *out, struct fby_stamp *stamp, struct fby_why *why)
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

fby_err fby_object_stamp(
    const struct fby_object *self, struct fby_stamp *out, struct fby_why *why)
{
    return self->ops->stamp(self, out, why);
}

fby_err fby_stamp_check(const struct fby_object *self,
    const struct fby_stamp *stamp, struct fby_why *why)
{
    struct fby_stamp now = {0};
    fby_err          err = fby_object_stamp(self, &now, why);
    if (err != FBY_OK || fby_stamp_equal(&now, stamp)) {
        return err;
    }
    if (now.size == stamp->size) {
        return fby_because(why, FBY_STALE, "%s since it was indexed",
            fby_stamp_change(stamp, &now));
    }
    return fby_because(why, FBY_STALE,
        "%s: %llu bytes when it was indexed, %llu now",
        fby_stamp_change(stamp, &now), (unsigned long long)stamp->size,
        (unsigned long long)now.size);
}

fby_err fby_object_read_some(const struct fby_object *self, uint64_t offset,
    void *buffer, size_t *size, struct fby_why *why)
{
    fby_err err  = FBY_OK;
    size_t  done = 0;
    size_t  part = *size;
    while (err == FBY_OK && part > 0 && done < *size) {
        uint8_t *to = (uint8_t *)buffer + done;
        part        = *size - done;
        err         = self->ops->read(self, offset + done, to, &part, why);
        done += err == FBY_OK ? part : 0;
    }
    *size = done;
    return err == FBY_OK ? err : fby_because_in(why, err, "cannot read");
}

fby_err fby_object_read(const struct fby_object *self, uint64_t offset,
    void *buffer, size_t size, struct fby_why *why)
{
    size_t  n   = size;
    fby_err err = fby_object_read_some(self, offset, buffer, &n, why);
    return err == FBY_OK && n < size
               ? fby_because(
                     why, FBY_IO, "cannot read: the file became shorter")
               : err;
}
