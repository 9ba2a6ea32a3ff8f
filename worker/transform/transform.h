/* transform.h - one thread's state for decoding and ops.
 *
 * A fby_transform holds the buffers that pictures are decoded, oriented and
 * scaled in, and the CPU time of each op. apply.h and field.h use it. */
#ifndef FBY_WORKER_TRANSFORM_TRANSFORM_H
#define FBY_WORKER_TRANSFORM_TRANSFORM_H

#include <stdint.h>

#include "worker/transform/shared_quota.h"

struct fby_transform;

/* How much memory a transform may use. The need of a picture (its pixels, the
 * results of its ops, the coefficients of a file in several scans) is computed
 * from its header, before any of that memory is allocated. */
struct fby_transform_limits {
    uint64_t                 share; /* bytes it may hold at any time */
    struct fby_shared_quota *quota; /* for what one picture needs beyond that;
                                        borrowed until destroy */
};

/* Create a transform; `limits` NULL: no limits. Never fails (control-plane
 * allocation). destroy accepts NULL. */
struct fby_transform *fby_transform_create(
    const struct fby_transform_limits *limits);
void fby_transform_destroy(struct fby_transform **self_p);

/* The cost of one kind of work since create. */
struct fby_cost {
    uint64_t calls;
    int64_t  cpu_ns; /* of the calling threads */
};

/* The cost of an op, or of decoding (op_id 0).
 *
 * Thread: the one that runs the transform. */
struct fby_cost fby_transform_cost(
    const struct fby_transform *self, uint32_t op_id);

#endif
