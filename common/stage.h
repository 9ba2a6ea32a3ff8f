/* SPDX-License-Identifier: Apache-2.0 */
/* stage.h - one stage of a pipeline: named threads and one bounded queue.
 *
 * A stage calls `run` for each item in its queue, on any of its threads. `run`
 * pushes its result to the next stage. Destroy stages from first to last, so
 * that each one can still push its last results. Stages measure their busy and
 * waiting times, which show the stage that limits the rate. */
#ifndef FBY_COMMON_STAGE_H
#define FBY_COMMON_STAGE_H

#include <stdint.h>

#include "common/err.h"
#include "common/queue.h"

struct fby_stage;

struct fby_stage_counts {
    uint64_t                tasks;    /* items for which `run` returned */
    uint64_t                failures; /* items for which `run` failed */
    int64_t                 busy_ns;  /* time in `run`, sum of all threads */
    int64_t                 cpu_ns; /* CPU time in `run`, sum of all threads */
    uint32_t                threads;
    struct fby_queue_counts queue; /* The consumers are the stage's threads.
                                      wait_input_ns includes time in `next`. */
};

struct fby_stage_config {
    const char *name; /* threads have names such as NAME-0; at most 11
                         characters of `name` are used; borrowed */
    uint32_t    threads;
    size_t      capacity; /* items that fit in the queue */
    int nice; /* added to the niceness of the creating thread, 0 to 19 */
    /* Process `item`, which `run` then owns. `thread` is the number of the
     * calling thread, 0 to threads - 1, and can select its scratch memory. */
    fby_err (*run)(void *context, uint32_t thread, void *item);
    /* Wait for the next item; an error ends the calling thread. If `next` is
     * NULL, items come from the queue. */
    fby_err (*next)(void *context, void **out);
    void *context; /* for `run` and `next`; must outlive the stage */
};

/* Start the threads. Errors: FBY_SYS  a thread cannot be created. */
FBY_CHECKED fby_err fby_stage_create(
    const struct fby_stage_config *config, struct fby_stage **out);

/* Process the items left in the queue, join the threads, and set *self_p to
 * NULL; NULL is allowed. No thread may push items during or after the call. If
 * the stage has a `next`, the caller must first make `next` return an error. */
void fby_stage_destroy(struct fby_stage **self_p);

/* Append one item to the queue.
 *
 * Ownership: moves to the stage on FBY_OK, else stays with the caller.
 * Blocks:    while the queue is full.
 * Errors:    FBY_GONE  the stage is being destroyed. */
FBY_CHECKED fby_err fby_stage_push(struct fby_stage *self, void *item);

/* Like fby_stage_push, but returns FBY_FULL instead of waiting. */
FBY_CHECKED fby_err fby_stage_try_push(struct fby_stage *self, void *item);

/* Push an item that is processed before all that are not urgent; see
 * fby_queue_push_urgent. The stage must have no `next`. */
FBY_CHECKED fby_err fby_stage_push_urgent(
    struct fby_stage *self, struct fby_queue_link *item);

/* The counts since fby_stage_create. Any thread. */
struct fby_stage_counts fby_stage_counts(struct fby_stage *self);

#endif
