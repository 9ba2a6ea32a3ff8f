/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.h - the queue of rows to fetch, and their order.
 *
 * Jobs (batches in work) wait in the backlog. A fetch thread takes one row at a
 * time as a task. From a source of columns or tokens it takes a run: several
 * rows that are made together, one column after another. The streams (all jobs
 * of one dataset and seed) share the CPU time (fair_share.h): the one that used
 * least goes next, and streams that used as much take turns by batches. Within
 * a stream a started job is finished first, then the lowest step goes first. So
 * the batch that a trainer needs next comes before later batches, and a stream
 * of costly rows does not delay one of cheap rows. The number of tasks is
 * fixed, which bounds the work in flight.
 * Thread: any. */
#ifndef FBY_WORKER_STAGES_BACKLOG_H
#define FBY_WORKER_STAGES_BACKLOG_H

#include "worker/stages/job.h"
#include "worker/stages/memory.h"

struct fby_task_input { /* the fetched bytes of one field in the task's block */
    size_t            offset, size; /* where the bytes are in the block */
    uint32_t          class_id; /* if the field's value is the sample's class
                                   folder: its number; else 0 */
    struct fby_member member;   /* valid if has_member; of a stack: read last */
    bool              has_member;
    bool              is_stack; /* the bytes are those of several members:
                                   first all sizes, then the contents
                                   (worker/transform/stack.c) */
};

struct fby_task {                /* a row, or a run of rows, in the stages */
    struct fby_job         *job; /* with a reference */
    uint32_t                row; /* its index in the job; of a run, the first */
    uint32_t                rows;        /* number of rows of the run; else 1 */
    int64_t                 expected_ns; /* CPU time charged when taken */
    int64_t                 cpu_ns;      /* CPU time used so far */
    uint32_t                substitutes; /* number tried so far for the row */
    uint64_t                sample;  /* number of the row's own sample, or of
                                        its substitute */
    struct fby_error_detail refusal; /* why the row's own sample is not used */
    struct fby_memory_block block;   /* fetched bytes of all inputs; size 0
                                        before they are fetched */
    struct fby_task_input   inputs[FBY_MAX_FIELDS]; /* [chosen field] */
    struct fby_member       refused_mask; /* of several, or of a wrong size */
    struct fby_task        *next; /* in the list of free tasks or of retries */
};

struct fby_backlog;

/* Create an empty backlog with `tasks` free tasks. */
struct fby_backlog *fby_backlog_create(uint32_t tasks);

/* Release the jobs that wait, and destroy *self_p. No thread may be in another
 * call. NULL is allowed. */
void fby_backlog_destroy(struct fby_backlog **self_p);

/* Queue `job`. The backlog has a reference to it until its rows are taken. */
void fby_backlog_add_job(struct fby_backlog *self, struct fby_job *job);

/* Remove the jobs that were aborted, and release them. */
void fby_backlog_remove_aborted(struct fby_backlog *self);

/* Take the next row or run, as a task that the caller frees with
 * fby_backlog_free_task.
 * Blocks: until a row waits and a task is free.
 * Errors: FBY_GONE  the backlog was closed, and there is no task to retry. */
FBY_CHECKED fby_err fby_backlog_take_task(
    struct fby_backlog *self, struct fby_task **out);

/* Queue a task to be fetched again, before the rows of waiting jobs. */
void fby_backlog_retry_task(struct fby_backlog *self, struct fby_task *task);

/* Charge CPU time to the stream of `job`, beside that of its tasks. */
void fby_backlog_charge(
    struct fby_backlog *self, struct fby_job *job, int64_t cpu_ns);

/* Free a task: charge its CPU time to its stream, and drop its reference to the
 * job. */
void fby_backlog_free_task(struct fby_backlog *self, struct fby_task *task);

/* The number of rows that no task has taken. */
uint64_t fby_backlog_count_rows(struct fby_backlog *self);

/* Let fby_backlog_take_task return only tasks that are to be fetched again, and
 * FBY_GONE once there are none. */
void fby_backlog_close(struct fby_backlog *self);

#endif
