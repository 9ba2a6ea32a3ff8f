/* budget.h - how much of a worker's batch memory each session may use.
 *
 * A budget only counts bytes; it allocates nothing. Every session is entitled
 * to so many bytes of the budget that one of its batches fits. Any session may
 * also use the bytes that no session is entitled to. A session below its
 * entitlement is refused only until other sessions have returned the bytes
 * beyond their own entitlements. One thread. */
#ifndef FBY_WORKER_SESSION_BUDGET_H
#define FBY_WORKER_SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct fby_budget {    /* start with fby_budget_init */
    uint64_t total;    /* bytes */
    uint64_t charged;  /* bytes, by all shares */
    uint64_t entitled; /* bytes, of all shares; never above total */
    uint64_t unused;   /* bytes of entitlements that are not yet charged */
};

struct fby_budget_share { /* the part of one session; starts zeroed */
    uint64_t entitled;    /* bytes */
    uint64_t charged;     /* bytes; may exceed `entitled` */
};

/* Initialise a budget of `total_bytes` without shares. */
void fby_budget_init(struct fby_budget *self, uint64_t total_bytes);

/* Entitle `share` to `bytes`.
 * Errors: FBY_FULL  all entitlements together would exceed the budget. */
FBY_CHECKED fby_err fby_budget_join(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);

/* End the entitlement of `share`; its charges stay until they are refunded. */
void fby_budget_leave(struct fby_budget *self, struct fby_budget_share *share);

/* Charge `bytes` to `share`.
 * Errors: FBY_AGAIN  not now: the bytes are used, or other shares are entitled
 *                    to them
 *         FBY_FULL   never: `bytes` exceeds the whole budget. */
FBY_CHECKED fby_err fby_budget_charge(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);

/* Subtract `bytes` from the charges of `share`. */
void fby_budget_refund(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);

/* Bytes that `share` has charged beyond its entitlement. */
uint64_t fby_budget_surplus(const struct fby_budget_share *share);

#endif
