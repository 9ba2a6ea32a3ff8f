/* SPDX-License-Identifier: Apache-2.0 */
/* upload_create.c - create, stop and destroy an upload and its lanes (each a
 * CUDA stream with device memory for one batch). */
#include "trainer_client/gpu/upload_state.h"

#include <stdlib.h>

#include "common/mem.h"

/* ---- create -------------------------------------------------------------- */

static void create_lane(struct cuda_calls *calls, struct upload_lane *lane)
{
    void *memory = NULL;
    CALL(calls, stream_create, &lane->stream);
    CALL(calls, allocate, &memory,
        calls->upload->config.arena_bytes + calls->upload->config.work_bytes);
    lane->memory = memory;
    if (fby_upload_is_deferred(calls->upload)) {
        CALL(calls, event_create, &lane->copied);
        CALL(calls, event_create, &lane->kernel_done);
    }
}

static void create_on_device(struct cuda_calls *calls, void *unused)
{
    struct fby_gpu_upload *self = calls->upload;
    (void)unused;
    CALL(calls, load_kernels);
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        create_lane(calls, &self->lanes[i]);
    }
    for (uint32_t i = 0; i < self->config.n_arenas; i++) {
        CALL(calls, event_create, &self->arenas[i].copied);
    }
    CALL(calls, stream_create, &self->memory_stream);
    fby_upload_create_pool(calls);
    fby_upload_create_outputs(calls);
}

fby_err fby_gpu_upload_create(const struct fby_gpu_upload_config *config,
    struct fby_gpu_upload **out, struct fby_error_detail *why)
{
    struct fby_gpu_upload *self  = fby_zalloc(sizeof(*self));
    struct cuda_calls      calls = {.upload = self, .why = why};
    self->config                 = *config;
    self->cuda                   = config->cuda;
    self->arenas = fby_zalloc(config->n_arenas * sizeof(*self->arenas));
    pthread_mutex_init(&self->lock, NULL);
    (void)fby_upload_run_on_thread(&calls, create_on_device, NULL);
    if (calls.err == FBY_OK) {
        const struct fby_pin_config pin = {
            .cuda   = config->cuda,
            .device = config->device,
            .n      = config->n_arenas,
            .bytes  = config->arena_bytes,
        };
        calls.err = fby_pinned_create(&pin, &self->pinned, why);
    }
    if (calls.err != FBY_OK) { /* destroy frees what was created */
        fby_gpu_upload_destroy(&self);
        return calls.err;
    }
    *out = self;
    return FBY_OK;
}

/* ---- stop and destroy ---------------------------------------------------- */

/* Wait for the lanes, then unpin the arenas. */
static void finish_copies(struct cuda_calls *calls, void *unused)
{
    struct fby_gpu_upload *self = calls->upload;
    (void)unused;
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        if (self->lanes[i].stream != NULL) {
            (void)self->cuda->stream_sync(self->lanes[i].stream);
        }
    }
    fby_pinned_destroy(&self->pinned);
}

void fby_gpu_upload_stop(struct fby_gpu_upload *self)
{
    pthread_mutex_lock(&self->lock);
    bool was_stopped = self->stopped;
    self->stopped    = true;
    pthread_mutex_unlock(&self->lock);
    if (!was_stopped) {
        fby_upload_free_on_device(self, finish_copies, NULL);
    }
}

static void destroy_lanes(struct fby_gpu_upload *self)
{
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        struct upload_lane *lane = &self->lanes[i];
        fby_upload_destroy_event(self, lane->copied);
        fby_upload_destroy_event(self, lane->kernel_done);
        if (lane->memory != NULL) {
            (void)self->cuda->free(lane->memory);
        }
        if (lane->stream != NULL) {
            (void)self->cuda->stream_destroy(lane->stream);
        }
    }
}

/* Destroy all but the outputs. */
static void destroy_objects(struct cuda_calls *calls, void *unused)
{
    struct fby_gpu_upload *self = calls->upload;
    (void)unused;
    if (self->memory_stream != NULL) { /* the application freed memory on it */
        (void)self->cuda->stream_sync(self->memory_stream);
        (void)self->cuda->stream_destroy(self->memory_stream);
    }
    destroy_lanes(self);
    for (uint32_t i = 0; i < self->config.n_arenas; i++) {
        fby_upload_destroy_event(self, self->arenas[i].copied);
    }
    if (self->pool != NULL) {
        (void)self->cuda->pool_destroy(self->pool);
    }
}

void fby_gpu_upload_destroy(struct fby_gpu_upload **self_p)
{
    struct fby_gpu_upload *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_gpu_upload_stop(self);
    fby_upload_free_on_device(self, fby_upload_destroy_outputs, NULL);
    fby_upload_free_outputs(self); /* needs the memory stream */
    fby_upload_free_on_device(self, destroy_objects, NULL);
    pthread_mutex_destroy(&self->lock);
    free(self->arenas);
    free(self);
}

bool fby_gpu_upload_is_fixed(const struct fby_gpu_upload *self)
{
    return self->config.fixed_address;
}

uint8_t *fby_gpu_upload_arena(const struct fby_gpu_upload *self, uint32_t arena)
{
    return fby_pinned_memory(self->pinned, arena);
}
