/* maps.h - files in memory that must still be the ones that were indexed.
 *
 * Rows of a few bytes, thousands of them for a batch, are too small for a
 * system call each: their files are mapped, and stay so, up to a number. A map
 * is compared with its file's stamp when it is made and again after each use,
 * so that bytes that changed meanwhile are not handed out.
 *
 * A file that becomes shorter takes pages from under a reader. Reading them
 * raises SIGBUS; while a thread uses maps, a handler of ours answers it: it
 * marks the map as broken and puts a page of zeros there, the reader goes on,
 * and its use fails in the end, as does that of every other reader. A SIGBUS
 * elsewhere does what it did before. */
#ifndef FBY_WORKER_SOURCE_MAPS_H
#define FBY_WORKER_SOURCE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/files.h"

struct fby_maps;

/* For files 0 .. n_files - 1; up to `max_kept` stay mapped while nobody uses
 * them, 0: a sixteenth of the descriptors that this process may open. */
struct fby_maps *fby_maps_create(uint64_t n_files, uint32_t max_kept);
void             fby_maps_destroy(struct fby_maps **self_p);

struct fby_map_use {
    const uint8_t          *data; /* all bytes of the file */
    uint64_t                size;
    struct fby_map         *map;
    const struct fby_stamp *stamp; /* borrowed until it ends */
};

/* What one thread uses at a time; start with n = 0. */
struct fby_map_uses {
    struct fby_map_use *at; /* room for as many as are used, the caller's */
    uint32_t            n;
    uint32_t            failed; /* which one, after fby_maps_end failed */
};

/* Use a file that is mapped; false when it is not. All uses of a thread are in
 * one list, until they end together. */
bool fby_maps_use(struct fby_maps *self, uint64_t id,
    const struct fby_stamp *stamp, struct fby_map_uses *uses);

/* Map a file and use it.
 * Errors: FBY_STALE      it is no longer the one that was indexed
 *         FBY_AGAIN, FBY_IO  the system cannot map it */
FBY_CHECKED fby_err fby_maps_open(struct fby_maps *self,
    const struct fby_file *file, struct fby_map_uses *uses,
    struct fby_why *why);

/* End all of them. Errors: FBY_STALE, FBY_IO: what was read is of no use. */
FBY_CHECKED fby_err fby_maps_end(
    struct fby_maps *self, struct fby_map_uses *uses, struct fby_why *why);

#endif
