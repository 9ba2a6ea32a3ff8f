/* state.h - what the files of the stages share.
 *
 * stages.c builds and joins them, fetch.c reads members, transform_row.c makes
 * values of them (substitutes included), transform_run.c those of rows of
 * columns, encode.c makes chunks sendable. */
#ifndef FBY_WORKER_STAGES_STATE_H
#define FBY_WORKER_STAGES_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "codec/codec.h"
#include "worker/stages/backlog.h"
#include "worker/stages/stages.h"
#include "worker/transform/field.h"

/* Bytes that encoding a chunk may take: what needs more is not encoded. */
#define FBY_ENCODE_ROOM(raw_bytes) (2 * (size_t)(raw_bytes))

struct fby_transformer { /* one transform thread's */
    struct fby_transform *transform;
    struct fby_run       *run;
    bool                  bad[FBY_RUN_ROWS];        /* rows of the run */
    struct fby_cost       reported[FBY_STAGES_OPS]; /* counted already */
};

struct fby_ready_event {
    struct fby_stages_event event;
    struct fby_ready_event *next;
};

struct fby_stages {
    struct fby_stages_config  config;
    struct fby_backlog       *backlog;
    struct fby_memory        *fetch_memory;
    struct fby_memory        *encode_memory;
    struct fby_shared_quota  *quota; /* of the transformers */
    struct fby_stage         *fetch;
    struct fby_stage         *transform;
    struct fby_stage         *encode;
    struct fby_transformer   *transformers;
    struct fby_codec_scratch *scratch; /* one an encode thread */
    int                       event_fd;
    pthread_mutex_t           lock; /* guards the two below */
    struct fby_ready_event   *first;
    struct fby_ready_event  **last;
    atomic_uint_fast64_t      fetched_bytes;
    atomic_uint_fast64_t      substituted;
    atomic_uint_fast64_t      op_calls[FBY_STAGES_OPS];
    atomic_int_fast64_t       op_cpu_ns[FBY_STAGES_OPS];
};

fby_err fby_fetch_task(void *context, uint32_t thread, void *item);
fby_err fby_transform_task(void *context, uint32_t thread, void *item);
fby_err fby_encode_chunk(void *context, uint32_t thread, void *item);

/* Make all rows of a run of columns (transform_run.c), substitutes included.
 * Errors: of a row; the job was ended then, and the task finished. */
fby_err fby_transform_run_of_rows(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task);

/* The rows are written: chunks go on, and the task is finished. */
void fby_transform_done(
    struct fby_stages *self, struct fby_task *task, uint32_t rows);

/* Note that the task's row has a substitute.
 * Errors: FBY_BAD_SAMPLE too many have one. */
FBY_CHECKED fby_err fby_transform_record_substitute(
    struct fby_stages *self, const struct fby_task *task, struct fby_why *why);

/* Tell the loop. `chunk` may be NULL; holds the job. Any thread. */
void fby_stages_post(
    struct fby_stages *self, struct fby_job *job, struct fby_job_chunk *chunk);

/* Give back what the task has and the task itself. */
void fby_stages_finish(struct fby_stages *self, struct fby_task *task);

/* The row cannot be made, because `err` and `why`: end the job, which is reported
 * of once, and finish the task. `member` is what was at work, or NULL. */
void fby_stages_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err, const struct fby_why *why);

/* Make task->sample the next substitute of the row, after `err` and `why`.
 * False when there is to be none; `why` then says so, if there were too
 * many. */
bool fby_stages_substitute(struct fby_task *task,
    const struct fby_member *member, fby_err err, struct fby_why *why);

/* It cannot be made of this sample: after FBY_BAD_SAMPLE, where the content
 * wants a substitute, the next one is fetched; else as above. Returns `err`. */
fby_err fby_stages_retry_or_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err, const struct fby_why *why);

#endif
