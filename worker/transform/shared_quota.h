/* SPDX-License-Identifier: Apache-2.0 */
/* shared_quota.h - a limit on the memory that threads use beyond their shares.
 *
 * The quota counts bytes and allocates nothing. A thread takes at once all
 * bytes that one picture needs, and returns them afterwards. A thread that
 * holds bytes never waits for more, so there is no deadlock. Requests are
 * served in order of arrival, so that small ones cannot starve a large one. */
#ifndef FBY_WORKER_TRANSFORM_SHARED_QUOTA_H
#define FBY_WORKER_TRANSFORM_SHARED_QUOTA_H

#include <stdint.h>

#include "common/err.h"

struct fby_shared_quota;

/* Create a quota of `limit_bytes`. Never fails (control-plane allocation).
 * destroy accepts NULL; all bytes must have been returned. */
struct fby_shared_quota *fby_shared_quota_create(uint64_t limit_bytes);
void fby_shared_quota_destroy(struct fby_shared_quota **self_p);

/* Take `bytes`. Any thread. Blocks: until other threads have returned enough.
 *
 * Errors: FBY_FULL  `bytes` is more than the limit
 *         FBY_GONE  the quota was closed */
FBY_CHECKED fby_err fby_shared_quota_take(
    struct fby_shared_quota *self, uint64_t bytes);

/* Return `bytes` that were taken. Any thread. */
void fby_shared_quota_return(struct fby_shared_quota *self, uint64_t bytes);

/* From now on, fby_shared_quota_take returns FBY_GONE. Any thread. */
void fby_shared_quota_close(struct fby_shared_quota *self);

/* The limit in bytes. Any thread. */
uint64_t fby_shared_quota_limit(const struct fby_shared_quota *self);

struct fby_shared_quota_counts {
    uint64_t used;  /* bytes that are taken now */
    uint64_t waits; /* calls of fby_shared_quota_take that had to wait */
};

/* The counters at this moment. Any thread. */
struct fby_shared_quota_counts fby_shared_quota_counts(
    struct fby_shared_quota *self);

#endif
