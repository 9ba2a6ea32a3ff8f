/* upload_outs.c - memory for the tensors of batches: ours, from a pool, or the
 * caller's; allocated and freed in the order of a stream. */
#include "trainer_client/gpu/upload_state.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"
#include "trainer_client/gpu/cuda_error.h"

/* ---- made and given back ------------------------------------------------- */

static void *caller_memory(struct cuda_calls *calls)
{
    const struct fby_gpu_upload_config *config = &calls->upload->config;
    void *memory = config->memory.allocate(config->memory.arg,
        config->out_bytes, config->device, calls->upload->memory);
    if (memory == NULL) {
        calls->err = fby_because(calls->why, FBY_SYS,
            "the allocator has no %llu bytes for a batch's tensors",
            (unsigned long long)config->out_bytes);
    }
    return memory;
}

/* From the caller, or ours. When it returns the device has finished with it. */
static void *usual_memory(struct cuda_calls *calls)
{
    const struct fby_gpu_upload_config *config = &calls->upload->config;
    void                               *memory = NULL;
    if (config->memory.allocate == NULL) {
        CALL(calls, allocate, &memory, config->out_bytes);
        return memory;
    }
    memory = calls->err == FBY_OK ? caller_memory(calls) : NULL;
    CALL(calls, stream_sync, calls->upload->memory);
    return memory;
}

/* Called after the last use of the memory. */
static void free_memory(struct fby_gpu_upload *self, void *memory)
{
    const struct fby_gpu_upload_memory *theirs = &self->config.memory;
    if (memory == NULL) {
        return;
    }
    if (theirs->allocate != NULL) {
        theirs->free(theirs->arg, memory, self->memory);
    } else {
        (void)self->cuda->free(memory);
    }
}

/* Order what is freed from now on after the work that writes and reads
 * `out`. */
static void order_after_use(
    struct fby_gpu_upload *self, const struct upload_out *out)
{
    void *both[] = {out->ready, out->released};
    for (size_t i = 0; i < 2; i++) {
        if (both[i] != NULL) {
            (void)self->cuda->stream_wait(self->memory, both[i]);
        }
    }
}

/* The memory of an out that may be freed; NULL for the fixed one and for a lost
 * one. Our own usual memory may always be: freeing it waits for the device. */
static void *freeable_memory(
    const struct fby_gpu_upload *self, const struct upload_out *out)
{
    bool ours = self->config.memory.allocate == NULL && !out->further;
    return self->fixed == NULL && (ours || !out->lost) ? out->public.memory
                                                       : NULL;
}

static struct upload_out *make_out(struct cuda_calls *calls)
{
    struct upload_out *out = fby_zalloc(sizeof(*out));
    CALL(calls, event_create, &out->ready);
    CALL(calls, event_create, &out->released);
    return out;
}

static void destroy_out(struct fby_gpu_upload *self, struct upload_out *out)
{
    if (out->ready != NULL) {
        (void)self->cuda->event_destroy(out->ready);
    }
    if (out->released != NULL) {
        (void)self->cuda->event_destroy(out->released);
    }
    free(out);
}

/* ---- the usual outs ------------------------------------------------------ */

void fby_upload_make_outs(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    if (self->config.fixed) {
        self->fixed = usual_memory(calls);
        CALL(calls, event_create, &self->last_release);
    }
    for (uint32_t i = 0; i < self->config.n_outs && calls->err == FBY_OK; i++) {
        struct upload_out *out = make_out(calls);
        out->public.memory =
            self->config.fixed ? self->fixed : usual_memory(calls);
        out->next  = self->free;
        self->free = out;
    }
}

void fby_upload_destroy_outs(struct fby_gpu_upload *self)
{
    while (self->free != NULL) {
        struct upload_out *out = self->free;
        self->free             = out->next;
        if (out->public.memory != NULL) {
            order_after_use(self, out);
        }
        free_memory(self, freeable_memory(self, out));
        destroy_out(self, out);
    }
    bool theirs = self->config.memory.allocate != NULL;
    free_memory(self, theirs && self->out_lost ? NULL : self->fixed);
    if (self->last_release != NULL) {
        (void)self->cuda->event_destroy(self->last_release);
    }
}

static struct upload_out *take_usual(struct fby_gpu_upload *self)
{
    pthread_mutex_lock(&self->lock);
    struct upload_out *out = self->free;
    if (out != NULL) {
        self->free = out->next;
    }
    pthread_mutex_unlock(&self->lock);
    return out;
}

static void give_usual(struct fby_gpu_upload *self, struct upload_out *out)
{
    pthread_mutex_lock(&self->lock);
    out->next  = self->free;
    self->free = out;
    pthread_mutex_unlock(&self->lock);
}

/* ---- further ones -------------------------------------------------------- */

void fby_upload_make_pool(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    if (calls->err != FBY_OK || self->config.memory.allocate != NULL ||
        self->config.fixed) {
        return;
    }
    int code = self->cuda->pool_create(self->config.device, &self->pool);
    struct fby_why why;
    if (fby_cuda_check(self->cuda, code, &why) != FBY_OK) {
        self->pool = NULL;
        fby_info("NO-DEVICE-POOL", "device cuda:%d has no memory pools: %s",
            self->config.device, why.text);
    }
}

static void give_further(struct fby_gpu_upload *self, struct upload_out *out)
{
    void *memory = freeable_memory(self, out);
    if (out->public.memory != NULL) { /* the fixed one is freed later */
        order_after_use(self, out);
    }
    if (memory != NULL && self->pool != NULL) {
        (void)self->cuda->pool_give(memory, self->memory);
    } else {
        free_memory(self, memory);
    }
    destroy_out(self, out);
}

/* Other streams may use the memory once out->released has passed. */
static void *further_memory(
    struct cuda_calls *calls, const struct upload_out *out)
{
    struct fby_gpu_upload *self   = calls->upload;
    void                  *memory = self->fixed;
    if (memory != NULL || calls->err != FBY_OK) {
        return memory;
    }
    if (self->config.memory.allocate != NULL) {
        memory = caller_memory(calls);
    } else if (self->pool == NULL) {
        CALL(calls, allocate, &memory, self->config.out_bytes);
    } else {
        CALL(calls, pool_take, &memory, self->config.out_bytes, self->pool,
            self->memory);
    }
    CALL(calls, event_record, out->released, self->memory);
    return memory;
}

static struct upload_out *take_further(struct fby_gpu_upload *self)
{
    struct fby_why    why   = {""};
    struct cuda_calls calls = {.upload = self, .why = &why};
    CALL(&calls, use, self->config.device);
    int                mode = fby_upload_enter(self);
    struct upload_out *out  = make_out(&calls);
    out->further            = true;
    out->public.memory      = further_memory(&calls, out);
    out->busy_until         = self->fixed == NULL ? out->released : NULL;
    if (calls.err != FBY_OK) {
        fby_warn("NO-DEVICE-MEMORY", "%s", why.text);
        give_further(self, out);
        out = NULL;
    }
    fby_upload_leave(self, mode);
    return out;
}

/* ---- any of them --------------------------------------------------------- */

struct fby_gpu_upload_out *fby_gpu_upload_take(
    struct fby_gpu_upload *self, bool further)
{
    struct upload_out *out = further ? take_further(self) : take_usual(self);
    return out != NULL ? &out->public : NULL;
}

void fby_gpu_upload_give(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *given)
{
    struct upload_out *out = (struct upload_out *)(void *)given;
    pthread_mutex_lock(&self->lock);
    if (out->lane != NULL) { /* the batch was never taken */
        out->lane->armed = false;
        out->lane        = NULL;
    }
    self->out_lost = self->out_lost || out->lost;
    pthread_mutex_unlock(&self->lock);
    if (out->further) {
        int mode = fby_upload_enter(self);
        give_further(self, out);
        fby_upload_leave(self, mode);
    } else {
        give_usual(self, out);
    }
}
