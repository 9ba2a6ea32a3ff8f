/* SPDX-License-Identifier: Apache-2.0 */
/* storage.h - what a kind of storage implements, so that its files can be read
 * (object.h) and its directories listed (listing.h).
 *
 * An implementation is a table of functions. There are two: for local files
 * (object_file.h), and for the entries of a zip archive (zip/archive.h). The
 * root of a path determines which of them is used. */
#ifndef FBY_WORKER_SOURCE_STORAGE_H
#define FBY_WORKER_SOURCE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "pipeline/types.h"

struct fby_root; /* roots.h */
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

/* ---- directories ---- */

struct fby_entry {
    char            *name; /* without the path of the directory */
    bool             is_dir;
    struct fby_stamp stamp; /* identity, size and times */
};

/* A function for an entry; entry->name is valid only during the call. An error
 * ends the listing. */
typedef fby_err fby_listing_visit_fn(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why);

/* The directory to list, and how. */
struct fby_listing_request {
    const struct fby_root *root;
    const char            *path;        /* of the directory, beneath the root */
    const char            *glob;        /* NULL: all names match */
    bool                   with_stamps; /* also of files */
    fby_listing_visit_fn  *visit;       /* to call for each entry */
    void                  *arg;         /* for `visit` */
};

/* True if the request wants the entry `name`: it matches the glob, and is
 * neither hidden nor made by a desktop system. */
bool fby_listing_wants(
    const struct fby_listing_request *request, const char *name);

/* Write `dir`/`name` to `out`; without the slash if either is "".
 * Errors: FBY_CONFIG  the path is too long. */
FBY_CHECKED fby_err fby_path_join(const char *dir, const char *name,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why);

/* ---- files ---- */

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
 * functions of object.h and listing.h that have the same names. */
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

#endif
