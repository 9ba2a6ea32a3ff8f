/* window_peers.c - the life of a peer: reached, welcome, asked, gone.
 *
 * A peer is connected from its CONNECT to its CLOSE. A connection that breaks
 * in between is mended by the transport, unseen; we learn of it when the worker
 * asks for HELLO again. */
#include "trainer_client/window_state.h"

#include <assert.h>
#include <string.h>

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

static void set_state(
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

const char *fby_window_peer_state(const struct fby_window *self, int peer)
{
    if (peer < 0 || peer >= self->n_peers) {
        return states[PEER_FREE].name;
    }
    return states[self->peers[peer].state].name;
}

/* The peer an event is about; NULL, and the event is to be ignored, unless it
 * is connected. */
static struct peer *enter(struct fby_window *w, int64_t now_ns, int peer)
{
    fby_w_enter(w, now_ns);
    struct peer *p = fby_w_peer(w, peer);
    if (p == NULL || !fby_w_is_connected(p)) {
        return NULL;
    }
    fby_w_heard(w, p);
    return p;
}

/* ---- Saying --------------------------------------------------------------- */

void fby_w_heard(struct fby_window *w, struct peer *peer)
{
    peer->heard_ns = w->now;
    peer->probe_ns = 0;
    peer->suspect  = false;
}

static void say(
    struct fby_window *w, enum fby_action_kind kind, const struct peer *peer)
{
    fby_w_act(w, kind, fby_w_peer_number(w, peer));
}

static void say_hello(struct fby_window *w, struct peer *peer)
{
    peer->route    = fby_w_random(w) | 1; /* never 0 */
    peer->hello_ns = w->now;
    w->sends++;
    fby_w_act(w, FBY_DO_HELLO, fby_w_peer_number(w, peer))->number =
        peer->route;
}

void fby_w_ping(struct fby_window *w, struct peer *peer)
{
    peer->ping                                                    = ++w->sends;
    peer->ping_ns                                                 = w->now;
    fby_w_act(w, FBY_DO_PING, fby_w_peer_number(w, peer))->number = peer->ping;
}

static void greet(struct fby_window *w, struct peer *peer)
{
    set_state(w, peer, PEER_GREETING);
    peer->greeted_ns = w->now;
    say_hello(w, peer);
}

void fby_w_connect(struct fby_window *w, struct peer *peer)
{
    say(w, FBY_DO_CONNECT, peer);
    fby_w_heard(w, peer);
    peer->used_ns = w->now;
    greet(w, peer);
}

/* ---- Ending --------------------------------------------------------------- */

static void forget(struct fby_window *w, struct peer *peer)
{
    uint32_t number = (uint32_t)fby_w_peer_number(w, peer);
    say(w, FBY_DO_GONE, peer);
    set_state(w, peer, PEER_FREE);
    fby_w_audits_forget(w, (int)number);
    fby_w_losers_forget(w, (int)number);
    for (uint32_t i = 0; i < w->config.max_batches; i++) {
        w->places[i].refused[number / 64] &= ~(UINT64_C(1) << number % 64);
        if (w->places[i].avoid == (int)number) {
            w->places[i].avoid = FBY_NO_PEER;
        }
    }
}

/* The socket goes; what the peer owed is asked for elsewhere. */
static void cut(struct fby_window *w, struct peer *peer, enum peer_state next)
{
    bool connected = fby_w_is_connected(peer);
    set_state(w, peer, next);
    fby_w_drop_all(w, peer);
    assert(peer->n_open == 0 && peer->owed == 0);
    peer->uncredited_ns = 0;
    peer->probe_ns      = 0;
    peer->suspect       = false;
    if (connected) {
        say(w, FBY_DO_CLOSE, peer);
    }
}

/* Over for good, in order. */
static void part(struct fby_window *w, struct peer *peer, enum peer_state next)
{
    say(w, FBY_DO_BYE, peer);
    cut(w, peer, next);
}

/* Wait, each time twice as long, between half of it and all of it. */
static void back_off(struct fby_window *w, struct peer *peer)
{
    const struct fby_window_times *t = &w->config.times;

    cut(w, peer, PEER_BACKOFF);
    if (peer->unlisted || peer->leaving) {
        forget(w, peer);
        return;
    }
    peer->backoff = peer->backoff == 0 ? t->backoff : 2 * peer->backoff;
    if (peer->backoff > t->backoff_max) {
        peer->backoff = t->backoff_max;
    }
    uint64_t half  = (uint64_t)peer->backoff / 2;
    peer->retry_ns = w->now + (int64_t)(half + fby_w_random(w) % (half + 1));
}

static void give_up(struct fby_window *w, struct peer *peer)
{
    w->counters.unreachable++;
    say(w, FBY_DO_UNREACHABLE, peer);
    back_off(w, peer);
}

void fby_window_stop(struct fby_window *self, int64_t now_ns)
{
    fby_w_enter(self, now_ns);
    for (int i = 0; i < self->n_peers; i++) {
        if (fby_w_is_connected(&self->peers[i])) {
            part(self, &self->peers[i], PEER_IDLE);
        }
    }
    self->stopped = true;
}

/* ---- The server's list ---------------------------------------------------- */

static struct peer *find_instance(
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
    return NULL;
}

fby_err fby_window_peer_add(struct fby_window *self, int64_t now_ns,
    struct fby_instance_id instance, uint64_t key, int *out)
{
    fby_w_enter(self, now_ns);
    struct peer *peer = find_instance(self, instance);
    if (peer == NULL) {
        peer = find_free(self);
        if (peer == NULL) {
            return FBY_FULL;
        }
        *peer = (struct peer){.instance = instance, .key = key};
        set_state(self, peer, PEER_IDLE);
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
        forget(self, p);
    }
}

void fby_window_unreachable(struct fby_window *self, int64_t now_ns, int peer)
{
    fby_w_enter(self, now_ns);
    struct peer *p = fby_w_peer(self, peer);
    if (p != NULL && fby_w_is_connected(p)) {
        give_up(self, p);
    }
}

/* ---- Messages ------------------------------------------------------------- */

/* One worker under two numbers would fight with itself for its session's
 * route: the one in use stays. True: `peer` was forgotten. */
static bool is_double(
    struct fby_window *w, struct peer *peer, struct fby_instance_id instance)
{
    struct peer *other = find_instance(w, instance);
    if (other == NULL || other == peer) {
        return false;
    }
    if (other->state == PEER_IDLE || other->state == PEER_BACKOFF) {
        forget(w, other);
        return false;
    }
    cut(w, peer, PEER_IDLE);
    forget(w, peer);
    return true;
}

static void note_instance(
    struct fby_window *w, struct peer *peer, struct fby_instance_id instance)
{
    if (peer->instance.value == instance.value) {
        w->counters.reconnects += peer->opened;
        return;
    }
    w->counters.restarts++;
    fby_w_drop_all(w, peer);
    peer->instance = instance;
    peer->opened   = false;
    peer->leaving  = false;
    peer->pace     = 0;
    peer->busy_ns  = 0;
}

static void cancel_unknown(
    struct fby_window *w, const struct peer *peer, struct fby_request_id id)
{
    int                 number = fby_w_peer_number(w, peer);
    int                 slot   = fby_window_slot(w, id);
    const struct audit *audit  = fby_w_audit(w, id);
    bool asked = (slot != FBY_NO_SLOT && w->slots[slot].peer == number) ||
                 (audit != NULL && audit->peer == number);
    if (!asked) {
        fby_w_act(w, FBY_DO_CANCEL, number)->id = id;
    }
}

static void begin_route(struct fby_window *w, struct peer *peer,
    const struct fby_window_welcome *welcome)
{
    peer->received      = 0;
    peer->credited      = 0;
    peer->uncredited_ns = 0;
    peer->send_window   = welcome->send_window;
    fby_w_drop_unnamed(w, peer, UINT64_MAX, welcome->open, welcome->n_open);
    for (size_t i = 0; i < welcome->n_open && i < w->config.max_batches; i++) {
        cancel_unknown(w, peer, welcome->open[i]);
    }
}

static void go_on(struct fby_window *w, struct peer *peer)
{
    if (peer->leaving) {
        set_state(w, peer, PEER_LEAVING);
    } else if (peer->opened) {
        set_state(w, peer, PEER_READY);
    } else {
        set_state(w, peer, PEER_OPENING);
        say(w, FBY_DO_OPEN, peer);
    }
}

void fby_window_welcome(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_welcome *welcome)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p == NULL || p->state != PEER_GREETING || welcome->route != p->route ||
        is_double(self, p, welcome->instance)) {
        return;
    }
    note_instance(self, p, welcome->instance);
    begin_route(self, p, welcome);
    go_on(self, p);
    p->backoff = 0;
    p->ping_ns = self->now;
}

void fby_window_hello_first(struct fby_window *self, int64_t now_ns, int peer)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p != NULL && p->state != PEER_GREETING) {
        greet(self, p); /* in GREETING the HELLO is on its way already */
    }
}

void fby_window_full(struct fby_window *self, int64_t now_ns, int peer)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p != NULL) {
        back_off(self, p);
    }
}

void fby_window_pong(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_pong *pong)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p == NULL || p->state == PEER_GREETING || pong->seq > p->ping ||
        pong->instance.value != p->instance.value) {
        return;
    }
    if (!FBY_MUTANT(ignore_pong)) {
        fby_w_drop_unnamed(self, p,
            FBY_MUTANT(judge_later_requests) ? UINT64_MAX : pong->seq,
            pong->open, pong->n_open);
    }
}

void fby_window_heard(struct fby_window *self, int64_t now_ns, int peer)
{
    (void)enter(self, now_ns, peer);
}

void fby_window_opened(struct fby_window *self, int64_t now_ns, int peer)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p == NULL) {
        return;
    }
    p->opened = true;
    if (p->state == PEER_OPENING) {
        set_state(self, p, PEER_READY);
        p->used_ns = self->now;
    }
}

static void fail_when_all_aside(struct fby_window *w, int peer, int code)
{
    for (int i = 0; i < w->n_peers; i++) {
        if (w->peers[i].state != PEER_ASIDE && w->peers[i].state != PEER_FREE) {
            return;
        }
    }
    uint64_t at = w->cursor + fby_window_ready(w);
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_ASIDE,
            .code  = code,
            .peer  = peer,
            .other = FBY_NO_PEER,
            .epoch = w->started ? at / w->plan.steps_per_epoch : 0,
            .step  = w->started ? at % w->plan.steps_per_epoch : 0,
        },
        at);
}

void fby_window_set_aside(
    struct fby_window *self, int64_t now_ns, int peer, int code)
{
    fby_w_enter(self, now_ns);
    struct peer *p = fby_w_peer(self, peer);
    if (p == NULL || p->state == PEER_ASIDE) {
        return;
    }
    self->counters.set_aside++;
    if (fby_w_is_connected(p)) {
        part(self, p, PEER_ASIDE);
    } else {
        cut(self, p, PEER_ASIDE);
    }
    fail_when_all_aside(self, peer, code);
}

void fby_window_leave(struct fby_window *self, int64_t now_ns, int peer)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p == NULL) {
        return;
    }
    p->leaving = true;
    if (p->state != PEER_GREETING) { /* else its requests are still counted */
        set_state(self, p, PEER_LEAVING);
    }
}

void fby_window_proto(struct fby_window *self, int64_t now_ns, int peer)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p != NULL) {
        self->counters.breaches++;
        back_off(self, p);
    }
}

void fby_window_send_content(
    struct fby_window *self, int64_t now_ns, int peer, struct fby_request_id id)
{
    struct peer *p = enter(self, now_ns, peer);
    if (p == NULL) {
        return;
    }
    int slot = fby_window_slot(self, id);
    if (slot != FBY_NO_SLOT && self->slots[slot].peer == peer) {
        fby_w_drop(self, &self->slots[slot], false);
    }
    const struct audit *audit = fby_w_audit(self, id);
    if (audit != NULL && audit->peer == peer) {
        (void)fby_w_audit_skip(self, id);
    }
    p->opened = false;
    if (p->state == PEER_READY) {
        go_on(self, p);
    }
}

/* ---- Time ----------------------------------------------------------------- */

static bool is_talking(const struct peer *peer)
{
    return fby_w_is_connected(peer) && peer->state != PEER_GREETING;
}

static void send_credit(struct fby_window *w, struct peer *peer)
{
    peer->credited      = peer->received;
    peer->uncredited_ns = 0;
    struct fby_action *action =
        fby_w_act(w, FBY_DO_CREDIT, fby_w_peer_number(w, peer));
    action->number = peer->received;
    action->route  = peer->route;
}

static bool owes_credit(const struct fby_window *w, const struct peer *peer)
{
    return peer->uncredited_ns != 0 &&
           (peer->received - peer->credited >= peer->send_window / 8 ||
               w->now >= peer->uncredited_ns + w->config.times.credit);
}

static void tick_talking(struct fby_window *w, struct peer *peer)
{
    const struct fby_window_times *t = &w->config.times;

    if (owes_credit(w, peer)) {
        send_credit(w, peer);
    }
    if (w->now >= peer->ping_ns + t->ping) {
        fby_w_ping(w, peer);
    }
    if (peer->probe_ns != 0 && !peer->suspect &&
        w->now >= peer->probe_ns + t->suspect) {
        peer->suspect = true;
        w->counters.suspects++;
    }
    if (peer->n_open > 0) {
        peer->used_ns = w->now;
    } else if (peer->state == PEER_LEAVING) {
        part(w, peer, PEER_IDLE);
        forget(w, peer);
    } else if (peer->state == PEER_READY && w->started &&
               w->now >= peer->used_ns + t->idle) {
        part(w, peer, PEER_IDLE);
    }
}

static void tick_greeting(struct fby_window *w, struct peer *peer)
{
    if (w->now >= peer->hello_ns + w->config.times.ping) {
        say_hello(w, peer);
    }
}

static void tick_peer(struct fby_window *w, struct peer *peer)
{
    const struct fby_window_times *t = &w->config.times;

    if (fby_w_is_connected(peer) && w->now >= peer->heard_ns + t->reach) {
        give_up(w, peer);
    } else if (peer->state == PEER_GREETING) {
        if (w->now >= peer->greeted_ns + t->reach) {
            give_up(w, peer);
        } else {
            tick_greeting(w, peer);
        }
    } else if (is_talking(peer)) {
        tick_talking(w, peer);
    } else if (peer->state == PEER_BACKOFF && w->now >= peer->retry_ns) {
        set_state(w, peer, PEER_IDLE);
    }
}

/* Before start everybody is asked what the data is. */
static void connect_some(struct fby_window *w)
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

static void warn_when_unserved(struct fby_window *w)
{
    if (fby_window_usable(w) > 0) {
        w->unserved_ns = w->now;
    } else if (w->now >= w->unserved_ns + w->config.times.warn) {
        w->unserved_ns = w->now;
        fby_w_act(w, FBY_DO_NO_WORKERS, FBY_NO_PEER);
    }
}

void fby_w_peers_tick(struct fby_window *w)
{
    for (int i = 0; i < w->n_peers; i++) {
        if (w->peers[i].state != PEER_FREE) {
            tick_peer(w, &w->peers[i]);
        }
    }
    if (!w->started) {
        connect_some(w);
    }
    warn_when_unserved(w);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t talking_deadline(
    const struct fby_window *w, const struct peer *peer)
{
    const struct fby_window_times *t   = &w->config.times;
    int64_t                        due = peer->ping_ns + t->ping;

    if (peer->uncredited_ns != 0) {
        due = earlier(due, peer->uncredited_ns + t->credit);
    }
    if (peer->probe_ns != 0 && !peer->suspect) {
        due = earlier(due, peer->probe_ns + t->suspect);
    }
    if (peer->state == PEER_READY && peer->n_open == 0 && w->started) {
        due = earlier(due, peer->used_ns + t->idle);
    }
    return due;
}

static int64_t peer_deadline(
    const struct fby_window *w, const struct peer *peer)
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
        due = earlier(due, peer->greeted_ns + t->reach);
        return earlier(due, peer->hello_ns + t->ping);
    }
    return earlier(due, talking_deadline(w, peer));
}

int64_t fby_w_peers_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    if (w->stopped) {
        return due;
    }
    for (int i = 0; i < w->n_peers; i++) {
        due = earlier(due, peer_deadline(w, &w->peers[i]));
    }
    return earlier(due, w->unserved_ns + w->config.times.warn);
}
