/* sparse.h - rows of which few values are not 0.
 *
 * Wherever the values of a row come from, they end up in one form: indices
 * into the dense row, ascending, and the values in the wire type. */
#ifndef FBY_WORKER_TRANSFORM_SPARSE_H
#define FBY_WORKER_TRANSFORM_SPARSE_H

#include "worker/npy/npy.h"
#include "worker/transform/field.h"

enum {
    FBY_SPARSE_SPARE = 8, /* bytes for each value, to put them in order */
    FBY_SPARSE_SORT  = 8  /* and so many that sorting may take by itself */
};

struct fby_sparse_row { /* of one sample, in any order */
    int64_t *at;        /* of each value its index in the dense row; changed */
    const struct fby_npy *values; /* one after another; zeros are kept */
    uint8_t              *spare;  /* FBY_SPARSE_SPARE bytes for each of them */
};

struct fby_sparse_lists { /* of one row, borrowed */
    struct fby_npy indices;
    struct fby_npy values;
};

/* Write a row of a sparse field: its indices to job->indices, its values to
 * `dst`, how many to *job->length.
 *
 * Errors: FBY_BAD_SAMPLE  there are more than max_length, an index is beyond
 *                         the shape or stands there twice, or the wire type
 *                         cannot hold a value; `why` has both numbers. */
FBY_CHECKED fby_err fby_sparse_write(const struct fby_field_job *job,
    const struct fby_sparse_row *row, uint8_t *dst, struct fby_why *why);

/* The same of a row whose indices and values lie in memory: two arrays of one
 * dimension and one length. Takes 24 bytes for each value while it works.
 * Errors: those of fby_field_write. */
FBY_CHECKED fby_err fby_sparse_row_write(struct fby_transform *transform,
    const struct fby_field_job *job, const struct fby_sparse_lists *lists,
    uint8_t *dst, struct fby_why *why);

/* A .npz file as scipy.sparse.save_npz writes it: CSR or COO, of the shape
 * [values] or [1, values] of the field's dense row, or of the field's own shape
 * where that has two dimensions.
 * Errors: those of fby_field_write. */
FBY_CHECKED fby_err fby_sparse_file_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

#endif
