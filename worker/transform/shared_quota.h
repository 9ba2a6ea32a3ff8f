/* shared_quota.h - bytes that threads may use beyond what each has for itself.
 *
 * It counts and holds no memory. A thread takes all that one piece of work
 * needs at once, does it, and gives it back: whoever holds some never waits,
 * so there is no circle. Served in the order of asking, so that a large wish
 * is not passed by small ones for ever. */
#ifndef FBY_WORKER_TRANSFORM_SHARED_QUOTA_H
#define FBY_WORKER_TRANSFORM_SHARED_QUOTA_H

#include <stdint.h>

#include "common/err.h"

struct fby_shared_quota;

struct fby_shared_quota *fby_shared_quota_create(uint64_t limit_bytes);
/* Everything must have been given back. */
void fby_shared_quota_destroy(struct fby_shared_quota **self_p);

/* Take `bytes`, waiting until others have given back enough. Any thread.
 *
 * Errors: FBY_FULL  more than the limit: it can never be
 *         FBY_GONE  it was closed */
FBY_CHECKED fby_err fby_shared_quota_take(
    struct fby_shared_quota *self, uint64_t bytes);
void fby_shared_quota_give(struct fby_shared_quota *self, uint64_t bytes);

/* Wake all who wait in take; later ones are refused. */
void fby_shared_quota_close(struct fby_shared_quota *self);

uint64_t fby_shared_quota_limit(const struct fby_shared_quota *self);

struct fby_shared_quota_counts {
    uint64_t used;  /* bytes, now */
    uint64_t waits; /* takes that had to wait */
};
struct fby_shared_quota_counts fby_shared_quota_counts(
    struct fby_shared_quota *self);

#endif
