/* stage.h - one stage of a pipeline: named threads over one bounded queue.
 *
 * A stage calls `run` for each item that is put in, on any of its threads, and
 * counts what a bottleneck report is made of. Stages are chained by their
 * `run` functions putting items into the next one; closed from first to last,
 * each drains into the next and nothing is lost. */
#ifndef FBY_COMMON_STAGE_H
#define FBY_COMMON_STAGE_H

#include <stdint.h>

#include "common/err.h"
#include "common/queue.h"

struct fby_stage;

struct fby_stage_counts {
    uint64_t                tasks;    /* finished */
    uint64_t                failures; /* of these, not FBY_OK */
    int64_t                 busy_ns;  /* inside `run`, all threads */
    int64_t                 cpu_ns;   /* CPU time inside `run` */
    uint32_t                threads;
    struct fby_queue_counts queue; /* waits of this stage for its input, and
                                      of those before it for room here */
};

struct fby_stage_config {
    const char *name; /* of the threads, at most 11 characters; borrowed */
    uint32_t    threads;
    size_t      capacity; /* of the queue, in items */
    int         nice; /* how far the threads stand back for others, 0 to 19 */
    /* Work on `item`, which is now the function's; `thread` is 0 .. threads-1,
     * for scratch memory that belongs to one thread. */
    fby_err (*run)(void *context, uint32_t thread, void *item);
    /* Where items come from when nobody puts them in, or NULL: waits for one,
     * and ends the thread with anything but FBY_OK. */
    fby_err (*next)(void *context, void **out);
    void *context; /* must outlive the stage */
};

/* Start the threads. Errors: FBY_SYS when one cannot be made. */
FBY_CHECKED fby_err fby_stage_create(
    const struct fby_stage_config *config, struct fby_stage **out);

/* Work off what is in the queue, stop and join the threads, and set *self_p to
 * NULL. NULL is fine. Nobody may put any more; a `next` must end by itself. */
void fby_stage_destroy(struct fby_stage **self_p);

/* Hand in one item; waits while the queue is full.
 * Errors: FBY_GONE the stage is being destroyed; the item stays the
 *         caller's. */
FBY_CHECKED fby_err fby_stage_put(struct fby_stage *self, void *item);

/* The same without waiting: FBY_FULL instead. */
FBY_CHECKED fby_err fby_stage_try_put(struct fby_stage *self, void *item);

/* Counters since create; any thread. */
struct fby_stage_counts fby_stage_counts(struct fby_stage *self);

#endif
