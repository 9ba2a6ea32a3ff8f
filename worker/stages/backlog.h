/* backlog.h - the queue of rows to fetch, and their order.
 *
 * Jobs wait here; a fetch thread takes one row at a time, or one run of rows. A
 * job that was started is finished first. Then streams (one dataset and seed)
 * take turns, and within a stream the lowest step goes first. So the batch that
 * a trainer needs next comes before its later ones, and no trainer delays
 * another for long. A fixed number of tasks bounds the work in flight.
 * Thread: any. */
#ifndef FBY_WORKER_STAGES_BACKLOG_H
#define FBY_WORKER_STAGES_BACKLOG_H

#include "worker/stages/job.h"
#include "worker/stages/memory.h"

struct fby_task_part { /* one field's member in the task's block */
    size_t            offset, size;
    uint32_t          class_id;
    struct fby_member member; /* when has_member */
    bool              has_member;
    bool              is_stack; /* sizes of several members, then their bytes */
};

struct fby_task {                /* a row, or a run of rows, in the stages */
    struct fby_job         *job; /* held */
    uint32_t                row;
    uint32_t                rows;        /* in the run; else 1 */
    uint32_t                substitutes; /* tried so far */
    uint64_t                sample;  /* to fetch: the row's, or a substitute */
    struct fby_why          refused; /* why the row's own sample was */
    struct fby_memory_block block;   /* fetched bytes */
    struct fby_task_part    parts[FBY_MAX_FIELDS]; /* of the chosen fields */
    struct fby_task        *next;                  /* the backlog's */
};

struct fby_backlog;

/* An empty backlog with `tasks` free tasks. */
struct fby_backlog *fby_backlog_create(uint32_t tasks);

/* Release the jobs that wait, and destroy *self_p. No thread may be in another
 * call. NULL is fine. */
void fby_backlog_destroy(struct fby_backlog **self_p);

/* Queue `job`; hold it until all of its rows are taken. */
void fby_backlog_add(struct fby_backlog *self, struct fby_job *job);

/* Release jobs that ended while they waited. */
void fby_backlog_sweep(struct fby_backlog *self);

/* Take the next row or run.
 * Blocks: until there is one, and a free task.
 * Errors: FBY_GONE  the backlog was closed. */
FBY_CHECKED fby_err fby_backlog_next(
    struct fby_backlog *self, struct fby_task **out);

/* Queue a task to be fetched again, before all others. */
void fby_backlog_retry(struct fby_backlog *self, struct fby_task *task);

/* Free a task that is done, and release its job. */
void fby_backlog_done(struct fby_backlog *self, struct fby_task *task);

/* The number of rows that wait. */
uint64_t fby_backlog_rows(struct fby_backlog *self);

/* Wake all threads that wait in fby_backlog_next. */
void fby_backlog_close(struct fby_backlog *self);

#endif
