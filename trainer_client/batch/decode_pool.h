/* decode_pool.h - the decode threads: they decode chunks into slots, and make
 * batches from slots (make_batch.h).
 *
 * The receiver puts tasks in and takes them back when they are done. One side
 * owns a task at a time. If the queue is full, put waits. */
#ifndef FBY_CLIENT_BATCH_DECODE_POOL_H
#define FBY_CLIENT_BATCH_DECODE_POOL_H

#include <stdbool.h>
#include <zmq.h>

#include "trainer_client/batch/make_batch.h"
#include "trainer_client/batch/ready_queue.h"

enum { FBY_DECODE_QUEUE = 32 }; /* most tasks in the queue */

enum fby_decode_task_kind {
    FBY_TASK_DECODE_CHUNK, /* verify `frame` and write its chunk (`job`) */
    FBY_TASK_MAKE_BATCH    /* make a batch and its digests; clear its slot */
};

struct fby_decode_task {
    struct fby_decode_task   *next; /* in the list of finished or spare tasks */
    enum fby_decode_task_kind kind;
    int                       slot; /* index of the request slot */

    /* FBY_TASK_DECODE_CHUNK: */
    zmq_msg_t            frame;
    struct fby_chunk_job job;
    bool                 ok; /* result: the frame is valid */

    /* FBY_TASK_MAKE_BATCH: the batch is on the ready queue. */
    struct fby_batch_input input;
};

struct fby_decode_pool;

struct fby_decode_pool_counts {
    int64_t  decode_ns; /* for chunks; sum over all threads */
    int64_t  expand_ns; /* for batches; sum over all threads */
    uint64_t corrupt;   /* damaged chunks */
};

/* Start setup->decode_threads threads. All arguments must outlive them;
 * `upload` is NULL without a GPU. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_decode_pool_create(const struct fby_setup *setup,
    struct fby_gpu_upload *upload, struct fby_ready_queue *ready_queue,
    struct fby_decode_pool **out);
/* Finish all tasks, then join the threads. Blocks. *self_p becomes NULL. */
void fby_decode_pool_destroy(struct fby_decode_pool **self_p);

/* A zeroed task, which the caller owns until put. Receiver's thread. */
struct fby_decode_task *fby_decode_pool_new_task(struct fby_decode_pool *self);

/* Queue a task. Waits while the queue is full. Receiver's thread.
 * Ownership: the task moves to the pool. */
void fby_decode_pool_put(
    struct fby_decode_pool *self, struct fby_decode_task *task);

/* Take a finished task, or NULL. Recycle the task after use. */
struct fby_decode_task *fby_decode_pool_take_finished(
    struct fby_decode_pool *self);
/* Return a finished task for reuse. Receiver's thread. */
void fby_decode_pool_recycle(
    struct fby_decode_pool *self, struct fby_decode_task *task);

/* The wakeup that is sent when a task is finished. */
const struct fby_wakeup *fby_decode_pool_wakeup(
    const struct fby_decode_pool *self);

/* The counters now. Any thread. */
struct fby_decode_pool_counts fby_decode_pool_counts(
    struct fby_decode_pool *self);

#endif
