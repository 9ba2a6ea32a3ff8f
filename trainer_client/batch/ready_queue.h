/* ready_queue.h - batches in order, between the receiver and the trainer.
 *
 * The receiver appends batches in order, even if their values are still being
 * made. The trainer takes the first batch once its values are made. The ready
 * queue also holds the phase, failure and statistics of the stream. One lock
 * guards all that both sides share here. */
#ifndef FBY_CLIENT_BATCH_READY_QUEUE_H
#define FBY_CLIENT_BATCH_READY_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/wakeup.h"
#include "forebay/forebay.h"

enum { FBY_READY_QUEUE_AHEAD = 2 }; /* most batches in the queue */

enum fby_phase {
    FBY_PHASE_OPENING,
    FBY_PHASE_STREAMING,
    FBY_PHASE_ENDED, /* the stream ends after the batches in the queue */
    FBY_PHASE_FAILED /* the stream fails after the batches in the queue */
};

struct fby_batch_pool;

struct fby_ready_queue {
    struct fby_wakeup wakeup; /* sent when the trainer waits or took a batch */

    pthread_mutex_t         lock;    /* guards all below */
    pthread_cond_t          changed; /* wakes waiting trainer threads */
    enum fby_phase          phase;
    enum forebay_status     failure; /* FAILED: what forebay_next returns */
    struct fby_error_detail why;     /* FAILED: text of the failure */
    struct fby_error_detail
        wait_reason;                    /* why a batch is late; "": no reason */
    struct fby_error_detail last_error; /* error of the last forebay_next */
    struct forebay_batch   *batches[FBY_READY_QUEUE_AHEAD]; /* in order */
    uint32_t                n;               /* batches in the queue */
    bool                    trainer_waiting; /* a call found no batch */
    uint64_t                scan_done;       /* shards */
    uint64_t                scan_total;
    /* The stream has opened: `info` is valid, and later failures are reported
     * by forebay_next, not by opening. */
    bool                      opened;
    struct forebay_info       info;
    struct forebay_stats      stats;  /* of the receiver and of deliveries */
    struct fby_checksum_state digest; /* of the steps taken so far */
};

/* Initialize an empty queue. Call fini even after an error. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_ready_queue_init(struct fby_ready_queue *self);
/* Drop the batches in the queue. No other thread may use the queue any more. */
void fby_ready_queue_fini(struct fby_ready_queue *self);

/* ---- the receiver's side ------------------------------------------------- */

/* True if there is room for one more batch. Sets *trainer_waiting to whether
 * the trainer waits and the queue is empty. */
bool fby_ready_queue_has_room(
    struct fby_ready_queue *self, bool *trainer_waiting);

/* Append a batch whose values are still being made. The queue must have room.
 * Ownership: the batch moves to the queue. */
void fby_ready_queue_put(
    struct fby_ready_queue *self, struct forebay_batch *batch);

/* Mark a batch of the queue as made (FBY_OK) or failed. Any thread. */
void fby_ready_queue_mark_done(struct fby_ready_queue *self,
    struct forebay_batch *batch, fby_err err,
    const struct fby_error_detail *why);

/* The stream is open: set its info and change OPENING to STREAMING. */
void fby_ready_queue_set_opened(
    struct fby_ready_queue *self, const struct forebay_info *info);
/* Set the progress of the dataset's scan, for on_scan. */
void fby_ready_queue_set_scan_progress(
    struct fby_ready_queue *self, uint64_t done, uint64_t total);
/* End the stream after the batches in the queue. */
void fby_ready_queue_end(struct fby_ready_queue *self);
/* Fail the stream after the batches in the queue. Only the first failure is
 * kept. */
void fby_ready_queue_fail(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_error_detail *why);
/* Set the reason why the next batch is late; "" if there is none. */
void fby_ready_queue_set_wait_reason(
    struct fby_ready_queue *self, const char *text);

/* Wake waiting trainer threads: the batch pool is full, so no batch can come
 * until they release one. */
void fby_ready_queue_wake_trainer(struct fby_ready_queue *self);

/* Set the statistics, except those that the trainer's side counts. */
void fby_ready_queue_set_stats(
    struct fby_ready_queue *self, const struct forebay_stats *stats);

/* ---- the trainer's side -------------------------------------------------- */

/* Wait until the stream is open, fails, reaches `deadline_ns` on the monotonic
 * clock, or options->give_up returns true. on_scan and give_up are called
 * without the lock. If the stream opens and then fails, this reports success,
 * and fby_ready_queue_next the failure. */
enum forebay_status fby_ready_queue_wait_open(struct fby_ready_queue *self,
    const struct forebay_options *options, int64_t deadline_ns,
    struct fby_error_detail *why);

/* Take the first batch; as forebay_next. */
enum forebay_status fby_ready_queue_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, int64_t timeout_ns, void *stream,
    struct forebay_batch **out);

#endif
