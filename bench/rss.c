/* rss.c - memory of a client, and whether it grows.
 *
 * A worker with prepared batches fills a ring of 256 MiB. Compares the highest
 * growth of this process since before open with the limit: the ring, and twice
 * the worker's send window per worker in use. Then measures the growth from one
 * tenth of the batches to the last. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/ready.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/mem.h"

enum { ROWS = 14, SIDE = 224, RING = 256 << 20, LOOK_EVERY = 20 };

static const double mib = 1 << 20;

static uint64_t batches = 10000;

struct growth { /* bytes */
    double highest;
    double later; /* from a tenth of the batches to the last */
};

static double own_bytes(void)
{
    const struct bench_part own = {.pid = getpid()};
    return (double)bench_rss_bytes(&own);
}

/* Wait until the ring is full: nothing arrives for 300 ms. */
static void fill_ring(const struct forebay *stream)
{
    uint64_t before = 0;
    uint64_t now    = 1;
    while (now != before) {
        bench_sleep_until(fby_now_ns() + 300 * FBY_NS_PER_MS);
        before = now;
        now    = bench_stream_stats(stream).wire_bytes;
    }
}

static struct growth watch(struct forebay *stream, double empty)
{
    struct growth growth = {0};
    double        tenth  = 0;
    fill_ring(stream);
    for (uint64_t i = 0; i < batches; i++) {
        if (i % LOOK_EVERY == 0) {
            double now     = own_bytes() - empty;
            growth.highest = now > growth.highest ? now : growth.highest;
        }
        tenth = i == batches / 10 ? own_bytes() : tenth;
        bench_stream_take(stream);
    }
    growth.later = own_bytes() - tenth;
    return growth;
}

static struct growth run(void)
{
    struct forebay_options options = forebay_options();
    struct bench_farm      farm;
    struct bench_stock     stock;
    struct bench_ready     ready;
    uint8_t               *pixels = fby_zalloc((size_t)ROWS * SIDE * SIDE * 3);
    options.window_bytes          = RING;
    options.window_batches        = 4096;
    bench_stock_make(&stock,
        (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE}, pixels, ROWS,
        SIDE);
    free(pixels);
    bench_farm_begin(&farm);
    bench_ready_pipeline(&farm, &stock);
    bench_farm_start_server(&farm);
    bench_ready_start(&ready, &farm,
        &(struct bench_ready_plan){
            .workers = 1, .stock = &stock, .samples = 1000 * ROWS});
    double          empty  = own_bytes();
    struct forebay *stream = bench_stream_open(&farm, &options);
    struct growth   growth = watch(stream, empty);
    forebay_close(&stream);
    bench_ready_stop(&ready);
    bench_farm_remove(&farm);
    bench_stock_free(&stock);
    return growth;
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"batches", &batches, 100, 100000000, "Number of batches (10000)",
            NULL},
        {0},
    };
    bench_options(argc, argv, options,
        "Memory of a client with a ring of 256 MiB, and its growth.");
    bench_begin("rss");
    struct growth growth  = run();
    double        allowed = RING + 2.0 * BENCH_READY_WINDOW;
    bench_row("client since before open", "%.1f MiB at most, of %.0f allowed",
        growth.highest / mib, allowed / mib);
    bench_row("later", "%.2f MiB from batch %" PRIu64 " to %" PRIu64,
        growth.later / mib, batches / 10, batches);
    bench_goal("rss", growth.highest / allowed, BENCH_AT_MOST, 1);
    bench_goal("rss.later_mib", growth.later / mib, BENCH_AT_MOST, 1);
    return 0;
}
