/* SPDX-License-Identifier: Apache-2.0 */
/* scaler.c - the rule for the number of workers, against two other rules.
 *
 * A cluster is simulated, in steps of 100 ms: the ranks of a job with a queue of
 * batches, and workers that start, stop and disappear. An engine reads the
 * wanted number every 15 s, and starts and stops workers to match it. Nothing is
 * measured on the machine, so the figures depend only on the seed.
 *
 * The other rules: that of tf.data service, the sum of the rates at which
 * trainers take batches, divided by the mean throughput of a worker, at most 4
 * times the workers there are; and hill climbing, one fifth more while the job
 * waits, one fewer after two minutes in which it did not. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "common/clock.h"
#include "server/scaler.h"

enum {
    MAX_WORKERS = 512,
    RING        = 300, /* ticks in the 30 s of a pace */
    RULES       = 3,
    TICKS_PER_S = 10,
    PERIOD_S    = 15, /* of the engine */
    LENGTH_S    = 5400,
    RISE_S      = 1200, /* the demand is 4 times as high from here */
    FALL_S      = 3000, /* to here */
    QUEUE_S     = 2     /* batches that wait, in seconds of the demand */
};

static const double tick_s     = 1.0 / TICKS_PER_S;
static const double rows_per_s = 4000; /* that the GPUs take at first */
static const double cpu_per_row =
    0.016; /* seconds; 64 cores of work at first */
static const double highest_use = 0.8;

static uint64_t seed = 1;

struct scenario {
    const char *name;
    int         startup_s; /* of a worker */
    double      noise;     /* of the demand and of the cost of a row */
    bool        pauses;    /* the job evaluates for 60 s in each 10 minutes */
    bool        preempts;  /* a tenth of the workers disappear each 5 minutes */
    bool        unequal;   /* 4, 8 and 12 cores in place of 8 */
};

static const struct scenario scenarios[] = {
    {"step", .startup_s = 0},
    {"step, start-up 180 s", .startup_s = 180},
    {"noise 20 %", .startup_s = 30, .noise = 0.2},
    {"pauses", .startup_s = 30, .noise = 0.05, .pauses = true},
    {"preemption", .startup_s = 30, .noise = 0.05, .preempts = true},
    {"unequal workers", .startup_s = 30, .noise = 0.05, .unequal = true},
};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

struct worker {
    double ready_s; /* when it has started */
    double cores;
};

struct tick { /* what happened in one */
    double rows, span_s, wait_s, cpu_s, transform_s, encode_s;
};

struct cluster {
    const struct scenario *scenario;
    uint64_t               random;
    double                 now_s;
    struct worker          workers[MAX_WORKERS];
    uint32_t               n_workers, n_created;
    double                 queue; /* rows that are ready */
    struct tick            ring[RING];
    uint64_t               n_ticks;
    double                 demand; /* rows per second now */
    double                 busy;   /* part of the cores that work */
};

struct result {
    double   wait_s, worker_hours;
    double   error;   /* largest, of the wanted number after the rise */
    uint32_t flaps;   /* times that removed workers were wanted again */
    double   fewer_s; /* when fewer were wanted last; 0: not since more were */
};

/* ---- the cluster ---------------------------------------------------------- */

static double uniform(struct cluster *c)
{
    return (double)(bench_random(&c->random) >> 11) / (double)(1ULL << 53);
}

/* A factor around 1. */
static double jitter(struct cluster *c)
{
    return 1 + c->scenario->noise * (2 * uniform(c) - 1);
}

static double cores_of_next(struct cluster *c)
{
    uint32_t number = c->n_created++;
    return c->scenario->unequal ? 4.0 * (1 + number % 3) : 8;
}

static void set_workers(struct cluster *c, uint32_t n)
{
    n = n < MAX_WORKERS ? n : MAX_WORKERS;
    while (c->n_workers < n) {
        c->workers[c->n_workers++] = (struct worker){
            c->now_s + c->scenario->startup_s, cores_of_next(c)};
    }
    c->n_workers = n;
}

static double true_demand(double now_s)
{
    return now_s >= RISE_S && now_s < FALL_S ? 4 * rows_per_s : rows_per_s;
}

static bool is_evaluating(const struct cluster *c)
{
    return c->scenario->pauses && fmod(c->now_s, 600) >= 540;
}

/* The workers that have started. */
static struct fby_scaler_workers ready_workers(const struct cluster *c)
{
    struct fby_scaler_workers ready = {.n = 0};
    for (uint32_t i = 0; i < c->n_workers; i++) {
        if (c->workers[i].ready_s <= c->now_s) {
            ready.n++;
            ready.cores += c->workers[i].cores;
        }
    }
    ready.transform_threads = ready.cores;
    ready.fetch_threads     = 2 * ready.cores;
    ready.encode_threads    = ready.cores / 2;
    return ready;
}

static void run_tick(struct cluster *c, struct result *result)
{
    struct tick *tick  = &c->ring[c->n_ticks++ % RING];
    double       cores = ready_workers(c).cores;
    double       cost  = cpu_per_row * jitter(c);
    c->demand          = true_demand(c->now_s) * jitter(c);
    double wants       = is_evaluating(c) ? 0 : c->demand * tick_s;
    double room        = QUEUE_S * c->demand + wants - c->queue;
    double made        = fmin(cores * tick_s / cost, fmax(room, 0));
    double taken       = fmin(wants, c->queue + made);
    c->queue += made - taken;
    c->busy = cores > 0 ? made * cost / (cores * tick_s) : 0;
    /* Threads of full workers also wait for a core. */
    bool is_full = c->busy > 0.95;
    *tick        = (struct tick){.rows = taken,
               .span_s                 = wants > 0 ? tick_s : 0,
               .wait_s                 = wants > 0 ? tick_s * (1 - taken / wants) : 0,
               .cpu_s                  = taken * cost,
               .transform_s            = taken * cost * (is_full ? 1 : 0.9),
               .encode_s               = taken * cost * (is_full ? 0.15 : 0.1)};
    result->wait_s += tick->wait_s;
    result->worker_hours += c->n_workers * tick_s / 3600;
    c->now_s += tick_s;
}

static void preempt(struct cluster *c)
{
    uint32_t gone = (c->n_workers + 9) / 10;
    if (c->n_workers > gone) {
        memmove(c->workers, c->workers + gone,
            (c->n_workers - gone) * sizeof(*c->workers));
        c->n_workers -= gone;
    }
}

static struct fby_pace pace_of(const struct cluster *c)
{
    struct tick sum = {0};
    for (uint64_t i = 0; i < RING && i < c->n_ticks; i++) {
        sum.rows += c->ring[i].rows;
        sum.span_s += c->ring[i].span_s;
        sum.wait_s += c->ring[i].wait_s;
        sum.cpu_s += c->ring[i].cpu_s;
        sum.transform_s += c->ring[i].transform_s;
        sum.encode_s += c->ring[i].encode_s;
    }
    return (struct fby_pace){.span_ms = (uint32_t)(1000 * sum.span_s),
        .rows                         = (uint64_t)sum.rows,
        .wait_ms                      = (uint32_t)(1000 * sum.wait_s),
        .transform_ms                 = (uint64_t)(1000 * sum.transform_s),
        .encode_ms                    = (uint64_t)(1000 * sum.encode_s),
        .cpu_ms                       = (uint64_t)(1000 * sum.cpu_s)};
}

/* ---- the rules ------------------------------------------------------------ */

struct rule_state {
    struct fby_scaler scaler;
    uint32_t          wanted;
    double            calm_since_s; /* of hill climbing */
};

typedef uint32_t rule(struct rule_state *state, const struct cluster *c);

static uint32_t scale_by_stages(
    struct rule_state *state, const struct cluster *c)
{
    struct fby_scaler_workers workers = ready_workers(c);
    struct fby_scaler_job     job     = {.name = "job"};
    struct fby_pace           pace    = pace_of(c);
    struct fby_buffer         why     = {0};
    fby_scaler_add_rank(&job, &pace);
    uint32_t wanted = fby_scaler_decide(&state->scaler, &workers, &job, 1,
        (int64_t)(c->now_s * FBY_NS_PER_S), &why);
    fby_buffer_fini(&why);
    return wanted;
}

static uint32_t scale_by_rates(
    struct rule_state *state, const struct cluster *c)
{
    struct fby_scaler_workers workers  = ready_workers(c);
    struct fby_pace           pace     = pace_of(c);
    double                    taking_s = (pace.span_ms - pace.wait_ms) / 1e3;
    if (workers.n == 0 || taking_s <= 0 || pace.rows == 0) {
        return state->wanted > 0 ? state->wanted : 1;
    }
    double rate    = (double)pace.rows / taking_s;
    double per_row = (double)pace.cpu_ms / 1e3 / (double)pace.rows;
    double mean    = workers.cores / workers.n / per_row;
    double n       = fmin(ceil(rate / mean), 4.0 * workers.n);
    return n < 1 ? 1 : (uint32_t)n;
}

static uint32_t climb(struct rule_state *state, const struct cluster *c)
{
    struct fby_pace pace   = pace_of(c);
    uint32_t        wanted = state->wanted > 0 ? state->wanted : 1;
    bool            ready  = ready_workers(c).n >= wanted;
    bool            waits  = pace.wait_ms > 0.02 * pace.span_ms;
    if (waits || pace.span_ms == 0) {
        state->calm_since_s = c->now_s;
    }
    if (waits && ready) {
        return wanted + (wanted + 4) / 5;
    }
    if (c->now_s - state->calm_since_s >= 120 && wanted > 1) {
        state->calm_since_s = c->now_s;
        return wanted - 1;
    }
    return wanted;
}

static rule *const rules[RULES] = {scale_by_stages, scale_by_rates, climb};
static const char *const rule_names[RULES] = {
    "forebay", "sum of rates", "hill climbing"};

/* ---- one run -------------------------------------------------------------- */

/* The smallest number of mean workers that are busy for at most 0.8. */
static double optimum(const struct cluster *c)
{
    return ceil(true_demand(c->now_s) * cpu_per_row / (8 * highest_use));
}

/* The time at which the wanted number must be right after the rise, until the
 * fall. */
static bool is_judged(const struct cluster *c)
{
    double settled_s = RISE_S + c->scenario->startup_s + 2 * PERIOD_S;
    return c->now_s >= settled_s && c->now_s < FALL_S;
}

/* Note a change of the wanted number. More after fewer is flapping, unless the
 * demand rose since. */
static void note_change(
    struct result *result, uint32_t before, uint32_t after, double now_s)
{
    if (after < before) {
        result->fewer_s = now_s;
    } else if (after > before && result->fewer_s > 0) {
        bool rose = result->fewer_s < RISE_S && now_s >= RISE_S;
        result->flaps += rose ? 0 : 1;
        result->fewer_s = 0;
    }
}

static struct result run(const struct scenario *scenario, rule *wanted_by)
{
    static struct cluster c;
    struct rule_state     state  = {.wanted = 0};
    struct result         result = {.error = 0};
    memset(&c, 0, sizeof(c));
    c.scenario = scenario;
    c.random   = seed;
    set_workers(&c, 1);
    for (int tick = 0; tick < LENGTH_S * TICKS_PER_S; tick++) {
        if (scenario->preempts && tick % (300 * TICKS_PER_S) == 0) {
            preempt(&c);
        }
        if (tick % (PERIOD_S * TICKS_PER_S) == 0) {
            uint32_t wanted = wanted_by(&state, &c);
            note_change(&result, state.wanted, wanted, c.now_s);
            state.wanted = wanted;
            set_workers(&c, wanted);
        }
        if (is_judged(&c)) {
            double best  = optimum(&c);
            result.error = fmax(result.error, fabs(state.wanted - best) / best);
        }
        run_tick(&c, &result);
    }
    return result;
}

/* ---- the table ------------------------------------------------------------ */

static void print_run(
    const struct scenario *scenario, int i, const struct result *result)
{
    char name[96];
    snprintf(name, sizeof(name), "%s, %s", scenario->name, rule_names[i]);
    bench_print(name,
        "off by %.0f %%, %" PRIu32 " flaps, waits %.0f s, %.1f worker-hours, "
        "%.2f s of wait per worker-hour",
        100 * result->error, result->flaps, result->wait_s,
        result->worker_hours, result->wait_s / result->worker_hours);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"seed", &seed, 0, UINT64_MAX, "of the noise"}, {NULL}};
    double error = 0;
    double flaps = 0;
    double ratio = 0; /* our wait a worker-hour / the least of the others' */
    bench_parse_options(argc, argv, options,
        "The rule for the number of workers against two others, simulated.",
        NULL);
    bench_begin("scaler");
    for (int s = 0; s < SCENARIOS; s++) {
        struct result results[RULES];
        for (int i = 0; i < RULES; i++) {
            results[i] = run(&scenarios[s], rules[i]);
            print_run(&scenarios[s], i, &results[i]);
        }
        double others = fmin(results[1].wait_s / results[1].worker_hours,
            results[2].wait_s / results[2].worker_hours);
        error         = fmax(error, results[0].error);
        flaps         = fmax(flaps, results[0].flaps);
        ratio =
            fmax(ratio, results[0].wait_s / results[0].worker_hours / others);
    }
    bench_judge("scaler.error", error, BENCH_AT_MOST, 0.1);
    bench_judge("scaler.flaps", flaps, BENCH_AT_MOST, 0);
    bench_judge("scaler.wait", ratio, BENCH_AT_MOST, 1);
    return 0;
}
