/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulate/sim.h"

enum { WARM_STEPS = 200 };
#define SERVICE_NS (50 * FBY_NS_PER_MS)

/* Start the client and all workers, which have one core each. */
static void start_all(struct sim *sim)
{
    for (int i = 0; i < sim->config.n_workers; i++) {
        sim->workers[i].key        = sim_random(sim);
        sim->workers[i].service_ns = SERVICE_NS;
        sim->workers[i].cores      = 1;
        sim_worker_start(sim, i);
        sim_push(sim, sim->now, SIM_JOIN, i, 0);
    }
    sim_client_start(sim);
    sim_push(sim, sim->now, SIM_TAKE, 0, 0);
}

/* Four workers; the consumer takes batches at half of their total rate. Only
 * hedges, suspicion and time limits help, as no worker counts as stalled. */
static void begin_bounds(struct sim *sim, uint64_t seed, bool trace)
{
    sim_begin(sim, seed, trace);
    sim->config = (struct sim_config){
        .n_workers       = 4,
        .max_batches     = 12,
        .chunk_bytes     = 50000,
        .send_window     = 1000000,
        .budget_batches  = 16,
        .steps_per_epoch = 70,
        .total           = 600,
        .delay_ns        = 100 * FBY_NS_PER_US,
        .interval_ns     = SERVICE_NS / 2,
        .decode_ns       = FBY_NS_PER_MS,
        .faults_end_ns   = 0,
        .stall_ns        = 3600 * FBY_NS_PER_S,
        .keys            = sim_wants_keys(sim),
    };
    start_all(sim);
}

static void run_until(struct sim *sim, uint64_t step)
{
    while (!sim->done && sim->failure == NULL && sim->cursor < step) {
        sim_next_event(sim);
    }
}

void sim_check_no_repeats(struct sim *sim)
{
    struct fby_window_counters c = fby_window_counters(sim->window);
    if (c.rerequests + c.late + c.lost + c.corrupt + c.suspects > 0) {
        sim_fail(sim, "a request is repeated without a fault");
    }
}

static void check_few_hedges(struct sim *sim)
{
    struct fby_window_counters c = fby_window_counters(sim->window);
    if (100 * c.hedges > c.requests) {
        sim_fail(
            sim, "more than 1 % of the requests are hedges, without a fault");
    }
}

static void run_random_time(struct sim *sim)
{
    int64_t until = sim->now + sim_between(sim, 0, 400) * FBY_NS_PER_MS;
    while (sim->now < until && sim->failure == NULL) {
        sim_next_event(sim);
    }
}

static void warm_up(struct sim *sim)
{
    run_until(sim, WARM_STEPS);
    run_random_time(sim);
    sim_check_no_repeats(sim);
    check_few_hedges(sim);
    sim->longest_wait_ns = 0;
}

/* Check that no wait exceeds the delay of a hedge plus two service times plus
 * 100 ms. */
static void check_waits(struct sim *sim, int64_t hedge_after)
{
    run_until(sim, sim->config.total);
    int64_t most = hedge_after + 2 * SERVICE_NS + 100 * FBY_NS_PER_MS;
    sim_trace(sim, "longest wait %.1f of %.1f ms",
        (double)sim->longest_wait_ns / 1e6, (double)most / 1e6);
    if (sim->longest_wait_ns > most) {
        sim_fail(sim, "the consumer waits too long for one worker");
    }
}

/* One of four workers is paused for 15 s at a random moment. */
bool sim_paused_worker(struct sim *sim, uint64_t seed, bool trace)
{
    begin_bounds(sim, seed, trace);
    warm_up(sim);
    int worker = (int)sim_between(sim, 0, 3);
    sim_trace(sim, "worker %d is paused", worker);
    sim->workers[worker].paused_ns = sim->now + 15 * FBY_NS_PER_S;
    check_waits(sim, fby_window_hedge_after(sim->window));
    sim_end(sim);
    return sim->failure == NULL;
}

/* One worker is 40 times slower for 3 s, and still answers PING. */
bool sim_slow_worker(struct sim *sim, uint64_t seed, bool trace)
{
    begin_bounds(sim, seed, trace);
    warm_up(sim);
    int worker = (int)sim_between(sim, 0, 3);
    sim_trace(sim, "worker %d is slow", worker);
    sim->workers[worker].slow_by = 40;
    sim->workers[worker].slow_ns = sim->now + 3 * FBY_NS_PER_S;
    check_waits(sim, fby_window_hedge_after(sim->window));
    sim_end(sim);
    return sim->failure == NULL;
}

/* The client is paused for 60 s; it must not blame a worker for that. */
bool sim_paused_client(struct sim *sim, uint64_t seed, bool trace)
{
    begin_bounds(sim, seed, trace);
    run_until(sim, WARM_STEPS);
    run_random_time(sim);
    sim->paused_ns = sim->now + 60 * FBY_NS_PER_S;
    run_until(sim, sim->config.total);

    struct fby_window_counters c = fby_window_counters(sim->window);
    if (c.unreachable + c.suspects + c.restarts > 0) {
        sim_fail(sim, "a client that slept finds a worker unreachable");
    }
    if (c.rerequests >= sim->config.max_batches) {
        sim_fail(sim, "a client that slept repeats a whole window of requests");
    }
    sim_end(sim);
    return sim->failure == NULL;
}

enum { MUTE_STEPS = 100 };

/* The time of a stream from `n_good` workers, beside `n_mute` that answer PING
 * and no request: half of them send HEADER, the others lose each REQUEST. */
static int64_t time_beside(
    struct sim *sim, uint64_t seed, bool trace, int n_good, int n_mute)
{
    sim_begin(sim, seed, trace);
    sim->config = (struct sim_config){
        .n_workers       = n_good + n_mute,
        .max_batches     = 12,
        .chunk_bytes     = 50000,
        .send_window     = 1000000,
        .budget_batches  = 16,
        .steps_per_epoch = 70,
        .total           = MUTE_STEPS,
        .delay_ns        = 100 * FBY_NS_PER_US,
        .interval_ns     = FBY_NS_PER_MS,
        .decode_ns       = FBY_NS_PER_MS,
    };
    start_all(sim);
    for (int i = 0; i < n_mute; i++) {
        bool sends_header               = sim_chance(sim, 50);
        sim->workers[n_good + i].mute   = sends_header;
        sim->workers[n_good + i].n_drop = sends_header ? 0 : UINT32_MAX;
    }
    int64_t begun_ns = sim->now;
    run_until(sim, MUTE_STEPS);
    sim_end(sim);
    return sim->now - begun_ns;
}

/* One to three workers that make no progress at most double the time. */
bool sim_mute_workers(struct sim *sim, uint64_t seed, bool trace)
{
    int     n_mute   = 1 + (int)(seed / 2 % 3); /* seeds are odd */
    int64_t alone_ns = time_beside(sim, seed, trace, SIM_WORKERS - n_mute, 0);
    int64_t time_ns =
        time_beside(sim, seed, trace, SIM_WORKERS - n_mute, n_mute);
    sim_trace(sim, "%d mute workers: %.0f ms instead of %.0f", n_mute,
        (double)time_ns / 1e6, (double)alone_ns / 1e6);
    if (time_ns > 2 * alone_ns) {
        sim_fail(
            sim, "workers that make no progress more than double the time");
    }
    return sim->failure == NULL;
}
