/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - the table of sources: how a worker indexes a source, names its files,
 * and describes its samples.
 *
 * Each kind of source has a folder below this one and a line in ops.c. The
 * properties that need no open file are in pipeline/sources/traits.h. */
#ifndef FBY_WORKER_SOURCE_OPS_H
#define FBY_WORKER_SOURCE_OPS_H

#include "pipeline/record.h"
#include "worker/source/roots.h"
#include "worker/source/spec.h"

struct fby_build;
struct fby_dataset;
struct fby_index;
struct fby_member;
struct fby_sample_at;
struct fby_shard;

/* The functions of one kind of source. */
struct fby_source_ops {
    /* Fill the shards of b->out, whose location is set.
     * Errors: those of fby_dataset_open. */
    fby_err (*index)(struct fby_build *b, struct fby_error_detail *why);

    /* Refuse an index that is unusable as a dataset. NULL: none is refused.
     * Errors: FBY_CONFIG. */
    fby_err (*check)(const struct fby_dataset_spec *spec,
        const struct fby_index *index, struct fby_error_detail *why);

    /* Append as text all settings that change the index, besides kind and
     * location. The cache has one file for each text. NULL: no such setting. */
    void (*describe_index)(
        const struct fby_dataset_spec *spec, struct fby_buffer *out);

    /* Write the path of file `number` of a shard, relative to the base of the
     * location. NULL: a shard has one file, and its name is the path.
     * Errors: FBY_CONFIG  the path is too long. */
    fby_err (*path)(const struct fby_index *index,
        const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
        struct fby_error_detail *why);

    /* Write the position of a sample, or of a member of it, for error messages.
     * NULL: fby_sample_describe. */
    void (*describe)(const struct fby_dataset *dataset,
        const struct fby_sample_at *at, const struct fby_member *member,
        struct fby_error_detail *text);

    /* Write and read the entries of a shard's manifest that only this kind has.
     * They follow those of all kinds. Both NULL: entries of keys and members.
     * Errors: FBY_PROTO, with `why`. */
    void (*encode)(const struct fby_shard *shard, struct fby_buffer *out);
    fby_err (*decode)(struct fby_record *r, struct fby_shard *out,
        struct fby_error_detail *why);

    /* Refuse fields that this data cannot fill. NULL: samples are only checked
     * when they are read. Errors: FBY_CONFIG. */
    fby_err (*check_fields)(const struct fby_dataset *dataset,
        const struct fby_content *content, struct fby_error_detail *why);
};

/* Returns the table of a kind of source, which must be valid. */
const struct fby_source_ops *fby_source_ops(enum fby_source_kind kind);

extern const struct fby_source_ops fby_folder_ops;
extern const struct fby_source_ops fby_shards_ops;
extern const struct fby_source_ops fby_columns_ops;
extern const struct fby_source_ops fby_list_ops;
extern const struct fby_source_ops fby_parallel_ops;
extern const struct fby_source_ops fby_tokens_ops;

#endif
