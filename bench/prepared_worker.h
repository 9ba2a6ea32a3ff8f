/* SPDX-License-Identifier: Apache-2.0 */
/* prepared_worker.h - the process of one worker of prepared_cluster.h, which
 * sends a prepared batch (its chunks are already encoded). */
#ifndef FBY_BENCH_PREPARED_WORKER_H
#define FBY_BENCH_PREPARED_WORKER_H

#include "bench/batch.h"

/* Most bytes that a worker sends beyond those for which it received CREDIT. */
enum { BENCH_SEND_WINDOW = 16 << 20 };

/* Register with the server at endpoint `server`, write a byte to `ready_fd`,
 * and answer requests until killed. A request takes `service_ns`. */
_Noreturn void bench_prepared_worker_run(const char *server,
    const struct bench_batch *batch, int64_t service_ns, int ready_fd);

#endif
