/* files.h - read from files that must still be the ones that were indexed.
 *
 * A bounded number of files stays open, the least recently used one is
 * closed for a new one. A file is checked against its stamp when it is opened
 * and again after each read, so bytes that changed under the read are not
 * handed out. The lock guards the table only; never a system call. */
#ifndef FBY_WORKER_SOURCE_FILES_H
#define FBY_WORKER_SOURCE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/object.h"

struct fby_files;

struct fby_files *fby_files_create(uint32_t max_open); /* 0: 128 */
void              fby_files_destroy(struct fby_files **self_p);

struct fby_file {
    uint64_t                id;   /* one a file, below UINT64_MAX */
    const struct fby_root  *root; /* the rest is borrowed for the call */
    const char             *path; /* beneath the root */
    const struct fby_stamp *stamp;
};

struct fby_extent {
    uint64_t offset;
    uint64_t size; /* bytes */
};

/* Open `file`, which must still be the one that was indexed; the caller closes
 * *out. Errors: FBY_STALE, and as of fby_object_open. */
FBY_CHECKED fby_err fby_file_open(
    const struct fby_file *file, struct fby_object *out, struct fby_why *why);

/* Read `extent` of `file` into `buffer`. Any thread; blocks for the file.
 * Errors: FBY_STALE  not the file that was indexed (any more); `why` says
 *                    what happened to it
 *         FBY_IO */
FBY_CHECKED fby_err fby_files_read(struct fby_files *self,
    const struct fby_file *file, struct fby_extent extent, void *buffer,
    struct fby_why *why);

#endif
