/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.h - write sparse rows: the values of a long row that are not 0.
 *
 * The long row, with its zeros, is the dense row. A sparse row is written as
 * two lists: the indices of these values in the dense row, in ascending order,
 * and the values in the wire type. */
#ifndef FBY_WORKER_TRANSFORM_SPARSE_H
#define FBY_WORKER_TRANSFORM_SPARSE_H

#include "worker/npy/npy.h"
#include "worker/transform/field.h"

enum {
    FBY_SPARSE_SCRATCH_BYTES =
        8,                    /* bytes for each value, to reorder the values */
    FBY_SPARSE_SORT_BYTES = 8 /* bytes that qsort may allocate for each value */
};

/* A sparse row in any order. A value of 0 is allowed, and written as well. */
struct fby_sparse_row {
    int64_t              *indices; /* of the values; overwritten */
    const struct fby_npy *values;  /* values->n_values is their number */
    uint8_t *scratch; /* FBY_SPARSE_SCRATCH_BYTES bytes for each value */
};

/* A sparse row as two arrays in memory, of one dimension and equal length. */
struct fby_sparse_lists {
    struct fby_npy indices;
    struct fby_npy values;
};

/* Refuse a row of `n_values` if that is more than max_length.
 * Errors: FBY_BAD_SAMPLE, with both numbers. */
FBY_CHECKED fby_err fby_sparse_check_length(const struct fby_field_job *job,
    uint64_t n_values, struct fby_error_detail *why);

/* Allocate `bytes` of the transform's memory at *out, for use until
 * fby_transform_release. Until then `library_bytes`, the bytes that libraries
 * will allocate, are counted as used as well.
 * Errors: as fby_transform_reserve. */
FBY_CHECKED fby_err fby_sparse_alloc(struct fby_transform *transform,
    uint64_t bytes, uint64_t library_bytes, uint8_t **out,
    struct fby_error_detail *why);

/* Write the indices of a row to job->indices, its values to `dst`, and the
 * number of values to *job->length.
 *
 * Errors: FBY_BAD_SAMPLE  more values than max_length, an index outside the
 *                         shape or a duplicate, or a value that the wire type
 *                         cannot hold; `why` has the numbers */
FBY_CHECKED fby_err fby_sparse_write(const struct fby_field_job *job,
    const struct fby_sparse_row *row, uint8_t *dst,
    struct fby_error_detail *why);

/* Write a row from two arrays, like fby_sparse_write. Uses 24 bytes of
 * memory for each value: 8 each for the index, for scratch and for sorting.
 * Errors: as fby_field_write. */
FBY_CHECKED fby_err fby_sparse_write_lists(struct fby_transform *transform,
    const struct fby_field_job *job, const struct fby_sparse_lists *lists,
    uint8_t *dst, struct fby_error_detail *why);

#endif
