/* queue.h - a bounded queue of pointers between threads.
 *
 * Many producers, many consumers. The bound gives backpressure: a slow stage
 * stops the one before it, and the waiting times of both sides show which stage
 * is the bottleneck. Producers that wait are woken, one for each item taken,
 * only while at least half of the queue is free, so that they add items in
 * batches. Closing wakes all threads: producers fail at once, consumers first
 * get the items that are left. */
#ifndef FBY_COMMON_QUEUE_H
#define FBY_COMMON_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_queue;

struct fby_queue_counts {
    uint64_t pushed;         /* items since create */
    int64_t  wait_input_ns;  /* sum over all consumers, on an empty queue */
    int64_t  wait_output_ns; /* sum over all producers, on a full queue */
    size_t   occupancy;      /* items in the queue now */
    size_t   capacity;       /* items */
};

/* A queue for `capacity` (at least 1) items; never NULL. */
struct fby_queue *fby_queue_create(size_t capacity);

/* Free the queue and set *self_p to NULL; NULL is allowed. No thread may be
 * inside. Remaining items are not freed: the caller takes them first. */
void fby_queue_destroy(struct fby_queue **self_p);

/* Append `item` (not NULL).
 *
 * Ownership: the item is the queue's on FBY_OK, else still the caller's.
 * Thread:    any.            Blocks: while the queue is full.
 * Errors:    FBY_GONE the queue is closed. */
FBY_CHECKED fby_err fby_queue_push(struct fby_queue *self, void *item);

/* The same, but returns FBY_FULL instead of waiting. */
FBY_CHECKED fby_err fby_queue_try_push(struct fby_queue *self, void *item);

/* Take the oldest item.
 *
 * Thread: any.            Blocks: while the queue is open and empty.
 * Errors: FBY_GONE the queue is closed and empty. */
FBY_CHECKED fby_err fby_queue_pop(struct fby_queue *self, void **out);

/* Refuse further items and wake all waiting threads. May be called twice. */
void fby_queue_close(struct fby_queue *self);

/* A consistent copy; any thread. */
struct fby_queue_counts fby_queue_counts(struct fby_queue *self);

#endif
