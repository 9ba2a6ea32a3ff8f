/* batch_pool.h - the output slots of a stream and their batches, reused.
 *
 * A slot is the memory of one batch and lives as long as the batch. The
 * receiver takes a batch, a decode thread makes its values, the trainer gets
 * and releases it. The pool keeps at most FBY_OUTPUT_SLOTS regular slots. If
 * the trainer holds all of them, the pool allocates extra slots (overflow), up
 * to max_held_bytes in total, and frees an extra slot when it is released. The
 * stream and every batch in use hold a reference to the pool; dropping the last
 * reference frees the pool. */
#ifndef FBY_CLIENT_BATCH_BATCH_POOL_H
#define FBY_CLIENT_BATCH_BATCH_POOL_H

#include "common/err.h"
#include "common/wakeup.h"
#include "trainer_client/batch/batch.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/gpu/upload.h"

enum { FBY_OUTPUT_SLOTS = 4 };

struct fby_batch_pool;

struct fby_batch_pool_config {
    const struct fby_device *device;
    struct fby_gpu_upload   *upload;    /* moves to the pool; NULL: no GPU */
    uint64_t                 out_bytes; /* size of a slot */
    uint32_t                 max_rows;
    uint64_t                 ragged; /* bit i: field i is ragged */
    uint64_t                 max_held_bytes;
};

struct fby_batch_pool_counts {
    uint32_t held;          /* delivered, not released */
    uint32_t in_use;        /* held, being filled, or on the ready queue */
    uint64_t overflow;      /* batches that needed an extra slot */
    bool     out_of_memory; /* no memory for an extra slot, and no batch was
                               released since */
};

/* Make a pool with one reference, which the stream holds. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_create(
    const struct fby_batch_pool_config *config, struct fby_batch_pool **out);

/* Drop the stream's reference; *self_p becomes NULL. */
void fby_batch_pool_release(struct fby_batch_pool **self_p);

/* Take a batch without values, which has one reference. `overflow` allows an
 * extra slot.
 *
 * Thread: any.
 * Errors: FBY_AGAIN  the regular slots are in use
 *         FBY_FULL   max_held_bytes are in use, or there is no memory for an
 *                    extra slot
 *         FBY_SYS    no memory for a regular slot */
FBY_CHECKED fby_err fby_batch_pool_take(
    struct fby_batch_pool *self, bool overflow, struct forebay_batch **out);

/* Count a batch as held by the trainer from now on. On a GPU, make the CUDA
 * stream `stream` wait for the batch's values. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_deliver(
    struct forebay_batch *batch, void *stream, struct fby_error_detail *why);

/* On a GPU, make another stream wait for the values. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_await(
    struct forebay_batch *batch, void *stream, struct fby_error_detail *why);

/* True if the held batch must be released before another can be delivered: all
 * batches have one address (fixed outputs). */
bool fby_batch_pool_is_blocked(struct fby_batch_pool *self);

/* Add a reference. Any thread. */
void fby_batch_ref(struct forebay_batch *batch);
/* Drop a reference. The last one returns the batch to its pool and sends the
 * pool's wakeup. Any thread. */
void fby_batch_unref(struct forebay_batch *batch);

/* Free the batch's list of substitutions. */
void fby_batch_free_substitutions(struct forebay_batch *batch);

/* True if no further batch can be delivered before a release: the trainer holds
 * all batches that max_held_bytes allows, or all that memory allowed. */
bool fby_batch_pool_is_full(struct fby_batch_pool *self);
/* The pool's counters now. Any thread. */
struct fby_batch_pool_counts fby_batch_pool_counts(struct fby_batch_pool *self);

/* The wakeup that is sent when a batch was returned to the pool. */
const struct fby_wakeup *fby_batch_pool_wakeup(
    const struct fby_batch_pool *self);

/* True in the process that created the pool. A forked child must not use it. */
bool fby_batch_pool_is_ours(const struct fby_batch_pool *self);

#endif
