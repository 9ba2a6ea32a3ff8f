/* SPDX-License-Identifier: Apache-2.0 */
/* stages_state.h - the state that the files of the stages share.
 *
 * stages.c creates and connects the stages, fetch.c reads the files of samples
 * (members), transform_row.c makes rows of values from them, transform_run.c
 * makes many rows of columns together (a run), encode.c encodes chunks. */
#ifndef FBY_WORKER_STAGES_STAGES_STATE_H
#define FBY_WORKER_STAGES_STAGES_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "codec/codec.h"
#include "common/clock.h"
#include "common/wakeup.h"
#include "worker/stages/backlog.h"
#include "worker/stages/stages.h"
#include "worker/transform/field.h"

/* The largest output buffer, in bytes, for encoding `raw_bytes` bytes. A chunk
 * that needs more is sent as it is. */
#define FBY_MAX_ENCODE_BUFFER(raw_bytes) (2 * (size_t)(raw_bytes))

struct fby_transformer { /* state of one transform thread */
    struct fby_transform  *transform;
    struct fby_row_reader *reader;
    bool refused[FBY_RUN_ROWS]; /* [row of the run]: its sample was refused */
};

struct fby_queued_event { /* in the list of events for the loop */
    struct fby_stages_event  event;
    struct fby_queued_event *next;
};

struct fby_stages {
    struct fby_stages_config config;
    struct fby_backlog      *backlog;
    struct fby_memory       *fetch_memory;
    struct fby_memory       *encode_memory;
    struct fby_shared_quota *quota; /* scratch memory that transformers share */
    struct fby_stage        *fetch;
    struct fby_stage        *transform;
    struct fby_stage        *encode;
    struct fby_transformer  *transformers; /* one for each transform thread */
    struct fby_codec_scratch *encode_scratch; /* one for each encode thread */
    struct fby_wakeup         wakeup;         /* sent for each event */
    pthread_mutex_t           lock; /* guards first_event, events_end */
    struct fby_queued_event  *first_event;
    struct fby_queued_event **events_end; /* the NULL link after the last one */
    atomic_uint_fast64_t      fetched_bytes; /* see struct fby_stages_counts */
    atomic_uint_fast64_t      substituted;
};

/* The functions that each stage calls (common/stage.h). `context` is the
 * struct fby_stages. `item` is a task, or in the encode stage a struct
 * fby_encode_item. */
fby_err fby_fetch_task(void *context, uint32_t thread, void *item);
fby_err fby_transform_task(void *context, uint32_t thread, void *item);
fby_err fby_encode_one(void *context, uint32_t thread, void *item);

/* Make all rows of a run, if needed from substitutes, and free the task. If
 * this returns an error, it has called fby_stages_fail_job. */
fby_err fby_transform_run_of_rows(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task);

/* Record that the task's `rows` rows are written: queue the chunks that are now
 * complete for the encode stage, and free the task. */
void fby_transform_finish_rows(
    struct fby_stages *self, struct fby_task *task, uint32_t rows);

/* Record that the task's row has a substitute.
 * Errors: FBY_BAD_SAMPLE  too many rows have substitutes. */
FBY_CHECKED fby_err fby_transform_record_substitute(struct fby_stages *self,
    const struct fby_task *task, struct fby_error_detail *why);

/* Queue an event for the loop, with a reference to `job`. `chunk` is an encoded
 * chunk; NULL: the job failed. Thread: any. */
void fby_stages_post_event(
    struct fby_stages *self, struct fby_job *job, struct fby_job_chunk *chunk);

struct fby_task_clock { /* when a stage began to work on a task */
    int64_t now_ns, cpu_ns;
};
static inline struct fby_task_clock fby_task_clock_start(void)
{
    return (struct fby_task_clock){fby_now_ns(), fby_thread_cpu_ns()};
}
/* Add the time since then to `stage_ns` of the task's job, and the CPU time to
 * the task and its job. Thread: the one that started the clock. */
static inline void fby_task_clock_stop(const struct fby_task_clock *start,
    struct fby_task *task, atomic_uint_fast64_t *stage_ns)
{
    int64_t cpu_ns = fby_thread_cpu_ns() - start->cpu_ns;
    atomic_fetch_add(stage_ns, (uint64_t)(fby_now_ns() - start->now_ns));
    atomic_fetch_add(&task->job->cpu_ns, (uint64_t)cpu_ns);
    task->cpu_ns += cpu_ns;
}

/* Free the task and its memory. */
void fby_stages_free_task(struct fby_stages *self, struct fby_task *task);

/* Fail the task's job, because a row cannot be made, for the reason `err` and
 * `why`. Post an event if the job was not aborted before, and free the task.
 * `member` is the member that was being read, or NULL. */
void fby_stages_fail_job(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err,
    const struct fby_error_detail *why);

/* Set task->sample to the next substitute, because the row's sample was refused
 * for the reason `err` and `why`. Returns false if the row gets no substitute.
 * If all substitutes have been tried, `why` is changed to say so. */
bool fby_stages_choose_substitute(struct fby_task *task,
    const struct fby_member *member, fby_err err, struct fby_error_detail *why);

/* Handle a sample that cannot be used. If `err` is FBY_BAD_SAMPLE and the
 * content allows substitutes, queue the task again with the next substitute;
 * otherwise call fby_stages_fail_job. Always returns `err`, so that the stage
 * counts a failed task. */
fby_err fby_stages_retry_or_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err,
    const struct fby_error_detail *why);

#endif
