/* sparse.h - write rows in which few values are not 0.
 *
 * Every source of a row is written in one form: ascending indices into the
 * dense row, and the values in the wire type. */
#ifndef FBY_WORKER_TRANSFORM_SPARSE_H
#define FBY_WORKER_TRANSFORM_SPARSE_H

#include "worker/npy/npy.h"
#include "worker/transform/field.h"

enum {
    FBY_SPARSE_SPARE = 8, /* bytes a value, in which values are reordered */
    FBY_SPARSE_SORT  = 8  /* bytes a value that qsort may allocate */
};

struct fby_sparse_row {           /* the values of one sample, in any order */
    int64_t              *at;     /* index of each value in the dense row; used
                                     as working memory */
    const struct fby_npy *values; /* the same number; zeros are kept */
    uint8_t              *spare;  /* FBY_SPARSE_SPARE bytes for each value */
};

struct fby_sparse_lists { /* of one row, borrowed */
    struct fby_npy indices;
    struct fby_npy values;
};

/* Write a row of a sparse field: its indices to job->indices, its values to
 * `dst`, their number to *job->length.
 *
 * Errors: FBY_BAD_SAMPLE  more values than max_length, an index outside the
 *                         shape or twice, or a value that the wire type
 *                         cannot hold; `why` has the numbers */
FBY_CHECKED fby_err fby_sparse_write(const struct fby_field_job *job,
    const struct fby_sparse_row *row, uint8_t *dst, struct fby_why *why);

/* Write a row whose indices and values are arrays in memory, of one dimension
 * and equal length. Needs 24 bytes of memory for each value.
 * Errors: as fby_field_write. */
FBY_CHECKED fby_err fby_sparse_row_write(struct fby_transform *transform,
    const struct fby_field_job *job, const struct fby_sparse_lists *lists,
    uint8_t *dst, struct fby_why *why);

/* Write a .npz file of scipy.sparse.save_npz, in CSR or COO. Its shape is
 * [values] or [1, values] of the field's dense row, or the field's own shape if
 * that has two dimensions.
 * Errors: as fby_field_write. */
FBY_CHECKED fby_err fby_sparse_file_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

#endif
