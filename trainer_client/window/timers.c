/* timers.c - the timers of the peers (the workers that the window knows).
 *
 * Each condition on the time is in two functions: a tick function does what is
 * due, and a deadline function returns when that will be due. Conditions that
 * only a message can make true have no deadline. */
#include "common/clock.h"
#include "trainer_client/window/window_state.h"

static void send_credit(struct fby_window *w, struct window_peer *peer)
{
    peer->credited            = peer->received;
    peer->uncredited_ns       = 0;
    struct fby_action *action = fby_w_add_peer_action(w, FBY_DO_CREDIT, peer);
    action->number            = peer->received;
    action->route             = peer->route;
}

/* CREDIT is due after an eighth of the send window, so that the worker need not
 * wait for it, or a short time after the oldest byte that was not reported. */
static bool is_credit_due(
    const struct fby_window *w, const struct window_peer *peer)
{
    return peer->uncredited_ns != 0 &&
           (peer->received - peer->credited >= peer->send_window / 8 ||
               w->now >= peer->uncredited_ns + w->config.times.credit);
}

static void tick_session(struct fby_window *w, struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;

    if (is_credit_due(w, peer)) {
        send_credit(w, peer);
    }
    if (w->now >= peer->ping_ns + t->ping) {
        fby_w_send_ping(w, peer);
    }
    if (peer->probe_ns != 0 && !peer->suspect &&
        w->now >= peer->probe_ns + t->suspect) {
        peer->suspect = true;
        w->counters.suspects++;
    }
    if (peer->n_open > 0) {
        peer->used_ns = w->now;
    } else if (peer->state == PEER_LEAVING) {
        fby_w_end_session(w, peer, PEER_IDLE);
        fby_w_remove_peer(w, peer);
    } else if (peer->state == PEER_READY && w->started &&
               w->now >= peer->used_ns + t->idle) {
        fby_w_end_session(w, peer, PEER_IDLE);
    }
}

static void tick_peer(struct fby_window *w, struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;

    if (fby_w_is_connected(peer) && w->now >= peer->heard_ns + t->reach) {
        fby_w_mark_unreachable(w, peer);
    } else if (peer->state == PEER_GREETING) {
        if (w->now >= peer->greeted_ns + t->reach) {
            fby_w_mark_unreachable(w, peer);
        } else if (w->now >= peer->hello_ns + t->ping) {
            fby_w_send_hello(w, peer);
        }
    } else if (fby_w_is_connected(peer)) {
        tick_session(w, peer);
    } else if (peer->state == PEER_BACKOFF && w->now >= peer->retry_ns) {
        fby_w_set_peer_state(w, peer, PEER_IDLE);
    }
}

/* The caller learns from these peers what the data is. */
static void connect_before_start(struct fby_window *w)
{
    uint32_t connected = 0;
    for (int i = 0; i < w->n_peers; i++) {
        connected += fby_w_is_connected(&w->peers[i]);
    }
    for (int i = 0; i < w->n_peers && connected < w->config.open_peers; i++) {
        if (w->peers[i].state == PEER_IDLE) {
            fby_w_connect(w, &w->peers[i]);
            connected++;
        }
    }
}

/* Warn if no peer is usable. While each step of the window has its request or
 * answer, no peer is needed, so do not warn. */
static void warn_when_unserved(struct fby_window *w)
{
    bool needs_peer = !w->started || fby_w_has_unrequested_step(w);
    if (fby_window_n_usable_peers(w) > 0 || !needs_peer) {
        w->unserved_ns = w->now;
    } else if (w->now >= w->unserved_ns + w->config.times.warn) {
        w->unserved_ns = w->now;
        fby_w_add_action(w, FBY_DO_NO_WORKERS, FBY_NO_PEER);
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
    warn_when_unserved(w);
}

static int64_t session_deadline(
    const struct fby_window *w, const struct window_peer *peer)
{
    const struct fby_window_times *t   = &w->config.times;
    int64_t                        due = peer->ping_ns + t->ping;

    if (peer->uncredited_ns != 0) {
        due = fby_earlier_ns(due, peer->uncredited_ns + t->credit);
    }
    if (peer->probe_ns != 0 && !peer->suspect) {
        due = fby_earlier_ns(due, peer->probe_ns + t->suspect);
    }
    if (peer->state == PEER_READY && peer->n_open == 0 && w->started) {
        due = fby_earlier_ns(due, peer->used_ns + t->idle);
    }
    return due;
}

static int64_t peer_deadline(
    const struct fby_window *w, const struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;

    if (peer->state == PEER_BACKOFF) {
        return peer->retry_ns;
    }
    if (!fby_w_is_connected(peer)) {
        return FBY_W_NEVER;
    }
    int64_t due = peer->heard_ns + t->reach;
    if (peer->state == PEER_GREETING) {
        due = fby_earlier_ns(due, peer->greeted_ns + t->reach);
        return fby_earlier_ns(due, peer->hello_ns + t->ping);
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
    return fby_earlier_ns(due, w->unserved_ns + w->config.times.warn);
}
