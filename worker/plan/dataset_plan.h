/* dataset_plan.h - a content and its dataset, ready to make batches.
 *
 * The content is all settings that determine the batches. A plan is constant,
 * apart from a small cache of orders (of the samples in an epoch) that only the
 * loop uses. Plans are reference counted: a job holds its plan while it works,
 * the plan cache holds the plans that it keeps. So a newer plan can replace an
 * older one without affecting jobs. */
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
    struct fby_order *order;    /* NULL: unused entry */
    uint64_t          seed, epoch;
    uint64_t          last_use; /* number of this use, counted by n_uses */
};

struct fby_dataset_plan {
    struct fby_digest   content_digest;
    struct fby_digest   data_digest; /* of all files of the dataset */
    struct fby_digest   fingerprint; /* of the code that makes the values */
    struct fby_content  content;
    struct fby_dataset *dataset; /* owned */
    struct fby_rows    *rows;    /* owned; only for columns and tokens */
    struct fby_buckets *buckets; /* owned; NULL without bucket_by */
    atomic_uint         holds;   /* reference count */
    /* Loop only: */
    struct fby_dataset_plan_order orders[FBY_DATASET_PLAN_ORDERS];
    uint64_t                      n_uses; /* of `orders` */
};

/* Check `content` against the dataset, compute its fingerprint, and create a
 * plan with one reference.
 *
 * Ownership: if the plan takes *dataset_p, it sets it to NULL, also after an
 *            error of fby_rows_create; otherwise *dataset_p stays the caller's.
 * Errors:    those of fby_fingerprint, fby_dataset_check_fields,
 *            fby_lengths_sort and fby_rows_create. */
FBY_CHECKED fby_err fby_dataset_plan_create(const struct fby_content *content,
    struct fby_dataset **dataset_p, struct fby_dataset_plan **out,
    struct fby_error_detail *why);

/* Add a reference; returns `self`. Thread: any. */
struct fby_dataset_plan *fby_dataset_plan_hold(struct fby_dataset_plan *self);

/* Drop a reference and set *self_p to NULL; the last one destroys the plan.
 * NULL is allowed. Thread: any. */
void fby_dataset_plan_release(struct fby_dataset_plan **self_p);

/* Set *out to the order of one epoch, created if it is not cached. It is
 * borrowed until the next call. Thread: loop.
 * Errors: as fby_order_create. */
FBY_CHECKED fby_err fby_dataset_plan_order(struct fby_dataset_plan *self,
    uint64_t seed, uint64_t epoch, const struct fby_order **out,
    struct fby_error_detail *why);

#endif
