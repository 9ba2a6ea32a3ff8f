/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - an object: one file of a dataset, on any storage.
 *
 * All bytes of data are read through this interface, or from files that
 * mapped_files.h maps. The storage is that of the path's root (storage.h).
 *
 * A file can change while it is open. So readers compare its stamp (identity,
 * size and times) with the stamp of the index, before and after they read. */
#ifndef FBY_WORKER_SOURCE_OBJECT_H
#define FBY_WORKER_SOURCE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "worker/source/storage.h"

/* The functions that read and list the files beneath `root`. */
const struct fby_object_ops *fby_object_ops_of(const struct fby_root *root);

/* A range of bytes in an object. */
struct fby_extent {
    uint64_t offset; /* of its first byte in the object */
    uint64_t size;   /* bytes */
};

/* Open the object at `path` beneath `root`.
 *
 * Ownership: the caller closes *out, once for all its copies.
 * Thread:    any.  Blocks: for the storage.
 * Errors:    those of fby_root_open; *out is closed. */
FBY_CHECKED fby_err fby_object_open(const struct fby_root *root,
    const char *path, struct fby_object *out, struct fby_error_detail *why);

/* Open the object and return its stamp. Errors: also those of
 * fby_object_stamp; *out is closed. */
FBY_CHECKED fby_err fby_object_open_stamped(const struct fby_root *root,
    const char *path, struct fby_object *out, struct fby_stamp *stamp,
    struct fby_error_detail *why);

/* Is there an object at `path` that can be opened? */
bool fby_object_exists(const struct fby_root *root, const char *path);

/* Close the object, unless it is closed. No thread may still use a copy of the
 * handle. */
void fby_object_close(struct fby_object *self);

static inline bool fby_object_is_open(const struct fby_object *self)
{
    return self->ops != NULL;
}

/* The current stamp of an open object.
 *
 * Thread: any; like all functions below, also from several threads at once.
 * Blocks: for the storage.
 * Errors: FBY_STALE  the object was replaced or removed, so it has no path
 *         FBY_IO */
FBY_CHECKED fby_err fby_object_stamp(const struct fby_object *self,
    struct fby_stamp *out, struct fby_error_detail *why);

/* Compare the current stamp of an open object with `stamp`.
 * Errors: FBY_STALE  they differ: "was appended to: 1536 bytes when it was
 *                    indexed, 2048 now";  FBY_IO */
FBY_CHECKED fby_err fby_stamp_check(const struct fby_object *self,
    const struct fby_stamp *stamp, struct fby_error_detail *why);

/* Read exactly `size` bytes from byte `offset` on.
 * Errors: FBY_IO, also at an early end of the object: "cannot read: ..."
 *         FBY_BAD_SAMPLE  an entry of an archive is damaged
 *         FBY_STALE       the archive of an entry became shorter */
FBY_CHECKED fby_err fby_object_read(const struct fby_object *self,
    uint64_t offset, void *buffer, size_t size, struct fby_error_detail *why);

/* Read *size bytes, or those up to the end of the object, and set *size to the
 * number read. Errors: as fby_object_read, but an early end is none. */
FBY_CHECKED fby_err fby_object_read_some(const struct fby_object *self,
    uint64_t offset, void *buffer, size_t *size, struct fby_error_detail *why);

/* Add all bytes of the object to the checksum `sum`, and check its stamp before
 * and after.
 * Errors: FBY_STALE, FBY_GONE (*stop became true), those of fby_object_read. */
FBY_CHECKED fby_err fby_checksum_add_file(struct fby_checksum_state *sum,
    const struct fby_object *self, const struct fby_stamp *stamp,
    const atomic_bool *stop, struct fby_error_detail *why);

#endif
