/* unpack.h - the decode threads: chunks into raw slots, slots into batches.
 *
 * The receiver puts tasks in and takes them back when they are done; a task
 * belongs to one side at a time. How much waits here is bounded: by the queue
 * (put waits), and before that by the window, which takes each chunk once. */
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

enum { FBY_UNPACK_QUEUE = 32 }; /* tasks that may wait */

enum fby_unpack_kind {
    FBY_UNPACK_CHUNK, /* verify `frame` and decode it to `raw` */
    FBY_UNPACK_BATCH  /* make `batch` of what `from` holds, and digest it */
};

struct fby_unpack_task {
    struct fby_unpack_task *next; /* while it is nobody's */
    enum fby_unpack_kind    kind;
    int                     slot;

    struct fby_request_id   id; /* chunk */
    zmq_msg_t               frame;
    struct fby_chunk        chunk;
    struct fby_codec_params params;
    uint8_t                *raw;    /* where the chunk goes */
    bool                    packed; /* as it came */
    bool                    ok;     /* answer: frame and bytes are good */

    struct forebay_batch    *batch; /* borrowed: it lies on the ready queue */
    struct fby_request_slot *from;  /* cleared when the batch is made */
    const struct fby_raw_layout *layout; /* of the slot; borrowed */
    const struct fby_chunk_sent *sent;   /* what is in it; borrowed */
};

struct fby_unpack;

struct fby_unpack_counts {
    int64_t  decode_ns; /* all threads */
    int64_t  expand_ns;
    uint64_t corrupt; /* chunks refused */
};

/* What is given must outlive it; `upload` is NULL without a GPU.
 * Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_unpack_create(const struct fby_setup *setup,
    struct fby_gpu_upload *upload, struct fby_ready_queue *ready_queue,
    struct fby_unpack **out);
/* Finishes what was put in; then joins. */
void fby_unpack_destroy(struct fby_unpack **self_p);

/* A zeroed task, the caller's until put. Receiver's thread. */
struct fby_unpack_task *fby_unpack_task(struct fby_unpack *self);

/* Ownership moves; waits while the queue is full. Receiver's thread. */
void fby_unpack_put(struct fby_unpack *self, struct fby_unpack_task *task);

/* A finished task or NULL; hand it back with fby_unpack_done. */
struct fby_unpack_task *fby_unpack_take(struct fby_unpack *self);
void fby_unpack_done(struct fby_unpack *self, struct fby_unpack_task *task);

/* Rings when a task is finished. */
const struct fby_wakeup *fby_unpack_wakeup(const struct fby_unpack *self);

struct fby_unpack_counts fby_unpack_counts(struct fby_unpack *self);

#endif
