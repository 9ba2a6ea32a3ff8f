/* peers.c - the life of a peer: known, connected, cut off, gone.
 *
 * A peer is connected from its CONNECT to its CLOSE. A connection that breaks
 * in between is mended by the transport, unseen; we learn of it when the worker
 * asks for HELLO again. */
#include "trainer_client/window/state.h"

#include <assert.h>

#include "common/log.h"

static const struct {
    const char *name;
    bool        connected;
} states[] = {
    [PEER_FREE]     = {"free", false},
    [PEER_IDLE]     = {"idle", false},
    [PEER_GREETING] = {"greeting", true},
    [PEER_OPENING]  = {"opening", true},
    [PEER_READY]    = {"ready", true},
    [PEER_LEAVING]  = {"leaving", true},
    [PEER_BACKOFF]  = {"backoff", false},
    [PEER_ASIDE]    = {"aside", false},
};

void fby_w_peer_state(
    const struct fby_window *w, struct peer *peer, enum peer_state state)
{
    fby_debug("PEER-STATE", "peer %d: %s -> %s", fby_w_peer_number(w, peer),
        states[peer->state].name, states[state].name);
    peer->state = state;
}

struct peer *fby_w_peer(struct fby_window *w, int peer)
{
    if (peer < 0 || peer >= w->n_peers || w->stopped ||
        w->peers[peer].state == PEER_FREE) {
        return NULL;
    }
    return &w->peers[peer];
}

bool fby_w_is_connected(const struct peer *peer)
{
    return states[peer->state].connected;
}

struct peer *fby_w_enter_peer(struct fby_window *w, int64_t now_ns, int peer)
{
    fby_w_enter(w, now_ns);
    struct peer *p = fby_w_peer(w, peer);
    if (p == NULL || !fby_w_is_connected(p)) {
        return NULL;
    }
    fby_w_heard(w, p);
    return p;
}

/* ---- Saying -------------------------------------------------------------- */

void fby_w_heard(struct fby_window *w, struct peer *peer)
{
    peer->heard_ns = w->now;
    peer->probe_ns = 0;
    peer->suspect  = false;
}

void fby_w_say(
    struct fby_window *w, enum fby_action_kind kind, const struct peer *peer)
{
    fby_w_act(w, kind, fby_w_peer_number(w, peer));
}

void fby_w_say_hello(struct fby_window *w, struct peer *peer)
{
    peer->route    = fby_w_random(w) | 1; /* never 0 */
    peer->hello_ns = w->now;
    fby_w_act(w, FBY_DO_HELLO, fby_w_peer_number(w, peer))->number =
        peer->route;
}

void fby_w_ping(struct fby_window *w, struct peer *peer)
{
    peer->ping                                                    = ++w->pings;
    peer->ping_ns                                                 = w->now;
    fby_w_act(w, FBY_DO_PING, fby_w_peer_number(w, peer))->number = peer->ping;
}

void fby_w_greet(struct fby_window *w, struct peer *peer)
{
    fby_w_peer_state(w, peer, PEER_GREETING);
    peer->greeted_ns = w->now;
    fby_w_say_hello(w, peer);
}

void fby_w_connect(struct fby_window *w, struct peer *peer)
{
    fby_w_say(w, FBY_DO_CONNECT, peer);
    fby_w_heard(w, peer);
    peer->used_ns = w->now;
    fby_w_greet(w, peer);
}

/* ---- Ending -------------------------------------------------------------- */

void fby_w_forget(struct fby_window *w, struct peer *peer)
{
    uint32_t number = (uint32_t)fby_w_peer_number(w, peer);
    fby_w_say(w, FBY_DO_GONE, peer);
    fby_w_peer_state(w, peer, PEER_FREE);
    fby_w_audits_forget(w, (int)number);
    fby_w_losers_forget(w, (int)number);
    for (uint32_t i = 0; i < w->config.max_batches; i++) {
        w->places[i].refused[number / 64] &= ~(UINT64_C(1) << number % 64);
        if (w->places[i].avoid == (int)number) {
            w->places[i].avoid = FBY_NO_PEER;
        }
    }
}

void fby_w_cut(struct fby_window *w, struct peer *peer, enum peer_state next)
{
    bool connected = fby_w_is_connected(peer);
    fby_w_peer_state(w, peer, next);
    fby_w_drop_all(w, peer);
    assert(peer->n_open == 0 && peer->owed == 0);
    if (connected) {
        fby_w_say(w, FBY_DO_CLOSE, peer);
    }
}

void fby_w_part(struct fby_window *w, struct peer *peer, enum peer_state next)
{
    fby_w_say(w, FBY_DO_BYE, peer);
    fby_w_cut(w, peer, next);
}

/* Between half of the wait and all of it. */
void fby_w_back_off(struct fby_window *w, struct peer *peer)
{
    const struct fby_window_times *t = &w->config.times;

    fby_w_cut(w, peer, PEER_BACKOFF);
    if (peer->unlisted || peer->leaving) {
        fby_w_forget(w, peer);
        return;
    }
    peer->backoff = peer->backoff == 0 ? t->backoff : 2 * peer->backoff;
    if (peer->backoff > t->backoff_max) {
        peer->backoff = t->backoff_max;
    }
    uint64_t half  = (uint64_t)peer->backoff / 2;
    peer->retry_ns = w->now + (int64_t)(half + fby_w_random(w) % (half + 1));
}

void fby_w_give_up(struct fby_window *w, struct peer *peer)
{
    w->counters.unreachable++;
    fby_w_say(w, FBY_DO_UNREACHABLE, peer);
    fby_w_back_off(w, peer);
}

void fby_window_stop(struct fby_window *self, int64_t now_ns)
{
    fby_w_enter(self, now_ns);
    for (int i = 0; i < self->n_peers; i++) {
        if (fby_w_is_connected(&self->peers[i])) {
            fby_w_part(self, &self->peers[i], PEER_IDLE);
        }
    }
    self->stopped = true;
}

/* ---- The server's list --------------------------------------------------- */

struct peer *fby_w_find_instance(
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

static struct peer *find_free(struct fby_window *w)
{
    for (int i = 0; i < w->n_peers; i++) {
        if (w->peers[i].state == PEER_FREE) {
            return &w->peers[i];
        }
    }
    if (w->n_peers == (int)w->config.max_peers) {
        return NULL;
    }
    return &w->peers[w->n_peers++];
}

fby_err fby_window_peer_add(struct fby_window *self, int64_t now_ns,
    struct fby_instance_id instance, uint64_t key, int *out)
{
    fby_w_enter(self, now_ns);
    struct peer *peer = fby_w_find_instance(self, instance);
    if (peer == NULL) {
        peer = find_free(self);
        if (peer == NULL) {
            return FBY_FULL;
        }
        *peer = (struct peer){.instance = instance, .key = key};
        fby_w_peer_state(self, peer, PEER_IDLE);
    }
    peer->unlisted = false;
    *out           = fby_w_peer_number(self, peer);
    return FBY_OK;
}

void fby_window_peer_unlist(struct fby_window *self, int64_t now_ns, int peer)
{
    fby_w_enter(self, now_ns);
    struct peer *p = fby_w_peer(self, peer);
    if (p == NULL) {
        return;
    }
    p->unlisted = true;
    if (!fby_w_is_connected(p)) {
        fby_w_forget(self, p);
    }
}

void fby_window_unreachable(struct fby_window *self, int64_t now_ns, int peer)
{
    fby_w_enter(self, now_ns);
    struct peer *p = fby_w_peer(self, peer);
    if (p != NULL && fby_w_is_connected(p)) {
        fby_w_give_up(self, p);
    }
}
