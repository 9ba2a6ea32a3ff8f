/* manifest.h - the part of a shard's record that only columns have. */
#ifndef FBY_WORKER_SOURCE_COLUMNS_MANIFEST_H
#define FBY_WORKER_SOURCE_COLUMNS_MANIFEST_H

#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/record.h"
#include "worker/source/shard.h"

void fby_columns_encode(const struct fby_shard *shard, struct fby_buffer *out);

/* Read the rest of the record into `out`, whose head was read.
 * Errors: FBY_PROTO, also for what is wrong in the head. */
FBY_CHECKED fby_err fby_columns_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_why *why);

#endif
