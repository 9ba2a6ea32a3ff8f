/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/stream.h"

#include "bench/bench.h"
#include "common/clock.h"

struct forebay *bench_stream_open(
    const struct bench_cluster *cluster, const struct forebay_options *options)
{
    char                      error[512];
    struct forebay           *stream    = NULL;
    const struct forebay_root root      = {"d", cluster->data_dir};
    struct forebay_options    completed = *options;
    completed.server                    = cluster->endpoint;
    completed.pipeline_path             = cluster->pipeline_path;
    completed.roots                     = &root;
    completed.n_roots                   = 1;
    bench_cluster_export_keys(cluster);
    if (forebay_open(&completed, error, sizeof(error), &stream) != FOREBAY_OK) {
        bench_die("%s", error);
    }
    return stream;
}

int64_t bench_stream_take(struct forebay *stream)
{
    struct forebay_batch *batch = NULL;
    int64_t               begun = fby_now_ns();
    if (forebay_next(stream, BENCH_TIMEOUT_NS, NULL, &batch) != FOREBAY_OK) {
        bench_die(
            "forebay_next() returned no batch: %s", forebay_error(stream));
    }
    int64_t waited = fby_now_ns() - begun;
    forebay_release(&batch, NULL);
    return waited;
}

void bench_stream_take_many(struct forebay *stream, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        bench_stream_take(stream);
    }
}

struct forebay_stats bench_stream_stats(const struct forebay *stream)
{
    struct forebay_stats stats = {.struct_size = sizeof(stats)};
    forebay_stats(stream, &stats);
    return stats;
}
