/* SPDX-License-Identifier: Apache-2.0 */
/* timers.c - the timers of the peers (the workers that the window knows).
 *
 * Each timer is in two functions: a tick function acts when the timer is due,
 * and a deadline function returns the time at which it is due. Two actions of
 * the tick have no deadline, because only a message makes them due: CREDIT for
 * many bytes, and the removal of a leaving peer without open requests. */
#include "common/clock.h"
#include "trainer_client/window/window_state.h"

static void send_credit(struct fby_window *w, struct window_peer *peer)
{
    peer->credited            = peer->received;
    peer->uncredited_since_ns = 0;
    struct fby_action *action = fby_w_add_peer_action(w, FBY_DO_CREDIT, peer);
    action->number            = peer->received;
    action->route             = peer->route;
}

/* True if the worker might wait for CREDIT: an eighth of the send window is
 * uncredited, or the rest of it is less than a chunk. */
static bool may_wait_for_credit(const struct window_peer *peer)
{
    uint64_t uncredited = peer->received - peer->credited;
    return uncredited >= peer->send_window / 8 ||
           uncredited + peer->largest > peer->send_window;
}

/* CREDIT is due a short time after the oldest uncredited byte, or at once if the
 * worker might wait for it. */
static bool is_credit_due(
    const struct fby_window *w, const struct window_peer *peer)
{
    int64_t due_ns = peer->uncredited_since_ns + w->config.times.credit;
    return peer->uncredited_since_ns != 0 &&
           (may_wait_for_credit(peer) || w->now >= due_ns);
}

static void tick_session(struct fby_window *w, struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;
    if (is_credit_due(w, peer)) {
        send_credit(w, peer);
    }
    if (w->now >= peer->last_ping_ns + t->ping) {
        fby_w_send_ping(w, peer);
    }
    if (peer->probed_ns != 0 && !peer->suspect &&
        w->now >= peer->probed_ns + fby_w_suspect_after(w, peer)) {
        peer->suspect = true;
        w->counters.suspects++;
    }
    if (peer->n_open > 0) {
        peer->last_used_ns = w->now;
    } else if (peer->state == PEER_LEAVING) {
        fby_w_end_session(w, peer, PEER_IDLE);
        fby_w_remove_peer(w, peer);
    } else if (peer->state == PEER_READY && w->started &&
               w->now >= peer->last_used_ns + t->idle) {
        fby_w_end_session(w, peer, PEER_IDLE);
    }
}

static void tick_peer(struct fby_window *w, struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;
    /* A peer in PEER_GREETING has a socket, but no session before WELCOME. */
    if (fby_w_has_socket(peer) && w->now >= peer->last_heard_ns + t->reach) {
        fby_w_mark_unreachable(w, peer);
    } else if (peer->state == PEER_GREETING) {
        if (w->now >= peer->greeted_ns + t->reach) {
            fby_w_mark_unreachable(w, peer);
        } else if (w->now >= peer->last_hello_ns + t->ping) {
            fby_w_send_hello(w, peer);
        }
    } else if (fby_w_has_socket(peer)) {
        tick_session(w, peer);
    } else if (peer->state == PEER_BACKOFF && w->now >= peer->retry_at_ns) {
        fby_w_set_peer_state(w, peer, PEER_IDLE);
    }
}

/* Connect peers, so that the caller learns their datasets. */
static void connect_before_start(struct fby_window *w)
{
    uint32_t n_sockets = 0;
    for (int i = 0; i < w->n_peers; i++) {
        n_sockets += fby_w_has_socket(&w->peers[i]);
    }
    uint32_t max = w->config.max_peers_before_start;
    for (int i = 0; i < w->n_peers && n_sockets < max; i++) {
        if (w->peers[i].state == PEER_IDLE) {
            fby_w_connect(w, &w->peers[i]);
            n_sockets++;
        }
    }
}

/* Warn once per times.warn while a peer is needed and none is usable. No peer
 * is needed while each step of the window has its request or answer. */
static void warn_without_peers(struct fby_window *w)
{
    bool needs_peer = !w->started || fby_w_has_unrequested_step(w);
    if (fby_window_n_usable_peers(w) > 0 || !needs_peer) {
        w->no_peer_since_ns = w->now; /* none is missing yet */
    } else if (w->now >= w->no_peer_since_ns + w->config.times.warn) {
        w->no_peer_since_ns = w->now; /* since this warning */
        fby_w_add_action(w, FBY_DO_WARN_NO_WORKERS, FBY_NO_PEER);
    }
}

void fby_w_peers_tick(struct fby_window *w)
{
    for (int i = 0; i < w->n_peers; i++) {
        tick_peer(w, &w->peers[i]);
    }
    if (!w->started) {
        connect_before_start(w);
    }
    warn_without_peers(w);
}

static int64_t session_deadline(
    const struct fby_window *w, const struct window_peer *peer)
{
    const struct fby_window_times *t   = &w->config.times;
    int64_t                        due = peer->last_ping_ns + t->ping;
    if (peer->uncredited_since_ns != 0) {
        due = fby_earlier_ns(due, peer->uncredited_since_ns + t->credit);
    }
    if (peer->probed_ns != 0 && !peer->suspect) {
        due =
            fby_earlier_ns(due, peer->probed_ns + fby_w_suspect_after(w, peer));
    }
    if (peer->state == PEER_READY && peer->n_open == 0 && w->started) {
        due = fby_earlier_ns(due, peer->last_used_ns + t->idle);
    }
    return due;
}

static int64_t peer_deadline(
    const struct fby_window *w, const struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;
    if (peer->state == PEER_BACKOFF) {
        return peer->retry_at_ns;
    }
    if (!fby_w_has_socket(peer)) {
        return FBY_W_NEVER;
    }
    int64_t due = peer->last_heard_ns + t->reach;
    if (peer->state == PEER_GREETING) {
        due = fby_earlier_ns(due, peer->greeted_ns + t->reach);
        return fby_earlier_ns(due, peer->last_hello_ns + t->ping);
    }
    return fby_earlier_ns(due, session_deadline(w, peer));
}

int64_t fby_w_peers_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    if (w->stopped) {
        return due;
    }
    for (int i = 0; i < w->n_peers; i++) {
        due = fby_earlier_ns(due, peer_deadline(w, &w->peers[i]));
    }
    return fby_earlier_ns(due, w->no_peer_since_ns + w->config.times.warn);
}
