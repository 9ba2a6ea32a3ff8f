/* csr.h - a file of scipy.sparse.save_npz as a column: many sparse rows.
 *
 * Its members data, indices and indptr lie in it as they are: row i of the
 * matrix, which is that of sample i, has the values indptr[i] to
 * indptr[i + 1] - 1, each with the index of its place. Only the headers and
 * the first and the last offset are looked at when it is indexed; what a row
 * says of itself is checked when it is made. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_CSR_H
#define FBY_WORKER_SOURCE_COLUMNS_CSR_H

#include "common/err.h"
#include "worker/source/object.h"

/* Fill `out`, but for its name, from an open file; *rows are its samples.
 *
 * Errors: FBY_NOT_FOUND  it is a .npz file, but none of SciPy's: no format.npy
 *         FBY_CONFIG     it is no CSR matrix that can be read where it lies;
 *                        `why` names the member
 *         FBY_IO         as of reading. */
FBY_CHECKED fby_err fby_csr_scan(const struct fby_object *object, uint64_t size,
    struct fby_column *out, uint64_t *rows, struct fby_why *why);

#endif
