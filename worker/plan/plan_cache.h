/* plan_cache.h - what has been opened here, and what is being opened.
 *
 * Opening scans a dataset, which may take minutes, so it is done by threads of
 * its own while the loop goes on; those who ask for the same meanwhile share
 * one load. A dataset is looked at anew for each load (the manifest's
 * cache makes that cheap), so data that changed is seen by whoever opens it
 * next. A bounded number of plans stays known; a client that asks for a
 * forgotten one is told to send it again. All calls from the loop. */
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
    uint32_t                known;   /* plans to remember */
};

struct fby_plan_cache;

FBY_CHECKED fby_err fby_plan_cache_create(
    const struct fby_plan_cache_config *config, struct fby_plan_cache **out);
/* Gives up what is being opened and waits until the threads noticed. */
void fby_plan_cache_destroy(struct fby_plan_cache **self_p);

/* Readable when a load ended; fby_plan_cache_collect makes it wait again. */
int  fby_plan_cache_fd(const struct fby_plan_cache *self);
void fby_plan_cache_collect(struct fby_plan_cache *self);

struct fby_plan_load; /* one that ended or goes on; shared by who asked */

/* Open `content` (canonical bytes) at `location`, or join who does.
 *
 * Ownership: the caller lets go of *out with fby_plan_load_release.
 * Errors:    FBY_PROTO  not a content; FBY_FULL too many at once. */
FBY_CHECKED fby_err fby_plan_cache_open(struct fby_plan_cache *self,
    const struct fby_blob *content, const char *location,
    struct fby_plan_load **out, struct fby_why *why);

struct fby_plan_load_state {
    bool                     ended;
    uint64_t                 done, total;  /* shards, while it goes on */
    fby_err                  err;          /* once ended */
    struct fby_why           why;          /* once ended, not FBY_OK */
    struct fby_dataset_plan *dataset_plan; /* once ended, FBY_OK; borrowed */
};
struct fby_plan_load_state fby_plan_load_state(
    const struct fby_plan_load *self);

/* Let go; one that nobody waits for any more is given up. NULL is fine. */
void fby_plan_load_release(struct fby_plan_load **self_p);

/* What is known of a content by its digests.
 *
 * *nearest is what is here when not all three agree, borrowed: NULL when the
 * content is unknown, else the newest of it, preferably with `data`.
 * Errors: FBY_NOT_FOUND  see *nearest. */
FBY_CHECKED fby_err fby_plan_cache_find(struct fby_plan_cache *self,
    const struct fby_digest *content, const struct fby_digest *data,
    const struct fby_digest *fingerprint, struct fby_dataset_plan **nearest);

#endif
