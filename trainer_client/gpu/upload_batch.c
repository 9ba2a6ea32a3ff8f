/* upload_batch.c - one batch: copied and launched on a lane, handed out to a
 * stream of the consumer, released; and which stream waits for which event. */
#include "trainer_client/gpu/upload_state.h"

#include <string.h>

#include "trainer_client/expand/segment.h"

_Static_assert(sizeof(((struct fby_cuda_launch *)0)->blocks) ==
                   sizeof(((struct fby_segment_list *)0)->blocks),
    "a launch has the passes of a list");

/* ---- submit -------------------------------------------------------------- */

/* With `fixed` one lane is armed for each batch on the ready queue. */
static struct upload_lane *next_lane(struct cuda_calls *calls)
{
    struct fby_gpu_upload *self = calls->upload;
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        struct upload_lane *lane =
            &self->lanes[self->turn++ % FBY_GPU_UPLOAD_LANES];
        if (!lane->armed) {
            return lane;
        }
    }
    calls->err = fby_because(calls->why, FBY_SYS,
        "%d batches wait for their kernels", FBY_GPU_UPLOAD_LANES);
    return NULL;
}

static void copy_arena(struct cuda_calls *calls,
    const struct fby_gpu_upload_batch *batch, struct upload_lane *lane)
{
    const uint8_t *from = fby_gpu_upload_arena(calls->upload, batch->arena);
    struct upload_arena *arena = &calls->upload->arenas[batch->arena];
    if (lane->used) {
        CALL(calls, stream_wait, lane->stream, lane->done);
    }
    calls->upload->cuda->stage("forebay copy");
    for (uint64_t at = 0; at < batch->bytes; at += FBY_GPU_UPLOAD_PIECE) {
        uint64_t left = batch->bytes - at;
        CALL(calls, copy, lane->memory + at, from + at,
            left < FBY_GPU_UPLOAD_PIECE ? left : FBY_GPU_UPLOAD_PIECE,
            lane->stream);
    }
    calls->upload->cuda->stage_end();
    CALL(calls, event_record, arena->copied, lane->stream);
    arena->busy  = true;
    arena->epoch = batch->epoch;
    arena->step  = batch->step;
}

/* Make the lane wait for the consumer, or for the kernel of a batch that was
 * never taken, unless that has passed already. */
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
        calls->err = fby_upload_check(calls, code);
    }
    if (calls->err == FBY_OK) {
        out->busy_until = NULL;
    }
}

static struct fby_cuda_launch launch_of(const struct fby_gpu_upload *self,
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

static void launch(struct cuda_calls *calls, const struct fby_cuda_launch *what)
{
    calls->upload->cuda->stage("forebay launch");
    if (what->blocks[FBY_PASS_EXPAND] > 0) {
        CALL(calls, launch, what);
    }
    calls->upload->cuda->stage_end();
}

/* Record an event after a launch. If the launch failed, some of its kernels may
 * still be under way, so the event is recorded even then. */
static bool record_after(struct cuda_calls *calls, void *event, void *stream)
{
    int code = calls->upload->cuda->event_record(event, stream);
    if (calls->err == FBY_OK) {
        calls->err = fby_upload_check(calls, code);
    }
    return code == 0;
}

static void record_ready(struct cuda_calls *calls, struct upload_out *out)
{
    bool known      = record_after(calls, out->ready, out->launch.stream);
    out->lost       = out->lost || !known;
    out->busy_until = out->ready;
}

static void submit(
    struct cuda_calls *calls, const struct fby_gpu_upload_batch *batch)
{
    struct fby_gpu_upload *self = calls->upload;
    struct upload_out     *out  = (struct upload_out *)(void *)batch->out;
    struct upload_lane    *lane = NULL;
    if (self->lost) {
        calls->err = fby_because(calls->why, FBY_SYS, "%s", self->why.text);
        return;
    }
    lane = next_lane(calls);
    if (lane == NULL) {
        return;
    }
    copy_arena(calls, batch, lane);
    out->launch = launch_of(self, batch, lane);
    out->epoch  = batch->epoch;
    out->step   = batch->step;
    if (self->config.fixed) {
        CALL(calls, event_record, lane->copied, lane->stream);
        lane->armed = calls->err == FBY_OK;
        out->lane   = lane->armed ? lane : NULL;
        return;
    }
    wait_released(calls, out, lane);
    bool writes = calls->err == FBY_OK;
    launch(calls, &out->launch);
    if (writes) {
        record_ready(calls, out);
    }
}

fby_err fby_gpu_upload_submit(struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, struct fby_why *why)
{
    struct cuda_calls calls =
        fby_upload_calls(self, batch->epoch, batch->step, why);
    self->cuda->stage("forebay pin");
    calls.err = fby_pinned_wait(self->pinned, batch->arena, why);
    self->cuda->stage_end();
    CALL(&calls, use, self->config.device);
    int mode = fby_upload_enter(self);
    pthread_mutex_lock(&self->lock);
    if (calls.err == FBY_OK) {
        submit(&calls, batch);
    }
    pthread_mutex_unlock(&self->lock);
    fby_upload_leave(self, mode);
    return calls.err;
}

static fby_err poll_copied(struct fby_gpu_upload *self,
    const struct upload_arena *arena, struct fby_why *why)
{
    struct cuda_calls calls =
        fby_upload_calls(self, arena->epoch, arena->step, why);
    CALL(&calls, use, self->config.device);
    if (calls.err != FBY_OK) {
        return calls.err;
    }
    int mode = fby_upload_enter(self);
    int code = self->cuda->event_query(arena->copied);
    fby_upload_leave(self, mode);
    return code == self->cuda->not_ready ? FBY_AGAIN
                                         : fby_upload_check(&calls, code);
}

fby_err fby_gpu_upload_copied(
    struct fby_gpu_upload *self, uint32_t arena, struct fby_why *why)
{
    fby_err              err = FBY_OK;
    struct upload_arena *at  = &self->arenas[arena];
    pthread_mutex_lock(&self->lock);
    if (at->busy) {
        err      = poll_copied(self, at, why);
        at->busy = err == FBY_AGAIN;
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- the consumer's side ------------------------------------------------- */

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
    bool writes = calls->err == FBY_OK;
    launch(calls, &out->launch);
    if (writes) {
        (void)record_after(calls, lane->done, stream);
        record_ready(calls, out);
    }
    lane->armed = false;
    lane->used  = true;
}

/* Work on a stream of the consumer. */
struct stream_task {
    struct cuda_calls  calls;
    struct upload_out *out;
    void              *stream;
    void (*work)(
        struct cuda_calls *calls, struct upload_out *out, void *stream);
};

static void *task_main(void *opaque)
{
    struct stream_task *task  = opaque;
    struct cuda_calls  *calls = &task->calls;
    int                 mode  = fby_upload_enter(calls->upload);
    pthread_mutex_lock(&calls->upload->lock);
    task->work(calls, task->out, task->stream);
    pthread_mutex_unlock(&calls->upload->lock);
    fby_upload_leave(calls->upload, mode);
    return NULL;
}

static void *task_main_on_device(void *opaque)
{
    struct stream_task *task = opaque;
    CALL(&task->calls, use, task->calls.upload->config.device);
    return task_main(task);
}

/* The thread's current device may be another one, or the default, 0. Calls
 * there would set up a context, which takes memory, and mean another legacy
 * stream. The per-thread stream, 2, exists only on its own thread. */
static void run_task(struct stream_task *task)
{
    enum { OWN_STREAM = 2 };
    struct fby_gpu_upload *self   = task->calls.upload;
    int                    chosen = self->config.device;
    if ((uintptr_t)task->stream != OWN_STREAM) {
        (void)self->cuda->chosen(&chosen);
    }
    if (chosen == self->config.device) {
        (void)task_main(task);
    } else {
        fby_upload_on_thread(&task->calls, task_main_on_device, task);
    }
}

static void hand_out(
    struct cuda_calls *calls, struct upload_out *out, void *stream)
{
    if (out->lane != NULL) {
        launch_fixed(calls, out, stream);
    } else {
        CALL(calls, stream_wait, stream, out->ready);
    }
}

fby_err fby_gpu_upload_hand_out(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *given, void *stream, struct fby_why *why)
{
    struct upload_out *out  = (struct upload_out *)(void *)given;
    struct stream_task task = {
        fby_upload_calls(self, out->epoch, out->step, why), out, stream,
        hand_out};
    run_task(&task);
    return task.calls.err;
}

static void release(
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

/* The end of its readers cannot be known any more. */
static void mark_lost(
    struct fby_gpu_upload *self, struct upload_out *out, const char *why)
{
    pthread_mutex_lock(&self->lock);
    out->lost = true;
    if (!self->lost) {
        self->lost = true;
        (void)fby_because(&self->why, FBY_SYS,
            "a batch was released on a stream that cannot be waited for: %s",
            why);
    }
    pthread_mutex_unlock(&self->lock);
}

void fby_gpu_upload_release(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *given, void *stream)
{
    struct upload_out *out  = (struct upload_out *)(void *)given;
    struct fby_why     why  = {""};
    struct stream_task task = {
        fby_upload_calls(self, out->epoch, out->step, &why), out, stream,
        release};
    run_task(&task);
    if (task.calls.err != FBY_OK) {
        mark_lost(self, out, why.text);
    }
}
