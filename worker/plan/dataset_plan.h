/* dataset_plan.h - a content over a dataset, from which batches can be made.
 *
 * A plan is constant, apart from a small cache of orders that only the loop
 * uses. It is reference counted: jobs hold it while they work, and the plan
 * cache while it is known. A newer load replaces it without affecting them. */
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

struct fby_dataset_plan_order { /* a cache entry: the order of one epoch */
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
    atomic_uint         holds;   /* reference count */
    struct fby_dataset_plan_order
             orders[FBY_DATASET_PLAN_ORDERS]; /* used by the loop only */
    uint64_t tick;                            /* likewise; counts uses */
};

/* Check `content` against the dataset, compute its fingerprint, and create a
 * plan that is held once.
 *
 * Ownership: *dataset_p moves on FBY_OK.
 * Errors:    of the checks; of fby_fingerprint; of fby_rows_create, after
 *            which *dataset_p has moved, too. */
FBY_CHECKED fby_err fby_dataset_plan_create(const struct fby_content *content,
    struct fby_dataset **dataset_p, struct fby_dataset_plan **out,
    struct fby_why *why);

/* Add a reference; returns `self`. Thread: any. */
struct fby_dataset_plan *fby_dataset_plan_hold(struct fby_dataset_plan *self);

/* Drop a reference and set *self_p to NULL; the last one destroys the plan.
 * NULL is fine. Thread: any. */
void fby_dataset_plan_release(struct fby_dataset_plan **self_p);

/* Return the order of one epoch, borrowed until the next call. Thread: loop.
 * Errors: as fby_order_create. */
FBY_CHECKED fby_err fby_dataset_plan_order(struct fby_dataset_plan *self,
    uint64_t seed, uint64_t epoch, const struct fby_order **out,
    struct fby_why *why);

#endif
