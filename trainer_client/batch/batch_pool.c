#include "trainer_client/batch/batch_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/log.h"
#include "common/mem.h"

struct fby_batch_pool {
    struct fby_batch_pool_config config;
    pid_t                        pid;
    struct fby_wakeup            wakeup;
    pthread_mutex_t              lock;    /* guards all below */
    struct forebay_batch        *free;    /* made and not in use */
    uint32_t                     n_usual; /* regular slots, never freed */
    uint32_t max_slots;                   /* slots that max_held_bytes allow */
    uint32_t n_made;                      /* regular slots that exist */
    uint32_t in_use;                      /* regular and extra */
    uint32_t held;
    uint64_t overflow;
    bool     out_of_memory; /* for an extra slot, until one is released */
    bool     stream_closed;
};

static uint32_t at_most(uint64_t value, uint32_t bound)
{
    return value < bound ? (uint32_t)value : bound;
}

fby_err fby_batch_pool_create(
    const struct fby_batch_pool_config *config, struct fby_batch_pool **out)
{
    struct fby_batch_pool *self = fby_zalloc(sizeof(*self));
    uint64_t max_slots          = config->max_held_bytes / config->out_bytes;
    self->config                = *config;
    self->pid                   = getpid();
    self->max_slots = at_most(max_slots == 0 ? 1 : max_slots, UINT32_MAX);
    self->n_usual   = at_most(self->max_slots, FBY_OUTPUT_SLOTS);
    self->wakeup    = fby_wakeup_open();
    pthread_mutex_init(&self->lock, NULL);
    if (self->wakeup.fd < 0) {
        fby_batch_pool_leave(&self);
        return FBY_SYS;
    }
    *out = self;
    return FBY_OK;
}

void fby_batch_clear(struct forebay_batch *batch)
{
    for (uint32_t i = 0; i < batch->n_substituted; i++) {
        union {
            const char *from;
            void       *to;
        } cause = {.from = batch->substituted[i].cause};
        free(cause.to);
    }
    free(batch->substituted);
    batch->substituted   = NULL;
    batch->n_substituted = 0;
}

static void destroy_batch(struct forebay_batch *batch)
{
    const struct fby_batch_pool_config *config = &batch->batch_pool->config;
    fby_batch_clear(batch);
    if (batch->out != NULL) {
        fby_gpu_upload_give(config->upload, batch->out);
    } else {
        config->device->out_free(batch->memory, config->out_bytes);
    }
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        fby_ragged_offsets_fini(&batch->rows_of[i]);
    }
    free(batch->samples);
    free(batch->valid);
    free(batch->digests);
    free(batch);
}

static uint8_t *take_memory(const struct fby_batch_pool_config *config,
    bool extra, struct fby_gpu_upload_out **out)
{
    if (config->upload == NULL) {
        return config->device->out_alloc(config->out_bytes);
    }
    *out = fby_gpu_upload_take(config->upload, extra);
    return *out != NULL ? (*out)->memory : NULL;
}

/* NULL: there is no memory. Not called under the lock: the caller's allocator
 * may call into the library. */
static struct forebay_batch *make_batch(struct fby_batch_pool *self, bool extra)
{
    const struct fby_batch_pool_config *config = &self->config;
    struct forebay_batch               *batch  = fby_zalloc(sizeof(*batch));
    uint8_t *memory = take_memory(config, extra, &batch->out);
    if (memory == NULL) {
        free(batch);
        return NULL;
    }
    batch->batch_pool = self;
    batch->overflow   = extra;
    batch->memory     = memory;
    batch->samples    = fby_zalloc(config->max_rows * sizeof(*batch->samples));
    batch->valid      = fby_zalloc(config->max_rows);
    batch->digests    = fby_zalloc(config->max_rows * sizeof(*batch->digests));
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        if ((config->varying >> i & 1) != 0) {
            fby_ragged_offsets_init(&batch->rows_of[i], config->max_rows);
        }
    }
    return batch;
}

/* No reference is left, so no other thread can be inside. */
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

void fby_batch_pool_leave(struct fby_batch_pool **self_p)
{
    struct fby_batch_pool *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    pthread_mutex_lock(&self->lock);
    self->stream_closed = true;
    bool last           = self->in_use == 0;
    pthread_mutex_unlock(&self->lock);
    if (last) {
        destroy_batch_pool(self);
    }
}

/* Reserve a free batch, or the right to make one: then *out is NULL. */
static fby_err claim(struct fby_batch_pool *self, bool overflow, bool *extra,
    struct forebay_batch **out)
{
    *extra = false;
    *out   = self->free;
    if (self->free != NULL) {
        self->free = (*out)->next;
    } else if (self->n_made < self->n_usual) {
        self->n_made++;
    } else if (!overflow) {
        return FBY_AGAIN;
    } else if (self->in_use >= self->max_slots || self->out_of_memory) {
        return FBY_FULL;
    } else {
        *extra = true;
    }
    self->in_use++;
    return FBY_OK;
}

/* Account for a claimed batch once it is made; NULL undoes the claim. */
static fby_err finish_make(
    struct fby_batch_pool *self, bool extra, const struct forebay_batch *made)
{
    pthread_mutex_lock(&self->lock);
    bool first = made != NULL && extra && self->overflow++ == 0;
    if (made == NULL) {
        self->in_use--;
        self->n_made -= extra ? 0 : 1;
        self->out_of_memory = extra;
    }
    pthread_mutex_unlock(&self->lock);
    if (first) {
        fby_warn("BATCHES-HELD",
            "the trainer holds all %u output slots; going on with further "
            "ones, up to %u",
            self->n_usual, self->max_slots);
    }
    if (made == NULL) {
        return extra ? FBY_FULL : FBY_SYS;
    }
    return FBY_OK;
}

fby_err fby_batch_pool_take(
    struct fby_batch_pool *self, bool overflow, struct forebay_batch **out)
{
    struct forebay_batch *batch = NULL;
    bool                  extra = false;
    pthread_mutex_lock(&self->lock);
    fby_err err = claim(self, overflow, &extra, &batch);
    pthread_mutex_unlock(&self->lock);
    if (err == FBY_OK && batch == NULL) {
        batch = make_batch(self, extra);
        err   = finish_make(self, extra, batch);
    }
    if (err != FBY_OK) {
        return err;
    }
    batch->next      = NULL;
    batch->delivered = false;
    batch->done      = false;
    batch->err       = FBY_OK;
    atomic_store(&batch->refs, 1);
    *out = batch;
    return FBY_OK;
}

fby_err fby_batch_await(
    struct forebay_batch *batch, void *stream, struct fby_why *why)
{
    if (batch->out == NULL) {
        return FBY_OK;
    }
    atomic_store(&batch->stream, stream);
    return fby_gpu_upload_hand_out(
        batch->batch_pool->config.upload, batch->out, stream, why);
}

fby_err fby_batch_pool_deliver(
    struct forebay_batch *batch, void *stream, struct fby_why *why)
{
    struct fby_batch_pool *self = batch->batch_pool;
    fby_err                err  = fby_batch_await(batch, stream, why);
    if (err != FBY_OK) {
        return err;
    }
    pthread_mutex_lock(&self->lock);
    batch->delivered = true;
    self->held++;
    pthread_mutex_unlock(&self->lock);
    return FBY_OK;
}

bool fby_batch_pool_is_blocked(struct fby_batch_pool *self)
{
    const struct fby_gpu_upload *upload = self->config.upload;
    pthread_mutex_lock(&self->lock);
    bool blocked =
        upload != NULL && fby_gpu_upload_is_fixed(upload) && self->held > 0;
    pthread_mutex_unlock(&self->lock);
    return blocked;
}

void fby_batch_ref(struct forebay_batch *batch)
{
    atomic_fetch_add(&batch->refs, 1);
}

/* Put a regular slot on the free list; false: free it instead. */
static bool keep_for_reuse(
    struct fby_batch_pool *self, struct forebay_batch *batch)
{
    pthread_mutex_lock(&self->lock);
    bool kept = !batch->overflow && !self->stream_closed;
    self->held -= batch->delivered ? 1 : 0;
    if (kept) {
        batch->next = self->free;
        self->free  = batch;
    }
    pthread_mutex_unlock(&self->lock);
    return kept;
}

/* Returns true if the caller must destroy the pool. */
static bool put_back(struct fby_batch_pool *self, struct forebay_batch *batch)
{
    if (!keep_for_reuse(self, batch)) {
        destroy_batch(batch); /* counts as in use, so the pool stays */
    }
    pthread_mutex_lock(&self->lock);
    self->in_use--;
    self->out_of_memory = false;
    bool last           = self->stream_closed && self->in_use == 0;
    if (!last) {
        fby_wakeup_send(&self->wakeup);
    }
    pthread_mutex_unlock(&self->lock);
    return last;
}

void fby_batch_unref(struct forebay_batch *batch)
{
    if (atomic_fetch_sub(&batch->refs, 1) != 1) {
        return;
    }
    struct fby_batch_pool *self = batch->batch_pool;
    if (batch->out != NULL && batch->delivered) {
        fby_gpu_upload_release(
            self->config.upload, batch->out, atomic_load(&batch->stream));
    }
    if (put_back(self, batch)) {
        destroy_batch_pool(self);
    }
}

bool fby_batch_pool_is_full(struct fby_batch_pool *self)
{
    pthread_mutex_lock(&self->lock);
    bool full = self->held >= self->max_slots ||
                (self->out_of_memory && self->free == NULL &&
                    self->held == self->in_use);
    pthread_mutex_unlock(&self->lock);
    return full;
}

struct fby_batch_pool_counts fby_batch_pool_counts(struct fby_batch_pool *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_batch_pool_counts counts = {
        .held          = self->held,
        .in_use        = self->in_use,
        .overflow      = self->overflow,
        .out_of_memory = self->out_of_memory,
    };
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
    return self->pid == getpid();
}
