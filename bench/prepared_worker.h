/* prepared_worker.h - the process of one worker of prepared_cluster.h. */
#ifndef FBY_BENCH_PREPARED_WORKER_H
#define FBY_BENCH_PREPARED_WORKER_H

#include "bench/batch.h"

enum { BENCH_SEND_WINDOW = 16 << 20 }; /* bytes of a worker */

/* Register with the server at endpoint `server` and answer requests until
 * killed. Writes a byte to `ready_fd` once registered. */
_Noreturn void bench_prepared_worker_run(const char *server,
    const struct bench_batch *batch, int64_t service_ns, int ready_fd);

#endif
