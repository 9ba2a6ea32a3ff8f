/* SPDX-License-Identifier: Apache-2.0 */
/* file_cache.h - read files through a bounded cache of open files.
 *
 * When the cache is full, the least recently used file is closed. The stamp of
 * a file (its identity, size and times) is checked when it is opened and after
 * each read. So a read fails if the file changed during it. No lock is held
 * during a system call. */
#ifndef FBY_WORKER_SOURCE_FILE_CACHE_H
#define FBY_WORKER_SOURCE_FILE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/object.h"

struct fby_file_cache; /* the cache */

/* Create a cache of at most `max_open` open files; 0 means 128, or less
 * if the limit on open files is below 2048. */
struct fby_file_cache *fby_file_cache_create(uint32_t max_open);
void                   fby_file_cache_destroy(struct fby_file_cache **self_p);

/* A file of an index. All pointers are borrowed for the call. */
struct fby_file {
    uint64_t                id; /* unique in one cache; below UINT64_MAX */
    const struct fby_root  *root;
    const char             *path;  /* beneath the root */
    const struct fby_stamp *stamp; /* its stamp when it was indexed */
};

/* Open `file`, without the cache, and check its stamp. The caller closes *out.
 * Errors: FBY_STALE  the file was changed, replaced or removed
 *         others     those of fby_object_open. */
FBY_CHECKED fby_err fby_file_open(const struct fby_file *file,
    struct fby_object *out, struct fby_error_detail *why);

/* Read `extent` of `file` into `buffer`.
 *
 * Thread: any.  Blocks: for the storage.
 * Errors: those of fby_file_open and fby_object_read. `buffer` is undefined
 *         then. */
FBY_CHECKED fby_err fby_file_cache_read(struct fby_file_cache *self,
    const struct fby_file *file, struct fby_extent extent, void *buffer,
    struct fby_error_detail *why);

#endif
