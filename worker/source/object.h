/* object.h - one file of a data set, wherever its bytes are stored.
 *
 * All bytes of data are read through this interface. An implementation is a
 * table of four functions, and the root decides which one a path beneath it
 * uses; object_file.c, for local files, is the only one so far. No function
 * here allocates memory. An open object can still change, so readers compare
 * its stamp before and after they use it. */
#ifndef FBY_WORKER_SOURCE_OBJECT_H
#define FBY_WORKER_SOURCE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"

struct fby_object_ops;

/* A handle, to be copied freely; all zeros is a closed one. */
struct fby_object {
    const struct fby_object_ops *ops; /* NULL: closed */
    union {
        int   fd;    /* of a local file */
        void *state; /* of any other implementation */
    } is;
};

/* What an implementation does; the contracts are those of the functions below,
 * which are all that readers call. */
struct fby_object_ops {
    /* Fill *out, with these ops in it. */
    fby_err (*open)(const struct fby_root *root, const char *path,
        struct fby_object *out, struct fby_why *why);
    fby_err (*stamp)(const struct fby_object *self, struct fby_stamp *out,
        struct fby_why *why);
    /* Read at most *size bytes, which is not 0; then *size is how many were
     * read, 0 only at the end of the object. `why` is the cause alone. */
    fby_err (*read)(const struct fby_object *self, uint64_t offset,
        void *buffer, size_t *size, struct fby_why *why);
    void (*close)(struct fby_object *self);
};

extern const struct fby_object_ops fby_object_file; /* files of this machine */

/* Open the object at `path` beneath `root`.
 *
 * Ownership: the caller closes *out, once for all copies of it.
 * Thread:    any.  Blocks: for the storage.
 * Errors:    as of fby_root_open; *out is closed. */
FBY_CHECKED fby_err fby_object_open(const struct fby_root *root,
    const char *path, struct fby_object *out, struct fby_why *why);

/* The same, with the stamp that it has now. Errors: also those of
 * fby_object_stamp; *out is closed. */
FBY_CHECKED fby_err fby_object_open_stamped(const struct fby_root *root,
    const char *path, struct fby_object *out, struct fby_stamp *stamp,
    struct fby_why *why);

/* Can it be opened? */
bool fby_object_exists(const struct fby_root *root, const char *path);

/* Close it; a closed one stays as it is. No thread uses a copy any more. */
void fby_object_close(struct fby_object *self);

static inline bool fby_object_is_open(const struct fby_object *self)
{
    return self->ops != NULL;
}

/* The identity and size of an open object as they are now.
 *
 * Thread: any, also several at once, as the functions that follow.
 * Blocks: for the storage.
 * Errors: FBY_STALE  it was replaced or removed: no path leads to it
 *         FBY_IO */
FBY_CHECKED fby_err fby_object_stamp(
    const struct fby_object *self, struct fby_stamp *out, struct fby_why *why);

/* Errors: FBY_STALE when the open object is not the one of `stamp`: "was
 *         appended to: 1536 bytes when it was indexed, 2048 now"; FBY_IO. */
FBY_CHECKED fby_err fby_stamp_check(const struct fby_object *self,
    const struct fby_stamp *stamp, struct fby_why *why);

/* Read `size` bytes from byte `offset` on.
 * Errors: FBY_IO, also when there are fewer: "cannot read: ...". */
FBY_CHECKED fby_err fby_object_read(const struct fby_object *self,
    uint64_t offset, void *buffer, size_t size, struct fby_why *why);

/* Read at most *size of them, as many as there are, and set *size to that.
 * Errors: FBY_IO: "cannot read: ...". */
FBY_CHECKED fby_err fby_object_read_some(const struct fby_object *self,
    uint64_t offset, void *buffer, size_t *size, struct fby_why *why);

/* The descriptor of a local file, to be mapped; -1 of any other object. It is
 * borrowed: fby_object_close closes it. */
int fby_object_local_fd(const struct fby_object *self);

#endif
