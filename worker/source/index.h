/* index.h - from a source to its shards: the cache where it holds, else a scan.
 *
 * This is the part of opening a dataset that takes time; what comes out is
 * plain data that dataset.c looks things up in. */
#ifndef FBY_WORKER_SOURCE_INDEX_H
#define FBY_WORKER_SOURCE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/location.h"
#include "worker/source/dataset.h"
#include "worker/source/folder/folder.h"
#include "worker/source/shard.h"

struct fby_index {
    const struct fby_root    *root;
    struct fby_location_parts parts;
    struct fby_shard         *shards;
    uint32_t                  n_shards;
    struct fby_folder_class  *classes; /* of folders: their names; of parallel
                                          folders: these, below the base */
    uint32_t                  n_classes;
    bool                      hashed;
    uint32_t                  reused; /* shards that the cache spared */
};

/* Fill `out`; release it with fini, also after an error.
 * Errors: those of fby_dataset_open. */
FBY_CHECKED fby_err fby_index_build(const struct fby_dataset_spec *spec,
    struct fby_progress progress, struct fby_index *out, struct fby_why *why);
void                fby_index_fini(struct fby_index *self);

/* The path beneath the root of a shard's file `number`: of a folder that of a
 * member, of columns that of a column, of others the only one.
 * Errors: FBY_CONFIG when it is too long. */
FBY_CHECKED fby_err fby_index_path(const struct fby_index *self,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_why *why);

/* Write a path into `out`, for fby_source_ops.path.
 * Errors: FBY_CONFIG when it is too long. */
FBY_CHECKED fby_err fby_path_format(
    char out[FBY_PATH_SIZE], struct fby_why *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
