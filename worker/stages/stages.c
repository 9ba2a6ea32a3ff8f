#include "worker/stages/state.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/mem.h"
#include "pipeline/plan/substitute.h"

enum {
    SMALL_SHARE = 8 << 20, /* bytes for a transform thread: see thread_share */
    LARGE_SHARE = 64 << 20,
    QUEUE_PER_THREAD = 8 /* capacity of a stage's queue, per thread */
};

/* ---- Creating and connecting --------------------------------------------- */

static fby_err next_task(void *context, void **out)
{
    struct fby_stages *self = context;
    struct fby_task   *task = NULL;
    fby_err            err  = fby_backlog_next(self->backlog, &task);
    *out                    = task;
    return err;
}

size_t fby_stages_most_encode_bytes(uint32_t encode_threads)
{
    return encode_threads * FBY_ENCODE_ROOM(FBY_UNIT_MAX);
}

/* Bytes that each transform thread has for itself: enough for a photograph of a
 * few megapixels, as long as half of the memory is left for larger ones. */
static uint64_t thread_share(const struct fby_stages_config *config)
{
    uint64_t half    = config->scratch_bytes / 2 / config->transform_threads;
    uint64_t quarter = half / 2;
    uint64_t enough  = half < SMALL_SHARE ? half : SMALL_SHARE;
    uint64_t share   = quarter > enough ? quarter : enough;
    return share < LARGE_SHARE ? share : LARGE_SHARE;
}

static void make_transformers(struct fby_stages *self)
{
    uint32_t threads = self->config.transform_threads;
    uint64_t share   = thread_share(&self->config);
    self->quota =
        fby_shared_quota_create(self->config.scratch_bytes - share * threads);
    self->transformers = fby_zalloc(threads * sizeof(*self->transformers));
    for (uint32_t i = 0; i < threads; i++) {
        self->transformers[i].transform = fby_transform_create(
            &(struct fby_transform_limits){share, self->quota});
        self->transformers[i].run = fby_run_create();
    }
}

static void allocate(struct fby_stages *self)
{
    const struct fby_stages_config *config = &self->config;
    /* Enough for every thread to hold one and for each queue to be full. */
    self->backlog =
        fby_backlog_create(config->fetch_threads +
                           (QUEUE_PER_THREAD + 1) * config->transform_threads);
    self->fetch_memory  = fby_memory_create(config->fetch_bytes);
    self->encode_memory = fby_memory_create(config->encode_bytes);
    make_transformers(self);
    self->scratch = aligned_alloc(_Alignof(struct fby_codec_scratch),
        config->encode_threads * sizeof(*self->scratch));
    self->last    = &self->first;
    pthread_mutex_init(&self->lock, NULL);
}

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
    fby_err err = start_stage(self,
        (struct fby_stage_config){.name = "fby-encode",
            .threads                    = self->config.encode_threads,
            .run                        = fby_encode_chunk},
        &self->encode);
    if (err == FBY_OK) {
        err = start_stage(self,
            (struct fby_stage_config){.name = "fby-transf",
                .threads                    = self->config.transform_threads,
                .run                        = fby_transform_task},
            &self->transform);
    }
    if (err == FBY_OK) {
        err = start_stage(self,
            (struct fby_stage_config){.name = "fby-fetch",
                .threads                    = self->config.fetch_threads,
                .run                        = fby_fetch_task,
                .next                       = next_task},
            &self->fetch);
    }
    return err;
}

fby_err fby_stages_create(
    const struct fby_stages_config *config, struct fby_stages **out)
{
    struct fby_stages *self = fby_zalloc(sizeof(*self));
    self->config            = *config;
    allocate(self);
    self->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    fby_err err    = FBY_SYS;
    if (self->event_fd >= 0 && self->scratch != NULL) {
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
    fby_backlog_close(self->backlog);
    fby_memory_close(self->fetch_memory);
    fby_shared_quota_close(self->quota);
    fby_stage_destroy(&self->fetch);
    fby_stage_destroy(&self->transform);
    fby_stage_destroy(&self->encode);

    struct fby_stages_event left;
    while (fby_stages_next(self, &left)) {
        fby_job_release(&left.job);
    }
    for (uint32_t i = 0; i < self->config.transform_threads; i++) {
        fby_transform_destroy(&self->transformers[i].transform);
        fby_run_destroy(&self->transformers[i].run);
    }
    fby_shared_quota_destroy(&self->quota);
    fby_backlog_destroy(&self->backlog);
    fby_memory_destroy(&self->fetch_memory);
    fby_memory_destroy(&self->encode_memory);
    pthread_mutex_destroy(&self->lock);
    if (self->event_fd >= 0) {
        close(self->event_fd);
    }
    free(self->transformers);
    free(self->scratch);
    free(self);
}

/* ---- The loop's side ----------------------------------------------------- */

void fby_stages_start(struct fby_stages *self, struct fby_job *job)
{
    if (job->spec.rows > 0) {
        fby_backlog_add(self->backlog, job);
    }
}

void fby_stages_cancel(struct fby_stages *self, struct fby_job *job)
{
    if (fby_job_cancel(job)) {
        fby_backlog_sweep(self->backlog);
    }
}

int fby_stages_fd(const struct fby_stages *self)
{
    return self->event_fd;
}

void fby_stages_clear_wakeup(struct fby_stages *self)
{
    uint64_t count = 0;
    if (read(self->event_fd, &count, sizeof(count)) < 0) {
        return; /* no wakeup was pending; looking for events is harmless */
    }
}

bool fby_stages_next(struct fby_stages *self, struct fby_stages_event *out)
{
    pthread_mutex_lock(&self->lock);
    struct fby_ready_event *ready = self->first;
    if (ready != NULL) {
        self->first = ready->next;
        if (self->first == NULL) {
            self->last = &self->first;
        }
    }
    pthread_mutex_unlock(&self->lock);
    if (ready == NULL) {
        return false;
    }
    *out = ready->event;
    free(ready);
    return true;
}

void fby_stages_post(
    struct fby_stages *self, struct fby_job *job, struct fby_job_chunk *chunk)
{
    const uint64_t          one   = 1;
    struct fby_ready_event *ready = fby_zalloc(sizeof(*ready));
    ready->event =
        (struct fby_stages_event){.job = fby_job_hold(job), .chunk = chunk};
    pthread_mutex_lock(&self->lock);
    *self->last = ready;
    self->last  = &ready->next;
    pthread_mutex_unlock(&self->lock);
    if (write(self->event_fd, &one, sizeof(one)) < 0) {
        return; /* the counter is at its maximum: readable already */
    }
}

void fby_stages_trim(struct fby_stages *self, int64_t since_ns)
{
    fby_memory_trim(self->fetch_memory, since_ns);
    fby_memory_trim(self->encode_memory, since_ns);
}

struct fby_stages_counts fby_stages_counts(struct fby_stages *self)
{
    struct fby_stages_counts counts = {
        .fetch         = fby_stage_counts(self->fetch),
        .transform     = fby_stage_counts(self->transform),
        .encode        = fby_stage_counts(self->encode),
        .backlog_rows  = fby_backlog_rows(self->backlog),
        .fetched_bytes = atomic_load(&self->fetched_bytes),
        .substituted   = atomic_load(&self->substituted),
        .scratch_waits = fby_shared_quota_counts(self->quota).waits,
    };
    for (size_t i = 0; i < FBY_STAGES_OPS; i++) {
        counts.op_calls[i]  = atomic_load(&self->op_calls[i]);
        counts.op_cpu_ns[i] = atomic_load(&self->op_cpu_ns[i]);
    }
    return counts;
}

/* ---- The end of a task --------------------------------------------------- */

void fby_stages_finish(struct fby_stages *self, struct fby_task *task)
{
    fby_memory_give(self->fetch_memory, &task->block);
    fby_backlog_done(self->backlog, task);
}

/* "LOCATION: what is wrong". */
static struct fby_why with_location(const struct fby_task *task,
    const struct fby_member *member, const struct fby_why *why)
{
    struct fby_why place = {{0}};
    struct fby_why text  = *why;
    fby_dataset_place(
        task->job->spec.dataset_plan->dataset, task->sample, member, &place);
    fby_because_in(&text, FBY_OK, "%s", place.text);
    return text;
}

void fby_stages_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err, const struct fby_why *why)
{
    struct fby_job        *job     = task->job;
    struct fby_job_failure failure = {
        .err    = err,
        .sample = task->sample,
        .shard =
            fby_dataset_shard_of(job->spec.dataset_plan->dataset, task->sample),
        .offset = member != NULL ? member->offset : 0,
        .why    = with_location(task, member, why),
    };
    if (fby_job_fail(job, &failure)) {
        fby_backlog_sweep(self->backlog);
        fby_stages_post(self, job, NULL);
    }
    fby_stages_finish(self, task);
}

static bool wants_substitute(const struct fby_job *job)
{
    return job->spec.dataset_plan->content.on_bad_sample ==
               FBY_BAD_SUBSTITUTE &&
           fby_job_is_working(job);
}

static struct fby_why too_many_bad_samples(
    const struct fby_task *task, const struct fby_why *cause)
{
    struct fby_why why;
    fby_because(&why, FBY_BAD_SAMPLE,
        "%.300s; it is the last of %u substitutes of sample %llu, and none can "
        "be used: too many samples are bad",
        cause->text, task->substitutes,
        (unsigned long long)task->job->samples[task->row]);
    return why;
}

static void next_substitute(struct fby_task *task,
    const struct fby_member *member, const struct fby_why *why)
{
    const struct fby_job_spec *spec = &task->job->spec;
    if (task->substitutes == 0) {
        task->refused = with_location(task, member, why);
    }
    task->substitutes++;
    task->sample = fby_plan_substitute(spec->seed, spec->epoch,
        task->job->samples[task->row], task->substitutes,
        fby_dataset_samples(spec->dataset_plan->dataset));
}

bool fby_stages_substitute(struct fby_task *task,
    const struct fby_member *member, fby_err err, struct fby_why *why)
{
    if (err != FBY_BAD_SAMPLE || !wants_substitute(task->job)) {
        return false;
    }
    if (task->substitutes == FBY_MAX_SUBSTITUTES) {
        *why = too_many_bad_samples(task, why);
        return false;
    }
    next_substitute(task, member, why);
    return true;
}

fby_err fby_stages_retry_or_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err, const struct fby_why *why)
{
    struct fby_why text = *why;
    if (fby_stages_substitute(task, member, err, &text)) {
        fby_memory_give(self->fetch_memory, &task->block);
        fby_backlog_retry(self->backlog, task);
    } else {
        fby_stages_fail(self, task, member, err, &text);
    }
    return err;
}
