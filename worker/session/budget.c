/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - counts the bytes of batch memory that a worker's sessions use. */
#include "worker/session/budget.h"

#include <assert.h>

void fby_budget_init(struct fby_budget *self, uint64_t total_bytes)
{
    *self = (struct fby_budget){.total = total_bytes};
}

/* Bytes that a share may still charge within its entitlement. */
static uint64_t entitlement_left(const struct fby_budget_share *share)
{
    return share->entitled > share->charged ? share->entitled - share->charged
                                            : 0;
}

uint64_t fby_budget_surplus(const struct fby_budget_share *share)
{
    return share->charged > share->entitled ? share->charged - share->entitled
                                            : 0;
}

/* Set the share's members and adapt the sums in the budget. Only this function
 * changes a share, because the sum `unused` depends on both members. */
static void set_share(struct fby_budget *self, struct fby_budget_share *share,
    uint64_t entitled, uint64_t charged)
{
    self->unused -= entitlement_left(share);
    self->entitled = self->entitled - share->entitled + entitled;
    self->charged  = self->charged - share->charged + charged;
    *share         = (struct fby_budget_share){entitled, charged};
    self->unused += entitlement_left(share);
}

fby_err fby_budget_join(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes)
{
    if (bytes > self->total - self->entitled) {
        return FBY_FULL;
    }
    set_share(self, share, bytes, share->charged);
    return FBY_OK;
}

void fby_budget_leave(struct fby_budget *self, struct fby_budget_share *share)
{
    set_share(self, share, 0, share->charged);
}

fby_err fby_budget_charge(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes)
{
    if (bytes > self->total) {
        return FBY_FULL;
    }
    uint64_t own_left   = entitlement_left(share);
    uint64_t free_bytes = self->total - self->charged;
    /* Beyond its own entitlement, a share must leave those of others free. */
    uint64_t reserved = bytes <= own_left ? 0 : self->unused - own_left;
    if (bytes > free_bytes || reserved > free_bytes - bytes) {
        return FBY_AGAIN;
    }
    set_share(self, share, share->entitled, share->charged + bytes);
    return FBY_OK;
}

void fby_budget_refund(
    struct fby_budget *self, struct fby_budget_share *share, uint64_t bytes)
{
    assert(bytes <= share->charged);
    set_share(self, share, share->entitled, share->charged - bytes);
}
