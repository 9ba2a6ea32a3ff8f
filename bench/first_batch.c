/* SPDX-License-Identifier: Apache-2.0 */
/* first_batch.c - how long a trainer waits for its first batch.
 *
 * The worker has opened the pipeline before, and its files are in the page
 * cache. Measures the time from the start of forebay_open() to the first batch,
 * and subtracts the service time. That is the median time from a request to its
 * batch, over later batches that are requested one at a time. */
#include "bench/bench.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { MAX_ROUNDS = 999, BATCHES = 15 /* for the service time */ };
enum { ROWS = 8, CROP = 64, SHARDS = 2 };

static uint64_t rounds = 21;

struct times {                   /* of each round, in ns */
    double to_first[MAX_ROUNDS]; /* from forebay_open() to the first batch */
    double service[MAX_ROUNDS];  /* from a request to its batch, median */
    double extra[MAX_ROUNDS];    /* to_first minus service */
};

static void measure(
    const struct bench_cluster *cluster, struct times *times, uint64_t round)
{
    double                 batch_ns[BATCHES];
    struct forebay_options options = forebay_options();
    options.window_batches         = 1; /* request one batch at a time */
    int64_t         begun          = fby_now_ns();
    struct forebay *stream         = bench_stream_open(cluster, &options);
    bench_stream_take(stream);
    times->to_first[round] = (double)(fby_now_ns() - begun);
    for (int i = 0; i < BATCHES; i++) {
        batch_ns[i] = (double)bench_stream_take(stream);
    }
    forebay_close(&stream);
    times->service[round] = bench_median(batch_ns, BATCHES);
    times->extra[round]   = times->to_first[round] - times->service[round];
}

static struct bench_figure print_times(const char *name, double *ns)
{
    struct bench_figure figure = bench_figure_of(ns, rounds);
    bench_print(name, "%6.2f ms, p90 %6.2f, noise %.1f %%", figure.median / 1e6,
        bench_percentile(ns, rounds, 90) / 1e6, figure.noise);
    return figure;
}

static void run(const struct bench_photos *photos)
{
    static struct times  times;
    struct bench_cluster cluster;
    bench_cluster_init_shards(&cluster, photos,
        &(struct bench_shards){
            .shards = SHARDS, .copies = 2, .crop = CROP, .batch = ROWS});
    bench_cluster_start(&cluster, 1, BENCH_ALL_CORES, "256M");
    measure(&cluster, &times, 0); /* warm up; the times are overwritten */
    for (uint64_t i = 0; i < rounds; i++) {
        measure(&cluster, &times, i);
    }
    bench_cluster_remove(&cluster);
    print_times("open to first batch", times.to_first);
    print_times("service time", times.service);
    struct bench_figure extra = print_times("difference", times.extra);
    bench_print_reliability(extra.noise, BENCH_NEEDS_TWO_CORES);
    bench_judge("first_batch.ms", extra.median / 1e6, BENCH_AT_MOST, 10);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"rounds", &rounds, 1, MAX_ROUNDS, "Number of streams opened (21)"},
        {0},
    };
    const struct bench_program program = {"first_batch",
        "Time from opening a stream at a warm worker to its first batch.",
        options};
    return bench_photos_main(&program, argc, argv, run);
}
