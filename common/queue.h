/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - a bounded queue of pointers between threads.
 *
 * Any number of threads may push items (producers) or take items (consumers). A
 * full queue makes producers wait, an empty one consumers. The waiting times of
 * both sides show which side is the bottleneck. Items are taken in the order of
 * the calls that push them, also if producers wait: the item of a producer that
 * waits enters the queue before those of later calls. When an item is taken and
 * at least half of the queue is free, one waiting producer is woken, and all of
 * them when it is empty, so that producers add items in batches. Urgent items
 * overtake all others, and need no space in the queue. Closing wakes all
 * threads. Then producers fail at once, and consumers get the items that are
 * left. */
#ifndef FBY_COMMON_QUEUE_H
#define FBY_COMMON_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_queue;

struct fby_queue_counts {
    uint64_t pushed;         /* items since create */
    int64_t  wait_input_ns;  /* time in which consumers waited for an item */
    int64_t  wait_output_ns; /* time in which producers waited for space; both
                                times are sums over all threads */
    size_t   occupancy;      /* items in the queue now, without urgent ones */
    size_t   waiting;        /* producers that wait for space now */
    size_t   capacity;       /* in items */
};

/* A queue for `capacity` (at least 1) items; never NULL. */
struct fby_queue *fby_queue_create(size_t capacity);

/* Free the queue and set *self_p to NULL; NULL is allowed. No thread may use
 * the queue any more. Items in the queue are not freed. */
void fby_queue_destroy(struct fby_queue **self_p);

/* Append `item` (not NULL).
 *
 * Ownership: moves to the queue on FBY_OK, else stays with the caller.
 * Thread:    any.            Blocks: while the queue is full, and then until at
 *                                    least half of it is free.
 * Errors:    FBY_GONE the queue is closed. */
FBY_CHECKED fby_err fby_queue_push(struct fby_queue *self, void *item);

/* Like fby_queue_push, but returns FBY_FULL instead of waiting. */
FBY_CHECKED fby_err fby_queue_try_push(struct fby_queue *self, void *item);

struct fby_queue_link { /* the first member of an urgent item */
    struct fby_queue_link *next;
};
/* Push an item that is taken before all that are not urgent.
 *
 * Ownership: moves to the queue on FBY_OK, else stays with the caller.
 * Thread:    any.            Blocks: never.
 * Errors:    FBY_GONE the queue is closed. */
FBY_CHECKED fby_err fby_queue_push_urgent(
    struct fby_queue *self, struct fby_queue_link *item);

/* Take the oldest urgent item, or else the oldest item.
 *
 * Thread: any.            Blocks: while the queue is open and empty.
 * Errors: FBY_GONE the queue is closed and empty. */
FBY_CHECKED fby_err fby_queue_pop(struct fby_queue *self, void **out);

/* Refuse further items and wake all waiting threads. May be called twice. */
void fby_queue_close(struct fby_queue *self);

/* A consistent copy; any thread. */
struct fby_queue_counts fby_queue_counts(struct fby_queue *self);

#endif
