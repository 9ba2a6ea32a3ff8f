/* SPDX-License-Identifier: Apache-2.0 */
/* Each message of a schedule with keys carries a sealed frame, so that a route
 * that is not the worker's and the client's alike is noticed as it is in the
 * real ones. A nonce (the count of a frame) must never be used twice with a
 * key. */
#include "tests/simulate/sim.h"

#include <sodium.h>
#include <string.h>

#include "common/hash.h"

/* ---- The check ----------------------------------------------------------- */

/* Note that this key and count seal a frame. */
static void note_seal(struct sim *sim, const struct fby_seal *place)
{
    uint8_t used[FBY_KEY_BYTES + sizeof(place->count)];
    memcpy(used, place->key.bytes, FBY_KEY_BYTES);
    memcpy(used + FBY_KEY_BYTES, &place->count, sizeof(place->count));
    uint64_t hash = fby_xxh3_64(used, sizeof(used));
    size_t   i    = hash % SIM_SEALS;
    while (sim->seals[i].seed == sim->seed && sim->seals[i].hash != hash) {
        i = (i + 1) % SIM_SEALS;
    }
    if (sim->seals[i].seed == sim->seed) {
        sim_fail(sim, "a nonce is used twice with one key");
    }
    if (++sim->n_seals > SIM_SEALS / 2) {
        sim_fail(sim, "the frames do not end");
    }
    sim->seals[i] = (struct sim_seal){sim->seed, hash};
}

static struct fby_aead *aead_of(struct sim *sim)
{
    if (sim->aead == NULL && fby_aead_create(&sim->aead) != FBY_OK) {
        sim_fail(sim, "libcrypto has no ciphers");
    }
    return sim->aead;
}

static void seal(
    struct sim *sim, struct fby_lane *lane, struct sim_message *message)
{
    struct fby_seal place;
    message->is_sealed = true;
    if (fby_lane_next(lane, SIM_SEALED_TEXT, &place) != FBY_OK) {
        sim_fail(sim, "a route has no key left");
        return;
    }
    note_seal(sim, &place);
    if (fby_seal_frame(aead_of(sim), &place, (struct fby_span){0},
            (struct fby_span){&message->id, SIM_SEALED_TEXT},
            message->sealed) != FBY_OK) {
        sim_fail(sim, "a frame cannot be sealed");
    }
}

/* False: it is not the next genuine frame of the lane. */
static bool open_sealed(
    struct sim *sim, struct fby_lane *lane, const struct sim_message *message)
{
    struct fby_seal place;
    uint8_t         frame[sizeof(message->sealed)];
    memcpy(frame, message->sealed, sizeof(frame));
    return message->is_sealed &&
           fby_lane_accept(lane, frame, sizeof(frame), &place) == FBY_OK &&
           fby_open_frame(aead_of(sim), &place, frame, sizeof(frame)) == FBY_OK;
}

/* All that the keys of a route depend on, but the nonces. */
static struct fby_route_secrets secrets_of(
    const struct fby_key *session_key, uint64_t instance)
{
    return (struct fby_route_secrets){.session_key = *session_key,
        .cipher                                    = FBY_CIPHER_AES,
        .mode                                      = FBY_SECURE_FULL,
        .session                                   = {1},
        .worker                                    = {instance}};
}

/* ---- The client ---------------------------------------------------------- */

void sim_keys_list(struct sim *sim, int peer)
{
    struct sim_peer *p        = &sim->peers[peer];
    uint64_t         instance = sim->workers[p->worker].instance;
    if (p->ticket_of != instance) {
        sim_keys_forget(sim, peer);
    }
    p->ticket_of = instance;
    randombytes_buf(&p->session_key, sizeof(p->session_key));
}

void sim_keys_forget(struct sim *sim, int peer)
{
    fby_client_route_end(&sim->peers[peer].route);
    sim->peers[peer].has_hello = false;
}

/* Begin a route. An attacker may send the HELLO once more. */
static void send_hello(struct sim *sim, int peer)
{
    struct sim_peer         *p = &sim->peers[peer];
    struct fby_route_secrets secrets =
        secrets_of(&p->session_key, p->ticket_of);
    struct sim_message message = p->hello;
    if (fby_client_route_begin(&p->route, &secrets) != FBY_OK) {
        sim_fail(sim, "the keys of a route cannot be derived");
        return;
    }
    message.nonce       = secrets.client_nonce;
    message.session_key = p->session_key;
    message.instance    = p->ticket_of;
    seal(sim, &p->route.lanes.to_worker, &message);
    (void)sim_send_up(sim, peer, &message);
    if (sim->config.n_faults > 0 && sim_chance(sim, 20)) {
        (void)sim_send_up(sim, peer, &message);
    }
}

void sim_client_send(
    struct sim *sim, int peer, const struct sim_message *message)
{
    struct sim_peer   *p    = &sim->peers[peer];
    struct sim_message copy = *message;
    if (!sim->config.keys) {
        (void)sim_send_up(sim, peer, message);
    } else if (message->kind == SIM_HELLO) {
        p->hello     = *message;
        p->has_hello = true;
        if (p->route.has_nonce) {
            send_hello(sim, peer);
        } else { /* to get a nonce */
            (void)sim_send_up(
                sim, peer, &(struct sim_message){.kind = SIM_PING});
        }
    } else if (p->route.has_lanes) {
        seal(sim, &p->route.lanes.to_worker, &copy);
        (void)sim_send_up(sim, peer, &copy);
    }
}

static bool is_new_nonce(
    struct sim *sim, int peer, const struct sim_message *message)
{
    struct sim_peer *p = &sim->peers[peer];
    if (!fby_client_route_set_nonce(&p->route, &message->nonce)) {
        return false;
    }
    if (p->has_hello) {
        send_hello(sim, peer);
    }
    return true;
}

bool sim_keys_at_client(
    struct sim *sim, int peer, const struct sim_message *message)
{
    struct sim_peer *p = &sim->peers[peer];
    if (!sim->config.keys || message->kind == SIM_FULL) {
        return true;
    }
    if (message->kind == SIM_HELLO_FIRST) {
        return is_new_nonce(sim, peer, message);
    }
    if (!p->route.has_lanes) {
        return false;
    }
    if (!open_sealed(sim, &p->route.lanes.to_client, message)) {
        sim_trace(sim, "  a frame of another route; a new one begins");
        sim_keys_forget(sim, peer);
        fby_window_hello_first(sim->window, sim->now, peer);
        return false;
    }
    if (message->kind == SIM_WELCOME &&
        message->value == p->hello.number) { /* it answers the last HELLO */
        p->has_hello = false;
    }
    return true;
}

/* ---- The worker ---------------------------------------------------------- */

void sim_keys_start_worker(struct sim *sim, int worker)
{
    struct fby_challenges *c = &sim->challenges[worker];
    memset(c->list, 0, c->next * sizeof(c->list[0]));
    c->next = 0;
}

static struct fby_routing_id routing_id(uint64_t connection)
{
    struct fby_routing_id id = {.size = sizeof(connection)};
    memcpy(id.bytes, &connection, sizeof(connection));
    return id;
}

void sim_keys_challenge(struct sim *sim, int peer, struct sim_message *out)
{
    const struct sim_peer      *p  = &sim->peers[peer];
    const struct fby_routing_id id = routing_id(p->connection);
    if (sim->config.keys) {
        out->nonce = fby_challenges_nonce(&sim->challenges[p->worker], &id);
    }
}

enum sim_hello sim_keys_hello(struct sim *sim, int peer,
    const struct sim_message *message, struct fby_lanes *out)
{
    const struct sim_peer      *p        = &sim->peers[peer];
    const struct fby_routing_id id       = routing_id(p->connection);
    uint64_t                    instance = sim->workers[p->worker].instance;
    struct fby_route_secrets    secrets =
        secrets_of(&message->session_key, instance);
    if (!sim->config.keys) {
        return SIM_HELLO_GOOD;
    }
    if (!fby_challenges_take(
            &sim->challenges[p->worker], &id, &secrets.worker_nonce)) {
        return SIM_HELLO_REPEATED;
    }
    secrets.client_nonce = message->nonce;
    bool is_good         = message->instance == instance &&
                   fby_lanes_derive(&secrets, out) == FBY_OK &&
                   open_sealed(sim, &out->to_worker, message);
    return is_good ? SIM_HELLO_GOOD : SIM_HELLO_REFUSED;
}

bool sim_keys_at_worker(
    struct sim *sim, int worker, const struct sim_message *message)
{
    return !sim->config.keys ||
           open_sealed(sim, &sim->workers[worker].lanes.to_worker, message);
}

void sim_keys_seal_down(
    struct sim *sim, int worker, struct sim_message *message)
{
    if (sim->config.keys) {
        seal(sim, &sim->workers[worker].lanes.to_client, message);
    }
}
