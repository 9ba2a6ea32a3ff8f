/* raw.h - the least that moving a batch's bytes can cost: one TCP connection.
 *
 * A process of its own sends the frames of a stock over loopback, again and
 * again, as many as it is told to, from memory that goes round as that of ready
 * workers does; if asked to, it hashes each before. The bench receives them. */
#ifndef FBY_BENCH_RAW_H
#define FBY_BENCH_RAW_H

#include <sys/types.h>

#include "bench/stock.h"

struct bench_raw {
    pid_t pid;
    int   fd;
};

void bench_raw_start(
    struct bench_raw *self, const struct bench_stock *stock, bool hash);
void bench_raw_stop(struct bench_raw *self);

/* Have `batches` sent; they come as prefix and payload of each chunk. */
void bench_raw_ask(const struct bench_raw *self, uint64_t batches);

/* Receive exactly `size` bytes. */
void bench_raw_take(const struct bench_raw *self, void *out, size_t size);

int64_t bench_raw_cpu_ns(const struct bench_raw *self);

#endif
