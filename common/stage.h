/* stage.h - one stage of a pipeline: named threads over one bounded queue.
 *
 * A stage calls `run` for each item in its queue, on any of its threads, and
 * counts times for a bottleneck report. `run` puts its result into the next
 * stage. Stages must be destroyed from first to last: then each stage passes
 * its last items to the next one, and no item is lost. */
#ifndef FBY_COMMON_STAGE_H
#define FBY_COMMON_STAGE_H

#include <stdint.h>

#include "common/err.h"
#include "common/queue.h"

struct fby_stage;

struct fby_stage_counts {
    uint64_t                tasks;    /* finished */
    uint64_t                failures; /* tasks that did not return FBY_OK */
    int64_t                 busy_ns;  /* time in `run`, sum of all threads */
    int64_t                 cpu_ns;   /* CPU time in `run`, sum likewise */
    uint32_t                threads;
    struct fby_queue_counts queue; /* waits for input of this stage, and waits
                                      for space of the previous stage */
};

struct fby_stage_config {
    const char *name; /* of the threads, at most 11 characters; borrowed */
    uint32_t    threads;
    size_t      capacity; /* of the queue, in items */
    int         nice;     /* added to the threads' niceness, 0 to 19 */
    /* Process `item`, which the function now owns. `thread` is 0 .. threads - 1
     * and selects the scratch memory of the calling thread. */
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
 * *self_p to NULL; NULL is allowed. No other thread may put items any more, and
 * `next` must return an error by itself. */
void fby_stage_destroy(struct fby_stage **self_p);

/* Append one item to the queue.
 *
 * Ownership: the item is the stage's on FBY_OK, else still the caller's.
 * Blocks:    while the queue is full.
 * Errors:    FBY_GONE  the stage is being destroyed. */
FBY_CHECKED fby_err fby_stage_put(struct fby_stage *self, void *item);

/* Like fby_stage_put, but returns FBY_FULL instead of waiting. */
FBY_CHECKED fby_err fby_stage_try_put(struct fby_stage *self, void *item);

/* Counters since create; any thread. */
struct fby_stage_counts fby_stage_counts(struct fby_stage *self);

#endif
