/* SPDX-License-Identifier: Apache-2.0 */
/* rss.c - memory of a client, and whether it grows.
 *
 * A worker with prepared batches (encoded before the run) fills the client's
 * ring buffer of 256 MiB. Compares the memory of this process at its peak with
 * that before forebay_open(). The growth may be at most the ring and twice the
 * send window (the bytes that the worker sends ahead of the client's CREDIT).
 * Then measures the growth from one tenth of the batches to the last batch. */
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/prepared_cluster.h"
#include "bench/prepared_worker.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { ROWS = 14, SIDE = 224 };
enum { SAMPLE_BATCHES = 20 }; /* batches between two readings of memory */
enum { RING_BYTES = 256 << 20, RING_BATCHES = 4096 };

static const double mib = 1 << 20;

static uint64_t batches = 10000;

struct growth {     /* bytes */
    double highest; /* from before forebay_open() to the peak */
    double later;   /* from a tenth of the batches to the last */
};

static double own_rss_bytes(void)
{
    return (double)bench_rss_bytes(getpid());
}

/* Wait until the ring is full, which is when nothing arrives for 300 ms. */
static void wait_until_full(const struct forebay *stream)
{
    uint64_t before   = 0;
    uint64_t received = 1; /* any other number than `before` */
    while (received != before) {
        bench_sleep_until(fby_now_ns() + 300 * FBY_NS_PER_MS);
        before   = received;
        received = bench_stream_stats(stream).wire_bytes;
    }
}

/* Take all batches; `before` is the memory before forebay_open(), in bytes. */
static struct growth measure_growth(struct forebay *stream, double before)
{
    struct growth growth    = {0};
    double        tenth_rss = 0;
    wait_until_full(stream);
    for (uint64_t i = 0; i < batches; i++) {
        if (i % SAMPLE_BATCHES == 0) {
            growth.highest = fmax(growth.highest, own_rss_bytes() - before);
        }
        tenth_rss = i == batches / 10 ? own_rss_bytes() : tenth_rss;
        bench_stream_take(stream);
    }
    growth.later = own_rss_bytes() - tenth_rss;
    return growth;
}

static struct growth run(void)
{
    struct bench_batch            batch;
    struct bench_prepared_cluster prepared;
    struct forebay_options        options = forebay_options();
    options.window_bytes                  = RING_BYTES;
    options.window_batches                = RING_BATCHES;
    bench_batch_make(&batch, BENCH_STORE, NULL, ROWS, SIDE);
    bench_prepared_start(&prepared, &batch, 1, NULL);
    double          before = own_rss_bytes();
    struct forebay *stream = bench_stream_open(&prepared.cluster, &options);
    struct growth   growth = measure_growth(stream, before);
    forebay_close(&stream);
    bench_prepared_stop(&prepared);
    bench_batch_free(&batch);
    return growth;
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"batches", &batches, 100, 100000000, "Number of batches (10000)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "Memory of a client with a ring of 256 MiB, and its growth.", NULL);
    bench_begin("rss");
    struct growth growth  = run();
    double        allowed = RING_BYTES + 2.0 * BENCH_SEND_WINDOW;
    bench_print("client since before open", "%.1f MiB at most, of %.0f allowed",
        growth.highest / mib, allowed / mib);
    bench_print("later", "%.2f MiB from batch %" PRIu64 " to %" PRIu64,
        growth.later / mib, batches / 10, batches);
    bench_judge("rss", growth.highest / allowed, BENCH_AT_MOST, 1);
    bench_judge("rss.later_mib", growth.later / mib, BENCH_AT_MOST, 1);
    return 0;
}
