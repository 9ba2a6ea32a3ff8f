/* SPDX-License-Identifier: Apache-2.0 */
/* batch_pool.c - take and return the batches of a stream.
 *
 * Every batch has a slot, the memory of its tensors. A batch with a regular
 * slot is reused through the list `free`. If all regular slots are in use, a
 * batch gets an extra slot, and is freed when it is released. */
#include "trainer_client/batch/batch_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/process_id.h"

struct fby_batch_pool {
    struct fby_batch_pool_config config;
    pid_t                        pid;
    struct fby_wakeup            wakeup;
    uint32_t                     max_regular; /* most regular slots */
    uint32_t                     max_slots;   /* most regular and extra slots */
    pthread_mutex_t              lock;        /* guards all below */
    struct forebay_batch        *free;        /* list of batches not in use */
    uint32_t                     n_regular;   /* regular slots that exist */
    struct fby_batch_pool_counts counts;
    bool stream_closed; /* returned batches are freed, not reused */
};

static uint32_t min_u32(uint64_t value, uint32_t limit)
{
    return value < limit ? (uint32_t)value : limit;
}

fby_err fby_batch_pool_create(
    const struct fby_batch_pool_config *config, struct fby_batch_pool **out)
{
    struct fby_batch_pool *self = fby_zalloc(sizeof(*self));
    uint64_t max_slots          = config->max_held_bytes / config->out_bytes;
    self->config                = *config;
    self->pid                   = fby_process_id();
    /* One slot is always allowed, even if it exceeds the limit. */
    self->max_slots   = min_u32(max_slots == 0 ? 1 : max_slots, UINT32_MAX);
    self->max_regular = min_u32(self->max_slots, FBY_OUTPUT_SLOTS);
    self->wakeup      = fby_wakeup_open();
    pthread_mutex_init(&self->lock, NULL);
    if (self->wakeup.fd < 0) {
        fby_batch_pool_release(&self);
        return FBY_SYS;
    }
    *out = self;
    return FBY_OK;
}

void fby_batch_free_substitutions(struct forebay_batch *batch)
{
    for (uint32_t i = 0; i < batch->n_substituted; i++) {
        fby_free_text(batch->substituted[i].cause);
    }
    free(batch->substituted);
    batch->substituted   = NULL;
    batch->n_substituted = 0;
}

static void destroy_batch(struct forebay_batch *batch)
{
    const struct fby_batch_pool_config *config = &batch->batch_pool->config;
    fby_batch_free_substitutions(batch);
    if (batch->output != NULL) {
        fby_gpu_upload_recycle(config->upload, batch->output);
    } else {
        config->device->out_free(batch->memory, config->out_bytes);
    }
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        fby_ragged_offsets_fini(&batch->row_offsets[i]);
    }
    free(batch->samples);
    free(batch->valid);
    free(batch->digests);
    free(batch);
}

/* Allocate a batch, with an extra slot if `extra`. Returns NULL if there is no
 * memory. Called without the lock, because the application's allocator may call
 * into the library. */
static struct forebay_batch *allocate_batch(
    struct fby_batch_pool *self, bool extra)
{
    const struct fby_batch_pool_config *config = &self->config;
    struct forebay_batch               *batch  = fby_zalloc(sizeof(*batch));
    if (config->upload == NULL) {
        batch->memory = config->device->out_alloc(config->out_bytes);
    } else {
        batch->output = fby_gpu_upload_take_output(config->upload, extra);
        batch->memory = batch->output != NULL ? batch->output->memory : NULL;
    }
    bool given = config->upload != NULL && config->caller_memory;
    if (given ? batch->output == NULL : batch->memory == NULL) {
        free(batch);
        return NULL;
    }
    batch->batch_pool     = self;
    batch->has_extra_slot = extra;
    batch->samples = fby_zalloc(config->max_rows * sizeof(*batch->samples));
    batch->valid   = fby_zalloc(config->max_rows);
    batch->digests = fby_zalloc(config->max_rows * sizeof(*batch->digests));
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        if ((config->ragged >> i & 1) != 0) {
            fby_ragged_offsets_init(&batch->row_offsets[i], config->max_rows);
        }
    }
    return batch;
}

/* No reference is left, so no other thread uses the pool. */
static void destroy_batch_pool(struct fby_batch_pool *self)
{
    while (self->free != NULL) {
        struct forebay_batch *batch = self->free;
        self->free                  = batch->next;
        destroy_batch(batch);
    }
    fby_gpu_upload_destroy(&self->config.upload);
    fby_wakeup_close(&self->wakeup);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void fby_batch_pool_release(struct fby_batch_pool **self_p)
{
    struct fby_batch_pool *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    pthread_mutex_lock(&self->lock);
    self->stream_closed = true;
    bool is_idle        = self->counts.in_use == 0;
    pthread_mutex_unlock(&self->lock);
    if (is_idle) { /* else the last batch to return destroys the pool */
        destroy_batch_pool(self);
    }
}

/* Take a batch from the free list and count it as in use. If *out is NULL, the
 * caller must allocate the batch, with an extra slot if *extra is set. */
static fby_err reserve_batch(struct fby_batch_pool *self, bool allow_extra,
    bool *extra, struct forebay_batch **out)
{
    *extra = false;
    *out   = self->free;
    if (self->free != NULL) {
        self->free = (*out)->next;
    } else if (self->n_regular < self->max_regular) {
        self->n_regular++;
    } else if (!allow_extra) {
        return FBY_AGAIN;
    } else if (self->counts.in_use >= self->max_slots ||
               self->counts.out_of_memory) {
        return FBY_FULL;
    } else {
        *extra = true;
    }
    self->counts.in_use++;
    return FBY_OK;
}

/* Complete reserve_batch after the allocation: count an extra slot, or undo the
 * reservation if the allocation failed. */
static fby_err finish_allocation(
    struct fby_batch_pool *self, bool extra, bool allocated)
{
    pthread_mutex_lock(&self->lock);
    bool is_first_extra = extra && allocated && self->counts.overflow == 0;
    if (allocated) {
        self->counts.overflow += extra ? 1 : 0;
    } else {
        self->counts.in_use--;
        self->n_regular -= extra ? 0 : 1;
        self->counts.out_of_memory = extra;
    }
    pthread_mutex_unlock(&self->lock);
    if (is_first_extra) {
        fby_warn("BATCHES-HELD",
            "the trainer holds all %u preallocated batches: allocating more, "
            "up to %u; release batches sooner",
            self->max_regular, self->max_slots);
    }
    fby_err failure = extra ? FBY_FULL : FBY_SYS;
    return allocated ? FBY_OK : failure;
}

fby_err fby_batch_pool_take(
    struct fby_batch_pool *self, bool allow_extra, struct forebay_batch **out)
{
    struct forebay_batch *batch = NULL;
    bool                  extra = false;
    pthread_mutex_lock(&self->lock);
    fby_err err = reserve_batch(self, allow_extra, &extra, &batch);
    pthread_mutex_unlock(&self->lock);
    if (err == FBY_OK && batch == NULL) {
        batch = allocate_batch(self, extra);
        err   = finish_allocation(self, extra, batch != NULL);
    }
    if (err != FBY_OK) {
        return err;
    }
    batch->next      = NULL;
    batch->delivered = false;
    batch->done      = false;
    batch->dropped   = false;
    batch->err       = FBY_OK;
    atomic_store(&batch->refs, 1);
    *out = batch;
    return FBY_OK;
}

fby_err fby_batch_await(
    struct forebay_batch *batch, void *stream, struct fby_error_detail *why)
{
    if (batch->output == NULL) { /* on the host the values are complete */
        return FBY_OK;
    }
    atomic_store(&batch->stream, stream);
    return fby_gpu_upload_await(
        batch->batch_pool->config.upload, batch->output, stream, why);
}

void fby_batch_place_tensors(struct forebay_batch *batch, uint8_t *memory)
{
    for (uint32_t i = 0; i < batch->n_tensors; i++) {
        batch->tensors[i].view.data = memory + batch->tensors[i].offset;
    }
}

fby_err fby_batch_pool_deliver(struct forebay_batch *batch, void *stream,
    uint8_t *memory, struct fby_error_detail *why)
{
    struct fby_batch_pool *self = batch->batch_pool;
    if (memory != NULL) {
        fby_gpu_upload_set_memory(batch->output, memory);
        fby_batch_place_tensors(batch, memory);
    }
    fby_err err = fby_batch_await(batch, stream, why);
    if (err != FBY_OK) {
        return err;
    }
    pthread_mutex_lock(&self->lock);
    batch->delivered = true;
    self->counts.held++;
    pthread_mutex_unlock(&self->lock);
    return FBY_OK;
}

bool fby_batch_pool_is_blocked(struct fby_batch_pool *self)
{
    const struct fby_gpu_upload *upload = self->config.upload;
    pthread_mutex_lock(&self->lock);
    bool blocked = upload != NULL && fby_gpu_upload_is_fixed(upload) &&
                   self->counts.held > 0;
    pthread_mutex_unlock(&self->lock);
    return blocked;
}

void fby_batch_ref(struct forebay_batch *batch)
{
    atomic_fetch_add(&batch->refs, 1);
}

/* Keep a batch with a regular slot for reuse, or free it. Returns true if this
 * was the last use of a closed pool, which the caller must then destroy. */
static bool return_batch(
    struct fby_batch_pool *self, struct forebay_batch *batch)
{
    pthread_mutex_lock(&self->lock);
    bool keep = !batch->has_extra_slot && !self->stream_closed;
    self->counts.held -= batch->delivered ? 1 : 0;
    if (keep) {
        batch->next = self->free;
        self->free  = batch;
    }
    pthread_mutex_unlock(&self->lock);
    if (!keep) {
        destroy_batch(batch); /* in_use counts the batch, so the pool lives */
    }
    pthread_mutex_lock(&self->lock);
    self->counts.in_use--;
    self->counts.out_of_memory = false;
    bool is_last_use = self->stream_closed && self->counts.in_use == 0;
    if (!is_last_use) {
        fby_wakeup_send(&self->wakeup);
    }
    pthread_mutex_unlock(&self->lock);
    return is_last_use;
}

void fby_batch_unref(struct forebay_batch *batch)
{
    if (atomic_fetch_sub(&batch->refs, 1) != 1) {
        return;
    }
    struct fby_batch_pool *self = batch->batch_pool;
    if (batch->output != NULL && batch->delivered &&
        !self->config.caller_memory) { /* a stream may use the memory */
        fby_gpu_upload_release(
            self->config.upload, batch->output, atomic_load(&batch->stream));
    } else if (batch->output != NULL) {
        fby_gpu_upload_drop(self->config.upload, batch->output);
    }
    if (return_batch(self, batch)) {
        destroy_batch_pool(self);
    }
}

bool fby_batch_pool_is_full(struct fby_batch_pool *self)
{
    pthread_mutex_lock(&self->lock);
    bool trainer_holds_all =
        self->free == NULL && self->counts.held == self->counts.in_use;
    bool full = self->counts.held >= self->max_slots ||
                (self->counts.out_of_memory && trainer_holds_all);
    pthread_mutex_unlock(&self->lock);
    return full;
}

struct fby_batch_pool_counts fby_batch_pool_counts(struct fby_batch_pool *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_batch_pool_counts counts = self->counts;
    pthread_mutex_unlock(&self->lock);
    return counts;
}

const struct fby_wakeup *fby_batch_pool_wakeup(
    const struct fby_batch_pool *self)
{
    return &self->wakeup;
}

bool fby_batch_pool_is_ours(const struct fby_batch_pool *self)
{
    return self->pid == fby_process_id();
}
