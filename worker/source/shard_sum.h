/* shard_sum.h - XXH3-128 of a shard's bytes: of the tar, or of all the files
 * of a virtual shard one after another, in the order of their members. */
#ifndef FBY_WORKER_SOURCE_SHARD_SUM_H
#define FBY_WORKER_SOURCE_SHARD_SUM_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "worker/source/object.h"

/* Add the bytes of an open file, which `stamp` tells: it must be that file,
 * before and after.
 * Errors: FBY_STALE, FBY_IO, FBY_GONE (stopped). */
FBY_CHECKED fby_err fby_sum_add_file(struct fby_sum_state *sum,
    const struct fby_object *file, const struct fby_stamp *stamp,
    const atomic_bool *stop, struct fby_why *why);

#endif
