/* upload_outs.c - output buffers ("outs"), which hold the tensors of a batch.
 *
 * Kept outs are created with the upload and reused. Extra outs are created when
 * all kept outs are in use, and freed after use. The memory is from the
 * application's allocator, else from cudaMalloc (kept) or a pool (extra). The
 * allocator and the pool work in the order of upload->memory_stream. */
#include "trainer_client/gpu/upload_state.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"

/* ---- memory -------------------------------------------------------------- */

static void *allocate_by_application(struct cuda_calls *calls)
{
    const struct fby_gpu_upload_config *config = &calls->upload->config;
    void *memory = config->memory.allocate(config->memory.arg,
        config->out_bytes, config->device, calls->upload->memory_stream);
    if (memory == NULL) {
        calls->err = fby_error_set(calls->why, FBY_SYS,
            "the allocator has no %llu bytes for a batch's tensors",
            (unsigned long long)config->out_bytes);
    }
    return memory;
}

/* Allocate the memory of an out that is kept until destroy. Wait for the memory
 * stream, so that any stream may use the memory. */
static void *allocate_kept(struct cuda_calls *calls)
{
    const struct fby_gpu_upload_config *config = &calls->upload->config;
    void                               *memory = NULL;
    if (config->memory.allocate == NULL) {
        CALL(calls, allocate, &memory, config->out_bytes);
        return memory;
    }
    memory = calls->err == FBY_OK ? allocate_by_application(calls) : NULL;
    CALL(calls, stream_sync, calls->upload->memory_stream);
    return memory;
}

/* Free an out's memory that is not from the pool. NULL is allowed. */
static void free_memory(struct fby_gpu_upload *self, void *memory)
{
    const struct fby_gpu_upload_memory *allocator = &self->config.memory;
    if (memory == NULL) {
        return;
    }
    if (allocator->allocate != NULL) {
        allocator->free(allocator->arg, memory, self->memory_stream);
    } else {
        (void)self->cuda->free(memory);
    }
}

/* Make the memory stream wait for the work on `out`, so that later frees on
 * that stream come after that work. */
static void wait_for_last_use(
    struct fby_gpu_upload *self, const struct upload_out *out)
{
    void *const events[2] = {out->ready, out->released};
    for (size_t i = 0; i < 2; i++) {
        if (events[i] != NULL) {
            (void)self->cuda->stream_wait(self->memory_stream, events[i]);
        }
    }
}

/* The out's memory if it may be freed now, else NULL. Fixed memory is shared by
 * all outs. Memory with use_unknown may still be in use. Then it is freed only
 * if it is from cudaMalloc, because cudaFree waits for the device. */
static void *freeable_memory(
    const struct fby_gpu_upload *self, const struct upload_out *out)
{
    bool from_cuda_malloc = self->config.memory.allocate == NULL && !out->extra;
    return self->fixed_memory == NULL && (from_cuda_malloc || !out->use_unknown)
               ? out->public.memory
               : NULL;
}

static struct upload_out *create_out(struct cuda_calls *calls)
{
    struct upload_out *out = fby_zalloc(sizeof(*out));
    CALL(calls, event_create, &out->ready);
    CALL(calls, event_create, &out->released);
    return out;
}

static void destroy_out(struct fby_gpu_upload *self, struct upload_out *out)
{
    fby_upload_destroy_event(self, out->ready);
    fby_upload_destroy_event(self, out->released);
    free(out);
}

/* ---- outs that are kept -------------------------------------------------- */

void fby_upload_create_outs(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    if (self->config.fixed_address) {
        self->fixed_memory = allocate_kept(calls);
        CALL(calls, event_create, &self->last_release);
    }
    for (uint32_t i = 0; i < self->config.n_outs && calls->err == FBY_OK; i++) {
        struct upload_out *out = create_out(calls);
        out->public.memory     = self->config.fixed_address ? self->fixed_memory
                                                            : allocate_kept(calls);
        out->next              = self->free_outs;
        self->free_outs        = out;
    }
}

void fby_upload_destroy_outs(struct fby_gpu_upload *self)
{
    while (self->free_outs != NULL) {
        struct upload_out *out = self->free_outs;
        self->free_outs        = out->next;
        if (out->public.memory != NULL) {
            wait_for_last_use(self, out);
        }
        free_memory(self, freeable_memory(self, out));
        destroy_out(self, out);
    }
    /* as in freeable_memory, for the memory that all outs share */
    bool may_be_in_use =
        self->config.memory.allocate != NULL && self->any_use_unknown;
    free_memory(self, may_be_in_use ? NULL : self->fixed_memory);
    fby_upload_destroy_event(self, self->last_release);
}

static struct upload_out *take_kept(struct fby_gpu_upload *self)
{
    pthread_mutex_lock(&self->lock);
    struct upload_out *out = self->free_outs;
    if (out != NULL) {
        self->free_outs = out->next;
    }
    pthread_mutex_unlock(&self->lock);
    return out;
}

/* ---- extra outs ---------------------------------------------------------- */

void fby_upload_create_pool(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    if (calls->err != FBY_OK || self->config.memory.allocate != NULL ||
        self->config.fixed_address) {
        return;
    }
    int code = self->cuda->pool_create(self->config.device, &self->pool);
    struct fby_error_detail why;
    if (fby_cuda_check(self->cuda, code, &why) != FBY_OK) {
        self->pool = NULL;
        fby_info("NO-DEVICE-POOL", "device cuda:%d has no memory pools: %s",
            self->config.device, why.text);
    }
}

static void free_extra(struct fby_gpu_upload *self, struct upload_out *out)
{
    void *memory = freeable_memory(self, out);
    if (out->public.memory != NULL) {
        wait_for_last_use(self, out);
    }
    if (memory != NULL && self->pool != NULL) {
        (void)self->cuda->pool_free(memory, self->memory_stream);
    } else {
        free_memory(self, memory);
    }
    destroy_out(self, out);
}

/* Allocate an extra out's memory. Other streams may use it once the event
 * `released`, which is recorded here, has passed. */
static void *allocate_extra(
    struct cuda_calls *calls, const struct upload_out *out)
{
    struct fby_gpu_upload *self   = calls->upload;
    void                  *memory = self->fixed_memory;
    if (memory != NULL || calls->err != FBY_OK) {
        return memory; /* with `fixed_address` an extra out needs no memory */
    }
    if (self->config.memory.allocate != NULL) {
        memory = allocate_by_application(calls);
    } else if (self->pool == NULL) {
        CALL(calls, allocate, &memory, self->config.out_bytes);
    } else {
        CALL(calls, pool_allocate, &memory, self->config.out_bytes, self->pool,
            self->memory_stream);
    }
    CALL(calls, event_record, out->released, self->memory_stream);
    return memory;
}

static struct upload_out *create_extra(struct fby_gpu_upload *self)
{
    struct fby_error_detail why   = {""};
    struct cuda_calls       calls = {.upload = self, .why = &why};
    CALL(&calls, use_device, self->config.device);
    int                mode = fby_upload_ignore_captures(self);
    struct upload_out *out  = create_out(&calls);
    out->extra              = true;
    out->public.memory      = allocate_extra(&calls, out);
    out->busy_until         = self->fixed_memory == NULL ? out->released : NULL;
    if (calls.err != FBY_OK) {
        fby_warn("NO-DEVICE-MEMORY", "%s", why.text);
        free_extra(self, out);
        out = NULL;
    }
    fby_upload_restore_capture_mode(self, mode);
    return out;
}

/* ---- kept and extra outs ------------------------------------------------- */

struct fby_gpu_upload_out *fby_gpu_upload_take_out(
    struct fby_gpu_upload *self, bool extra)
{
    struct upload_out *out = extra ? create_extra(self) : take_kept(self);
    return out != NULL ? &out->public : NULL;
}

void fby_gpu_upload_recycle(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *buffer)
{
    struct upload_out *out = upload_out_of(buffer);
    pthread_mutex_lock(&self->lock);
    if (out->lane != NULL) { /* the batch was never handed out */
        out->lane->pending = false;
        out->lane          = NULL;
    }
    self->any_use_unknown = self->any_use_unknown || out->use_unknown;
    bool extra            = out->extra; /* another thread may take a free out */
    if (!extra) {
        out->next       = self->free_outs;
        self->free_outs = out;
    }
    pthread_mutex_unlock(&self->lock);
    if (extra) { /* without the lock, as the allocator requires */
        int mode = fby_upload_ignore_captures(self);
        free_extra(self, out);
        fby_upload_restore_capture_mode(self, mode);
    }
}
