#include "tests/simulate/sim.h"

enum { WARM_STEPS = 200 };
#define SERVICE_NS (50 * FBY_NS_PER_MS)

/* Four workers of one core; the consumer takes half of what they could make. */
static void begin(struct sim *sim, uint64_t seed, bool trace)
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
    };
    for (int i = 0; i < 4; i++) {
        sim->workers[i].key        = sim_random(sim);
        sim->workers[i].service_ns = SERVICE_NS;
        sim->workers[i].cores      = 1;
        sim_worker_start(sim, i);
        sim_push(sim, sim->now, SIM_JOIN, i, 0);
    }
    sim_client_start(sim);
    sim_push(sim, sim->now, SIM_WANT, 0, 0);
}

static void run_until(struct sim *sim, uint64_t step)
{
    while (!sim->done && sim->failure == NULL && sim->cursor < step) {
        sim_step(sim);
    }
}

void sim_check_calm(struct sim *sim)
{
    struct fby_window_counters c = fby_window_counters(sim->window);
    if (c.rerequests + c.late + c.lost + c.corrupt + c.suspects > 0) {
        sim_fail(sim, "without a fault something is asked for again");
    }
}

static void check_few_hedges(struct sim *sim)
{
    struct fby_window_counters c = fby_window_counters(sim->window);
    if (100 * c.hedges > c.requests) {
        sim_fail(sim, "without a fault more than 1 % are hedges");
    }
}

static void wait_a_while(struct sim *sim)
{
    int64_t until = sim->now + sim_between(sim, 0, 400) * FBY_NS_PER_MS;
    while (sim->now < until && sim->failure == NULL) {
        sim_step(sim);
    }
}

static void warm_up(struct sim *sim)
{
    run_until(sim, WARM_STEPS);
    wait_a_while(sim);
    sim_check_calm(sim);
    check_few_hedges(sim);
    sim->worst_ns = 0;
}

/* No wait is longer than the hedge's deadline, two services and 100 ms. */
static void check_waits(struct sim *sim, int64_t hedge_after)
{
    run_until(sim, sim->config.total);
    int64_t most = hedge_after + 2 * SERVICE_NS + 100 * FBY_NS_PER_MS;
    sim_trace(sim, "longest wait %.1f of %.1f ms", (double)sim->worst_ns / 1e6,
        (double)most / 1e6);
    if (sim->worst_ns > most) {
        sim_fail(sim, "the consumer waits too long for one worker");
    }
}

/* One of four workers is paused for 15 s at a random moment. */
bool sim_paused_worker(struct sim *sim, uint64_t seed, bool trace)
{
    begin(sim, seed, trace);
    warm_up(sim);
    int worker = (int)sim_between(sim, 0, 3);
    sim_trace(sim, "worker %d is paused", worker);
    sim->workers[worker].paused_ns = sim->now + 15 * FBY_NS_PER_S;
    check_waits(sim, fby_window_hedge_after(sim->window));
    sim_end(sim);
    return sim->failure == NULL;
}

/* One is forty times slower for 3 s, and still answers PING. */
bool sim_slow_worker(struct sim *sim, uint64_t seed, bool trace)
{
    begin(sim, seed, trace);
    warm_up(sim);
    int worker = (int)sim_between(sim, 0, 3);
    sim_trace(sim, "worker %d is slow", worker);
    sim->workers[worker].slow_by = 40;
    sim->workers[worker].slow_ns = sim->now + 3 * FBY_NS_PER_S;
    check_waits(sim, fby_window_hedge_after(sim->window));
    sim_end(sim);
    return sim->failure == NULL;
}

/* The client is paused for 60 s, which counts against no worker. */
bool sim_paused_client(struct sim *sim, uint64_t seed, bool trace)
{
    begin(sim, seed, trace);
    run_until(sim, WARM_STEPS);
    wait_a_while(sim);
    sim->paused_ns = sim->now + 60 * FBY_NS_PER_S;
    run_until(sim, sim->config.total);

    struct fby_window_counters c = fby_window_counters(sim->window);
    if (c.unreachable + c.suspects + c.restarts > 0) {
        sim_fail(sim, "a client that slept declares a worker dead");
    }
    if (c.rerequests >= sim->config.max_batches) {
        sim_fail(sim, "a client that slept asks for a whole window again");
    }
    sim_end(sim);
    return sim->failure == NULL;
}
