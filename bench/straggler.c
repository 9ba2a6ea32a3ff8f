/* straggler.c - cost of one slow worker of eight for the trainer.
 *
 * Eight workers whose service time is a timer, and a consumer that demands 80 %
 * of their capacity. Compares batches per second with one worker four times as
 * slow and with none; new streams in turn, each with time to learn the speed of
 * its workers. Few batches may be requested twice. */
#include <inttypes.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/ready.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { WORKERS = 8, ROWS = 4, SIDE = 32, SLOWER = 4 };

static const int64_t service_ns = 25 * FBY_NS_PER_MS;
static const double  demand     = 0.8;

static uint64_t pairs   = 7;
static uint64_t run_ms  = 2500;
static uint64_t warm_ms = 1000;

struct cluster {
    struct bench_farm  farm;
    struct bench_ready ready;
};

struct fixture {
    struct cluster even, slow;
    double         twice[BENCH_MAX_PAIRS]; /* percent, one worker slow */
    uint64_t       n_twice;
};

/* ---- a consumer ---------------------------------------------------------- */

/* Take a batch at each tick, or as soon as it arrives; return their number. */
static uint64_t consume(struct forebay *stream, int64_t for_ns)
{
    int64_t  tick_ns  = (int64_t)((double)service_ns / WORKERS / demand);
    int64_t  now_ns   = fby_now_ns();
    int64_t  until_ns = now_ns + for_ns;
    int64_t  next_ns  = now_ns;
    uint64_t n        = 0;
    while (now_ns < until_ns) {
        bench_stream_take(stream);
        n++;
        now_ns  = fby_now_ns();
        next_ns = next_ns + tick_ns > now_ns ? next_ns + tick_ns : now_ns;
        bench_sleep_until(next_ns);
        now_ns = fby_now_ns();
    }
    return n;
}

static uint64_t asked_twice(const struct forebay *stream)
{
    struct forebay_stats stats = bench_stream_stats(stream);
    return stats.hedges + stats.rerequests;
}

/* Batches per second; *twice: percent of them requested more than once. */
static double measure(const struct cluster *self, double *twice)
{
    const struct forebay_options options = forebay_options();
    struct forebay *stream = bench_stream_open(&self->farm, &options);
    consume(stream, (int64_t)warm_ms * FBY_NS_PER_MS);
    uint64_t before = asked_twice(stream);
    int64_t  begun  = fby_now_ns();
    uint64_t n      = consume(stream, (int64_t)run_ms * FBY_NS_PER_MS);
    double   rate   = 1e9 * (double)n / (double)(fby_now_ns() - begun);
    *twice          = 100 * (double)(asked_twice(stream) - before) / (double)n;
    forebay_close(&stream);
    return rate;
}

static double measure_even(void *arg)
{
    const struct fixture *self = arg;
    double                twice;
    return measure(&self->even, &twice);
}

static double measure_slow(void *arg)
{
    struct fixture *self = arg;
    return measure(&self->slow, &self->twice[self->n_twice++]);
}

/* ---- the run ------------------------------------------------------------- */

static void start(
    struct cluster *self, const struct bench_stock *stock, int64_t first_ns)
{
    struct bench_ready_plan plan = {
        .workers = WORKERS, .stock = stock, .samples = 1000 * ROWS};
    for (int i = 0; i < WORKERS; i++) {
        plan.service_ns[i] = i == 0 ? first_ns : service_ns;
    }
    bench_farm_begin(&self->farm);
    bench_ready_pipeline(&self->farm, stock);
    bench_farm_start_server(&self->farm);
    bench_ready_start(&self->ready, &self->farm, &plan);
}

static void stop(struct cluster *self)
{
    bench_ready_stop(&self->ready);
    bench_farm_remove(&self->farm);
}

static void print(const char *name, struct bench_figure rate)
{
    bench_row(name, "%6.1f batches/s, noise %.1f %%", rate.median, rate.noise);
}

static void run(struct fixture *fixture)
{
    struct bench_pairs result =
        bench_pairs(pairs, measure_slow, measure_even, fixture);
    double twice = bench_median(fixture->twice, fixture->n_twice);
    bench_row("demand", "%6.1f batches/s, %.0f ms of service each",
        demand * WORKERS * 1e9 / (double)service_ns, (double)service_ns / 1e6);
    print("one of 8 is 4x slow", result.a);
    print("none is", result.b);
    bench_row("asked for twice", "%.2f %%", twice);
    bench_row("ratio", "%.3f, noise %.1f %%, %" PRIu64 " pairs",
        result.ratio.median, result.ratio.noise, pairs);
    bench_trust(result.ratio.noise, 2);
    bench_goal("straggler", result.ratio.median, BENCH_AT_LEAST, 0.97);
    bench_goal("straggler.twice_percent", twice, BENCH_AT_MOST, 5);
}

int main(int argc, char **argv)
{
    static const uint8_t      pixels[ROWS * SIDE * SIDE * 3];
    static struct fixture     fixture;
    struct bench_stock        stock;
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)", NULL},
        {"run-ms", &run_ms, 100, 600000, "Length of a run (2500)", NULL},
        {"warm-ms", &warm_ms, 100, 600000, "Warm-up before each run (1000)",
            NULL},
        {0},
    };
    bench_options(argc, argv, options,
        "Batches a second with one slow worker of eight, against none.");
    bench_begin("straggler");
    bench_stock_make(&stock,
        (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE}, pixels, ROWS,
        SIDE);
    start(&fixture.even, &stock, service_ns);
    start(&fixture.slow, &stock, SLOWER * service_ns);
    run(&fixture);
    stop(&fixture.slow);
    stop(&fixture.even);
    bench_stock_free(&stock);
    return 0;
}
