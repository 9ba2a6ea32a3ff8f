/* SPDX-License-Identifier: Apache-2.0 */
/* upload.h - copy whole batches to a GPU, and expand them there to tensors
 * (expand/segment.h).
 *
 * The caller gathers the bytes of a batch in an arena, which is pinned host
 * memory. A lane is a CUDA stream with device memory for a copy of an arena.
 * Batches use the lanes in turn, so one batch is copied while the one before is
 * expanded. An output is a buffer on the device for the tensors of one batch.
 * The consumer is the training program. Memory may be written again:
 *     arena   when its copy is done. The caller polls for this.
 *     lane    when its kernels are done. The lane's stream keeps order.
 *     output  when the consumer has released it, and the work that was then
 *             queued on the consumer's stream is done. The stream of the lane
 *             waits for this.
 * With `fixed_address` the tensors of all batches have the same address. With
 * `caller_memory` the consumer gives each batch its memory. With either, batches
 * are still copied ahead, but their kernels are launched on the consumer's
 * stream when the consumer takes the batch.
 *
 * Thread: any, concurrently. "Thread: ours" means a thread of Forebay, because
 *         the call may change the thread's current device.
 * Blocks: destroy and stop wait for the device. The first submit with an arena
 *         waits until that arena is pinned. No other function waits.
 * The message of a failed call names the CUDA function and the batch. Calls for
 * batches create no context on another GPU. */
#ifndef FBY_CLIENT_GPU_UPLOAD_H
#define FBY_CLIENT_GPU_UPLOAD_H

#include <stdbool.h>

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

enum {
    FBY_GPU_UPLOAD_LANES    = 4, /* more than the batches in the ready queue */
    FBY_GPU_UPLOAD_MAX_COPY = 16 << 20 /* most bytes of one copy */
};

/* The application's allocator for tensors (forebay_options). It allocates and
 * frees in the order of `stream`, and is called without a lock. All NULL: the
 * upload allocates with CUDA. */
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
    uint64_t work_bytes;    /* of a lane's memory, after the copied arena */
    uint32_t n_outs;        /* outputs to allocate at create */
    uint64_t out_bytes;     /* size of an output */
    bool     fixed_address; /* tensors of all batches have one address */
    bool     caller_memory; /* see fby_gpu_upload_set_memory */
    struct fby_gpu_upload_memory memory;
};

struct fby_gpu_upload;

/* An output buffer: memory for the tensors of one batch. */
struct fby_gpu_output {
    uint8_t *memory; /* on the device; caller_memory: NULL until it is set */
};

struct fby_gpu_upload_batch {
    uint64_t epoch, step; /* for messages */
    uint32_t arena;       /* number of the arena */
    uint64_t bytes;       /* bytes to copy from the arena's start */
    uint64_t list;        /* offset of the list of segments in the arena */
    struct fby_gpu_output *out;
};

/* Create an upload to config->device. Arenas are pinned in the background.
 * Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_create(
    const struct fby_gpu_upload_config *config, struct fby_gpu_upload **out,
    struct fby_error_detail *why);

/* Wait for all submitted batches and free the arenas. Tensors stay valid. */
void fby_gpu_upload_stop(struct fby_gpu_upload *self);
/* Stop, and free all other memory. All outputs must have been recycled. */
void fby_gpu_upload_destroy(struct fby_gpu_upload **self_p);

/* Returns the member `fixed_address` of the configuration. */
bool fby_gpu_upload_is_fixed(const struct fby_gpu_upload *self);
/* The memory of arena `arena`, which has arena_bytes, borrowed. */
uint8_t *fby_gpu_upload_arena(
    const struct fby_gpu_upload *self, uint32_t arena);

/* Queue the copy of a batch. Without `fixed_address` and `caller_memory` also
 * launch its kernels. batch->out is from fby_gpu_upload_take_output and has no
 * other batch. Thread: ours. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_submit(struct fby_gpu_upload *self,
    const struct fby_gpu_upload_batch *batch, struct fby_error_detail *why);

/* Returns FBY_OK if the arena may be written again. Thread: ours.
 * Errors: FBY_AGAIN  the arena is still being copied; FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_poll_copied(
    struct fby_gpu_upload *self, uint32_t arena, struct fby_error_detail *why);

/* Take a free output, or with `extra` allocate one beyond n_outs. Returns NULL
 * if no output is free or there is no memory. Thread: ours. */
struct fby_gpu_output *fby_gpu_upload_take_output(
    struct fby_gpu_upload *self, bool extra);

/* Give an output back. It was released, or no stream waited for its tensors. An
 * extra output is freed. */
void fby_gpu_upload_recycle(
    struct fby_gpu_upload *self, struct fby_gpu_output *handle);

/* With `caller_memory`: set the memory of the tensors of the batch in this
 * output. Call before the first fby_gpu_upload_await for the batch. */
void fby_gpu_upload_set_memory(struct fby_gpu_output *handle, uint8_t *memory);

/* The batch in this output will not be taken: kernels that were not launched
 * with its submit are never launched. */
void fby_gpu_upload_drop(
    struct fby_gpu_upload *self, struct fby_gpu_output *handle);

/* Make the consumer's `stream` wait for the tensors of a batch. With
 * `fixed_address` or `caller_memory` the first call for a batch launches its
 * kernels.
 * Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_gpu_upload_await(struct fby_gpu_upload *self,
    struct fby_gpu_output *handle, void *stream, struct fby_error_detail *why);

/* Release the tensors. Their use ends when the work that is now queued on
 * `stream` is done. If no event can be recorded on the stream, that end is
 * unknown, and every later submit fails with the reason. */
void fby_gpu_upload_release(
    struct fby_gpu_upload *self, struct fby_gpu_output *handle, void *stream);

#endif
