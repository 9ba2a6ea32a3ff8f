/* SPDX-License-Identifier: Apache-2.0 */
/* sample_lengths.h - read the lengths of all samples of a shard, for its
 * manifest.
 *
 * With bucket_by, all workers must sort the samples into the same buckets
 * before any sample is read. So a length that is not the size of a member is
 * read once, and becomes part of the manifest and its digest. The length of a
 * row of a ragged or sparse column is its number of entries. The length of a
 * member that is a NumPy file is its first dimension.
 *
 * All functions set shard->lengths, which must be NULL before.
 * Errors: FBY_STALE, FBY_IO, FBY_GONE (*stop became true), and the errors of
 *         opening the shard or file; `why` names the column or the member. */
#ifndef FBY_WORKER_SOURCE_SAMPLE_LENGTHS_H
#define FBY_WORKER_SOURCE_SAMPLE_LENGTHS_H

#include <stdatomic.h>

#include "worker/source/index.h"

/* Read the offsets of the column of `field`. A row whose offsets decrease or
 * exceed the values is a bad sample; its length is 0.
 * Errors: also FBY_CONFIG: no such column in the shard, or too many rows. */
FBY_CHECKED fby_err fby_row_lengths_read(const struct fby_index *index,
    struct fby_shard *shard, const struct fby_field_content *field,
    const atomic_bool *stop, struct fby_error_detail *why);

/* The members whose lengths are read. All pointers are borrowed. Either `index`
 * or `object` is NULL. */
struct fby_length_source {
    const struct fby_field_content *field; /* names the members in its `from` */
    const struct fby_index  *index;  /* each member is a file of this index */
    const struct fby_object *object; /* all members are in this open file */
    const atomic_bool       *stop;   /* true: give up soon */
};

/* For each sample read the NumPy header of the first member that field->from
 * names and the sample has. The length is 0 if the sample has none of them. It
 * is also 0 if the member is not a complete NumPy file with at least one
 * dimension, which is a bad sample when it is read. */
FBY_CHECKED fby_err fby_member_lengths_read(
    const struct fby_length_source *source, struct fby_shard *shard,
    struct fby_error_detail *why);

#endif
