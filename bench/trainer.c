/* SPDX-License-Identifier: Apache-2.0 */
/* trainer.c - CPU time of the trainer's process for 1,000 images.
 *
 * A real worker sends random resized crops of 224 x 224, mirrored half of the
 * time, with `codec: auto`. This process receives them, checks them and makes
 * batches on the host: u8 as it is, or f32, normalised, one channel after
 * another. The CPU time of all its threads is measured, without the start. */
#include "bench/bench.h"
#include "bench/stream.h"

enum { BATCH = 64, SHARDS = 8, COPIES = 8, WARM_STEPS = 40 };

static uint64_t pairs  = 7;
static uint64_t images = 4800;

#define WIRE "    wire: {codec: auto}\n"

static const char normalised[] =
    WIRE "    device:\n"
         "      - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, "
         "0.225]}\n"
         "    out: {dtype: f32, layout: chw}\n";

static const struct bench_shards shards = {
    .shards = SHARDS, .copies = COPIES, .crop = BENCH_CROP, .batch = BATCH};

struct trainer_bench {
    struct bench_cluster cluster;
    struct forebay      *u8, *f32; /* streams */
};

static struct forebay *open_stream(
    struct bench_cluster *cluster, const char *image_keys)
{
    struct forebay_options options = forebay_options();
    bench_cluster_write_shards_pipeline(cluster, &shards, image_keys);
    struct forebay *stream = bench_stream_open(cluster, &options);
    bench_stream_take_many(stream, WARM_STEPS);
    return stream;
}

/* Returns CPU seconds for 1,000 images. */
static double cpu_of(struct forebay *stream)
{
    uint64_t steps = (images + BATCH - 1) / BATCH;
    bench_wait_idle(); /* the other stream fills its window */
    int64_t begun = bench_cpu_ns(BENCH_THIS_PROCESS);
    bench_stream_take_many(stream, steps);
    bench_wait_idle(); /* as many batches come as were taken */
    int64_t spent = bench_cpu_ns(BENCH_THIS_PROCESS) - begun;
    return (double)spent / 1e6 / (double)(steps * BATCH);
}

static double cpu_of_u8(void *arg)
{
    struct trainer_bench *self = arg;
    return cpu_of(self->u8);
}

static double cpu_of_f32(void *arg)
{
    struct trainer_bench *self = arg;
    return cpu_of(self->f32);
}

static void print(const char *name, const struct bench_figure *figure)
{
    bench_print(name, "%.4f s for 1,000 images, noise %.1f %%", figure->median,
        figure->noise);
}

static void run(const struct bench_photos *photos)
{
    struct trainer_bench self;
    bench_cluster_init_shards(&self.cluster, photos, &shards);
    bench_cluster_start(&self.cluster, 1, BENCH_ALL_CORES, "1G");
    self.u8  = open_stream(&self.cluster, WIRE);
    self.f32 = open_stream(&self.cluster, normalised);
    struct bench_pairs result =
        bench_run_pairs(pairs, cpu_of_u8, cpu_of_f32, &self);
    forebay_close(&self.u8);
    forebay_close(&self.f32);
    bench_cluster_remove(&self.cluster);
    print("u8", &result.a);
    print("f32, normalised", &result.b);
    bench_print_ratio(&result);
    bench_print_reliability(result.ratio.noise, BENCH_NEEDS_TWO_CORES);
    bench_photos_judge(
        photos, "trainer.u8_s", result.a.median, BENCH_AT_MOST, 0.027);
    bench_photos_judge(
        photos, "trainer.f32_s", result.b.median, BENCH_AT_MOST, 0.045);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)"},
        {"images", &images, BATCH, 100000000, "Images per run (4800)"},
        {0},
    };
    const struct bench_program program = {"trainer",
        "CPU time of a trainer's process that receives u8 or f32 images.",
        options};
    return bench_photos_main(&program, argc, argv, run);
}
