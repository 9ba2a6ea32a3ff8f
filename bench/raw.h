/* raw.h - the minimum cost of moving a batch's bytes: one TCP connection.
 *
 * A child process sends the frames of a stock over loopback, as many batches as
 * requested, and hashes each frame first if asked to. It sends from a ring of
 * copies, as the ready workers do. The bench receives the frames. */
#ifndef FBY_BENCH_RAW_H
#define FBY_BENCH_RAW_H

#include <sys/types.h>

#include "bench/stock.h"

struct bench_raw {
    pid_t pid; /* the sender */
    int   fd;  /* connection to it */
};

/* Start the sender process; `hash`: it hashes each frame. */
void bench_raw_start(
    struct bench_raw *self, const struct bench_stock *stock, bool hash);
void bench_raw_stop(struct bench_raw *self);

/* Request `batches`; each arrives as the prefix and payload of every chunk. */
void bench_raw_request(const struct bench_raw *self, uint64_t batches);

/* Receive exactly `size` bytes. */
void bench_raw_receive(const struct bench_raw *self, void *out, size_t size);

/* CPU time of the sender so far. */
int64_t bench_raw_cpu_ns(const struct bench_raw *self);

#endif
