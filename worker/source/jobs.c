/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/jobs.h"

#include <pthread.h>

#include "common/clock.h"
#include "common/cores.h"
#include "common/signal_mask.h"

enum { MAX_THREADS = 16, REPORT_EVERY_MS = 100 };

struct job_state {
    const struct fby_jobs  *work;
    atomic_bool             stop;    /* progress returned false */
    pthread_mutex_t         lock;    /* guards all members below */
    pthread_cond_t          changed; /* `done` or `active` changed */
    uint32_t                next;    /* number of the next job */
    uint32_t                done;    /* number of jobs that have ended */
    uint32_t                active;  /* number of threads that have not ended */
    fby_err                 err;     /* FBY_OK: no job failed */
    uint32_t                failed; /* number of the job that set err and why */
    struct fby_error_detail why;
};

static void record_result(struct job_state *s, uint32_t i, fby_err err,
    const struct fby_error_detail *why)
{
    pthread_mutex_lock(&s->lock);
    s->done++;
    if (err != FBY_OK && (s->err == FBY_OK || i < s->failed)) {
        s->err    = err;
        s->failed = i;
        s->why    = *why;
    }
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Set *i to the number of the next job. Returns false if no more may start. */
static bool take_next_job(struct job_state *s, uint32_t *i)
{
    pthread_mutex_lock(&s->lock);
    bool may_start =
        s->err == FBY_OK && s->next < s->work->n_jobs && !atomic_load(&s->stop);
    if (may_start) {
        *i = s->next++;
    }
    pthread_mutex_unlock(&s->lock);
    return may_start;
}

static void run_job(struct job_state *s, uint32_t i)
{
    struct fby_error_detail why = {0};
    fby_err                 err = s->work->job(s->work->arg, i, &s->stop, &why);
    record_result(s, i, err, &why);
}

static void *thread_main(void *opaque)
{
    struct job_state *s = opaque;
    uint32_t          i = 0;
    pthread_setname_np(pthread_self(), "fby-scan");
    while (take_next_job(s, &i)) {
        run_job(s, i);
    }
    pthread_mutex_lock(&s->lock);
    s->active--;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Wait for a change, or until the next report. Needs the lock. */
static void wait_for_change(struct job_state *s)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_nsec += REPORT_EVERY_MS * FBY_NS_PER_MS;
    if (deadline.tv_nsec >= FBY_NS_PER_S) {
        deadline.tv_nsec -= FBY_NS_PER_S;
        deadline.tv_sec++;
    }
    pthread_cond_timedwait(&s->changed, &s->lock, &deadline);
}

/* Call progress. Needs the lock, which is released during the call. */
static void report_progress(struct job_state *s)
{
    const struct fby_progress *progress = &s->work->progress;
    uint32_t                   done     = s->done;
    if (progress->fn == NULL) {
        return;
    }
    pthread_mutex_unlock(&s->lock);
    if (!progress->fn(progress->arg, done, s->work->n_jobs)) {
        atomic_store(&s->stop, true);
    }
    pthread_mutex_lock(&s->lock);
}

static void report_until_done(struct job_state *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->active > 0) {
        report_progress(s);
        if (s->active > 0) { /* it can become 0 while the lock is released */
            wait_for_change(s);
        }
    }
    report_progress(s); /* includes the last jobs */
    pthread_mutex_unlock(&s->lock);
}

/* Run the jobs on the calling thread, which can report only between them. */
static void run_without_threads(struct job_state *s)
{
    uint32_t i = 0;
    while (take_next_job(s, &i)) {
        run_job(s, i);
        pthread_mutex_lock(&s->lock);
        report_progress(s);
        pthread_mutex_unlock(&s->lock);
    }
}

static uint32_t count_threads(const struct fby_jobs *work)
{
    uint32_t n = work->n_threads > 0 ? work->n_threads : fby_usable_cores();
    n          = n < MAX_THREADS ? n : MAX_THREADS;
    return n < work->n_jobs ? n : work->n_jobs;
}

/* Try to start `n` threads, which handle no signals. Returns the number started. One is enough, because
 * each thread runs jobs until none is left. */
static uint32_t start_threads(
    struct job_state *s, pthread_t *threads, uint32_t n)
{
    uint32_t started = 0;
    sigset_t before  = fby_block_signals();
    s->active        = n; /* set first, because each thread subtracts 1 */
    while (started < n &&
           pthread_create(&threads[started], NULL, thread_main, s) == 0) {
        started++;
    }
    fby_restore_signals(before);
    pthread_mutex_lock(&s->lock);
    s->active -= n - started;
    pthread_mutex_unlock(&s->lock);
    return started;
}

static void init_state(struct job_state *s, const struct fby_jobs *work)
{
    pthread_condattr_t attr;
    *s = (struct job_state){.work = work};
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
}

fby_err fby_jobs_run(const struct fby_jobs *work, struct fby_error_detail *why)
{
    pthread_t        threads[MAX_THREADS];
    struct job_state s;
    init_state(&s, work);
    uint32_t started = start_threads(&s, threads, count_threads(work));
    report_until_done(&s);
    if (started == 0) {
        run_without_threads(&s);
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
    bool job_saw_stop      = s.err == FBY_GONE;
    bool stop_between_jobs = s.err == FBY_OK && atomic_load(&s.stop);
    if (job_saw_stop || stop_between_jobs) {
        return fby_error_set(why, FBY_GONE, "given up");
    }
    if (s.err != FBY_OK && why != NULL) {
        *why = s.why;
    }
    return s.err;
}
