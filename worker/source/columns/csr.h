/* SPDX-License-Identifier: Apache-2.0 */
/* csr.h - a CSR (compressed sparse row) matrix, saved by scipy.sparse.save_npz,
 * as one column.
 *
 * The zip members data, indices and indptr are read in place. Row i of the
 * matrix is sample i. Its values are data[k], in the columns indices[k] of the
 * matrix, for indptr[i] <= k < indptr[i + 1]. Indexing checks only the headers
 * and the first and last offset; a row is checked when it is used. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_CSR_H
#define FBY_WORKER_SOURCE_COLUMNS_CSR_H

#include "common/err.h"
#include "worker/source/shard.h"

/* Fill `out`, except its name, from an open file of `size` bytes. Set *rows to
 * the number of rows.
 *
 * Errors: FBY_NOT_FOUND  a .npz file without format.npy: SciPy did not write it
 *         FBY_CONFIG     not a CSR matrix that can be read in place; `why`
 *                        names the member
 *         FBY_IO */
FBY_CHECKED fby_err fby_csr_scan(const struct fby_object *object, uint64_t size,
    struct fby_column *out, uint64_t *rows, struct fby_error_detail *why);

#endif
