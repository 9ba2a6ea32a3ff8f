#include "trainer_client/batch/unpack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/stage.h"
#include "trainer_client/batch/digest.h"
#include "trainer_client/batch/make_batch.h"

struct fby_unpack {
    const struct fby_setup   *setup;
    struct fby_gpu_upload    *upload;
    struct fby_ready_queue   *ready_queue;
    struct fby_stage         *stage;
    struct fby_wakeup         wakeup;
    struct fby_codec_scratch *scratch; /* one per thread */
    struct fby_ops_row       *draws;   /* max_rows per thread; NULL: no ops */
    struct fby_unpack_task   *spare;   /* receiver's thread */
    pthread_mutex_t           lock;
    struct fby_unpack_task   *finished; /* lock */
    struct fby_unpack_task  **tail;     /* lock */
    atomic_int_fast64_t       decode_ns;
    atomic_int_fast64_t       expand_ns;
    atomic_uint_fast64_t      corrupt;
};

/* ---- on the decode threads ----------------------------------------------- */

static bool decode(struct fby_unpack *self, uint32_t thread,
    const struct fby_unpack_task *task, const uint8_t *frame)
{
    const struct fby_chunk    *chunk = &task->chunk;
    const struct fby_codec_job job   = {
          .coding  = {.filter = chunk->filter, .codec = chunk->codec},
          .params  = task->params,
          .scratch = &self->scratch[thread],
    };
    const struct fby_bytes_in payload = {
        .data = frame + FBY_CHUNK_PREFIX,
        .size = chunk->wire_bytes,
    };
    if (!fby_request_slot_fill(&job, payload, chunk, task->packed, task->raw)) {
        return false;
    }
    return !self->setup->verify_decoded ||
           fby_xxh64(task->raw, chunk->raw_bytes) == chunk->raw_hash;
}

static void unpack_chunk(
    struct fby_unpack *self, uint32_t thread, struct fby_unpack_task *task)
{
    int64_t        begun_ns = fby_now_ns();
    const uint8_t *frame    = zmq_msg_data(&task->frame);
    size_t         size     = zmq_msg_size(&task->frame);
    task->ok =
        fby_chunk_intact(frame, size) && decode(self, thread, task, frame);
    zmq_msg_close(&task->frame);
    atomic_fetch_add(&self->corrupt, task->ok ? 0U : 1U);
    atomic_fetch_add(&self->decode_ns, fby_now_ns() - begun_ns);
}

static void unpack_batch(
    struct fby_unpack *self, uint32_t thread, struct fby_unpack_task *task)
{
    const struct fby_setup      *setup    = self->setup;
    struct fby_why               why      = {""};
    int64_t                      begun_ns = fby_now_ns();
    const struct fby_batch_maker maker    = {
           .setup   = setup,
           .upload  = self->upload,
           .scratch = &self->scratch[thread],
           .draws   = self->draws == NULL
                          ? NULL
                          : self->draws + (size_t)thread * setup->max_rows,
    };
    const struct fby_batch_input input = {
        .batch  = task->batch,
        .from   = task->from,
        .slot   = (uint32_t)task->slot,
        .layout = task->layout,
        .sent   = task->sent,
    };
    fby_err err              = fby_make_batch(&maker, &input, &why);
    task->batch->has_digests = false;
    if (err == FBY_OK && setup->digests) {
        fby_batch_digest(setup, &input);
    }
    fby_request_slot_clear(task->from);
    atomic_fetch_add(&self->expand_ns, fby_now_ns() - begun_ns);
    fby_ready_queue_done(self->ready_queue, task->batch, err, &why);
}

static fby_err run_task(void *context, uint32_t thread, void *item)
{
    struct fby_unpack      *self = context;
    struct fby_unpack_task *task = item;
    if (task->kind == FBY_UNPACK_CHUNK) {
        unpack_chunk(self, thread, task);
    } else {
        unpack_batch(self, thread, task);
    }
    pthread_mutex_lock(&self->lock);
    bool first  = self->finished == NULL;
    *self->tail = task;
    self->tail  = &task->next;
    pthread_mutex_unlock(&self->lock);
    if (first) { /* the receiver then takes all finished tasks */
        fby_wakeup_send(&self->wakeup);
    }
    return FBY_OK;
}

/* ---- on the receiver's thread -------------------------------------------- */

static bool has_ops(const struct fby_setup *setup)
{
    bool has = false;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        has = has || setup->expansions[i].ops_field != NULL;
    }
    return has;
}

fby_err fby_unpack_create(const struct fby_setup *setup,
    struct fby_gpu_upload *upload, struct fby_ready_queue *ready_queue,
    struct fby_unpack **out)
{
    struct fby_unpack *self = fby_zalloc(sizeof(*self));
    self->setup             = setup;
    self->upload            = upload;
    self->ready_queue       = ready_queue;
    self->wakeup            = fby_wakeup_open();
    self->tail              = &self->finished;
    pthread_mutex_init(&self->lock, NULL);
    self->scratch = aligned_alloc(
        64, setup->decode_threads * sizeof(struct fby_codec_scratch));
    const struct fby_stage_config config = {
        .name     = "fby-decode",
        .threads  = setup->decode_threads,
        .capacity = FBY_UNPACK_QUEUE,
        .run      = run_task,
        .context  = self,
    };
    if (has_ops(setup)) {
        self->draws = fby_zalloc((size_t)setup->decode_threads *
                                 setup->max_rows * sizeof(*self->draws));
    }
    if (self->wakeup.fd < 0 || self->scratch == NULL ||
        fby_stage_create(&config, &self->stage) != FBY_OK) {
        fby_unpack_destroy(&self);
        return FBY_SYS;
    }
    *out = self;
    return FBY_OK;
}

void fby_unpack_destroy(struct fby_unpack **self_p)
{
    struct fby_unpack *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_stage_destroy(&self->stage);
    struct fby_unpack_task *task = fby_unpack_take(self);
    for (; task != NULL; task = fby_unpack_take(self)) {
        fby_unpack_done(self, task);
    }
    while (self->spare != NULL) {
        task        = self->spare;
        self->spare = task->next;
        free(task);
    }
    fby_wakeup_close(&self->wakeup);
    pthread_mutex_destroy(&self->lock);
    free(self->scratch);
    free(self->draws);
    free(self);
}

struct fby_unpack_task *fby_unpack_task(struct fby_unpack *self)
{
    struct fby_unpack_task *task = self->spare;
    if (task == NULL) {
        return fby_zalloc(sizeof(*task));
    }
    self->spare = task->next;
    *task       = (struct fby_unpack_task){0};
    return task;
}

void fby_unpack_put(struct fby_unpack *self, struct fby_unpack_task *task)
{
    fby_err err = fby_stage_put(self->stage, task);
    (void)err; /* only a stage that is being destroyed refuses */
}

struct fby_unpack_task *fby_unpack_take(struct fby_unpack *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_unpack_task *task = self->finished;
    if (task != NULL) {
        self->finished = task->next;
        if (self->finished == NULL) {
            self->tail = &self->finished;
        }
    }
    pthread_mutex_unlock(&self->lock);
    return task;
}

void fby_unpack_done(struct fby_unpack *self, struct fby_unpack_task *task)
{
    task->next  = self->spare;
    self->spare = task;
}

const struct fby_wakeup *fby_unpack_wakeup(const struct fby_unpack *self)
{
    return &self->wakeup;
}

struct fby_unpack_counts fby_unpack_counts(struct fby_unpack *self)
{
    return (struct fby_unpack_counts){
        .decode_ns = atomic_load(&self->decode_ns),
        .expand_ns = atomic_load(&self->expand_ns),
        .corrupt   = atomic_load(&self->corrupt),
    };
}
