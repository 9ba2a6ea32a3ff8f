/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h - a bare TCP connection that moves the bytes of a prepared batch
 * (encoded before the run). It shows the minimum cost of receiving.
 *
 * A child process sends the frames of the batch over loopback, as many times as
 * requested, from several copies in turn. The bench receives the frames. */
#ifndef FBY_BENCH_TCP_H
#define FBY_BENCH_TCP_H

#include <sys/types.h>

#include "bench/batch.h"

struct bench_tcp {
    pid_t sender_pid;
    int   fd;   /* connection to the sender */
    bool  hash; /* the sender writes the hash of each payload to its prefix */
};

/* Start the sender. The caller has set `hash`. */
void bench_tcp_start(struct bench_tcp *self, const struct bench_batch *batch);

void bench_tcp_stop(struct bench_tcp *self);

/* Request `batches` times the prefix and payload of every chunk. */
void bench_tcp_request(const struct bench_tcp *self, uint64_t batches);

/* Receive exactly `size` bytes. */
void bench_tcp_receive(const struct bench_tcp *self, void *out, size_t size);

#endif
