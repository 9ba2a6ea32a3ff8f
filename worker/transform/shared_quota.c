/* SPDX-License-Identifier: Apache-2.0 */
/* shared_quota.c - a counter of bytes under a lock. Requests are numbered as
 * they arrive, and each waits until all earlier requests were served. */
#include "worker/transform/shared_quota.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"

struct fby_shared_quota {
    uint64_t                       limit; /* bytes; constant */
    pthread_mutex_t                lock;  /* guards all below */
    pthread_cond_t                 changed;
    struct fby_shared_quota_counts counts;
    uint64_t n_requests; /* so far, and the number of the next one */
    uint64_t turn;       /* number of the request to serve next */
    bool     closed;
};

struct fby_shared_quota *fby_shared_quota_create(uint64_t limit_bytes)
{
    struct fby_shared_quota *self = fby_zalloc(sizeof(*self));
    self->limit                   = limit_bytes;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    return self;
}

void fby_shared_quota_destroy(struct fby_shared_quota **self_p)
{
    struct fby_shared_quota *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    assert(self->counts.used == 0);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Count a wait. The first wait is logged, because nothing else shows that
 * waiting costs speed. */
static void count_wait(struct fby_shared_quota *self, uint64_t bytes)
{
    if (self->counts.waits++ == 0) {
        fby_warn("MEMORY-WAIT",
            "decoding a picture takes %llu bytes more than the share of one "
            "thread, so it waits for others; a larger --memory would be faster",
            (unsigned long long)bytes);
    }
}

/* A request waits until it is its turn and enough bytes are free. If the quota
 * is closed, no request waits. */
static bool must_wait(
    const struct fby_shared_quota *self, uint64_t request, uint64_t bytes)
{
    return !self->closed &&
           (self->turn != request || bytes > self->limit - self->counts.used);
}

fby_err fby_shared_quota_take(struct fby_shared_quota *self, uint64_t bytes)
{
    if (bytes > self->limit) {
        return FBY_FULL;
    }
    pthread_mutex_lock(&self->lock);
    uint64_t request = self->n_requests++;
    if (must_wait(self, request, bytes)) {
        count_wait(self, bytes);
    }
    while (must_wait(self, request, bytes)) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    fby_err err = self->closed ? FBY_GONE : FBY_OK;
    if (err == FBY_OK) {
        self->counts.used += bytes;
        self->turn++;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

void fby_shared_quota_return(struct fby_shared_quota *self, uint64_t bytes)
{
    pthread_mutex_lock(&self->lock);
    assert(bytes <= self->counts.used);
    self->counts.used -= bytes;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_shared_quota_close(struct fby_shared_quota *self)
{
    pthread_mutex_lock(&self->lock);
    self->closed = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

uint64_t fby_shared_quota_limit(const struct fby_shared_quota *self)
{
    return self->limit;
}

struct fby_shared_quota_counts fby_shared_quota_counts(
    struct fby_shared_quota *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_shared_quota_counts counts = self->counts;
    pthread_mutex_unlock(&self->lock);
    return counts;
}
