/* backlog.h - which row is fetched next.
 *
 * Jobs wait here, and a fetching thread takes one row at a time, or one run. A
 * job that was begun is finished first; then streams (one dataset and seed)
 * take turns, and within a stream the lowest step goes first. So a batch that a
 * trainer waits for overtakes the later ones, and no trainer overtakes another
 * for long. A fixed number of tasks bounds the work in flight. Any thread. */
#ifndef FBY_WORKER_STAGES_BACKLOG_H
#define FBY_WORKER_STAGES_BACKLOG_H

#include "worker/stages/job.h"
#include "worker/stages/memory.h"

struct fby_task_part { /* one field's member in the task's block */
    size_t            offset, size;
    uint32_t          class_id;
    struct fby_member member; /* when has_member */
    bool              has_member;
    bool              is_stack; /* sizes of several members, then these */
};

struct fby_task { /* a row, or a run, on its way through the stages */
    struct fby_job         *job; /* held */
    uint32_t                row;
    uint32_t                rows;        /* from there on; of a run */
    uint32_t                substitutes; /* tried so far */
    uint64_t                sample;  /* to fetch: the row's, or a substitute */
    struct fby_why          refused; /* why the row's own was */
    struct fby_memory_block block;   /* fetched bytes */
    struct fby_task_part    parts[FBY_MAX_FIELDS]; /* of the chosen fields */
    struct fby_task        *next;                  /* the backlog's */
};

struct fby_backlog;

struct fby_backlog *fby_backlog_create(uint32_t tasks);
/* Nobody may be inside; lets go of the jobs that wait. */
void fby_backlog_destroy(struct fby_backlog **self_p);

/* Let `job` wait for its rows to be fetched; holds it until all are taken. */
void fby_backlog_add(struct fby_backlog *self, struct fby_job *job);

/* Let go of jobs that ended while they waited. */
void fby_backlog_sweep(struct fby_backlog *self);

/* The next row or run, waiting for one and for a free task.
 * Errors: FBY_GONE the backlog was closed. */
FBY_CHECKED fby_err fby_backlog_next(
    struct fby_backlog *self, struct fby_task **out);

/* Fetch this task again, before all others. */
void fby_backlog_retry(struct fby_backlog *self, struct fby_task *task);

/* The task is done: lets go of its job. */
void fby_backlog_done(struct fby_backlog *self, struct fby_task *task);

/* Rows of it that wait. */
uint64_t fby_backlog_rows(struct fby_backlog *self);

void fby_backlog_close(struct fby_backlog *self);

#endif
