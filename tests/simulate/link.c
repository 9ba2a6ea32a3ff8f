/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulate/sim.h"

/* The heap has at most one arrival per direction, that of the oldest message.
 * So a paused receiver postpones all of them and keeps their order. */

static void clear_link(struct sim_link *link, int64_t now)
{
    link->n       = 0;
    link->first   = 0;
    link->last_ns = now;
}

static void new_connection(struct sim *sim, int peer)
{
    struct sim_peer *p = &sim->peers[peer];
    p->connection      = ++sim->connections;
    clear_link(&p->up, sim->now);
    clear_link(&p->down, sim->now);
}

void sim_connect(struct sim *sim, int peer, int worker)
{
    sim->peers[peer].worker = worker;
    sim->peers[peer].open   = true;
    new_connection(sim, peer);
}

void sim_close(struct sim *sim, int peer)
{
    sim->peers[peer].open = false;
    new_connection(sim, peer);
}

void sim_reset(struct sim *sim, int peer)
{
    sim_trace(sim, "reset of peer %d", peer);
    new_connection(sim, peer);
}

static int64_t arrival(
    struct sim *sim, struct sim_link *link, const struct sim_message *message)
{
    int64_t wire = (int64_t)message->bytes; /* 1 GB/s */
    int64_t due =
        sim->now + sim_between(sim, 1, 2 * sim->config.delay_ns) + wire;
    link->last_ns = due > link->last_ns ? due : link->last_ns;
    return link->last_ns;
}

static void enqueue(struct sim *sim, int peer, struct sim_link *link,
    enum sim_event_kind kind, const struct sim_message *message)
{
    if (link->n == SIM_QUEUE) {
        sim_fail(sim, "a link holds too many messages");
        return;
    }
    struct sim_message *last =
        &link->queue[(link->first + link->n++) % SIM_QUEUE];
    *last        = *message;
    last->due_ns = arrival(sim, link, message);
    if (link->n == 1) {
        sim_push(sim, last->due_ns, kind, peer, sim->peers[peer].connection);
    }
}

bool sim_send_up(struct sim *sim, int peer, const struct sim_message *message)
{
    struct sim_peer *p = &sim->peers[peer];
    if (!p->open || p->worker < 0 || !sim->workers[p->worker].alive) {
        return false;
    }
    enqueue(sim, peer, &p->up, SIM_AT_WORKER, message);
    return true;
}

bool sim_send_down(struct sim *sim, int peer, uint64_t connection,
    const struct sim_message *message)
{
    struct sim_peer *p = &sim->peers[peer];
    if (!p->open || p->connection != connection) {
        return false;
    }
    enqueue(sim, peer, &p->down, SIM_AT_CLIENT, message);
    return true;
}

static int64_t paused_until(
    const struct sim *sim, enum sim_event_kind kind, int peer)
{
    return kind == SIM_AT_CLIENT
               ? sim->paused_ns
               : sim->workers[sim->peers[peer].worker].paused_ns;
}

const struct sim_message *sim_arrived(
    struct sim *sim, const struct sim_event *event)
{
    struct sim_peer *p = &sim->peers[event->a];
    if (p->connection != event->b) {
        return NULL;
    }
    int64_t until = paused_until(sim, event->kind, event->a);
    if (until > sim->now) {
        sim_push(sim, until, event->kind, event->a, event->b);
        return NULL;
    }
    struct sim_link    *link = event->kind == SIM_AT_CLIENT ? &p->down : &p->up;
    struct sim_message *message = &link->queue[link->first];
    link->first                 = (link->first + 1) % SIM_QUEUE;
    link->n--;
    if (link->n > 0) {
        sim_push(sim, link->queue[link->first].due_ns, event->kind, event->a,
            event->b);
    }
    return message;
}
