/* The first stage: read all members that one row needs into one block.
 *
 * A member that two fields use (two keys of a JSON file) is read once. Block
 * sizes are powers of two: sample sizes vary, a block of the right size is
 * reused, and a fresh one costs a page fault for each 4 KiB. */
#include <string.h>

#include "common/clock.h"
#include "pipeline/fields/kind.h"
#include "pipeline/sources/traits.h"
#include "worker/stages/state.h"

static const struct fby_field_content *field_of(
    const struct fby_task *task, uint32_t chosen)
{
    const struct fby_job *job = task->job;
    return &job->spec.dataset_plan->content.fields[job->content_field[chosen]];
}

/* The part among the first `n` that reads `member`, or NULL. */
static const struct fby_task_part *same_member(
    const struct fby_task *task, uint32_t n, const struct fby_member *member)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct fby_task_part *part = &task->parts[i];
        if (part->has_member && part->member.index == member->index) {
            return part;
        }
    }
    return NULL;
}

static fby_err refuse_missing(const struct fby_task *task,
    const struct fby_field_content *field, struct fby_why *why)
{
    const struct fby_content *content = &task->job->spec.dataset_plan->content;
    if (fby_source_traits(content->source)->has_values) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "field %s: the row has nothing in a column %s%s", field->name,
            field->from[0],
            field->n_from > 1 ? ", nor in the field's other columns" : "");
    }
    return fby_because(why, FBY_BAD_SAMPLE,
        "field %s: the sample has no member .%s%s", field->name, field->from[0],
        field->n_from > 1 ? ", nor one of the field's other names" : "");
}

static fby_err check_size(const struct fby_member *member, struct fby_why *why)
{
    return member->size <= FBY_ROW_BYTES
               ? FBY_OK
               : fby_because(why, FBY_FULL,
                     "the member has %llu bytes; at most %llu can be read",
                     (unsigned long long)member->size,
                     (unsigned long long)FBY_ROW_BYTES);
}

static const char (
    *nth(const struct fby_field_content *field, uint32_t i))[FBY_NAME_SIZE]
{
    return (const char(*)[FBY_NAME_SIZE]) & field->from[i];
}

/* Locate all members of a field of maps: their sizes, then their bytes. */
static fby_err locate_stack(
    struct fby_task *task, uint32_t chosen, size_t *end, struct fby_why *why)
{
    const struct fby_field_content *field = field_of(task, chosen);
    const struct fby_dataset *dataset = task->job->spec.dataset_plan->dataset;
    struct fby_task_part     *part    = &task->parts[chosen];
    part->is_stack                    = true;
    part->offset = (*end + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
    part->size   = field->n_from * sizeof(uint64_t);
    for (uint32_t i = 0; i < field->n_from; i++) {
        struct fby_member member;
        if (fby_dataset_find(
                dataset, task->sample, nth(field, i), 1, &member) != FBY_OK) {
            return fby_because(why, FBY_BAD_SAMPLE,
                "field %s: the sample has no member .%s", field->name,
                field->from[i]);
        }
        fby_err err = check_size(&member, why);
        if (err != FBY_OK) {
            return err;
        }
        part->size += (size_t)member.size;
    }
    *end = part->offset + part->size;
    return FBY_OK;
}

/* Find the member of a chosen field and give it an offset in the block, which
 * ends at *end. */
static fby_err locate(
    struct fby_task *task, uint32_t chosen, size_t *end, struct fby_why *why)
{
    const struct fby_field_content *field = field_of(task, chosen);
    const struct fby_dataset *dataset = task->job->spec.dataset_plan->dataset;
    struct fby_task_part     *part    = &task->parts[chosen];
    *part                             = (struct fby_task_part){0};
    if (fby_field_is_of_folder(field)) {
        part->class_id = fby_dataset_class(dataset, task->sample);
        return FBY_OK;
    }
    if (fby_field_kind(field)->is_stack) {
        return locate_stack(task, chosen, end, why);
    }
    if (fby_dataset_find(dataset, task->sample, nth(field, 0), field->n_from,
            &part->member) != FBY_OK) {
        return refuse_missing(task, field, why);
    }
    const struct fby_task_part *same = same_member(task, chosen, &part->member);
    if (same != NULL) {
        *part = *same;
        return FBY_OK;
    }
    fby_err err = check_size(&part->member, why);
    if (err != FBY_OK) {
        return err;
    }
    part->has_member = true;
    part->offset     = *end;
    part->size       = (size_t)part->member.size;
    *end += part->size;
    return FBY_OK;
}

static size_t power_of_two(size_t bytes)
{
    size_t power = 64 << 10;
    while (power < bytes) {
        power *= 2;
    }
    return power;
}

static fby_err take_block(struct fby_stages *self, struct fby_task *task,
    size_t bytes, struct fby_why *why)
{
    size_t  limit = self->config.fetch_bytes;
    size_t  size  = power_of_two(bytes);
    fby_err err   = bytes > limit
                        ? FBY_FULL
                        : fby_memory_take(self->fetch_memory,
                            size < limit ? size : limit, &task->block);
    if (err == FBY_FULL) {
        fby_because(why, err,
            "the sample has %zu bytes, this worker can read at most %zu; raise "
            "its --memory",
            bytes, limit);
    }
    return err;
}

static fby_err read_stack(struct fby_stages *self, struct fby_task *task,
    uint32_t chosen, struct fby_why *why)
{
    const struct fby_field_content *field = field_of(task, chosen);
    struct fby_dataset         *dataset = task->job->spec.dataset_plan->dataset;
    const struct fby_task_part *part    = &task->parts[chosen];
    uint8_t                    *sizes   = task->block.data + part->offset;
    uint8_t                    *at  = sizes + field->n_from * sizeof(uint64_t);
    fby_err                     err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < field->n_from; i++) {
        struct fby_member member = {0};
        err =
            fby_dataset_find(dataset, task->sample, nth(field, i), 1, &member);
        if (err == FBY_OK) {
            memcpy(sizes + i * sizeof(uint64_t), &member.size,
                sizeof(member.size));
            err = fby_dataset_read(
                dataset, &member, at, (size_t)member.size, why);
        }
        at += member.size;
    }
    atomic_fetch_add(&self->fetched_bytes, part->size);
    return err;
}

static fby_err read_parts(struct fby_stages *self, struct fby_task *task,
    const struct fby_member **at, struct fby_why *why)
{
    struct fby_dataset *dataset = task->job->spec.dataset_plan->dataset;
    for (uint32_t i = 0; i < task->job->layout.n_fields; i++) {
        struct fby_task_part *part = &task->parts[i];
        if (part->is_stack) {
            fby_err err = read_stack(self, task, i, why);
            if (err != FBY_OK) {
                return err;
            }
        }
        if (!part->has_member || same_member(task, i, &part->member) != NULL) {
            continue;
        }
        *at         = &part->member;
        fby_err err = fby_dataset_read(dataset, &part->member,
            task->block.data + part->offset, part->size, why);
        if (err != FBY_OK) {
            return err;
        }
        atomic_fetch_add(&self->fetched_bytes, part->size);
    }
    return FBY_OK;
}

static fby_err fetch(struct fby_stages *self, struct fby_task *task,
    const struct fby_member **at, struct fby_why *why)
{
    size_t  bytes = 0;
    fby_err err   = fby_job_commit(task->job, why);
    if (task->job->spec.dataset_plan->rows != NULL) {
        return err; /* rows of columns are read from the mapped file */
    }
    for (uint32_t i = 0; err == FBY_OK && i < task->job->layout.n_fields; i++) {
        err = locate(task, i, &bytes, why);
    }
    if (err == FBY_OK && bytes > 0) {
        err = take_block(self, task, bytes, why);
    }
    return err == FBY_OK ? read_parts(self, task, at, why) : err;
}

fby_err fby_fetch_task(void *context, uint32_t thread, void *item)
{
    (void)thread;
    struct fby_stages       *self  = context;
    struct fby_task         *task  = item;
    const struct fby_member *at    = NULL;
    int64_t                  since = fby_now_ns();
    struct fby_why           why   = {{0}};
    if (!fby_job_is_working(task->job)) {
        fby_stages_finish(self, task);
        return FBY_OK;
    }
    fby_err err = fetch(self, task, &at, &why);
    atomic_fetch_add(&task->job->fetch_ns, (uint64_t)(fby_now_ns() - since));
    if (err == FBY_OK) {
        err = fby_stage_put(self->transform, task);
    }
    return err == FBY_OK ? err
                         : fby_stages_retry_or_fail(self, task, at, err, &why);
}
