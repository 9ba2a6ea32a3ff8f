/* SPDX-License-Identifier: Apache-2.0 */
/* secure.c - what keys cost: a cluster with keys against one without.
 *
 * Both clusters are real processes that serve the same data; their keys come
 * from `forebay keys`, and the server's mode is full, so chunks are sealed.
 * 1. Photographs: `forebay pull` takes random crops, as end_to_end, at 60 % of
 *    the rate that the cluster without keys can serve. Measures its rate, and
 *    the CPU time of its process.
 * 2. Bare wire: a worker sends the members of a tar file as they are, and a
 *    stream in this process receives them, as fast as both can. CURVE, which
 *    encrypts the same bytes between two processes, is measured beside it. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/curve.h"
#include "bench/receive.h"
#include "bench/stream.h"
#include "common/clock.h"

enum { BATCH = 64, SHARDS = 8, COPIES = 8, WARM_STEPS = 40 };
enum { BLOCKS = 32, BLOCK_BYTES = 2 << 20, BLOCKS_OF_BATCH = 8 };

static const double   demand      = 0.6; /* of the capacity */
static const uint64_t batch_bytes = (uint64_t)BLOCKS_OF_BATCH * BLOCK_BYTES;

static uint64_t pairs  = 7;
static uint64_t run_ms = 4000;
static uint64_t mib    = 2048;

struct runs { /* values of the runs of one cluster */
    double   at[2 * BENCH_MAX_PAIRS];
    uint64_t n;
};

static void add(struct runs *self, double value)
{
    self->at[self->n++] = value;
}

static double median(struct runs *self)
{
    return bench_median(self->at, self->n);
}

struct side { /* a cluster, with keys or without */
    struct bench_cluster cluster;
    struct forebay      *stream;      /* of the bare wire */
    struct runs          trainer_cpu; /* s per 1,000 images, or s per GB */
    struct runs          worker_cpu;  /* the same */
};

struct secure_bench {
    struct side clear, sealed;
    char        step_ms[24]; /* for the consumer: "0" as fast as it can */
};

static void start_workers(struct secure_bench *self)
{
    self->sealed.cluster = self->clear.cluster;
    bench_cluster_init_keys(&self->sealed.cluster);
    bench_cluster_start(&self->clear.cluster, 1, BENCH_ALL_CORES, "1G");
    bench_cluster_start(&self->sealed.cluster, 1, BENCH_ALL_CORES, "1G");
}

static void remove_clusters(struct secure_bench *self)
{
    bench_cluster_stop(&self->sealed.cluster);
    bench_cluster_remove(&self->clear.cluster); /* both have one directory */
}

struct cpu { /* CPU time at one moment, ns */
    int64_t trainer, worker;
};

static struct cpu read_cpu(const struct side *side, pid_t trainer)
{
    return (struct cpu){
        bench_cpu_ns(trainer), bench_cpu_ns(side->cluster.workers[0].pid)};
}

/* Add the CPU time since `begin`. `amount` is in 10^9 of the unit. */
static void add_cpu(
    struct side *side, pid_t trainer, const struct cpu *begin, double amount)
{
    struct cpu now = read_cpu(side, trainer);
    add(&side->trainer_cpu, (double)(now.trainer - begin->trainer) / amount);
    add(&side->worker_cpu, (double)(now.worker - begin->worker) / amount);
}

/* ---- 1. photographs ------------------------------------------------------ */

/* Returns images per second of a new consumer. */
static double photo_rate(const struct secure_bench *self, struct side *side)
{
    struct bench_process consumer;
    bench_consumer_start(&consumer, &side->cluster, self->step_ms);
    bench_consumer_wait(&consumer, WARM_STEPS);
    uint64_t   steps = consumer.steps;
    struct cpu begin = read_cpu(side, consumer.pid);
    double     rate =
        bench_consumer_rate(&consumer, (int64_t)run_ms * FBY_NS_PER_MS);
    add_cpu(side, consumer.pid, &begin,
        (double)(consumer.steps - steps) * BATCH * 1e6);
    bench_process_kill(&consumer);
    return rate * BATCH;
}

static double sealed_photo_rate(void *arg)
{
    struct secure_bench *self = arg;
    return photo_rate(self, &self->sealed);
}

static double clear_photo_rate(void *arg)
{
    struct secure_bench *self = arg;
    return photo_rate(self, &self->clear);
}

static struct bench_pairs measure_photos(struct secure_bench *self, uint64_t n)
{
    self->clear.trainer_cpu.n = self->sealed.trainer_cpu.n = 0;
    self->clear.worker_cpu.n = self->sealed.worker_cpu.n = 0;
    return bench_run_pairs(n, sealed_photo_rate, clear_photo_rate, self);
}

static void print_rates(const char *name, const struct bench_pairs *rates)
{
    bench_print(name,
        "%7.1f images/s with keys, %7.1f without; ratio %.3f, noise %.1f %%",
        rates->a.median, rates->b.median, rates->ratio.median,
        rates->ratio.noise);
}

/* Returns the seconds for 1,000 images that the trainer needs more, which is the
 * median of the pairs' differences. */
static double print_photo_cpu(struct secure_bench *self)
{
    struct runs more = {.n = 0};
    for (uint64_t i = 0; i < self->clear.trainer_cpu.n; i++) {
        add(&more,
            self->sealed.trainer_cpu.at[i] - self->clear.trainer_cpu.at[i]);
    }
    bench_print("CPU of 1,000 images",
        "trainer %.3f s with keys, %.3f without; worker %.3f and %.3f",
        median(&self->sealed.trainer_cpu), median(&self->clear.trainer_cpu),
        median(&self->sealed.worker_cpu), median(&self->clear.worker_cpu));
    return median(&more);
}

static void run_photos(const struct bench_photos *photos)
{
    static struct secure_bench self;
    bench_cluster_init_shards(&self.clear.cluster, photos,
        &(struct bench_shards){.shards = SHARDS,
            .copies                    = COPIES,
            .crop                      = BENCH_CROP,
            .batch                     = BATCH});
    start_workers(&self);
    snprintf(self.step_ms, sizeof(self.step_ms), "0");
    struct bench_pairs capacity = measure_photos(&self, pairs < 3 ? pairs : 3);
    print_rates("capacity", &capacity);
    snprintf(self.step_ms, sizeof(self.step_ms), "%.0f",
        1000 * BATCH / (demand * capacity.b.median));
    struct bench_pairs result = measure_photos(&self, pairs);
    print_rates("at 60 % of it", &result);
    double more_cpu = print_photo_cpu(&self);
    remove_clusters(&self);
    bench_print_reliability(result.ratio.noise, BENCH_NEEDS_TWO_CORES);
    bench_photos_judge(
        photos, "secure", result.ratio.median, BENCH_AT_LEAST, 0.95);
    bench_photos_judge(
        photos, "secure.trainer_cpu_s", more_cpu, BENCH_AT_MOST, 0.02);
}

/* ---- 2. bare wire -------------------------------------------------------- */

/* Returns GB/s. */
static double wire_rate(struct side *side)
{
    uint64_t batches = (mib << 20) / batch_bytes + 1;
    double   gb      = (double)(batches * batch_bytes) / 1e9;
    bench_wait_idle(); /* the other stream still fills its window */
    bench_stream_take_many(side->stream, 2 * BENCH_SLOTS_BYTES / batch_bytes);
    struct cpu begin    = read_cpu(side, BENCH_THIS_PROCESS);
    int64_t    begin_ns = fby_now_ns();
    bench_stream_take_many(side->stream, batches);
    double seconds = (double)(fby_now_ns() - begin_ns) / 1e9;
    add_cpu(side, BENCH_THIS_PROCESS, &begin, gb * 1e9);
    return gb / seconds;
}

static double sealed_wire_rate(void *arg)
{
    return wire_rate(&((struct secure_bench *)arg)->sealed);
}

static double clear_wire_rate(void *arg)
{
    return wire_rate(&((struct secure_bench *)arg)->clear);
}

static void open_stream(struct side *side)
{
    struct forebay_options options = forebay_options();
    options.window_bytes           = BENCH_SLOTS_BYTES;
    side->stream = bench_stream_open(&side->cluster, &options);
}

static void print_wire_cpu(struct secure_bench *self)
{
    double trainer =
        median(&self->sealed.trainer_cpu) - median(&self->clear.trainer_cpu);
    double worker =
        median(&self->sealed.worker_cpu) - median(&self->clear.worker_cpu);
    bench_print("CPU in the clear", "trainer %.3f, worker %.3f s/GB",
        median(&self->clear.trainer_cpu), median(&self->clear.worker_cpu));
    bench_print("sealing adds", "trainer %.3f, worker %.3f, both %.3f s/GB",
        trainer, worker, trainer + worker);
}

/* Print the CPU time that CURVE adds on both sides. */
static void measure_curve(void)
{
    uint64_t    frames = (mib << 20) / BLOCK_BYTES + 1;
    struct runs more   = {.n = 0};
    for (uint64_t i = 0; i < pairs; i++) {
        add(&more, bench_curve_cost(true, frames, BLOCK_BYTES) -
                       bench_curve_cost(false, frames, BLOCK_BYTES));
    }
    bench_print("CURVE adds", "both %.3f s/GB, to ZeroMQ alone", median(&more));
}

static void run_wire(void)
{
    static struct secure_bench self;
    bench_cluster_init_blocks(&self.clear.cluster,
        &(struct bench_blocks){BLOCKS, BLOCK_BYTES, BLOCKS_OF_BATCH});
    start_workers(&self);
    open_stream(&self.clear);
    open_stream(&self.sealed);
    struct bench_pairs result =
        bench_run_pairs(pairs, sealed_wire_rate, clear_wire_rate, &self);
    forebay_close(&self.sealed.stream);
    forebay_close(&self.clear.stream);
    remove_clusters(&self);
    bench_print("bare wire", "%5.2f GB/s with keys, %5.2f without",
        result.a.median, result.b.median);
    print_wire_cpu(&self);
    measure_curve();
    bench_print_ratio(&result);
    bench_print_reliability(result.ratio.noise, BENCH_NEEDS_TWO_CORES);
    bench_judge("secure.wire", result.ratio.median, BENCH_AT_LEAST, 0.4);
}

static void run(const struct bench_photos *photos)
{
    run_photos(photos);
    run_wire();
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)"},
        {"run-ms", &run_ms, 100, 600000, "Length of a run of photos (4000)"},
        {"mib", &mib, 16, 1 << 20, "MiB per run of the wire (2048)"},
        {0},
    };
    const struct bench_program program = {"secure",
        "Speed and CPU time of a cluster with keys, against one without.",
        options};
    return bench_photos_main(&program, argc, argv, run);
}
