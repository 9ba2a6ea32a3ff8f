/* apply.h - run the ops of a field on a picture in memory.
 *
 * pipeline/op.h decides what an op does to a picture (a fby_op_plan: box, size,
 * mirror, and steps for all else); the code here carries the plan out. */
#ifndef FBY_WORKER_TRANSFORM_APPLY_H
#define FBY_WORKER_TRANSFORM_APPLY_H

#include <stdbool.h>

#include "worker/transform/passes.h"
#include "worker/transform/transform.h"

/* Run the ops on `in` and write the result to `out`, without gaps between
 * rows. `out` has the sides that the last plan leaves (those of `in` without
 * ops). The pixels of `in` are used as working memory and are lost.
 *
 * Thread: one at a time for a transform.
 * Errors: FBY_USAGE when an op or step is unknown, a plan does not fit its
 *         input picture, or `out` has other sides; FBY_FULL when memory is
 *         short. */
FBY_CHECKED fby_err fby_transform_run(struct fby_transform *self,
    const struct fby_op_run *run, struct fby_image in, struct fby_image out,
    struct fby_why *why);

/* Can this worker run the op? */
bool fby_transform_knows(uint32_t op_id);

#endif
