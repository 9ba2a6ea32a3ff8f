/* SPDX-License-Identifier: Apache-2.0 */
/* transform.h - setup and teardown of the transform of one test. */
#ifndef FBY_TESTS_WORKER_TRANSFORM_TRANSFORM_H
#define FBY_TESTS_WORKER_TRANSFORM_TRANSFORM_H

#include "tests/test.h"

#include "worker/transform/apply.h"

static struct fby_transform *transform;

static inline int open_transform(void **state)
{
    (void)state;
    transform = fby_transform_create(NULL);
    return 0;
}

static inline int close_transform(void **state)
{
    (void)state;
    fby_transform_destroy(&transform);
    return 0;
}

#endif
