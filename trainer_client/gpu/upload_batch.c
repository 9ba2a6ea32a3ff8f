/* upload_batch.c - copy and launch a batch on a lane, hand it out to a stream
 * of the consumer, and release it. */
#include "trainer_client/gpu/upload_state.h"

#include <string.h>

#include "trainer_client/expand/segment.h"

_Static_assert(sizeof(((struct fby_cuda_launch *)0)->blocks) ==
                   sizeof(((struct fby_segment_list *)0)->blocks),
    "a launch has the passes of a list");

/* ---- submit -------------------------------------------------------------- */

/* Choose the next lane that is not pending. With `fixed` each batch of the
 * ready queue keeps one lane pending. */
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

static void copy_arena(struct cuda_calls *calls,
    const struct fby_gpu_upload_batch *batch, struct upload_lane *lane)
{
    const uint8_t *from = fby_gpu_upload_arena(calls->upload, batch->arena);
    struct upload_arena *arena = &calls->upload->arenas[batch->arena];
    if (lane->kernel_done_recorded) {
        CALL(calls, stream_wait, lane->stream, lane->kernel_done);
    }
    calls->upload->cuda->begin_range("forebay copy");
    for (uint64_t at = 0; at < batch->bytes; at += FBY_GPU_UPLOAD_PIECE) {
        uint64_t left = batch->bytes - at;
        CALL(calls, copy, lane->memory + at, from + at,
            left < FBY_GPU_UPLOAD_PIECE ? left : FBY_GPU_UPLOAD_PIECE,
            lane->stream);
    }
    calls->upload->cuda->end_range();
    CALL(calls, event_record, arena->copied, lane->stream);
    arena->busy  = true;
    arena->epoch = batch->epoch;
    arena->step  = batch->step;
}

/* Make the lane wait for the last use of the out's memory, unless this use is
 * over. (For a batch that was never handed out, the kernels were the last.) */
static void wait_released(
    struct cuda_calls *calls, struct upload_out *out, struct upload_lane *lane)
{
    if (out->busy_until == NULL || calls->err != FBY_OK) {
        return;
    }
    int code = calls->upload->cuda->event_query(out->busy_until);
    if (code == calls->upload->cuda->not_ready) {
        CALL(calls, stream_wait, lane->stream, out->busy_until);
    } else {
        calls->err = fby_upload_check_call(calls, code);
    }
    if (calls->err == FBY_OK) {
        out->busy_until = NULL;
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
    if (kernels->blocks[FBY_PASS_EXPAND] > 0) {
        CALL(calls, launch, kernels);
    }
    calls->upload->cuda->end_range();
}

/* Record an event after a launch. Do so even if the launch failed, because some
 * of its kernels may run. Returns true if the event was recorded. */
static bool record_after(struct cuda_calls *calls, void *event, void *stream)
{
    int code = calls->upload->cuda->event_record(event, stream);
    if (calls->err == FBY_OK) {
        calls->err = fby_upload_check_call(calls, code);
    }
    return code == 0;
}

static void record_ready(struct cuda_calls *calls, struct upload_out *out)
{
    bool recorded   = record_after(calls, out->ready, out->launch.stream);
    out->leaked     = out->leaked || !recorded;
    out->busy_until = out->ready;
}

static void submit_locked(
    struct cuda_calls *calls, const struct fby_gpu_upload_batch *batch)
{
    struct fby_gpu_upload *self = calls->upload;
    struct upload_out     *out  = (struct upload_out *)(void *)batch->out;
    struct upload_lane    *lane = NULL;
    if (self->release_failed) {
        calls->err = fby_error_set(calls->why, FBY_SYS, "%s", self->why.text);
        return;
    }
    lane = choose_lane(calls);
    if (lane == NULL) {
        return;
    }
    copy_arena(calls, batch, lane);
    out->launch = make_launch(self, batch, lane);
    out->epoch  = batch->epoch;
    out->step   = batch->step;
    if (self->config.fixed) {
        CALL(calls, event_record, lane->copied, lane->stream);
        lane->pending = calls->err == FBY_OK;
        out->lane     = lane->pending ? lane : NULL;
        return;
    }
    wait_released(calls, out, lane);
    bool launched = calls->err == FBY_OK;
    launch_kernels(calls, &out->launch);
    if (launched) {
        record_ready(calls, out);
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
    int mode = fby_upload_begin_calls(self);
    pthread_mutex_lock(&self->lock);
    if (calls.err == FBY_OK) {
        submit_locked(&calls, batch);
    }
    pthread_mutex_unlock(&self->lock);
    fby_upload_end_calls(self, mode);
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
    int mode = fby_upload_begin_calls(self);
    int code = self->cuda->event_query(arena->copied);
    fby_upload_end_calls(self, mode);
    return code == self->cuda->not_ready ? FBY_AGAIN
                                         : fby_upload_check_call(&calls, code);
}

fby_err fby_gpu_upload_poll_copied(
    struct fby_gpu_upload *self, uint32_t arena, struct fby_error_detail *why)
{
    fby_err              err = FBY_OK;
    struct upload_arena *at  = &self->arenas[arena];
    pthread_mutex_lock(&self->lock);
    if (at->busy) {
        err      = query_copied(self, at, why);
        at->busy = err == FBY_AGAIN;
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- streams of the consumer --------------------------------------------- */

static void launch_fixed(
    struct cuda_calls *calls, struct upload_out *out, void *stream)
{
    struct fby_gpu_upload *self = calls->upload;
    struct upload_lane    *lane = out->lane;
    out->lane                   = NULL;
    out->launch.stream          = stream;
    CALL(calls, stream_wait, stream, lane->copied);
    if (self->has_last_release) {
        CALL(calls, stream_wait, stream, self->last_release);
    }
    bool launched = calls->err == FBY_OK;
    launch_kernels(calls, &out->launch);
    if (launched) {
        (void)record_after(calls, lane->kernel_done, stream);
        record_ready(calls, out);
    }
    lane->pending              = false;
    lane->kernel_done_recorded = true;
}

typedef void stream_work(
    struct cuda_calls *calls, struct upload_out *out, void *stream);

struct stream_task {
    struct cuda_calls  calls;
    struct upload_out *out;
    void              *stream; /* of the consumer */
    stream_work       *work;   /* called with the lock held */
};

static void *task_main(void *opaque)
{
    struct stream_task *task  = opaque;
    struct cuda_calls  *calls = &task->calls;
    int                 mode  = fby_upload_begin_calls(calls->upload);
    pthread_mutex_lock(&calls->upload->lock);
    task->work(calls, task->out, task->stream);
    pthread_mutex_unlock(&calls->upload->lock);
    fby_upload_end_calls(calls->upload, mode);
    return NULL;
}

static void *task_main_on_device(void *opaque)
{
    struct stream_task *task = opaque;
    CALL(&task->calls, use_device, task->calls.upload->config.device);
    return task_main(task);
}

/* Call `work` for an out and a stream of the consumer.
 *
 * If the current device of the thread is another GPU, `work` runs on a new
 * thread. On this thread, CUDA calls would create a context on that GPU, which
 * takes memory, and NULL would be the legacy stream of that GPU. Only the
 * calling thread has its per-thread stream, so `work` then runs on it. */
static fby_err call_on_stream(struct fby_gpu_upload *self,
    struct upload_out *out, void *stream, stream_work *work,
    struct fby_error_detail *why)
{
    enum { PER_THREAD_STREAM = 2 }; /* cudaStreamPerThread */
    struct stream_task task = {
        fby_upload_batch_calls(self, out->epoch, out->step, why), out, stream,
        work};
    int current = self->config.device;
    if ((uintptr_t)stream != PER_THREAD_STREAM) {
        (void)self->cuda->current_device(&current);
    }
    if (current == self->config.device) {
        (void)task_main(&task);
    } else {
        fby_upload_run_on_thread(&task.calls, task_main_on_device, &task);
    }
    return task.calls.err;
}

static void wait_for_tensors(
    struct cuda_calls *calls, struct upload_out *out, void *stream)
{
    if (out->lane != NULL) {
        launch_fixed(calls, out, stream);
    } else {
        CALL(calls, stream_wait, stream, out->ready);
    }
}

fby_err fby_gpu_upload_hand_out(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *buffer, void *stream,
    struct fby_error_detail *why)
{
    struct upload_out *out = (struct upload_out *)(void *)buffer;
    return call_on_stream(self, out, stream, wait_for_tensors, why);
}

static void record_release(
    struct cuda_calls *calls, struct upload_out *out, void *stream)
{
    struct fby_gpu_upload *self = calls->upload;
    CALL(calls, event_record, out->released, stream);
    out->busy_until = out->released;
    if (self->config.fixed) {
        CALL(calls, event_record, self->last_release, stream);
        self->has_last_release = true;
    }
}

/* Note that the upload cannot know when the consumer's use of `out` ends. */
static void mark_leaked(
    struct fby_gpu_upload *self, struct upload_out *out, const char *why)
{
    pthread_mutex_lock(&self->lock);
    out->leaked = true;
    if (!self->release_failed) {
        self->release_failed = true;
        (void)fby_error_set(&self->why, FBY_SYS,
            "a batch was released on a stream that cannot be waited for: %s",
            why);
    }
    pthread_mutex_unlock(&self->lock);
}

void fby_gpu_upload_release(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *buffer, void *stream)
{
    struct upload_out      *out = (struct upload_out *)(void *)buffer;
    struct fby_error_detail why = {""};
    if (call_on_stream(self, out, stream, record_release, &why) != FBY_OK) {
        mark_leaked(self, out, why.text);
    }
}
