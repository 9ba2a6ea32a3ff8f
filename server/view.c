/* SPDX-License-Identifier: Apache-2.0 */
#include "server/view.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "server/directory_state.h"

static size_t add_text(struct fby_server_view *view, const char *text)
{
    size_t at = view->texts.size;
    fby_put_bytes(&view->texts, text, strlen(text) + 1);
    return at;
}

static size_t add_endpoints(
    struct fby_server_view *view, const struct fby_dir_worker *worker)
{
    size_t at = view->texts.size;
    for (size_t i = 0; i < worker->n_endpoints; i++) {
        add_text(view, worker->endpoints[i]);
    }
    return at;
}

static void add_workers(
    struct fby_server_view *view, const struct fby_directory *directory)
{
    for (const struct fby_dir_worker *w = directory->workers; w != NULL;
         w                              = w->hh.next) {
        view->workers[view->n_workers++] = (struct fby_view_worker){
            .instance      = w->instance,
            .host          = add_text(view, w->host),
            .endpoints     = add_endpoints(view, w),
            .n_endpoints   = w->n_endpoints,
            .pid           = w->pid,
            .cores         = w->cores,
            .silent_ns     = directory->awake_ns - w->seen_ns,
            .heard         = w->heard,
            .sessions      = w->sessions,
            .load_permille = w->load_permille,
            .counters      = w->counters,
        };
    }
}

static void add_jobs(
    struct fby_server_view *view, const struct fby_directory *directory)
{
    for (struct fby_dir_job *job = directory->jobs; job != NULL;
         job                     = job->hh.next) {
        job->index                 = view->n_jobs;
        view->jobs[view->n_jobs++] = (struct fby_view_job){
            .name  = add_text(view, job->name),
            .world = job->facts.world,
            .epoch = job->facts.epoch,
            .step  = job->facts.step,
        };
    }
}

static const char *state_name(enum session_state state)
{
    return state == SESSION_JOINED    ? "joined"
           : state == SESSION_REFUSED ? "refused"
                                      : "waiting";
}

/* Add a rank that takes part. */
static void add_to_job(struct fby_view_job *job, const struct fby_pace *pace)
{
    job->n_joined++;
    job->wait_ms += pace->wait_ms;
    job->span_ms += pace->span_ms;
    if (pace->span_ms > 0) {
        job->milli_rows_per_s +=
            (uint64_t)(1e6 * (double)pace->rows / (double)pace->span_ms);
    }
}

static void add_ranks(
    struct fby_server_view *view, const struct fby_directory *directory)
{
    for (const struct fby_dir_session *s = directory->sessions; s != NULL;
         s                               = s->hh.next) {
        view->ranks[view->n_ranks++] = (struct fby_view_rank){
            .job       = s->job->index,
            .rank      = s->rank,
            .host      = add_text(view, s->host),
            .pid       = s->pid,
            .state     = state_name(s->state),
            .silent_ns = directory->awake_ns - s->lease_ns,
            .pace      = s->pace,
        };
        if (s->state == SESSION_JOINED) {
            add_to_job(&view->jobs[s->job->index], &s->pace);
        }
    }
}

static void set_numbers(
    struct fby_server_view *view, const struct fby_directory_counts *counts)
{
    view->numbers[FBY_SERVER_WORKERS]          = counts->workers;
    view->numbers[FBY_SERVER_SESSIONS]         = counts->sessions;
    view->numbers[FBY_SERVER_JOBS]             = counts->jobs;
    view->numbers[FBY_SERVER_REFUSED_JOINS]    = counts->refused;
    view->numbers[FBY_SERVER_EXPIRED_WORKERS]  = counts->expired_workers;
    view->numbers[FBY_SERVER_EXPIRED_SESSIONS] = counts->expired_sessions;
    view->numbers[FBY_SERVER_UNREACHABLE]      = counts->unreachable;
}

struct fby_server_view *fby_server_view_create(
    struct fby_directory *directory, const char *endpoint, int64_t now_ns)
{
    struct fby_directory_counts counts = fby_directory_counts(directory);
    struct fby_server_view     *view   = fby_zalloc(sizeof(*view));
    fby_directory_set_time(directory, now_ns);
    view->workers  = fby_zalloc(counts.workers * sizeof(*view->workers));
    view->jobs     = fby_zalloc(counts.jobs * sizeof(*view->jobs));
    view->ranks    = fby_zalloc(counts.sessions * sizeof(*view->ranks));
    view->endpoint = add_text(view, endpoint);
    set_numbers(view, &counts);
    add_workers(view, directory);
    add_jobs(view, directory);
    add_ranks(view, directory);
    return view;
}

void fby_server_view_set_wanted(
    struct fby_server_view *view, const struct fby_wanted *wanted)
{
    if (!wanted->is_known) {
        return;
    }
    view->scale.is_known  = true;
    view->scale.wanted    = wanted->wanted;
    view->scale.workers   = wanted->workers;
    view->scale.jobs      = wanted->jobs;
    view->scale.n_reasons = wanted->n_reasons;
    view->scale.reasons   = view->texts.size;
    fby_put_bytes(&view->texts, wanted->reasons.data, wanted->reasons.size);
}

void fby_server_view_destroy(void *view)
{
    struct fby_server_view *self = view;
    free(self->workers);
    free(self->jobs);
    free(self->ranks);
    fby_buffer_fini(&self->texts);
    free(self);
}
