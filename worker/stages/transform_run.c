/* SPDX-License-Identifier: Apache-2.0 */
/* transform_run.c - the transform stage for datasets of columns or tokens: make
 * a run (several rows together), one column after another, straight into the
 * batch's arena.
 *
 * A refused row is only marked at first. After the run, each marked row is made
 * again alone, to get the reason, and then from a substitute sample. */
#include <string.h>

#include "common/clock.h"
#include "worker/stages/stages_state.h"

/* Return how many of the rows [row, row + n) are in the same chunk as `row`. */
static uint32_t rows_in_chunk(
    const struct fby_job *job, uint32_t field, uint32_t row, uint32_t n)
{
    uint32_t rows_per_chunk = job->layout.fields[field].rows_per_chunk;
    if (rows_per_chunk == 0) { /* a row has several chunks */
        return 1;
    }
    uint32_t rows_left = rows_per_chunk - row % rows_per_chunk;
    return n < rows_left ? n : rows_left;
}

/* Write the values of chosen field `chosen` (index) of all rows of the run. */
static fby_err write_field(struct fby_transformer *transformer,
    const struct fby_task *task, uint32_t chosen, struct fby_error_detail *why)
{
    struct fby_job        *job   = task->job;
    const struct fby_rows *rows  = job->spec.dataset_plan->rows;
    uint32_t               field = job->content_field[chosen];
    fby_err err = fby_rows_open(rows, field, transformer->reader, why);
    if (err != FBY_OK) {
        return err;
    }
    for (uint32_t i = 0; i < task->rows;) { /* rows of one chunk at a time */
        uint32_t n = rows_in_chunk(job, chosen, task->row + i, task->rows - i);
        const struct fby_rows_group group = {.first = i,
            .n                                      = n,
            .dst       = fby_job_row_dst(job, chosen, task->row + i),
            .lengths   = fby_job_length_dst(job, chosen, task->row + i),
            .indices   = fby_job_indices_dst(job, chosen, task->row + i),
            .transform = transformer->transform};
        fby_rows_write(
            rows, field, transformer->reader, group, transformer->refused);
        i += n;
    }
    return fby_rows_close(rows, field, transformer->reader, why);
}

/* Write every field of all rows of the run, and mark the refused rows. After
 * an error task->sample is the bad sample. */
static fby_err write_run(struct fby_transformer *transformer,
    struct fby_task *task, struct fby_error_detail *why)
{
    struct fby_job *job = task->job;
    fby_err         err = FBY_OK;
    memset(transformer->refused, 0, task->rows * sizeof(*transformer->refused));
    fby_row_reader_begin_run(transformer->reader,
        job->spec.dataset_plan->dataset, job->samples + task->row, task->rows);
    for (uint32_t f = 0; err == FBY_OK && f < job->layout.n_fields; f++) {
        err = write_field(transformer, task, f, why);
    }
    if (err != FBY_OK) { /* `failed` is the row of the run that failed */
        task->sample = job->samples[task->row + transformer->reader->failed];
    }
    return err;
}

/* Write every field of the task's row from task->sample. */
static fby_err write_row_once(struct fby_transformer *transformer,
    const struct fby_task *task, struct fby_error_detail *why)
{
    struct fby_job *job = task->job;
    fby_err         err = FBY_OK;
    for (uint32_t f = 0; err == FBY_OK && f < job->layout.n_fields; f++) {
        const struct fby_row_request request = {.field = job->content_field[f],
            .sample                                    = task->sample,
            .length    = fby_job_length_dst(job, f, task->row),
            .indices   = fby_job_indices_dst(job, f, task->row),
            .transform = transformer->transform};
        err = fby_rows_write_one(job->spec.dataset_plan->rows, &request,
            transformer->reader, fby_job_row_dst(job, f, task->row), why);
    }
    return err;
}

/* Write the task's row from its own sample, or else from a substitute. */
static fby_err write_row(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task,
    struct fby_error_detail *why)
{
    task->sample      = task->job->samples[task->row];
    task->substitutes = 0;
    fby_err err       = write_row_once(transformer, task, why);
    while (
        err != FBY_OK && fby_stages_choose_substitute(task, NULL, err, why)) {
        err = write_row_once(transformer, task, why);
    }
    if (err == FBY_OK && task->substitutes > 0) {
        err = fby_transform_record_substitute(self, task, why);
    }
    return err;
}

/* Write the refused rows one by one. On an error task->row is the bad row. */
static fby_err rewrite_refused_rows(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task,
    struct fby_error_detail *why)
{
    fby_err  err       = FBY_OK;
    uint32_t first_row = task->row;
    for (uint32_t i = 0; err == FBY_OK && i < task->rows; i++) {
        if (transformer->refused[i]) {
            task->row = first_row + i;
            err       = write_row(self, transformer, task, why);
        }
    }
    if (err == FBY_OK) {
        task->row = first_row;
    }
    return err;
}

fby_err fby_transform_run_of_rows(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task)
{
    struct fby_task_clock   start = fby_task_clock_start();
    struct fby_error_detail why   = {{0}};
    fby_err                 err   = write_run(transformer, task, &why);
    if (err == FBY_OK) {
        err = rewrite_refused_rows(self, transformer, task, &why);
    }
    fby_task_clock_stop(&start, task, &task->job->transform_ns);
    if (err == FBY_OK) {
        fby_transform_finish_rows(self, task, task->rows);
    } else {
        fby_stages_fail_job(self, task, NULL, err, &why);
    }
    return err;
}
