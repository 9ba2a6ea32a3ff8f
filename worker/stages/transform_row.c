/* SPDX-License-Identifier: Apache-2.0 */
/* transform_row.c - the second of the stages fetch, transform and encode:
 * decode and transform one row. Each field is written straight into the batch's
 * arena. Chunks that are then complete are queued for the encode stage. */
#include <time.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "worker/plan/mask_size.h"
#include "worker/stages/stages_state.h"

static void queue_chunk(void *context, struct fby_job_chunk *chunk)
{
    struct fby_stages *self = context;
    fby_job_hold(chunk->job); /* released by the encode stage */
    if (fby_stage_push(self->encode, chunk) != FBY_OK) {
        struct fby_job *job = chunk->job; /* the stage is being closed */
        fby_job_release(&job);
    }
}

/* Set `work` for a field of several members. Its input has an array of their
 * sizes, then their bytes. locate_stack in fetch.c has aligned the array. */
static void set_stack_input(const struct fby_task *task,
    const struct fby_task_input *input, struct fby_field_job *work)
{
    const void *sizes       = task->block.data + input->offset;
    size_t      sizes_bytes = work->field->n_from * sizeof(*work->sizes);
    work->sizes             = sizes;
    work->bytes             = (const uint8_t *)sizes + sizes_bytes;
    work->size              = input->size - sizes_bytes;
}

/* Set *decoding to the file that is bad in a field of several members. */
static void name_bad_file(struct fby_task *task,
    const struct fby_field_content *field, uint32_t bad_file,
    const struct fby_member **decoding)
{
    if (fby_dataset_find_member(task->job->spec.dataset_plan->dataset,
            task->sample, &field->from[bad_file], 1,
            &task->refused_mask) == FBY_OK) {
        *decoding = &task->refused_mask;
    }
}

/* Write the row's values of chosen field `chosen` (index). *decoding becomes
 * the member that is decoded, or NULL if the field has none. */
static fby_err write_field(struct fby_transformer *transformer,
    struct fby_task *task, uint32_t chosen, struct fby_size *picture_size,
    const struct fby_member **decoding, struct fby_error_detail *why)
{
    uint32_t                     bad_file = 0;
    struct fby_job              *job      = task->job;
    const struct fby_task_input *input    = &task->inputs[chosen];
    uint32_t                     field    = job->content_field[chosen];

    struct fby_field_job work = {
        .field       = &job->spec.dataset_plan->content.fields[field],
        .class_names = &job->spec.dataset_plan->content.class_names,
        .bytes = input->has_member ? task->block.data + input->offset : NULL,
        .size  = input->size,
        .token_bytes  = input->member.width,
        .n_documents  = input->member.documents,
        .class_id     = input->class_id,
        .seed         = job->spec.seed,
        .epoch        = job->spec.epoch,
        .sample       = task->sample,
        .picture_size = picture_size,
        .bad_file     = &bad_file,
        .length       = fby_job_length_dst(job, chosen, task->row),
        .indices      = fby_job_indices_dst(job, chosen, task->row),
    };
    *decoding = input->has_member ? &input->member : NULL;
    if (input->is_stack) {
        set_stack_input(task, input, &work);
    }
    fby_err err = fby_field_write(transformer->transform, &work,
        fby_job_row_dst(job, chosen, task->row), why);
    if (err != FBY_OK && input->is_stack) {
        name_bad_file(task, work.field, bad_file, decoding);
    }
    return fby_error_prefix(why, err, "field %s", work.field->name);
}

/* Check the sizes of the row's masks. `err` is the result of its fields. */
static fby_err check_masks(struct fby_task *task, const struct fby_size *sizes,
    fby_err err, const struct fby_member **decoding,
    struct fby_error_detail *why)
{
    const struct fby_dataset_plan *plan   = task->job->spec.dataset_plan;
    const struct fby_mask_sample   sample = {
          .content = &plan->content,
          .dataset = plan->dataset,
          .number  = task->sample,
          .sizes   = sizes,
    };
    struct fby_mask_mismatch mismatch;

    err = fby_mask_size_check(&sample, err, &mismatch, why);
    if (mismatch.field >= 0) {
        task->refused_mask = mismatch.member;
        *decoding          = &task->refused_mask;
    }
    return err;
}

/* Write every field of the row; *decoding as for write_field. */
static fby_err write_row(struct fby_transformer *transformer,
    struct fby_task *task, const struct fby_member **decoding,
    struct fby_error_detail *why)
{
    struct fby_size sizes[FBY_MAX_FIELDS] = {{0}}; /* [field of the content] */
    fby_err         err                   = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < task->job->layout.n_fields; i++) {
        uint32_t field = task->job->content_field[i];
        err = write_field(transformer, task, i, &sizes[field], decoding, why);
    }
    return check_masks(task, sizes, err, decoding, why);
}

/* For tests: the fault worker.slow delays each task. */
static void inject_delay(void)
{
    if (fby_fault_takes_effect("worker.slow", "sample")) {
        int64_t ns = fby_fault_param("worker.slow", "ms", 10) * FBY_NS_PER_MS;
        struct timespec pause = {ns / FBY_NS_PER_S, ns % FBY_NS_PER_S};
        nanosleep(&pause, NULL);
    }
}

fby_err fby_transform_record_substitute(struct fby_stages *self,
    const struct fby_task *task, struct fby_error_detail *why)
{
    fby_err err = fby_job_record_substitute(
        task->job, task->row, task->sample, &task->refusal, why);
    if (err != FBY_OK) {
        return FBY_BAD_SAMPLE;
    }
    atomic_fetch_add(&self->substituted, 1U);
    fby_info("SUBSTITUTED", "by sample %llu: %s",
        (unsigned long long)task->sample, task->refusal.text);
    return FBY_OK;
}

void fby_transform_finish_rows(
    struct fby_stages *self, struct fby_task *task, uint32_t rows)
{
    /* For tests: change a value before the hash of the chunk is computed. */
    if (fby_fault_takes_effect("worker.wrong_bytes", "sample")) {
        *fby_job_row_dst(task->job, 0, task->row) ^= 1U;
    }
    const struct fby_job_sink sink = {.complete = queue_chunk, .context = self};
    fby_job_record_written(task->job, task->row, rows, &sink);
    fby_stages_free_task(self, task);
}

static fby_err finish_row(struct fby_stages *self, struct fby_task *task)
{
    struct fby_error_detail why = {{0}};
    if (task->substitutes > 0 &&
        fby_transform_record_substitute(self, task, &why) != FBY_OK) {
        fby_stages_fail_job(self, task, NULL, FBY_BAD_SAMPLE, &why);
        return FBY_BAD_SAMPLE;
    }
    fby_transform_finish_rows(self, task, 1);
    return FBY_OK;
}

fby_err fby_transform_task(void *context, uint32_t thread, void *item)
{
    struct fby_stages       *self        = context;
    struct fby_transformer  *transformer = &self->transformers[thread];
    struct fby_task         *task        = item;
    const struct fby_member *decoding    = NULL;
    struct fby_task_clock    start       = fby_task_clock_start();
    struct fby_error_detail  why         = {{0}};
    if (fby_job_is_aborted(task->job)) {
        fby_stages_free_task(self, task);
        return FBY_OK;
    }
    inject_delay();
    if (task->job->spec.dataset_plan->rows != NULL) {
        return fby_transform_run_of_rows(self, transformer, task);
    }
    fby_err err = write_row(transformer, task, &decoding, &why);
    fby_task_clock_stop(&start, task, &task->job->transform_ns);
    return err == FBY_OK
               ? finish_row(self, task)
               : fby_stages_retry_or_fail(self, task, decoding, err, &why);
}
