/* upload.h - whole batches to a GPU: one copy, one launch (see expand/segment.h).
 *
 * What a batch needs was gathered in an arena of pinned memory. A lane is a
 * stream of ours and memory on the device as large as an arena; batches take
 * the lanes in turn, so that one is copied while the one before is expanded.
 * Three things are shared with work that is still under way, and each is free
 * when its event has passed:
 *     the arena   when its copy is done                       asked, not waited
 *     the lane    when its kernel is done                 by the stream's order
 *     the tensors when the consumer's stream passed the release     a wait of
 *                                                the lane's stream for an event
 * With `fixed` all batches have one address: the copy runs ahead as ever, and
 * the kernel is launched on the consumer's stream when it takes the batch.
 *
 * Threads: any, at the same time; nothing here waits for the device but
 * destroy, stop, and the first submits, which wait until their arena is pinned.
 * A call that fails says which, and of which batch. On a GPU that is not the
 * upload's nothing is set up by calls for batches; "of ours" is a thread for
 * which such a call may choose the device. */
#ifndef FBY_CLIENT_GPU_UPLOAD_H
#define FBY_CLIENT_GPU_UPLOAD_H

#include <stdbool.h>

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

enum {
    FBY_GPU_UPLOAD_LANES = 4, /* more than batches laid down and not taken */
    FBY_GPU_UPLOAD_PIECE = 16 << 20 /* bytes of one copy */
};

/* Memory of the caller's for tensors, in the order of a stream of ours; see
 * forebay_options. Called with no lock held. */
struct fby_gpu_upload_memory {
    void *(*allocate)(void *arg, size_t bytes, int32_t device, void *stream);
    void (*free)(void *arg, void *memory, void *stream);
    void *arg;
};

struct fby_gpu_upload_config {
    const struct fby_cuda *cuda;
    int                    device;
    uint32_t               n_arenas;
    uint64_t               arena_bytes;
    uint64_t               work_bytes; /* behind an arena, on the device only */
    uint32_t               n_outs;     /* that are always there */
    uint64_t               out_bytes;
    bool                   fixed;
    struct fby_gpu_upload_memory memory;
};

struct fby_gpu_upload;

/* Memory for the tensors of one batch. */
struct fby_gpu_upload_out {
    uint8_t *memory; /* on the device */
};

struct fby_gpu_upload_batch {
    uint64_t                   epoch, step; /* for errors */
    uint32_t                   arena;
    uint64_t                   bytes; /* of it, to copy */
    uint64_t                   list; /* where in it the list of segments lies */
    struct fby_gpu_upload_out *out;
};

/* Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_create(
    const struct fby_gpu_upload_config *config, struct fby_gpu_upload **out,
    struct fby_why *why);

/* Wait for what was submitted and give the arenas back. Tensors stay. */
void fby_gpu_upload_stop(struct fby_gpu_upload *self);
/* Stops too. Every out was given back. */
void fby_gpu_upload_destroy(struct fby_gpu_upload **self_p);

bool     fby_gpu_upload_is_fixed(const struct fby_gpu_upload *self);
uint8_t *fby_gpu_upload_arena(
    const struct fby_gpu_upload *self, uint32_t arena);

/* Copy and launch. `out` was taken, and is nobody else's. Thread: one of ours.
 * Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_submit(struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, struct fby_why *why);

/* Whether an arena may be filled anew. Thread: one of ours. Errors: FBY_AGAIN
 * its copy is under way; FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_copied(
    struct fby_gpu_upload *self, uint32_t arena, struct fby_why *why);

/* Memory for a batch, `further` beyond those that are always there; NULL:
 * there is none. Thread: one of ours. */
struct fby_gpu_upload_out *fby_gpu_upload_take(
    struct fby_gpu_upload *self, bool further);

/* Give it back, once let go or never handed out. */
void fby_gpu_upload_give(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *given);

/* Have a stream of the consumer's wait for the values; with `fixed` the first
 * of these launches the kernel. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_hand_out(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *given, void *stream, struct fby_why *why);

/* The values were last used by what is on `stream` now. Where that cannot be
 * told, no tensors are written any more: the next submit fails with it. */
void fby_gpu_upload_let_go(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *given, void *stream);

#endif
