/* SPDX-License-Identifier: Apache-2.0 */
/* transform.h - the buffers that one thread uses to decode pictures, and to run
 * ops (such as a crop or a blur) on them. apply.h and field.h use them. */
#ifndef FBY_WORKER_TRANSFORM_TRANSFORM_H
#define FBY_WORKER_TRANSFORM_TRANSFORM_H

#include <stdint.h>

#include "worker/transform/shared_quota.h"

struct fby_transform;

/* The memory that a transform may use. The memory that a picture needs (for its
 * pixels, the results of its ops, the coefficients of a JPEG with several
 * scans) is computed from its header, before any of it is allocated. */
struct fby_transform_limits {
    uint64_t share; /* bytes that the transform may hold without the quota */
    struct fby_shared_quota *quota; /* counts the bytes beyond `share`;
                                       borrowed until destroy */
};

/* Create a transform. NULL `limits` mean no limits. Never fails (control-plane
 * allocation). destroy accepts NULL. */
struct fby_transform *fby_transform_create(
    const struct fby_transform_limits *limits);
void fby_transform_destroy(struct fby_transform **self_p);

#endif
