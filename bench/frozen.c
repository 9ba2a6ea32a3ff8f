/* SPDX-License-Identifier: Apache-2.0 */
/* frozen.c - cost of a stopped consumer for the worker and other consumers.
 *
 * 1. Speed: batches per second of a consumer while another consumer is stopped
 *    (SIGSTOP) in the middle of its batches, compared with the same consumer
 *    alone. Each run has new processes.
 * 2. Memory held: for a minute one consumer is stopped, another takes no batch,
 *    and a third continues. Measures the growth of the worker's memory, and
 *    compares its peak with the memory budget.
 * 3. Memory kept: growth of client and worker from batch 1,000 to 10,000. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/cluster.h"
#include "common/clock.h"

enum { BUDGET_MIB = 128 };
/* Batches that a consumer takes before its stop or its measurement. */
enum { STOP_STEPS = 5, WARM_STEPS = 20 };
#define BUDGET  "128M"    /* of the worker; the same as BUDGET_MIB */
#define HOUR_MS "3600000" /* step time with which no second batch is taken */

static const double mib = 1 << 20;

static uint64_t pairs    = 7;
static uint64_t seed     = 1;
static uint64_t run_ms   = 4000;
static uint64_t freeze_s = 60;
static uint64_t batches  = 10000;
static uint64_t pictures = 600;

/* ---- 1. speed ------------------------------------------------------------ */

/* Start a consumer and stop it at a random time. At that time the worker is
 * making and sending batches for it, because a consumer requests as many
 * batches ahead as its window allows. */
static void start_and_stop(struct bench_process *consumer,
    const struct bench_cluster *cluster, uint64_t *random)
{
    bench_consumer_start(consumer, cluster, "0");
    bench_consumer_wait(consumer, STOP_STEPS);
    bench_sleep_until(
        fby_now_ns() + (int64_t)(bench_random(random) % 50) * FBY_NS_PER_MS);
    kill(consumer->pid, SIGSTOP);
}

struct speed_runs {
    double   cpu_ms[BENCH_MAX_PAIRS]; /* CPU time of the worker per batch */
    uint64_t n;                       /* number of runs */
};

struct frozen_bench {
    struct bench_cluster cluster;
    struct speed_runs    alone;        /* with one consumer */
    struct speed_runs    with_stopped; /* with a second, stopped one */
};

/* Measure one run. Returns the batches per second of a consumer. */
static double measure_speed(
    struct bench_cluster *cluster, struct speed_runs *runs, bool has_stopped)
{
    struct bench_process stopped = {0};
    struct bench_process consumer;
    uint64_t             random = seed + runs->n;
    bench_cluster_start(cluster, 1, BENCH_ALL_CORES, BUDGET);
    if (has_stopped) {
        start_and_stop(&stopped, cluster, &random);
    }
    bench_consumer_start(&consumer, cluster, "0");
    bench_consumer_wait(&consumer, WARM_STEPS);
    pid_t    worker = cluster->workers[0].pid;
    int64_t  cpu_ns = bench_cpu_ns(worker);
    uint64_t steps  = consumer.steps;
    double   rate =
        bench_consumer_rate(&consumer, (int64_t)run_ms * FBY_NS_PER_MS);
    runs->cpu_ms[runs->n++] = (double)(bench_cpu_ns(worker) - cpu_ns) / 1e6 /
                              (double)(consumer.steps - steps);
    bench_process_kill(&consumer);
    bench_process_kill(&stopped);
    bench_cluster_stop(cluster);
    return rate;
}

static double measure_alone(void *arg)
{
    struct frozen_bench *self = arg;
    return measure_speed(&self->cluster, &self->alone, false);
}

static double measure_with_stopped(void *arg)
{
    struct frozen_bench *self = arg;
    return measure_speed(&self->cluster, &self->with_stopped, true);
}

static void print_runs(
    const char *name, struct bench_figure rate, struct speed_runs *runs)
{
    bench_print(name, "%.1f batches/s, noise %.1f %%; %.1f ms of CPU each",
        rate.median, rate.noise, bench_median(runs->cpu_ms, runs->n));
}

/* Returns the speed with a stopped consumer divided by the speed alone. */
static double compare_speed(struct frozen_bench *self)
{
    struct bench_pairs result =
        bench_run_pairs(pairs, measure_with_stopped, measure_alone, self);
    print_runs("alone", result.b, &self->alone);
    print_runs("beside a stopped one", result.a, &self->with_stopped);
    bench_print_ratio(&result);
    return result.ratio.median;
}

/* ---- 2. memory held ------------------------------------------------------ */

static double rss_bytes(const struct bench_process *process)
{
    return (double)bench_rss_bytes(process->pid);
}

struct held_memory { /* of the worker, while two consumers do not read */
    double growth;   /* bytes, from before the minute to its peak */
    double peak;     /* bytes above those of the worker without consumers */
};

/* Returns the highest memory of the worker during `freeze_s` seconds. */
static double watch_peak(
    const struct bench_cluster *cluster, struct bench_process *consumer)
{
    double  peak     = 0;
    int64_t until_ns = fby_now_ns() + (int64_t)freeze_s * FBY_NS_PER_S;
    while (fby_now_ns() < until_ns) {
        bench_consumer_wait(consumer, consumer->steps + 10);
        peak = fmax(peak, rss_bytes(&cluster->workers[0]));
    }
    return peak;
}

static struct held_memory measure_held(struct bench_cluster *cluster)
{
    struct bench_process stopped;
    struct bench_process idle;
    struct bench_process consumer;
    uint64_t             random = seed;
    bench_cluster_start(cluster, 1, BENCH_ALL_CORES, BUDGET);
    double empty = rss_bytes(&cluster->workers[0]);
    start_and_stop(&stopped, cluster, &random);
    bench_consumer_start(&idle, cluster, HOUR_MS);
    bench_consumer_start(&consumer, cluster, "0");
    bench_consumer_wait(&consumer, batches / 50); /* warm up */
    double before = rss_bytes(&cluster->workers[0]);
    double peak   = watch_peak(cluster, &consumer);
    bench_process_kill(&consumer);
    bench_process_kill(&idle);
    bench_process_kill(&stopped);
    bench_cluster_stop(cluster);
    bench_print("worker, 2 stand still",
        "%.1f MiB empty, %.1f then %.1f at most", empty / mib, before / mib,
        peak / mib);
    return (struct held_memory){.growth = peak - before, .peak = peak - empty};
}

/* ---- 3. memory kept ------------------------------------------------------ */

struct kept_memory { /* bytes of growth from a tenth of the batches to all */
    double client;
    double worker;
};

static struct kept_memory measure_kept(void)
{
    struct bench_cluster cluster;
    struct bench_process consumer;
    bench_cluster_init_pictures(
        &cluster, &(struct bench_pictures){
                      .number = pictures, .side = 96, .crop = 64, .batch = 8});
    bench_cluster_start(&cluster, 1, BENCH_ALL_CORES, BUDGET);
    bench_consumer_start(&consumer, &cluster, "0");
    bench_consumer_wait(&consumer, batches / 10);
    double client = rss_bytes(&consumer);
    double worker = rss_bytes(&cluster.workers[0]);
    bench_consumer_wait(&consumer, batches);
    double client_end = rss_bytes(&consumer);
    double worker_end = rss_bytes(&cluster.workers[0]);
    bench_process_kill(&consumer);
    bench_cluster_remove(&cluster);
    bench_print("client over batches", "%.1f then %.1f MiB", client / mib,
        client_end / mib);
    bench_print("worker over batches", "%.1f then %.1f MiB", worker / mib,
        worker_end / mib);
    return (struct kept_memory){client_end - client, worker_end - worker};
}

/* ---- the run ------------------------------------------------------------- */

static void run(void)
{
    struct frozen_bench bench = {0};
    bench_cluster_init_pictures(&bench.cluster,
        &(struct bench_pictures){
            .number = pictures, .side = 320, .crop = 224, .batch = 32});
    double             ratio = compare_speed(&bench);
    struct held_memory held  = measure_held(&bench.cluster);
    bench_cluster_remove(&bench.cluster);
    struct kept_memory kept = measure_kept();
    bench_judge("frozen.other_speed", ratio, BENCH_AT_LEAST, 0.95);
    bench_judge("frozen.worker_peak_of_budget", held.peak / (BUDGET_MIB * mib),
        BENCH_AT_MOST, 1);
    bench_judge("frozen.worker_held_mib", held.growth / mib, BENCH_AT_MOST, 1);
    bench_judge("frozen.client_kept_mib", kept.client / mib, BENCH_AT_MOST, 1);
    bench_judge("frozen.worker_kept_mib", kept.worker / mib, BENCH_AT_MOST, 1);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS,
            "Pairs of runs with and without (7)"},
        {"run-ms", &run_ms, 100, 600000, "Length of such a run (4000)"},
        {"freeze-s", &freeze_s, 1, 3600,
            "Seconds for which consumers are stopped (60)"},
        {"batches", &batches, 10, UINT32_MAX, "Until memory is read (10000)"},
        {"pictures", &pictures, 64, 1000000, "In the data set (600)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the times of stopping (1)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "Speed and memory of a worker, one of whose consumers is stopped or "
        "does not read.",
        NULL);
    bench_print(
        "frozen", "seed %" PRIu64 ", worker's budget %d MiB", seed, BUDGET_MIB);
    run();
    return 0;
}
