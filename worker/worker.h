/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - a worker: makes the batches that clients request.
 *
 * A request contains all values that determine a batch, so the worker keeps no
 * state of a training job. It fetches, transforms and encodes samples, each in
 * a stage with its own threads; one loop owns the sockets. Clients find a
 * worker through the server; without a server they must be given its endpoint.
 */
#ifndef FBY_WORKER_WORKER_H
#define FBY_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "worker/options.h"

enum { FBY_WORKER_MIN_MEMORY = 32 << 20 }; /* smallest memory_bytes; 32 MiB */

/* The options of a worker without a server, on the loopback interface. */
struct fby_worker_options fby_worker_defaults(void);

/* The memory_bytes of a worker whose cgroup has a limit of `cgroup_bytes`
 * (UINT64_MAX: none): half of it, at most 1 GiB. */
uint64_t fby_worker_default_memory(uint64_t cgroup_bytes);

/* The most bytes of a sample that a worker with so much memory reads. */
uint64_t fby_worker_max_sample_bytes(uint64_t memory_bytes);

/* Serve until a signal or `stop_fd` tells the worker to leave. Then finish the
 * open batches, or answer LOST for them after drain_ns.
 *
 * Blocks:  for the worker's life.
 * Errors:  FBY_USAGE   a root, an address or a limit is not valid
 *          FBY_CONFIG  a directory or an address cannot be used
 *          FBY_SYS     the system gives no socket or no thread */
FBY_CHECKED fby_err fby_worker_run(
    const struct fby_worker_options *options, struct fby_error_detail *why);

#endif
