/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - the index of a source: its shards, from the cache or a scan.
 *
 * Opening a dataset spends most of its time here. The result is constant data,
 * in which dataset.c looks samples up. */
#ifndef FBY_WORKER_SOURCE_INDEX_H
#define FBY_WORKER_SOURCE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/location.h"
#include "worker/source/folder/folder.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"
#include "worker/source/spec.h"
#include "worker/source/zip/archive.h"

struct fby_index {
    const struct fby_root    *root;     /* of the source, or of `archive` */
    struct fby_archive       *archive;  /* that the source lies in; or NULL */
    struct fby_location_parts location; /* of the source */
    struct fby_shard         *shards;
    uint32_t                  n_shards;
    struct fby_folder *folders; /* the class folders or the parallel folders,
                                   relative to location.base; else NULL */
    uint32_t           n_folders;
    bool               hashed; /* all shards have checksums */
    uint32_t           reused; /* number of shards taken from the cache */
};

/* Index the source `spec`. Release `out` with fby_index_fini(), also after an
 * error.
 * Errors: those of fby_dataset_open. */
FBY_CHECKED fby_err fby_index_build(const struct fby_dataset_spec *spec,
    struct fby_progress progress, struct fby_index *out,
    struct fby_error_detail *why);
void                fby_index_fini(struct fby_index *self);

/* Write the path, relative to the root, of file `number` of a shard. A file has
 * the number of its member or column, or 0 if it is the shard's only file.
 * Errors: FBY_CONFIG  the path is too long. */
FBY_CHECKED fby_err fby_index_path(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why);

/* Open file `number` of a shard; the caller closes *out.
 * Errors: those of fby_index_path and fby_object_open. */
FBY_CHECKED fby_err fby_index_open(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t number, struct fby_object *out,
    struct fby_error_detail *why);

/* Format a path as snprintf() does, for the functions fby_source_ops.path.
 * Errors: FBY_CONFIG  the path is too long. */
FBY_CHECKED fby_err fby_path_format(char out[FBY_PATH_SIZE],
    struct fby_error_detail *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
