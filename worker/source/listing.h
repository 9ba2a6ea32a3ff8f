/* SPDX-License-Identifier: Apache-2.0 */
/* listing.h - the entries of one directory beneath a root, in byte order.
 *
 * The entries are plain files and directories. A link is listed like its
 * target: as a file or directory, with the target's stamp. The target must be
 * beneath the root. Hidden entries, sockets, pipes and devices are skipped. */
#ifndef FBY_WORKER_SOURCE_LISTING_H
#define FBY_WORKER_SOURCE_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"

struct fby_entry {
    char            *name; /* without the path of the directory */
    bool             is_dir;
    struct fby_stamp stamp; /* identity, size and times (object.h) */
};

struct fby_listing {
    struct fby_entry *entries; /* in byte order of names */
    uint32_t          count;
};

/* List the entries of the directory `path` ("" is the root itself) that match
 * `glob` (NULL: all entries). Release `out` with fini, also after an error.
 *
 * Errors: FBY_NOT_FOUND  no such directory, or a dangling link
 *         FBY_USAGE      a link leads out of the root
 *         FBY_IO */
FBY_CHECKED fby_err fby_listing_read(const struct fby_root *root,
    const char *path, const char *glob, struct fby_listing *out,
    struct fby_error_detail *why);
void                fby_listing_fini(struct fby_listing *self);

/* Is any entry a directory? */
bool fby_listing_has_dirs(const struct fby_listing *self);

/* Write `dir`/`name` to `out`; without the slash if either is "".
 * Errors: FBY_CONFIG  the path is too long. */
FBY_CHECKED fby_err fby_path_join(const char *dir, const char *name,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why);

#endif
