/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - speed of receiving batches, compared with bare TCP.
 *
 * A worker sends prepared batches (encoded before the run) without compression,
 * over loopback. Measures bytes per second, from the request until the checked
 * bytes are in a slot (the client's buffer of a batch). The baseline is one TCP
 * connection between two processes. It moves as many bytes into reused slots
 * and hashes them at both ends. */
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/receive.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/mem.h"

enum { ROWS = 104, SIDE = 224 }; /* pictures of a batch, their width */

static uint64_t pairs = 9;
static uint64_t mib   = 2048;

struct wire_bench {
    struct bench_receive receive;
    double stream_cores; /* cores that client and worker used, last run */
    double tcp_cores;    /* cores that receiver and sender used, last run */
};

/* Returns GB/s of raw bytes, since the cost is in ns per byte. Sets *cores to
 * the mean number of cores in use. */
static double gb_per_s(const struct bench_cost *cost, double *cores)
{
    *cores = (cost->receive_cpu_ns + cost->sender_cpu_ns) / cost->wall_ns;
    return 1 / cost->wall_ns;
}

static double stream_speed(void *arg)
{
    struct wire_bench *self = arg;
    struct bench_cost  cost = bench_receive_stream(&self->receive);
    return gb_per_s(&cost, &self->stream_cores);
}

static double tcp_speed(void *arg)
{
    struct wire_bench *self = arg;
    struct bench_cost  cost = bench_receive_tcp(&self->receive);
    return gb_per_s(&cost, &self->tcp_cores);
}

static void receive_batch(const struct bench_receive *self, uint8_t *slot)
{
    for (uint32_t i = 0; i < self->batch->layout.n_chunks; i++) {
        const struct bench_chunk *chunk = &self->batch->chunks[i];
        uint8_t                  *out   = slot + chunk->span.raw_offset;
        uint64_t                  prefix[FBY_CHUNK_PREFIX / sizeof(uint64_t)];
        bench_tcp_receive(&self->tcp, prefix, sizeof(prefix));
        bench_tcp_receive(&self->tcp, out, chunk->wire_bytes);
        /* The prefix begins with the payload's hash. */
        if (fby_xxh3_64(out, chunk->wire_bytes) != prefix[0]) {
            bench_die("the payload of a chunk differs from its hash");
        }
    }
}

static void make_batch(struct bench_batch *out)
{
    uint64_t state  = 1;
    size_t   bytes  = (size_t)ROWS * SIDE * SIDE * 3;
    uint8_t *pixels = fby_zalloc(bytes);
    for (size_t i = 0; i < bytes; i++) {
        pixels[i] = (uint8_t)bench_random(&state);
    }
    bench_batch_make(out, BENCH_STORE, pixels, ROWS, SIDE);
    free(pixels);
}

/* ---- a real worker ------------------------------------------------------- */

enum { MEMBERS = 32, MEMBER_BYTES = 2 << 20, BATCH_ROWS = 8 };
static const uint64_t batch_bytes = (uint64_t)BATCH_ROWS * MEMBER_BYTES;

/* Start a cluster with a real worker, which shows what making even the simplest
 * batch costs. Unlike the prepared worker it reads the bytes from a tar file in
 * the page cache, copies them to its arena, and hashes them a second time. */
static void start_real_worker(struct bench_cluster *cluster)
{
    bench_cluster_init_blocks(
        cluster, &(struct bench_blocks){MEMBERS, MEMBER_BYTES, BATCH_ROWS});
    bench_cluster_start(cluster, 1, BENCH_ALL_CORES, "1G");
}

static void measure_real_worker(void)
{
    enum { RUNS = 7 };
    double                 rates[RUNS];
    size_t                 runs = pairs < RUNS ? pairs : RUNS;
    struct bench_cluster   cluster;
    struct forebay_options options = forebay_options();
    uint64_t batches     = (mib << 20) / batch_bytes + 1; /* per run */
    options.window_bytes = BENCH_SLOTS_BYTES;
    start_real_worker(&cluster);
    struct forebay *stream = bench_stream_open(&cluster, &options);
    for (size_t i = 0; i < runs; i++) {
        bench_stream_take_many(stream, 2 * BENCH_SLOTS_BYTES / batch_bytes);
        int64_t begun = fby_now_ns();
        bench_stream_take_many(stream, batches);
        rates[i] =
            (double)(batches * batch_bytes) / (double)(fby_now_ns() - begun);
    }
    forebay_close(&stream);
    bench_cluster_remove(&cluster);
    struct bench_figure rate = bench_figure_of(rates, runs);
    bench_print("a worker that reads tar", "%5.2f GB/s, noise %.1f %%; no goal",
        rate.median, rate.noise);
}

/* ---- the run ------------------------------------------------------------- */

static void run(void)
{
    struct bench_batch batch;
    struct wire_bench  self = {
         .receive = {.receive_batch = receive_batch, .tcp.hash = true}};
    make_batch(&batch);
    bench_receive_start(&self.receive, &batch, mib);
    stream_speed(&self); /* warm up */
    tcp_speed(&self);
    struct bench_pairs result =
        bench_run_pairs(pairs, stream_speed, tcp_speed, &self);
    bench_print("forebay, store", "%5.2f GB/s, noise %.1f %%, %.2f cores",
        result.a.median, result.a.noise, self.stream_cores);
    bench_print("TCP, hashed at both ends",
        "%5.2f GB/s, noise %.1f %%, %.2f cores", result.b.median,
        result.b.noise, self.tcp_cores);
    bench_print("CPU of both processes", "%.3f and %.3f s/GB",
        self.stream_cores / result.a.median, self.tcp_cores / result.b.median);
    bench_print_ratio(&result);
    measure_real_worker();
    bench_print_reliability(result.ratio.noise, BENCH_NEEDS_TWO_CORES);
    bench_judge("wire", result.ratio.median, BENCH_AT_LEAST,
        fby_usable_cores() >= 4 ? 0.9 : 0.85);
    bench_receive_stop(&self.receive);
    bench_batch_free(&batch);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (9)"},
        {"mib", &mib, 64, 1 << 20, "MiB per run (2048)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "Speed of prepared batches over loopback, against bare TCP.", NULL);
    bench_begin("wire");
    run();
    return 0;
}
