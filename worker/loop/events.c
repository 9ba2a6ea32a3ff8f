/* SPDX-License-Identifier: Apache-2.0 */
/* Handle the events of the stages, the threads that make batches: a chunk is
 * ready, or a job (the making of one batch) has failed. */
#include "common/clock.h"
#include "common/log.h"
#include "worker/loop/loop.h"

/* Times between two lines of the log: */
#define NOT_NOW_NS (10 * FBY_NS_PER_S)
#define CAUSE_NS   FBY_NS_PER_S
#define ANY_CAUSE  1 /* in logged_cause: all causes that may pass */

static void on_chunk_ready(
    struct fby_loop_work *work, struct fby_job_chunk *chunk)
{
    struct fby_job *job = work->job;
    chunk->ready        = true;
    job->ready_chunks++;
    bool all_ready = job->ready_chunks == job->layout.n_chunks;
    const struct fby_session_chunk ready = {
        chunk->index, FBY_CHUNK_PREFIX + chunk->wire_bytes};
    for (struct fby_loop_request *request = work->requests; request != NULL;
         request                          = request->next_of_work) {
        if (request->charged) { /* this request's choices decided the coding */
            fby_loop_encoding_learn(request->peer, chunk);
        }
        fby_err err =
            fby_session_chunk_ready(request->peer->session, request->id, ready);
        if (err == FBY_OK && all_ready) {
            err = fby_session_all_ready(request->peer->session, request->id);
        }
        if (err != FBY_OK) {
            fby_debug("CHUNK", "the session refuses it: %s", fby_strerror(err));
        }
    }
}

static enum fby_cannot_code cannot_code(fby_err err)
{
    if (err == FBY_BAD_SAMPLE) {
        return FBY_CANNOT_SAMPLE;
    }
    return err == FBY_FULL ? FBY_CANNOT_MEMORY : FBY_CANNOT_IO;
}

static void send_failure(
    struct fby_loop *self, const struct fby_loop_request *request)
{
    const struct fby_job         *job     = request->work->job;
    const struct fby_dataset     *dataset = job->spec.dataset_plan->dataset;
    const struct fby_job_failure *failure = &job->failure;
    struct fby_row_key            key;
    if (failure->err == FBY_AGAIN) { /* a retry may succeed */
        fby_loop_send_busy(self, request->peer, request->id, failure->why.text);
        return;
    }
    self->counts.cannot++;
    const char *shard = fby_dataset_shard_name(dataset, failure->shard);
    fby_loop_send_to_peer(self, request->peer,
        failure->err == FBY_STALE
            ? FBY_MESSAGE(STALE_DATA, stale_data, .session = request->peer->id,
                  .request = request->id, .shard = shard,
                  .text = failure->why.text)
            : FBY_MESSAGE(CANNOT, cannot, .session = request->peer->id,
                  .request = request->id, .code = cannot_code(failure->err),
                  .shard = shard, .sample = failure->sample,
                  .key    = fby_dataset_key(dataset, failure->sample, &key),
                  .offset = failure->offset, .text = failure->why.text));
}

/* Log why a job failed. Many jobs fail for one cause: a wrong name of a member,
 * or no file descriptor, for which the job is tried again at once. So a cause is
 * logged once in CAUSE_NS, and causes that may pass once in NOT_NOW_NS. */
static void log_failure(struct fby_loop *self, const struct fby_job *job)
{
    const struct fby_job_failure *failure      = &job->failure;
    bool                          is_temporary = failure->err == FBY_AGAIN;
    uint64_t cause = is_temporary ? ANY_CAUSE : failure->cause;
    if (cause == self->logged_cause && self->now_ns < self->cause_due_ns) {
        return;
    }
    self->logged_cause = cause;
    self->cause_due_ns = self->now_ns + (is_temporary ? NOT_NOW_NS : CAUSE_NS);
    unsigned long long step = job->spec.step;
    if (is_temporary) {
        fby_warn("NOT-NOW", "step %llu: %s", step, failure->why.text);
    } else { /* the trainer reports it, so that is no warning */
        fby_info("CANNOT", "step %llu: %s", step, failure->why.text);
    }
}

static void on_job_failed(struct fby_loop *self, struct fby_loop_work *work)
{
    /* The work and its reference to the job end with the last request. */
    struct fby_job *job = fby_job_hold(work->job);
    log_failure(self, job);
    for (struct fby_loop_request *request = work->requests, *next = NULL;
         request != NULL; request = next) {
        next = request->next_of_work;
        send_failure(self, request);
        fby_session_drop(request->peer->session, request->id);
        fby_loop_request_end(self, request);
    }
    fby_job_release(&job);
}

void fby_loop_handle_events(struct fby_loop *self)
{
    struct fby_stages_event event;
    fby_stages_clear_wakeup(self->stages);
    while (fby_stages_next_event(self->stages, &event)) {
        struct fby_loop_work *work = fby_loop_find_work(self, event.job);
        /* Cancelled work is NULL. An event without a chunk is a failure. */
        if (work != NULL && event.chunk != NULL) {
            on_chunk_ready(work, event.chunk);
        } else if (work != NULL) {
            on_job_failed(self, work);
        }
        fby_job_release(&event.job);
    }
}
