/* batch_pool.h - output slots, and the batches that live in them.
 *
 * A slot and its batch are one object that goes round: taken by the receiver,
 * filled, handed to the trainer, released, taken again. There are a few; if
 * the trainer holds them all, further ones are made (overflow) until
 * max_held_bytes, and thrown away when released. The pool lives until the
 * stream and the last batch have let go of it. */
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
    struct fby_gpu_upload   *upload;    /* NULL, or a GPU; becomes the pool's */
    uint64_t                 out_bytes; /* of a slot */
    uint32_t                 max_rows;
    uint64_t                 varying; /* bit i: rows of field i vary */
    uint64_t                 max_held_bytes;
};

struct fby_batch_pool_counts {
    uint32_t held;      /* delivered, not released */
    uint32_t in_use;    /* held, being filled, or waiting on the ready queue */
    uint64_t overflow;  /* batches that needed a further slot */
    bool out_of_memory; /* there was no memory for one, and none came back */
};

/* A pool with one reference, the stream's. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_create(
    const struct fby_batch_pool_config *config, struct fby_batch_pool **out);

/* Let go of the stream's reference; *self_p becomes NULL. */
void fby_batch_pool_leave(struct fby_batch_pool **self_p);

/* A batch to fill, with one reference; `overflow` allows a further slot.
 *
 * Thread: any.
 * Errors: FBY_AGAIN the usual slots are in use, FBY_FULL max_held_bytes are
 *         in use, or there is no memory for a further slot, FBY_SYS no memory
 *         for a usual one. */
FBY_CHECKED fby_err fby_batch_pool_take(
    struct fby_batch_pool *self, bool overflow, struct forebay_batch **out);

/* Count it as held by the trainer from now on, whose stream, on a GPU, gets to
 * see its values. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_pool_deliver(
    struct forebay_batch *batch, void *stream, struct fby_why *why);

/* On a GPU, have a further stream wait for the values. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_batch_await(
    struct forebay_batch *batch, void *stream, struct fby_why *why);

/* Whether what is held must be released before another is delivered. */
bool fby_batch_pool_is_blocked(struct fby_batch_pool *self);

void fby_batch_ref(struct forebay_batch *batch);
/* The last one puts it back and rings the pool's wakeup. Any thread. */
void fby_batch_unref(struct forebay_batch *batch);

/* Forget the substitutions of a batch. */
void fby_batch_clear(struct forebay_batch *batch);

/* True when the trainer holds all that there may be, or can be: all there are,
 * without memory for another. */
bool fby_batch_pool_is_full(struct fby_batch_pool *self);
struct fby_batch_pool_counts fby_batch_pool_counts(struct fby_batch_pool *self);

/* Rings when a slot came back. */
const struct fby_wakeup *fby_batch_pool_wakeup(
    const struct fby_batch_pool *self);

/* The process that made it; others must not touch it. */
bool fby_batch_pool_is_ours(const struct fby_batch_pool *self);

#endif
