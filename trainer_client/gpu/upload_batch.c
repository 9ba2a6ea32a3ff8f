/* upload_batch.c - the way of a batch: copied and launched on a lane, handed out
 * to a stream of the consumer's, let go; and who waits for whom on it. */
#include "trainer_client/gpu/upload_state.h"

#include <string.h>

#include "trainer_client/expand/segment.h"

_Static_assert(sizeof(((struct fby_cuda_launch *)0)->blocks) ==
                   sizeof(((struct fby_segment_list *)0)->blocks),
    "a launch has the passes of a list");

/* ---- submit -------------------------------------------------------------- */

/* With `fixed` one is armed for each batch that lies on the ready queue. */
static struct lane *next_lane(struct run *run)
{
    struct fby_gpu_upload *self = run->upload;
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        struct lane *lane = &self->lanes[self->turn++ % FBY_GPU_UPLOAD_LANES];
        if (!lane->armed) {
            return lane;
        }
    }
    run->err = fby_because(run->why, FBY_SYS,
        "%d batches wait for their kernels", FBY_GPU_UPLOAD_LANES);
    return NULL;
}

static void copy_arena(struct run     *run,
    const struct fby_gpu_upload_batch *batch, struct lane *lane)
{
    const uint8_t *from  = fby_gpu_upload_arena(run->upload, batch->arena);
    struct arena  *arena = &run->upload->arenas[batch->arena];
    if (lane->used) {
        CALL(run, stream_wait, lane->stream, lane->done);
    }
    run->upload->cuda->stage("forebay copy");
    for (uint64_t at = 0; at < batch->bytes; at += FBY_GPU_UPLOAD_PIECE) {
        uint64_t left = batch->bytes - at;
        CALL(run, copy, lane->memory + at, from + at,
            left < FBY_GPU_UPLOAD_PIECE ? left : FBY_GPU_UPLOAD_PIECE,
            lane->stream);
    }
    run->upload->cuda->stage_end();
    CALL(run, event_record, arena->copied, lane->stream);
    arena->busy  = true;
    arena->epoch = batch->epoch;
    arena->step  = batch->step;
}

/* The lane waits for the consumer, where it has to, or for the kernel of a
 * batch that nobody took. */
static void wait_released(struct run *run, struct out *out, struct lane *lane)
{
    if (out->leaving == NULL || run->err != FBY_OK) {
        return;
    }
    int code = run->upload->cuda->event_query(out->leaving);
    if (code == run->upload->cuda->not_ready) {
        CALL(run, stream_wait, lane->stream, out->leaving);
    } else {
        run->err = fby_f_check(run, code);
    }
    if (run->err == FBY_OK) {
        out->leaving = NULL;
    }
}

static struct fby_cuda_launch launch_of(const struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, const struct lane *lane)
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

static void launch(struct run *run, const struct fby_cuda_launch *what)
{
    run->upload->cuda->stage("forebay launch");
    if (what->blocks[FBY_PASS_EXPAND] > 0) {
        CALL(run, launch, what);
    }
    run->upload->cuda->stage_end();
}

/* Behind a launch. Where that has failed some of its kernels may be under way,
 * so it is done all the same. */
static bool record_behind(struct run *run, void *event, void *stream)
{
    int code = run->upload->cuda->event_record(event, stream);
    if (run->err == FBY_OK) {
        run->err = fby_f_check(run, code);
    }
    return code == 0;
}

static void record_ready(struct run *run, struct out *out)
{
    bool known   = record_behind(run, out->ready, out->launch.stream);
    out->lost    = out->lost || !known;
    out->leaving = out->ready;
}

static void submit(struct run *run, const struct fby_gpu_upload_batch *batch)
{
    struct fby_gpu_upload *self = run->upload;
    struct out            *out  = (struct out *)(void *)batch->out;
    struct lane           *lane = NULL;
    if (self->lost) {
        run->err = fby_because(run->why, FBY_SYS, "%s", self->why.text);
        return;
    }
    lane = next_lane(run);
    if (lane == NULL) {
        return;
    }
    copy_arena(run, batch, lane);
    out->launch = launch_of(self, batch, lane);
    out->epoch  = batch->epoch;
    out->step   = batch->step;
    if (self->config.fixed) {
        CALL(run, event_record, lane->copied, lane->stream);
        lane->armed = run->err == FBY_OK;
        out->lane   = lane->armed ? lane : NULL;
        return;
    }
    wait_released(run, out, lane);
    bool writes = run->err == FBY_OK;
    launch(run, &out->launch);
    if (writes) {
        record_ready(run, out);
    }
}

fby_err fby_gpu_upload_submit(struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, struct fby_why *why)
{
    struct run run = fby_f_run(self, batch->epoch, batch->step, why);
    self->cuda->stage("forebay pin");
    run.err = fby_pinned_wait(self->pinned, batch->arena, why);
    self->cuda->stage_end();
    CALL(&run, use, self->config.device);
    int mode = fby_f_enter(self);
    pthread_mutex_lock(&self->lock);
    if (run.err == FBY_OK) {
        submit(&run, batch);
    }
    pthread_mutex_unlock(&self->lock);
    fby_f_leave(self, mode);
    return run.err;
}

static fby_err ask_copied(
    struct fby_gpu_upload *self, const struct arena *arena, struct fby_why *why)
{
    struct run run = fby_f_run(self, arena->epoch, arena->step, why);
    CALL(&run, use, self->config.device);
    if (run.err != FBY_OK) {
        return run.err;
    }
    int mode = fby_f_enter(self);
    int code = self->cuda->event_query(arena->copied);
    fby_f_leave(self, mode);
    return code == self->cuda->not_ready ? FBY_AGAIN : fby_f_check(&run, code);
}

fby_err fby_gpu_upload_copied(
    struct fby_gpu_upload *self, uint32_t arena, struct fby_why *why)
{
    fby_err       err = FBY_OK;
    struct arena *at  = &self->arenas[arena];
    pthread_mutex_lock(&self->lock);
    if (at->busy) {
        err      = ask_copied(self, at, why);
        at->busy = err == FBY_AGAIN;
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- the consumer's side ------------------------------------------------- */

static void launch_fixed(struct run *run, struct out *out, void *stream)
{
    struct fby_gpu_upload *self = run->upload;
    struct lane           *lane = out->lane;
    out->lane                   = NULL;
    out->launch.stream          = stream;
    CALL(run, stream_wait, stream, lane->copied);
    if (self->leaving) {
        CALL(run, stream_wait, stream, self->left);
    }
    bool writes = run->err == FBY_OK;
    launch(run, &out->launch);
    if (writes) {
        (void)record_behind(run, lane->done, stream);
        record_ready(run, out);
    }
    lane->armed = false;
    lane->used  = true;
}

/* What is done on a stream of the consumer's. */
struct visit {
    struct run  run;
    struct out *out;
    void       *stream;
    void (*work)(struct run *run, struct out *out, void *stream);
};

static void *visit_main(void *opaque)
{
    struct visit *visit = opaque;
    struct run   *run   = &visit->run;
    int           mode  = fby_f_enter(run->upload);
    pthread_mutex_lock(&run->upload->lock);
    visit->work(run, visit->out, visit->stream);
    pthread_mutex_unlock(&run->upload->lock);
    fby_f_leave(run->upload, mode);
    return NULL;
}

static void *visit_there(void *opaque)
{
    struct visit *visit = opaque;
    CALL(&visit->run, use, visit->run.upload->config.device);
    return visit_main(visit);
}

/* The thread may have chosen another device, or none, which is 0: there calls
 * would set up what takes memory, and find another legacy stream. The thread's
 * own stream, 2, is found only on the thread. */
static void pay_visit(struct visit *visit)
{
    enum { OWN_STREAM = 2 };
    struct fby_gpu_upload *self   = visit->run.upload;
    int                    chosen = self->config.device;
    if ((uintptr_t)visit->stream != OWN_STREAM) {
        (void)self->cuda->chosen(&chosen);
    }
    if (chosen == self->config.device) {
        (void)visit_main(visit);
    } else {
        fby_f_aside(&visit->run, visit_there, visit);
    }
}

static void hand_out(struct run *run, struct out *out, void *stream)
{
    if (out->lane != NULL) {
        launch_fixed(run, out, stream);
    } else {
        CALL(run, stream_wait, stream, out->ready);
    }
}

fby_err fby_gpu_upload_hand_out(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *given, void *stream, struct fby_why *why)
{
    struct out  *out   = (struct out *)(void *)given;
    struct visit visit = {
        fby_f_run(self, out->epoch, out->step, why), out, stream, hand_out};
    pay_visit(&visit);
    return visit.run.err;
}

static void let_go(struct run *run, struct out *out, void *stream)
{
    struct fby_gpu_upload *self = run->upload;
    CALL(run, event_record, out->released, stream);
    out->leaving = out->released;
    if (self->config.fixed) {
        CALL(run, event_record, self->left, stream);
        self->leaving = true;
    }
}

/* Nobody knows when its readers are done. */
static void lose(struct fby_gpu_upload *self, struct out *out, const char *why)
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

void fby_gpu_upload_let_go(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *given, void *stream)
{
    struct out    *out   = (struct out *)(void *)given;
    struct fby_why why   = {""};
    struct visit   visit = {
          fby_f_run(self, out->epoch, out->step, &why), out, stream, let_go};
    pay_visit(&visit);
    if (visit.run.err != FBY_OK) {
        lose(self, out, why.text);
    }
}
