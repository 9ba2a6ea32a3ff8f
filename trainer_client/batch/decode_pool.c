/* SPDX-License-Identifier: Apache-2.0 */
/* decode_pool.c - the decode threads are a stage (common/stage.h): threads with
 * a bounded queue, which call run_task for each task. */
#include "trainer_client/batch/decode_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/stage.h"
#include "trainer_client/batch/digest.h"

struct fby_decode_pool {
    const struct fby_setup   *setup;
    struct fby_gpu_upload    *upload;
    struct fby_ready_queue   *ready_queue;
    struct fby_stage         *stage;
    struct fby_wakeup         wakeup;
    struct fby_codec_scratch *scratch; /* one per thread */
    uint8_t            *chunk_buffers; /* FBY_CHUNK_RAW bytes per thread; NULL:
                                            no field expands by chunk */
    struct fby_ops_row *params;    /* random parameters: max_rows per thread;
                                           NULL: no field has device ops */
    struct fby_decode_task *spare; /* list; receiver's thread only */
    uint32_t        n_submitted;   /* not taken back; receiver's thread only */
    pthread_mutex_t lock;          /* guards `finished`, `finished_end` */
    struct fby_decode_task  *finished;     /* list, oldest first */
    struct fby_decode_task **finished_end; /* to the NULL that ends the list */
    atomic_int_fast64_t      decode_ns;    /* see fby_decode_pool_counts */
    atomic_int_fast64_t      expand_ns;
    atomic_uint_fast64_t     corrupt;
};

/* ---- on the decode threads ----------------------------------------------- */

static void run_chunk_task(
    struct fby_decode_pool *self, uint32_t thread, struct fby_decode_task *task)
{
    int64_t start_ns = fby_now_ns();
    bool    verify   = self->setup->verify_decoded;
    task->ok = task->keeps ? fby_chunk_job_check(&task->job, &task->frame,
                                 &self->scratch[thread], verify)
                           : fby_chunk_job_decode(&task->job, &task->frame,
                                 &self->scratch[thread], verify);
    if (!task->keeps) {
        zmq_msg_close(&task->frame);
        zmq_msg_init(&task->frame);
    }
    atomic_fetch_add(&self->corrupt, task->ok ? 0U : 1U);
    atomic_fetch_add(&self->decode_ns, fby_now_ns() - start_ns);
}

static void run_batch_task(
    struct fby_decode_pool *self, uint32_t thread, struct fby_decode_task *task)
{
    const struct fby_setup    *setup    = self->setup;
    struct forebay_batch      *batch    = task->input.batch;
    struct fby_error_detail    why      = {""};
    int64_t                    start_ns = fby_now_ns();
    const struct fby_batch_job job      = {
             .setup   = setup,
             .upload  = self->upload,
             .scratch = &self->scratch[thread],
             .chunk_buffer =
            self->chunk_buffers == NULL
                     ? NULL
                     : self->chunk_buffers + (size_t)thread * FBY_CHUNK_RAW,
             .params = self->params == NULL
                           ? NULL
                           : self->params + (size_t)thread * setup->max_rows,
             .input  = &task->input,
    };
    fby_err err        = fby_make_batch(&job, &why);
    batch->has_digests = false;
    if (err == FBY_OK && setup->digests) {
        fby_batch_compute_digests(setup, &task->input);
    }
    fby_request_slot_clear(task->input.request_slot);
    atomic_fetch_add(&self->expand_ns, fby_now_ns() - start_ns);
    fby_ready_queue_mark_done(self->ready_queue, batch, err, &why);
}

/* Run a task on decode thread `thread`, and append it to the finished ones. */
static fby_err run_task(void *context, uint32_t thread, void *item)
{
    struct fby_decode_pool *self = context;
    struct fby_decode_task *task = item;
    if (task->kind == FBY_TASK_DECODE_CHUNK) {
        run_chunk_task(self, thread, task);
    } else {
        run_batch_task(self, thread, task);
    }
    pthread_mutex_lock(&self->lock);
    bool was_empty      = self->finished == NULL;
    *self->finished_end = task;
    self->finished_end  = &task->next;
    pthread_mutex_unlock(&self->lock);
    if (was_empty) { /* else the wakeup of an earlier task is enough */
        fby_wakeup_send(&self->wakeup);
    }
    return FBY_OK; /* a failure is in the task or the batch */
}

/* Allocate what the threads need for some kinds of fields. */
static void allocate_for_threads(struct fby_decode_pool *self)
{
    const struct fby_setup *setup   = self->setup;
    const size_t            threads = setup->decode_threads;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        if (setup->expansions[i].ops_field != NULL && self->params == NULL) {
            self->params =
                fby_zalloc(threads * setup->max_rows * sizeof(*self->params));
        }
        if (fby_setup_expands_by_chunk(setup, i) &&
            self->chunk_buffers == NULL) {
            self->chunk_buffers = fby_zalloc(threads * FBY_CHUNK_RAW);
        }
    }
}

/* ---- on the receiver's thread -------------------------------------------- */

fby_err fby_decode_pool_create(const struct fby_setup *setup,
    struct fby_gpu_upload *upload, struct fby_ready_queue *ready_queue,
    struct fby_decode_pool **out)
{
    struct fby_decode_pool *self = fby_zalloc(sizeof(*self));
    self->setup                  = setup;
    self->upload                 = upload;
    self->ready_queue            = ready_queue;
    self->wakeup                 = fby_wakeup_open();
    self->finished_end           = &self->finished;
    pthread_mutex_init(&self->lock, NULL);
    self->scratch = aligned_alloc(_Alignof(struct fby_codec_scratch),
        setup->decode_threads * sizeof(*self->scratch));
    const struct fby_stage_config config = {
        .name     = "fby-decode",
        .threads  = setup->decode_threads,
        .capacity = FBY_DECODE_QUEUE + setup->decode_threads,
        .run      = run_task,
        .context  = self,
    };
    allocate_for_threads(self);
    if (self->wakeup.fd < 0 || self->scratch == NULL ||
        fby_stage_create(&config, &self->stage) != FBY_OK) {
        fby_decode_pool_destroy(&self);
        return FBY_SYS;
    }
    *out = self;
    return FBY_OK;
}

void fby_decode_pool_destroy(struct fby_decode_pool **self_p)
{
    struct fby_decode_pool *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_stage_destroy(&self->stage);
    struct fby_decode_task *task = fby_decode_pool_take_finished(self);
    for (; task != NULL; task = fby_decode_pool_take_finished(self)) {
        fby_decode_pool_recycle(self, task);
    }
    while (self->spare != NULL) {
        task        = self->spare;
        self->spare = task->next;
        free(task);
    }
    fby_wakeup_close(&self->wakeup);
    pthread_mutex_destroy(&self->lock);
    free(self->scratch);
    free(self->chunk_buffers);
    free(self->params);
    free(self);
}

struct fby_decode_task *fby_decode_pool_new_task(struct fby_decode_pool *self)
{
    struct fby_decode_task *task = self->spare;
    if (task == NULL) {
        return fby_zalloc(sizeof(*task));
    }
    self->spare = task->next;
    *task       = (struct fby_decode_task){0};
    return task;
}

bool fby_decode_pool_has_room(const struct fby_decode_pool *self)
{
    return self->n_submitted < FBY_DECODE_QUEUE + self->setup->decode_threads;
}

void fby_decode_pool_submit(
    struct fby_decode_pool *self, struct fby_decode_task *task)
{
    self->n_submitted++;
    fby_err err = fby_stage_push(self->stage, task);
    (void)err; /* the push fails only after destroy: then no task comes */
}

struct fby_decode_task *fby_decode_pool_take_finished(
    struct fby_decode_pool *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_decode_task *task = self->finished;
    if (task != NULL) {
        self->finished = task->next;
        if (self->finished == NULL) {
            self->finished_end = &self->finished;
        }
    }
    pthread_mutex_unlock(&self->lock);
    self->n_submitted -= task != NULL ? 1 : 0;
    return task;
}

void fby_decode_pool_recycle(
    struct fby_decode_pool *self, struct fby_decode_task *task)
{
    if (task->kind == FBY_TASK_DECODE_CHUNK) {
        zmq_msg_close(&task->frame);
    }
    task->next  = self->spare;
    self->spare = task;
}

const struct fby_wakeup *fby_decode_pool_wakeup(
    const struct fby_decode_pool *self)
{
    return &self->wakeup;
}

struct fby_decode_pool_counts fby_decode_pool_counts(
    struct fby_decode_pool *self)
{
    return (struct fby_decode_pool_counts){
        .decode_ns = atomic_load(&self->decode_ns),
        .expand_ns = atomic_load(&self->expand_ns),
        .corrupt   = atomic_load(&self->corrupt),
    };
}
