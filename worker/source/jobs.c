#include "worker/source/jobs.h"

#include <pthread.h>

#include "common/clock.h"
#include "common/cores.h"

enum { MAX_THREADS = 16, REPORT_EVERY_MS = 100 };

struct state {
    const struct fby_jobs  *work;
    atomic_bool             stop; /* progress returned false */
    pthread_mutex_t         lock; /* guards all below */
    pthread_cond_t          changed;
    uint32_t                next;   /* number of the next job */
    uint32_t                done;   /* jobs that ended */
    uint32_t                active; /* threads that may still start jobs */
    fby_err                 err;
    uint32_t                failed; /* the job that `err` and `why` are from */
    struct fby_error_detail why;
};

static void finish_job(struct state *s, uint32_t i, fby_err err,
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

static bool next_job(struct state *s, uint32_t *i)
{
    pthread_mutex_lock(&s->lock);
    bool more =
        s->err == FBY_OK && s->next < s->work->jobs && !atomic_load(&s->stop);
    if (more) {
        *i = s->next++;
    }
    pthread_mutex_unlock(&s->lock);
    return more;
}

static void *thread_main(void *opaque)
{
    struct state *s = opaque;
    uint32_t      i = 0;
    pthread_setname_np(pthread_self(), "fby-scan");
    while (next_job(s, &i)) {
        struct fby_error_detail why = {0};
        fby_err err = s->work->job(s->work->arg, i, &s->stop, &why);
        finish_job(s, i, err, &why);
    }
    pthread_mutex_lock(&s->lock);
    s->active--;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Wait for a change, or until the next report. Needs the lock. */
static void wait_for_change(struct state *s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += REPORT_EVERY_MS * FBY_NS_PER_MS;
    if (until.tv_nsec >= FBY_NS_PER_S) {
        until.tv_nsec -= FBY_NS_PER_S;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

/* Needs the lock, which is released during the call of progress. */
static void report(struct state *s)
{
    const struct fby_progress *progress = &s->work->progress;
    uint32_t                   done     = s->done;
    if (progress->fn == NULL) {
        return;
    }
    pthread_mutex_unlock(&s->lock);
    if (!progress->fn(progress->arg, done, s->work->jobs)) {
        atomic_store(&s->stop, true);
    }
    pthread_mutex_lock(&s->lock);
}

static void report_until_done(struct state *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->active > 0) {
        report(s);
        if (s->active > 0) {
            wait_for_change(s);
        }
    }
    report(s);
    pthread_mutex_unlock(&s->lock);
}

static uint32_t threads_for(const struct fby_jobs *work)
{
    uint32_t n = work->threads > 0 ? work->threads : fby_usable_cores();
    n          = n < MAX_THREADS ? n : MAX_THREADS;
    return n < work->jobs ? n : work->jobs;
}

/* Start up to `n` threads and return how many started; one is enough. */
static uint32_t start(struct state *s, pthread_t *threads, uint32_t n)
{
    uint32_t started = 0;
    s->active        = n;
    while (started < n &&
           pthread_create(&threads[started], NULL, thread_main, s) == 0) {
        started++;
    }
    pthread_mutex_lock(&s->lock);
    s->active -= n - started;
    pthread_mutex_unlock(&s->lock);
    return started;
}

static void init_state(struct state *s, const struct fby_jobs *work)
{
    pthread_condattr_t attr;
    *s = (struct state){.work = work};
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
}

fby_err fby_jobs_run(const struct fby_jobs *work, struct fby_error_detail *why)
{
    pthread_t    threads[MAX_THREADS];
    struct state s;
    init_state(&s, work);
    uint32_t started = start(&s, threads, threads_for(work));
    report_until_done(&s);
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_cond_destroy(&s.changed);
    pthread_mutex_destroy(&s.lock);
    if (s.err == FBY_GONE || (s.err == FBY_OK && atomic_load(&s.stop))) {
        return fby_error_set(why, FBY_GONE, "given up");
    }
    if (s.err == FBY_OK && started == 0 && work->jobs > 0) {
        return fby_error_set(why, FBY_SYS, "cannot start a thread");
    }
    if (s.err != FBY_OK && why != NULL) {
        *why = s.why;
    }
    return s.err;
}
