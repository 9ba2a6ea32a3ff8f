/* SPDX-License-Identifier: Apache-2.0 */
/* listing.h - the entries of one directory beneath a root, in byte order.
 *
 * The entries are plain files and directories. A link is listed like its
 * target: as a file or directory, with the target's stamp. The target must be
 * beneath a root. A link to no file is skipped and counted. Sockets, pipes,
 * devices and hidden entries are skipped, and what systems make: Thumbs.db,
 * ehthumbs.db, desktop.ini, __MACOSX, lost+found, $RECYCLE.BIN, System Volume
 * Information and @eaDir (small pictures of Synology's NAS), in upper or lower
 * case. A directory in a zip archive is listed in the same way. */
#ifndef FBY_WORKER_SOURCE_LISTING_H
#define FBY_WORKER_SOURCE_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/storage.h"

struct fby_listing {
    struct fby_entry *entries; /* in byte order of names */
    uint32_t          count;
    uint32_t          n_dangling; /* skipped links */
};

/* List the entries of the directory `path` ("" is the root itself) that match
 * `glob` (NULL: all entries). Release `out` with fini, also after an error.
 *
 * Errors: FBY_NOT_FOUND  no such directory
 *         FBY_USAGE      a link leads out of all roots
 *         FBY_IO */
FBY_CHECKED fby_err fby_listing_read(const struct fby_root *root,
    const char *path, const char *glob, struct fby_listing *out,
    struct fby_error_detail *why);
void                fby_listing_fini(struct fby_listing *self);

/* Call `visit` for each entry that fby_listing_read() lists, in any order,
 * without keeping them. Files may have no stamp (all zero): where the directory
 * says their type, they are not looked at. *n_dangling is the number of skipped
 * links.
 *
 * Errors: those of fby_listing_read() and of `visit`. */
FBY_CHECKED fby_err fby_listing_visit(const struct fby_root *root,
    const char *path, const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why);

/* Add a copy of an entry to a listing; its type is fby_listing_visit_fn. Sort
 * the listing after the last one.
 * Errors: FBY_CONFIG  too many entries. */
FBY_CHECKED fby_err fby_listing_add(
    void *listing, const struct fby_entry *entry, struct fby_error_detail *why);
void fby_listing_sort(struct fby_listing *self);

/* The entry of that name in a sorted listing, as fby_listing_read() returns it;
 * NULL: there is none. */
const struct fby_entry *fby_listing_find(
    const struct fby_listing *self, const char *name);

/* Log the number of skipped links at `path`, if it is not 0. */
void fby_listing_log_dangling(
    const struct fby_root *root, const char *path, uint64_t n);

/* Is any entry a directory? */
bool fby_listing_has_dirs(const struct fby_listing *self);

#endif
