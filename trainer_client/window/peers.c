/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - the states of a peer: known, connected, unreachable, removed.
 *
 * A peer is a worker that the window knows. The window adds actions, which its
 * caller carries out. The caller has a socket for a peer from the CONNECT
 * action to the CLOSE action. If the connection breaks in between, ZeroMQ
 * reconnects without a report, and the worker then sends HELLO_FIRST. */
#include "trainer_client/window/window_state.h"

#include <assert.h>

#include "common/log.h"

static const struct {
    const char *name;
    bool        has_socket;
} peer_states[] = {
    [PEER_FREE]     = {"free", false},
    [PEER_IDLE]     = {"idle", false},
    [PEER_GREETING] = {"greeting", true},
    [PEER_OPENING]  = {"opening", true},
    [PEER_READY]    = {"ready", true},
    [PEER_LEAVING]  = {"leaving", true},
    [PEER_BACKOFF]  = {"backoff", false},
    [PEER_ASIDE]    = {"aside", false},
};

void fby_w_set_peer_state(
    const struct fby_window *w, struct window_peer *peer, enum peer_state state)
{
    fby_debug("PEER-STATE", "peer %d: %s -> %s", fby_w_peer_number(w, peer),
        peer_states[peer->state].name, peer_states[state].name);
    peer->state = state;
}

struct window_peer *fby_w_peer(struct fby_window *w, int peer)
{
    if (peer < 0 || peer >= w->n_peers || w->stopped ||
        w->peers[peer].state == PEER_FREE) {
        return NULL;
    }
    return &w->peers[peer];
}

bool fby_w_has_socket(const struct window_peer *peer)
{
    return peer_states[peer->state].has_socket;
}

struct window_peer *fby_w_begin_peer_event(
    struct fby_window *w, int64_t now_ns, int peer)
{
    fby_w_set_now(w, now_ns);
    struct window_peer *p = fby_w_peer(w, peer);
    if (p == NULL || !fby_w_has_socket(p)) {
        return NULL;
    }
    fby_w_note_alive(w, p);
    return p;
}

/* ---- Connecting ---------------------------------------------------------- */

void fby_w_note_alive(struct fby_window *w, struct window_peer *peer)
{
    peer->last_heard_ns = w->now;
    peer->probed_ns     = 0;
    peer->suspect       = false;
}

struct fby_action *fby_w_add_peer_action(struct fby_window *w,
    enum fby_action_kind kind, const struct window_peer *peer)
{
    return fby_w_add_action(w, kind, fby_w_peer_number(w, peer));
}

void fby_w_send_hello(struct fby_window *w, struct window_peer *peer)
{
    peer->route = fby_w_random(w) | 1; /* | 1, as a nonce must not be 0 */
    peer->last_hello_ns                                  = w->now;
    fby_w_add_peer_action(w, FBY_DO_HELLO, peer)->number = peer->route;
}

void fby_w_send_ping(struct fby_window *w, struct window_peer *peer)
{
    w->n_pings++;
    peer->ping_number                                   = w->n_pings;
    peer->last_ping_ns                                  = w->now;
    fby_w_add_peer_action(w, FBY_DO_PING, peer)->number = peer->ping_number;
}

void fby_w_greet(struct fby_window *w, struct window_peer *peer)
{
    fby_w_set_peer_state(w, peer, PEER_GREETING);
    peer->greeted_ns = w->now;
    fby_w_send_hello(w, peer);
}

void fby_w_connect(struct fby_window *w, struct window_peer *peer)
{
    fby_w_add_peer_action(w, FBY_DO_CONNECT, peer);
    fby_w_note_alive(w, peer);
    peer->last_used_ns = w->now;
    fby_w_greet(w, peer);
}

/* ---- Ending -------------------------------------------------------------- */

void fby_w_remove_peer(struct fby_window *w, struct window_peer *peer)
{
    uint32_t number = (uint32_t)fby_w_peer_number(w, peer);
    fby_w_add_peer_action(w, FBY_DO_GONE, peer);
    fby_w_set_peer_state(w, peer, PEER_FREE);
    fby_w_audits_forget_peer(w, (int)number);
    for (uint32_t i = 0; i < w->config.max_batches; i++) {
        fby_w_clear_bit(w->steps[i].refused, number);
        fby_w_forget_peer(&w->steps[i].avoid_peer, (int)number);
    }
}

void fby_w_disconnect(
    struct fby_window *w, struct window_peer *peer, enum peer_state next)
{
    bool had_socket = fby_w_has_socket(peer);
    fby_w_set_peer_state(w, peer, next);
    fby_w_drop_all_requests(w, peer);
    assert(peer->n_open == 0 && peer->open_bytes == 0);
    if (had_socket) {
        fby_w_add_peer_action(w, FBY_DO_CLOSE, peer);
    }
}

void fby_w_end_session(
    struct fby_window *w, struct window_peer *peer, enum peer_state next)
{
    fby_w_add_peer_action(w, FBY_DO_BYE, peer);
    fby_w_disconnect(w, peer, next);
}

/* The wait is random between backoff_ns / 2 and backoff_ns (jitter), so that
 * clients do not reconnect at the same time. */
void fby_w_back_off(struct fby_window *w, struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;
    fby_w_disconnect(w, peer, PEER_BACKOFF);
    if (peer->unlisted || peer->leaving) { /* do not connect again */
        fby_w_remove_peer(w, peer);
        return;
    }
    peer->backoff_ns =
        peer->backoff_ns == 0 ? t->backoff : 2 * peer->backoff_ns;
    if (peer->backoff_ns > t->backoff_max) {
        peer->backoff_ns = t->backoff_max;
    }
    uint64_t half     = (uint64_t)peer->backoff_ns / 2;
    peer->retry_at_ns = w->now + (int64_t)(half + fby_w_random(w) % (half + 1));
}

void fby_w_mark_unreachable(struct fby_window *w, struct window_peer *peer)
{
    w->counters.unreachable++;
    fby_w_add_peer_action(w, FBY_DO_UNREACHABLE, peer);
    fby_w_back_off(w, peer);
}

void fby_window_stop(struct fby_window *self, int64_t now_ns)
{
    fby_w_set_now(self, now_ns);
    for (int i = 0; i < self->n_peers; i++) {
        if (fby_w_has_socket(&self->peers[i])) {
            fby_w_end_session(self, &self->peers[i], PEER_IDLE);
        }
    }
    self->stopped = true;
}

/* ---- The server's list --------------------------------------------------- */

struct window_peer *fby_w_find_instance(
    struct fby_window *w, struct fby_instance_id instance)
{
    for (int i = 0; i < w->n_peers; i++) {
        if (w->peers[i].state != PEER_FREE &&
            w->peers[i].instance.value == instance.value) {
            return &w->peers[i];
        }
    }
    return NULL;
}

/* An unused entry of w->peers, or NULL if max_peers are known. */
static struct window_peer *allocate_peer(struct fby_window *w)
{
    for (int i = 0; i < w->n_peers; i++) {
        if (w->peers[i].state == PEER_FREE) {
            return &w->peers[i];
        }
    }
    bool is_full = w->n_peers == (int)w->config.max_peers;
    return is_full ? NULL : &w->peers[w->n_peers++];
}

fby_err fby_window_peer_add(struct fby_window *self, int64_t now_ns,
    struct fby_instance_id instance, uint64_t key, int *out)
{
    fby_w_set_now(self, now_ns);
    struct window_peer *peer = fby_w_find_instance(self, instance);
    if (peer == NULL) {
        peer = allocate_peer(self);
        if (peer == NULL) {
            return FBY_FULL;
        }
        *peer = (struct window_peer){.instance = instance, .key = key};
        fby_w_set_peer_state(self, peer, PEER_IDLE);
    }
    peer->unlisted = false;
    *out           = fby_w_peer_number(self, peer);
    return FBY_OK;
}

void fby_window_peer_unlist(struct fby_window *self, int64_t now_ns, int peer)
{
    fby_w_set_now(self, now_ns);
    struct window_peer *p = fby_w_peer(self, peer);
    if (p == NULL) {
        return;
    }
    p->unlisted = true;
    if (!fby_w_has_socket(p)) {
        fby_w_remove_peer(self, p);
    }
}

void fby_window_unreachable(struct fby_window *self, int64_t now_ns, int peer)
{
    fby_w_set_now(self, now_ns);
    struct window_peer *p = fby_w_peer(self, peer);
    if (p != NULL && fby_w_has_socket(p)) {
        fby_w_mark_unreachable(self, p);
    }
}
