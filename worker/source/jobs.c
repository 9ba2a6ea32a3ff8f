#include "worker/source/jobs.h"

#include <pthread.h>

#include "common/clock.h"
#include "common/cores.h"

enum { MAX_THREADS = 16, REPORT_EVERY_MS = 100 };

struct state {
    const struct fby_jobs *work;
    atomic_bool            stop; /* asked for by progress */
    pthread_mutex_t        lock; /* guards all below */
    pthread_cond_t         changed;
    uint32_t               next;   /* job to be taken */
    uint32_t               done;   /* jobs finished */
    uint32_t               active; /* threads that still take jobs */
    fby_err                err;
    uint32_t               failed; /* the job of err and why */
    struct fby_why         why;
};

static void finish_job(
    struct state *s, uint32_t i, fby_err err, const struct fby_why *why)
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

static bool take_job(struct state *s, uint32_t *i)
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
    while (take_job(s, &i)) {
        struct fby_why why = {0};
        fby_err        err = s->work->job(s->work->arg, i, &s->stop, &why);
        finish_job(s, i, err, &why);
    }
    pthread_mutex_lock(&s->lock);
    s->active--;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void wait_a_little(struct state *s)
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

/* Called, and leaves, with the lock held; reports without it. */
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
            wait_a_little(s);
        }
    }
    report(s);
    pthread_mutex_unlock(&s->lock);
}

static uint32_t threads_for(const struct fby_jobs *work)
{
    uint32_t n = work->threads > 0 ? work->threads : fby_cores();
    n          = n < MAX_THREADS ? n : MAX_THREADS;
    return n < work->jobs ? n : work->jobs;
}

/* Start what can be started: with fewer threads it takes longer. */
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

fby_err fby_jobs_run(const struct fby_jobs *work, struct fby_why *why)
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
    if (s.err == FBY_OK && atomic_load(&s.stop)) {
        s.err = FBY_GONE;
    }
    if (s.err == FBY_OK && started == 0 && work->jobs > 0) {
        return fby_because(why, FBY_SYS, "cannot start a thread");
    }
    if (s.err != FBY_OK && why != NULL) {
        *why = s.why;
    }
    if (s.err == FBY_GONE) {
        fby_because(why, s.err, "given up");
    }
    return s.err;
}
