/* SPDX-License-Identifier: Apache-2.0 */
/* upload_state.h - the state of an upload; only files upload*.c include it.
 *
 * Files: upload_create.c  create, stop and destroy; the lanes
 *        upload_outs.c    output buffers: create, take, recycle, destroy
 *        upload_batch.c   batches: copy, launch, await, release
 *        upload_call.c    helpers for CUDA calls
 * upload.h defines lane, arena and output. Members with the note "fixed" are
 * used only with config.fixed_address, those with the note "deferred" also with
 * config.caller_memory. An event "passes" when the work that was
 * queued before it is done. */
#ifndef FBY_CLIENT_GPU_UPLOAD_STATE_H
#define FBY_CLIENT_GPU_UPLOAD_STATE_H

#include <pthread.h>

#include "trainer_client/gpu/pinned_arenas.h"
#include "trainer_client/gpu/upload.h"

struct upload_lane { /* a CUDA stream, and device memory for one batch */
    void    *stream;
    uint8_t *memory;   /* on the device: arena_bytes, then work_bytes */
    void    *copied;   /* deferred: event, passes when the batch is copied */
    void *kernel_done; /* deferred: event, passes when its kernels are done */
    bool  pending;     /* deferred: its kernels are not yet launched */
    bool  must_wait;   /* deferred: a copy must wait for `kernel_done` */
};

struct upload_arena {     /* pinned host memory for one batch */
    void    *copied;      /* event, passes when the arena is copied */
    bool     busy;        /* `copied` is recorded, and may not have passed */
    uint64_t epoch, step; /* of the batch in the arena */
};

/* An output buffer: memory for the tensors of one batch, and the events that
 * tell when it may be written. */
struct upload_output {
    struct fby_gpu_output public; /* first: callers hold a pointer to it */
    struct upload_output *next;   /* next in the list free_outputs */
    bool                  extra;  /* allocated beyond config.n_outs */
    void                 *ready;  /* event, passes when the tensors are made */
    void *released;    /* event, passes when the consumer's use is done */
    void *busy_until;  /* the event after which the memory may be written:
                         `ready` or `released`; NULL: none, it is free */
    bool  use_unknown; /* no event tells when the last use ends */
    struct upload_lane *lane; /* deferred: lane of the batch until its kernels
                                      are launched, else NULL */
    struct fby_cuda_launch launch;      /* the launch of the batch's kernels */
    uint64_t               epoch, step; /* of the batch */
};

/* The output whose first member is *handle. */
static inline struct upload_output *upload_output_of(
    struct fby_gpu_output *handle)
{
    return (struct upload_output *)(void *)handle;
}

struct fby_gpu_upload {
    struct fby_gpu_upload_config config;
    const struct fby_cuda       *cuda;
    struct fby_pinned           *pinned;
    struct upload_arena         *arenas;
    struct upload_lane           lanes[FBY_GPU_UPLOAD_LANES];
    void    *pool;            /* for extra outputs; NULL: not supported */
    void    *memory_stream;   /* tensors are allocated and freed in its order */
    uint8_t *fixed_memory;    /* fixed: the memory that all outputs share */
    bool     any_use_unknown; /* an output with use_unknown was recycled */
    void    *last_release; /* fixed: event, passes when the last use is done */
    bool     has_last_release; /* fixed: `last_release` was recorded */

    pthread_mutex_t lock;      /* guards all members that change after create */
    uint32_t        next_lane; /* index, modulo FBY_GPU_UPLOAD_LANES */
    struct upload_output *free_outputs;
    bool                  stopped;
    bool release_failed; /* a release could not record an event */
    struct fby_error_detail release_error;
};

/* True if a batch's kernels are launched when the consumer takes the batch. */
static inline bool fby_upload_is_deferred(const struct fby_gpu_upload *self)
{
    return self->config.fixed_address || self->config.caller_memory;
}

/* ---- upload_call.c ------------------------------------------------------- */

/* A sequence of CUDA calls. After one has failed, CALL skips the others. */
struct cuda_calls {
    struct fby_gpu_upload   *upload;
    bool                     has_batch;   /* the calls are made for one batch */
    uint64_t                 epoch, step; /* of that batch */
    fby_err                  err;         /* of the call that failed */
    struct fby_error_detail *why;         /* the text of `err` */
};

/* Begin a sequence for one batch. Callers without a batch initialize the struct
 * themselves. */
struct cuda_calls fby_upload_batch_calls(struct fby_gpu_upload *self,
    uint64_t epoch, uint64_t step, struct fby_error_detail *why);

/* Turn the code that a call of this thread returned into an error.
 * Errors: FBY_SYS  `why` names the call and, if has_batch, the batch */
FBY_CHECKED fby_err fby_upload_check_call(
    const struct cuda_calls *calls, int code);

/* Make one call of the table, unless an earlier call failed. */
#define CALL(calls, function, ...)                                      \
    do {                                                                \
        if ((calls)->err == FBY_OK) {                                   \
            (calls)->err = fby_upload_check_call(                       \
                (calls), (calls)->upload->cuda->function(__VA_ARGS__)); \
        }                                                               \
    } while (0)

/* Allow this thread all CUDA calls while other threads capture CUDA graphs.
 * Returns the earlier capture mode, for restore. Set the thread's device first,
 * because this creates a context on it. */
int  fby_upload_ignore_captures(const struct fby_gpu_upload *self);
void fby_upload_restore_capture_mode(
    const struct fby_gpu_upload *self, int previous);

/* Destroy an event. NULL is allowed. */
void fby_upload_destroy_event(const struct fby_gpu_upload *self, void *event);

/* Work for which the upload's device is the current one. It may make all CUDA
 * calls, also while other threads capture CUDA graphs. */
typedef void fby_upload_work(struct cuda_calls *calls, void *arg);

/* Do `work` on a new thread, and wait until it is done. The calling thread keeps
 * its device, and creates no context. If no thread can be started, the error is
 * set in `calls`, and the result is false. */
bool fby_upload_run_on_thread(
    struct cuda_calls *calls, fby_upload_work *work, void *arg);

/* Do `work` with a stream of the consumer (NULL: any) on this thread, if the
 * upload's device is its current one or if the stream is a per-thread stream,
 * else on a new thread. If none can be started, the error is set in `calls`,
 * and the result is false. */
bool fby_upload_run_on_device(struct cuda_calls *calls, const void *stream,
    fby_upload_work *work, void *arg);

/* Do `work`, which frees memory or destroys objects of the upload, in the same
 * way. If no thread can be started, it is done on this one. `work` must not call
 * the application's functions, which may wait for a lock that the calling thread
 * holds, as Python's. */
void fby_upload_free_on_device(
    struct fby_gpu_upload *self, fby_upload_work *work, void *arg);

/* ---- upload_outs.c ------------------------------------------------------- */

/* Create the memory pool for extra outputs. Some devices, most often virtual
 * ones, have no pools. Their extra outputs are from cudaMalloc, and cudaFree
 * then waits for the device. */
void fby_upload_create_pool(struct cuda_calls *calls);
/* Create config.n_outs outputs. With `fixed_address` all share one memory. */
void fby_upload_create_outputs(struct cuda_calls *calls);
/* Destroy what CUDA has of the outputs. All were recycled before, and the lanes
 * are idle. Then free the outputs, and give memory back to the application. The
 * functions also work if create failed halfway. */
fby_upload_work fby_upload_destroy_outputs;
void            fby_upload_free_outputs(struct fby_gpu_upload *self);

#endif
