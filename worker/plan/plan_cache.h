/* SPDX-License-Identifier: Apache-2.0 */
/* plan_cache.h - load dataset plans, and cache them.
 *
 * A load opens a dataset and creates its plan (dataset_plan.h). A load may scan
 * files for minutes, so separate threads run loads. Clients that open the same
 * content (all settings that determine the batches) at the same location at the
 * same time share one load. A later OPEN starts a new load, which sees changed
 * data; unchanged files are not scanned again (source/cache.h). The cache keeps
 * a bounded number of plans. If the plan of a request was dropped, the client
 * must send the content again. Thread: loop only. */
#ifndef FBY_WORKER_PLAN_PLAN_CACHE_H
#define FBY_WORKER_PLAN_PLAN_CACHE_H

#include <stdbool.h>

#include "common/err.h"
#include "proto/wire.h"
#include "worker/plan/dataset_plan.h"

struct fby_plan_cache_config {
    const struct fby_roots *roots;       /* borrowed until destroy */
    const char             *cache_dir;   /* as in struct fby_dataset_spec */
    uint32_t                max_running; /* limit of loads that run */
    uint32_t max_waiting; /* limit of loads that wait for a thread */
    uint32_t max_plans;   /* limit of plans in the cache */
};

struct fby_plan_cache;

/* Create an empty cache and start its threads.
 * Errors: FBY_SYS  no eventfd or thread can be created. */
FBY_CHECKED fby_err fby_plan_cache_create(
    const struct fby_plan_cache_config *config, struct fby_plan_cache **out);

/* Abandon all loads, wait for the threads to end, and destroy the cache. NULL
 * is allowed. */
void fby_plan_cache_destroy(struct fby_plan_cache **self_p);

/* A descriptor that is readable from the end of a load until the next
 * fby_plan_cache_collect(). */
int fby_plan_cache_fd(const struct fby_plan_cache *self);

/* Cache the plans of ended loads, and free each ended load for which no caller
 * waits. */
void fby_plan_cache_collect(struct fby_plan_cache *self);

struct fby_plan_load; /* shared by the callers that wait for it */

/* Start to load what `open` asks for, or join a load of the same content and
 * locations that is running. `open` is borrowed for the call.
 *
 * Ownership: the caller returns *out with fby_plan_load_release.
 * Errors:    FBY_PROTO  the bytes are not a content
 *            FBY_FULL   too many loads run or wait. */
FBY_CHECKED fby_err fby_plan_cache_open(struct fby_plan_cache *self,
    const struct fby_open *open, struct fby_plan_load **out,
    struct fby_error_detail *why);

struct fby_plan_load_state {
    bool                     ended;
    uint64_t                 done, total;  /* shards scanned, and all shards */
    fby_err                  err;          /* the result, once ended */
    struct fby_error_detail  why;          /* the reason for `err` */
    struct fby_dataset_plan *dataset_plan; /* borrowed; NULL on errors */
};
/* Returns a snapshot of the progress and the result of a load. */
struct fby_plan_load_state fby_plan_load_state(
    const struct fby_plan_load *self);

/* Stop waiting for a load and set *self_p to NULL. A load for which no caller
 * waits is abandoned. NULL is allowed. */
void fby_plan_load_release(struct fby_plan_load **self_p);

/* Find the plan with these three digests that was opened at `location`, a digest
 * of the state of a load. NULL is any location: data of one digest have the same
 * names and sizes, but may have other bytes elsewhere.
 *
 * Ownership: *nearest is borrowed. After FBY_NOT_FOUND it is a plan of the same
 *            location, content and data; if there is none, the most recently
 *            used plan of the same location and content; if there is none, NULL.
 * Errors:    FBY_NOT_FOUND  no plan has all these digests. */
FBY_CHECKED fby_err fby_plan_cache_find(struct fby_plan_cache *self,
    const struct fby_digest *content, const struct fby_digest *data,
    const struct fby_digest *fingerprint, const struct fby_digest *location,
    struct fby_dataset_plan **nearest);

#endif
