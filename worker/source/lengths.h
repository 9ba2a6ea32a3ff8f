/* lengths.h - samples sorted by the length of one of their members, or rows.
 *
 * The length is what the manifest says of the member that the field of
 * bucket_by reads: its bytes; 0 of a sample that has none. Of columns it is
 * the entries of the field's row, of an array with a max_length those of its
 * NumPy member. Nothing is read. */
#ifndef FBY_WORKER_SOURCE_LENGTHS_H
#define FBY_WORKER_SOURCE_LENGTHS_H

#include "pipeline/plan/buckets.h"
#include "worker/source/dataset.h"

/* What a dataset of that content is opened with: see fby_dataset_spec. */
const struct fby_field_content *fby_lengths_field(
    const struct fby_content *content);

/* *out is NULL where the content has no bucket_by; else the caller's.
 * Errors: FBY_CONFIG when there are more than 2^32 - 1 samples. */
FBY_CHECKED fby_err fby_lengths_sort(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_buckets **out,
    struct fby_why *why);

#endif
