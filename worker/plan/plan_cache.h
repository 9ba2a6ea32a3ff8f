/* plan_cache.h - the dataset plans that are known, and those being loaded.
 *
 * A load scans a dataset, which may take minutes, so threads of its own run it
 * while the loop goes on. Clients that open the same content at the same
 * location meanwhile share one load. Each load reads the dataset again (the
 * manifest's cache makes that cheap), so the next OPEN sees changed data. A
 * bounded number of plans stays known; a client that asks for a dropped one
 * must send it again. Thread: loop only. */
#ifndef FBY_WORKER_PLAN_PLAN_CACHE_H
#define FBY_WORKER_PLAN_PLAN_CACHE_H

#include <stdbool.h>

#include "common/err.h"
#include "proto/wire.h"
#include "worker/plan/dataset_plan.h"

struct fby_plan_cache_config {
    const struct fby_roots *roots; /* borrowed until destroy */
    const char             *cache_dir;
    uint32_t                threads; /* loads at a time */
    uint32_t                waiting; /* loads that may wait for a thread */
    uint32_t                known;   /* plans to keep */
};

struct fby_plan_cache;

/* Create an empty cache and start its threads.
 * Errors: FBY_SYS  no eventfd or thread can be created. */
FBY_CHECKED fby_err fby_plan_cache_create(
    const struct fby_plan_cache_config *config, struct fby_plan_cache **out);

/* Abandon all loads, wait for the threads to end, and destroy the cache. NULL
 * is fine. */
void fby_plan_cache_destroy(struct fby_plan_cache **self_p);

/* A descriptor that is readable when a load has ended, until the next
 * fby_plan_cache_collect. */
int fby_plan_cache_fd(const struct fby_plan_cache *self);

/* Keep the plans of loads that ended, and free the loads without a waiter. */
void fby_plan_cache_collect(struct fby_plan_cache *self);

struct fby_plan_load; /* running or ended; shared by all who wait for it */

/* Start to load `content` (canonical bytes) at `location`, or join the running
 * load of it.
 *
 * Ownership: the caller returns *out with fby_plan_load_release.
 * Errors:    FBY_PROTO  not a content; FBY_FULL  too many loads at once. */
FBY_CHECKED fby_err fby_plan_cache_open(struct fby_plan_cache *self,
    const struct fby_blob *content, const char *location,
    struct fby_plan_load **out, struct fby_why *why);

struct fby_plan_load_state {
    bool                     ended;
    uint64_t                 done, total;  /* shards, while it runs */
    fby_err                  err;          /* once ended */
    struct fby_why           why;          /* once ended, not FBY_OK */
    struct fby_dataset_plan *dataset_plan; /* once ended, FBY_OK; borrowed */
};
/* The progress or the result of a load. */
struct fby_plan_load_state fby_plan_load_state(
    const struct fby_plan_load *self);

/* Stop waiting for a load and set *self_p to NULL; a load without a waiter is
 * abandoned. NULL is fine. */
void fby_plan_load_release(struct fby_plan_load **self_p);

/* Find the plan with these three digests.
 *
 * Ownership: *nearest is borrowed. If no plan has all three digests, it is the
 *            plan of the same content with the same data, else the most
 *            recently used one of that content, else NULL.
 * Errors:    FBY_NOT_FOUND  no plan has all three digests. */
FBY_CHECKED fby_err fby_plan_cache_find(struct fby_plan_cache *self,
    const struct fby_digest *content, const struct fby_digest *data,
    const struct fby_digest *fingerprint, struct fby_dataset_plan **nearest);

#endif
