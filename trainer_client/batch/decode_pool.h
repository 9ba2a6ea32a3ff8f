/* SPDX-License-Identifier: Apache-2.0 */
/* decode_pool.h - the decode threads, and the queue of their tasks.
 *
 * A task decodes a chunk into a request slot (the chunks of a batch), or makes
 * the values of a batch from a complete slot (make_batch.h). The receiver
 * submits tasks and takes them back when they are finished. The receiver or the
 * pool owns a task, never both. */
#ifndef FBY_CLIENT_BATCH_DECODE_POOL_H
#define FBY_CLIENT_BATCH_DECODE_POOL_H

#include <stdbool.h>
#include <zmq.h>

#include "trainer_client/batch/make_batch.h"
#include "trainer_client/batch/ready_queue.h"

enum { FBY_DECODE_QUEUE = 32 }; /* tasks that wait, beside those in work */

enum fby_decode_task_kind {
    FBY_TASK_DECODE_CHUNK, /* verify `frame`, then do or check `job` */
    FBY_TASK_MAKE_BATCH    /* make values and digests; clear the slot */
};

struct fby_decode_task {
    struct fby_decode_task   *next; /* in the list of finished or spare tasks */
    enum fby_decode_task_kind kind;
    int                       slot; /* index of the request slot */

    /* FBY_TASK_DECODE_CHUNK: */
    zmq_msg_t            frame;
    struct fby_chunk_job job;
    bool keeps; /* only check `job`, and leave `frame` to the receiver */
    bool ok;    /* result: the chunk was valid */

    /* FBY_TASK_MAKE_BATCH. input.batch has its place in the ready queue, and
     * becomes ready when the task is done. */
    struct fby_batch_input input;
};

struct fby_decode_pool;

struct fby_decode_pool_counts {
    int64_t  decode_ns; /* decoding chunks; sum over all threads */
    int64_t  expand_ns; /* making batches; sum over all threads */
    uint64_t corrupt;   /* damaged chunks */
};

/* Start setup->decode_threads threads. All arguments must outlive them;
 * `upload` is NULL without a GPU. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_decode_pool_create(const struct fby_setup *setup,
    struct fby_gpu_upload *upload, struct fby_ready_queue *ready_queue,
    struct fby_decode_pool **out);
/* Finish all tasks and free the pool; *self_p becomes NULL. Blocks. */
void fby_decode_pool_destroy(struct fby_decode_pool **self_p);

/* Returns a zeroed task, which the caller owns until it submits it. Receiver's
 * thread. */
struct fby_decode_task *fby_decode_pool_new_task(struct fby_decode_pool *self);

/* True if fewer tasks than FBY_DECODE_QUEUE, and one for each thread, were
 * submitted and not yet taken back. Receiver's thread. */
bool fby_decode_pool_has_room(const struct fby_decode_pool *self);

/* Queue a task. Waits if there is no room. Receiver's thread.
 * Ownership: the task moves to the pool. */
void fby_decode_pool_submit(
    struct fby_decode_pool *self, struct fby_decode_task *task);

/* Take a finished task; NULL if there is none. Recycle the task after use. */
struct fby_decode_task *fby_decode_pool_take_finished(
    struct fby_decode_pool *self);
/* Return a finished task for reuse, and drop its frame. Receiver's thread. */
void fby_decode_pool_recycle(
    struct fby_decode_pool *self, struct fby_decode_task *task);

/* Returns the wakeup that is sent when a task is finished. */
const struct fby_wakeup *fby_decode_pool_wakeup(
    const struct fby_decode_pool *self);

/* Returns the current counters. Any thread. */
struct fby_decode_pool_counts fby_decode_pool_counts(
    struct fby_decode_pool *self);

#endif
