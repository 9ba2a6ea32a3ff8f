/* worker.c - CPU time of a worker per picture, compared with only decoding it.
 *
 * A real worker, with its tar shards in the page cache, makes random resized
 * crops of 224 x 224 (mirrored half of the time, codec auto) and sends them to
 * a consumer in this process. Compares images per second of CPU time of the
 * whole worker process, all threads, with one thread that decodes the same
 * files to full-size RGB. Runs on the pictures as they are, and on copies of at
 * least 2 megapixels. */
#include <inttypes.h>

#include "bench/bench.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { BATCH = 32, SHARDS = 4, LARGE_PIXELS = 2000000 };

static uint64_t pairs        = 7;
static uint64_t images       = 1536;
static uint64_t large_images = 96;

struct fixture {
    struct bench_farm         farm;
    const struct bench_album *album;
    uint64_t                  steps; /* batches per run */
};

static double per_second(const struct fixture *self, int64_t cpu_ns)
{
    return 1e9 * (double)(self->steps * BATCH) / (double)cpu_ns;
}

/* The stream has exactly these steps, so that no work is left at the end. */
static double stream(void *arg)
{
    const struct fixture    *self    = arg;
    const struct bench_part *worker  = &self->farm.workers[0];
    struct forebay_options   options = forebay_options();
    options.steps                    = self->steps;
    int64_t         begun            = bench_cpu_ns(worker);
    struct forebay *one              = bench_stream_open(&self->farm, &options);
    bench_stream_skip(one, self->steps);
    forebay_close(&one);
    return per_second(self, bench_cpu_ns(worker) - begun);
}

static double decode(void *arg)
{
    const struct fixture *self  = arg;
    int64_t               begun = fby_thread_cpu_ns();
    bench_album_decode(self->album, 0, self->steps * BATCH);
    return per_second(self, fby_thread_cpu_ns() - begun);
}

static struct bench_figure compare(
    const char *name, const struct bench_album *album, uint64_t n)
{
    struct fixture fixture = {.album = album, .steps = (n + BATCH - 1) / BATCH};
    bench_farm_make_shards(&fixture.farm, album,
        &(struct bench_shards){
            .shards = SHARDS, .times = 4, .crop = BENCH_CROP, .batch = BATCH});
    bench_farm_start(&fixture.farm, 1, 0, "1G");
    stream(
        &fixture); /* warm: the worker reads its manifest, fills its arenas */
    struct bench_pairs result = bench_pairs(pairs, stream, decode, &fixture);
    bench_farm_remove(&fixture.farm);
    bench_row(name, "%8.1f  %8.1f  %6.3f  %5.1f %%  %3" PRIu64 " pairs",
        result.a.median, result.b.median, result.ratio.median,
        result.ratio.noise, pairs);
    return result.ratio;
}

static void run(const struct bench_album *album)
{
    struct bench_album large;
    bench_album_enlarge(album, large_images, LARGE_PIXELS, &large);
    bench_row("large",
        "%zu of them scaled up to at least 2 megapixels, "
        "encoded at quality 90",
        large.n);
    bench_row("images a CPU second", "%8s  %8s  %6s  %7s", "worker", "decode",
        "ratio", "noise");
    struct bench_figure plain = compare("as they are", album, images);
    struct bench_figure more  = compare("2 megapixels", &large, large_images);
    bench_trust(plain.noise > more.noise ? plain.noise : more.noise, 0);
    bench_album_goal(album, "worker", plain.median, BENCH_AT_LEAST, 1.0);
    bench_album_goal(album, "worker.large", more.median, BENCH_AT_LEAST, 1.4);
    bench_album_free(&large);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)", NULL},
        {"images", &images, BATCH, 10000000, "Images per run (1536)", NULL},
        {"large-images", &large_images, BATCH, 1000000,
            "Images per run with large ones (96)", NULL},
        {0},
    };
    const struct bench_program program = {"worker",
        "Images a CPU second of a whole worker process, against a loop that "
        "only decodes.",
        options};
    return bench_album_main(&program, argc, argv, run);
}
