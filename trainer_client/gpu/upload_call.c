/* upload_call.c - CUDA calls of the upload: checked, outside of any graph that
 * is being captured, and on a thread of their own where the device matters. */
#include "trainer_client/gpu/upload_state.h"

#include <signal.h>

#include "trainer_client/gpu/cuda_error.h"

fby_err fby_upload_check(const struct cuda_calls *calls, int code)
{
    struct fby_why call;
    if (fby_cuda_check(calls->upload->cuda, code, &call) == FBY_OK) {
        return FBY_OK;
    }
    if (calls->batch) {
        return fby_because(calls->why, FBY_SYS,
            "CUDA: %.300s, at epoch %llu step %llu", call.text,
            (unsigned long long)calls->epoch, (unsigned long long)calls->step);
    }
    return fby_because(calls->why, FBY_SYS, "CUDA: %.300s", call.text);
}

struct cuda_calls fby_upload_calls(struct fby_gpu_upload *self, uint64_t epoch,
    uint64_t step, struct fby_why *why)
{
    return (struct cuda_calls){
        .upload = self,
        .batch  = true,
        .epoch  = epoch,
        .step   = step,
        .why    = why,
    };
}

int fby_upload_enter(const struct fby_gpu_upload *self)
{
    int mode = self->cuda->thread_local_mode;
    (void)self->cuda->capture_mode(&mode);
    return mode;
}

void fby_upload_leave(const struct fby_gpu_upload *self, int mode)
{
    (void)self->cuda->capture_mode(&mode);
}

void fby_upload_on_thread(
    struct cuda_calls *calls, void *(*work)(void *), void *arg)
{
    pthread_t thread;
    sigset_t  all;
    sigset_t  before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, work, arg) == 0) {
        pthread_join(thread, NULL);
    } else {
        calls->err =
            fby_because(calls->why, FBY_SYS, "no thread could be started");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
