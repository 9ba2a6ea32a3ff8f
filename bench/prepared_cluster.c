/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/prepared_cluster.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/prepared_worker.h"

static void write_pipeline(
    struct bench_cluster *cluster, const struct bench_batch *batch)
{
    static const char *const encodings[BENCH_ENCODINGS] = {
        [BENCH_STORE] = "{filter: none, codec: store}",
        [BENCH_LZ4]   = "{filter: bit_shuffle, codec: lz4}",
        [BENCH_PACK]  = "{filter: photo, codec: pack}",
    };
    bench_cluster_write_pipeline(cluster,
        "forebay: 1\n"
        "splits: {train: {shards: \"d:train-{0..0}.tar\"}}\n"
        "global_batch: %" PRIu32 "\n"
        "fields:\n"
        "  image:\n"
        "    from: jpg\n"
        "    decode: rgb8\n"
        "    ops: [random_resized_crop: {size: %" PRIu32 "}]\n"
        "    wire: %s\n"
        "    out: {dtype: u8, layout: hwc}\n",
        batch->layout.rows, batch->layout.fields[0].shape.dims[0],
        encodings[batch->encoding]);
}

/* Fork a worker, and wait until the server has registered it. */
static pid_t start_worker(
    const char *server, const struct bench_batch *batch, int64_t service_ns)
{
    int  pipe_fds[2];
    char ready;
    if (pipe(pipe_fds) != 0) {
        bench_die("a pipe cannot be created");
    }
    fflush(NULL); /* else the child would write the buffers again */
    pid_t pid = fork();
    if (pid == 0) {
        close(pipe_fds[0]);
        bench_prepared_worker_run(server, batch, service_ns, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    if (pid < 0 || read(pipe_fds[0], &ready, 1) != 1) {
        bench_die("a worker with prepared batches did not start");
    }
    close(pipe_fds[0]);
    return pid;
}

void bench_prepared_start(struct bench_prepared_cluster *self,
    const struct bench_batch *batch, unsigned workers,
    const int64_t *service_ns)
{
    bench_cluster_init(&self->cluster);
    write_pipeline(&self->cluster, batch);
    bench_cluster_start(&self->cluster, 0, 0, NULL); /* without workers */
    self->n_workers = workers;
    for (unsigned i = 0; i < workers; i++) {
        self->workers[i] = start_worker(self->cluster.endpoint, batch,
            service_ns != NULL ? service_ns[i] : 0);
    }
}

void bench_prepared_stop(struct bench_prepared_cluster *self)
{
    for (unsigned i = 0; i < self->n_workers; i++) {
        kill(self->workers[i], SIGKILL);
        waitpid(self->workers[i], NULL, 0);
    }
    bench_cluster_remove(&self->cluster);
}
