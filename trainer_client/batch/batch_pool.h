/* batch_pool.h - the output slots of a stream and their batches, reused.
 *
 * A slot and its batch are one object. The receiver takes it, a decode thread
 * fills it, the trainer gets it and releases it. The pool keeps a few. If the
 * trainer holds them all, the pool makes extra ones (overflow), up to
 * max_held_bytes, and frees these when they are released. The stream and every
 * batch in use hold a reference to the pool; the last one frees it. */
#ifndef FBY_CLIENT_BATCH_BATCH_POOL_H
#define FBY_CLIENT_BATCH_BATCH_POOL_H

#include "common/err.h"
#include "trainer_client/batch/batch.h"
#include "trainer_client/batch/wakeup.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/gpu/upload.h"

enum { FBY_OUTPUT_SLOTS = 4 };

struct fby_batch_pool;

struct fby_batch_pool_config {
    const struct fby_device *device;
    struct fby_gpu_upload   *upload;    /* NULL: the host; moves to the pool */
    uint64_t                 out_bytes; /* of a slot */
    uint32_t                 max_rows;
    uint64_t                 varying; /* bit i: field i is ragged */
    uint64_t                 max_held_bytes;
};

struct fby_batch_pool_counts {
    uint32_t held;          /* delivered, not released */
    uint32_t in_use;        /* held, being filled, or on the ready queue */
    uint64_t overflow;      /* batches that needed an extra slot */
    bool     out_of_memory; /* an extra slot could not be made, and no batch
                               was released since */
};

/* Make a pool with one reference, the stream's. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_create(
    const struct fby_batch_pool_config *config, struct fby_batch_pool **out);

/* Drop the stream's reference; *self_p becomes NULL. */
void fby_batch_pool_leave(struct fby_batch_pool **self_p);

/* Take a batch to fill, with one reference; `overflow` allows an extra slot.
 *
 * Thread: any.
 * Errors: FBY_AGAIN  the regular slots are in use
 *         FBY_FULL   max_held_bytes are in use, or there is no memory for an
 *                    extra slot
 *         FBY_SYS    no memory for a regular slot */
FBY_CHECKED fby_err fby_batch_pool_take(
    struct fby_batch_pool *self, bool overflow, struct forebay_batch **out);

/* Count a batch as held by the trainer from now on. On a GPU, make `stream`
 * wait for its values. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_deliver(
    struct forebay_batch *batch, void *stream, struct fby_why *why);

/* On a GPU, make another stream wait for the values. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_await(
    struct forebay_batch *batch, void *stream, struct fby_why *why);

/* True if the held batch must be released before another can be delivered: all
 * batches have one address (fixed outputs). */
bool fby_batch_pool_is_blocked(struct fby_batch_pool *self);

/* Add a reference. Any thread. */
void fby_batch_ref(struct forebay_batch *batch);
/* Drop a reference. The last one returns the batch to its pool and sends the
 * pool's wakeup. Any thread. */
void fby_batch_unref(struct forebay_batch *batch);

/* Free the list of substitutions of a batch. */
void fby_batch_clear(struct forebay_batch *batch);

/* True if the trainer holds all batches that max_held_bytes allows, or all that
 * exist while there is no memory for another. */
bool fby_batch_pool_is_full(struct fby_batch_pool *self);
/* The pool's counters now. Any thread. */
struct fby_batch_pool_counts fby_batch_pool_counts(struct fby_batch_pool *self);

/* Sent when a batch was returned to the pool. */
const struct fby_wakeup *fby_batch_pool_wakeup(
    const struct fby_batch_pool *self);

/* True in the process that made the pool. After a fork the child must not use
 * it. */
bool fby_batch_pool_is_ours(const struct fby_batch_pool *self);

#endif
