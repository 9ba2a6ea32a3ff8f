/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - the first of the stages fetch, transform and encode: read all
 * members that one row needs into one block of memory.
 *
 * A member is one file of a sample. A task has one input (bytes of the block)
 * for each field that the request chose. A member that two fields use (two keys
 * of a JSON file) is read once. Block sizes are rounded up to powers of two, so
 * that more blocks can be reused although sample sizes vary. Each 4 KiB of a
 * fresh block costs a page fault. */
#include <string.h>

#include "common/clock.h"
#include "pipeline/fields/kind.h"
#include "pipeline/sources/traits.h"
#include "worker/stages/stages_state.h"

enum { MIN_BLOCK = 64 << 10 }; /* bytes */

static const struct fby_field_content *chosen_field(
    const struct fby_task *task, uint32_t chosen)
{
    const struct fby_job *job = task->job;
    return &job->spec.dataset_plan->content.fields[job->content_field[chosen]];
}

/* Return the input, among the first `n`, that reads `member`, or NULL. */
static const struct fby_task_input *find_same_member(
    const struct fby_task *task, uint32_t n, const struct fby_member *member)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct fby_task_input *input = &task->inputs[i];
        if (input->has_member && input->member.index == member->index) {
            return input;
        }
    }
    return NULL;
}

static fby_err refuse_missing(const struct fby_task *task,
    const struct fby_field_content *field, struct fby_error_detail *why)
{
    const struct fby_content *content = &task->job->spec.dataset_plan->content;
    if (fby_source_traits(content->source)->has_values) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "field %s: the row has no value in column %s%s", field->name,
            field->from[0],
            field->n_from > 1 ? ", nor in the field's other columns" : "");
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "field %s: the sample has no member .%s%s", field->name, field->from[0],
        field->n_from > 1 ? ", nor one of the field's other names" : "");
}

static fby_err check_size(
    const struct fby_member *member, struct fby_error_detail *why)
{
    return member->size <= FBY_ROW_BYTES_MAX
               ? FBY_OK
               : fby_error_set(why, FBY_FULL,
                     "the member has %llu bytes; at most %llu can be read",
                     (unsigned long long)member->size,
                     (unsigned long long)FBY_ROW_BYTES_MAX);
}

static size_t align_to_u64(size_t offset)
{
    size_t width = sizeof(uint64_t);
    return (offset + width - 1) / width * width;
}

/* Find all members of a field of several maps, and reserve space for their
 * sizes and then their bytes at the end of the block, *block_bytes. */
static fby_err locate_stack(struct fby_task *task, uint32_t chosen,
    size_t *block_bytes, struct fby_error_detail *why)
{
    const struct fby_field_content *field = chosen_field(task, chosen);
    const struct fby_dataset *dataset = task->job->spec.dataset_plan->dataset;
    struct fby_task_input    *input   = &task->inputs[chosen];
    input->is_stack                   = true;
    input->offset                     = align_to_u64(*block_bytes);
    input->size                       = field->n_from * sizeof(uint64_t);
    for (uint32_t i = 0; i < field->n_from; i++) {
        struct fby_member member;
        if (fby_dataset_find_member(
                dataset, task->sample, &field->from[i], 1, &member) != FBY_OK) {
            return fby_error_set(why, FBY_BAD_SAMPLE,
                "field %s: the sample has no member .%s", field->name,
                field->from[i]);
        }
        fby_err err = check_size(&member, why);
        if (err != FBY_OK) {
            return err;
        }
        input->size += (size_t)member.size;
    }
    *block_bytes = input->offset + input->size;
    return FBY_OK;
}

/* Find the member of a chosen field, and reserve space for it at the end of the
 * block, *block_bytes. A member of an earlier field shares that field's space,
 * and a class folder needs none. */
static fby_err locate_input(struct fby_task *task, uint32_t chosen,
    size_t *block_bytes, struct fby_error_detail *why)
{
    const struct fby_field_content *field = chosen_field(task, chosen);
    const struct fby_dataset *dataset = task->job->spec.dataset_plan->dataset;
    struct fby_task_input    *input   = &task->inputs[chosen];
    *input                            = (struct fby_task_input){0};
    if (fby_field_is_folder_id(field)) {
        input->class_id = fby_dataset_folder_label(dataset, task->sample,
            &task->job->spec.dataset_plan->content, field);
        return FBY_OK;
    }
    if (fby_field_kind(field)->is_stack) {
        return locate_stack(task, chosen, block_bytes, why);
    }
    if (fby_dataset_find_member(dataset, task->sample, field->from,
            field->n_from, &input->member) != FBY_OK) {
        return refuse_missing(task, field, why);
    }
    const struct fby_task_input *earlier =
        find_same_member(task, chosen, &input->member);
    if (earlier != NULL) {
        *input = *earlier;
        return FBY_OK;
    }
    fby_err err = check_size(&input->member, why);
    if (err != FBY_OK) {
        return err;
    }
    input->has_member = true;
    input->offset     = *block_bytes;
    input->size       = (size_t)input->member.size;
    *block_bytes += input->size;
    return FBY_OK;
}

/* `bytes` rounded up to a power of two, at least MIN_BLOCK. */
static size_t round_up_to_power_of_two(size_t bytes)
{
    size_t power = MIN_BLOCK;
    while (power < bytes) {
        power *= 2;
    }
    return power;
}

fby_err fby_stages_refuse_size(
    size_t bytes, size_t limit, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_FULL,
        "the sample has %zu bytes, this worker can read at most %zu; raise its "
        "--memory",
        bytes, limit);
}

static fby_err allocate_block(struct fby_stages *self, struct fby_task *task,
    size_t bytes, struct fby_error_detail *why)
{
    size_t  limit = self->config.fetch_bytes;
    size_t  size  = round_up_to_power_of_two(bytes);
    fby_err err   = FBY_FULL;
    if (bytes <= limit) {
        err = fby_memory_allocate(
            self->fetch_memory, size < limit ? size : limit, &task->block);
    }
    if (err == FBY_FULL) {
        err = fby_stages_refuse_size(bytes, limit, why);
    }
    return err;
}

/* Read the members of a field of several maps, as locate_stack reserved. Sets
 * *reading to each before it is read. */
static fby_err read_stack(struct fby_stages *self, struct fby_task *task,
    uint32_t chosen, const struct fby_member **reading,
    struct fby_error_detail *why)
{
    const struct fby_field_content *field = chosen_field(task, chosen);
    struct fby_dataset    *dataset = task->job->spec.dataset_plan->dataset;
    struct fby_task_input *input   = &task->inputs[chosen];
    struct fby_member     *member  = &input->member;
    uint8_t               *sizes   = task->block.data + input->offset;
    uint8_t               *dst     = sizes + field->n_from * sizeof(uint64_t);
    fby_err                err     = FBY_OK;
    *reading                       = member;
    for (uint32_t i = 0; err == FBY_OK && i < field->n_from; i++) {
        err = fby_dataset_find_member(
            dataset, task->sample, &field->from[i], 1, member);
        if (err == FBY_OK) {
            memcpy(sizes + i * sizeof(uint64_t), &member->size,
                sizeof(member->size));
            err = fby_dataset_read(
                dataset, member, dst, (size_t)member->size, why);
        }
        dst += member->size;
    }
    atomic_fetch_add(&self->fetched_bytes, input->size);
    return err;
}

/* Fill the task's block. A member that several fields use is read for the first
 * of them. *reading is set to each member before it is read. */
static fby_err read_inputs(struct fby_stages *self, struct fby_task *task,
    const struct fby_member **reading, struct fby_error_detail *why)
{
    struct fby_dataset *dataset = task->job->spec.dataset_plan->dataset;
    fby_err             err     = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < task->job->layout.n_fields; i++) {
        struct fby_task_input *input = &task->inputs[i];
        if (input->is_stack) {
            err = read_stack(self, task, i, reading, why);
        } else if (input->has_member &&
                   find_same_member(task, i, &input->member) == NULL) {
            *reading = &input->member;
            err      = fby_dataset_read(dataset, &input->member,
                     task->block.data + input->offset, input->size, why);
            if (err == FBY_OK) {
                atomic_fetch_add(&self->fetched_bytes, input->size);
            }
        }
    }
    return err;
}

static fby_err fetch_members(struct fby_stages *self, struct fby_task *task,
    const struct fby_member **reading, struct fby_error_detail *why)
{
    size_t  bytes = 0;
    fby_err err   = fby_job_commit(task->job, why);
    if (task->job->spec.dataset_plan->rows != NULL) {
        return err; /* columns and tokens are read later, from mapped files */
    }
    for (uint32_t i = 0; err == FBY_OK && i < task->job->layout.n_fields; i++) {
        err = locate_input(task, i, &bytes, why);
    }
    if (err == FBY_OK && bytes > 0) {
        err = allocate_block(self, task, bytes, why);
    }
    return err == FBY_OK ? read_inputs(self, task, reading, why) : err;
}

fby_err fby_fetch_task(void *context, uint32_t thread, void *item)
{
    (void)thread;
    struct fby_stages       *self    = context;
    struct fby_task         *task    = item;
    const struct fby_member *reading = NULL;
    struct fby_task_clock    start   = fby_task_clock_start();
    struct fby_error_detail  why     = {{0}};
    if (fby_job_is_aborted(task->job)) {
        fby_stages_free_task(self, task);
        return FBY_OK;
    }
    fby_err err = fetch_members(self, task, &reading, &why);
    fby_task_clock_stop(&start, task, &task->job->fetch_ns);
    if (err == FBY_OK) {
        err = fby_stage_push(self->transform, task);
    }
    return err == FBY_OK
               ? err
               : fby_stages_retry_or_fail(self, task, reading, err, &why);
}
