/* stage.h - one stage of a pipeline: named threads over one bounded queue.
 *
 * A stage calls `run` for each item that is put in, on any of its threads, and
 * keeps the counters that a bottleneck report needs. The `run` function of a
 * stage puts items into the next stage. Stages destroyed from first to last
 * drain into the next one, and no item is lost. */
#ifndef FBY_COMMON_STAGE_H
#define FBY_COMMON_STAGE_H

#include <stdint.h>

#include "common/err.h"
#include "common/queue.h"

struct fby_stage;

struct fby_stage_counts {
    uint64_t                tasks;    /* finished */
    uint64_t                failures; /* tasks that did not return FBY_OK */
    int64_t                 busy_ns;  /* inside `run`, sum of all threads */
    int64_t                 cpu_ns;   /* CPU time inside `run`, likewise */
    uint32_t                threads;
    struct fby_queue_counts queue; /* this stage's waits for input, and the
                                      previous stage's waits for space here */
};

struct fby_stage_config {
    const char *name; /* of the threads, at most 11 characters; borrowed */
    uint32_t    threads;
    size_t      capacity; /* of the queue, in items */
    int         nice;     /* added to the threads' niceness, 0 to 19 */
    /* Process `item`, which the function now owns. `thread` is 0 .. threads-1
     * and selects scratch memory of one thread. */
    fby_err (*run)(void *context, uint32_t thread, void *item);
    /* NULL: items come from the queue. Else the source of items: waits for the
     * next one; any result but FBY_OK ends the thread. */
    fby_err (*next)(void *context, void **out);
    void *context; /* must outlive the stage */
};

/* Start the threads. Errors: FBY_SYS when one cannot be created. */
FBY_CHECKED fby_err fby_stage_create(
    const struct fby_stage_config *config, struct fby_stage **out);

/* Process the items that are left in the queue, join the threads, and set
 * *self_p to NULL; NULL is allowed. No other thread may still put items; a
 * `next` must end by itself. */
void fby_stage_destroy(struct fby_stage **self_p);

/* Append one item to the queue.
 *
 * Ownership: the item is the stage's on FBY_OK, else still the caller's.
 * Blocks:    while the queue is full.
 * Errors:    FBY_GONE  the stage is being destroyed. */
FBY_CHECKED fby_err fby_stage_put(struct fby_stage *self, void *item);

/* The same, but returns FBY_FULL instead of waiting. */
FBY_CHECKED fby_err fby_stage_try_put(struct fby_stage *self, void *item);

/* Counters since create; any thread. */
struct fby_stage_counts fby_stage_counts(struct fby_stage *self);

#endif
