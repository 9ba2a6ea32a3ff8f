/* ready.h - workers that make nothing: their batches lie ready.
 *
 * For benches of everything behind the making of a batch. They speak the real
 * protocol to the real server and client, keep to `send_window` and CREDIT,
 * and send as a worker does: each frame's prefix written and its payload
 * hashed when it is sent, without a copy, from memory that goes round. A
 * service time is a timer: a worker serves one request after the other, each
 * for that long, and needs no processor for it. All of them are one loop in a
 * process of its own, which ends with the bench. */
#ifndef FBY_BENCH_READY_H
#define FBY_BENCH_READY_H

#include <stdatomic.h>

#include "bench/farm.h"
#include "bench/stock.h"

enum { BENCH_READY_WINDOW = 16 << 20 }; /* bytes: their send_window */

struct bench_ready_plan {
    unsigned                  workers;
    int64_t                   service_ns[BENCH_MAX_WORKERS]; /* of a batch */
    const struct bench_stock *stock;   /* what every request gets */
    uint32_t                  samples; /* they claim to have */
};

struct bench_ready {
    pid_t         pid;
    atomic_ulong *served; /* batches, all workers; shared with the process */
};

/* Start them at the farm's server, and wait until it knows all of them. */
void bench_ready_start(struct bench_ready *self, const struct bench_farm *farm,
    const struct bench_ready_plan *plan);
void bench_ready_stop(struct bench_ready *self);

/* CPU time so far. */
int64_t bench_ready_cpu_ns(const struct bench_ready *self);

/* Write the farm's pipeline file: one field of pictures as in `stock`. Root d
 * is where they would lie. */
void bench_ready_pipeline(
    struct bench_farm *farm, const struct bench_stock *stock);

#endif
