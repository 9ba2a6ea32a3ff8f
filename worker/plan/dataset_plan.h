/* SPDX-License-Identifier: Apache-2.0 */
/* dataset_plan.h - a content and its dataset, ready to make batches.
 *
 * The content is all settings that determine the batches. A plan is constant,
 * except for a small cache of orders of samples, one for each epoch, that only
 * the loop uses. Plans are reference counted. A job (the making of one batch)
 * has a reference to its plan. So a newer plan can replace the plan in the plan
 * cache without affecting the job. */
#ifndef FBY_WORKER_PLAN_DATASET_PLAN_H
#define FBY_WORKER_PLAN_DATASET_PLAN_H

#include <stdatomic.h>

#include "common/err.h"
#include "common/hash.h"
#include "pipeline/plan/order.h"
#include "pipeline/types.h"
#include "worker/plan/rows.h"
#include "worker/source/dataset.h"

enum { FBY_DATASET_PLAN_ORDERS = 4 }; /* entries of the cache of orders */

struct fby_dataset_plan_order { /* a cache entry: the order of one epoch */
    struct fby_order *order;    /* NULL: unused entry */
    uint64_t          seed, epoch;
    uint64_t          last_use; /* value of n_uses at the last use */
};

struct fby_dataset_plan {
    struct fby_digest   content_digest;
    struct fby_digest   data_digest; /* of all files of the dataset */
    struct fby_digest   fingerprint; /* of the code that computes the values */
    struct fby_digest   location;    /* of data and classes; set by the cache */
    struct fby_content  content;
    struct fby_dataset *dataset; /* owned */
    struct fby_rows    *rows;    /* owned; NULL except for columns and tokens */
    struct fby_buckets *buckets; /* owned; NULL without bucket_by */
    atomic_uint         references;
    /* Used by the loop only: */
    struct fby_dataset_plan_order orders[FBY_DATASET_PLAN_ORDERS];
    uint64_t                      n_uses; /* calls of fby_dataset_plan_order */
};

/* Check `content` against the dataset, compute its fingerprint, and create a
 * plan with one reference.
 *
 * Ownership: on FBY_OK *dataset_p moves to the plan and becomes NULL. After an
 *            error it is unchanged, or destroyed and NULL. In both cases the
 *            caller may pass it to fby_dataset_destroy.
 * Errors:    those of fby_fingerprint, fby_dataset_check_fields,
 *            fby_dataset_sort_into_buckets and fby_rows_create. */
FBY_CHECKED fby_err fby_dataset_plan_create(const struct fby_content *content,
    struct fby_dataset **dataset_p, struct fby_dataset_plan **out,
    struct fby_error_detail *why);

/* Add a reference; returns `self`. Thread: any. */
struct fby_dataset_plan *fby_dataset_plan_hold(struct fby_dataset_plan *self);

/* Drop a reference and set *self_p to NULL. Dropping the last reference
 * destroys the plan. NULL is allowed. Thread: any. */
void fby_dataset_plan_release(struct fby_dataset_plan **self_p);

/* Set *out to the order of the samples in one epoch. It is created unless it is
 * cached, and borrowed until the next call. Thread: loop.
 * Errors: as fby_order_create. */
FBY_CHECKED fby_err fby_dataset_plan_order(struct fby_dataset_plan *self,
    uint64_t seed, uint64_t epoch, const struct fby_order **out,
    struct fby_error_detail *why);

#endif
