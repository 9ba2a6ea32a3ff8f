/* SPDX-License-Identifier: Apache-2.0 */
/* prepared_cluster.h - a cluster whose workers send a prepared batch. With it
 * benches measure how batches are sent and received, but not how they are made.
 *
 * The server is real, and the workers speak the real protocol, with CREDIT (the
 * client's count of received bytes). Like a real worker they write each prefix
 * and hash each payload at the time of sending, and do not copy the payload. A
 * worker is a child process that ends with the bench. It serves one request at
 * a time. A timer simulates the service time (from a request to its batch). */
#ifndef FBY_BENCH_PREPARED_CLUSTER_H
#define FBY_BENCH_PREPARED_CLUSTER_H

#include "bench/batch.h"
#include "bench/cluster.h"

struct bench_prepared_cluster {
    struct bench_cluster cluster;        /* has the server, but no workers */
    pid_t    workers[BENCH_MAX_WORKERS]; /* processes of the prepared workers */
    unsigned n_workers;
};

/* Make a cluster whose pipeline has one field, of pictures. Start its server
 * and the workers, and wait until the server has registered all workers. The
 * service time of worker i is service_ns[i], or 0 if `service_ns` is NULL. The
 * dataset has 1,000 batches, and every request is answered with `batch`. */
void bench_prepared_start(struct bench_prepared_cluster *self,
    const struct bench_batch *batch, unsigned workers,
    const int64_t *service_ns);

/* Kill the workers and the server, and delete the cluster's directory. */
void bench_prepared_stop(struct bench_prepared_cluster *self);

#endif
