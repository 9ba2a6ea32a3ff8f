/* SPDX-License-Identifier: Apache-2.0 */
/* dataset_state.h - the members of struct fby_dataset, for the files that read
 * them: dataset.c, row_reader.c and the ops of the sources. */
#ifndef FBY_WORKER_SOURCE_DATASET_STATE_H
#define FBY_WORKER_SOURCE_DATASET_STATE_H

#include "worker/source/dataset.h"
#include "worker/source/file_cache.h"
#include "worker/source/folder/numbering.h"
#include "worker/source/index.h"
#include "worker/source/mapped_files.h"

struct fby_dataset {
    struct fby_index           index;
    struct fby_class_numbering classes; /* zero: its own folders */
    struct fby_file_cache     *files;   /* open files; NULL for columns */
    struct fby_mapped_files   *maps; /* mapped files; columns and tokens only */
    uint64_t *map_ids; /* per shard: id of its file 0 in `maps`; then total */
    struct fby_digest *digests; /* per shard */
    struct fby_digest  digest;  /* the data digest */
    uint32_t          *samples; /* per shard: how many samples it has */
    uint64_t *first; /* per shard: number of its first sample; then total */
};

/* A sample and its shard. */
struct fby_sample_at {
    uint64_t                number; /* number of the sample in the dataset */
    const struct fby_shard *shard;
    uint32_t                shard_number;
    uint32_t                sample; /* number of the sample in the shard */
};

/* Describe a sequence of a token file as a member. */
struct fby_member fby_sequence_member(const struct fby_sample_at *at);

/* Write the extensions of a sample's members as a list, "jpg, cls". */
void fby_sample_write_extensions(
    const struct fby_sample_at *at, char *out, size_t size);

/* The default of fby_source_ops.describe: for samples with keys and members. */
void fby_sample_describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_error_detail *text);

#endif
