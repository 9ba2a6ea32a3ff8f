/* SPDX-License-Identifier: Apache-2.0 */
/* next.c - how long a call of forebay_next() takes when a batch is ready.
 *
 * A worker sends small prepared batches (encoded before the run). Each call
 * has timeout 0, and counts only if it returns a batch. The batch is released
 * before the next call. When no batch is ready, the bench sleeps briefly. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/prepared_cluster.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/mem.h"

enum { ROWS = 8, SIDE = 32, WARM_BATCHES = 200 };

static uint64_t calls = 10000;

/* Call until a batch is returned. Returns the time of that call in ns. */
static double take_ready_ns(struct forebay *stream)
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
            bench_die(
                "forebay_next() returned no batch: %s", forebay_error(stream));
        }
        bench_sleep_until(fby_now_ns() + 200 * FBY_NS_PER_US);
    }
}

/* Returns the noise of the medians of ten groups of calls. The times of single
 * calls differ too much for this. */
static double group_median_noise(const double *ns)
{
    enum { GROUPS = 10 };
    double   medians[GROUPS];
    uint64_t group_calls = calls / GROUPS;
    double  *group       = fby_zalloc(group_calls * sizeof(*group));
    for (uint64_t i = 0; i < GROUPS; i++) {
        memcpy(group, ns + i * group_calls, group_calls * sizeof(*group));
        medians[i] = bench_median(group, group_calls);
    }
    free(group);
    return bench_figure_of(medians, GROUPS).noise;
}

/* Set `ns` to the time of each call. */
static void run(double *ns)
{
    const struct forebay_options  options = forebay_options();
    struct bench_batch            batch;
    struct bench_prepared_cluster prepared;
    bench_batch_make(&batch, BENCH_STORE, NULL, ROWS, SIDE);
    bench_prepared_start(&prepared, &batch, 1, NULL);
    struct forebay *stream = bench_stream_open(&prepared.cluster, &options);
    bench_stream_take_many(stream, WARM_BATCHES);
    for (uint64_t i = 0; i < calls; i++) {
        ns[i] = take_ready_ns(stream);
    }
    forebay_close(&stream);
    bench_prepared_stop(&prepared);
    bench_batch_free(&batch);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"calls", &calls, 10, 10000000,
            "Number of calls that return a batch (10000)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "Time of forebay_next() when a batch is ready.", NULL);
    bench_begin("next");
    double *ns = fby_zalloc(calls * sizeof(*ns));
    run(ns);
    double noise = group_median_noise(ns);
    double p50   = bench_percentile(ns, calls, 50) / 1e3;
    double p99   = bench_percentile(ns, calls, 99) / 1e3;
    bench_print("calls",
        "%" PRIu64 ": p50 %.2f us, p90 %.2f, p99 %.2f, longest "
        "%.0f",
        calls, p50, bench_percentile(ns, calls, 90) / 1e3, p99,
        bench_percentile(ns, calls, 100) / 1e3);
    bench_print_reliability(noise, BENCH_NEEDS_TWO_CORES);
    bench_judge("next.p50_us", p50, BENCH_AT_MOST, 5);
    bench_judge("next.p99_us", p99, BENCH_AT_MOST, 50);
    free(ns);
    return 0;
}
