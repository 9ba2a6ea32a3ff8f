/* SPDX-License-Identifier: Apache-2.0 */
/* ready_queue.c - batches on their way from the receiver to the trainer. The
 * condition variable `changed` wakes trainer threads; `wakeup` the receiver. */
#include "trainer_client/batch/ready_queue.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/plural.h"
#include "common/timer.h"
#include "trainer_client/batch/batch_pool.h"

static const int64_t pace_window_ns = 30 * FBY_NS_PER_S;

/* How often a waiting forebay_open() calls on_scan and give_up. */
#define POLL_NS (FBY_NS_PER_S / 10)

/* The calling thread's last error. `number` identifies the queue; an address
 * would not, since a new queue may reuse it. */
static _Thread_local struct {
    uint64_t              number; /* 0: the thread has no error */
    struct fby_call_error error;
} own_error;

fby_err fby_ready_queue_init(struct fby_ready_queue *self)
{
    static atomic_uint_fast64_t n_queues;  /* of this process so far */
    pthread_condattr_t          monotonic; /* for deadlines on this clock */
    *self = (struct fby_ready_queue){.wakeup = fby_wakeup_open(),
        .number =
            atomic_fetch_add_explicit(&n_queues, 1, memory_order_relaxed) + 1};
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    fby_checksum_begin(&self->digest);
    return self->wakeup.fd >= 0 ? FBY_OK : FBY_SYS;
}

static struct forebay_batch *take_at(
    struct fby_ready_queue *self, uint32_t index)
{
    struct forebay_batch *batch = self->batches[index];
    self->n_batches--;
    for (uint32_t i = index; i < self->n_batches; i++) {
        self->batches[i] = self->batches[i + 1];
    }
    return batch;
}

void fby_ready_queue_fini(struct fby_ready_queue *self)
{
    while (self->n_batches > 0) {
        fby_batch_unref(take_at(self, 0));
    }
    fby_wakeup_close(&self->wakeup);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}

/* ---- the receiver's side ------------------------------------------------- */

/* Wake the waiting trainer threads, and unlock. */
static void notify_and_unlock(struct fby_ready_queue *self)
{
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

bool fby_ready_queue_has_room(
    struct fby_ready_queue *self, bool *trainer_waiting)
{
    pthread_mutex_lock(&self->lock);
    bool has_room    = self->n_batches < FBY_READY_QUEUE_MAX;
    *trainer_waiting = self->n_batches == 0 && self->trainer_waiting;
    pthread_mutex_unlock(&self->lock);
    return has_room;
}

void fby_ready_queue_append(
    struct fby_ready_queue *self, struct forebay_batch *batch)
{
    pthread_mutex_lock(&self->lock);
    assert(self->n_batches < FBY_READY_QUEUE_MAX);
    self->batches[self->n_batches++] = batch;
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_mark_done(struct fby_ready_queue *self,
    struct forebay_batch *batch, fby_err err,
    const struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    batch->done  = true;
    batch->err   = err;
    batch->why   = *why;
    bool dropped = batch->dropped;
    notify_and_unlock(self);
    if (dropped) { /* by a seek, which left it to this thread */
        fby_batch_unref(batch);
    }
}

void fby_ready_queue_set_opened(
    struct fby_ready_queue *self, const struct forebay_info *info)
{
    pthread_mutex_lock(&self->lock);
    self->info   = *info;
    self->opened = true;
    if (self->phase == FBY_PHASE_OPENING) {
        self->phase = FBY_PHASE_STREAMING;
    }
    notify_and_unlock(self);
}

void fby_ready_queue_set_scan_progress(
    struct fby_ready_queue *self, uint64_t done, uint64_t total)
{
    pthread_mutex_lock(&self->lock);
    self->scan_done  = done;
    self->scan_total = total;
    notify_and_unlock(self);
}

void fby_ready_queue_end(struct fby_ready_queue *self)
{
    pthread_mutex_lock(&self->lock);
    if (self->phase != FBY_PHASE_FAILED) {
        self->phase = FBY_PHASE_ENDED;
    }
    notify_and_unlock(self);
}

/* Remove all batches but one that is being delivered. Those that are done become
 * the caller's, in `done`. The thread that still makes the values of a batch
 * drops it when they are made. */
static uint32_t remove_batches(struct fby_ready_queue *self,
    struct forebay_batch *done[FBY_READY_QUEUE_MAX])
{
    uint32_t n_done = 0;
    uint32_t n_kept = self->is_delivering ? 1 : 0;
    while (self->n_batches > n_kept) {
        struct forebay_batch *batch = take_at(self, n_kept);
        if (batch->done) {
            done[n_done++] = batch;
        } else {
            batch->dropped = true;
        }
    }
    return n_done;
}

bool fby_ready_queue_take_seek(struct fby_ready_queue *self,
    struct fby_stream_position *out, uint64_t *number)
{
    pthread_mutex_lock(&self->lock);
    bool wanted = self->n_seeks_requested > self->n_seeks_done &&
                  self->phase != FBY_PHASE_FAILED;
    *out    = self->seek_position;
    *number = self->n_seeks_requested;
    pthread_mutex_unlock(&self->lock);
    return wanted;
}

void fby_ready_queue_finish_seek(struct fby_ready_queue *self, uint64_t number)
{
    struct forebay_batch *done[FBY_READY_QUEUE_MAX];
    pthread_mutex_lock(&self->lock);
    uint32_t n_done           = remove_batches(self, done);
    self->n_seeks_done        = number;
    self->wait_reason.text[0] = '\0';
    if (self->phase == FBY_PHASE_ENDED) {
        self->phase = FBY_PHASE_STREAMING;
    }
    notify_and_unlock(self);
    /* Without the lock, because the application's deallocate may be called. */
    for (uint32_t i = 0; i < n_done; i++) {
        fby_batch_unref(done[i]);
    }
}

static void fail_locked(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_error_detail *why)
{
    if (self->phase != FBY_PHASE_FAILED) {
        self->phase   = FBY_PHASE_FAILED;
        self->failure = status;
        self->why     = *why;
    }
}

void fby_ready_queue_fail(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    fail_locked(self, status, why);
    notify_and_unlock(self);
}

void fby_ready_queue_fail_data(struct fby_ready_queue *self,
    const struct fby_error_detail *why, const struct fby_failed_sample *bad)
{
    pthread_mutex_lock(&self->lock);
    if (self->phase != FBY_PHASE_FAILED) {
        self->bad_sample = *bad;
    }
    fail_locked(self, FOREBAY_DATA, why);
    notify_and_unlock(self);
}

void fby_ready_queue_set_wait_reason(
    struct fby_ready_queue *self, const char *text)
{
    pthread_mutex_lock(&self->lock);
    snprintf(
        self->wait_reason.text, sizeof(self->wait_reason.text), "%s", text);
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_wake_trainer(struct fby_ready_queue *self)
{
    pthread_mutex_lock(&self->lock);
    notify_and_unlock(self);
}

void fby_ready_queue_set_stats(
    struct fby_ready_queue *self, const struct forebay_stats *stats)
{
    pthread_mutex_lock(&self->lock);
    struct forebay_stats old = self->stats;
    self->stats              = *stats;
    self->stats.steps        = old.steps; /* the trainer's side counts these */
    self->stats.images       = old.images;
    self->stats.raw_bytes    = old.raw_bytes;
    self->stats.wait_ns      = old.wait_ns;
    pthread_mutex_unlock(&self->lock);
}

struct fby_pace fby_ready_queue_pace(
    struct fby_ready_queue *self, int64_t now_ns)
{
    pthread_mutex_lock(&self->lock);
    struct fby_recent_steps recent = self->recent;
    pthread_mutex_unlock(&self->lock);
    return fby_recent_steps_pace(
        &recent, now_ns, fby_scaled_timeout_ns(pace_window_ns));
}

/* ---- the trainer's side -------------------------------------------------- */

/* Wait for `changed`. Returns false if the deadline has passed; < 0: none. */
static bool wait_for_change(struct fby_ready_queue *self, int64_t deadline_ns)
{
    if (deadline_ns < 0) {
        pthread_cond_wait(&self->changed, &self->lock);
        return true;
    }
    const struct timespec until = {
        .tv_sec  = (time_t)(deadline_ns / FBY_NS_PER_S),
        .tv_nsec = (long)(deadline_ns % FBY_NS_PER_S),
    };
    return pthread_cond_timedwait(&self->changed, &self->lock, &until) == 0;
}

/* Call on_scan, if shards were scanned since *reported_done, and give_up. The
 * lock, which the caller holds, is released during both calls. Returns false if
 * give_up returned true. */
static bool call_user_callbacks(struct fby_ready_queue *self,
    const struct forebay_options *o, uint64_t *reported_done)
{
    uint64_t done  = self->scan_done;
    uint64_t total = self->scan_total;
    pthread_mutex_unlock(&self->lock);
    if (o->on_scan != NULL && total > 0 && done != *reported_done) {
        *reported_done = done;
        o->on_scan(o->on_scan_arg, done, total);
    }
    bool go_on = o->give_up == NULL || !o->give_up(o->give_up_arg);
    pthread_mutex_lock(&self->lock);
    return go_on;
}

static enum forebay_status wait_open_locked(struct fby_ready_queue *self,
    const struct forebay_options *o, int64_t deadline_ns)
{
    uint64_t reported_done = UINT64_MAX; /* nothing was reported */
    while (self->phase == FBY_PHASE_OPENING) {
        int64_t now_ns  = fby_now_ns();
        int64_t left_ns = deadline_ns - now_ns;
        (void)wait_for_change(
            self, left_ns < POLL_NS ? deadline_ns : now_ns + POLL_NS);
        if (!call_user_callbacks(self, o, &reported_done)) {
            return FOREBAY_INTERRUPTED;
        }
        if (left_ns <= 0 && self->phase == FBY_PHASE_OPENING) {
            return FOREBAY_TIMEOUT;
        }
    }
    bool failed_to_open = self->phase == FBY_PHASE_FAILED && !self->opened;
    return failed_to_open ? self->failure : FOREBAY_OK;
}

enum forebay_status fby_ready_queue_wait_open(struct fby_ready_queue *self,
    const struct forebay_options *o, int64_t deadline_ns,
    struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    enum forebay_status status = wait_open_locked(self, o, deadline_ns);
    if (status == FOREBAY_TIMEOUT) {
        *why = self->wait_reason;
    } else if (status == FOREBAY_INTERRUPTED) {
        (void)fby_error_set(
            why, FBY_AGAIN, "interrupted before the stream was open");
    } else if (status != FOREBAY_OK) {
        *why = self->why;
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* The number of rows that are not padding. */
static uint32_t count_samples(const struct forebay_batch *batch)
{
    uint32_t n = 0;
    while (n < batch->rows && batch->valid[n] != 0) {
        n++; /* padding is last */
    }
    return n;
}

/* Make the values of the first batch visible to the consumer. The lock, which
 * the caller holds, is released meanwhile. */
static void deliver_unlocked(
    struct fby_ready_queue *self, const struct fby_consumer *consumer)
{
    struct forebay_batch *batch = self->batches[0];
    self->is_delivering         = true;
    pthread_mutex_unlock(&self->lock);
    batch->err = fby_batch_pool_deliver(
        batch, consumer->stream, consumer->memory, &batch->why);
    pthread_mutex_lock(&self->lock);
    self->is_delivering = false;
    pthread_cond_broadcast(&self->changed);
}

/* Pass the first batch, which is done, to the trainer, or fail the stream. */
static enum forebay_status deliver_first(struct fby_ready_queue *self,
    const struct fby_consumer *consumer, struct fby_error_detail *why,
    struct forebay_batch **out)
{
    struct forebay_batch *batch = self->batches[0];
    if (batch->err == FBY_OK) {
        deliver_unlocked(self, consumer);
    }
    if (batch->err != FBY_OK) {
        enum forebay_status status =
            batch->err == FBY_SYS ? FOREBAY_SYSTEM : FOREBAY_DATA;
        fail_locked(self, status, &batch->why);
        *why = self->why;
        return self->failure;
    }
    *out                  = take_at(self, 0);
    self->trainer_waiting = false;
    return FOREBAY_OK;
}

static void count_delivery(struct fby_ready_queue *self,
    const struct forebay_batch *batch, int64_t now_ns)
{
    uint32_t samples = count_samples(batch);
    fby_recent_steps_add(&self->recent, now_ns, samples, &batch->worker_times);
    self->stats.steps++;
    self->stats.images += samples;
    self->stats.raw_bytes += batch->raw_bytes;
    if (batch->has_digests) {
        fby_checksum_add(
            &self->digest, batch->digest.bytes, sizeof(batch->digest.bytes));
    }
}

/* Describe why no batch can be made. Returns FOREBAY_FULL. */
static enum forebay_status describe_all_held(
    struct fby_batch_pool *batch_pool, struct fby_error_detail *why)
{
    struct fby_batch_pool_counts counts = fby_batch_pool_counts(batch_pool);
    (void)fby_error_set(why, FBY_FULL, "you hold %s, %s; release some",
        fby_plural(counts.held, "batch").text,
        counts.out_of_memory ? "and there is no memory for another"
                             : "all that max_held_bytes allows");
    return FOREBAY_FULL;
}

/* Take the first batch, or report why the stream has none, without waiting.
 * Returns FOREBAY_TIMEOUT if the caller should wait. */
static enum forebay_status try_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, const struct fby_consumer *consumer,
    struct fby_error_detail *why, struct forebay_batch **out)
{
    if (self->n_batches > 0) {
        if (!self->batches[0]->done || self->is_delivering) {
            return FOREBAY_TIMEOUT;
        }
        if (fby_batch_pool_is_blocked(batch_pool)) {
            (void)fby_error_set(why, FBY_FULL,
                "with fixed_outputs one batch is held at a time; release it");
            return FOREBAY_FULL;
        }
        return deliver_first(self, consumer, why, out);
    }
    if (self->phase == FBY_PHASE_FAILED) {
        *why = self->why;
        return self->failure;
    }
    if (self->phase == FBY_PHASE_ENDED) {
        return FOREBAY_END;
    }
    return fby_batch_pool_is_full(batch_pool)
               ? describe_all_held(batch_pool, why)
               : FOREBAY_TIMEOUT;
}

/* Record the error of a call: the stream's last one, and this thread's. The
 * stream's end is no error. */
static enum forebay_status set_error_locked(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_error_detail *why)
{
    self->last_error.status = status != FOREBAY_END ? status : FOREBAY_OK;
    self->last_error.why    = *why;
    own_error.number        = self->number;
    own_error.error         = self->last_error;
    return status;
}

void fby_ready_queue_last_error(
    struct fby_ready_queue *self, struct fby_call_error *out)
{
    if (own_error.number == self->number) {
        *out = own_error.error;
        return;
    }
    pthread_mutex_lock(&self->lock);
    *out = self->last_error;
    pthread_mutex_unlock(&self->lock);
}

enum forebay_status fby_ready_queue_set_error(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    (void)set_error_locked(self, status, why);
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* Wait until the receiver has done seek `number`, or a later one. */
static enum forebay_status wait_for_seek(
    struct fby_ready_queue *self, uint64_t number)
{
    while (self->n_seeks_done < number && self->phase != FBY_PHASE_FAILED) {
        (void)wait_for_change(self, -1);
    }
    if (self->n_seeks_done < number) {
        return set_error_locked(self, self->failure, &self->why);
    }
    return FOREBAY_OK;
}

/* Check a position. Errors: FOREBAY_USAGE. */
static enum forebay_status check_position(
    struct fby_ready_queue *self, struct fby_stream_position position)
{
    struct fby_error_detail why   = {""};
    uint64_t                steps = self->info.steps_per_epoch;
    if (position.step >= steps) {
        (void)fby_error_set(&why, FBY_USAGE,
            "step %llu: an epoch has %s, counted from 0",
            (unsigned long long)position.step, fby_plural(steps, "step").text);
        return set_error_locked(self, FOREBAY_USAGE, &why);
    }
    if (position.epoch > (FBY_MAX_SEEK - position.step) / steps) {
        (void)fby_error_set(&why, FBY_USAGE,
            "epoch %llu is too large: its steps cannot be counted",
            (unsigned long long)position.epoch);
        return set_error_locked(self, FOREBAY_USAGE, &why);
    }
    return FOREBAY_OK;
}

enum forebay_status fby_ready_queue_seek(
    struct fby_ready_queue *self, struct fby_stream_position position)
{
    pthread_mutex_lock(&self->lock);
    enum forebay_status status = check_position(self, position);
    if (status == FOREBAY_OK) {
        self->seek_position = position;
        self->n_seeks_requested++;
        fby_wakeup_send(&self->wakeup);
        status = wait_for_seek(self, self->n_seeks_requested);
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

void fby_ready_queue_interrupt(struct fby_ready_queue *self, bool on)
{
    pthread_mutex_lock(&self->lock);
    self->interrupted = on;
    notify_and_unlock(self);
}

/* Describe why no batch came. Returns FOREBAY_INTERRUPTED or FOREBAY_TIMEOUT. */
static enum forebay_status describe_wait(
    const struct fby_ready_queue *self, struct fby_error_detail *why)
{
    if (self->interrupted) {
        (void)fby_error_set(
            why, FBY_AGAIN, "forebay_interrupt() ended the wait");
        return FOREBAY_INTERRUPTED;
    }
    bool has_reason = self->wait_reason.text[0] != '\0';
    (void)fby_error_set(why, FBY_TIMEOUT, "%s",
        has_reason ? self->wait_reason.text : "the next batch is not ready");
    return FOREBAY_TIMEOUT;
}

enum forebay_status fby_ready_queue_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, int64_t timeout_ns,
    const struct fby_consumer *consumer, struct forebay_batch **out)
{
    bool    may_wait    = timeout_ns != 0; /* false once the time is over */
    int64_t start_ns    = may_wait ? fby_now_ns() : 0; /* else not needed */
    bool    forever     = timeout_ns < 0 || timeout_ns > INT64_MAX - start_ns;
    int64_t deadline_ns = forever ? -1 : start_ns + timeout_ns;
    struct fby_error_detail why = {""};
    pthread_mutex_lock(&self->lock);
    enum forebay_status status =
        try_next(self, batch_pool, consumer, &why, out);
    while (status == FOREBAY_TIMEOUT) {
        if (!self->trainer_waiting) {
            self->trainer_waiting = true;
            fby_wakeup_send(&self->wakeup);
        }
        if (!may_wait || self->interrupted) {
            status = describe_wait(self, &why);
            break;
        }
        may_wait = wait_for_change(self, deadline_ns);
        status   = try_next(self, batch_pool, consumer, &why, out);
    }
    if (status != FOREBAY_OK) {
        (void)set_error_locked(self, status, &why);
    }
    int64_t now_ns = fby_now_ns();
    if (timeout_ns != 0) {
        self->stats.wait_ns += now_ns - start_ns;
        fby_recent_steps_wait(&self->recent, now_ns - start_ns);
    }
    if (status == FOREBAY_OK) {
        count_delivery(self, *out, now_ns);
    }
    pthread_mutex_unlock(&self->lock);
    if (status == FOREBAY_OK) {
        fby_wakeup_send(&self->wakeup); /* the queue has room again */
    }
    return status;
}
