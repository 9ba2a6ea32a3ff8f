/* prepared_cluster.h - a cluster whose workers send a prepared batch. With it
 * benches measure how batches are sent and received, but not how they are made.
 *
 * The server is real, and the workers speak the real protocol and respect
 * `send_window` and CREDIT. Like a real worker they write each prefix and hash
 * each payload at the time of sending, and do not copy the payload. A worker is
 * a child process that ends with the bench. It serves one request at a time; a
 * timer simulates the service time without using CPU. */
#ifndef FBY_BENCH_PREPARED_CLUSTER_H
#define FBY_BENCH_PREPARED_CLUSTER_H

#include "bench/batch.h"
#include "bench/cluster.h"

struct bench_prepared_cluster {
    struct bench_cluster cluster; /* its own list of workers is empty */
    pid_t                workers[BENCH_MAX_WORKERS];
    unsigned             n_workers;
};

/* Make a cluster whose pipeline has one field, of pictures. Start its server
 * and the workers, and wait until the server has registered all workers. Worker
 * i takes service_ns[i] to serve a request (NULL: no time). The dataset has
 * 1,000 batches, and every request is answered with `batch`. */
void bench_prepared_start(struct bench_prepared_cluster *self,
    const struct bench_batch *batch, unsigned workers,
    const int64_t *service_ns);

/* Kill the workers and the server, and delete the cluster's temporary
 * folder. */
void bench_prepared_stop(struct bench_prepared_cluster *self);

#endif
