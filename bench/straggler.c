/* SPDX-License-Identifier: Apache-2.0 */
/* straggler.c - cost of one slow worker of eight for the trainer.
 *
 * A timer simulates the service time (from a request to its batch) of eight
 * workers, and a consumer demands 80 % of their capacity. Compares the batches
 * per second with one worker four times as slow to those with eight equal
 * workers. Each run has a new stream, which first learns the speed of its
 * workers. A second goal limits how many requests are repeated. */
#include "bench/bench.h"
#include "bench/prepared_cluster.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { WORKERS = 8, ROWS = 4, SIDE = 32, SLOW_FACTOR = 4 };

static const int64_t service_ns = 25 * FBY_NS_PER_MS;
static const double  demand     = 0.8; /* of the capacity of equal workers */

static uint64_t pairs   = 7;
static uint64_t run_ms  = 2500;
static uint64_t warm_ms = 1000;

struct straggler_bench {
    struct bench_prepared_cluster even; /* all workers are equal */
    struct bench_prepared_cluster slow; /* one worker is slow */
    double repeated[BENCH_MAX_PAIRS]; /* [run on `slow`], percent of batches */
    uint64_t n_repeated;              /* number of entries */
};

/* For `duration_ns`, take a batch at each tick, or later if the batch is late.
 * Returns the number of batches. */
static uint64_t consume(struct forebay *stream, int64_t duration_ns)
{
    int64_t  tick_ns  = (int64_t)((double)service_ns / WORKERS / demand);
    int64_t  now_ns   = fby_now_ns();
    int64_t  until_ns = now_ns + duration_ns;
    int64_t  next_ns  = now_ns; /* the next tick */
    uint64_t n        = 0;
    while (now_ns < until_ns) {
        bench_stream_take(stream);
        n++;
        now_ns = fby_now_ns();
        next_ns += tick_ns;
        next_ns = next_ns > now_ns ? next_ns : now_ns;
        bench_sleep_until(next_ns);
        now_ns = fby_now_ns();
    }
    return n;
}

/* Requests so far that were not the first for their batch. */
static uint64_t repeated_requests(const struct forebay *stream)
{
    struct forebay_stats stats = bench_stream_stats(stream);
    return stats.hedges + stats.rerequests;
}

/* Returns the batches per second. Sets *repeated to the percentage of repeated
 * requests. */
static double measure(
    const struct bench_prepared_cluster *self, double *repeated)
{
    const struct forebay_options options = forebay_options();
    struct forebay *stream = bench_stream_open(&self->cluster, &options);
    consume(stream, (int64_t)warm_ms * FBY_NS_PER_MS);
    uint64_t before = repeated_requests(stream);
    int64_t  begun  = fby_now_ns();
    uint64_t n      = consume(stream, (int64_t)run_ms * FBY_NS_PER_MS);
    double   rate   = 1e9 * (double)n / (double)(fby_now_ns() - begun);
    *repeated = 100 * (double)(repeated_requests(stream) - before) / (double)n;
    forebay_close(&stream);
    return rate;
}

static double measure_even(void *arg)
{
    const struct straggler_bench *self = arg;
    double                        unused;
    return measure(&self->even, &unused);
}

static double measure_slow(void *arg)
{
    struct straggler_bench *self = arg;
    return measure(&self->slow, &self->repeated[self->n_repeated++]);
}

/* Start WORKERS workers. The service time of the first one is given. */
static void start_cluster(struct bench_prepared_cluster *self,
    const struct bench_batch *batch, int64_t first_service_ns)
{
    int64_t worker_service_ns[WORKERS] = {first_service_ns};
    for (int i = 1; i < WORKERS; i++) {
        worker_service_ns[i] = service_ns;
    }
    bench_prepared_start(self, batch, WORKERS, worker_service_ns);
}

static void print_rate(const char *name, struct bench_figure rate)
{
    bench_print(
        name, "%6.1f batches/s, noise %.1f %%", rate.median, rate.noise);
}

static void run(struct straggler_bench *bench)
{
    struct bench_pairs result =
        bench_run_pairs(pairs, measure_slow, measure_even, bench);
    double repeated = bench_median(bench->repeated, bench->n_repeated);
    bench_print("demand", "%6.1f batches/s, %.0f ms of service each",
        demand * WORKERS * 1e9 / (double)service_ns, (double)service_ns / 1e6);
    print_rate("one of 8 is 4x slow", result.a);
    print_rate("none is slow", result.b);
    bench_print("asked for twice", "%.2f %%", repeated);
    bench_print_ratio(&result);
    bench_print_reliability(result.ratio.noise, BENCH_NEEDS_TWO_CORES);
    bench_judge("straggler", result.ratio.median, BENCH_AT_LEAST, 0.97);
    bench_judge("straggler.twice_percent", repeated, BENCH_AT_MOST, 5);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)"},
        {"run-ms", &run_ms, 100, 600000, "Length of a run (2500)"},
        {"warm-ms", &warm_ms, 100, 600000, "Warm-up before each run (1000)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "Batches a second with one slow worker of eight, against none.", NULL);
    bench_begin("straggler");

    static struct straggler_bench bench;
    struct bench_batch            batch;
    bench_batch_make(&batch, BENCH_STORE, NULL, ROWS, SIDE);
    start_cluster(&bench.even, &batch, service_ns);
    start_cluster(&bench.slow, &batch, SLOW_FACTOR * service_ns);
    run(&bench);
    bench_prepared_stop(&bench.slow);
    bench_prepared_stop(&bench.even);
    bench_batch_free(&batch);
    return 0;
}
