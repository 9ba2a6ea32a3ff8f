#include "trainer_client/batch/unpack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/stage.h"
#include "trainer_client/batch/digest.h"
#include "trainer_client/batch/gpu_batch.h"
#include "trainer_client/batch/tensors.h"
#include "trainer_client/expand/documents.h"

struct fby_unpack {
    const struct fby_setup   *setup;
    struct fby_gpu_upload    *upload;
    struct fby_ready_queue   *ready_queue;
    struct fby_stage         *stage;
    struct fby_wakeup         wakeup;
    struct fby_codec_scratch *scratch; /* one a thread */
    struct fby_ops_row       *draws;   /* max_rows a thread; NULL: no ops */
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

/* The raw bytes of a field, after it was expanded. */
static const uint8_t *raw_of(const struct fby_setup *setup,
    const struct fby_unpack_task *task, uint32_t field)
{
    return fby_setup_is_direct(setup, field)
               ? task->batch->memory + setup->out_offset[field]
               : task->from->memory + task->layout->fields[field].slot_offset;
}

static void digest_batch(
    const struct fby_setup *setup, const struct fby_unpack_task *task)
{
    struct fby_digest_field fields[FBY_MAX_FIELDS];
    struct forebay_batch   *batch = task->batch;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        const struct fby_expansion *plan = &setup->expansions[i];

        fields[i] = (struct fby_digest_field){
            .name         = plan->name,
            .type         = plan->from,
            .shape        = plan->shape,
            .raw          = raw_of(setup, task, i),
            .sample_bytes = plan->raw_bytes,
            .rows = fby_expansion_varies(plan) ? &batch->rows_of[i] : NULL,
        };
    }
    for (uint32_t row = 0; row < batch->rows; row++) {
        batch->digests[row] = fby_sample_digest(
            batch->samples[row], fields, setup->n_fields, row);
    }
    batch->digest =
        fby_step_digest(batch->epoch, batch->step, batch->digests, batch->rows);
    batch->has_digests = true;
}

/* A chunk to its place in the tensor, out of its frame or of the slot. */
static fby_err place_chunk(struct fby_unpack *self, uint32_t thread,
    const struct fby_unpack_task *task, uint32_t field, uint32_t number)
{
    const struct fby_raw_field *raw = &task->layout->fields[field];
    const struct fby_raw_span   span =
        fby_layout_chunk(task->layout, field, number);
    struct fby_kept     *kept = &task->from->kept[raw->first_chunk + number];
    struct fby_codec_job job  = {
         .params  = fby_layout_params(raw),
         .scratch = &self->scratch[thread],
    };
    struct fby_bytes_in bytes = {
        .data = task->from->memory + raw->slot_offset + span.raw_offset,
        .size = span.raw_bytes,
    };
    if (kept->there) {
        const uint8_t *frame = zmq_msg_data(&kept->frame);
        job.coding = (struct fby_coding){kept->chunk.filter, kept->chunk.codec};
        bytes.data = frame + FBY_CHUNK_PREFIX;
        bytes.size = kept->chunk.wire_bytes;
    }
    return self->setup->device->decode(&job, bytes,
        task->batch->memory + self->setup->out_offset[field] + span.raw_offset,
        span.raw_bytes);
}

static fby_err place_field(struct fby_unpack *self, uint32_t thread,
    const struct fby_unpack_task *task, uint32_t field, struct fby_why *why)
{
    const struct fby_raw_field *raw = &task->layout->fields[field];
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        if (place_chunk(self, thread, task, field, i) != FBY_OK) {
            return fby_because(why, FBY_PROTO,
                "field %s: chunk %u changed in memory",
                self->setup->expansions[field].name, i);
        }
    }
    return FBY_OK;
}

static uint32_t own_rows(const struct forebay_batch *batch)
{
    uint32_t own = 0;
    while (own < batch->rows && batch->valid[own] != 0) {
        own++;
    }
    return own;
}

/* On one thread, what is to be made of one batch. */
struct making {
    struct fby_unpack            *self;
    uint32_t                      thread;
    const struct fby_unpack_task *task;
};

static struct fby_ops_row *draw_rows(
    const struct making *making, const struct fby_field_content *by)
{
    const struct fby_unpack    *self  = making->self;
    const struct fby_setup     *setup = self->setup;
    const struct forebay_batch *batch = making->task->batch;
    struct fby_ops_row         *draws =
        self->draws + (size_t)making->thread * setup->max_rows;
    const struct fby_ops_batch place = {
        .seed      = setup->seed,
        .epoch     = batch->epoch,
        .step      = batch->step,
        .first_row = batch->first_row,
        .rows      = batch->rows,
        .own       = own_rows(batch),
        .samples   = batch->samples,
    };
    fby_ops_draw(by, &place, draws);
    return draws;
}

/* The same for a gpu_batch. */
static const struct fby_ops_row *draw(
    void *context, const struct fby_field_content *by)
{
    return draw_rows(context, by);
}

static fby_err expand_with_ops(
    const struct making *making, uint32_t field, void *out, struct fby_why *why)
{
    const struct fby_unpack_task *task  = making->task;
    const struct fby_setup       *setup = making->self->setup;
    const struct fby_expansion   *plan  = &setup->expansions[field];

    const struct fby_expand_job job = {
        .plan  = plan,
        .raw   = task->from->memory + task->layout->fields[field].slot_offset,
        .rows  = task->batch->rows,
        .draws = draw_rows(making, plan->drawn_by),
        .out   = out,
    };
    return setup->device->expand_ops(&job, why);
}

static const uint8_t *slot_of(
    const struct fby_unpack_task *task, uint32_t field)
{
    return task->from->memory + task->layout->fields[field].slot_offset;
}

/* Of no rows, too: offsets are one more. */
static fby_err expand_varying(struct fby_unpack *self,
    const struct fby_unpack_task *task, uint32_t field, struct fby_why *why)
{
    const struct fby_setup     *setup            = self->setup;
    const struct fby_expansion *plan             = &setup->expansions[field];
    struct forebay_batch       *batch            = task->batch;
    struct fby_ragged_offsets  *rows             = &batch->rows_of[field];
    void                       *out[FBY_TENSORS] = {NULL};
    const uint8_t              *raw              = task->from->memory;
    fby_err                     err              = FBY_OK;
    for (uint32_t i = 0; i < plan->n_tensors; i++) {
        out[i] = batch->memory + setup->part_offset[field][i];
    }
    fby_ragged_offsets_clear(rows);
    if (batch->rows > 0) {
        const struct fby_ragged_offsets_in in = {
            .name   = plan->name,
            .layout = task->layout,
            .field  = field,
            .raw    = slot_of(task, field),
            .sent   = task->sent + task->layout->fields[field].first_chunk,
        };
        raw = in.raw;
        err = fby_ragged_offsets_read(rows, &in, why);
    }
    if (err == FBY_OK && plan->documents) {
        err = fby_documents_check(plan, rows, raw, why);
    }
    return err == FBY_OK ? setup->device->expand_rows(plan, rows, raw, out, why)
                         : err;
}

/* A field whose raw bytes lie in the slot. */
static fby_err expand_raw(
    void *context, uint32_t field, uint8_t *out, struct fby_why *why)
{
    const struct making          *making = context;
    const struct fby_unpack_task *task   = making->task;
    const struct fby_setup       *setup  = making->self->setup;
    const struct fby_expansion   *plan   = &setup->expansions[field];
    if (plan->drawn_by != NULL) {
        return expand_with_ops(making, field, out, why);
    }
    return setup->device->expand(
        plan, slot_of(task, field), task->batch->rows, out, why);
}

static fby_err expand_batch(struct fby_unpack *self, uint32_t thread,
    const struct fby_unpack_task *task, struct fby_why *why)
{
    const struct fby_setup *setup  = self->setup;
    struct forebay_batch   *batch  = task->batch;
    fby_err                 err    = FBY_OK;
    struct making           making = {self, thread, task};
    if (self->upload != NULL) {
        const struct fby_gpu_batch_host host = {.setup = setup,
            .expand                                    = expand_raw,
            .draw                                      = draw,
            .context                                   = &making};
        return fby_gpu_batch_send(self->upload, &host, task, why);
    }
    for (uint32_t i = 0; i < setup->n_fields && err == FBY_OK; i++) {
        if (fby_expansion_varies(&setup->expansions[i])) {
            err = expand_varying(self, task, i, why);
            continue;
        }
        if (batch->rows == 0) {
            continue;
        }
        err = fby_setup_is_direct(setup, i)
                  ? place_field(self, thread, task, i, why)
                  : expand_raw(
                        &making, i, batch->memory + setup->out_offset[i], why);
    }
    return err;
}

static void unpack_batch(
    struct fby_unpack *self, uint32_t thread, struct fby_unpack_task *task)
{
    struct fby_why why       = {""};
    int64_t        begun_ns  = fby_now_ns();
    fby_err        err       = expand_batch(self, thread, task, &why);
    task->batch->has_digests = false;
    if (err == FBY_OK) {
        fby_batch_tensors(self->setup, task->batch);
    }
    if (err == FBY_OK && self->setup->digests) {
        digest_batch(self->setup, task);
    }
    fby_request_slot_clear(task->from);
    atomic_fetch_add(&self->expand_ns, fby_now_ns() - begun_ns);
    fby_ready_queue_done(self->ready_queue, task->batch, err, &why);
}

static fby_err run(void *context, uint32_t thread, void *item)
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
    if (first) { /* whoever comes takes all */
        fby_wakeup_send(&self->wakeup);
    }
    return FBY_OK;
}

/* ---- on the receiver's thread -------------------------------------------- */

static bool has_ops(const struct fby_setup *setup)
{
    bool has = false;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        has = has || setup->expansions[i].drawn_by != NULL;
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
        .run      = run,
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
    (void)err; /* only a stage being destroyed refuses, and we destroy it */
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
