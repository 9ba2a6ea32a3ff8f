/* upload_state.h - the state of the upload; only its own files include it.
 *
 * Files: upload.c         create, stop, destroy; the lanes
 *        upload_outs.c    memory for tensors: made, taken, given back
 *        upload_batch.c   one batch: copied, launched, handed out, released
 *        upload_call.c    CUDA calls: checked, and on which thread
 *        pinned_arenas.h  the arenas, independent of the others */
#ifndef FBY_CLIENT_GPU_UPLOAD_STATE_H
#define FBY_CLIENT_GPU_UPLOAD_STATE_H

#include <pthread.h>

#include "trainer_client/gpu/pinned_arenas.h"
#include "trainer_client/gpu/upload.h"

struct upload_lane {
    void    *stream;
    uint8_t *memory; /* as large as an arena, then the work memory */
    void    *copied; /* fixed: event */
    void    *done;   /* fixed: event on the consumer's stream */
    bool     armed;  /* fixed: copied, not yet launched */
    bool     used;   /* fixed: `done` was recorded */
};

struct upload_arena {
    void    *copied;      /* event */
    bool     busy;        /* recorded, and not yet seen to have passed */
    uint64_t epoch, step; /* of the batch in it */
};

/* Memory for the tensors of one batch, and the events that guard it. */
struct upload_out {
    struct fby_gpu_upload_out public;  /* first: callers hold a pointer to it */
    struct upload_out     *next;       /* in the list of free ones */
    bool                   further;    /* beyond the usual number */
    void                  *ready;      /* event on the lane's stream */
    void                  *released;   /* event on the consumer's stream */
    void                  *busy_until; /* one of the two: must pass before the
                                         memory is written; NULL: idle */
    bool                   lost; /* the end of its last use cannot be known */
    struct upload_lane    *lane; /* fixed: its kernel is still to be launched */
    struct fby_cuda_launch launch; /* fixed: that kernel */
    uint64_t               epoch, step;
};

struct fby_gpu_upload {
    struct fby_gpu_upload_config config;
    const struct fby_cuda       *cuda;
    struct fby_pinned           *pinned;
    struct upload_arena         *arenas;
    struct upload_lane           lanes[FBY_GPU_UPLOAD_LANES];
    void              *pool;     /* for further outs; NULL: not supported */
    void              *memory;   /* stream in whose order memory is allocated
                                    and freed */
    uint8_t           *fixed;    /* fixed: the one address of all tensors */
    bool               out_lost; /* a lost out was given back */
    void              *last_release; /* fixed: event */
    bool               has_last_release;
    pthread_mutex_t    lock; /* guards all that changes */
    uint32_t           turn; /* the next lane */
    struct upload_out *free;
    bool               stopped;
    bool               lost; /* a release could not be recorded, see `why` */
    struct fby_why     why;
};

/* ---- upload_call.c ------------------------------------------------------- */

/* A sequence of CUDA calls that ends at the first one that fails. */
struct cuda_calls {
    struct fby_gpu_upload *upload;
    bool                   batch; /* made for the batch of epoch and step */
    uint64_t               epoch, step;
    fby_err                err;
    struct fby_why        *why;
};

/* A sequence for one batch, with no error yet. Create and other callers without
 * a batch initialize the struct themselves. */
struct cuda_calls fby_upload_calls(struct fby_gpu_upload *self, uint64_t epoch,
    uint64_t step, struct fby_why *why);

/* Turn the code that a call of this thread returned into an error.
 * Errors: FBY_SYS, with the call's name, and the batch if there is one. */
FBY_CHECKED fby_err fby_upload_check(const struct cuda_calls *calls, int code);

/* Make one call of the table, unless one failed before. */
#define CALL(calls, function, ...)                                      \
    do {                                                                \
        if ((calls)->err == FBY_OK) {                                   \
            (calls)->err = fby_upload_check(                            \
                (calls), (calls)->upload->cuda->function(__VA_ARGS__)); \
        }                                                               \
    } while (0)

/* Calls between enter and leave are never part of a CUDA graph, even if another
 * thread captures one in global mode. Pass what enter returned to leave. A
 * thread of ours chooses the device first: the mode call would otherwise set up
 * the device that is current. */
int fby_upload_enter(const struct fby_gpu_upload *self);
/* Restore the capture mode that enter returned. */
void fby_upload_leave(const struct fby_gpu_upload *self, int mode);

/* Run `work(arg)` on a new thread and wait for it. The caller's thread keeps
 * its device, and sets up nothing on another. Errors go to `calls`. */
void fby_upload_on_thread(
    struct cuda_calls *calls, void *(*work)(void *), void *arg);

/* ---- upload_outs.c ------------------------------------------------------- */

/* Make the memory pool for further outs. Some devices, most often virtual ones,
 * have no pools: further memory is then allocated, and freeing it waits for the
 * device. */
void fby_upload_make_pool(struct cuda_calls *calls);
/* Make the usual outs, and with `fixed` their one memory. */
void fby_upload_make_outs(struct cuda_calls *calls);
/* Free the outs. Every out was given back, and the lanes are idle. Copes with a
 * half-built upload. */
void fby_upload_destroy_outs(struct fby_gpu_upload *self);

#endif
