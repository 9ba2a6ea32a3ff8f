/* Pass events of the stages to the sessions: ready chunks and failed jobs. */
#include "common/log.h"
#include "worker/loop/loop.h"

static void chunk_ready(struct fby_loop_work *work, struct fby_job_chunk *chunk)
{
    struct fby_job *job = work->job;
    chunk->ready        = true;
    job->ready_chunks++;
    bool all = job->ready_chunks == job->layout.n_chunks;
    for (struct fby_loop_request *request = work->requests; request != NULL;
         request                          = request->next_of_work) {
        const struct fby_session_chunk ready = {
            chunk->index, FBY_CHUNK_PREFIX + chunk->wire_bytes};
        if (request->charged) { /* it started the work, with its coding */
            fby_loop_encoding_learn(request->peer, chunk);
        }
        fby_err err =
            fby_session_chunk_ready(request->peer->session, request->id, ready);
        if (err == FBY_OK && all) {
            err = fby_session_all_ready(request->peer->session, request->id);
        }
        if (err != FBY_OK) {
            fby_debug("CHUNK", "not wanted: %s", fby_strerror(err));
        }
    }
}

static struct fby_message stale_data_message(
    const struct fby_loop_request *request, const struct fby_job *job)
{
    const struct fby_dataset_plan *dataset_plan = job->spec.dataset_plan;
    return (struct fby_message){
        .type = FBY_MSG_STALE_DATA,
        .stale_data =
            {
                .session = request->peer->id,
                .request = request->id,
                .shard   = fby_dataset_shard_name(
                      dataset_plan->dataset, job->failure.shard),
                .text = job->failure.why.text,
            },
    };
}

static enum fby_cannot_code cannot_code(fby_err err)
{
    if (err == FBY_BAD_SAMPLE) {
        return FBY_CANNOT_SAMPLE;
    }
    return err == FBY_FULL ? FBY_CANNOT_MEMORY : FBY_CANNOT_IO;
}

/* `row` is room for the key in the message. */
static struct fby_message cannot_message(const struct fby_loop_request *request,
    const struct fby_job *job, struct fby_row_key *row)
{
    const struct fby_dataset     *dataset = job->spec.dataset_plan->dataset;
    const struct fby_job_failure *failure = &job->failure;
    return (struct fby_message){
        .type = FBY_MSG_CANNOT,
        .cannot =
            {
                .session = request->peer->id,
                .request = request->id,
                .code    = cannot_code(failure->err),
                .shard   = fby_dataset_shard_name(dataset, failure->shard),
                .key     = fby_dataset_key(dataset, failure->sample, row),
                .sample  = failure->sample,
                .offset  = failure->offset,
                .text    = failure->why.text,
            },
    };
}

static void send_failure(
    struct fby_loop *self, const struct fby_loop_request *request)
{
    const struct fby_job *job = request->work->job;
    if (job->failure.err == FBY_AGAIN) {
        fby_loop_send_busy(self, request->peer, request->id);
        return;
    }
    struct fby_row_key       key;
    const struct fby_message message = job->failure.err == FBY_STALE
                                           ? stale_data_message(request, job)
                                           : cannot_message(request, job, &key);
    self->counts.cannot++;
    fby_loop_send_to_peer(self, request->peer, &message);
}

static void job_failed(struct fby_loop *self, struct fby_loop_work *work)
{
    struct fby_job *job = fby_job_hold(work->job);
    fby_warn(job->failure.err == FBY_AGAIN ? "NOT-NOW" : "CANNOT",
        "step %llu: %s", (unsigned long long)job->spec.step,
        job->failure.why.text);
    for (struct fby_loop_request *request = work->requests, *next = NULL;
         request != NULL; request = next) {
        next = request->next_of_work;
        send_failure(self, request);
        fby_session_drop(request->peer->session, request->id);
        fby_loop_request_end(self, request);
    }
    fby_job_release(&job);
}

void fby_loop_take_events(struct fby_loop *self)
{
    struct fby_stages_event event;
    fby_stages_clear_wakeup(self->stages);
    while (fby_stages_next(self->stages, &event)) {
        struct fby_loop_work *work = fby_loop_find_work(self, event.job);
        if (work != NULL && event.chunk != NULL) {
            chunk_ready(work, event.chunk);
        } else if (work != NULL) {
            job_failed(self, work);
        }
        fby_job_release(&event.job);
    }
}
