/* SPDX-License-Identifier: Apache-2.0 */
#include "server/wanted.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/timer.h"
#include "server/directory_state.h"

static const int64_t period_ns = 2 * FBY_NS_PER_S;

struct job { /* of the directory */
    struct fby_scaler_job load;
    const struct fby_dir_session
        *most_excluding; /* set the most workers aside */
};

void fby_wanted_start(struct fby_wanted *self, int64_t lease_ns, int64_t now_ns)
{
    *self = (struct fby_wanted){.known_ns = now_ns + lease_ns};
}

void fby_wanted_fini(struct fby_wanted *self)
{
    fby_buffer_fini(&self->reasons);
}

/* ---- the jobs and their ranks --------------------------------------------- */

static void begin_jobs(const struct fby_directory *directory, struct job *jobs)
{
    uint32_t n = 0;
    for (struct fby_dir_job *job = directory->jobs; job != NULL;
         job                     = job->hh.next) {
        job->index     = n;
        jobs[n++].load = (struct fby_scaler_job){.name = job->name};
    }
}

static void add_ranks(const struct fby_directory *directory, struct job *jobs)
{
    for (const struct fby_dir_session *s = directory->sessions; s != NULL;
         s                               = s->hh.next) {
        struct job *job = &jobs[s->job->index];
        if (s->state != SESSION_JOINED) {
            continue;
        }
        fby_scaler_add_rank(&job->load, &s->pace);
        if (s->n_unusable > 0 &&
            (job->most_excluding == NULL ||
                s->n_unusable > job->most_excluding->n_unusable)) {
            job->most_excluding = s;
        }
    }
}

/* ---- the workers ---------------------------------------------------------- */

/* Count for each worker the jobs that have set it aside. */
static void count_set_aside(const struct fby_directory *directory,
    const struct job *jobs, uint32_t n_jobs)
{
    for (struct fby_dir_worker *w = directory->workers; w != NULL;
         w                        = w->hh.next) {
        w->n_set_aside_by = 0;
    }
    for (uint32_t i = 0; i < n_jobs; i++) {
        const struct fby_dir_session *most_excluding = jobs[i].most_excluding;
        for (uint32_t k = 0;
             most_excluding != NULL && k < most_excluding->n_unusable; k++) {
            struct fby_dir_worker *worker = fby_directory_find_worker(
                directory, most_excluding->unusable[k]);
            if (worker != NULL) {
                worker->n_set_aside_by++;
            }
        }
    }
}

static double threads_of(
    const struct fby_dir_worker *worker, enum fby_counter_id id)
{
    return worker->heard && fby_counter_is_known(&worker->counters, id)
               ? (double)worker->counters.at[id]
               : 0;
}

/* Add the threads of a worker to a sum that is 0 if one is not known. */
static void add_threads(double *sum, double threads, bool is_first)
{
    *sum = threads > 0 && (is_first || *sum > 0) ? *sum + threads : 0;
}

static void add_worker(
    struct fby_scaler_workers *sums, const struct fby_dir_worker *worker)
{
    bool is_first = sums->n++ == 0;
    sums->cores += worker->cores;
    add_threads(&sums->fetch_threads,
        threads_of(worker, FBY_COUNTER_FETCH_THREADS), is_first);
    add_threads(&sums->transform_threads,
        threads_of(worker, FBY_COUNTER_TRANSFORM_THREADS), is_first);
    add_threads(&sums->encode_threads,
        threads_of(worker, FBY_COUNTER_ENCODE_THREADS), is_first);
}

static struct fby_scaler_workers sum_workers(
    const struct fby_directory *directory, uint32_t n_jobs)
{
    struct fby_scaler_workers sums = {.n = 0};
    for (const struct fby_dir_worker *w = directory->workers; w != NULL;
         w                              = w->hh.next) {
        if (n_jobs > 0 && w->n_set_aside_by == n_jobs) {
            sums.n_unusable++;
        } else {
            add_worker(&sums, w);
        }
    }
    return sums;
}

/* ---- the decision --------------------------------------------------------- */

/* Put a NUL after each sentence, in place of its newline. */
static void split_reasons(struct fby_wanted *self)
{
    self->n_reasons = 0;
    for (size_t i = 0; i < self->reasons.size; i++) {
        if (self->reasons.data[i] == '\n') {
            self->reasons.data[i] = '\0';
            self->n_reasons++;
        }
    }
}

static void decide(
    struct fby_wanted *self, struct fby_directory *directory, int64_t now_ns)
{
    /* Tests with shorter timeouts also wait less for fewer workers. */
    int64_t     time_scale = FBY_NS_PER_S / fby_scaled_timeout_ns(FBY_NS_PER_S);
    uint32_t    n_jobs     = HASH_COUNT(directory->jobs);
    struct job *jobs       = fby_zalloc((n_jobs + 1) * sizeof(*jobs));
    struct fby_scaler_job *loads = fby_zalloc((n_jobs + 1) * sizeof(*loads));
    begin_jobs(directory, jobs);
    add_ranks(directory, jobs);
    count_set_aside(directory, jobs, n_jobs);
    for (uint32_t i = 0; i < n_jobs; i++) {
        loads[i] = jobs[i].load;
    }
    struct fby_scaler_workers workers = sum_workers(directory, n_jobs);
    int64_t                   time_ns = time_scale * now_ns;
    self->reasons.size                = 0;
    self->wanted                      = fby_scaler_decide(
                             &self->scaler, &workers, loads, n_jobs, time_ns, &self->reasons);
    self->workers  = workers.n;
    self->jobs     = n_jobs;
    self->is_known = true;
    split_reasons(self);
    free(jobs);
    free(loads);
}

void fby_wanted_tick(
    struct fby_wanted *self, struct fby_directory *directory, int64_t now_ns)
{
    if (now_ns >= self->known_ns && now_ns >= self->due_ns) {
        decide(self, directory, now_ns);
        self->due_ns = now_ns + fby_scaled_timeout_ns(period_ns);
    }
}

struct fby_scaled fby_wanted_answer(const struct fby_wanted *self,
    int64_t now_ns, const char *reasons[FBY_REASONS_MAX])
{
    const char *at = (const char *)self->reasons.data;
    size_t      n  = 0;
    if (!self->is_known) {
        int64_t left_ms = (self->known_ns - now_ns) / FBY_NS_PER_MS;
        return (struct fby_scaled){
            .wait_ms = left_ms > 0 ? (uint32_t)left_ms + 1 : 1};
    }
    for (; n < self->n_reasons && n < FBY_REASONS_MAX; n++) {
        reasons[n] = at;
        at += strlen(at) + 1;
    }
    return (struct fby_scaled){.wanted = self->wanted,
        .workers                       = self->workers,
        .jobs                          = self->jobs,
        .reasons                       = {reasons, n}};
}
