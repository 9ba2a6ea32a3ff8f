/* SPDX-License-Identifier: Apache-2.0 */
/* receiver.h - the thread that owns a stream's sockets.
 *
 * The thread polls the sockets of the server and the workers in use. It reports
 * their messages to the window (which decides which worker makes which batch)
 * and carries out the actions that the window asks for. It passes chunks to the
 * decode pool and puts complete batches into the ready queue. At first it opens
 * the stream: it asks the workers which dataset they have, and requests batches
 * as soon as a dataset is chosen. */
#ifndef FBY_CLIENT_RECEIVE_RECEIVER_H
#define FBY_CLIENT_RECEIVE_RECEIVER_H

#include "common/err.h"
#include "trainer_client/batch/batch_pool.h"
#include "trainer_client/batch/ready_queue.h"
#include "trainer_client/setup/setup.h"

struct fby_receiver;

struct fby_receiver_parts { /* borrowed; must outlive the receiver */
    const struct fby_setup *setup;
    struct fby_ready_queue *ready_queue;
    struct fby_batch_pool  *batch_pool;
    struct fby_gpu_upload  *upload; /* NULL: batches stay on the host */
};

/* Start the thread. It reports the progress of opening the stream to the ready
 * queue.
 *
 * Ownership: *out is the caller's, for destroy.
 * Errors:    FBY_SYS, FBY_CONFIG, with `why`. */
FBY_CHECKED fby_err fby_receiver_create(const struct fby_receiver_parts *parts,
    struct fby_receiver **out, struct fby_error_detail *why);

/* The name of class `id`; NULL: it has none. Call it only once the stream is
 * open. Ownership: borrowed until destroy. Thread: any. */
const char *fby_receiver_class_name(
    const struct fby_receiver *self, uint32_t id);

/* Keep the list of the stream's shards in the user's cache directory, for
 * fby_receiver_describe_data_change() of later streams. Errors are ignored. Call
 * it only once the stream is open. Blocks: for file I/O. Thread: any but the
 * receiver's, which must answer workers also if the file system hangs. */
void fby_receiver_store_shard_list(const struct fby_receiver *self);

/* Describe how the stream's data differs from the data with the digest `then`.
 * Call it only once the stream is open. Blocks: for file I/O. Thread: any. */
void fby_receiver_describe_data_change(const struct fby_receiver *self,
    const struct fby_digest *then, struct fby_error_detail *out);

/* Send BYE to the workers and QUIT to the server, and join the thread; *self_p
 * becomes NULL. NULL is allowed. */
void fby_receiver_destroy(struct fby_receiver **self_p);

#endif
