/* frozen.c - cost of a stopped consumer for the worker and other consumers.
 *
 * 1. Speed: a consumer beside one that was stopped (SIGSTOP) in the middle of
 *    its batches, compared with the same consumer alone; new processes each
 *    time, pairs in turn, medians.
 * 2. Memory held: for a minute one consumer is stopped, one does not read, and
 *    a third continues. Growth of the worker, and its peak against its budget.
 * 3. Memory kept: growth of client and worker from batch 1,000 to 10,000. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/farm.h"
#include "common/clock.h"

enum { BUDGET_MIB = 128 };
#define BUDGET "128M"
#define HOUR   "3600000"

static const double mib = 1 << 20;

static uint64_t pairs    = 7;
static uint64_t seed     = 1;
static uint64_t run_ms   = 4000;
static uint64_t freeze_s = 60;
static uint64_t batches  = 10000;
static uint64_t pictures = 600;

/* ---- 1. speed ------------------------------------------------------------ */

/* Stop the consumer while the worker makes and sends batches for it; the
 * consumer's window is full all the time. */
static void start_and_freeze(
    struct bench_part *pull, const struct bench_farm *farm, uint64_t *random)
{
    bench_pull_start(pull, farm, "0");
    bench_pull_until(pull, 5);
    bench_sleep_until(
        fby_now_ns() + (int64_t)(bench_random(random) % 50) * FBY_NS_PER_MS);
    bench_part_pause(pull);
}

struct speed {
    double rate;   /* batches per second of the consumer */
    double cpu_ms; /* CPU time of the worker per batch */
};

static struct speed measure_rate(
    const struct bench_part *worker, struct bench_part *pull)
{
    int64_t  cpu_ns = bench_cpu_ns(worker);
    uint64_t steps  = pull->steps;
    double   rate   = bench_pull_rate(pull, (int64_t)run_ms * FBY_NS_PER_MS);
    return (struct speed){
        .rate   = rate,
        .cpu_ms = (double)(bench_cpu_ns(worker) - cpu_ns) / 1e6 /
                  (double)(pull->steps - steps),
    };
}

static struct speed measure_speed(
    struct bench_farm *farm, bool beside_frozen, uint64_t *random)
{
    struct bench_part frozen = {0};
    struct bench_part pull;
    bench_farm_start(farm, 1, 0, BUDGET);
    if (beside_frozen) {
        start_and_freeze(&frozen, farm, random);
    }
    bench_pull_start(&pull, farm, "0");
    bench_pull_until(&pull, 20);
    struct speed speed = measure_rate(&farm->workers[0], &pull);
    bench_part_kill(&pull);
    bench_part_kill(&frozen);
    bench_farm_stop(farm);
    return speed;
}

struct side {
    double   cpu_ms[BENCH_MAX_PAIRS];
    uint64_t n;
};

struct fixture {
    struct bench_farm farm;
    struct side       alone, beside;
};

static double measure_side(
    struct fixture *self, struct side *side, bool beside_frozen)
{
    uint64_t     random = seed + side->n;
    struct speed speed  = measure_speed(&self->farm, beside_frozen, &random);
    side->cpu_ms[side->n++] = speed.cpu_ms;
    return speed.rate;
}

static double measure_alone(void *arg)
{
    struct fixture *self = arg;
    return measure_side(self, &self->alone, false);
}

static double measure_beside(void *arg)
{
    struct fixture *self = arg;
    return measure_side(self, &self->beside, true);
}

static void print_side(
    const char *name, struct bench_figure rate, struct side *side)
{
    bench_row(name, "%.1f batches/s, noise %.1f %%; %.1f ms of CPU each",
        rate.median, rate.noise, bench_median(side->cpu_ms, side->n));
}

/* Speed beside a frozen consumer / alone. */
static double compare_speed(struct fixture *self)
{
    struct bench_pairs result =
        bench_pairs(pairs, measure_beside, measure_alone, self);
    print_side("alone", result.b, &self->alone);
    print_side("beside a stopped one", result.a, &self->beside);
    bench_row("ratio", "%.3f, noise %.1f %%, %" PRIu64 " pairs",
        result.ratio.median, result.ratio.noise, pairs);
    return result.ratio.median;
}

/* ---- 2. memory held ------------------------------------------------------ */

struct held {
    double growth; /* bytes, while two consumers do not read */
    double peak;   /* bytes more than the worker without sessions */
};

/* The worker's highest memory in samples over `freeze_s`. */
static double watch_peak(const struct bench_farm *farm, struct bench_part *pull)
{
    double  peak     = 0;
    int64_t until_ns = fby_now_ns() + (int64_t)freeze_s * FBY_NS_PER_S;
    while (fby_now_ns() < until_ns) {
        bench_pull_until(pull, pull->steps + 10);
        double now = (double)bench_rss_bytes(&farm->workers[0]);
        peak       = now > peak ? now : peak;
    }
    return peak;
}

static struct held measure_held(struct bench_farm *farm)
{
    struct bench_part frozen;
    struct bench_part idle;
    struct bench_part pull;
    uint64_t          random = seed;
    bench_farm_start(farm, 1, 0, BUDGET);
    double empty = (double)bench_rss_bytes(&farm->workers[0]);
    start_and_freeze(&frozen, farm, &random);
    bench_pull_start(&idle, farm, HOUR);
    bench_pull_start(&pull, farm, "0");
    bench_pull_until(&pull, batches / 50);
    double before = (double)bench_rss_bytes(&farm->workers[0]);
    double peak   = watch_peak(farm, &pull);
    bench_part_kill(&pull);
    bench_part_kill(&idle);
    bench_part_kill(&frozen);
    bench_farm_stop(farm);
    bench_row("worker, 2 stand still", "%.1f MiB empty, %.1f then %.1f at most",
        empty / mib, before / mib, peak / mib);
    return (struct held){.growth = peak - before, .peak = peak - empty};
}

/* ---- 3. memory kept ------------------------------------------------------ */

struct kept { /* growth, bytes */
    double client;
    double worker;
};

static struct kept measure_kept(struct bench_farm *farm)
{
    struct bench_part pull;
    bench_farm_start(farm, 1, 0, BUDGET);
    bench_pull_start(&pull, farm, "0");
    bench_pull_until(&pull, batches / 10);
    double client = (double)bench_rss_bytes(&pull);
    double worker = (double)bench_rss_bytes(&farm->workers[0]);
    bench_pull_until(&pull, batches);
    double client_now = (double)bench_rss_bytes(&pull);
    double worker_now = (double)bench_rss_bytes(&farm->workers[0]);
    bench_part_kill(&pull);
    bench_farm_stop(farm);
    bench_row("client over batches", "%.1f then %.1f MiB", client / mib,
        client_now / mib);
    bench_row("worker over batches", "%.1f then %.1f MiB", worker / mib,
        worker_now / mib);
    return (struct kept){client_now - client, worker_now - worker};
}

/* ---- the run ------------------------------------------------------------- */

static struct kept run_kept(void)
{
    struct bench_farm farm;
    bench_farm_make(
        &farm, &(struct bench_pictures){
                   .number = pictures, .side = 96, .crop = 64, .batch = 8});
    struct kept kept = measure_kept(&farm);
    bench_farm_remove(&farm);
    return kept;
}

static void run(void)
{
    struct fixture fixture = {.alone = {.n = 0}};
    bench_farm_make(&fixture.farm,
        &(struct bench_pictures){
            .number = pictures, .side = 320, .crop = 224, .batch = 32});
    double      ratio = compare_speed(&fixture);
    struct held held  = measure_held(&fixture.farm);
    bench_farm_remove(&fixture.farm);
    struct kept kept = run_kept();
    bench_goal("frozen.other_speed", ratio, BENCH_AT_LEAST, 0.95);
    bench_goal("frozen.worker_peak_of_budget", held.peak / (BUDGET_MIB * mib),
        BENCH_AT_MOST, 1);
    bench_goal("frozen.worker_held_mib", held.growth / mib, BENCH_AT_MOST, 1);
    bench_goal("frozen.client_kept_mib", kept.client / mib, BENCH_AT_MOST, 1);
    bench_goal("frozen.worker_kept_mib", kept.worker / mib, BENCH_AT_MOST, 1);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS,
            "Pairs of runs with and without (7)", NULL},
        {"run-ms", &run_ms, 100, 600000, "Length of such a run (4000)", NULL},
        {"freeze-s", &freeze_s, 1, 3600,
            "Seconds for which consumers are stopped (60)", NULL},
        {"batches", &batches, 10, UINT32_MAX, "Until memory is read (10000)",
            NULL},
        {"pictures", &pictures, 64, 1000000, "In the data set (600)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the times of stopping (1)",
            NULL},
        {0},
    };
    bench_options(argc, argv, options,
        "Speed and memory of a worker, one of whose consumers is stopped or "
        "does not read.");
    bench_row(
        "frozen", "seed %" PRIu64 ", worker's budget %d MiB", seed, BUDGET_MIB);
    run();
    return 0;
}
