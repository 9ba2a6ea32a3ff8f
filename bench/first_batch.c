/* first_batch.c - how long a trainer waits for its first batch.
 *
 * The worker is warm: it has the content and its manifest, and its files are in
 * the page cache. Measures from the start of forebay_open() to the first batch,
 * minus the time of one batch from request to delivery (the median of the
 * batches that follow, requested one at a time). */
#include <inttypes.h>

#include "bench/bench.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { MAX_ROUNDS = 999, BATCHES = 15, ROWS = 8, CROP = 64, SHARDS = 2 };

static uint64_t rounds = 21;

struct times { /* ns */
    double first[MAX_ROUNDS];
    double service[MAX_ROUNDS];
    double extra[MAX_ROUNDS];
};

static void measure(
    const struct bench_farm *farm, struct times *times, uint64_t round)
{
    double                 batches[BATCHES];
    struct forebay_options options = forebay_options();
    options.window_batches         = 1;
    int64_t         begun          = fby_now_ns();
    struct forebay *stream         = bench_stream_open(farm, &options);
    bench_stream_take(stream);
    times->first[round] = (double)(fby_now_ns() - begun);
    for (int i = 0; i < BATCHES; i++) {
        batches[i] = (double)bench_stream_take(stream);
    }
    forebay_close(&stream);
    times->service[round] = bench_median(batches, BATCHES);
    times->extra[round]   = times->first[round] - times->service[round];
}

static void print(const char *name, double *ns)
{
    bench_row(name, "%6.2f ms, p90 %6.2f, noise %.1f %%",
        bench_median(ns, rounds) / 1e6, bench_percentile(ns, rounds, 90) / 1e6,
        bench_noise(ns, rounds));
}

static void run(const struct bench_album *album)
{
    static struct times times;
    struct bench_farm   farm;
    bench_farm_make_shards(&farm, album,
        &(struct bench_shards){
            .shards = SHARDS, .times = 2, .crop = CROP, .batch = ROWS});
    bench_farm_start(&farm, 1, 0, "256M");
    measure(&farm, &times, 0); /* warm */
    for (uint64_t i = 0; i < rounds; i++) {
        measure(&farm, &times, i);
    }
    bench_farm_remove(&farm);
    print("open to first batch", times.first);
    print("service time", times.service);
    print("difference", times.extra);
    bench_trust(bench_noise(times.extra, rounds), 2);
    bench_goal("first_batch.ms", bench_median(times.extra, rounds) / 1e6,
        BENCH_AT_MOST, 10);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"rounds", &rounds, 1, MAX_ROUNDS, "Number of streams opened (21)",
            NULL},
        {0},
    };
    const struct bench_program program = {"first_batch",
        "Time from opening a stream at a warm worker to its first batch.",
        options};
    return bench_album_main(&program, argc, argv, run);
}
