/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - index one shard of columns from the headers of its files.
 *
 * A shard is a folder of NAME.npy files, and of NAME.npz files that SciPy wrote
 * (csr.h). Or it is one .npz file with members NAME.npy, not compressed. The
 * first dimension of an array counts its rows, and row i is sample i. So all
 * columns of a shard have the same number of rows, except ragged ones
 * (ragged.h). Data that cannot be read row by row in place is refused:
 * compressed data, arrays in Fortran order, and Python objects. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_H
#define FBY_WORKER_SOURCE_COLUMNS_H

#include "common/err.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"

/* Fill `out`, which was begun with fby_shard_init. `path` is the path of the
 * folder or .npz file, relative to the root.
 *
 * Errors: FBY_CONFIG  there is no column, or a column is refused
 *         FBY_IO and those of fby_object_open; `why` names the file. */
FBY_CHECKED fby_err fby_columns_scan(const struct fby_root *root,
    const char *path, struct fby_shard *out, struct fby_error_detail *why);

/* The bytes of one row; 0 if a dimension is 0 or the product overflows. */
uint64_t fby_column_row_bytes(const struct fby_column *column);

/* Append a column to a shard that is still being built.
 * Errors: FBY_CONFIG  a bad name, or more than FBY_SHARD_MAX_COLUMNS. */
FBY_CHECKED fby_err fby_shard_add_column(struct fby_shard *self,
    const struct fby_column *column, struct fby_error_detail *why);

#endif
