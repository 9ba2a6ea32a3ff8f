/* SPDX-License-Identifier: Apache-2.0 */
/* length_buckets.h - sort samples into buckets by length, for bucket_by.
 *
 * No sample is read, because all lengths are in the manifest (the list of
 * samples). The length of a sample is the size in bytes of the member that the
 * field of bucket_by reads; 0 if the sample has no such member. For a column,
 * and for an array with a max_length, it is the number of entries
 * (sample_lengths.h). */
#ifndef FBY_WORKER_SOURCE_LENGTH_BUCKETS_H
#define FBY_WORKER_SOURCE_LENGTH_BUCKETS_H

#include "pipeline/plan/order.h"
#include "worker/source/dataset.h"

/* Returns the field whose lengths the manifest must store (fby_dataset_spec).
 * NULL: there is no bucket_by, or its lengths are the sizes of members. */
const struct fby_field_content *fby_stored_length_field(
    const struct fby_content *content);

/* Sort all samples into buckets by their lengths. The caller destroys *out,
 * which is NULL without bucket_by.
 * Errors: FBY_CONFIG  more than 2^32 - 1 samples. */
FBY_CHECKED fby_err fby_dataset_sort_into_buckets(
    const struct fby_dataset *dataset, const struct fby_content *content,
    struct fby_buckets **out, struct fby_error_detail *why);

#endif
