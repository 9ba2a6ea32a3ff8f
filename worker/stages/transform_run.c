/* The second stage for datasets of columns or tokens: make a run of rows,
 * column by column, straight into the batch's arena.
 *
 * A refused row is only marked at first. After the run, each marked row is made
 * again by itself, to get the reason, and then from a substitute. */
#include <string.h>

#include "common/clock.h"
#include "worker/stages/stages_state.h"

/* How many of the `n` rows from `row` on are adjacent, in one chunk. */
static uint32_t rows_in_chunk(
    const struct fby_job *job, uint32_t field, uint32_t row, uint32_t n)
{
    uint32_t rows_per_chunk = job->layout.fields[field].rows_per_chunk;
    if (rows_per_chunk == 0) { /* a row has several chunks */
        return 1;
    }
    uint32_t left = rows_per_chunk - row % rows_per_chunk;
    return n < left ? n : left;
}

static fby_err make_field(struct fby_transformer *transformer,
    const struct fby_task *task, uint32_t chosen, struct fby_error_detail *why)
{
    struct fby_job        *job   = task->job;
    const struct fby_rows *rows  = job->spec.dataset_plan->rows;
    uint32_t               field = job->content_field[chosen];
    fby_err err = fby_rows_open(rows, field, transformer->run, why);
    if (err != FBY_OK) {
        return err;
    }
    for (uint32_t i = 0; i < task->rows;) {
        uint32_t n = rows_in_chunk(job, chosen, task->row + i, task->rows - i);
        const struct fby_rows_group group = {i, n,
            fby_job_row_dst(job, chosen, task->row + i),
            fby_job_length_dst(job, chosen, task->row + i),
            fby_job_indices_dst(job, chosen, task->row + i),
            transformer->transform};
        fby_rows_write(rows, field, transformer->run, group, transformer->bad);
        i += n;
    }
    return fby_rows_close(rows, field, transformer->run, why);
}

static fby_err make_run(struct fby_transformer *transformer,
    struct fby_task *task, struct fby_error_detail *why)
{
    struct fby_job *job = task->job;
    fby_err         err = FBY_OK;
    memset(transformer->bad, 0, task->rows * sizeof(*transformer->bad));
    fby_run_begin(transformer->run, job->spec.dataset_plan->dataset,
        job->samples + task->row, task->rows);
    for (uint32_t f = 0; err == FBY_OK && f < job->layout.n_fields; f++) {
        err = make_field(transformer, task, f, why);
    }
    if (err != FBY_OK) { /* the sample that the error names */
        task->sample = job->samples[task->row + transformer->run->failed];
    }
    return err;
}

static fby_err make_row_once(struct fby_transformer *transformer,
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
            transformer->run, fby_job_row_dst(job, f, task->row), why);
    }
    return err;
}

/* Make the task's row from its own sample, or else from a substitute. */
static fby_err make_row(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task,
    struct fby_error_detail *why)
{
    task->sample      = task->job->samples[task->row];
    task->substitutes = 0;
    fby_err err       = make_row_once(transformer, task, why);
    while (
        err != FBY_OK && fby_stages_choose_substitute(task, NULL, err, why)) {
        err = make_row_once(transformer, task, why);
    }
    if (err == FBY_OK && task->substitutes > 0) {
        err = fby_transform_record_substitute(self, task, why);
    }
    return err;
}

static fby_err remake_bad_rows(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task,
    struct fby_error_detail *why)
{
    fby_err  err   = FBY_OK;
    uint32_t first = task->row;
    for (uint32_t i = 0; err == FBY_OK && i < task->rows; i++) {
        if (transformer->bad[i]) {
            task->row = first + i;
            err       = make_row(self, transformer, task, why);
        }
    }
    if (err == FBY_OK) { /* after an error task->row names the failed row */
        task->row = first;
    }
    return err;
}

fby_err fby_transform_run_of_rows(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task)
{
    int64_t                 since = fby_now_ns();
    struct fby_error_detail why   = {{0}};
    fby_err                 err   = make_run(transformer, task, &why);
    if (err == FBY_OK) {
        err = remake_bad_rows(self, transformer, task, &why);
    }
    atomic_fetch_add(
        &task->job->transform_ns, (uint64_t)(fby_now_ns() - since));
    if (err == FBY_OK) {
        fby_transform_rows_written(self, task, task->rows);
    } else {
        fby_stages_fail_job(self, task, NULL, err, &why);
    }
    return err;
}
