/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - an object: one file of a dataset, on any storage.
 *
 * All bytes of data are read through this interface, or from files that
 * mapped_files.h maps. An implementation is a table of functions, which the
 * root of a path determines. There are two: for local files (object_file.c),
 * and for the entries of a zip archive (archive.h).
 *
 * A file can change while it is open. So readers compare its stamp (identity,
 * size and times) with the stamp of the index, before and after they read. */
#ifndef FBY_WORKER_SOURCE_OBJECT_H
#define FBY_WORKER_SOURCE_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/hash.h"

struct fby_listing_request; /* listing.h */
struct fby_root;            /* roots.h */
struct fby_object_ops;

/* Distinguishes a file from another file, and from itself after a change. */
struct fby_stamp {
    uint64_t device;
    uint64_t inode;
    uint64_t size;     /* bytes */
    int64_t  mtime_ns; /* since 1970 */
    int64_t  ctime_ns; /* since 1970 */
};

struct fby_stamp fby_stamp_of(const struct stat *st);

/* Are the `n` stamps of `a` equal to those of `b`? */
static inline bool fby_stamps_equal(
    const struct fby_stamp *a, const struct fby_stamp *b, uint32_t n)
{
    return memcmp(a, b, n * sizeof(*a)) == 0; /* a stamp has no padding */
}

/* Describe how a file changed since it was indexed, as a static text: "was
 * appended to", "was replaced", ... The two stamps differ. */
const char *fby_stamp_change(
    const struct fby_stamp *indexed, const struct fby_stamp *now);

/* A handle of an open file. It may be copied; all zeros is a closed object. */
struct fby_object {
    const struct fby_object_ops *ops; /* NULL: closed */
    union {
        int   fd;    /* of a local file */
        void *state; /* of any other implementation */
    };
    uint32_t entry; /* in an archive: number of the entry */
};

/* A function that gets the next bytes of an object. */
typedef fby_err fby_object_visit_fn(void *arg, const void *bytes, size_t size);

/* The functions of an implementation. Their contracts are those of the
 * fby_object functions below, which readers call. */
struct fby_object_ops {
    /* Fill *out, including its `ops`. */
    fby_err (*open)(const struct fby_root *root, const char *path,
        struct fby_object *out, struct fby_error_detail *why);
    fby_err (*stamp)(const struct fby_object *self, struct fby_stamp *out,
        struct fby_error_detail *why);
    /* Call request->visit for each wanted entry of a directory, in any order.
     * *n_dangling, which is 0, becomes the number of skipped links. */
    fby_err (*list)(const struct fby_listing_request *request,
        uint32_t *n_dangling, struct fby_error_detail *why);
    /* Read at most *size bytes (not 0) and set *size to the number of bytes
     * read, which is 0 only at the end of the object. `why` has only the
     * cause; the caller adds "cannot read". */
    fby_err (*read)(const struct fby_object *self, uint64_t offset,
        void *buffer, size_t *size, struct fby_error_detail *why);
    /* Call `visit` for all bytes in order, up to its first error. `why` as for
     * read(). NULL: read() is as fast, in steps. */
    fby_err (*visit)(const struct fby_object *self, fby_object_visit_fn *visit,
        void *arg, struct fby_error_detail *why);
    void (*close)(struct fby_object *self);
};

extern const struct fby_object_ops fby_local_file_ops; /* local files */

/* The function `list` for local files; in listing.c. */
FBY_CHECKED fby_err fby_listing_visit_local(
    const struct fby_listing_request *request, uint32_t *n_dangling,
    struct fby_error_detail *why);

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

/* The file descriptor of a local file, for mmap; -1 for any other object.
 * Ownership: still the object's. */
int fby_object_local_fd(const struct fby_object *self);

#endif
