/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - CPU time of a worker per picture, compared with decoding alone.
 *
 * A real worker, with its tar files in the page cache, makes random resized
 * crops of 224 x 224, mirrored half of the time. It encodes the crops with
 * `codec: auto` and sends them to a consumer in this process. Measures images
 * per second of CPU time of all threads of the worker. The baseline is one
 * thread that decodes the same files to full-size RGB. Runs on the pictures as
 * they are, and on copies of at least 2 megapixels. */
#include <inttypes.h>
#include <math.h>

#include "bench/bench.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { BATCH = 32, SHARDS = 4, LARGE_PIXELS = 2000000 };

static uint64_t pairs        = 7;
static uint64_t images       = 1536;
static uint64_t large_images = 96;

struct worker_cpu_bench {
    struct bench_cluster       cluster;
    const struct bench_photos *photos;
    uint64_t                   steps; /* batches per run */
};

static double images_per_second(
    const struct worker_cpu_bench *self, int64_t cpu_ns)
{
    return 1e9 * (double)(self->steps * BATCH) / (double)cpu_ns;
}

/* The stream ends after self->steps, so that no work of the worker for later
 * batches is counted. */
static double worker_rate(void *arg)
{
    const struct worker_cpu_bench *self    = arg;
    pid_t                          worker  = self->cluster.workers[0].pid;
    struct forebay_options         options = forebay_options();
    options.steps                          = self->steps;
    int64_t         begun                  = bench_cpu_ns(worker);
    struct forebay *stream = bench_stream_open(&self->cluster, &options);
    bench_stream_take_many(stream, self->steps);
    forebay_close(&stream);
    return images_per_second(self, bench_cpu_ns(worker) - begun);
}

static double decoding_rate(void *arg)
{
    const struct worker_cpu_bench *self  = arg;
    int64_t                        begun = fby_thread_cpu_ns();
    bench_photos_decode(self->photos, 0, self->steps * BATCH);
    return images_per_second(self, fby_thread_cpu_ns() - begun);
}

static struct bench_figure compare(
    const char *name, const struct bench_photos *photos, uint64_t n)
{
    struct worker_cpu_bench bench = {
        .photos = photos, .steps = (n + BATCH - 1) / BATCH};
    bench_cluster_init_shards(&bench.cluster, photos,
        &(struct bench_shards){
            .shards = SHARDS, .copies = 4, .crop = BENCH_CROP, .batch = BATCH});
    bench_cluster_start(&bench.cluster, 1, BENCH_ALL_CORES, "1G");
    worker_rate(&bench); /* warm up: reads the manifest, fills the arenas */
    struct bench_pairs result =
        bench_run_pairs(pairs, worker_rate, decoding_rate, &bench);
    bench_cluster_remove(&bench.cluster);
    bench_print(name, "%8.1f  %8.1f  %6.3f  %5.1f %%  %3" PRIu64 " pairs",
        result.a.median, result.b.median, result.ratio.median,
        result.ratio.noise, pairs);
    return result.ratio;
}

static void run(const struct bench_photos *photos)
{
    struct bench_photos large;
    bench_photos_enlarge(photos, large_images, LARGE_PIXELS, &large);
    bench_print("large",
        "%zu of them scaled up to at least 2 megapixels, "
        "encoded at quality 90",
        large.n);
    bench_print("images a CPU second", "%8s  %8s  %6s  %7s", "worker", "decode",
        "ratio", "noise");
    struct bench_figure unscaled = compare("as they are", photos, images);
    struct bench_figure enlarged =
        compare("2 megapixels", &large, large_images);
    bench_print_reliability(
        fmax(unscaled.noise, enlarged.noise), BENCH_ANY_CORES);
    bench_photos_judge(photos, "worker", unscaled.median, BENCH_AT_LEAST, 1.0);
    bench_photos_judge(
        photos, "worker.large", enlarged.median, BENCH_AT_LEAST, 1.4);
    bench_photos_free(&large);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)"},
        {"images", &images, BATCH, 10000000, "Images per run (1536)"},
        {"large-images", &large_images, BATCH, 1000000,
            "Images per run with large ones (96)"},
        {0},
    };
    const struct bench_program program = {"worker",
        "Images a CPU second of a whole worker process, against a loop that "
        "only decodes.",
        options};
    return bench_photos_main(&program, argc, argv, run);
}
