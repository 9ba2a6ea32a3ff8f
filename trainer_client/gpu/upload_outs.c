/* upload_outs.c - output buffers ("outs"), which hold the tensors of a batch.
 *
 * Their memory is from cudaMalloc, from a pool (extra outs), or from the
 * application's allocator. The pool and the application's allocator work in
 * stream order, on upload->memory_stream. */
#include "trainer_client/gpu/upload_state.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"

/* ---- memory -------------------------------------------------------------- */

static void *allocate_by_caller(struct cuda_calls *calls)
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
    memory = calls->err == FBY_OK ? allocate_by_caller(calls) : NULL;
    CALL(calls, stream_sync, calls->upload->memory_stream);
    return memory;
}

/* Free the memory of an out that is not from the pool, after its last use. */
static void free_memory(struct fby_gpu_upload *self, void *memory)
{
    const struct fby_gpu_upload_memory *caller = &self->config.memory;
    if (memory == NULL) {
        return;
    }
    if (caller->allocate != NULL) {
        caller->free(caller->arg, memory, self->memory_stream);
    } else {
        (void)self->cuda->free(memory);
    }
}

/* Make the memory stream wait for the work on `out`, so that later frees on
 * that stream come after that work. */
static void wait_for_last_use(
    struct fby_gpu_upload *self, const struct upload_out *out)
{
    void *events[] = {out->ready, out->released};
    for (size_t i = 0; i < 2; i++) {
        if (events[i] != NULL) {
            (void)self->cuda->stream_wait(self->memory_stream, events[i]);
        }
    }
}

/* The out's memory if it may be freed now, else NULL. Fixed memory may not,
 * because other outs share it. Leaked memory may still be in use. It may be
 * freed only if it is from cudaMalloc, since cudaFree waits for the device. */
static void *freeable_memory(
    const struct fby_gpu_upload *self, const struct upload_out *out)
{
    bool from_cuda_malloc = self->config.memory.allocate == NULL && !out->extra;
    return self->fixed_memory == NULL && (from_cuda_malloc || !out->leaked)
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
    if (self->config.fixed) {
        self->fixed_memory = allocate_kept(calls);
        CALL(calls, event_create, &self->last_release);
    }
    for (uint32_t i = 0; i < self->config.n_outs && calls->err == FBY_OK; i++) {
        struct upload_out *out = create_out(calls);
        out->public.memory =
            self->config.fixed ? self->fixed_memory : allocate_kept(calls);
        out->next       = self->free_outs;
        self->free_outs = out;
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
    bool by_caller = self->config.memory.allocate != NULL;
    free_memory(
        self, by_caller && self->any_leaked ? NULL : self->fixed_memory);
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
        self->config.fixed) {
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

/* Allocate an extra out's memory. The event `released` is recorded after the
 * allocation. Other streams may use the memory once the event has passed. */
static void *allocate_extra(
    struct cuda_calls *calls, const struct upload_out *out)
{
    struct fby_gpu_upload *self   = calls->upload;
    void                  *memory = self->fixed_memory;
    if (memory != NULL || calls->err != FBY_OK) {
        return memory;
    }
    if (self->config.memory.allocate != NULL) {
        memory = allocate_by_caller(calls);
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
    int                mode = fby_upload_begin_calls(self);
    struct upload_out *out  = create_out(&calls);
    out->extra              = true;
    out->public.memory      = allocate_extra(&calls, out);
    out->busy_until         = self->fixed_memory == NULL ? out->released : NULL;
    if (calls.err != FBY_OK) {
        fby_warn("NO-DEVICE-MEMORY", "%s", why.text);
        free_extra(self, out);
        out = NULL;
    }
    fby_upload_end_calls(self, mode);
    return out;
}

/* ---- both ---------------------------------------------------------------- */

struct fby_gpu_upload_out *fby_gpu_upload_take_out(
    struct fby_gpu_upload *self, bool extra)
{
    struct upload_out *out = extra ? create_extra(self) : take_kept(self);
    return out != NULL ? &out->public : NULL;
}

void fby_gpu_upload_recycle(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *buffer)
{
    struct upload_out *out = (struct upload_out *)(void *)buffer;
    pthread_mutex_lock(&self->lock);
    if (out->lane != NULL) { /* the batch was never handed out */
        out->lane->pending = false;
        out->lane          = NULL;
    }
    self->any_leaked = self->any_leaked || out->leaked;
    if (!out->extra) {
        out->next       = self->free_outs;
        self->free_outs = out;
    }
    bool extra = out->extra;
    pthread_mutex_unlock(&self->lock);
    if (extra) {
        int mode = fby_upload_begin_calls(self);
        free_extra(self, out);
        fby_upload_end_calls(self, mode);
    }
}
