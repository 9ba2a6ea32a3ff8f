/* ready_queue.h - the counter between the receiver and the trainer's threads.
 *
 * The receiver lays batches down in order, some of them still being expanded;
 * the trainer takes the first when its values are there. The ready queue also holds
 * all that a trainer may ask at any time: phase, failure, statistics. It is
 * the only memory that both sides share, under one lock. */
#ifndef FBY_CLIENT_BATCH_READY_QUEUE_H
#define FBY_CLIENT_BATCH_READY_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#include "common/err.h"
#include "common/hash.h"
#include "forebay/forebay.h"
#include "trainer_client/batch/wakeup.h"

enum { FBY_READY_QUEUE_AHEAD = 2 }; /* batches laid down and not taken */

enum fby_phase {
    FBY_PHASE_OPENING,
    FBY_PHASE_STREAMING,
    FBY_PHASE_ENDED, /* what is laid down is all there is */
    FBY_PHASE_FAILED /* likewise, and then the failure */
};

struct fby_batch_pool;

struct fby_ready_queue {
    struct fby_wakeup wakeup; /* rings when the trainer wants something */

    pthread_mutex_t       lock; /* guards all below */
    pthread_cond_t        changed;
    enum fby_phase        phase;
    enum forebay_status   failure;
    struct fby_why        why;     /* of the failure */
    struct fby_why        waiting; /* what is waited for; "": nothing odd */
    struct fby_why        last;    /* error of the last call */
    struct forebay_batch *first;   /* laid down, in order */
    struct forebay_batch *last_batch;
    uint32_t              n;
    bool                  consumer_waiting; /* a call found nothing */
    uint64_t              scan_done;
    uint64_t              scan_total;
    bool                  opened; /* info is there; a failure is next's */
    struct forebay_info   info;
    struct forebay_stats  stats; /* of the receiver, and of deliveries */
    struct fby_sum_state  digest;
};

/* Errors: FBY_SYS. fini copes with a failed init. */
FBY_CHECKED fby_err fby_ready_queue_init(struct fby_ready_queue *self);
/* Unrefs what lies there. Nobody else may be inside. */
void fby_ready_queue_fini(struct fby_ready_queue *self);

/* ---- the receiver's side ------------------------------------------------- */

/* Whether there is room for one more batch; *consumer_waiting: the trainer waits and
 * nothing is on its way. */
bool fby_ready_queue_has_room(
    struct fby_ready_queue *self, bool *consumer_waiting);

/* Lay down a batch whose values are still to come. Ownership moves. */
void fby_ready_queue_put(
    struct fby_ready_queue *self, struct forebay_batch *batch);

/* Its values are there, or `err`; on any thread. */
void fby_ready_queue_done(struct fby_ready_queue *self,
    struct forebay_batch *batch, fby_err err, const struct fby_why *why);

void fby_ready_queue_opened(
    struct fby_ready_queue *self, const struct forebay_info *info);
void fby_ready_queue_scanning(
    struct fby_ready_queue *self, uint64_t done, uint64_t total);
void fby_ready_queue_end(struct fby_ready_queue *self);
/* The first failure counts. */
void fby_ready_queue_fail(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_why *why);
/* "" when nothing is out of the ordinary. */
void fby_ready_queue_waiting(struct fby_ready_queue *self, const char *text);

/* The pool may be full now: whoever waits is to see. */
void fby_ready_queue_look_again(struct fby_ready_queue *self);

/* Replace the receiver's part of the statistics. */
void fby_ready_queue_report(
    struct fby_ready_queue *self, const struct forebay_stats *receiver);

/* ---- the trainer's side -------------------------------------------------- */

struct fby_open_watch {  /* how long to wait, and whom to ask meanwhile */
    int64_t deadline_ns; /* on the monotonic clock */
    void (*on_scan)(void *arg, uint64_t done, uint64_t total); /* or NULL */
    void *on_scan_arg;
    bool (*give_up)(void *arg); /* or NULL */
    void *give_up_arg;
};

/* Until streaming, failed, or given up; what is watched is called without the
 * lock. What fails once it was opened is told by the next call, however soon
 * it failed. */
enum forebay_status fby_ready_queue_wait_open(struct fby_ready_queue *self,
    const struct fby_open_watch *watch, struct fby_why *why);

/* As forebay_next. */
enum forebay_status fby_ready_queue_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, int64_t timeout_ns, void *stream,
    struct forebay_batch **out);

#endif
