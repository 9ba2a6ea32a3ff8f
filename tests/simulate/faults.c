/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulate/sim.h"

/* The kinds of faults; RESET is twice as likely as any other. */
enum fault {
    FAULT_RESET,
    FAULT_RESET_AGAIN,
    FAULT_PAUSE_WORKER,
    FAULT_PAUSE_CLIENT,
    FAULT_KILL,
    FAULT_LEAVE,
    FAULT_BUSY,
    FAULT_SLOW,
    FAULT_CORRUPT,
    FAULT_BAD_END,
    FAULT_DUPLICATE,
    FAULT_SHED,
    FAULT_OTHER_CLIENT,
    FAULT_FORGET_CONTENT,
    FAULT_UNLIST,
    FAULT_DROP,
    FAULT_SLOW_CONSUMER,
    FAULT_SEEK, /* the consumer continues at another step */
    N_FAULTS
};

static int64_t ms(struct sim *sim, int64_t low, int64_t high)
{
    return sim->now + sim_between(sim, low, high) * FBY_NS_PER_MS;
}

static void restart_later(struct sim *sim, int worker)
{
    int64_t at = ms(sim, 1, 800);
    if (at > sim->config.faults_end_ns) {
        at = sim->config.faults_end_ns;
    }
    sim_push(sim, at, SIM_RESTART, worker, 0);
}

static void reset_all(struct sim *sim, int worker)
{
    for (int i = 0; i < SIM_PEERS; i++) {
        if (sim->peers[i].open && sim->peers[i].worker == worker) {
            sim_reset(sim, i);
        }
    }
}

static void leave(struct sim *sim, int worker)
{
    if (!sim->workers[worker].leaving) {
        sim_worker_leave(sim, worker);
        restart_later(sim, worker);
    }
}

static void shed(struct sim_worker *w)
{
    if (w->session != NULL) {
        (void)fby_session_shed_batch(w->session);
    }
}

static void unlist(struct sim *sim, int worker)
{
    for (int i = 0; i < SIM_PEERS; i++) {
        if (sim->peers[i].worker == worker) {
            fby_window_peer_unlist(sim->window, sim->now, i);
        }
    }
    sim_client_turn(sim);
    sim_push(sim, ms(sim, 1, 500), SIM_JOIN, worker, 0);
}

static void slow_consumer(struct sim *sim)
{
    sim->config.interval_ns = sim_between(sim, 0, 100) * FBY_NS_PER_MS;
    sim->config.hold_ns     = sim_between(sim, 0, 40) * FBY_NS_PER_MS;
}

/* Cause a fault that is only a member of the worker; false for other kinds. */
static bool set_worker_fault(struct sim *sim, enum fault kind, int worker)
{
    struct sim_worker *w = &sim->workers[worker];
    switch ((int)kind) {
    case FAULT_PAUSE_WORKER:
        w->paused_ns = ms(sim, 10, sim_chance(sim, 20) ? 6000 : 400);
        return true;
    case FAULT_BUSY:
        w->busy_ns = ms(sim, 1, 500);
        return true;
    case FAULT_SLOW:
        w->slow_ns = ms(sim, 10, 1000);
        return true;
    case FAULT_CORRUPT:
        w->n_corrupt = 1;
        return true;
    case FAULT_BAD_END:
        w->n_bad_end = 1;
        return true;
    case FAULT_DUPLICATE:
        w->n_duplicate = 3;
        return true;
    case FAULT_FORGET_CONTENT:
        w->content = false;
        return true;
    case FAULT_DROP:
        w->n_drop = 1;
        return true;
    default:
        return false;
    }
}

static void do_worker_fault(struct sim *sim, enum fault kind, int worker)
{
    switch ((int)kind) {
    case FAULT_KILL:
        sim_worker_stop(sim, worker);
        restart_later(sim, worker);
        break;
    case FAULT_LEAVE:
        leave(sim, worker);
        break;
    case FAULT_SHED:
        shed(&sim->workers[worker]);
        break;
    case FAULT_OTHER_CLIENT:
        sim_worker_rival(sim, worker);
        break;
    case FAULT_UNLIST:
        unlist(sim, worker);
        break;
    case FAULT_RESET:
    case FAULT_RESET_AGAIN:
        reset_all(sim, worker);
        break;
    default:
        break;
    }
}

void sim_fault(struct sim *sim, int kind)
{
    static const char *const names[] = {"reset", "reset", "pause worker",
        "pause client", "kill", "leave", "busy", "slow", "corrupt", "bad end",
        "duplicate", "shed", "other client", "forget content", "unlist",
        "drop message", "slow consumer", "seek"};
    int worker = (int)sim_between(sim, 0, sim->config.n_workers - 1);

    sim_trace(sim, "fault: %s, worker %d", names[kind], worker);
    if (kind == FAULT_PAUSE_CLIENT) {
        sim->paused_ns = ms(sim, 10, sim_chance(sim, 10) ? 25000 : 600);
    } else if (kind == FAULT_SLOW_CONSUMER) {
        slow_consumer(sim);
    } else if (kind == FAULT_SEEK) {
        sim_client_seek(
            sim, (uint64_t)sim_between(sim, 0, (int64_t)sim->config.total));
    } else if (sim->workers[worker].alive) {
        if (!set_worker_fault(sim, (enum fault)kind, worker)) {
            do_worker_fault(sim, (enum fault)kind, worker);
        }
        sim_worker_pump(sim, worker);
    }
}

/* Most schedules have at most three kinds of fault, so that the same kind often
 * happens twice in a row. */
void sim_faults_plan(struct sim *sim)
{
    int kinds[3];
    for (int i = 0; i < 3; i++) {
        kinds[i] = (int)sim_between(sim, 0, N_FAULTS - 1);
    }
    bool any = sim_chance(sim, 30);
    for (uint32_t i = 0; i < sim->config.n_faults; i++) {
        int kind = any ? (int)sim_between(sim, 0, N_FAULTS - 1)
                       : kinds[sim_between(sim, 0, 2)];
        sim_push(sim, sim_between(sim, 0, sim->config.faults_end_ns), SIM_FAULT,
            kind, 0);
    }
}
