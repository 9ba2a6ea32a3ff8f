/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a stage: each takes an item, processes it and counts it. */
#include "common/stage.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"

struct stage_thread {
    struct fby_stage *stage;
    uint32_t          number; /* index in stage->threads */
    pthread_t         handle;
};

struct fby_stage {
    struct fby_stage_config config;
    struct fby_queue       *queue;
    struct stage_thread    *threads;
    uint32_t                n_started;    /* threads created */
    pthread_mutex_t         start_lock;   /* held until all threads exist */
    bool                    start_failed; /* guarded by start_lock */
    atomic_uint_fast64_t    tasks;
    atomic_uint_fast64_t    failures;
    atomic_int_fast64_t     busy_ns;
    atomic_int_fast64_t     cpu_ns;
    atomic_int_fast64_t     next_ns; /* time in config.next, sum of threads */
};

static void run_item(struct fby_stage *self, uint32_t number, void *item)
{
    int64_t start_ns     = fby_now_ns();
    int64_t start_cpu_ns = fby_thread_cpu_ns();
    fby_err err          = self->config.run(self->config.context, number, item);
    atomic_fetch_add(&self->cpu_ns, fby_thread_cpu_ns() - start_cpu_ns);
    atomic_fetch_add(&self->busy_ns, fby_now_ns() - start_ns);
    atomic_fetch_add(&self->failures, err != FBY_OK ? 1U : 0U);
    atomic_fetch_add(&self->tasks, 1U);
}

static fby_err take_item(struct fby_stage *self, void **out)
{
    if (self->config.next == NULL) {
        return fby_queue_pop(self->queue, out);
    }
    int64_t since_ns = fby_now_ns();
    fby_err err      = self->config.next(self->config.context, out);
    atomic_fetch_add(&self->next_ns, fby_now_ns() - since_ns);
    return err;
}

/* On Linux, each thread has a niceness, inherited from its creator. */
static void add_niceness(int increment)
{
    id_t thread = (id_t)gettid();
    if (increment > 0) {
        (void)setpriority(PRIO_PROCESS, thread,
            getpriority(PRIO_PROCESS, thread) + increment);
    }
}

static void *thread_main(void *opaque)
{
    struct stage_thread *thread = opaque;
    struct fby_stage    *self   = thread->stage;
    void                *item   = NULL;
    pthread_mutex_lock(&self->start_lock); /* wait until all threads exist */
    bool start_failed = self->start_failed;
    pthread_mutex_unlock(&self->start_lock);
    add_niceness(self->config.nice);
    (void)fesetenv(FE_DFL_ENV); /* its creator may round subnormals to 0 */
    while (!start_failed && take_item(self, &item) == FBY_OK) {
        run_item(self, thread->number, item);
    }
    return NULL;
}

static fby_err start_thread(struct fby_stage *self)
{
    struct stage_thread *thread = &self->threads[self->n_started];
    char                 name[16]; /* the longest that Linux allows */
    thread->stage  = self;
    thread->number = self->n_started;
    int error      = pthread_create(&thread->handle, NULL, thread_main, thread);
    if (error != 0) {
        errno = error;
        return FBY_SYS;
    }
    snprintf(name, sizeof(name), "%.11s-%u", self->config.name, thread->number);
    pthread_setname_np(thread->handle, name);
    self->n_started++;
    return FBY_OK;
}

/* The threads wait until the last one is created. So if a creation fails, no
 * thread is in config.next, which could not be interrupted. */
static fby_err start_threads(struct fby_stage *self)
{
    fby_err err = FBY_OK;
    pthread_mutex_lock(&self->start_lock);
    while (self->n_started < self->config.threads && err == FBY_OK) {
        err = start_thread(self);
    }
    self->start_failed = err != FBY_OK;
    pthread_mutex_unlock(&self->start_lock);
    return err;
}

fby_err fby_stage_create(
    const struct fby_stage_config *config, struct fby_stage **out)
{
    struct fby_stage *self = fby_zalloc(sizeof(*self));
    self->config           = *config;
    self->queue            = fby_queue_create(config->capacity);
    self->threads = fby_zalloc(config->threads * sizeof(*self->threads));
    pthread_mutex_init(&self->start_lock, NULL);
    fby_err err = start_threads(self);
    if (err != FBY_OK) {
        fby_stage_destroy(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

void fby_stage_destroy(struct fby_stage **self_p)
{
    struct fby_stage *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_queue_close(self->queue);
    for (uint32_t i = 0; i < self->n_started; i++) {
        pthread_join(self->threads[i].handle, NULL);
    }
    fby_queue_destroy(&self->queue);
    pthread_mutex_destroy(&self->start_lock);
    free(self->threads);
    free(self);
}

fby_err fby_stage_push(struct fby_stage *self, void *item)
{
    return fby_queue_push(self->queue, item);
}

fby_err fby_stage_try_push(struct fby_stage *self, void *item)
{
    return fby_queue_try_push(self->queue, item);
}

fby_err fby_stage_push_urgent(
    struct fby_stage *self, struct fby_queue_link *item)
{
    return fby_queue_push_urgent(self->queue, item);
}

struct fby_stage_counts fby_stage_counts(struct fby_stage *self)
{
    struct fby_stage_counts counts = {
        .tasks    = atomic_load(&self->tasks),
        .failures = atomic_load(&self->failures),
        .busy_ns  = atomic_load(&self->busy_ns),
        .cpu_ns   = atomic_load(&self->cpu_ns),
        .threads  = self->config.threads,
        .queue    = fby_queue_counts(self->queue),
    };
    counts.queue.wait_input_ns += atomic_load(&self->next_ns);
    return counts;
}
