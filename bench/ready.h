/* ready.h - workers that send prepared batches, for benches of everything after
 * the making of a batch.
 *
 * They speak the real protocol to the real server and client, and respect
 * `send_window` and CREDIT. Like a worker they write each prefix and hash each
 * payload when they send it, without a copy; the memory is a pool of copies of
 * the batch. A worker serves one request at a time, and a timer simulates its
 * service time without using CPU. One loop in a child process runs them all; it
 * ends with the bench. */
#ifndef FBY_BENCH_READY_H
#define FBY_BENCH_READY_H

#include <stdatomic.h>

#include "bench/farm.h"
#include "bench/stock.h"

enum { BENCH_READY_WINDOW = 16 << 20 }; /* send_window, bytes */

struct bench_ready_plan {
    unsigned                  workers;
    int64_t                   service_ns[BENCH_MAX_WORKERS]; /* per batch */
    const struct bench_stock *stock;   /* the answer to every request */
    uint32_t                  samples; /* of the dataset that they report */
};

struct bench_ready {
    pid_t         pid;
    atomic_ulong *served; /* batches of all workers; shared memory */
};

/* Start the workers, and wait until the farm's server has registered them. */
void bench_ready_start(struct bench_ready *self, const struct bench_farm *farm,
    const struct bench_ready_plan *plan);
void bench_ready_stop(struct bench_ready *self);

/* CPU time of the workers' process so far. */
int64_t bench_ready_cpu_ns(const struct bench_ready *self);

/* Write the farm's pipeline file: one field of pictures as in `stock`, from
 * root d. */
void bench_ready_pipeline(
    struct bench_farm *farm, const struct bench_stock *stock);

#endif
