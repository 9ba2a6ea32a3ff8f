/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - messages about a peer (a worker) and its session.
 *
 * Each message shows that its peer is alive. A route is the path of a session's
 * messages, named by the nonce of a HELLO; a reconnect begins a new one. The
 * messages that answer a request are in answers.c.
 * FBY_MUTANT(bug) is true only in a test that must detect this bug. */
#include "trainer_client/window/window_state.h"

/* If another peer is the same worker, remove that peer if it is not connected,
 * and `peer` otherwise. Two connected peers would replace each other's route.
 * Returns true if `peer` was removed. */
static bool remove_duplicate(struct fby_window *w, struct window_peer *peer,
    struct fby_instance_id instance)
{
    struct window_peer *other = fby_w_find_instance(w, instance);
    if (other == NULL || other == peer) {
        return false;
    }
    if (other->state == PEER_IDLE || other->state == PEER_BACKOFF) {
        fby_w_remove_peer(w, other);
        return false;
    }
    fby_w_disconnect(w, peer, PEER_IDLE);
    fby_w_remove_peer(w, peer);
    return true;
}

/* If the worker restarted, forget the requests and speed of its old process. */
static void note_instance(struct fby_window *w, struct window_peer *peer,
    struct fby_instance_id instance)
{
    if (peer->instance.value == instance.value) {
        w->counters.reconnects += peer->opened; /* the first is no reconnect */
        return;
    }
    w->counters.restarts++;
    fby_w_drop_all_requests(w, peer);
    peer->instance      = instance;
    peer->opened        = false;
    peer->leaving       = false;
    peer->pace          = 0;
    peer->busy_until_ns = 0;
    peer->lost_pause_ns = 0;
    peer->trip_ns       = 0;
    peer->stalled       = false;
    peer->hedges_lost   = 0;
}

/* Cancel a request that the worker has open but whose answer is not awaited. */
static void cancel_if_not_awaited(struct fby_window *w,
    const struct window_peer *peer, struct fby_request_id id)
{
    int                 number     = fby_w_peer_number(w, peer);
    int                 slot       = fby_window_find_slot(w, id);
    const struct audit *audit      = fby_w_find_audit(w, id);
    bool                is_awaited = fby_w_is_probe(peer, id) ||
                      (slot != FBY_NO_SLOT && w->slots[slot].peer == number) ||
                      (audit != NULL && audit->peer == number);
    if (!is_awaited) {
        fby_w_add_action(w, FBY_DO_CANCEL, number)->id = id;
    }
}

static void begin_route(struct fby_window *w, struct window_peer *peer,
    const struct fby_window_welcome *welcome)
{
    peer->received            = 0;
    peer->credited            = 0;
    peer->uncredited_since_ns = 0;
    peer->send_window         = welcome->send_window;
    fby_w_drop_missing_requests(
        w, peer, FBY_W_ANY_PING, welcome->open_ids, welcome->n_open);
    /* max_batches limits the actions, even if the worker lists more requests */
    for (size_t i = 0; i < welcome->n_open && i < w->config.max_batches; i++) {
        cancel_if_not_awaited(w, peer, welcome->open_ids[i]);
    }
}

/* The route works: enter the state that the session has reached. */
static void resume_session(struct fby_window *w, struct window_peer *peer)
{
    if (peer->leaving) {
        fby_w_set_peer_state(w, peer, PEER_LEAVING);
    } else if (peer->opened) {
        fby_w_set_peer_state(w, peer, PEER_READY);
    } else {
        fby_w_set_peer_state(w, peer, PEER_OPENING);
        fby_w_add_peer_action(w, FBY_DO_OPEN, peer);
    }
}

void fby_window_welcome(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_welcome *welcome)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p == NULL || p->state != PEER_GREETING || welcome->route != p->route) {
        return;
    }
    if (remove_duplicate(self, p, welcome->instance)) {
        return;
    }
    note_instance(self, p, welcome->instance);
    begin_route(self, p, welcome);
    resume_session(self, p);
    p->backoff_ns   = 0;
    p->last_ping_ns = self->now; /* the first PING is due one interval later */
}

void fby_window_hello_first(struct fby_window *self, int64_t now_ns, int peer)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p != NULL && p->state != PEER_GREETING) { /* else HELLO was sent */
        fby_w_greet(self, p);
    }
}

void fby_window_refused_full(struct fby_window *self, int64_t now_ns, int peer)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p != NULL) {
        fby_w_back_off(self, p);
    }
}

void fby_window_pong(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_pong *pong)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p == NULL || p->state == PEER_GREETING ||
        pong->sequence > p->ping_number || /* this PING was not sent */
        pong->instance.value != p->instance.value) {
        return;
    }
    if (pong->sequence == p->ping_number) {
        fby_w_measure_trip(self, p);
    }
    if (!FBY_MUTANT(ignore_pong)) {
        fby_w_drop_missing_requests(self, p,
            FBY_MUTANT(judge_later_requests) ? FBY_W_ANY_PING : pong->sequence,
            pong->open_ids, pong->n_open);
    }
}

void fby_window_heard(struct fby_window *self, int64_t now_ns, int peer)
{
    (void)fby_w_begin_peer_event(self, now_ns, peer);
}

void fby_window_opened(struct fby_window *self, int64_t now_ns, int peer)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p == NULL) {
        return;
    }
    p->opened = true;
    if (p->state == PEER_OPENING) {
        fby_w_set_peer_state(self, p, PEER_READY);
        p->last_used_ns = self->now;
    }
}

static void fail_when_all_aside(struct fby_window *w, int peer, int code)
{
    for (int i = 0; i < w->n_peers; i++) {
        if (w->peers[i].state != PEER_ASIDE && w->peers[i].state != PEER_FREE) {
            return;
        }
    }
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_ASIDE,
            .code  = code,
            .peer  = peer,
            .other = FBY_NO_PEER,
        },
        w->cursor + fby_window_n_ready(w)); /* after the ready batches */
}

void fby_window_set_aside(
    struct fby_window *self, int64_t now_ns, int peer, int code)
{
    fby_w_set_now(self, now_ns);
    struct window_peer *p = fby_w_peer(self, peer);
    if (p == NULL || p->state == PEER_ASIDE) {
        return;
    }
    self->counters.set_aside++;
    if (fby_w_has_socket(p)) {
        fby_w_end_session(self, p, PEER_ASIDE);
    } else {
        fby_w_disconnect(self, p, PEER_ASIDE);
    }
    fail_when_all_aside(self, peer, code);
}

void fby_window_leave(struct fby_window *self, int64_t now_ns, int peer)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p == NULL) {
        return;
    }
    p->leaving = true;
    if (p->state != PEER_GREETING) { /* else WELCOME will set the state */
        fby_w_set_peer_state(self, p, PEER_LEAVING);
    }
}

void fby_window_breach(struct fby_window *self, int64_t now_ns, int peer)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p != NULL) {
        self->counters.breaches++;
        fby_w_back_off(self, p);
    }
}

void fby_window_send_content(
    struct fby_window *self, int64_t now_ns, int peer, struct fby_request_id id)
{
    struct window_peer *p = fby_w_begin_peer_event(self, now_ns, peer);
    if (p == NULL) {
        return;
    }
    fby_w_note_refusal(self, p, id);
    int slot = fby_window_find_slot(self, id);
    if (slot != FBY_NO_SLOT && self->slots[slot].peer == peer) {
        fby_w_pause_after_loss(self, peer, id);
        fby_w_drop_request(self, &self->slots[slot], DROP_SILENTLY);
    }
    struct audit *audit = fby_w_find_audit(self, id);
    if (audit != NULL && audit->peer == peer) {
        (void)fby_w_audit_skip(self, audit);
    }
    p->opened = false;
    if (p->state == PEER_READY) {
        resume_session(self, p);
    }
}
