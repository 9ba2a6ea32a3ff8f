/* state.h - the state that the files of the stages share.
 *
 * stages.c creates and connects the stages, fetch.c reads members,
 * transform_row.c makes rows of values from them, transform_run.c makes runs of
 * rows from columns, encode.c encodes chunks. */
#ifndef FBY_WORKER_STAGES_STATE_H
#define FBY_WORKER_STAGES_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "codec/codec.h"
#include "worker/stages/backlog.h"
#include "worker/stages/stages.h"
#include "worker/transform/field.h"

/* Memory to encode a chunk in, at most; a chunk that needs more is stored. */
#define FBY_ENCODE_ROOM(raw_bytes) (2 * (size_t)(raw_bytes))

struct fby_transformer { /* state of one transform thread */
    struct fby_transform *transform;
    struct fby_run       *run;
    bool                  bad[FBY_RUN_ROWS];        /* rows of the run */
    struct fby_cost       reported[FBY_STAGES_OPS]; /* already counted */
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

/* The work of each stage (common/stage.h): `context` is the fby_stages, `item`
 * a task, for the encode stage a chunk. */
fby_err fby_fetch_task(void *context, uint32_t thread, void *item);
fby_err fby_transform_task(void *context, uint32_t thread, void *item);
fby_err fby_encode_chunk(void *context, uint32_t thread, void *item);

/* Make all rows of a run of columns, substitutes included, and finish the task.
 * Errors: those of a row; the job was ended. */
fby_err fby_transform_run_of_rows(struct fby_stages *self,
    struct fby_transformer *transformer, struct fby_task *task);

/* `rows` rows are written: queue the complete chunks and finish the task. */
void fby_transform_done(
    struct fby_stages *self, struct fby_task *task, uint32_t rows);

/* Record that the task's row has a substitute.
 * Errors: FBY_BAD_SAMPLE  too many rows have one. */
FBY_CHECKED fby_err fby_transform_record_substitute(
    struct fby_stages *self, const struct fby_task *task, struct fby_why *why);

/* Queue an event for the loop, which holds `job`. `chunk` is encoded; NULL: the
 * job failed. Thread: any. */
void fby_stages_post(
    struct fby_stages *self, struct fby_job *job, struct fby_job_chunk *chunk);

/* Return the task's memory and the task itself. */
void fby_stages_finish(struct fby_stages *self, struct fby_task *task);

/* End the job of a row that cannot be made because of `err` and `why`, post one
 * event for that, and finish the task. `member` is the one in use, or NULL. */
void fby_stages_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err, const struct fby_why *why);

/* After `err` and `why`: set task->sample to the next substitute of the row.
 * False: the row gets no substitute; `why` is replaced if it had too many. */
bool fby_stages_substitute(struct fby_task *task,
    const struct fby_member *member, fby_err err, struct fby_why *why);

/* Handle a sample that cannot be used. After FBY_BAD_SAMPLE, if the content
 * allows substitutes, fetch the next one; else call fby_stages_fail. Returns
 * `err`. */
fby_err fby_stages_retry_or_fail(struct fby_stages *self, struct fby_task *task,
    const struct fby_member *member, fby_err err, const struct fby_why *why);

#endif
