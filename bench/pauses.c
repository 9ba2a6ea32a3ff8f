/* pauses.c - how long a trainer waits for a batch while workers are stopped.
 *
 * Four workers of one thread each, and a consumer at half of their measured
 * capacity. One worker at a time is stopped (SIGSTOP) at random moments, each
 * time for longer than the full window lasts plus the bound, so that a client
 * that only waited would exceed the bound. The bound of every wait is
 *     hedge deadline + 2 service times + 100 ms.
 * The service time is the median from a request to its batch, with one request
 * at a time; the hedge deadline is the client's, max(20 ms, 2 x p95) of the
 * same times. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"

enum { WORKERS = 4, MAX_WAITS = 1 << 20 };

static uint64_t pauses   = 50;
static uint64_t seed     = 1;
static uint64_t batches  = 200;
static uint64_t calm_s   = 20;
static uint64_t window   = 8;
static uint64_t pictures = 600;

/* ---- a stream ------------------------------------------------------------ */

static struct forebay *open_stream(
    const struct bench_farm *farm, uint64_t window_batches)
{
    struct forebay_options options = forebay_options();
    options.window_batches         = (uint32_t)window_batches;
    return bench_stream_open(farm, &options);
}

/* Skip two windows of batches, which may have been made before. */
static void warm_up(struct forebay *stream)
{
    bench_stream_skip(stream, 2 * window + 4);
}

/* ---- the baseline, without stops ----------------------------------------- */

struct baseline {
    double batch_ns;   /* at full speed, all workers together */
    double service_ns; /* median from a request to its batch */
    double p95_ns;     /* of the same */
};

/* Times of taking batches without a pause; the caller frees them. */
static double *take_all(struct forebay *stream)
{
    double *times = fby_zalloc(batches * sizeof(*times));
    warm_up(stream);
    for (uint64_t i = 0; i < batches; i++) {
        times[i] = (double)bench_stream_take(stream);
    }
    return times;
}

static double mean(const double *values, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum / (double)n;
}

static struct baseline measure_baseline(const struct bench_farm *farm)
{
    struct baseline baseline;
    struct forebay *stream = open_stream(farm, window);
    double         *times  = take_all(stream);
    baseline.batch_ns      = mean(times, batches);
    free(times);
    forebay_close(&stream);

    stream              = open_stream(farm, 1);
    times               = take_all(stream);
    baseline.service_ns = bench_median(times, batches);
    baseline.p95_ns     = bench_percentile(times, batches, 95);
    free(times);
    forebay_close(&stream);
    return baseline;
}

static double hedge_ns(const struct baseline *baseline)
{
    double least = 20.0 * (double)FBY_NS_PER_MS;
    return 2 * baseline->p95_ns > least ? 2 * baseline->p95_ns : least;
}

static double bound_ns(const struct baseline *baseline)
{
    return hedge_ns(baseline) + 2 * baseline->service_ns +
           100.0 * (double)FBY_NS_PER_MS;
}

/* ---- the consumer, and the thread that stops workers --------------------- */

struct waits {
    double *ns;
    size_t  n;
};

struct stopper {
    struct bench_farm *farm;
    uint64_t           random;
    int64_t            window_ns;     /* for which a full window lasts */
    int64_t            stop_ns;       /* shortest stop */
    int64_t            first_stop_ns; /* no worker is stopped before */
    atomic_bool        stopping;      /* workers are being stopped */
    atomic_bool        done;
};

/* Wait a random time from `least_ns` to twice that. */
static void sleep_random(struct stopper *self, int64_t least_ns)
{
    uint64_t more = bench_random(&self->random) % (uint64_t)least_ns;
    bench_sleep_until(fby_now_ns() + least_ns + (int64_t)more);
}

static void *stop_workers(void *arg)
{
    struct stopper *self = arg;
    bench_sleep_until(self->first_stop_ns);
    atomic_store(&self->stopping, true);
    for (uint64_t i = 0; i < pauses; i++) {
        const struct bench_part *worker =
            &self->farm->workers[bench_random(&self->random) % WORKERS];
        sleep_random(self, self->window_ns / 2);
        bench_part_pause(worker);
        sleep_random(self, self->stop_ns);
        bench_part_resume(worker);
    }
    atomic_store(&self->done, true);
    return NULL;
}

/* Take a batch, hold it for `hold_ns`, and so on, as a trainer does; waits
 * before the first stop are `calm`, those after it `storm`. */
static void consume(struct forebay *stream, struct stopper *stopper,
    int64_t hold_ns, struct waits *before, struct waits *during)
{
    while (!atomic_load(&stopper->done)) {
        struct waits *waits = atomic_load(&stopper->stopping) ? during : before;
        if (waits->n == MAX_WAITS) {
            bench_die(
                "more than %d batches: lower --pauses or --calm-s", MAX_WAITS);
        }
        waits->ns[waits->n++] = (double)bench_stream_take(stream);
        bench_sleep_until(fby_now_ns() + hold_ns);
    }
}

/* ---- output -------------------------------------------------------------- */

static void print_waits(const char *name, const struct waits *waits)
{
    bench_row(name, "%5zu  %6.1f  %6.1f  %6.1f ms", waits->n,
        bench_percentile(waits->ns, waits->n, 50) / 1e6,
        bench_percentile(waits->ns, waits->n, 99) / 1e6,
        bench_percentile(waits->ns, waits->n, 100) / 1e6);
}

static size_t count_above(const struct waits *waits, double limit_ns)
{
    size_t n = 0;
    for (size_t i = 0; i < waits->n; i++) {
        n += waits->ns[i] > limit_ns;
    }
    return n;
}

static void print_baseline(const struct baseline *baseline)
{
    bench_row("capacity", "%.1f ms a batch of 64; one is taken each %.1f ms",
        baseline->batch_ns / 1e6, 2 * baseline->batch_ns / 1e6);
    bench_row("service time", "%.1f ms (p95 %.1f)", baseline->service_ns / 1e6,
        baseline->p95_ns / 1e6);
    bench_row("hedge deadline", "%.1f ms", hedge_ns(baseline) / 1e6);
}

static void print_events(const struct forebay *stream)
{
    struct forebay_stats stats = bench_stream_stats(stream);
    bench_row("events",
        "%" PRIu64 " stops, %" PRIu64 " hedges, %" PRIu64 " suspects, %" PRIu64
        " asked again, %" PRIu64 " lost",
        pauses, stats.hedges, stats.suspects, stats.rerequests, stats.lost);
}

static void report(const struct baseline *baseline, const struct waits *before,
    const struct waits *during)
{
    char   name[32];
    double bound = bound_ns(baseline);
    bench_row("waits of next", "%5s  %6s  %6s  %6s", "n", "p50", "p99", "max");
    print_waits("  nobody stops", before);
    print_waits("  workers stop", during);
    bench_row("bound", "%.1f ms; broken by %zu waits", bound / 1e6,
        count_above(during, bound));
    snprintf(name, sizeof(name), "pauses.window_%" PRIu64, window);
    bench_goal(name, bench_percentile(during->ns, during->n, 100) / bound,
        BENCH_AT_MOST, 1);
}

/* ---- the run ------------------------------------------------------------- */

static void stream_through_stops(
    struct bench_farm *farm, const struct baseline *baseline)
{
    pthread_t       thread;
    int64_t         hold_ns = (int64_t)(2 * baseline->batch_ns);
    struct waits    before  = {.ns = fby_zalloc(MAX_WAITS * sizeof(double))};
    struct waits    during  = {.ns = fby_zalloc(MAX_WAITS * sizeof(double))};
    struct forebay *stream  = open_stream(farm, window);
    warm_up(stream);
    struct stopper stopper = {
        .farm      = farm,
        .random    = seed,
        .window_ns = (int64_t)window * hold_ns,
        .stop_ns   = (int64_t)window * hold_ns + (int64_t)bound_ns(baseline),
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
    struct bench_farm         farm;
    const struct bench_option options[] = {
        {"pauses", &pauses, 1, 10000,
            "Number of times a worker is stopped (50)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the stops (1)", NULL},
        {"batches", &batches, 4, 100000,
            "Batches to measure before the stops (200)", NULL},
        {"calm-s", &calm_s, 1, 3600, "Seconds before the first stop (20)",
            NULL},
        {"window", &window, 2, 1024, "Batches requested ahead (8)", NULL},
        {"pictures", &pictures, 64, 1000000, "Pictures in the data set (600)",
            NULL},
        {0},
    };
    bench_options(argc, argv, options,
        "The longest wait of a consumer at half of the capacity of four "
        "workers, while workers are stopped one after the other.");
    fby_log_init("bench", FBY_LOG_ERROR);
    bench_row("pauses", "seed %" PRIu64 ", window of %" PRIu64 " batches", seed,
        window);
    bench_farm_make(&farm, &(struct bench_pictures){
                               .number = pictures,
                               .side   = 320,
                               .crop   = 224,
                               .batch  = 64,
                           });
    bench_farm_start(&farm, WORKERS, 1, "256M");
    struct baseline baseline = measure_baseline(&farm);
    print_baseline(&baseline);
    stream_through_stops(&farm, &baseline);
    bench_farm_remove(&farm);
    return 0;
}
