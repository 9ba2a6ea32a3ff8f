/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulate/sim.h"

enum { MOST_EVENTS = 200000 };
#define RECOVERY_NS \
    (60 * FBY_NS_PER_S) /* limit for the rest, after the faults */

/* ---- Random numbers ------------------------------------------------------ */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t sim_random(struct sim *sim)
{
    sim->random += UINT64_C(0x9e3779b97f4a7c15);
    return mix(sim->random);
}

int64_t sim_between(struct sim *sim, int64_t low, int64_t high)
{
    uint64_t width = (uint64_t)(high - low) + 1;
    return low + (int64_t)(sim_random(sim) % width);
}

bool sim_chance(struct sim *sim, int percent)
{
    return sim_between(sim, 0, 99) < percent;
}

uint32_t sim_chunks_of(const struct sim *sim, uint64_t step)
{
    return 1 + (uint32_t)(mix(sim->seed ^ step) % 4);
}

uint64_t sim_value_of(uint64_t step, uint32_t chunk)
{
    return mix(step * SIM_CHUNKS + chunk + 1) | 2;
}

/* ---- Messages ------------------------------------------------------------ */

__attribute__((format(printf, 2, 0))) static void print_line(
    int64_t now, const char *format, va_list args)
{
    printf("%12.3f ms  ", (double)now / 1e6);
    vprintf(format, args);
    printf("\n");
}

void sim_trace(struct sim *sim, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (sim->trace) {
        print_line(sim->now, format, args);
    }
    va_end(args);
}

void sim_fail(struct sim *sim, const char *what)
{
    sim_trace(sim, "FAILED: %s", what);
    if (sim->failure == NULL) {
        sim->failure = what;
    }
}

static void trace_message(
    struct sim *sim, const char *way, const struct sim_message *m, int peer)
{
    static const char *const names[] = {"HELLO", "OPEN", "REQUEST", "CANCEL",
        "PING", "CREDIT", "BYE", "WELCOME", "HELLO_FIRST", "FULL", "OPENED",
        "PONG", "SEND_CONTENT", "BUSY", "LOST", "CANNOT", "HEADER", "CHUNK",
        "END", "LEAVE"};
    sim_trace(sim, "%s peer %d: %s id %llu chunk %u", way, peer, names[m->kind],
        (unsigned long long)m->id.value, m->chunk);
}

/* ---- One event ----------------------------------------------------------- */

static void deliver_message(struct sim *sim, const struct sim_event *event)
{
    const struct sim_message *message = sim_arrived(sim, event);
    if (message == NULL) {
        return;
    }
    struct sim_message copy = *message; /* its memory may be reused */
    if (event->kind == SIM_AT_CLIENT) {
        trace_message(sim, "from", &copy, event->a);
        sim_client_message(sim, event->a, &copy);
    } else {
        trace_message(sim, "to", &copy, event->a);
        sim_worker_message(sim, event->a, &copy);
    }
}

static void restart(struct sim *sim, int worker)
{
    sim_trace(sim, "worker %d starts", worker);
    if (sim->workers[worker].alive) {
        sim_worker_stop(sim, worker);
    }
    sim_worker_start(sim, worker);
    if (sim_chance(sim, 50)) {
        sim_push(sim, sim->now + sim_between(sim, 0, 300) * FBY_NS_PER_MS,
            SIM_JOIN, worker, 0);
    }
    /* The server lists the worker after one second at the latest. */
    sim_push(sim, sim->now + FBY_NS_PER_S, SIM_JOIN, worker, 0);
}

/* Postpone an event of the client to the end of its pause. False: the client is
 * not paused, or the event is not for it. */
static bool postpone(struct sim *sim, const struct sim_event *event)
{
    bool of_client = event->kind == SIM_WAKE || event->kind == SIM_DECODED ||
                     event->kind == SIM_TAKE || event->kind == SIM_RELEASE ||
                     event->kind == SIM_JOIN;
    if (!of_client || sim->paused_ns <= sim->now) {
        return false;
    }
    sim_push(sim, sim->paused_ns, event->kind, event->a, event->b);
    return true;
}

static void handle_event(struct sim *sim, const struct sim_event *event)
{
    switch (event->kind) {
    case SIM_AT_WORKER:
    case SIM_AT_CLIENT:
        deliver_message(sim, event);
        break;
    case SIM_WAKE:
        sim->wake_ns = INT64_MAX;
        sim_client_turn(sim);
        break;
    case SIM_DECODED:
        sim_client_decoded(sim, event->a);
        break;
    case SIM_MADE:
        sim_worker_made(sim, event);
        break;
    case SIM_TAKE:
        sim_client_take(sim);
        break;
    case SIM_RELEASE:
        sim_client_release(sim, event->a);
        break;
    case SIM_FAULT:
        if (sim->paused_ns <= sim->now) {
            sim_fault(sim, event->a);
        }
        break;
    case SIM_RESTART:
        restart(sim, event->a);
        break;
    case SIM_RIVAL_LEAVES:
        sim_worker_rival_leaves(sim, event);
        break;
    case SIM_JOIN:
        sim_client_join(sim, event->a);
        sim_client_turn(sim);
        break;
    }
}

void sim_next_event(struct sim *sim)
{
    if (sim->heap.n == 0) {
        sim_fail(sim, "no event is left");
        return;
    }
    struct sim_event event = sim_pop(sim);
    sim->now               = event.at_ns;
    if (++sim->n_events > MOST_EVENTS) {
        sim_fail(sim, "the events do not end");
    } else if (!postpone(sim, &event)) {
        handle_event(sim, &event);
    }
}

/* ---- One schedule -------------------------------------------------------- */

void sim_begin(struct sim *sim, uint64_t seed, bool trace)
{
    struct sim_heap heap = sim->heap;
    heap.n               = 0;
    heap.order           = 0;
    memset(sim->workers, 0, sizeof(sim->workers));
    memset(sim->decodes, 0, sizeof(sim->decodes));
    memset(sim->slots, 0, sizeof(sim->slots));
    memset(sim->asked, 0, sizeof(sim->asked));
    for (int i = 0; i < SIM_PEERS; i++) {
        struct sim_peer *p = &sim->peers[i];
        p->worker          = -1;
        p->open            = false;
        p->connection      = 0;
        p->ticket_of       = 0;
        sim_keys_forget(sim, i);
        p->up.n   = 0;
        p->down.n = 0;
    }
    sim->heap             = heap;
    sim->seed             = seed;
    sim->random           = mix(seed);
    sim->trace            = trace;
    sim->failure          = NULL;
    sim->now              = FBY_NS_PER_S;
    sim->n_events         = 0;
    sim->n_seals          = 0;
    sim->connections      = 0;
    sim->paused_ns        = 0;
    sim->consumer_waiting = false;
    sim->waiting_since_ns = 0;
    sim->longest_wait_ns  = 0;
    sim->newest           = 0;
    sim->n_seeks          = 0;
    sim->done             = false;
    sim->failed           = false;
}

static void random_config(struct sim *sim)
{
    struct sim_config *c = &sim->config;
    c->n_workers         = (int)sim_between(sim, 1, SIM_WORKERS);
    c->max_batches       = (uint32_t)sim_between(sim, 1, 8);
    c->chunk_bytes       = (uint64_t)sim_between(sim, 100, 100000);
    c->send_window     = c->chunk_bytes * (uint64_t)sim_between(sim, 1, 12) / 2;
    c->budget_batches  = (uint32_t)sim_between(sim, 1, 8);
    c->steps_per_epoch = (uint64_t)sim_between(sim, 1, 12);
    c->first           = (uint64_t)sim_between(sim, 0, 20);
    c->total           = c->first + (uint64_t)sim_between(sim, 4, 48);
    c->delay_ns        = sim_between(sim, 10, 5000) * FBY_NS_PER_US;
    c->interval_ns     = sim_between(sim, 0, 30) * FBY_NS_PER_MS;
    c->decode_ns       = sim_between(sim, 0, 4) * FBY_NS_PER_MS;
    c->hold_ns         = sim_between(sim, 0, 10) * FBY_NS_PER_MS;
    c->n_faults        = (uint32_t)sim_between(sim, 0, 20);
    c->faults_end_ns   = sim->now + sim_between(sim, 1, 2500) * FBY_NS_PER_MS;
    c->cannot          = c->n_workers > 1 && sim_chance(sim, 5);
    c->keys            = (mix(sim->seed) & 1) != 0;
    c->audit = sim_chance(sim, 50) ? (uint64_t)sim_between(sim, 1, 4) : 0;
}

static void start_workers(struct sim *sim)
{
    for (int i = 0; i < sim->config.n_workers; i++) {
        struct sim_worker *w = &sim->workers[i];
        w->key               = sim_random(sim);
        w->service_ns        = sim_between(sim, 1, 60) * FBY_NS_PER_MS;
        w->cores             = (uint32_t)sim_between(sim, 1, 2);
        w->cannot = sim->config.cannot && i == 0 ? sim_random(sim) : 0;
        sim_worker_start(sim, i);
        bool late = i > 0 && sim_chance(sim, 20);
        sim_push(
            sim, late ? sim->config.faults_end_ns : sim->now, SIM_JOIN, i, 0);
    }
}

void sim_end(struct sim *sim)
{
    for (int i = 0; i < SIM_WORKERS; i++) {
        if (sim->workers[i].alive) {
            sim_worker_stop(sim, i);
        }
        if (sim->failure == NULL && sim->workers[i].budget.charged != 0) {
            sim_fail(sim, "bytes stay charged without a session");
        }
    }
    fby_window_destroy(&sim->window);
}

bool sim_run(struct sim *sim, uint64_t seed, bool trace)
{
    sim_begin(sim, seed, trace);
    random_config(sim);
    start_workers(sim);
    sim_client_start(sim);
    sim_faults_plan(sim);
    sim_push(sim, sim->now, SIM_TAKE, 0, 0);

    int64_t late = sim->config.faults_end_ns + RECOVERY_NS;
    while (!sim->done && sim->failure == NULL) {
        sim_next_event(sim);
        if (sim->now > late && sim->now > sim->paused_ns + RECOVERY_NS) {
            sim_fail(sim, "no progress, though there are no more faults");
        }
    }
    if (sim->config.n_faults == 0 && !sim->config.cannot) {
        sim_check_no_repeats(sim);
    }
    sim_end(sim);
    return sim->failure == NULL;
}
