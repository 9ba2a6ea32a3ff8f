/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c - create and connect the stages fetch, transform and encode; queue
 * their events for the loop; handle samples that cannot be used. */
#include "worker/stages/stages_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/mem.h"
#include "pipeline/plan/draw.h"

enum {
    MIN_SHARE        = 8 << 20, /* bytes, see scratch_per_thread */
    MAX_SHARE        = 64 << 20,
    QUEUE_PER_THREAD = 8 /* tasks in a stage's queue, for each thread */
};

/* ---- Creating and connecting --------------------------------------------- */

/* The function from which the fetch stage gets its items. */
static fby_err next_task(void *context, void **out)
{
    struct fby_stages *self = context;
    struct fby_task   *task = NULL;
    fby_err            err  = fby_backlog_take_task(self->backlog, &task);
    *out                    = task;
    return err;
}

size_t fby_stages_max_encode_bytes(uint32_t encode_threads)
{
    return encode_threads * FBY_MAX_ENCODE_BUFFER(FBY_CHUNK_BYTES_MAX);
}

/* Bytes of scratch memory that each transform thread has for itself. All
 * threads share the rest, for larger pictures. A thread's own memory is an
 * equal share of a quarter of the scratch memory, but
 * - at least MIN_SHARE, enough for a photograph of a few megapixels, or an
 *   equal share of half of the scratch memory if that is less;
 * - at most MAX_SHARE. */
static uint64_t scratch_per_thread(const struct fby_stages_config *config)
{
    uint64_t from_half = config->scratch_bytes / 2 / config->transform_threads;
    uint64_t from_quarter = from_half / 2;
    uint64_t min          = from_half < MIN_SHARE ? from_half : MIN_SHARE;
    uint64_t share        = from_quarter > min ? from_quarter : min;
    return share < MAX_SHARE ? share : MAX_SHARE;
}

static void create_transformers(struct fby_stages *self)
{
    uint32_t threads = self->config.transform_threads;
    uint64_t share   = scratch_per_thread(&self->config);
    self->quota =
        fby_shared_quota_create(self->config.scratch_bytes - share * threads);
    self->transformers = fby_zalloc(threads * sizeof(*self->transformers));
    for (uint32_t i = 0; i < threads; i++) {
        self->transformers[i].transform = fby_transform_create(
            &(struct fby_transform_limits){share, self->quota});
        self->transformers[i].reader = fby_row_reader_create();
    }
}

static void allocate_state(struct fby_stages *self)
{
    const struct fby_stages_config *config = &self->config;
    /* One task for each of these threads and each queue entry between them. */
    self->backlog =
        fby_backlog_create(config->fetch_threads +
                           (QUEUE_PER_THREAD + 1) * config->transform_threads);
    self->fetch_memory  = fby_memory_create(config->fetch_bytes);
    self->encode_memory = fby_memory_create(config->encode_bytes);
    create_transformers(self);
    self->encode_scratch = aligned_alloc(_Alignof(struct fby_codec_scratch),
        config->encode_threads * sizeof(*self->encode_scratch));
    self->events_end     = &self->first_event;
    pthread_mutex_init(&self->lock, NULL);
}

/* Create a stage from `config`, in which the caller has set the name, the
 * number of threads and the functions. */
static fby_err start_stage(struct fby_stages *self,
    struct fby_stage_config config, struct fby_stage **out)
{
    config.context  = self;
    config.capacity = QUEUE_PER_THREAD * (size_t)config.threads;
    config.nice     = self->config.nice;
    return fby_stage_create(&config, out);
}

static fby_err start_stages(struct fby_stages *self)
{
    const struct fby_stage_config encode = {
        .name    = "fby-encode",
        .threads = self->config.encode_threads,
        .run     = fby_encode_one,
    };
    const struct fby_stage_config transform = {
        .name    = "fby-transf",
        .threads = self->config.transform_threads,
        .run     = fby_transform_task,
    };
    const struct fby_stage_config fetch = {
        .name    = "fby-fetch",
        .threads = self->config.fetch_threads,
        .run     = fby_fetch_task,
        .next    = next_task,
    };
    /* The last stage first: each stage needs the next one. */
    fby_err err = start_stage(self, encode, &self->encode);
    if (err == FBY_OK) {
        err = start_stage(self, transform, &self->transform);
    }
    return err == FBY_OK ? start_stage(self, fetch, &self->fetch) : err;
}

fby_err fby_stages_create(
    const struct fby_stages_config *config, struct fby_stages **out)
{
    struct fby_stages *self = fby_zalloc(sizeof(*self));
    self->config            = *config;
    allocate_state(self);
    self->wakeup = fby_wakeup_open();
    fby_err err  = FBY_SYS;
    if (self->wakeup.fd >= 0 && self->encode_scratch != NULL) {
        err = start_stages(self);
    }
    if (err != FBY_OK) {
        fby_stages_destroy(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

void fby_stages_destroy(struct fby_stages **self_p)
{
    struct fby_stages *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    /* Wake the threads that wait for rows or memory, so that they end. */
    fby_backlog_close(self->backlog);
    fby_memory_close(self->fetch_memory);
    fby_shared_quota_close(self->quota);
    fby_stage_destroy(&self->fetch);
    fby_stage_destroy(&self->transform);
    fby_stage_destroy(&self->encode);

    struct fby_stages_event event;
    while (fby_stages_next_event(self, &event)) {
        fby_job_release(&event.job);
    }
    for (uint32_t i = 0; i < self->config.transform_threads; i++) {
        fby_transform_destroy(&self->transformers[i].transform);
        fby_row_reader_destroy(&self->transformers[i].reader);
    }
    fby_shared_quota_destroy(&self->quota);
    fby_backlog_destroy(&self->backlog);
    fby_memory_destroy(&self->fetch_memory);
    fby_memory_destroy(&self->encode_memory);
    pthread_mutex_destroy(&self->lock);
    fby_wakeup_close(&self->wakeup);
    free(self->transformers);
    free(self->encode_scratch);
    free(self);
}

/* ---- Functions for the loop ---------------------------------------------- */

void fby_stages_start_job(struct fby_stages *self, struct fby_job *job)
{
    fby_backlog_add_job(self->backlog, job);
}

void fby_stages_cancel_job(struct fby_stages *self, struct fby_job *job)
{
    if (fby_job_cancel(job)) {
        fby_backlog_remove_aborted(self->backlog);
    }
}

void fby_stages_run(struct fby_stages *self, struct fby_encode_item *work)
{
    fby_err err = fby_stage_push_urgent(self->encode, &work->link);
    assert(err == FBY_OK); /* only fby_stages_destroy closes the stage */
    (void)err;
}

int fby_stages_fd(const struct fby_stages *self)
{
    return self->wakeup.fd;
}

void fby_stages_clear_wakeup(struct fby_stages *self)
{
    fby_wakeup_clear(&self->wakeup);
}

bool fby_stages_next_event(
    struct fby_stages *self, struct fby_stages_event *out)
{
    pthread_mutex_lock(&self->lock);
    struct fby_queued_event *queued = self->first_event;
    if (queued != NULL) {
        self->first_event = queued->next;
        if (self->first_event == NULL) {
            self->events_end = &self->first_event;
        }
    }
    pthread_mutex_unlock(&self->lock);
    if (queued == NULL) {
        return false;
    }
    *out = queued->event;
    free(queued);
    return true;
}

void fby_stages_post_event(
    struct fby_stages *self, struct fby_job *job, struct fby_job_chunk *chunk)
{
    struct fby_queued_event *queued = fby_zalloc(sizeof(*queued));
    queued->event =
        (struct fby_stages_event){.job = fby_job_hold(job), .chunk = chunk};
    pthread_mutex_lock(&self->lock);
    *self->events_end = queued;
    self->events_end  = &queued->next;
    pthread_mutex_unlock(&self->lock);
    fby_wakeup_send(&self->wakeup);
}

void fby_stages_trim(struct fby_stages *self, int64_t freed_until_ns)
{
    fby_memory_trim(self->fetch_memory, freed_until_ns);
    fby_memory_trim(self->encode_memory, freed_until_ns);
}

struct fby_stages_counts fby_stages_counts(struct fby_stages *self)
{
    return (struct fby_stages_counts){
        .fetch         = fby_stage_counts(self->fetch),
        .transform     = fby_stage_counts(self->transform),
        .encode        = fby_stage_counts(self->encode),
        .backlog_rows  = fby_backlog_count_rows(self->backlog),
        .fetched_bytes = atomic_load(&self->fetched_bytes),
        .substituted   = atomic_load(&self->substituted),
        .scratch_waits = fby_shared_quota_counts(self->quota).waits,
    };
}

/* ---- The end of a task --------------------------------------------------- */

void fby_stages_free_task(struct fby_stages *self, struct fby_task *task)
{
    fby_memory_free(self->fetch_memory, &task->block);
    fby_backlog_free_task(self->backlog, task);
}

/* Return `why`, prefixed with the location of the sample or member. */
static struct fby_error_detail with_location(const struct fby_task *task,
    const struct fby_member *member, const struct fby_error_detail *why)
{
    struct fby_error_detail location = {{0}};
    struct fby_error_detail result   = *why;
    fby_dataset_describe(
        task->job->spec.dataset_plan->dataset, task->sample, member, &location);
    fby_error_prefix(&result, FBY_BAD_SAMPLE, "%s", location.text);
    return result;
}

void fby_stages_fail_job(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err,
    const struct fby_error_detail *why)
{
    struct fby_job        *job     = task->job;
    struct fby_job_failure failure = {
        .err    = err,
        .sample = task->sample,
        .shard =
            fby_dataset_shard_of(job->spec.dataset_plan->dataset, task->sample),
        .offset = member != NULL ? member->offset : 0,
        .why    = with_location(task, member, why),
        .cause  = fby_xxh3_64(why->text, strlen(why->text)),
    };
    if (fby_job_fail(job, &failure)) { /* it was not aborted before */
        fby_backlog_remove_aborted(self->backlog);
        fby_stages_post_event(self, job, NULL);
    }
    fby_stages_free_task(self, task);
}

/* True if the content allows substitutes, and the job still needs its rows. */
static bool may_substitute(const struct fby_job *job)
{
    return job->spec.dataset_plan->content.on_bad_sample ==
               FBY_BAD_SUBSTITUTE &&
           !fby_job_is_aborted(job);
}

static struct fby_error_detail too_many_bad_samples(
    const struct fby_task *task, const struct fby_error_detail *cause)
{
    struct fby_error_detail why;
    fby_error_set(&why, FBY_BAD_SAMPLE,
        "%.300s; it is the last of %u substitutes of sample %llu, and none can "
        "be used: too many samples are bad",
        cause->text, task->substitutes,
        (unsigned long long)task->job->samples[task->row]);
    return why;
}

static void set_next_substitute(struct fby_task *task,
    const struct fby_member *member, const struct fby_error_detail *why)
{
    const struct fby_job_spec *spec = &task->job->spec;
    if (task->substitutes == 0) { /* the row's own sample was refused */
        task->refusal = with_location(task, member, why);
    }
    task->substitutes++;
    task->sample = fby_plan_substitute(spec->seed, spec->epoch,
        task->job->samples[task->row], task->substitutes,
        fby_dataset_sample_count(spec->dataset_plan->dataset));
}

bool fby_stages_choose_substitute(struct fby_task *task,
    const struct fby_member *member, fby_err err, struct fby_error_detail *why)
{
    if (err != FBY_BAD_SAMPLE || !may_substitute(task->job)) {
        return false;
    }
    if (task->substitutes == FBY_MAX_SUBSTITUTES) {
        *why = too_many_bad_samples(task, why);
        return false;
    }
    set_next_substitute(task, member, why);
    return true;
}

fby_err fby_stages_retry_or_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err,
    const struct fby_error_detail *why)
{
    struct fby_error_detail final_why = *why;
    if (fby_stages_choose_substitute(task, member, err, &final_why)) {
        fby_memory_free(self->fetch_memory, &task->block);
        fby_backlog_retry_task(self->backlog, task);
    } else {
        fby_stages_fail_job(self, task, member, err, &final_why);
    }
    return err;
}
