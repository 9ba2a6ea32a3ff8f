/* dataset_plan.h - one content over one dataset, ready to make batches of.
 *
 * Constant once made, apart from a small cache of orders that belongs to the
 * loop. Shared: jobs hold it while they work, the table of plans while it
 * is known; a newer load replaces it without disturbing them. */
#ifndef FBY_WORKER_PLAN_DATASET_PLAN_H
#define FBY_WORKER_PLAN_DATASET_PLAN_H

#include <stdatomic.h>

#include "common/err.h"
#include "common/hash.h"
#include "pipeline/plan/order.h"
#include "pipeline/types.h"
#include "worker/plan/rows.h"
#include "worker/source/dataset.h"

enum { FBY_DATASET_PLAN_ORDERS = 4 };

struct fby_dataset_plan_order { /* an entry of the cache */
    struct fby_order *order;    /* NULL: free */
    uint64_t          seed, epoch;
    uint64_t          used; /* tick of its last use */
};

struct fby_dataset_plan {
    struct fby_digest   content_digest;
    struct fby_digest   data_digest;
    struct fby_digest   fingerprint;
    struct fby_content  content;
    struct fby_dataset *dataset; /* owned */
    struct fby_rows    *rows;    /* owned; NULL: samples are read one by one */
    struct fby_buckets *buckets; /* owned; NULL without bucket_by */
    atomic_uint         holds;
    struct fby_dataset_plan_order
             orders[FBY_DATASET_PLAN_ORDERS]; /* the loop's */
    uint64_t tick;                            /* the loop's */
};

/* Compute the fingerprint and bring the parts together, held once.
 *
 * Ownership: *dataset_p moves on FBY_OK.
 * Errors:    as fby_fingerprint, fby_rows_create. */
FBY_CHECKED fby_err fby_dataset_plan_create(const struct fby_content *content,
    struct fby_dataset **dataset_p, struct fby_dataset_plan **out,
    struct fby_why *why);

struct fby_dataset_plan *fby_dataset_plan_hold(struct fby_dataset_plan *self);
/* Let go and set *self_p to NULL; the last one destroys. Any thread. */
void fby_dataset_plan_release(struct fby_dataset_plan **self_p);

/* The order of one epoch, borrowed until the next call. Thread: the loop.
 * Errors: as fby_order_create. */
FBY_CHECKED fby_err fby_dataset_plan_order(struct fby_dataset_plan *self,
    uint64_t seed, uint64_t epoch, const struct fby_order **out,
    struct fby_why *why);

#endif
