/* SPDX-License-Identifier: Apache-2.0 */
/* backlog.c - a list of jobs and a fixed array of tasks, under one lock. */
#include "worker/stages/backlog.h"

#include <stdlib.h>

#include "common/mem.h"
#include "worker/stages/fair_share.h"

struct fby_backlog {
    pthread_mutex_t       lock;       /* guards all below */
    pthread_cond_t        changed;    /* must_wait may have become false */
    struct fby_job       *jobs;       /* list of jobs that have rows to take */
    struct fby_task      *retries;    /* list of tasks to fetch again */
    struct fby_task      *free_tasks; /* list */
    struct fby_task      *tasks;      /* the array of all tasks */
    uint64_t              last_turn; /* highest turn given to a stream so far */
    struct fby_fair_share share;     /* CPU time of the streams */
    bool                  closed;
};

struct fby_backlog *fby_backlog_create(uint32_t tasks)
{
    struct fby_backlog *self = fby_zalloc(sizeof(*self));
    self->tasks              = fby_zalloc(tasks * sizeof(*self->tasks));
    for (uint32_t i = 0; i < tasks; i++) {
        self->tasks[i].next = self->free_tasks;
        self->free_tasks    = &self->tasks[i];
    }
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    return self;
}

void fby_backlog_destroy(struct fby_backlog **self_p)
{
    struct fby_backlog *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    while (self->jobs != NULL) {
        struct fby_job *next = self->jobs->next_waiting;
        fby_job_release(&self->jobs);
        self->jobs = next;
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self->tasks);
    free(self);
}

/* ---- The order of jobs --------------------------------------------------- */

static bool same_stream(const struct fby_job *a, const struct fby_job *b)
{
    return a->spec.dataset_plan == b->spec.dataset_plan &&
           a->spec.seed == b->spec.seed;
}

/* The order of two jobs of one stream, or of streams that used as much CPU time:
 * a started job, then by turn, then by position. */
static bool comes_before_in_turn(
    const struct fby_job *a, const struct fby_job *b)
{
    if ((a->next_row > 0) != (b->next_row > 0)) {
        return a->next_row > 0;
    }
    if (a->turn != b->turn) {
        return a->turn < b->turn;
    }
    if (a->spec.epoch != b->spec.epoch) {
        return a->spec.epoch < b->spec.epoch;
    }
    if (a->spec.step != b->spec.step) {
        return a->spec.step < b->spec.step;
    }
    return a->spec.first_row < b->spec.first_row;
}

/* Put the stream of `started` behind the others: its jobs get the last turn. */
static void move_stream_to_end(
    struct fby_backlog *self, const struct fby_job *started)
{
    self->last_turn++;
    for (struct fby_job *job = self->jobs; job != NULL;
         job                 = job->next_waiting) {
        if (same_stream(job, started)) {
            job->turn = self->last_turn;
        }
    }
}

/* Return the turn of the stream of `added`, or a new turn if the stream has no
 * job in the list. */
static uint64_t find_or_add_turn(
    struct fby_backlog *self, const struct fby_job *added)
{
    struct fby_job *job = self->jobs;
    while (job != NULL && !same_stream(job, added)) {
        job = job->next_waiting;
    }
    if (job == NULL) {
        fby_fair_share_begin(&self->share, added->stream);
    }
    return job != NULL ? job->turn : ++self->last_turn;
}

/* A started job goes on until its stream has used much more CPU time than that
 * of another job. Otherwise the stream that used least comes first. */
static bool comes_before(const struct fby_job *a, const struct fby_job *b)
{
    const struct fby_fair_stream *of_a = a->stream;
    const struct fby_fair_stream *of_b = b->stream;
    bool a_goes_on = a->next_row > 0 && fby_fair_share_goes_on(of_a, of_b);
    bool b_goes_on = b->next_row > 0 && fby_fair_share_goes_on(of_b, of_a);
    if (of_a == of_b || of_a->used_ns == of_b->used_ns ||
        (a_goes_on && b_goes_on)) {
        return comes_before_in_turn(a, b);
    }
    return a_goes_on || (!b_goes_on && of_a->used_ns < of_b->used_ns);
}

static struct fby_job *first_job(const struct fby_backlog *self)
{
    struct fby_job *first = self->jobs;
    struct fby_job *job   = first != NULL ? first->next_waiting : NULL;
    for (; job != NULL; job = job->next_waiting) {
        first = comes_before(job, first) ? job : first;
    }
    return first;
}

/* ---- Adding and removing jobs -------------------------------------------- */

static void unlink_job(struct fby_backlog *self, struct fby_job *job)
{
    struct fby_job **link = &self->jobs;
    while (*link != job) {
        link = &(*link)->next_waiting;
    }
    *link = job->next_waiting;
}

void fby_backlog_add_job(struct fby_backlog *self, struct fby_job *job)
{
    pthread_mutex_lock(&self->lock);
    fby_job_hold(job);
    job->stream = fby_fair_share_stream(
        &self->share, job->spec.dataset_plan, job->spec.seed);
    job->turn         = find_or_add_turn(self, job);
    job->next_waiting = self->jobs;
    self->jobs        = job;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_backlog_remove_aborted(struct fby_backlog *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_job **link = &self->jobs;
    while (*link != NULL) {
        struct fby_job *job = *link;
        if (fby_job_is_aborted(job)) {
            *link = job->next_waiting;
            fby_job_release(&job);
        } else {
            link = &job->next_waiting;
        }
    }
    pthread_mutex_unlock(&self->lock);
}

uint64_t fby_backlog_count_rows(struct fby_backlog *self)
{
    uint64_t rows = 0;
    pthread_mutex_lock(&self->lock);
    for (struct fby_job *job = self->jobs; job != NULL;
         job                 = job->next_waiting) {
        rows += job->spec.rows - job->next_row;
    }
    pthread_mutex_unlock(&self->lock);
    return rows;
}

/* ---- Tasks --------------------------------------------------------------- */

static struct fby_task *pop_task(struct fby_task **list)
{
    struct fby_task *task = *list;
    *list                 = task->next;
    task->next            = NULL;
    return task;
}

/* Take the next rows of `job`; `free_tasks` must not be empty. */
static struct fby_task *take_rows(struct fby_backlog *self, struct fby_job *job)
{
    uint32_t         rows_left = job->spec.rows - job->next_row;
    struct fby_task *task      = pop_task(&self->free_tasks);
    if (job->next_row == 0) {
        move_stream_to_end(self, job);
    }
    *task = (struct fby_task){.job = fby_job_hold(job),
        .row                       = job->next_row,
        .rows   = rows_left < job->run_rows ? rows_left : job->run_rows,
        .sample = job->samples[job->next_row]};
    task->expected_ns =
        fby_fair_share_take(&self->share, job->stream, task->rows);
    job->next_row += task->rows;
    if (job->next_row == job->spec.rows) {
        unlink_job(self, job);
        fby_job_release(&job);
    }
    return task;
}

/* A row needs a free task; a task to be fetched again does not. */
static bool must_wait(const struct fby_backlog *self)
{
    bool can_take_rows = self->jobs != NULL && self->free_tasks != NULL;
    return !self->closed && self->retries == NULL && !can_take_rows;
}

fby_err fby_backlog_take_task(struct fby_backlog *self, struct fby_task **out)
{
    fby_err err = FBY_OK;
    pthread_mutex_lock(&self->lock);
    while (must_wait(self)) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    struct fby_job *job = first_job(self);
    if (self->retries != NULL) { /* also after the close, to be freed */
        *out = pop_task(&self->retries);
    } else if (!self->closed && job != NULL) {
        *out = take_rows(self, job);
    } else {
        err = FBY_GONE;
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

void fby_backlog_retry_task(struct fby_backlog *self, struct fby_task *task)
{
    pthread_mutex_lock(&self->lock);
    task->next    = self->retries;
    self->retries = task;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void fby_backlog_charge(
    struct fby_backlog *self, struct fby_job *job, int64_t cpu_ns)
{
    pthread_mutex_lock(&self->lock);
    fby_fair_share_made(job->stream, 0, 0, cpu_ns);
    pthread_mutex_unlock(&self->lock);
}

void fby_backlog_free_task(struct fby_backlog *self, struct fby_task *task)
{
    struct fby_job *job = task->job;
    pthread_mutex_lock(&self->lock);
    fby_fair_share_made(
        job->stream, task->rows, task->expected_ns, task->cpu_ns);
    task->next       = self->free_tasks;
    self->free_tasks = task;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    fby_job_release(&job);
}

void fby_backlog_close(struct fby_backlog *self)
{
    pthread_mutex_lock(&self->lock);
    self->closed = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}
