/* SPDX-License-Identifier: Apache-2.0 */
/* tar.h - index a tar shard from its headers, without reading payloads.
 *
 * Formats: ustar, pax (path and size), GNU (long names, large sizes). Files are
 * grouped by key as in WebDataset: "a/0001.seg.png" is the member "seg.png" of
 * the sample "a/0001". Directories and hidden files are skipped; links, sparse
 * files and compressed archives are refused. Damage is always an error, and the
 * error has its offset. A missing end mark (a block of zeros) is damage. */
#ifndef FBY_WORKER_SOURCE_SHARDS_TAR_H
#define FBY_WORKER_SOURCE_SHARDS_TAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/source/shard.h"

struct fby_tar_file {                /* an open tar file */
    const struct fby_object *object; /* borrowed */
    uint64_t                 size;   /* bytes */
    const atomic_bool       *stop;   /* true: return FBY_GONE soon; or NULL */
};

/* Fill and finish `out`, which was begun with fby_shard_init. The caller sets
 * its stamp and checksum.
 *
 * Errors: FBY_CONFIG  not a tar of samples; `why` has the offset
 *         FBY_IO, FBY_GONE (*stop became true) */
FBY_CHECKED fby_err fby_tar_scan(const struct fby_tar_file *file,
    struct fby_shard *out, struct fby_error_detail *why);

#endif
