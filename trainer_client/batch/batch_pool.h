/* SPDX-License-Identifier: Apache-2.0 */
/* batch_pool.h - allocate and reuse the batches of a stream.
 *
 * Every batch has an output slot, the memory of its tensors. The receiver takes
 * a batch from the pool, a decode thread makes its values, and the trainer gets
 * and releases it. The pool keeps at most FBY_OUTPUT_SLOTS regular slots. If
 * these are in use, it may allocate extra slots, up to max_held_bytes in total;
 * an extra slot is freed when its batch is released. The stream and every batch
 * in use hold a reference to the pool; dropping the last one frees the pool. */
#ifndef FBY_CLIENT_BATCH_BATCH_POOL_H
#define FBY_CLIENT_BATCH_BATCH_POOL_H

#include "common/err.h"
#include "common/wakeup.h"
#include "trainer_client/batch/batch.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/gpu/upload.h"

enum { FBY_OUTPUT_SLOTS = 4 }; /* most regular slots */

struct fby_batch_pool;

struct fby_batch_pool_config {
    const struct fby_device *device;
    struct fby_gpu_upload   *upload;    /* owned by the pool; NULL: no GPU */
    uint64_t                 out_bytes; /* size of an output slot */
    uint32_t                 max_rows;  /* most rows of a batch */
    uint64_t                 ragged;    /* bit i: field i is ragged */
    uint64_t                 max_held_bytes; /* limit for all slots together */
    bool caller_memory; /* the trainer gives each batch its memory */
};

struct fby_batch_pool_counts {
    uint32_t held;          /* batches that the trainer holds */
    uint32_t in_use;        /* batches taken from the pool, held or not */
    uint64_t overflow;      /* extra slots allocated so far */
    bool     out_of_memory; /* an extra slot could not be allocated, and no
                               batch was released since */
};

/* Make a pool with one reference, which the stream holds. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_create(
    const struct fby_batch_pool_config *config, struct fby_batch_pool **out);

/* Drop the stream's reference; *self_p becomes NULL. */
void fby_batch_pool_release(struct fby_batch_pool **self_p);

/* Take a batch without values, which has one reference. With `allow_extra` it
 * may get an extra slot.
 *
 * Thread: any.
 * Errors: FBY_AGAIN  the regular slots are in use
 *         FBY_FULL   max_held_bytes are in use, or there is no memory for an
 *                    extra slot
 *         FBY_SYS    no memory for a regular slot */
FBY_CHECKED fby_err fby_batch_pool_take(
    struct fby_batch_pool *self, bool allow_extra, struct forebay_batch **out);

/* Call fby_batch_await, and if that succeeds count the batch as held by the
 * trainer. `memory` is where its tensors are made if the trainer gives each
 * batch its memory, else NULL. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_deliver(struct forebay_batch *batch,
    void *stream, uint8_t *memory, struct fby_error_detail *why);

/* Set the addresses of the batch's tensors, which begin at `memory`. */
void fby_batch_place_tensors(struct forebay_batch *batch, uint8_t *memory);

/* On a GPU, make the CUDA stream `stream`, which will use the tensors, wait for
 * the batch's values. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_await(
    struct forebay_batch *batch, void *stream, struct fby_error_detail *why);

/* True if the trainer must release its batch before it can get another, because
 * all batches have the same address (option fixed_outputs). */
bool fby_batch_pool_is_blocked(struct fby_batch_pool *self);

/* Add a reference. Any thread. */
void fby_batch_ref(struct forebay_batch *batch);
/* Drop a reference. Dropping the last one returns the batch to its pool and
 * sends the pool's wakeup. Any thread. */
void fby_batch_unref(struct forebay_batch *batch);

/* Free the batch's list of substitutions. */
void fby_batch_free_substitutions(struct forebay_batch *batch);

/* True if no batch can be delivered until the trainer releases one. The trainer
 * holds all that max_held_bytes allows, or all for which there was memory. */
bool fby_batch_pool_is_full(struct fby_batch_pool *self);
/* Returns the current counters. Any thread. */
struct fby_batch_pool_counts fby_batch_pool_counts(struct fby_batch_pool *self);

/* Returns the wakeup that is sent when a batch was returned to the pool. */
const struct fby_wakeup *fby_batch_pool_wakeup(
    const struct fby_batch_pool *self);

/* True in the process that created the pool. A forked child must not use it. */
bool fby_batch_pool_is_ours(const struct fby_batch_pool *self);

#endif
