/* columns.h - index one shard of columns from its headers alone.
 *
 * A shard is a directory of NAME.npy files and of NAME.npz files that SciPy
 * wrote (csr.h), or one .npz file whose stored members are NAME.npy. Axis 0 of
 * each counts the samples, so all have the same length there. What cannot be
 * read row by row where it lies (compressed, in Fortran order, objects) is
 * refused by name. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_H
#define FBY_WORKER_SOURCE_COLUMNS_H

#include "common/err.h"
#include "worker/source/roots.h"
#include "worker/source/shard.h"

/* Fill `out`, which was begun with fby_shard_init: its columns, rows, size and
 * stamps. `path` beneath the root is the directory, or the .npz.
 *
 * Errors: FBY_CONFIG  it holds no column, or one that is refused
 *         FBY_NOT_FOUND, FBY_USAGE, FBY_AGAIN, FBY_IO as of opening and
 *         reading; `why` names the file. */
FBY_CHECKED fby_err fby_columns_scan(const struct fby_root *root,
    const char *path, struct fby_shard *out, struct fby_why *why);

/* Bytes of a row of it; 0 when there are none, or more than can be. */
uint64_t fby_column_row_bytes(const struct fby_column *column);

/* Add a column to a shard that is begun.
 * Errors: FBY_CONFIG  its name, or too many. */
FBY_CHECKED fby_err fby_shard_add_column(struct fby_shard *self,
    const struct fby_column *column, struct fby_why *why);

#endif
