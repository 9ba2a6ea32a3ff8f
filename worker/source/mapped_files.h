/* SPDX-License-Identifier: Apache-2.0 */
/* mapped_files.h - a table of mapped files, which are checked for changes.
 *
 * A batch may need thousands of rows of a few bytes; reading each with a system
 * call would be slow. So files are mapped, and up to a limit they stay mapped.
 * A map is one mapped file. Threads share it, and each adds a use. The stamp of
 * a file (its identity, size and times) is checked when it is mapped and after
 * each use. So a use fails if the file changed during it.
 *
 * When a mapped file is truncated, reading the lost pages raises SIGBUS. If the
 * thread has a use of the map, our handler marks the map as broken and puts a
 * page of zeros there. The reader continues, and fby_mapped_files_end_uses()
 * fails for all users of the map. Any other SIGBUS goes to the handler that was
 * installed before. */
#ifndef FBY_WORKER_SOURCE_MAPPED_FILES_H
#define FBY_WORKER_SOURCE_MAPPED_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/file_cache.h"

struct fby_mapped_files; /* the table */

/* Create a table for the files with the ids 0 to n_files - 1; none is mapped
 * yet. Up to `max_kept` files stay mapped while they are unused; 0 means 1/16
 * of the process's limit of open files. */
struct fby_mapped_files *fby_mapped_files_create(
    uint64_t n_files, uint32_t max_kept);
void fby_mapped_files_destroy(struct fby_mapped_files **self_p);

/* One use of a map by a thread. */
struct fby_mapping_use {
    const uint8_t      *data; /* the whole file */
    uint64_t            size; /* bytes */
    struct fby_mapping *map;  /* internal */
    /* The stamp of the index; borrowed until fby_mapped_files_end_uses. */
    const struct fby_stamp *stamp;
};

/* All uses by one thread, which end together. Start with n = 0. */
struct fby_mapping_uses {
    struct fby_mapping_use *list;   /* the caller's array, long enough */
    uint32_t                n;      /* number of uses */
    uint32_t                failed; /* index of the use that failed; set by
                                       fby_mapped_files_end_uses */
};

/* Add a use of file `id` to `uses` if it is mapped. Returns false, and adds
 * none, if it is not mapped or its map is broken. */
bool fby_mapped_files_try_use(struct fby_mapped_files *self, uint64_t id,
    const struct fby_stamp *stamp, struct fby_mapping_uses *uses);

/* Map `file` unless it is mapped already, and add a use to `uses`.
 * Errors: FBY_STALE          the file changed since it was indexed
 *         FBY_AGAIN          its map is broken and still in use, or the system
 *                            lacks memory or file descriptors
 *         FBY_IO             the system cannot map it */
FBY_CHECKED fby_err fby_mapped_files_open(struct fby_mapped_files *self,
    const struct fby_file *file, struct fby_mapping_uses *uses,
    struct fby_error_detail *why);

/* End all uses. Errors: FBY_STALE, FBY_IO: discard all that was read. */
FBY_CHECKED fby_err fby_mapped_files_end_uses(struct fby_mapped_files *self,
    struct fby_mapping_uses *uses, struct fby_error_detail *why);

#endif
