/* next.c - time of a call of forebay_next() when a batch is ready.
 *
 * A worker has small batches ready. Each call has timeout 0 and counts only if
 * it returns a batch, which was ready then. The batch is released between the
 * calls; if none is ready, the bench sleeps briefly. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/ready.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/mem.h"

enum { ROWS = 8, SIDE = 32, WARM = 200 };

static uint64_t calls = 10000;

/* Call until a batch is returned; return the time of that call in ns. */
static double take_ready(struct forebay *stream)
{
    for (;;) {
        struct forebay_batch *batch  = NULL;
        int64_t               begun  = fby_now_ns();
        enum forebay_status   status = forebay_next(stream, 0, NULL, &batch);
        int64_t               ended  = fby_now_ns();
        if (status == FOREBAY_OK) {
            forebay_release(&batch, NULL);
            return (double)(ended - begun);
        }
        if (status != FOREBAY_TIMEOUT) {
            bench_die("no batch: %s", forebay_error(stream));
        }
        bench_sleep_until(fby_now_ns() + 200 * FBY_NS_PER_US);
    }
}

static void measure(struct forebay *stream, double *ns)
{
    bench_stream_skip(stream, WARM);
    for (uint64_t i = 0; i < calls; i++) {
        ns[i] = take_ready(stream);
    }
}

/* The noise of the medians of ten rounds: single calls differ too much. */
static double noise_of_rounds(const double *ns)
{
    enum { ROUNDS = 10 };
    double   medians[ROUNDS];
    uint64_t n    = calls / ROUNDS;
    double  *some = fby_zalloc(n * sizeof(*some));
    for (uint64_t i = 0; i < ROUNDS; i++) {
        memcpy(some, ns + i * n, n * sizeof(*some));
        medians[i] = bench_median(some, n);
    }
    free(some);
    return bench_noise(medians, ROUNDS);
}

static void run(double *ns)
{
    static const uint8_t          pixels[ROWS * SIDE * SIDE * 3];
    const struct forebay_options  options = forebay_options();
    struct bench_farm             farm;
    struct bench_stock            stock;
    struct bench_ready            ready;
    const struct bench_ready_plan plan = {
        .workers = 1, .stock = &stock, .samples = 1000 * ROWS};
    bench_stock_make(&stock,
        (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE}, pixels, ROWS,
        SIDE);
    bench_farm_begin(&farm);
    bench_ready_pipeline(&farm, &stock);
    bench_farm_start_server(&farm);
    bench_ready_start(&ready, &farm, &plan);
    struct forebay *stream = bench_stream_open(&farm, &options);
    measure(stream, ns);
    forebay_close(&stream);
    bench_ready_stop(&ready);
    bench_farm_remove(&farm);
    bench_stock_free(&stock);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"calls", &calls, 10, 10000000,
            "Number of calls that return a batch (10000)", NULL},
        {0},
    };
    bench_options(
        argc, argv, options, "Time of forebay_next() when a batch is ready.");
    bench_begin("next");
    double *ns = fby_zalloc(calls * sizeof(*ns));
    run(ns);
    double noise = noise_of_rounds(ns);
    double p50   = bench_percentile(ns, calls, 50) / 1e3;
    double p99   = bench_percentile(ns, calls, 99) / 1e3;
    bench_row("calls",
        "%" PRIu64 ": p50 %.2f us, p90 %.2f, p99 %.2f, longest "
        "%.0f",
        calls, p50, bench_percentile(ns, calls, 90) / 1e3, p99,
        bench_percentile(ns, calls, 100) / 1e3);
    bench_trust(noise, 2);
    bench_goal("next.p50_us", p50, BENCH_AT_MOST, 5);
    bench_goal("next.p99_us", p99, BENCH_AT_MOST, 50);
    free(ns);
    return 0;
}
