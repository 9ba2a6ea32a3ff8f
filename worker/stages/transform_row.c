/* The second stage: decode and transform one row. Each field is written
 * straight into the batch's arena; chunks that are then complete are queued for
 * the encode stage. */
#include <time.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "worker/stages/state.h"

static void queue_chunk(void *context, struct fby_job_chunk *chunk)
{
    struct fby_stages *self = context;
    fby_job_hold(chunk->job);
    if (fby_stage_put(self->encode, chunk) != FBY_OK) {
        struct fby_job *job = chunk->job;
        fby_job_release(&job);
    }
}

/* Set the fields of `work` for several members. Their sizes are aligned: the
 * block begins at a page, and a stack at a multiple of 8. */
static void open_stack(const struct fby_task *task,
    const struct fby_task_part *part, struct fby_field_job *work)
{
    const void *sizes = task->block.data + part->offset;
    size_t      bytes = work->field->n_from * sizeof(*work->sizes);
    work->sizes       = sizes;
    work->bytes       = (const uint8_t *)sizes + bytes;
    work->size        = part->size - bytes;
}

static fby_err write_field(struct fby_transformer *transformer,
    struct fby_task *task, uint32_t chosen, struct fby_why *why)
{
    struct fby_job             *job  = task->job;
    const struct fby_task_part *part = &task->parts[chosen];
    uint32_t                    i    = job->content_field[chosen];

    struct fby_field_job work = {
        .field     = &job->spec.dataset_plan->content.fields[i],
        .bytes     = part->has_member ? task->block.data + part->offset : NULL,
        .size      = part->size,
        .width     = part->member.width,
        .documents = part->member.documents,
        .class_id  = part->class_id,
        .seed      = job->spec.seed,
        .epoch     = job->spec.epoch,
        .sample    = task->sample,
        .length    = fby_job_length(job, chosen, task->row),
        .indices   = fby_job_indices(job, chosen, task->row),
    };
    if (part->is_stack) {
        open_stack(task, part, &work);
    }
    fby_err err = fby_field_write(transformer->transform, &work,
        fby_job_row(job, chosen, task->row), why);
    if (err != FBY_OK) {
        fby_because_in(why, err, "field %s", work.field->name);
    }
    return err;
}

/* Write every field of the row; *at is the member in use, or NULL. */
static fby_err write_row(struct fby_transformer *transformer,
    struct fby_task *task, const struct fby_member **at, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < task->job->layout.n_fields; i++) {
        *at = task->parts[i].has_member ? &task->parts[i].member : NULL;
        err = write_field(transformer, task, i, why);
    }
    return err;
}

static void count_ops(
    struct fby_stages *self, struct fby_transformer *transformer)
{
    for (uint32_t id = 0; id < FBY_STAGES_OPS; id++) {
        if (id > 0 && !fby_transform_knows(id)) {
            continue;
        }
        struct fby_cost  now = fby_transform_cost(transformer->transform, id);
        struct fby_cost *reported = &transformer->reported[id];
        atomic_fetch_add(&self->op_calls[id], now.calls - reported->calls);
        atomic_fetch_add(&self->op_cpu_ns[id], now.cpu_ns - reported->cpu_ns);
        *reported = now;
    }
}

static void inject_delay(void)
{
    if (fby_fault("worker.slow", "sample")) {
        int64_t ns = fby_fault_param("worker.slow", "ms", 10) * FBY_NS_PER_MS;
        struct timespec pause = {ns / FBY_NS_PER_S, ns % FBY_NS_PER_S};
        nanosleep(&pause, NULL);
    }
}

/* Fault injection: make a value differ from that of all other workers. */
static void inject_wrong_value(struct fby_task *task)
{
    if (fby_fault("worker.wrong_bytes", "sample")) {
        *fby_job_row(task->job, 0, task->row) ^= 1U;
    }
}

fby_err fby_transform_record_substitute(
    struct fby_stages *self, const struct fby_task *task, struct fby_why *why)
{
    fby_err err = fby_job_record_substitute(
        task->job, task->row, task->sample, &task->refused, why);
    if (err != FBY_OK) {
        return FBY_BAD_SAMPLE;
    }
    atomic_fetch_add(&self->substituted, 1U);
    fby_info("SUBSTITUTED", "by sample %llu: %s",
        (unsigned long long)task->sample, task->refused.text);
    return FBY_OK;
}

void fby_transform_done(
    struct fby_stages *self, struct fby_task *task, uint32_t rows)
{
    inject_wrong_value(task);
    const struct fby_job_sink sink = {.complete = queue_chunk, .context = self};
    fby_job_rows_done(task->job, task->row, rows, &sink);
    fby_stages_finish(self, task);
}

static fby_err finish_row(struct fby_stages *self, struct fby_task *task)
{
    struct fby_why why = {{0}};
    if (task->substitutes > 0 &&
        fby_transform_record_substitute(self, task, &why) != FBY_OK) {
        fby_stages_fail(self, task, NULL, FBY_BAD_SAMPLE, &why);
        return FBY_BAD_SAMPLE;
    }
    fby_transform_done(self, task, 1);
    return FBY_OK;
}

fby_err fby_transform_task(void *context, uint32_t thread, void *item)
{
    struct fby_stages       *self        = context;
    struct fby_transformer  *transformer = &self->transformers[thread];
    struct fby_task         *task        = item;
    const struct fby_member *at          = NULL;
    int64_t                  since       = fby_now_ns();
    struct fby_why           why         = {{0}};
    if (!fby_job_is_working(task->job)) {
        fby_stages_finish(self, task);
        return FBY_OK;
    }
    inject_delay();
    if (task->job->spec.dataset_plan->rows != NULL) {
        return fby_transform_run_of_rows(self, transformer, task);
    }
    fby_err err = write_row(transformer, task, &at, &why);
    count_ops(self, transformer);
    atomic_fetch_add(
        &task->job->transform_ns, (uint64_t)(fby_now_ns() - since));
    return err == FBY_OK ? finish_row(self, task)
                         : fby_stages_retry_or_fail(self, task, at, err, &why);
}
