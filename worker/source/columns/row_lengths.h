/* row_lengths.h - how many entries each row of a column has, for the manifest.
 *
 * Batches of rows of like length are settled before any row is read, and by
 * every worker alike: so the lengths are part of the manifest of a source whose
 * content has a bucket_by, and of its digest. For that all of the column's
 * offsets are read once. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_ROW_LENGTHS_H
#define FBY_WORKER_SOURCE_COLUMNS_ROW_LENGTHS_H

#include <stdatomic.h>

#include "worker/source/index.h"

/* Set shard->lengths to those of the column that `field` is: of a row whose
 * offsets go back or lead beyond the values 0, for it is a bad sample.
 * Errors: FBY_CONFIG  the field has no such column here, or too many rows
 *         FBY_GONE    stop was set
 *         of opening and reading; `why` names the column. */
FBY_CHECKED fby_err fby_row_lengths_read(const struct fby_index *index,
    struct fby_shard *shard, const struct fby_field_content *field,
    const atomic_bool *stop, struct fby_why *why);

#endif
