/* SPDX-License-Identifier: Apache-2.0 */
/* upload_outs.c - output buffers ("outputs"), each for the tensors of a batch.
 *
 * Kept outputs are created with the upload and reused. Extra outputs are
 * created when all kept outputs are in use, and freed after use. The memory is
 * from the application's allocator, else from cudaMalloc (kept) or a pool
 * (extra). The allocator and the pool work in the order of `memory_stream`. */
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

/* Allocate the memory of an output that is kept until destroy. Wait for the
 * memory stream, so that any stream may use the memory. */
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

/* Free memory from cudaMalloc. NULL is allowed. */
static void free_by_cuda(struct fby_gpu_upload *self, void *memory)
{
    if (memory != NULL && self->config.memory.allocate == NULL) {
        (void)self->cuda->free(memory);
    }
}

/* Free memory from the application's allocator. NULL is allowed. Its calls stay
 * out of CUDA graphs, unless another GPU is the current device, on which a change
 * of the capture mode would create a context. */
static void free_by_application(struct fby_gpu_upload *self, void *memory)
{
    const struct fby_gpu_upload_memory *allocator = &self->config.memory;
    int                                 current   = self->config.device;
    if (memory == NULL || allocator->allocate == NULL) {
        return;
    }
    (void)self->cuda->current_device(&current);
    bool is_ours = current == self->config.device;
    int  mode    = is_ours ? fby_upload_ignore_captures(self) : 0;
    allocator->free(allocator->arg, memory, self->memory_stream);
    if (is_ours) {
        fby_upload_restore_capture_mode(self, mode);
    }
}

/* Make the memory stream wait for the work on `output`, so that a later free on
 * the stream comes after that work. */
static void wait_for_last_use(
    struct fby_gpu_upload *self, const struct upload_output *output)
{
    void *const events[2] = {output->ready, output->released};
    for (size_t i = 0; i < 2; i++) {
        if (events[i] != NULL) {
            (void)self->cuda->stream_wait(self->memory_stream, events[i]);
        }
    }
}

/* The output's memory if it may be freed now, else NULL. Fixed memory is shared
 * by all outputs, and the caller's is not ours. Memory with use_unknown may be
 * in use: then only memory from cudaMalloc may be freed, because cudaFree waits
 * for the device. */
static void *freeable_memory(
    const struct fby_gpu_upload *self, const struct upload_output *output)
{
    bool from_cuda_malloc = self->config.memory.allocate == NULL &&
                            (!output->extra || self->pool == NULL);
    bool is_safe = from_cuda_malloc || !output->use_unknown;
    return !fby_upload_is_deferred(self) && is_safe ? output->public.memory
                                                    : NULL;
}

static struct upload_output *create_output(struct cuda_calls *calls)
{
    struct upload_output *output = fby_zalloc(sizeof(*output));
    CALL(calls, event_create, &output->ready);
    CALL(calls, event_create, &output->released);
    return output;
}

/* Free what CUDA has of an output: memory of its own, and events. */
static void destroy_cuda_parts(struct cuda_calls *calls, void *arg)
{
    struct fby_gpu_upload *self   = calls->upload;
    struct upload_output  *output = arg;
    void                  *memory = freeable_memory(self, output);
    if (output->public.memory != NULL) {
        wait_for_last_use(self, output);
    }
    if (memory != NULL && output->extra && self->pool != NULL) {
        (void)self->cuda->pool_free(memory, self->memory_stream);
    } else {
        free_by_cuda(self, memory);
    }
    fby_upload_destroy_event(self, output->ready);
    fby_upload_destroy_event(self, output->released);
}

/* Free the rest, after destroy_cuda_parts(). */
static void free_output(
    struct fby_gpu_upload *self, struct upload_output *output)
{
    free_by_application(self, freeable_memory(self, output));
    free(output);
}

/* ---- outputs that are kept ----------------------------------------------- */

void fby_upload_create_outputs(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    if (self->config.fixed_address) {
        self->fixed_memory = allocate_kept(calls);
        CALL(calls, event_create, &self->last_release);
    }
    for (uint32_t i = 0; i < self->config.n_outs && calls->err == FBY_OK; i++) {
        struct upload_output *output = create_output(calls);
        output->public.memory        = self->fixed_memory;
        if (!fby_upload_is_deferred(self)) {
            output->public.memory = allocate_kept(calls);
        }
        output->next       = self->free_outputs;
        self->free_outputs = output;
    }
}

/* The rule of freeable_memory, for the memory that all outputs share. */
static void *freeable_fixed_memory(const struct fby_gpu_upload *self)
{
    bool may_be_in_use =
        self->config.memory.allocate != NULL && self->any_use_unknown;
    return may_be_in_use ? NULL : self->fixed_memory;
}

void fby_upload_destroy_outputs(struct cuda_calls *calls, void *unused)
{
    struct fby_gpu_upload *self = calls->upload;
    (void)unused;
    for (struct upload_output *output = self->free_outputs; output != NULL;
         output                       = output->next) {
        destroy_cuda_parts(calls, output);
    }
    free_by_cuda(self, freeable_fixed_memory(self));
    fby_upload_destroy_event(self, self->last_release);
}

void fby_upload_free_outputs(struct fby_gpu_upload *self)
{
    while (self->free_outputs != NULL) {
        struct upload_output *output = self->free_outputs;
        self->free_outputs           = output->next;
        free_output(self, output);
    }
    free_by_application(self, freeable_fixed_memory(self));
}

static struct upload_output *take_kept(struct fby_gpu_upload *self)
{
    pthread_mutex_lock(&self->lock);
    struct upload_output *output = self->free_outputs;
    if (output != NULL) {
        self->free_outputs = output->next;
    }
    pthread_mutex_unlock(&self->lock);
    return output;
}

/* ---- extra outputs ------------------------------------------------------- */

void fby_upload_create_pool(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    if (calls->err != FBY_OK || self->config.memory.allocate != NULL ||
        fby_upload_is_deferred(self)) {
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

/* Allocate an extra output's memory. Other streams may use it once the event
 * `released`, which is recorded here, has passed. */
static void *allocate_extra(
    struct cuda_calls *calls, const struct upload_output *output)
{
    struct fby_gpu_upload *self   = calls->upload;
    void                  *memory = NULL;
    if (fby_upload_is_deferred(self) || calls->err != FBY_OK) {
        return self->fixed_memory; /* NULL: the caller gives the memory */
    }
    if (self->config.memory.allocate != NULL) {
        memory = allocate_by_application(calls);
    } else if (self->pool == NULL) {
        CALL(calls, allocate, &memory, self->config.out_bytes);
    } else {
        CALL(calls, pool_allocate, &memory, self->config.out_bytes, self->pool,
            self->memory_stream);
    }
    CALL(calls, event_record, output->released, self->memory_stream);
    return memory;
}

static struct upload_output *create_extra(struct fby_gpu_upload *self)
{
    struct fby_error_detail why   = {""};
    struct cuda_calls       calls = {.upload = self, .why = &why};
    CALL(&calls, use_device, self->config.device);
    int                   mode   = fby_upload_ignore_captures(self);
    struct upload_output *output = create_output(&calls);
    output->extra                = true;
    output->public.memory        = allocate_extra(&calls, output);
    output->busy_until = fby_upload_is_deferred(self) ? NULL : output->released;
    if (calls.err != FBY_OK) {
        fby_warn("NO-DEVICE-MEMORY", "%s", why.text);
        destroy_cuda_parts(&calls, output);
        free_output(self, output);
        output = NULL;
    }
    fby_upload_restore_capture_mode(self, mode);
    return output;
}

/* ---- kept and extra outputs ---------------------------------------------- */

struct fby_gpu_output *fby_gpu_upload_take_output(
    struct fby_gpu_upload *self, bool extra)
{
    struct upload_output *output = extra ? create_extra(self) : take_kept(self);
    return output != NULL ? &output->public : NULL;
}

static void drop_locked(struct upload_output *output)
{
    if (output->lane != NULL) { /* its kernels were never launched */
        output->lane->pending = false;
        output->lane          = NULL;
    }
}

void fby_gpu_upload_drop(
    struct fby_gpu_upload *self, struct fby_gpu_output *handle)
{
    pthread_mutex_lock(&self->lock);
    drop_locked(upload_output_of(handle));
    pthread_mutex_unlock(&self->lock);
}

void fby_gpu_upload_recycle(
    struct fby_gpu_upload *self, struct fby_gpu_output *handle)
{
    struct upload_output *output = upload_output_of(handle);
    pthread_mutex_lock(&self->lock);
    drop_locked(output);
    self->any_use_unknown = self->any_use_unknown || output->use_unknown;
    /* Read before the output is in the list: other threads may take it then. */
    bool extra = output->extra;
    if (!extra) {
        output->next       = self->free_outputs;
        self->free_outputs = output;
    }
    pthread_mutex_unlock(&self->lock);
    if (extra) { /* without the lock, as the allocator requires */
        fby_upload_free_on_device(self, destroy_cuda_parts, output);
        free_output(self, output);
    }
}
