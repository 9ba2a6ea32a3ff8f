/* upload.h - whole batches to a GPU: one copy, one launch (expand/segment.h).
 *
 * The bytes of a batch were gathered in an arena of pinned memory. A lane is a
 * stream of ours and device memory as large as an arena. Batches take the lanes
 * in turn, so that one is copied while the one before is expanded.
 * Three things are still used after a call returns. Each is reused when its
 * event has passed:
 *     the arena    when its copy is done: the caller polls
 *     the lane     when its kernel is done: by the order of its stream
 *     the tensors  when the consumer's stream passed the release: the lane's
 *                  stream waits for an event
 * With `fixed` all batches have one address. The copy still runs ahead; the
 * kernel is launched on the consumer's stream when it takes the batch.
 *
 * Thread: any, concurrently.
 * Blocks: destroy and stop wait for the device, and the first submits until
 *         their arena is pinned. Nothing else waits.
 * A call that fails names the CUDA function and the batch. Calls for batches
 * set up nothing on a GPU other than the upload's. "Thread: ours" means a
 * thread for which such a call may choose the device. */
#ifndef FBY_CLIENT_GPU_UPLOAD_H
#define FBY_CLIENT_GPU_UPLOAD_H

#include <stdbool.h>

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

enum {
    FBY_GPU_UPLOAD_LANES = 4,       /* more than batches on the ready queue */
    FBY_GPU_UPLOAD_PIECE = 16 << 20 /* bytes of one copy */
};

/* The caller's allocator for tensors, in the order of a stream of ours; see
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
    uint64_t               work_bytes; /* after an arena, on the device only */
    uint32_t               n_outs;     /* kept for the whole stream */
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
    uint64_t                   list;  /* offset of its list of segments */
    struct fby_gpu_upload_out *out;
};

/* Make an upload to config->device; arenas are pinned in the background.
 * Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_create(
    const struct fby_gpu_upload_config *config, struct fby_gpu_upload **out,
    struct fby_why *why);

/* Wait for what was submitted and free the arenas. Tensors stay valid. */
void fby_gpu_upload_stop(struct fby_gpu_upload *self);
/* Stop, and free the rest. Every out was given back. */
void fby_gpu_upload_destroy(struct fby_gpu_upload **self_p);

/* True if all batches have one address. */
bool fby_gpu_upload_is_fixed(const struct fby_gpu_upload *self);
/* The memory of arena `arena`, arena_bytes; borrowed. */
uint8_t *fby_gpu_upload_arena(
    const struct fby_gpu_upload *self, uint32_t arena);

/* Copy and launch a batch. Its `out` was taken, and no other batch has it.
 * Thread: ours. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_submit(struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, struct fby_why *why);

/* FBY_OK if an arena may be filled again. Thread: ours.
 * Errors: FBY_AGAIN  its copy is under way; FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_copied(
    struct fby_gpu_upload *self, uint32_t arena, struct fby_why *why);

/* Memory for a batch, or NULL if there is none; with `further`, beyond the
 * n_outs that are kept. Thread: ours. */
struct fby_gpu_upload_out *fby_gpu_upload_take(
    struct fby_gpu_upload *self, bool further);

/* Give it back, after its release or if it was never handed out. */
void fby_gpu_upload_give(
    struct fby_gpu_upload *self, struct fby_gpu_upload_out *given);

/* Make a stream of the consumer wait for the values. With `fixed` the first of
 * these calls launches the kernel. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_hand_out(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *given, void *stream, struct fby_why *why);

/* End the use of the values: work queued on `stream` by now is the last. If
 * that cannot be recorded, no tensors are written any more, and the next submit
 * fails with the reason. */
void fby_gpu_upload_release(struct fby_gpu_upload *self,
    struct fby_gpu_upload_out *given, void *stream);

#endif
