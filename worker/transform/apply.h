/* apply.h - the worker ops on pixels.
 *
 * pipeline/op.h decides what an op does to a picture (a fby_op_plan:
 * box, size, mirror, and steps for all else); here it is done.
 * A fby_transform is one thread's scratch: the buffers pictures are decoded,
 * turned and scaled in, and the CPU time each op took. */
#ifndef FBY_WORKER_TRANSFORM_APPLY_H
#define FBY_WORKER_TRANSFORM_APPLY_H

#include <stdbool.h>

#include "pipeline/op.h"
#include "worker/transform/image.h"
#include "worker/transform/shared_quota.h"

struct fby_transform;

/* How much memory a transform may use. What a picture takes (its pixels, those
 * the ops make on the way, the coefficients of a file in several scans) is
 * known from its header, before any of it is taken. */
struct fby_transform_limits {
    uint64_t                 share; /* bytes it may hold at any time */
    struct fby_shared_quota *quota; /* for what one picture takes beyond that;
                                        borrowed until destroy */
};

/* NULL: no limits. Never fails (control-plane allocation); destroy accepts
 * NULL. */
struct fby_transform *fby_transform_create(
    const struct fby_transform_limits *limits);
void fby_transform_destroy(struct fby_transform **self_p);

/* A field's ops, ready to run: uses[i] is done as plans[i] says. */
struct fby_op_run {
    const struct fby_op_use  *uses;  /* borrowed, n_ops of them */
    const struct fby_op_plan *plans; /* borrowed, n_ops of them */
    uint32_t                  n_ops;
};

/* Run the ops on `in` and write the result to `out`, without gaps between
 * rows; its sides are those the last plan leaves (those of `in` without ops).
 * The pixels of `in` are used as working memory and are lost.
 *
 * Thread: one at a time for a transform.
 * Errors: FBY_USAGE when an op or step is not known here, a plan does not fit
 *         the picture it meets, or `out` has other sides; FBY_FULL when memory
 *         is short. */
FBY_CHECKED fby_err fby_transform_run(struct fby_transform *self,
    const struct fby_op_run *run, struct fby_image in, struct fby_image out,
    struct fby_why *why);

/* Can this op be done here? */
bool fby_transform_knows(uint32_t op_id);

/* What a kind of work took since create. */
struct fby_cost {
    uint64_t calls;
    int64_t  cpu_ns; /* of the calling threads */
};

/* The cost of an op, or of decoding (op_id 0). Same thread as the runs. */
struct fby_cost fby_transform_cost(
    const struct fby_transform *self, uint32_t op_id);

#endif
