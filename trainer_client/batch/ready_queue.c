#include "trainer_client/batch/ready_queue.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "trainer_client/batch/batch_pool.h"

/* How often a waiting thread asks whether the caller gives up. */
#define POLL_NS (FBY_NS_PER_S / 10)

fby_err fby_ready_queue_init(struct fby_ready_queue *self)
{
    pthread_condattr_t monotonic;
    *self = (struct fby_ready_queue){.wakeup = fby_wakeup_open()};
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    fby_sum_begin(&self->digest);
    return self->wakeup.fd >= 0 ? FBY_OK : FBY_SYS;
}

static struct forebay_batch *take_first(struct fby_ready_queue *self)
{
    struct forebay_batch *batch = self->first;
    self->first                 = batch->next;
    self->n--;
    if (self->first == NULL) {
        self->last_batch = NULL;
    }
    batch->next = NULL;
    return batch;
}

void fby_ready_queue_fini(struct fby_ready_queue *self)
{
    while (self->first != NULL) {
        fby_batch_unref(take_first(self));
    }
    fby_wakeup_close(&self->wakeup);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}

/* ---- the receiver's side ------------------------------------------------- */

bool fby_ready_queue_has_room(
    struct fby_ready_queue *self, bool *consumer_waiting)
{
    pthread_mutex_lock(&self->lock);
    bool room         = self->n < FBY_READY_QUEUE_AHEAD;
    *consumer_waiting = self->n == 0 && self->consumer_waiting;
    pthread_mutex_unlock(&self->lock);
    return room;
}

void fby_ready_queue_put(
    struct fby_ready_queue *self, struct forebay_batch *batch)
{
    pthread_mutex_lock(&self->lock);
    if (self->last_batch == NULL) {
        self->first = batch;
    } else {
        self->last_batch->next = batch;
    }
    self->last_batch = batch;
    self->n++;
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_done(struct fby_ready_queue *self,
    struct forebay_batch *batch, fby_err err, const struct fby_why *why)
{
    pthread_mutex_lock(&self->lock);
    batch->done = true;
    batch->err  = err;
    batch->why  = *why;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_opened(
    struct fby_ready_queue *self, const struct forebay_info *info)
{
    pthread_mutex_lock(&self->lock);
    self->info   = *info;
    self->opened = true;
    if (self->phase == FBY_PHASE_OPENING) {
        self->phase = FBY_PHASE_STREAMING;
    }
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_scanning(
    struct fby_ready_queue *self, uint64_t done, uint64_t total)
{
    pthread_mutex_lock(&self->lock);
    self->scan_done  = done;
    self->scan_total = total;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_end(struct fby_ready_queue *self)
{
    pthread_mutex_lock(&self->lock);
    if (self->phase != FBY_PHASE_FAILED) {
        self->phase = FBY_PHASE_ENDED;
    }
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void fail_locked(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_why *why)
{
    if (self->phase == FBY_PHASE_FAILED) {
        return;
    }
    self->phase   = FBY_PHASE_FAILED;
    self->failure = status;
    self->why     = *why;
}

void fby_ready_queue_fail(struct fby_ready_queue *self,
    enum forebay_status status, const struct fby_why *why)
{
    pthread_mutex_lock(&self->lock);
    fail_locked(self, status, why);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_waiting(struct fby_ready_queue *self, const char *text)
{
    pthread_mutex_lock(&self->lock);
    snprintf(self->waiting.text, sizeof(self->waiting.text), "%s", text);
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_look_again(struct fby_ready_queue *self)
{
    pthread_mutex_lock(&self->lock);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_ready_queue_report(
    struct fby_ready_queue *self, const struct forebay_stats *receiver)
{
    pthread_mutex_lock(&self->lock);
    struct forebay_stats *stats  = &self->stats;
    struct forebay_stats  before = *stats;
    *stats                       = *receiver;
    stats->steps                 = before.steps;
    stats->images                = before.images;
    stats->raw_bytes             = before.raw_bytes;
    stats->wait_ns               = before.wait_ns;
    pthread_mutex_unlock(&self->lock);
}

/* ---- the trainer's side -------------------------------------------------- */

/* False when the deadline (< 0: none) has passed. */
static bool wait_changed(struct fby_ready_queue *self, int64_t deadline_ns)
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

/* Call the watch's callbacks, without the lock; false: give up. */
static bool call_watch(struct fby_ready_queue *self,
    const struct fby_open_watch *watch, uint64_t *told)
{
    uint64_t done = self->scan_done;
    uint64_t all  = self->scan_total;
    pthread_mutex_unlock(&self->lock);
    if (watch->on_scan != NULL && all > 0 && done != *told) {
        *told = done;
        watch->on_scan(watch->on_scan_arg, done, all);
    }
    bool go_on = watch->give_up == NULL || !watch->give_up(watch->give_up_arg);
    pthread_mutex_lock(&self->lock);
    return go_on;
}

static enum forebay_status wait_open_locked(
    struct fby_ready_queue *self, const struct fby_open_watch *watch)
{
    uint64_t told = UINT64_MAX;
    while (self->phase == FBY_PHASE_OPENING) {
        int64_t poll_ns = fby_now_ns() + POLL_NS;
        int64_t left_ns = watch->deadline_ns - fby_now_ns();
        (void)wait_changed(
            self, left_ns < POLL_NS ? watch->deadline_ns : poll_ns);
        if (!call_watch(self, watch, &told)) {
            return FOREBAY_INTERRUPTED;
        }
        if (left_ns <= 0 && self->phase == FBY_PHASE_OPENING) {
            return FOREBAY_TIMEOUT;
        }
    }
    return self->phase == FBY_PHASE_FAILED && !self->opened ? self->failure
                                                            : FOREBAY_OK;
}

enum forebay_status fby_ready_queue_wait_open(struct fby_ready_queue *self,
    const struct fby_open_watch *watch, struct fby_why *why)
{
    pthread_mutex_lock(&self->lock);
    enum forebay_status status = wait_open_locked(self, watch);
    if (status == FOREBAY_TIMEOUT) {
        *why = self->waiting;
    } else if (status != FOREBAY_OK && status != FOREBAY_INTERRUPTED) {
        *why = self->why;
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

static enum forebay_status deliver(
    struct fby_ready_queue *self, void *stream, struct forebay_batch **out)
{
    struct forebay_batch *batch = self->first;
    if (batch->err == FBY_OK) {
        batch->err = fby_batch_pool_deliver(batch, stream, &batch->why);
    }
    if (batch->err != FBY_OK) {
        bool system = batch->err == FBY_SYS;
        fail_locked(self, system ? FOREBAY_SYSTEM : FOREBAY_DATA, &batch->why);
        self->last = self->why;
        return self->failure;
    }
    *out                   = take_first(self);
    self->consumer_waiting = false;
    self->stats.steps++;
    self->stats.images += batch->rows;
    self->stats.raw_bytes += batch->raw_bytes;
    if (batch->has_digests) {
        fby_sum_add(
            &self->digest, batch->digest.bytes, sizeof(batch->digest.bytes));
    }
    return FOREBAY_OK;
}

static enum forebay_status fail_all_held(
    struct fby_ready_queue *self, struct fby_batch_pool *batch_pool)
{
    struct fby_batch_pool_counts counts = fby_batch_pool_counts(batch_pool);
    (void)fby_because(&self->last, FBY_FULL,
        "you hold %u batches, %s; release some", counts.held,
        counts.out_of_memory ? "and there is no memory for another"
                             : "all that max_held_bytes allows");
    return FOREBAY_FULL;
}

/* The result without waiting; FOREBAY_TIMEOUT: none yet. */
static enum forebay_status try_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, void *stream, struct forebay_batch **out)
{
    bool empty = self->first == NULL;
    if (!empty && self->first->done && fby_batch_pool_is_blocked(batch_pool)) {
        (void)fby_because(&self->last, FBY_FULL,
            "with fixed_outputs one batch is held at a time; release it");
        return FOREBAY_FULL;
    }
    if (!empty && self->first->done) {
        return deliver(self, stream, out);
    }
    if (empty && self->phase == FBY_PHASE_FAILED) {
        self->last = self->why;
        return self->failure;
    }
    if (empty && self->phase == FBY_PHASE_ENDED) {
        self->last.text[0] = '\0';
        return FOREBAY_END;
    }
    if (empty && fby_batch_pool_is_full(batch_pool)) {
        return fail_all_held(self, batch_pool);
    }
    return FOREBAY_TIMEOUT;
}

static void set_waiting_text(struct fby_ready_queue *self)
{
    self->last = self->waiting;
    if (self->last.text[0] == '\0') {
        snprintf(self->last.text, sizeof(self->last.text),
            "the next batch is not there yet");
    }
}

enum forebay_status fby_ready_queue_next(struct fby_ready_queue *self,
    struct fby_batch_pool *batch_pool, int64_t timeout_ns, void *stream,
    struct forebay_batch **out)
{
    int64_t begun_ns = timeout_ns == 0 ? 0 : fby_now_ns();
    bool    ever     = timeout_ns < 0 || timeout_ns > INT64_MAX - begun_ns;
    int64_t until    = ever ? -1 : begun_ns + timeout_ns;
    bool    time     = timeout_ns != 0;
    pthread_mutex_lock(&self->lock);
    enum forebay_status status = try_next(self, batch_pool, stream, out);
    while (status == FOREBAY_TIMEOUT) {
        if (!self->consumer_waiting) {
            self->consumer_waiting = true;
            fby_wakeup_send(&self->wakeup);
        }
        if (!time) {
            break;
        }
        time   = wait_changed(self, until);
        status = try_next(self, batch_pool, stream, out);
    }
    if (status == FOREBAY_TIMEOUT) {
        set_waiting_text(self);
    }
    if (timeout_ns != 0) {
        self->stats.wait_ns += fby_now_ns() - begun_ns;
    }
    pthread_mutex_unlock(&self->lock);
    if (status == FOREBAY_OK) {
        fby_wakeup_send(&self->wakeup); /* there is room for another */
    }
    return status;
}
