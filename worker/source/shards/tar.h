/* tar.h - index one tar shard without reading payloads.
 *
 * A walk from header to header (ustar, pax path and size, GNU long names and
 * sizes). Files are grouped by key, the WebDataset way: "a/0001.seg.png" is
 * member "seg.png" of sample "a/0001". Directories and hidden files are passed
 * over; links, sparse files and compressed archives are refused by name. What
 * is damaged or cut short is an error with its offset, never a shorter list:
 * a shard ends with its end mark. */
#ifndef FBY_WORKER_SOURCE_SHARDS_TAR_H
#define FBY_WORKER_SOURCE_SHARDS_TAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/object.h"

struct fby_tar_file {
    const struct fby_object *object; /* borrowed */
    uint64_t                 size;   /* bytes */
    const atomic_bool       *stop; /* give up when it turns true; may be NULL */
};

/* Fill `out`, which was begun with fby_shard_init, and finish it. The caller
 * sets its stamp and sum.
 *
 * Errors: FBY_CONFIG  not a tar of samples; `why` has the offset
 *         FBY_IO, FBY_GONE (stopped) */
FBY_CHECKED fby_err fby_tar_scan(const struct fby_tar_file *file,
    struct fby_shard *out, struct fby_why *why);

#endif
