/* pauses.c - how long a trainer waits for a batch when workers stop.
 *
 * Four workers of one thread each, and a consumer at half of their measured
 * capacity. One worker at a time is stopped (SIGSTOP) at a random moment, again
 * and again, each time for longer than what was asked for ahead lasts and the
 * bound together, so that a client that only waited would break the bound:
 *     hedge deadline + 2 service times + 100 ms, for every single wait.
 * The service time is the median from a request to its batch, with one request
 * at a time; the hedge deadline follows from the 95th percentile of the same
 * times by the client's rule, max(20 ms, 2 x p95). */
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

/* Two windows: until then batches wait that were made before we looked. */
static void warm_up(struct forebay *stream)
{
    bench_stream_skip(stream, 2 * window + 4);
}

/* ---- before: what is usual ----------------------------------------------- */

struct usual {
    double batch_ns;   /* at full speed, all workers together */
    double service_ns; /* median from a request to its batch */
    double p95_ns;     /* of the same */
};

/* Times between batches that are taken at once; the caller frees them. */
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

static struct usual measure_usual(const struct bench_farm *farm)
{
    struct usual    usual;
    struct forebay *stream = open_stream(farm, window);
    double         *times  = take_all(stream);
    usual.batch_ns         = mean(times, batches);
    free(times);
    forebay_close(&stream);

    stream           = open_stream(farm, 1);
    times            = take_all(stream);
    usual.service_ns = bench_median(times, batches);
    usual.p95_ns     = bench_percentile(times, batches, 95);
    free(times);
    forebay_close(&stream);
    return usual;
}

static double hedge_ns(const struct usual *usual)
{
    double least = 20.0 * (double)FBY_NS_PER_MS;
    return 2 * usual->p95_ns > least ? 2 * usual->p95_ns : least;
}

static double bound_ns(const struct usual *usual)
{
    return hedge_ns(usual) + 2 * usual->service_ns +
           100.0 * (double)FBY_NS_PER_MS;
}

/* ---- the consumer, and who stops workers --------------------------------- */

struct waits {
    double *ns;
    size_t  n;
};

struct stopper {
    struct bench_farm *farm;
    uint64_t           random;
    int64_t            window_ns;     /* for which a full window lasts */
    int64_t            stop_ns;       /* shortest stop */
    int64_t            calm_until_ns; /* nobody is stopped before */
    atomic_bool        storm;         /* workers are being stopped */
    atomic_bool        done;
};

/* Wait a random time from `least_ns` to twice that. */
static void wait_about(struct stopper *self, int64_t least_ns)
{
    uint64_t more = bench_random(&self->random) % (uint64_t)least_ns;
    bench_sleep_until(fby_now_ns() + least_ns + (int64_t)more);
}

static void *stop_workers(void *arg)
{
    struct stopper *self = arg;
    bench_sleep_until(self->calm_until_ns);
    atomic_store(&self->storm, true);
    for (uint64_t i = 0; i < pauses; i++) {
        const struct bench_part *worker =
            &self->farm->workers[bench_random(&self->random) % WORKERS];
        wait_about(self, self->window_ns / 2);
        bench_part_freeze(worker);
        wait_about(self, self->stop_ns);
        bench_part_thaw(worker);
    }
    atomic_store(&self->done, true);
    return NULL;
}

/* Take a batch, hold it for `hold_ns`, and so on, as a trainer does; waits
 * before the first stop are `calm`, those after it `storm`. */
static void consume(struct forebay *stream, struct stopper *stopper,
    int64_t hold_ns, struct waits *calm, struct waits *storm)
{
    while (!atomic_load(&stopper->done)) {
        struct waits *waits = atomic_load(&stopper->storm) ? storm : calm;
        if (waits->n == MAX_WAITS) {
            bench_die("too many batches: lower --pauses or --calm-s");
        }
        waits->ns[waits->n++] = (double)bench_stream_take(stream);
        bench_sleep_until(fby_now_ns() + hold_ns);
    }
}

/* ---- what came out ------------------------------------------------------- */

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

static void print_usual(const struct usual *usual)
{
    bench_row("capacity", "%.1f ms a batch of 64; one is taken each %.1f ms",
        usual->batch_ns / 1e6, 2 * usual->batch_ns / 1e6);
    bench_row("service time", "%.1f ms (p95 %.1f)", usual->service_ns / 1e6,
        usual->p95_ns / 1e6);
    bench_row("hedge deadline", "%.1f ms", hedge_ns(usual) / 1e6);
}

static void print_events(const struct forebay *stream)
{
    struct forebay_stats stats = bench_stream_stats(stream);
    bench_row("events",
        "%" PRIu64 " stops, %" PRIu64 " hedges, %" PRIu64 " suspects, %" PRIu64
        " asked again, %" PRIu64 " lost",
        pauses, stats.hedges, stats.suspects, stats.rerequests, stats.lost);
}

static void report(const struct usual *usual, const struct waits *calm,
    const struct waits *storm)
{
    char   name[32];
    double bound = bound_ns(usual);
    bench_row("waits of next", "%5s  %6s  %6s  %6s", "n", "p50", "p99", "max");
    print_waits("  nobody stops", calm);
    print_waits("  workers stop", storm);
    bench_row("bound", "%.1f ms; broken by %zu waits", bound / 1e6,
        count_above(storm, bound));
    snprintf(name, sizeof(name), "pauses.window_%" PRIu64, window);
    bench_goal(name, bench_percentile(storm->ns, storm->n, 100) / bound,
        BENCH_AT_MOST, 1);
}

/* ---- the run ------------------------------------------------------------- */

static void stream_through_stops(
    struct bench_farm *farm, const struct usual *usual)
{
    pthread_t       thread;
    int64_t         hold_ns = (int64_t)(2 * usual->batch_ns);
    struct waits    calm    = {.ns = fby_zalloc(MAX_WAITS * sizeof(double))};
    struct waits    storm   = {.ns = fby_zalloc(MAX_WAITS * sizeof(double))};
    struct forebay *stream  = open_stream(farm, window);
    warm_up(stream);
    struct stopper stopper = {
        .farm          = farm,
        .random        = seed,
        .window_ns     = (int64_t)window * hold_ns,
        .stop_ns       = (int64_t)window * hold_ns + (int64_t)bound_ns(usual),
        .calm_until_ns = fby_now_ns() + (int64_t)calm_s * FBY_NS_PER_S,
    };
    if (pthread_create(&thread, NULL, stop_workers, &stopper) != 0) {
        bench_die("no thread");
    }
    consume(stream, &stopper, hold_ns, &calm, &storm);
    pthread_join(thread, NULL);
    print_events(stream);
    report(usual, &calm, &storm);
    forebay_close(&stream);
    free(calm.ns);
    free(storm.ns);
}

int main(int argc, char **argv)
{
    struct bench_farm         farm;
    const struct bench_option options[] = {
        {"pauses", &pauses, 1, 10000, "How often a worker is stopped (50)",
            NULL},
        {"seed", &seed, 0, UINT64_MAX, "Of who is stopped when (1)", NULL},
        {"batches", &batches, 4, 100000, "To measure what is usual (200)",
            NULL},
        {"calm-s", &calm_s, 1, 3600, "Seconds before the first stop (20)",
            NULL},
        {"window", &window, 2, 1024, "Batches asked for ahead (8)", NULL},
        {"pictures", &pictures, 64, 1000000, "In the data set (600)", NULL},
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
    struct usual usual = measure_usual(&farm);
    print_usual(&usual);
    stream_through_stops(&farm, &usual);
    bench_farm_remove(&farm);
    return 0;
}
