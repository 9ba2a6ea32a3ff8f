/* unpack.h - the decode threads: they decode chunks into slots, and make
 * batches from slots (make_batch.h).
 *
 * The receiver puts tasks in and takes them back when they are done. One side
 * owns a task at a time. The number of waiting tasks is bounded by the queue
 * (put waits), and before that by the window, which accepts each chunk once. */
#ifndef FBY_CLIENT_BATCH_UNPACK_H
#define FBY_CLIENT_BATCH_UNPACK_H

#include <stdbool.h>
#include <zmq.h>

#include "codec/codec.h"
#include "proto/frame.h"
#include "trainer_client/batch/batch.h"
#include "trainer_client/batch/ready_queue.h"
#include "trainer_client/batch/request_slot.h"
#include "trainer_client/setup/setup.h"

enum { FBY_UNPACK_QUEUE = 32 }; /* tasks in the queue at most */

enum fby_unpack_kind {
    FBY_UNPACK_CHUNK, /* verify `frame` and decode it to `raw` */
    FBY_UNPACK_BATCH  /* make `batch` from `from`, and its digests */
};

struct fby_unpack_task {
    struct fby_unpack_task *next; /* in the list of finished or spare ones */
    enum fby_unpack_kind    kind;
    int                     slot;

    /* FBY_UNPACK_CHUNK: */
    struct fby_request_id   id;
    zmq_msg_t               frame;
    struct fby_chunk        chunk;
    struct fby_codec_params params;
    uint8_t                *raw;    /* destination */
    bool                    packed; /* copy the payload as it came */
    bool                    ok;     /* result: frame and bytes are valid */

    /* FBY_UNPACK_BATCH, see struct fby_batch_input: */
    struct forebay_batch        *batch;  /* borrowed: on the ready queue */
    struct fby_request_slot     *from;   /* cleared when the batch is made */
    const struct fby_raw_layout *layout; /* borrowed */
    const struct fby_chunk_sent *sent;   /* borrowed */
};

struct fby_unpack;

struct fby_unpack_counts {
    int64_t  decode_ns; /* sum over all threads */
    int64_t  expand_ns;
    uint64_t corrupt; /* chunks refused */
};

/* Start setup->decode_threads threads. All arguments must outlive them;
 * `upload` is NULL without a GPU. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_unpack_create(const struct fby_setup *setup,
    struct fby_gpu_upload *upload, struct fby_ready_queue *ready_queue,
    struct fby_unpack **out);
/* Finish all tasks, then join the threads. Blocks. */
void fby_unpack_destroy(struct fby_unpack **self_p);

/* A zeroed task, the caller's until put. Receiver's thread. */
struct fby_unpack_task *fby_unpack_task(struct fby_unpack *self);

/* Ownership moves; waits while the queue is full. Receiver's thread. */
void fby_unpack_put(struct fby_unpack *self, struct fby_unpack_task *task);

/* A finished task or NULL. Pass it to fby_unpack_done after use. */
struct fby_unpack_task *fby_unpack_take(struct fby_unpack *self);
/* Return a finished task for reuse. Receiver's thread. */
void fby_unpack_done(struct fby_unpack *self, struct fby_unpack_task *task);

/* Sent when a task is finished. */
const struct fby_wakeup *fby_unpack_wakeup(const struct fby_unpack *self);

/* The counters now. Any thread. */
struct fby_unpack_counts fby_unpack_counts(struct fby_unpack *self);

#endif
