/* SPDX-License-Identifier: Apache-2.0 */
/* upload_call.c - helpers for the upload's CUDA calls: check their results,
 * keep them out of CUDA graphs, and run them on another thread. */
#include "trainer_client/gpu/upload_state.h"

#include "common/signal_mask.h"

fby_err fby_upload_check_call(const struct cuda_calls *calls, int code)
{
    struct fby_error_detail cause;
    if (fby_cuda_check(calls->upload->cuda, code, &cause) == FBY_OK) {
        return FBY_OK;
    }
    if (calls->has_batch) {
        return fby_error_set(calls->why, FBY_SYS,
            "CUDA: %.300s, at epoch %llu step %llu", cause.text,
            (unsigned long long)calls->epoch, (unsigned long long)calls->step);
    }
    return fby_error_set(calls->why, FBY_SYS, "CUDA: %.300s", cause.text);
}

struct cuda_calls fby_upload_batch_calls(struct fby_gpu_upload *self,
    uint64_t epoch, uint64_t step, struct fby_error_detail *why)
{
    return (struct cuda_calls){
        .upload    = self,
        .has_batch = true,
        .epoch     = epoch,
        .step      = step,
        .why       = why,
    };
}

int fby_upload_ignore_captures(const struct fby_gpu_upload *self)
{
    int mode = self->cuda->thread_local_mode;
    (void)self->cuda->exchange_capture_mode(&mode);
    return mode; /* the call has set it to the earlier mode */
}

void fby_upload_restore_capture_mode(
    const struct fby_gpu_upload *self, int previous)
{
    (void)self->cuda->exchange_capture_mode(&previous);
}

void fby_upload_destroy_event(const struct fby_gpu_upload *self, void *event)
{
    if (event != NULL) {
        (void)self->cuda->event_destroy(event);
    }
}

struct device_work {
    struct cuda_calls *calls;
    fby_upload_work   *work;
    void              *arg;
};

static void *run_device_work(void *opaque)
{
    const struct device_work    *self   = opaque;
    const struct fby_gpu_upload *upload = self->calls->upload;
    int                          mode   = fby_upload_ignore_captures(upload);
    self->work(self->calls, self->arg);
    fby_upload_restore_capture_mode(upload, mode);
    return NULL;
}

static void *thread_main(void *opaque)
{
    const struct device_work *self = opaque;
    CALL(self->calls, use_device, self->calls->upload->config.device);
    return run_device_work(opaque);
}

bool fby_upload_run_on_thread(
    struct cuda_calls *calls, fby_upload_work *work, void *arg)
{
    pthread_t          thread;
    struct device_work device_work = {calls, work, arg};
    sigset_t           before      = fby_block_signals();
    bool               started =
        pthread_create(&thread, NULL, thread_main, &device_work) == 0;
    if (started) {
        pthread_join(thread, NULL);
    } else {
        calls->err = fby_error_set(
            calls->why, FBY_SYS, "no thread could be started for CUDA calls");
    }
    fby_restore_signals(before);
    return started;
}

/* On another GPU, CUDA calls of this thread would create a context, which takes
 * memory, and the stream NULL would be the legacy stream of that GPU. A
 * per-thread stream exists only on its own thread. */
bool fby_upload_run_on_device(struct cuda_calls *calls, const void *stream,
    fby_upload_work *work, void *arg)
{
    enum { PER_THREAD_STREAM = 2 }; /* cudaStreamPerThread */
    struct device_work device_work = {calls, work, arg};
    int                device      = calls->upload->config.device;
    int                current     = device;
    if ((uintptr_t)stream != PER_THREAD_STREAM) {
        (void)calls->upload->cuda->current_device(&current);
    }
    if (current != device) {
        return fby_upload_run_on_thread(calls, work, arg);
    }
    (void)run_device_work(&device_work);
    return true;
}

void fby_upload_free_on_device(
    struct fby_gpu_upload *self, fby_upload_work *work, void *arg)
{
    struct fby_error_detail why;
    struct cuda_calls       calls       = {.upload = self, .why = &why};
    struct device_work      device_work = {&calls, work, arg};
    if (!fby_upload_run_on_device(&calls, NULL, work, arg)) {
        (void)run_device_work(&device_work);
    }
}
