/* SPDX-License-Identifier: Apache-2.0 */
/* upload_batch.c - copy a batch to a lane (a CUDA stream with device memory),
 * launch the kernels that expand it to tensors in an output buffer, make the
 * consumer's stream wait for the tensors, and release them. */
#include "trainer_client/gpu/upload_state.h"

#include <string.h>

#include "trainer_client/expand/segment.h"

_Static_assert(sizeof(((struct fby_cuda_launch *)0)->blocks) ==
                   sizeof(((struct fby_segment_list *)0)->blocks),
    "a launch and a list have the same passes");

/* ---- submit -------------------------------------------------------------- */

/* Choose the next lane that is not pending. A deferred batch keeps its lane
 * pending from its copy until the consumer takes it. */
static struct upload_lane *choose_lane(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        struct upload_lane *lane =
            &self->lanes[self->next_lane++ % FBY_GPU_UPLOAD_LANES];
        if (!lane->pending) {
            return lane;
        }
    }
    calls->err = fby_error_set(calls->why, FBY_SYS,
        "%d batches wait for their kernels", FBY_GPU_UPLOAD_LANES);
    return NULL;
}

/* Record an event after copies or a launch, even if one of them failed, because
 * the others may run. Returns true if the event was recorded. Otherwise no event
 * tells when their memory is free, so wait for the stream. */
static bool record_after(struct cuda_calls *calls, void *event, void *stream)
{
    int code = calls->upload->cuda->event_record(event, stream);
    if (code != 0) {
        (void)calls->upload->cuda->stream_sync(stream);
    }
    if (calls->err == FBY_OK) {
        calls->err = fby_upload_check_call(calls, code);
    }
    return code == 0;
}

static void copy_arena(struct cuda_calls *calls,
    const struct fby_gpu_upload_batch *batch, struct upload_lane *lane)
{
    const uint8_t *from = fby_gpu_upload_arena(calls->upload, batch->arena);
    struct upload_arena *arena = &calls->upload->arenas[batch->arena];
    if (lane->must_wait) {
        CALL(calls, stream_wait, lane->stream, lane->kernel_done);
    }
    calls->upload->cuda->begin_range("forebay copy");
    for (uint64_t offset = 0; offset < batch->bytes;
         offset += FBY_GPU_UPLOAD_MAX_COPY) {
        uint64_t left = batch->bytes - offset;
        CALL(calls, copy, lane->memory + offset, from + offset,
            left < FBY_GPU_UPLOAD_MAX_COPY ? left : FBY_GPU_UPLOAD_MAX_COPY,
            lane->stream);
    }
    calls->upload->cuda->end_range();
    arena->busy  = record_after(calls, arena->copied, lane->stream);
    arena->epoch = batch->epoch;
    arena->step  = batch->step;
}

/* Make the lane wait for the end of the last use of the output's memory: by the
 * consumer, or by the kernels of a batch that no consumer took. */
static void wait_until_free(struct cuda_calls *calls,
    struct upload_output *output, struct upload_lane *lane)
{
    if (output->busy_until == NULL || calls->err != FBY_OK) {
        return;
    }
    int code = calls->upload->cuda->event_query(output->busy_until);
    if (code == calls->upload->cuda->not_ready) {
        CALL(calls, stream_wait, lane->stream, output->busy_until);
    } else {
        calls->err = fby_upload_check_call(calls, code);
    }
    if (calls->err == FBY_OK) {
        output->busy_until = NULL;
    }
}

static struct fby_cuda_launch make_launch(const struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, const struct upload_lane *lane)
{
    struct fby_segment_list list;
    memcpy(&list, fby_gpu_upload_arena(self, batch->arena) + batch->list,
        sizeof(list));
    struct fby_cuda_launch launch = {
        .arena  = lane->memory,
        .list   = batch->list,
        .out    = batch->out->memory,
        .shared = list.shared,
        .stream = lane->stream,
    };
    memcpy(launch.blocks, list.blocks, sizeof(launch.blocks));
    return launch;
}

static void launch_kernels(
    struct cuda_calls *calls, const struct fby_cuda_launch *kernels)
{
    calls->upload->cuda->begin_range("forebay launch");
    if (kernels->blocks[FBY_PASS_EXPAND] > 0) { /* else the batch has no rows */
        CALL(calls, launch, kernels);
    }
    calls->upload->cuda->end_range();
}

/* Record the event that passes when the launched kernels end. If that fails, it
 * is unknown when the tensors are ready. */
static void record_ready(struct cuda_calls *calls, struct upload_output *output)
{
    bool recorded = record_after(calls, output->ready, output->launch.stream);
    output->use_unknown = output->use_unknown || !recorded;
    output->busy_until  = output->ready;
}

static void submit_locked(
    struct cuda_calls *calls, const struct fby_gpu_upload_batch *batch)
{
    struct fby_gpu_upload *self   = calls->upload;
    struct upload_output  *output = upload_output_of(batch->out);
    struct upload_lane    *lane   = NULL;
    if (self->release_failed) {
        calls->err =
            fby_error_set(calls->why, FBY_SYS, "%s", self->release_error.text);
        return;
    }
    lane = choose_lane(calls);
    if (lane == NULL) {
        return;
    }
    copy_arena(calls, batch, lane);
    output->launch = make_launch(self, batch, lane);
    output->epoch  = batch->epoch;
    output->step   = batch->step;
    if (fby_upload_is_deferred(self)) {
        CALL(calls, event_record, lane->copied, lane->stream);
        lane->pending = calls->err == FBY_OK;
        output->lane  = lane->pending ? lane : NULL;
        return;
    }
    wait_until_free(calls, output, lane);
    /* After an error launch_kernels launches no kernel. */
    bool kernels_may_run = calls->err == FBY_OK;
    launch_kernels(calls, &output->launch);
    if (kernels_may_run) {
        record_ready(calls, output);
    }
}

fby_err fby_gpu_upload_submit(struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, struct fby_error_detail *why)
{
    struct cuda_calls calls =
        fby_upload_batch_calls(self, batch->epoch, batch->step, why);
    self->cuda->begin_range("forebay pin");
    calls.err = fby_pinned_wait(self->pinned, batch->arena, why);
    self->cuda->end_range();
    CALL(&calls, use_device, self->config.device);
    int mode = fby_upload_ignore_captures(self);
    pthread_mutex_lock(&self->lock);
    if (calls.err == FBY_OK) {
        submit_locked(&calls, batch);
    }
    pthread_mutex_unlock(&self->lock);
    fby_upload_restore_capture_mode(self, mode);
    return calls.err;
}

static fby_err query_copied(struct fby_gpu_upload *self,
    const struct upload_arena *arena, struct fby_error_detail *why)
{
    struct cuda_calls calls =
        fby_upload_batch_calls(self, arena->epoch, arena->step, why);
    CALL(&calls, use_device, self->config.device);
    if (calls.err != FBY_OK) {
        return calls.err;
    }
    int mode = fby_upload_ignore_captures(self);
    int code = self->cuda->event_query(arena->copied);
    fby_upload_restore_capture_mode(self, mode);
    return code == self->cuda->not_ready ? FBY_AGAIN
                                         : fby_upload_check_call(&calls, code);
}

fby_err fby_gpu_upload_poll_copied(
    struct fby_gpu_upload *self, uint32_t arena, struct fby_error_detail *why)
{
    fby_err              err   = FBY_OK;
    struct upload_arena *state = &self->arenas[arena];
    pthread_mutex_lock(&self->lock);
    if (state->busy) {
        err         = query_copied(self, state, why);
        state->busy = err == FBY_AGAIN;
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- on a stream of the consumer: await, release ------------------------- */

/* Launch the kernels of a batch on the consumer's stream. With `fixed_address`
 * they write the memory that all outputs share, so they wait for the release of
 * the last batch. */
static void launch_deferred(
    struct cuda_calls *calls, struct upload_output *output, void *stream)
{
    struct fby_gpu_upload *self = calls->upload;
    struct upload_lane    *lane = output->lane;
    output->lane                = NULL;
    output->launch.stream       = stream;
    output->launch.out          = output->public.memory;
    CALL(calls, stream_wait, stream, lane->copied);
    if (self->has_last_release) {
        CALL(calls, stream_wait, stream, self->last_release);
    }
    /* After an error launch_kernels launches no kernel. */
    bool kernels_may_run = calls->err == FBY_OK;
    launch_kernels(calls, &output->launch);
    if (kernels_may_run) { /* record_after sets calls->err */
        (void)record_after(calls, lane->kernel_done, stream);
        record_ready(calls, output);
    }
    lane->pending   = false;
    lane->must_wait = true; /* harmless if kernel_done was never recorded */
}

/* Queues work on a stream of the consumer. Called with the lock held. */
typedef void stream_function(
    struct cuda_calls *calls, struct upload_output *output, void *stream);

struct stream_task {
    struct upload_output *output;
    void                 *stream; /* of the consumer */
    stream_function      *work;
};

static void run_task(struct cuda_calls *calls, void *arg)
{
    const struct stream_task *task = arg;
    pthread_mutex_lock(&calls->upload->lock);
    task->work(calls, task->output, task->stream);
    pthread_mutex_unlock(&calls->upload->lock);
}

/* Call `work` for an output and a stream of the consumer. */
static fby_err call_on_stream(struct fby_gpu_upload *self,
    struct upload_output *output, void *stream, stream_function *work,
    struct fby_error_detail *why)
{
    struct stream_task task = {output, stream, work};
    struct cuda_calls  calls =
        fby_upload_batch_calls(self, output->epoch, output->step, why);
    (void)fby_upload_run_on_device(&calls, stream, run_task, &task);
    return calls.err;
}

/* A deferred output has a lane until its kernels are launched. */
static void wait_for_tensors(
    struct cuda_calls *calls, struct upload_output *output, void *stream)
{
    if (output->lane != NULL) {
        launch_deferred(calls, output, stream);
    } else {
        CALL(calls, stream_wait, stream, output->ready);
    }
}

void fby_gpu_upload_set_memory(struct fby_gpu_output *handle, uint8_t *memory)
{
    handle->memory = memory;
}

fby_err fby_gpu_upload_await(struct fby_gpu_upload *self,
    struct fby_gpu_output *handle, void *stream, struct fby_error_detail *why)
{
    struct upload_output *output = upload_output_of(handle);
    return call_on_stream(self, output, stream, wait_for_tensors, why);
}

static void record_release(
    struct cuda_calls *calls, struct upload_output *output, void *stream)
{
    struct fby_gpu_upload *self = calls->upload;
    CALL(calls, event_record, output->released, stream);
    output->busy_until = output->released;
    if (self->config.fixed_address) {
        CALL(calls, event_record, self->last_release, stream);
        self->has_last_release = true;
    }
}

/* Make later submits fail, because it is unknown when the consumer's use of
 * `output` ends. */
static void fail_release(
    struct fby_gpu_upload *self, struct upload_output *output, const char *why)
{
    pthread_mutex_lock(&self->lock);
    output->use_unknown = true;
    if (!self->release_failed) {
        self->release_failed = true;
        (void)fby_error_set(&self->release_error, FBY_SYS,
            "a batch was released on a stream that cannot be waited for: %s",
            why);
    }
    pthread_mutex_unlock(&self->lock);
}

void fby_gpu_upload_release(
    struct fby_gpu_upload *self, struct fby_gpu_output *handle, void *stream)
{
    struct upload_output   *output = upload_output_of(handle);
    struct fby_error_detail why    = {""};
    if (call_on_stream(self, output, stream, record_release, &why) != FBY_OK) {
        fail_release(self, output, why.text);
    }
}
