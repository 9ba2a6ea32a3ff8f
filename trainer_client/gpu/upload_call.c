/* upload_call.c - every call of CUDA goes through here: checked, in a mode in
 * which it is of no graph, and where that matters on a thread of its own. */
#include "trainer_client/gpu/upload_state.h"

#include <signal.h>

#include "trainer_client/gpu/cuda_error.h"

fby_err fby_f_check(const struct run *run, int code)
{
    struct fby_why call;
    if (fby_cuda_check(run->upload->cuda, code, &call) == FBY_OK) {
        return FBY_OK;
    }
    if (run->batch) {
        return fby_because(run->why, FBY_SYS,
            "CUDA: %.300s, at epoch %llu step %llu", call.text,
            (unsigned long long)run->epoch, (unsigned long long)run->step);
    }
    return fby_because(run->why, FBY_SYS, "CUDA: %.300s", call.text);
}

struct run fby_f_run(struct fby_gpu_upload *self, uint64_t epoch, uint64_t step,
    struct fby_why *why)
{
    return (struct run){
        .upload = self,
        .batch  = true,
        .epoch  = epoch,
        .step   = step,
        .why    = why,
    };
}

int fby_f_enter(const struct fby_gpu_upload *self)
{
    int mode = self->cuda->thread_local_mode;
    (void)self->cuda->capture_mode(&mode);
    return mode;
}

void fby_f_leave(const struct fby_gpu_upload *self, int mode)
{
    (void)self->cuda->capture_mode(&mode);
}

void fby_f_aside(struct run *run, void *(*work)(void *), void *arg)
{
    pthread_t thread;
    sigset_t  all;
    sigset_t  before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, work, arg) == 0) {
        pthread_join(thread, NULL);
    } else {
        run->err = fby_because(run->why, FBY_SYS, "no thread could be started");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
