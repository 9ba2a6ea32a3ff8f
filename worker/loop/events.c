/* From the stages to the sessions: chunks that are ready, jobs that failed. */
#include "common/log.h"
#include "worker/loop/loop.h"

static void chunk_ready(struct work *work, struct fby_job_chunk *chunk)
{
    struct fby_job *job = work->job;
    chunk->ready        = true;
    job->ready_chunks++;
    bool all = job->ready_chunks == job->layout.n_chunks;
    for (struct ask *ask = work->asks; ask != NULL; ask = ask->next_of_work) {
        const struct fby_session_chunk told = {
            chunk->index, FBY_CHUNK_PREFIX + chunk->wire_bytes};
        if (ask->charged) { /* it began the work, so its coding was taken */
            fby_loop_codings_learn(ask->peer, chunk);
        }
        fby_err err =
            fby_session_chunk_ready(ask->peer->session, ask->id, told);
        if (err == FBY_OK && all) {
            err = fby_session_all_ready(ask->peer->session, ask->id);
        }
        if (err != FBY_OK) {
            fby_debug("CHUNK", "not wanted: %s", fby_strerror(err));
        }
    }
}

static struct fby_message stale_data(
    const struct ask *ask, const struct fby_job *job)
{
    const struct fby_dataset_plan *dataset_plan = job->spec.dataset_plan;
    return (struct fby_message){
        .type = FBY_MSG_STALE_DATA,
        .stale_data =
            {
                .session = ask->peer->id,
                .request = ask->id,
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

/* `row`: room for a key. */
static struct fby_message cannot(
    const struct ask *ask, const struct fby_job *job, struct fby_row_key *row)
{
    const struct fby_dataset     *dataset = job->spec.dataset_plan->dataset;
    const struct fby_job_failure *failure = &job->failure;
    return (struct fby_message){
        .type = FBY_MSG_CANNOT,
        .cannot =
            {
                .session = ask->peer->id,
                .request = ask->id,
                .code    = cannot_code(failure->err),
                .shard   = fby_dataset_shard_name(dataset, failure->shard),
                .key     = fby_dataset_key(dataset, failure->sample, row),
                .sample  = failure->sample,
                .offset  = failure->offset,
                .text    = failure->why.text,
            },
    };
}

static void say_failed(struct loop *self, const struct ask *ask)
{
    const struct fby_job *job = ask->work->job;
    if (job->failure.err == FBY_AGAIN) {
        fby_loop_say_busy(self, ask->peer, ask->id);
        return;
    }
    struct fby_row_key       key;
    const struct fby_message message = job->failure.err == FBY_STALE
                                           ? stale_data(ask, job)
                                           : cannot(ask, job, &key);
    self->counts.cannot++;
    fby_loop_tell(self, ask->peer, &message);
}

static void job_failed(struct loop *self, struct work *work)
{
    struct fby_job *job = fby_job_hold(work->job);
    fby_warn(job->failure.err == FBY_AGAIN ? "NOT-NOW" : "CANNOT",
        "step %llu: %s", (unsigned long long)job->spec.step,
        job->failure.why.text);
    for (struct ask *ask = work->asks, *next = NULL; ask != NULL; ask = next) {
        next = ask->next_of_work;
        say_failed(self, ask);
        fby_session_drop(ask->peer->session, ask->id);
        fby_loop_ask_end(self, ask);
    }
    fby_job_release(&job);
}

void fby_loop_take_events(struct loop *self)
{
    struct fby_stages_event event;
    fby_stages_clear(self->stages);
    while (fby_stages_next(self->stages, &event)) {
        struct work *work = fby_loop_work_of(self, event.job);
        if (work != NULL && event.chunk != NULL) {
            chunk_ready(work, event.chunk);
        } else if (work != NULL) {
            job_failed(self, work);
        }
        fby_job_release(&event.job);
    }
}
