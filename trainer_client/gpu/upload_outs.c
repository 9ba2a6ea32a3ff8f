/* upload_outs.c - memory for the tensors of batches: ours, of a pool, or the
 * caller's; taken and given back in the order of a stream. */
#include "trainer_client/gpu/upload_state.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"
#include "trainer_client/gpu/cuda_error.h"

/* ---- made and given back ------------------------------------------------- */

static void *their_memory(struct run *run)
{
    const struct fby_gpu_upload_config *config = &run->upload->config;
    void *memory = config->memory.allocate(config->memory.arg,
        config->out_bytes, config->device, run->upload->memory);
    if (memory == NULL) {
        run->err = fby_because(run->why, FBY_SYS,
            "the allocator has no %llu bytes for a batch's tensors",
            (unsigned long long)config->out_bytes);
    }
    return memory;
}

/* Of the caller's, or ours; then the device has waited for it. */
static void *usual_memory(struct run *run)
{
    const struct fby_gpu_upload_config *config = &run->upload->config;
    void                               *memory = NULL;
    if (config->memory.allocate == NULL) {
        CALL(run, allocate, &memory, config->out_bytes);
        return memory;
    }
    memory = run->err == FBY_OK ? their_memory(run) : NULL;
    CALL(run, stream_sync, run->upload->memory);
    return memory;
}

/* After all that was ever done with it. */
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

/* What is given back from now on is so after the work that makes it and that
 * reads it. */
static void await_out(struct fby_gpu_upload *self, const struct out *out)
{
    void *both[] = {out->ready, out->released};
    for (size_t i = 0; i < 2; i++) {
        if (both[i] != NULL) {
            (void)self->cuda->stream_wait(self->memory, both[i]);
        }
    }
}

/* What of it may be given back to others: none where it is lost. Our own goes
 * back with a call that waits for the device. */
static void *memory_of(const struct fby_gpu_upload *self, const struct out *out)
{
    bool ours = self->config.memory.allocate == NULL && !out->further;
    return self->fixed == NULL && (ours || !out->lost) ? out->public.memory
                                                       : NULL;
}

static struct out *make_out(struct run *run)
{
    struct out *out = fby_zalloc(sizeof(*out));
    CALL(run, event_create, &out->ready);
    CALL(run, event_create, &out->released);
    return out;
}

static void destroy_out(struct fby_gpu_upload *self, struct out *out)
{
    if (out->ready != NULL) {
        (void)self->cuda->event_destroy(out->ready);
    }
    if (out->released != NULL) {
        (void)self->cuda->event_destroy(out->released);
    }
    free(out);
}

/* ---- those that are always there ----------------------------------------- */

void fby_f_make_outs(struct run *run)
{
    struct fby_gpu_upload *self = run->upload;
    if (self->config.fixed) {
        self->fixed = usual_memory(run);
        CALL(run, event_create, &self->left);
    }
    for (uint32_t i = 0; i < self->config.n_outs && run->err == FBY_OK; i++) {
        struct out *out = make_out(run);
        out->public.memory =
            self->config.fixed ? self->fixed : usual_memory(run);
        out->next  = self->free;
        self->free = out;
    }
}

void fby_f_destroy_outs(struct fby_gpu_upload *self)
{
    while (self->free != NULL) {
        struct out *out = self->free;
        self->free      = out->next;
        if (out->public.memory != NULL) {
            await_out(self, out);
        }
        free_memory(self, memory_of(self, out));
        destroy_out(self, out);
    }
    bool theirs = self->config.memory.allocate != NULL;
    free_memory(self, theirs && self->out_lost ? NULL : self->fixed);
    if (self->left != NULL) {
        (void)self->cuda->event_destroy(self->left);
    }
}

static struct out *take_usual(struct fby_gpu_upload *self)
{
    pthread_mutex_lock(&self->lock);
    struct out *out = self->free;
    if (out != NULL) {
        self->free = out->next;
    }
    pthread_mutex_unlock(&self->lock);
    return out;
}

static void give_usual(struct fby_gpu_upload *self, struct out *out)
{
    pthread_mutex_lock(&self->lock);
    out->next  = self->free;
    self->free = out;
    pthread_mutex_unlock(&self->lock);
}

/* ---- further ones -------------------------------------------------------- */

void fby_f_make_pool(struct run *run)
{
    struct fby_gpu_upload *self = run->upload;
    if (run->err != FBY_OK || self->config.memory.allocate != NULL ||
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

static void give_further(struct fby_gpu_upload *self, struct out *out)
{
    void *memory = memory_of(self, out);
    if (out->public.memory != NULL) { /* the fixed one goes back later */
        await_out(self, out);
    }
    if (memory != NULL && self->pool != NULL) {
        (void)self->cuda->pool_give(memory, self->memory);
    } else {
        free_memory(self, memory);
    }
    destroy_out(self, out);
}

/* What is given is there for other streams from an event on. */
static void *further_memory(struct run *run, const struct out *out)
{
    struct fby_gpu_upload *self   = run->upload;
    void                  *memory = self->fixed;
    if (memory != NULL || run->err != FBY_OK) {
        return memory;
    }
    if (self->config.memory.allocate != NULL) {
        memory = their_memory(run);
    } else if (self->pool == NULL) {
        CALL(run, allocate, &memory, self->config.out_bytes);
    } else {
        CALL(run, pool_take, &memory, self->config.out_bytes, self->pool,
            self->memory);
    }
    CALL(run, event_record, out->released, self->memory);
    return memory;
}

static struct out *take_further(struct fby_gpu_upload *self)
{
    struct fby_why why = {""};
    struct run     run = {.upload = self, .why = &why};
    CALL(&run, use, self->config.device);
    int         mode   = fby_f_enter(self);
    struct out *out    = make_out(&run);
    out->further       = true;
    out->public.memory = further_memory(&run, out);
    out->leaving       = self->fixed == NULL ? out->released : NULL;
    if (run.err != FBY_OK) {
        fby_warn("NO-DEVICE-MEMORY", "%s", why.text);
        give_further(self, out);
        out = NULL;
    }
    fby_f_leave(self, mode);
    return out;
}

/* ---- any of them --------------------------------------------------------- */

struct fby_gpu_upload_out *fby_gpu_upload_take(
    struct fby_gpu_upload *self, bool further)
{
    struct out *out = further ? take_further(self) : take_usual(self);
    return out != NULL ? &out->public : NULL;
}

void fby_gpu_upload_give(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *given)
{
    struct out *out = (struct out *)(void *)given;
    pthread_mutex_lock(&self->lock);
    if (out->lane != NULL) { /* nobody took the batch */
        out->lane->armed = false;
        out->lane        = NULL;
    }
    self->out_lost = self->out_lost || out->lost;
    pthread_mutex_unlock(&self->lock);
    if (out->further) {
        int mode = fby_f_enter(self);
        give_further(self, out);
        fby_f_leave(self, mode);
    } else {
        give_usual(self, out);
    }
}
