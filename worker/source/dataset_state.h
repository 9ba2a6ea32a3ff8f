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

/* A sample, found. */
struct fby_sample_at {
    uint64_t                number; /* in the dataset */
    const struct fby_shard *shard;
    uint32_t                shard_number;
    uint32_t                sample; /* in the shard */
};

/* The sequence of a token file as a member. */
struct fby_member fby_sequence_member(const struct fby_sample_at *at);

/* "jpg, cls": the suffixes of a sample's members. */
void fby_sample_members(const struct fby_sample_at *at, char *out, size_t size);

/* Where a sample is that has a key and members; the default of
 * fby_source_ops.describe. */
void fby_sample_describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_why *text);

#endif
