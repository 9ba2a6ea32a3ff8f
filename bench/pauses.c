/* SPDX-License-Identifier: Apache-2.0 */
/* pauses.c - how long a trainer waits for a batch while workers are stopped.
 *
 * Four workers of one thread each serve a consumer that takes batches at half
 * of their measured capacity. One worker at a time is stopped (SIGSTOP), at
 * random moments. No wait of the consumer may exceed the bound
 *     hedge deadline + 2 service times + 100 ms.
 * The service time is the median time from a request to its batch, with one
 * request at a time. The hedge deadline, after which the client requests the
 * batch from a second worker too, is max(20 ms, 2 x the p95 of these times).
 * The consumer needs some time to use up a full window (the batches that it
 * requests ahead). A stop lasts longer than that time plus the bound, so a
 * client that only waited for the worker would exceed the bound. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"

enum { WORKERS = 4, MAX_WAITS = 1 << 20, EXTRA_SKIPPED = 4 };

static uint64_t stops    = 50;
static uint64_t seed     = 1;
static uint64_t batches  = 200;
static uint64_t calm_s   = 20; /* seconds before the first stop */
static uint64_t window   = 8;  /* batches that the consumer requests ahead */
static uint64_t pictures = 600;

/* Open a stream that requests `window_batches` ahead. Skip the batches that
 * were made before the first call and need no wait: more than two windows. All
 * streams skip the same number, which depends on the largest window. */
static struct forebay *open_stream(
    const struct bench_cluster *cluster, uint64_t window_batches)
{
    struct forebay_options options = forebay_options();
    options.window_batches         = (uint32_t)window_batches;
    struct forebay *stream         = bench_stream_open(cluster, &options);
    bench_stream_take_many(stream, 2 * window + EXTRA_SKIPPED);
    return stream;
}

struct baseline {
    double batch_ns;   /* time per batch with all workers at full speed */
    double service_ns; /* median time from a request to its batch */
    double p95_ns;     /* 95th percentile of the same times */
};

/* Returns the waits for `batches` batches, in ns; the caller frees them. */
static double *measure_waits(
    const struct bench_cluster *cluster, uint64_t window_batches)
{
    double         *times  = fby_zalloc(batches * sizeof(*times));
    struct forebay *stream = open_stream(cluster, window_batches);
    for (uint64_t i = 0; i < batches; i++) {
        times[i] = (double)bench_stream_take(stream);
    }
    forebay_close(&stream);
    return times;
}

static struct baseline measure_baseline(const struct bench_cluster *cluster)
{
    struct baseline baseline = {0};
    double         *times    = measure_waits(cluster, window);
    for (uint64_t i = 0; i < batches; i++) {
        baseline.batch_ns += times[i] / (double)batches;
    }
    free(times);
    times               = measure_waits(cluster, 1);
    baseline.service_ns = bench_median(times, batches);
    baseline.p95_ns     = bench_percentile(times, batches, 95);
    free(times);
    return baseline;
}

/* The client's hedge deadline; see the head of this file. */
static double hedge_ns(const struct baseline *baseline)
{
    return fmax(20.0 * (double)FBY_NS_PER_MS, 2 * baseline->p95_ns);
}

static double bound_ns(const struct baseline *baseline)
{
    return hedge_ns(baseline) + 2 * baseline->service_ns +
           100.0 * (double)FBY_NS_PER_MS;
}

struct waits {
    double *ns; /* duration of each forebay_next() */
    size_t  n;  /* number of calls */
};

struct stopper {
    struct bench_cluster *cluster;
    uint64_t              random;        /* state of bench_random() */
    int64_t               window_ns;     /* time to consume a full window */
    int64_t               min_stop_ns;   /* shortest duration of a stop */
    int64_t               first_stop_ns; /* time at which stops begin */
    atomic_bool           has_begun;     /* the first stop is due */
    atomic_bool           is_done;       /* no worker will be stopped again */
};

/* Sleep for a random time from `min_ns` to twice `min_ns`. */
static void sleep_random(struct stopper *self, int64_t min_ns)
{
    uint64_t extra_ns = bench_random(&self->random) % (uint64_t)min_ns;
    bench_sleep_until(fby_now_ns() + min_ns + (int64_t)extra_ns);
}

static void *stop_workers(void *arg)
{
    struct stopper *self = arg;
    bench_sleep_until(self->first_stop_ns);
    atomic_store(&self->has_begun, true);
    for (uint64_t i = 0; i < stops; i++) {
        pid_t worker =
            self->cluster->workers[bench_random(&self->random) % WORKERS].pid;
        sleep_random(self, self->window_ns / 2);
        kill(worker, SIGSTOP);
        sleep_random(self, self->min_stop_ns);
        kill(worker, SIGCONT);
    }
    atomic_store(&self->is_done, true);
    return NULL;
}

/* Take batches and sleep `hold_ns` after each, as a trainer does. Waits before
 * the first stop are added to `before`, later ones to `during`. */
static void consume(struct forebay *stream, struct stopper *stopper,
    int64_t hold_ns, struct waits *before, struct waits *during)
{
    while (!atomic_load(&stopper->is_done)) {
        struct waits *waits =
            atomic_load(&stopper->has_begun) ? during : before;
        if (waits->n == MAX_WAITS) {
            bench_die(
                "more than %d batches: lower --pauses or --calm-s", MAX_WAITS);
        }
        waits->ns[waits->n++] = (double)bench_stream_take(stream);
        bench_sleep_until(fby_now_ns() + hold_ns);
    }
}

static void print_waits(const char *name, const struct waits *waits)
{
    bench_print(name, "%5zu  %6.1f  %6.1f  %6.1f ms", waits->n,
        bench_percentile(waits->ns, waits->n, 50) / 1e6,
        bench_percentile(waits->ns, waits->n, 99) / 1e6,
        bench_percentile(waits->ns, waits->n, 100) / 1e6);
}

static void print_baseline(const struct baseline *baseline)
{
    bench_print("capacity", "%.1f ms a batch of 64; one is taken each %.1f ms",
        baseline->batch_ns / 1e6, 2 * baseline->batch_ns / 1e6);
    bench_print("service time", "%.1f ms (p95 %.1f)",
        baseline->service_ns / 1e6, baseline->p95_ns / 1e6);
    bench_print("hedge deadline", "%.1f ms", hedge_ns(baseline) / 1e6);
}

static void print_events(const struct forebay *stream)
{
    struct forebay_stats stats = bench_stream_stats(stream);
    bench_print("events",
        "%" PRIu64 " stops, %" PRIu64 " hedges, %" PRIu64 " suspects, %" PRIu64
        " asked again, %" PRIu64 " lost",
        stops, stats.hedges, stats.suspects, stats.rerequests, stats.lost);
}

static void report(const struct baseline *baseline, const struct waits *before,
    const struct waits *during)
{
    char   name[32];
    double bound = bound_ns(baseline);
    size_t above = 0;
    for (size_t i = 0; i < during->n; i++) {
        above += during->ns[i] > bound;
    }
    bench_print(
        "waits of next", "%5s  %6s  %6s  %6s", "n", "p50", "p99", "max");
    print_waits("  before the stops", before);
    print_waits("  during the stops", during);
    bench_print("bound", "%.1f ms; exceeded by %zu waits", bound / 1e6, above);
    snprintf(name, sizeof(name), "pauses.window_%" PRIu64, window);
    bench_judge(name, bench_percentile(during->ns, during->n, 100) / bound,
        BENCH_AT_MOST, 1);
}

static void stream_through_stops(
    struct bench_cluster *cluster, const struct baseline *baseline)
{
    pthread_t thread;
    int64_t   hold_ns = (int64_t)(2 * baseline->batch_ns); /* half capacity */
    struct waits    before  = {.ns = fby_zalloc(MAX_WAITS * sizeof(double))};
    struct waits    during  = {.ns = fby_zalloc(MAX_WAITS * sizeof(double))};
    struct forebay *stream  = open_stream(cluster, window);
    struct stopper  stopper = {
         .cluster     = cluster,
         .random      = seed,
         .window_ns   = (int64_t)window * hold_ns,
         .min_stop_ns = (int64_t)window * hold_ns + (int64_t)bound_ns(baseline),
         .first_stop_ns = fby_now_ns() + (int64_t)calm_s * FBY_NS_PER_S,
    };
    if (pthread_create(&thread, NULL, stop_workers, &stopper) != 0) {
        bench_die("a thread cannot be created");
    }
    consume(stream, &stopper, hold_ns, &before, &during);
    pthread_join(thread, NULL);
    print_events(stream);
    report(baseline, &before, &during);
    forebay_close(&stream);
    free(before.ns);
    free(during.ns);
}

int main(int argc, char **argv)
{
    struct bench_cluster      cluster;
    const struct bench_option options[] = {
        {"pauses", &stops, 1, 10000,
            "Number of times a worker is stopped (50)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the stops (1)"},
        {"batches", &batches, 4, 100000,
            "Batches to measure before the stops (200)"},
        {"calm-s", &calm_s, 1, 3600, "Seconds before the first stop (20)"},
        {"window", &window, 2, 1024, "Batches requested ahead (8)"},
        {"pictures", &pictures, 64, 1000000, "Pictures in the data set (600)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "The longest wait of a consumer at half of the capacity of four "
        "workers, while workers are stopped one after the other.",
        NULL);
    fby_log_init("bench", FBY_LOG_ERROR);
    bench_print("pauses", "seed %" PRIu64 ", window of %" PRIu64 " batches",
        seed, window);
    bench_cluster_init_pictures(&cluster, &(struct bench_pictures){
                                              .number = pictures,
                                              .side   = 320,
                                              .crop   = 224,
                                              .batch  = 64,
                                          });
    bench_cluster_start(&cluster, WORKERS, 1, "256M");
    struct baseline baseline = measure_baseline(&cluster);
    print_baseline(&baseline);
    stream_through_stops(&cluster, &baseline);
    bench_cluster_remove(&cluster);
    return 0;
}
