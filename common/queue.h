/* queue.h - a bounded queue of pointers between threads.
 *
 * Many producers, many consumers. The bound is what makes a pipeline of stages
 * honest: a stage that is too slow stops the one before it, and the time both
 * sides wait tells which stage is the bottleneck. Producers who wait for room
 * go on, one by one, when half of it is free: so that each works in runs and
 * not one item at a time. Closing wakes everybody: producers are refused at
 * once, consumers first get what is left. */
#ifndef FBY_COMMON_QUEUE_H
#define FBY_COMMON_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_queue;

struct fby_queue_counts {
    uint64_t pushed;
    int64_t  wait_input_ns;  /* consumers, all together, on an empty queue */
    int64_t  wait_output_ns; /* producers, all together, on a full queue */
    size_t   occupancy;      /* items in it now */
    size_t   capacity;
};

/* A queue for `capacity` (at least 1) items; never NULL. */
struct fby_queue *fby_queue_create(size_t capacity);

/* No thread may be inside. Items left are the caller's: drain it first. */
void fby_queue_destroy(struct fby_queue **self_p);

/* Append `item` (not NULL), waiting while the queue is full.
 *
 * Ownership: the item is the queue's on FBY_OK, else still the caller's.
 * Thread:    any.
 * Errors:    FBY_GONE the queue is closed. */
FBY_CHECKED fby_err fby_queue_push(struct fby_queue *self, void *item);

/* The same without waiting: FBY_FULL instead. */
FBY_CHECKED fby_err fby_queue_try_push(struct fby_queue *self, void *item);

/* Take the oldest item, waiting while there is none.
 *
 * Errors: FBY_GONE the queue is closed and empty. */
FBY_CHECKED fby_err fby_queue_pop(struct fby_queue *self, void **out);

/* Refuse further items and wake all who wait. May be called twice. */
void fby_queue_close(struct fby_queue *self);

/* A consistent copy; any thread. */
struct fby_queue_counts fby_queue_counts(struct fby_queue *self);

#endif
