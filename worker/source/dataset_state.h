/* dataset_state.h - what a dataset consists of, for those that look into
 * it: dataset.c, run.c, list/fields.c. */
#ifndef FBY_WORKER_SOURCE_DATASET_STATE_H
#define FBY_WORKER_SOURCE_DATASET_STATE_H

#include "worker/source/dataset.h"
#include "worker/source/files.h"
#include "worker/source/index.h"
#include "worker/source/maps.h"

struct fby_dataset {
    struct fby_index   index;
    struct fby_files  *files;
    struct fby_maps   *maps;    /* of columns and tokens */
    uint64_t          *map_ids; /* likewise; a shard: that of its first file */
    struct fby_digest *digests; /* a shard */
    struct fby_digest  digest;
    uint32_t          *samples; /* a shard */
    uint64_t          *first;   /* a shard, and one more: its first sample */
};

#endif
