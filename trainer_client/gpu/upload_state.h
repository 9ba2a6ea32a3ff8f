/* upload_state.h - the upload from inside; only its own files include it.
 *
 * Files: upload.c        create, stop, destroy; the lanes
 *        upload_outs.c   memory for tensors: made, taken, given back
 *        upload_batch.c  the way of a batch: copied, launched, handed out, let go
 *        upload_call.c   calls of CUDA: checked, and on which thread
 *        pinned_arenas.h    the arenas, which know nothing of the others */
#ifndef FBY_CLIENT_GPU_UPLOAD_STATE_H
#define FBY_CLIENT_GPU_UPLOAD_STATE_H

#include <pthread.h>

#include "trainer_client/gpu/pinned_arenas.h"
#include "trainer_client/gpu/upload.h"

struct lane {
    void    *stream;
    uint8_t *memory; /* as large as an arena, and more to work in */
    void    *copied; /* fixed: event */
    void    *done;   /* fixed: event on the consumer's stream */
    bool     armed;  /* fixed: copied, not yet launched */
    bool     used;   /* fixed: `done` was recorded */
};

struct arena {
    void    *copied;      /* event */
    bool     busy;        /* it was recorded, and not yet seen to have passed */
    uint64_t epoch, step; /* of the batch in it */
};

struct out {
    struct fby_gpu_upload_out public; /* first */
    struct out  *next;                /* free */
    bool         further;
    void        *ready;    /* event on the lane's stream */
    void        *released; /* event on the consumer's stream */
    void        *leaving;  /* which of the two must pass before it is written */
    bool         lost;     /* nobody knows when all that uses it is done */
    struct lane *lane;     /* fixed: whose kernel is to be launched */
    struct fby_cuda_launch launch; /* likewise */
    uint64_t               epoch, step;
};

struct fby_gpu_upload {
    struct fby_gpu_upload_config config;
    const struct fby_cuda       *cuda;
    struct fby_pinned           *pinned;
    struct arena                *arenas;
    struct lane                  lanes[FBY_GPU_UPLOAD_LANES];
    void                        *pool; /* for further outs */
    void           *memory;   /* stream of what is given and taken back */
    uint8_t        *fixed;    /* the one address */
    bool            out_lost; /* one that was given back */
    void           *left;     /* fixed: event, the last release */
    bool            leaving;
    pthread_mutex_t lock; /* guards all that changes */
    uint32_t        turn; /* the next lane */
    struct out     *free;
    bool            stopped;
    bool            lost; /* a release that could not be recorded: */
    struct fby_why  why;
};

/* upload_call.c */
/* The steps of a function end at the first call that fails. */
struct run {
    struct fby_gpu_upload *upload;
    bool                   batch; /* it is for one, of this place: */
    uint64_t               epoch, step;
    fby_err                err;
    struct fby_why        *why;
};

/* For a batch; create and what is not of one begin with a run of their own. */
struct run fby_f_run(struct fby_gpu_upload *self, uint64_t epoch, uint64_t step,
    struct fby_why *why);

/* What a call of this thread answered. Errors: FBY_SYS, with its name, and of
 * which batch it was. */
FBY_CHECKED fby_err fby_f_check(const struct run *run, int code);

#define CALL(run, function, ...)                                    \
    do {                                                            \
        if ((run)->err == FBY_OK) {                                 \
            (run)->err = fby_f_check(                               \
                (run), (run)->upload->cuda->function(__VA_ARGS__)); \
        }                                                           \
    } while (0)

/* While somebody captures a graph, only calls of his thread are of it: what is
 * called between these is of none. Leave with what enter returned. A thread of
 * ours uses the device before: even this call sets up the one it has chosen. */
int  fby_f_enter(const struct fby_gpu_upload *self);
void fby_f_leave(const struct fby_gpu_upload *self, int mode);

/* Do `work(arg)` on a thread of its own, and wait for it: the caller's goes on
 * with the device it chose, and sets up nothing on another. Errors in `run`. */
void fby_f_aside(struct run *run, void *(*work)(void *), void *arg);

/* upload_outs.c */
/* Some devices, virtual ones above all, have none: what is needed beyond the
 * usual memory is then allocated, and freeing it waits for the device. */
void fby_f_make_pool(struct run *run);
void fby_f_make_outs(struct run *run);
/* Every out was given back, and the lanes are done. Copes with an upload that was
 * only begun. */
void fby_f_destroy_outs(struct fby_gpu_upload *self);

#endif
