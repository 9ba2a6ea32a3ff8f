/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer under one mutex, with a condition variable for producers and
 * one for consumers. At the few thousand items a second that a worker
 * passes, a lock-free ring is not faster, and could not measure waits. */
#include "common/queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"

struct fby_queue {
    pthread_mutex_t         lock; /* guards all members below */
    pthread_cond_t          not_empty;
    pthread_cond_t          not_full;
    struct fby_queue_counts counts;
    size_t                  head; /* index in ring[] of the oldest item */
    bool                    closed;
    void                  **ring; /* `capacity` items */
};

struct fby_queue *fby_queue_create(size_t capacity)
{
    struct fby_queue *self = fby_zalloc(sizeof(*self));
    self->counts.capacity  = capacity > 0 ? capacity : 1;
    self->ring = fby_zalloc(self->counts.capacity * sizeof(*self->ring));
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

/* Wait while `blocked` returns true and the queue is open, and add the time to
 * *waited_ns. A call that need not wait does not read the clock. */
static void wait_while(struct fby_queue *self, pthread_cond_t *condition,
    bool (*blocked)(const struct fby_queue *), int64_t        *waited_ns)
{
    if (self->closed || !blocked(self)) {
        return;
    }
    int64_t since_ns = fby_now_ns();
    while (!self->closed && blocked(self)) {
        pthread_cond_wait(condition, &self->lock);
    }
    *waited_ns += fby_now_ns() - since_ns;
}

static fby_err append_item(struct fby_queue *self, void *item)
{
    if (self->closed) {
        return FBY_GONE;
    }
    if (is_full(self)) {
        return FBY_FULL;
    }
    size_t tail = (self->head + self->counts.occupancy) % self->counts.capacity;
    self->ring[tail] = item;
    self->counts.occupancy++;
    self->counts.pushed++;
    pthread_cond_signal(&self->not_empty);
    return FBY_OK;
}

static fby_err take_oldest(struct fby_queue *self, void **out)
{
    if (is_empty(self)) {
        return FBY_GONE; /* closed: the wait ended without an item */
    }
    *out       = self->ring[self->head];
    self->head = (self->head + 1) % self->counts.capacity;
    self->counts.occupancy--;
    /* Wake producers late, so that they add items in batches. */
    if (self->counts.occupancy <= self->counts.capacity / 2) {
        pthread_cond_signal(&self->not_full);
    }
    return FBY_OK;
}

fby_err fby_queue_push(struct fby_queue *self, void *item)
{
    pthread_mutex_lock(&self->lock);
    wait_while(self, &self->not_full, is_full, &self->counts.wait_output_ns);
    fby_err err = append_item(self, item);
    pthread_mutex_unlock(&self->lock);
    return err;
}

fby_err fby_queue_try_push(struct fby_queue *self, void *item)
{
    pthread_mutex_lock(&self->lock);
    fby_err err = append_item(self, item);
    pthread_mutex_unlock(&self->lock);
    return err;
}

fby_err fby_queue_pop(struct fby_queue *self, void **out)
{
    pthread_mutex_lock(&self->lock);
    wait_while(self, &self->not_empty, is_empty, &self->counts.wait_input_ns);
    fby_err err = take_oldest(self, out);
    pthread_mutex_unlock(&self->lock);
    return err;
}

void fby_queue_close(struct fby_queue *self)
{
    pthread_mutex_lock(&self->lock);
    self->closed = true;
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
