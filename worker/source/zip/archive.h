/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h - a zip archive as a tree of files beneath a root.
 *
 * A path may lead into an archive: photos.zip/cats/1.jpg. The directory of the
 * archive is read once, at opening. After that its files are listed (listing.h)
 * and read (object.h) at random through a root of its own, with the same paths
 * as before. All threads share one file descriptor and no position, and the
 * archive is constant.
 *
 * Why not libzip or minizip: their handles have a position or state that only
 * one thread may use, so each worker thread would need a copy of the directory,
 * which has millions of entries. zlib inflates. */
#ifndef FBY_WORKER_SOURCE_ZIP_ARCHIVE_H
#define FBY_WORKER_SOURCE_ZIP_ARCHIVE_H

#include <stdatomic.h>

#include "common/err.h"
#include "worker/source/roots.h"

struct fby_archive;

/* Open the first archive in `path`: a plain file whose name ends in .zip. If
 * there is none, *out is NULL. The stamp of a file in an archive has the times
 * and the identity of the archive, and the size of the file.
 *
 * Blocks: to read the directory of the archive.
 * Errors: FBY_CONFIG  a damaged archive, or one that is not read (entries.h)
 *         FBY_GONE    *stop (may be NULL) became true
 *         those of fby_object_open. */
FBY_CHECKED fby_err fby_archive_open(const struct fby_root *root,
    const char *path, const atomic_bool *stop, struct fby_archive **out,
    struct fby_error_detail *why);
void                fby_archive_destroy(struct fby_archive **self_p);

/* The root that reads the archive, with the name and directory of the root
 * where the archive lies. Ownership: the archive's. */
const struct fby_root *fby_archive_root(const struct fby_archive *self);

/* The path of the archive beneath the root. */
const char *fby_archive_path(const struct fby_archive *self);

#endif
