/* ready_queue.h - batches in order, between the receiver and the trainer.
 *
 * The receiver appends batches in order, some of them still being expanded. The
 * trainer takes the first one when its values are made. The ready queue also
 * holds all that a trainer may ask at any time: phase, failure, statistics. It
 * is the only memory that both sides share, under one lock. */
#ifndef FBY_CLIENT_BATCH_READY_QUEUE_H
#define FBY_CLIENT_BATCH_READY_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/hash.h"
#include "forebay/forebay.h"
#include "trainer_client/batch/wakeup.h"

enum { FBY_READY_QUEUE_AHEAD = 2 }; /* batches in the queue at most */

enum fby_phase {
    FBY_PHASE_OPENING,
    FBY_PHASE_STREAMING,
    FBY_PHASE_ENDED, /* no batch follows those in the queue */
    FBY_PHASE_FAILED /* the failure follows those in the queue */
};

struct fby_batch_pool;

struct fby_ready_queue {
    struct fby_wakeup wakeup; /* sent when the trainer waits, or took one */

    pthread_mutex_t       lock; /* guards all below */
    pthread_cond_t        changed;
    enum fby_phase        phase;
    enum forebay_status   failure;
    struct fby_why        why;     /* of the failure */
    struct fby_why        waiting; /* why a batch is late; "": normal */
    struct fby_why        last;    /* error of the last call */
    struct forebay_batch *first;   /* in order */
    struct forebay_batch *last_batch;
    uint32_t              n;
    bool                  consumer_waiting; /* a call found no batch */
    uint64_t              scan_done;
    uint64_t              scan_total;
    bool                opened; /* info is set; forebay_next reports failures */
    struct forebay_info info;
    struct forebay_stats stats; /* of the receiver and of deliveries */
    struct fby_sum_state digest;
};

/* Initialize an empty queue; fini copes with a failed init. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_ready_queue_init(struct fby_ready_queue *self);
/* Drop the batches in the queue. No other thread may use the queue any more. */
void fby_ready_queue_fini(struct fby_ready_queue *self);

/* ---- the receiver's side ------------------------------------------------- */

/* True if there is room for one more batch. *consumer_waiting is set if the
 * trainer waits and the queue is empty. */
bool fby_ready_queue_has_room(
    struct fby_ready_queue *self, bool *consumer_waiting);

/* Append a batch whose values are still being made. Ownership moves. */
void fby_ready_queue_put(
    struct fby_ready_queue *self, struct forebay_batch *batch);

/* Mark a batch of the queue as made, or failed with `err`. Any thread. */
void fby_ready_queue_done(struct fby_ready_queue *self,
    struct forebay_batch *batch, fby_err err, const struct fby_why *why);

/* Set the stream's info; OPENING becomes STREAMING. */
void fby_ready_queue_opened(
    struct fby_ready_queue *self, const struct forebay_info *info);
/* Set the progress of the dataset's scan, for on_scan. */
void fby_ready_queue_scanning(
    struct fby_ready_queue *self, uint64_t done, uint64_t total);
/* No batch follows those in the queue. */
void fby_ready_queue_end(struct fby_ready_queue *self);
/* Fail the stream after the batches in the queue. Only the first failure is
 * kept. */
void fby_ready_queue_fail(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_why *why);
/* Set the reason why the next batch is late; "" if there is none. */
void fby_ready_queue_waiting(struct fby_ready_queue *self, const char *text);

/* Wake waiting trainer threads: the pool may be full now. */
void fby_ready_queue_look_again(struct fby_ready_queue *self);

/* Replace the receiver's part of the statistics. */
void fby_ready_queue_report(
    struct fby_ready_queue *self, const struct forebay_stats *receiver);

/* ---- the trainer's side -------------------------------------------------- */

struct fby_open_watch {  /* how long to wait, and callbacks meanwhile */
    int64_t deadline_ns; /* on the monotonic clock */
    void (*on_scan)(void *arg, uint64_t done, uint64_t total); /* or NULL */
    void *on_scan_arg;
    bool (*give_up)(void *arg); /* or NULL */
    void *give_up_arg;
};

/* Wait until the stream is open, fails, times out, or give_up returns true. The
 * callbacks are called without the lock. A failure after opening is reported by
 * the next call of fby_ready_queue_next, not here. */
enum forebay_status fby_ready_queue_wait_open(struct fby_ready_queue *self,
    const struct fby_open_watch *watch, struct fby_why *why);

/* Take the first batch; as forebay_next. */
enum forebay_status fby_ready_queue_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, int64_t timeout_ns, void *stream,
    struct forebay_batch **out);

#endif
