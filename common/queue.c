/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer under one mutex, with a condition variable for producers and
 * one for consumers. At the few thousand items a second that a worker
 * passes, a lock-free ring is not faster, and could not measure waits.
 *
 * A producer that finds the queue full leaves its item in a list. The consumer
 * that makes space moves the first of them to the ring. So no later item
 * overtakes it, however late the producer is woken. */
#include "common/queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"

struct waiting_item { /* in the stack frame of a producer that waits */
    void                *item;
    bool                 appended; /* it is in the ring */
    struct waiting_item *next;
};

struct fby_queue {
    pthread_mutex_t         lock; /* guards all members below */
    pthread_cond_t          not_empty;
    pthread_cond_t          not_full;
    struct fby_queue_counts counts;
    size_t                  head; /* index in ring[] of the oldest item */
    bool                    closed;
    void                  **ring; /* `capacity` items */
    /* A list, oldest first. It is empty while the ring is not full. */
    struct waiting_item    *first_waiting;
    struct waiting_item   **waiting_end;  /* to the NULL that ends the list */
    struct fby_queue_link  *first_urgent; /* a list, oldest first */
    struct fby_queue_link **urgent_end;
};

struct fby_queue *fby_queue_create(size_t capacity)
{
    struct fby_queue *self = fby_zalloc(sizeof(*self));
    self->counts.capacity  = capacity > 0 ? capacity : 1;
    self->ring        = fby_zalloc(self->counts.capacity * sizeof(*self->ring));
    self->waiting_end = &self->first_waiting;
    self->urgent_end  = &self->first_urgent;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->not_empty, NULL);
    pthread_cond_init(&self->not_full, NULL);
    return self;
}

void fby_queue_destroy(struct fby_queue **self_p)
{
    struct fby_queue *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    pthread_cond_destroy(&self->not_full);
    pthread_cond_destroy(&self->not_empty);
    pthread_mutex_destroy(&self->lock);
    free(self->ring);
    free(self);
}

static bool is_full(const struct fby_queue *self)
{
    return self->counts.occupancy == self->counts.capacity;
}

static bool is_empty(const struct fby_queue *self)
{
    return self->counts.occupancy == 0;
}

static void append_item(struct fby_queue *self, void *item)
{
    size_t tail = (self->head + self->counts.occupancy) % self->counts.capacity;
    self->ring[tail] = item;
    self->counts.occupancy++;
    self->counts.pushed++;
    pthread_cond_signal(&self->not_empty);
}

/* ---- producers ----------------------------------------------------------- */

/* Wait until the consumers have made space for `own` and appended it, or until
 * the queue is closed. */
static void wait_for_space(struct fby_queue *self, struct waiting_item *own)
{
    int64_t since_ns   = fby_now_ns();
    *self->waiting_end = own;
    self->waiting_end  = &own->next;
    self->counts.waiting++;
    while (!self->closed && !own->appended) {
        pthread_cond_wait(&self->not_full, &self->lock);
    }
    self->counts.wait_output_ns += fby_now_ns() - since_ns;
}

fby_err fby_queue_push(struct fby_queue *self, void *item)
{
    struct waiting_item own = {.item = item};
    fby_err             err = FBY_OK;
    pthread_mutex_lock(&self->lock);
    if (!self->closed && is_full(self)) {
        wait_for_space(self, &own);
    }
    if (!own.appended && self->closed) {
        err = FBY_GONE;
    } else if (!own.appended) {
        append_item(self, item);
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

fby_err fby_queue_try_push(struct fby_queue *self, void *item)
{
    pthread_mutex_lock(&self->lock);
    fby_err err = is_full(self) ? FBY_FULL : FBY_OK;
    if (self->closed) {
        err = FBY_GONE;
    } else if (err == FBY_OK) {
        append_item(self, item);
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

fby_err fby_queue_push_urgent(
    struct fby_queue *self, struct fby_queue_link *item)
{
    pthread_mutex_lock(&self->lock);
    bool is_closed = self->closed;
    if (!is_closed) {
        item->next        = NULL;
        *self->urgent_end = item;
        self->urgent_end  = &item->next;
        self->counts.pushed++;
        pthread_cond_signal(&self->not_empty);
    }
    pthread_mutex_unlock(&self->lock);
    return is_closed ? FBY_GONE : FBY_OK;
}

/* ---- consumers ----------------------------------------------------------- */

static bool has_item(const struct fby_queue *self)
{
    return self->first_urgent != NULL || !is_empty(self);
}

/* Wait for an item. A call that need not wait does not read the clock. */
static void wait_for_item(struct fby_queue *self)
{
    if (self->closed || has_item(self)) {
        return;
    }
    int64_t since_ns = fby_now_ns();
    while (!self->closed && !has_item(self)) {
        pthread_cond_wait(&self->not_empty, &self->lock);
    }
    self->counts.wait_input_ns += fby_now_ns() - since_ns;
}

/* Append the item of the producer that has waited longest, if there is one. */
static void append_waiting(struct fby_queue *self)
{
    struct waiting_item *first = self->first_waiting;
    if (first == NULL) {
        return;
    }
    self->first_waiting = first->next;
    if (self->first_waiting == NULL) {
        self->waiting_end = &self->first_waiting;
    }
    self->counts.waiting--;
    first->appended = true;
    append_item(self, first->item);
}

/* Wake producers late, so that they add items in batches. Those that still wait
 * when the queue is empty are woken together: no later call would do it. */
static void wake_producers(struct fby_queue *self)
{
    if (is_empty(self)) {
        pthread_cond_broadcast(&self->not_full);
    } else if (self->counts.occupancy <= self->counts.capacity / 2) {
        pthread_cond_signal(&self->not_full);
    }
}

static fby_err take_oldest(struct fby_queue *self, void **out)
{
    if (is_empty(self)) {
        return FBY_GONE; /* closed: the wait ended without an item */
    }
    *out       = self->ring[self->head];
    self->head = (self->head + 1) % self->counts.capacity;
    self->counts.occupancy--;
    append_waiting(self);
    wake_producers(self);
    return FBY_OK;
}

/* Take the oldest urgent item; NULL: there is none. */
static void *take_urgent(struct fby_queue *self)
{
    struct fby_queue_link *item = self->first_urgent;
    if (item != NULL) {
        self->first_urgent = item->next;
        if (self->first_urgent == NULL) {
            self->urgent_end = &self->first_urgent;
        }
    }
    return item;
}

fby_err fby_queue_pop(struct fby_queue *self, void **out)
{
    pthread_mutex_lock(&self->lock);
    wait_for_item(self);
    void   *urgent = take_urgent(self);
    fby_err err    = FBY_OK;
    if (urgent != NULL) {
        *out = urgent;
    } else {
        err = take_oldest(self, out);
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- both ---------------------------------------------------------------- */

void fby_queue_close(struct fby_queue *self)
{
    pthread_mutex_lock(&self->lock);
    self->closed         = true;
    self->first_waiting  = NULL; /* these producers keep their items */
    self->waiting_end    = &self->first_waiting;
    self->counts.waiting = 0;
    pthread_cond_broadcast(&self->not_empty);
    pthread_cond_broadcast(&self->not_full);
    pthread_mutex_unlock(&self->lock);
}

struct fby_queue_counts fby_queue_counts(struct fby_queue *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_queue_counts counts = self->counts;
    pthread_mutex_unlock(&self->lock);
    return counts;
}
