/* SPDX-License-Identifier: Apache-2.0 */
/* end_to_end.c - images per second of a trainer on one machine, all cores.
 *
 * `forebay pull` runs its own server and workers, which make random resized
 * crops of 224 x 224, mirrored half of the time, with `codec: auto`. They are
 * sent over loopback TCP, checked, and delivered as u8. Two loops over the same
 * files, on one thread per core, are the baselines: one decodes to full-size
 * RGB, the other makes random crops as the worker does (partial decoding and
 * resize). They discard the pixels. No figure includes start-up. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/cluster.h"
#include "common/clock.h"
#include "common/cores.h"

enum { BATCH = 64, SHARDS = 8, MAX_THREADS = 256 };

static uint64_t pairs  = 7;
static uint64_t images = 9600;

struct pull_bench {
    struct bench_cluster       cluster;
    const struct bench_photos *photos;
    uint64_t                   steps; /* batches per run */
    double wire_ratio;                /* bytes sent / bytes of u8, last run */
};

static double pull_rate(void *arg)
{
    struct pull_bench *self = arg;
    char               steps[24];
    snprintf(steps, sizeof(steps), "%" PRIu64, self->steps);
    struct bench_pull_result result = bench_cluster_run_pull(&self->cluster,
        (const char *const[]){"forebay", "pull", "--pipeline",
            self->cluster.pipeline_path, "--steps", steps, "--json", NULL});
    self->wire_ratio = (double)result.wire_bytes / (double)result.raw_bytes;
    return (double)result.images / result.seconds;
}

typedef void (*share_fn)(
    const struct bench_photos *photos, size_t first, size_t n);

struct share { /* what one thread does */
    share_fn                   run;
    const struct bench_photos *photos;
    size_t                     first; /* number of the first photograph */
    size_t                     n;     /* number of photographs */
};

static void *run_share(void *arg)
{
    const struct share *share = arg;
    share->run(share->photos, share->first, share->n);
    return NULL;
}

/* Photographs per second of `run` on all cores. */
static double loop_rate(const struct pull_bench *self, share_fn run)
{
    uint32_t     cores     = fby_usable_cores();
    uint32_t     n_threads = cores < MAX_THREADS ? cores : MAX_THREADS;
    uint64_t     total     = self->steps * BATCH; /* photographs */
    pthread_t    threads[MAX_THREADS];
    struct share shares[MAX_THREADS];
    int64_t      begun = fby_now_ns();
    for (uint32_t i = 0; i < n_threads; i++) {
        uint64_t first = total * i / n_threads;
        uint64_t end   = total * (i + 1) / n_threads;
        shares[i]      = (struct share){run, self->photos, first, end - first};
        if (pthread_create(&threads[i], NULL, run_share, &shares[i]) != 0) {
            bench_die("a thread cannot be created");
        }
    }
    for (uint32_t i = 0; i < n_threads; i++) {
        pthread_join(threads[i], NULL);
    }
    return 1e9 * (double)total / (double)(fby_now_ns() - begun);
}

static double decode_rate(void *arg)
{
    return loop_rate(arg, bench_photos_decode);
}

static double crop_rate(void *arg)
{
    return loop_rate(arg, bench_photos_discard_crops);
}

static const struct baseline {
    const char *name;
    const char *loop; /* what it does */
    double (*rate)(void *bench);
    double goal;
} baselines[] = {
    {"end_to_end", "decoding in full", decode_rate, 1.05},
    {"end_to_end.crops", "making crops", crop_rate, 0.90},
};

static void compare(struct pull_bench *self, const struct baseline *baseline)
{
    struct bench_pairs result =
        bench_run_pairs(pairs, pull_rate, baseline->rate, self);
    bench_print("forebay pull",
        "%8.1f images/s, noise %.1f %%; %.2f of u8 sent", result.a.median,
        result.a.noise, self->wire_ratio);
    bench_print(baseline->loop, "%8.1f images/s, noise %.1f %%",
        result.b.median, result.b.noise);
    bench_print_ratio(&result);
    bench_print_reliability(result.ratio.noise, BENCH_NEEDS_TWO_CORES);
    bench_photos_judge(self->photos, baseline->name, result.ratio.median,
        BENCH_AT_LEAST, baseline->goal);
}

static void run(const struct bench_photos *photos)
{
    struct pull_bench bench = {
        .photos = photos, .steps = (images + BATCH - 1) / BATCH};
    bench_cluster_init_shards(&bench.cluster, photos,
        &(struct bench_shards){
            .shards = SHARDS, .copies = 8, .crop = BENCH_CROP, .batch = BATCH});
    pull_rate(&bench); /* warm up: makes the manifest, fills the page cache */
    for (size_t i = 0; i < sizeof(baselines) / sizeof(baselines[0]); i++) {
        compare(&bench, &baselines[i]);
    }
    bench_cluster_remove(&bench.cluster);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS,
            "Pairs of runs for each loop (7)"},
        {"images", &images, BATCH, 100000000, "Images per run (9600)"},
        {0},
    };
    const struct bench_program program = {"end_to_end",
        "Images a second of forebay pull with its own workers, against loops "
        "that only decode in full and only make crops, all on all cores.",
        options};
    return bench_photos_main(&program, argc, argv, run);
}
