/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - limits how much of a worker's batch memory each session may use.
 *
 * A session is a worker's state for one client. A budget only counts bytes; it
 * allocates nothing. Each session is entitled to as many bytes as its largest
 * batch has. Any session may also use the bytes that no session is entitled to.
 * A new session may find that others use the bytes it is entitled to. Then its
 * charges fail until they refund enough. Thread: one at a time. */
#ifndef FBY_WORKER_SESSION_BUDGET_H
#define FBY_WORKER_SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct fby_budget {    /* start with fby_budget_init */
    uint64_t total;    /* size of the budget in bytes */
    uint64_t charged;  /* bytes charged by all shares */
    uint64_t entitled; /* bytes of all entitlements; at most `total` */
    uint64_t unused;   /* part of `entitled` that is not charged yet */
};

struct fby_budget_share { /* the share of one session; starts zeroed */
    uint64_t entitled;    /* bytes that the session can rely on */
    uint64_t charged;     /* bytes in use; may exceed `entitled` */
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
 * Errors: FBY_AGAIN  the bytes are in use, or other shares are entitled to
 *                    them: possible after a refund
 *         FBY_FULL   `bytes` exceeds the whole budget: never possible. */
FBY_CHECKED fby_err fby_budget_charge(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);

/* Subtract `bytes` from the charges of `share`. */
void fby_budget_refund(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes);

/* The bytes that `share` has charged beyond its entitlement. */
uint64_t fby_budget_surplus(const struct fby_budget_share *share);

#endif
