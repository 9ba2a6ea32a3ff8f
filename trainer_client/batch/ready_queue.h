/* SPDX-License-Identifier: Apache-2.0 */
/* ready_queue.h - passes batches in order from the receiver to the trainer.
 *
 * The receiver appends batches in order, even if their values are still being
 * made. The trainer takes the first batch once its values are made. The ready
 * queue also holds the phase, failure and statistics of the stream, under the
 * same lock. */
#ifndef FBY_CLIENT_BATCH_READY_QUEUE_H
#define FBY_CLIENT_BATCH_READY_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/wakeup.h"
#include "forebay/forebay.h"
#include "trainer_client/batch/recent_steps.h"

enum { FBY_READY_QUEUE_MAX = 2 }; /* most batches in the queue */

/* The largest number of a step to which a trainer may seek, counted from epoch
 * 0, step 0. */
#define FBY_MAX_SEEK ((uint64_t)INT64_MAX)

struct fby_stream_position {
    uint64_t epoch;
    uint64_t step; /* in the epoch */
};

struct fby_failed_sample { /* what a worker could not deliver */
    char     shard[512];   /* the shard or file; "": unknown */
    bool     has_sample;   /* `sample` and `offset` are known */
    uint64_t sample;       /* its number in the dataset */
    uint64_t offset;       /* in the shard, bytes */
    char     worker[320];  /* the worker that reported it */
};

struct fby_call_error {             /* how a call of the trainer failed */
    enum forebay_status     status; /* FOREBAY_OK: there was no error */
    struct fby_error_detail why;
};

struct fby_consumer { /* who takes a batch on a GPU */
    void    *stream;  /* its CUDA stream */
    uint8_t *memory;  /* that it gives to this batch; NULL: it gives none */
};

enum fby_phase {
    FBY_PHASE_OPENING,
    FBY_PHASE_STREAMING,
    FBY_PHASE_ENDED, /* the stream ends after the batches in the queue */
    FBY_PHASE_FAILED /* the stream fails after the batches in the queue */
};

struct fby_batch_pool;

struct fby_ready_queue {
    struct fby_wakeup wakeup; /* sent when the trainer waits or took a batch */
    uint64_t          number; /* unique in this process, from 1 */

    pthread_mutex_t          lock;    /* guards all below */
    pthread_cond_t           changed; /* wakes trainer threads */
    enum fby_phase           phase;
    enum forebay_status      failure;    /* FAILED: result of forebay_next */
    struct fby_error_detail  why;        /* FAILED: text of `failure` */
    struct fby_failed_sample bad_sample; /* FAILED: where in the dataset */
    struct fby_error_detail wait_reason; /* why the next batch is late, or "" */
    struct fby_call_error   last_error;  /* of any thread */
    struct forebay_batch   *batches[FBY_READY_QUEUE_MAX]; /* in order */
    uint32_t                n_batches;       /* entries of `batches` */
    bool                    trainer_waiting; /* forebay_next found no batch */
    bool                    interrupted;     /* forebay_next must not wait */
    bool is_delivering; /* a trainer thread passes batches[0] on, without the
                           lock, because a GPU may make it wait */
    struct fby_stream_position seek_position;     /* of the newest seek */
    uint64_t                   n_seeks_requested; /* by the trainer's threads */
    uint64_t n_seeks_done; /* the receiver has done the first so many */
    uint64_t scan_done;    /* shards scanned so far */
    uint64_t scan_total;   /* shards of the dataset */
    /* The stream has opened: `info` is valid, and later failures are reported
     * by forebay_next, not by opening. */
    bool                      opened;
    struct forebay_info       info;
    struct forebay_stats      stats;  /* counted by both sides */
    struct fby_recent_steps   recent; /* of the trainer */
    struct fby_checksum_state digest; /* of all steps that the trainer took */
};

/* Initialize an empty queue. Call fini even after an error. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_ready_queue_init(struct fby_ready_queue *self);
/* Drop the batches in the queue. No other thread may use the queue any more. */
void fby_ready_queue_fini(struct fby_ready_queue *self);

/* ---- the receiver's side ------------------------------------------------- */

/* True if there is room for one more batch. Sets *trainer_waiting: true if the
 * trainer waits and the queue is empty. */
bool fby_ready_queue_has_room(
    struct fby_ready_queue *self, bool *trainer_waiting);

/* Append a batch whose values are still being made. The queue must have room.
 * Ownership: the batch moves to the queue. */
void fby_ready_queue_append(
    struct fby_ready_queue *self, struct forebay_batch *batch);

/* Mark a batch's values as made (`err` is FBY_OK) or failed. Any thread. */
void fby_ready_queue_mark_done(struct fby_ready_queue *self,
    struct forebay_batch *batch, fby_err err,
    const struct fby_error_detail *why);

/* Set the stream's info and change its phase from OPENING to STREAMING. */
void fby_ready_queue_set_opened(
    struct fby_ready_queue *self, const struct forebay_info *info);
/* Set the scanned shards and all shards, for the callback on_scan. */
void fby_ready_queue_set_scan_progress(
    struct fby_ready_queue *self, uint64_t done, uint64_t total);
/* Let the stream end after the batches in the queue. */
void fby_ready_queue_end(struct fby_ready_queue *self);
/* True if the trainer wants to continue at another position, and the stream has
 * not failed. Then call fby_ready_queue_finish_seek with this *number. */
bool fby_ready_queue_take_seek(struct fby_ready_queue *self,
    struct fby_stream_position *out, uint64_t *number);
/* Drop the batches in the queue, continue a stream that has ended, and wake the
 * trainer, which waits for seek `number`. */
void fby_ready_queue_finish_seek(struct fby_ready_queue *self, uint64_t number);
/* Let the stream fail after the queued batches. The first failure is kept. */
void fby_ready_queue_fail(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_error_detail *why);
/* The same, because of data. */
void fby_ready_queue_fail_data(struct fby_ready_queue *self,
    const struct fby_error_detail *why, const struct fby_failed_sample *bad);
/* Set the reason why the next batch is late; "" if there is none. */
void fby_ready_queue_set_wait_reason(
    struct fby_ready_queue *self, const char *text);

/* Wake waiting trainer threads, to tell them FOREBAY_FULL: the batch pool is
 * full, so no batch can come until they release one. */
void fby_ready_queue_wake_trainer(struct fby_ready_queue *self);

/* How fast the trainer took its last steps. */
struct fby_pace fby_ready_queue_pace(
    struct fby_ready_queue *self, int64_t now_ns);

/* Set the statistics, except those that the trainer's side counts. */
void fby_ready_queue_set_stats(
    struct fby_ready_queue *self, const struct forebay_stats *stats);

/* ---- the trainer's side -------------------------------------------------- */

/* Wait until the stream is open or fails, `deadline_ns` on the monotonic clock
 * passes, or options->give_up returns true. on_scan and give_up are called
 * without the lock. If the stream opens and then fails, this function returns
 * FOREBAY_OK, and fby_ready_queue_next reports the failure. */
enum forebay_status fby_ready_queue_wait_open(struct fby_ready_queue *self,
    const struct forebay_options *options, int64_t deadline_ns,
    struct fby_error_detail *why);

/* Continue at `position`, and wait until the receiver has done so. Results are
 * those of forebay_seek_step. */
enum forebay_status fby_ready_queue_seek(
    struct fby_ready_queue *self, struct fby_stream_position position);

/* The calling thread's last error on this queue. If it has none, or had one on
 * another queue since, the last error of any thread.
 * Thread: any.            Blocks: no. */
void fby_ready_queue_last_error(
    struct fby_ready_queue *self, struct fby_call_error *out);

/* Record the last error of the stream and of the calling thread, and return
 * `status`. */
enum forebay_status fby_ready_queue_set_error(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_error_detail *why);

/* Set whether fby_ready_queue_next returns FOREBAY_INTERRUPTED and does not
 * wait. */
void fby_ready_queue_interrupt(struct fby_ready_queue *self, bool on);

/* Take the first batch. Parameters and results are those of forebay_next. */
enum forebay_status fby_ready_queue_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, int64_t timeout_ns,
    const struct fby_consumer *consumer, struct forebay_batch **out);

#endif
