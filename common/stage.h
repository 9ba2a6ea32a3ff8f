/* stage.h - one stage of a pipeline: named threads over one bounded queue.
 *
 * A stage calls `run` for each item in its queue, on any of its threads. It
 * measures busy and waiting times, which show the stage that limits the rate.
 * `run` puts its result into the queue of the next stage. Destroy stages from
 * first to last, so that each can pass its last items on, and none is lost. */
#ifndef FBY_COMMON_STAGE_H
#define FBY_COMMON_STAGE_H

#include <stdint.h>

#include "common/err.h"
#include "common/queue.h"

struct fby_stage;

struct fby_stage_counts {
    uint64_t                tasks;    /* items for which `run` returned */
    uint64_t                failures; /* of these, with an error */
    int64_t                 busy_ns;  /* time in `run`, sum of all threads */
    int64_t                 cpu_ns; /* CPU time in `run`, sum of all threads */
    uint32_t                threads;
    struct fby_queue_counts queue; /* wait_input_ns: of this stage's threads;
                                      wait_output_ns: of those that push */
};

struct fby_stage_config {
    const char *name; /* of the threads: its first 11 characters and a number;
                         borrowed */
    uint32_t    threads;
    size_t      capacity; /* of the queue, in items */
    int         nice;     /* added to the threads' niceness, 0 to 19 */
    /* Process `item`, which `run` then owns. `thread` is 0 .. threads - 1 and
     * selects the scratch memory of the calling thread. */
    fby_err (*run)(void *context, uint32_t thread, void *item);
    /* Waits for the next item; NULL: items come from the queue. A result other
     * than FBY_OK ends the calling thread. */
    fby_err (*next)(void *context, void **out);
    void *context; /* must outlive the stage */
};

/* Start the threads. Errors: FBY_SYS when one cannot be created. */
FBY_CHECKED fby_err fby_stage_create(
    const struct fby_stage_config *config, struct fby_stage **out);

/* Process the items that are left in the queue, join the threads, and set
 * *self_p to NULL; NULL is allowed. No other thread may push items any more. If
 * there is a `next`, the caller has made it return an error. */
void fby_stage_destroy(struct fby_stage **self_p);

/* Append one item to the queue.
 *
 * Ownership: the item is the stage's on FBY_OK, else still the caller's.
 * Blocks:    while the queue is full.
 * Errors:    FBY_GONE  the stage is being destroyed. */
FBY_CHECKED fby_err fby_stage_push(struct fby_stage *self, void *item);

/* Like fby_stage_push, but returns FBY_FULL instead of waiting. */
FBY_CHECKED fby_err fby_stage_try_push(struct fby_stage *self, void *item);

/* Counters since create; any thread. */
struct fby_stage_counts fby_stage_counts(struct fby_stage *self);

#endif
