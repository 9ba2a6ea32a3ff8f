/* budget.h - who may use how much of a worker's batch memory.
 *
 * A promise, not memory: every session is entitled to a part of the budget,
 * enough for one of its batches. What entitlements leave free, anybody may use;
 * a session below its entitlement is refused only while bytes that others used
 * beyond theirs are still on their way back. Plain arithmetic, one thread. */
#ifndef FBY_WORKER_SESSION_BUDGET_H
#define FBY_WORKER_SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct fby_budget {    /* start with fby_budget_init */
    uint64_t total;    /* bytes */
    uint64_t charged;  /* by all shares */
    uint64_t entitled; /* sum of all entitlements; never above total */
    uint64_t unused;   /* sum of what shares may still charge as theirs */
};

struct fby_budget_share { /* one session's part; starts zeroed */
    uint64_t entitled;    /* bytes */
    uint64_t charged;
};

void fby_budget_init(struct fby_budget *self, uint64_t total_bytes);

/* Entitle `share` to `bytes`.
 * Errors: FBY_FULL  the entitlements of all would be more than the budget. */
FBY_CHECKED fby_err fby_budget_join(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);

/* End its entitlement; what is charged stays until it is refunded. */
void fby_budget_leave(struct fby_budget *self, struct fby_budget_share *share);

/* Errors: FBY_AGAIN  not now: the room is used, or kept for others
 *         FBY_FULL   never: it is more than the whole budget. */
FBY_CHECKED fby_err fby_budget_charge(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);
void fby_budget_refund(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);

/* Bytes it has charged beyond its entitlement. */
uint64_t fby_budget_surplus(const struct fby_budget_share *share);

#endif
