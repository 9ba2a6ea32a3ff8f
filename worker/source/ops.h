/* ops.h - the table of sources: how a worker indexes one, names its files, and
 * describes its samples.
 *
 * Each source is one folder here, and one line in ops.c. What is known of a
 * source before a file is opened is in pipeline/sources/traits.h. */
#ifndef FBY_WORKER_SOURCE_OPS_H
#define FBY_WORKER_SOURCE_OPS_H

#include "pipeline/record.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"

struct fby_source_ops {
    /* Fill the shards of b->out, whose location is known.
     * Errors: those of fby_dataset_open. */
    fby_err (*index)(struct fby_build *b, struct fby_why *why);

    /* Refuse an index that is of no use as a dataset. NULL: none is.
     * Errors: FBY_CONFIG. */
    fby_err (*check)(const struct fby_dataset_spec *spec,
        const struct fby_index *index, struct fby_why *why);

    /* Append, as text, what else than kind and location an index depends on:
     * the cache keeps one for each. NULL: nothing. */
    void (*describe_index)(
        const struct fby_dataset_spec *spec, struct fby_buffer *out);

    /* The path of file `number` of a shard below the base of the location.
     * NULL: a shard has one file, its name is the path.
     * Errors: FBY_CONFIG  it is too long. */
    fby_err (*path)(const struct fby_index *index,
        const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
        struct fby_why *why);

    /* Where a sample is, or one of its members, for error messages. NULL:
     * fby_sample_describe. */
    void (*describe)(const struct fby_dataset *dataset,
        const struct fby_sample_at *at, const struct fby_member *member,
        struct fby_why *text);

    /* The entries of a shard in the manifest, after those that all shards have.
     * NULL, both: samples with keys and members.
     * Errors: FBY_PROTO, with `why`. */
    void (*encode)(const struct fby_shard *shard, struct fby_buffer *out);
    fby_err (*decode)(
        struct fby_record *r, struct fby_shard *out, struct fby_why *why);

    /* Refuse fields that this data does not have. NULL: each sample is checked
     * as it is read. Errors: FBY_CONFIG. */
    fby_err (*check_fields)(const struct fby_dataset *dataset,
        const struct fby_content *content, struct fby_why *why);
};

/* The ops of a kind that is valid. */
const struct fby_source_ops *fby_source_ops(enum fby_source_kind kind);

extern const struct fby_source_ops fby_folder_ops;
extern const struct fby_source_ops fby_shards_ops;
extern const struct fby_source_ops fby_columns_ops;
extern const struct fby_source_ops fby_list_ops;
extern const struct fby_source_ops fby_parallel_ops;
extern const struct fby_source_ops fby_tokens_ops;

#endif
