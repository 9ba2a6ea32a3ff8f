/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - sends requests, repeated requests and hedges to workers (peers).
 *
 * A hedge is a second request for a late step, to another peer. Events only
 * change the state of the peers and of the slots, each of which holds a
 * request. Then fby_w_requests_tick sends the requests that are possible, those
 * of early steps first. FBY_MUTANT(bug) is true only in a test for that bug. */
#include "trainer_client/window/window_state.h"

#include <string.h>

#include "common/clock.h"

/* ---- One request --------------------------------------------------------- */

/* The decoded bytes of the step's batch, at most those of a full batch. */
static uint64_t batch_bytes_of(const struct fby_window *w, uint64_t position)
{
    if (w->plan.bytes == NULL) {
        return w->config.batch_bytes;
    }
    uint64_t bytes = w->plan.bytes(w->plan.context,
        position / w->plan.steps_per_epoch, position % w->plan.steps_per_epoch);
    return bytes < w->config.batch_bytes ? bytes : w->config.batch_bytes;
}

struct fby_action *fby_w_send_request(
    struct fby_window *w, int peer, uint64_t position, uint64_t bytes)
{
    struct window_peer *p = &w->peers[peer];
    if (p->n_open == 0) { /* the peer begins this answer at once */
        p->service_since_ns = w->now;
    }
    p->n_open++;
    p->open_bytes += bytes;
    p->last_used_ns = w->now;
    fby_w_note_owed(w, p);
    w->counters.requests++;
    struct fby_action *action = fby_w_add_action(w, FBY_DO_REQUEST, peer);
    action->id                = fby_w_new_id(w);
    action->epoch             = position / w->plan.steps_per_epoch;
    action->step              = position % w->plan.steps_per_epoch;
    action->bytes             = bytes;
    return action;
}

enum request_kind { MAIN_REQUEST, HEDGE_REQUEST };
static void send_slot_request(struct fby_window *w, struct window_slot *slot,
    int peer, enum request_kind kind)
{
    struct fby_action *action =
        fby_w_send_request(w, peer, slot->position, slot->bytes);
    action->slot          = (int)(slot - w->slots);
    action->hedge         = kind == HEDGE_REQUEST;
    slot->id              = action->id;
    slot->peer            = peer;
    slot->sent_after_ping = w->n_pings;
    slot->requested_ns    = w->now;
    slot->hedged          = false;
    slot->n_chunks        = 0;
    slot->n_taken         = 0;
    slot->n_decoded       = 0;
    fby_w_clear_chunks(w, slot->taken);
    fby_w_set_slot_state(w, slot, SLOT_REQUESTED);
    fby_w_count_request(w, action->hedge);
}

/* ---- Steps without a request --------------------------------------------- */

/* Choose a peer. The step's avoid_peer is chosen only if there is no other. */
static int choose_peer_for_step(struct fby_window *w,
    const struct window_slot *slot, enum choose_among among)
{
    int avoid = fby_w_step(w, slot->position)->avoid_peer;
    int peer  = fby_w_choose_peer(w, slot, avoid, among);
    return peer != FBY_NO_PEER ? peer
                               : fby_w_choose_peer(w, slot, FBY_NO_PEER, among);
}

/* The best peer that accepts the slot's request now. A stalled peer is chosen
 * only if there is no other, not even a busy one. */
static int choose_ready_peer(
    struct fby_window *w, const struct window_slot *slot)
{
    int peer = choose_peer_for_step(w, slot, AMONG_READY);
    if (peer != FBY_NO_PEER ||
        fby_w_waits_for_busy(w, fby_w_step(w, slot->position))) {
        return peer;
    }
    return choose_peer_for_step(w, slot, AMONG_STALLED);
}

/* True if so many peers are connected and work that more would have nothing to
 * do: each batch of the window could come from one of them. */
static bool has_enough_peers(const struct fby_window *w)
{
    uint32_t enough   = 2 * w->config.max_batches;
    uint32_t n_in_use = 0;
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        n_in_use += fby_w_has_socket(peer) && !peer->suspect && !peer->stalled;
    }
    return n_in_use >= enough && n_in_use >= w->config.max_peers_before_start;
}

/* Choose the best peer that accepts the slot's request now. If the best of all
 * peers is idle, connect it for later requests, unless there are enough. */
static int connect_and_choose(
    struct fby_window *w, const struct window_slot *slot)
{
    int best = choose_peer_for_step(w, slot, AMONG_READY_SOON);
    int peer = choose_ready_peer(w, slot);
    if (best != FBY_NO_PEER && w->peers[best].state == PEER_IDLE &&
        (peer == FBY_NO_PEER || !has_enough_peers(w))) {
        fby_w_connect(w, &w->peers[best]);
    }
    return peer;
}

static void fail_when_refused(
    struct fby_window *w, const struct window_slot *slot)
{
    const struct window_step *step = fby_w_step(w, slot->position);
    if (!fby_w_all_refused(w, step)) {
        return;
    }
    /* The bit was cleared if that peer has been removed. */
    bool is_known = fby_w_has_bit(step->refused, (uint32_t)step->last_refuser);
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_CANNOT,
            .code  = step->refusal_code,
            .peer  = is_known ? step->last_refuser : FBY_NO_PEER,
            .other = FBY_NO_PEER,
            .id    = slot->id,
        },
        slot->position);
}

/* Send the slot's request, unless chunks of an older request are still being
 * decoded into the slot. Returns false if no peer accepts the request now. */
static bool request_step(struct fby_window *w, struct window_slot *slot)
{
    struct window_step *step = fby_w_step(w, slot->position);
    if (slot->n_decoding > 0 && !FBY_MUTANT(reuse_busy_slot)) {
        return true; /* the next tick tries again */
    }
    if (FBY_MUTANT(forget_rerequest) && step->is_repeat) {
        return true;
    }
    int peer = connect_and_choose(w, slot);
    if (peer == FBY_NO_PEER) {
        fail_when_refused(w, slot);
        return false;
    }
    w->counters.rerequests += step->is_repeat;
    step->is_repeat = false;
    send_slot_request(w, slot, peer, MAIN_REQUEST);
    fby_w_audit_begin(w, slot);
    return true;
}

/* Drop an open request to a suspect or stalled peer, if the step has a hedge or
 * if another peer accepts the request now. */
static void move_from_suspect(struct fby_window *w, struct window_slot *slot)
{
    const struct window_step *step = fby_w_step(w, slot->position);
    const struct window_peer *peer = &w->peers[slot->peer];
    if ((!peer->suspect && !peer->stalled) || !fby_w_is_open(slot)) {
        return;
    }
    if (step->hedge_slot != FBY_NO_SLOT ||
        fby_w_choose_peer(w, slot, slot->peer, AMONG_READY) != FBY_NO_PEER) {
        fby_w_drop_request(w, slot, DROP_WITH_CANCEL);
    }
}

static void request_reserved_steps(struct fby_window *w)
{
    for (uint64_t position = w->cursor;
         position < w->window_end && position < w->fail_at; position++) {
        move_from_suspect(w, fby_w_main_slot(w, position));
        /* By now the hedge's slot may be the main slot. */
        struct window_slot *slot = fby_w_main_slot(w, position);
        if (slot->state == SLOT_RESERVED) {
            (void)request_step(w, slot);
        }
    }
}

/* ---- New steps ----------------------------------------------------------- */

static struct window_slot *find_free_slot(const struct fby_window *w)
{
    for (int i = 0; i < w->n_slots; i++) {
        if (w->slots[i].state == SLOT_FREE) {
            return &w->slots[i];
        }
    }
    return NULL;
}

/* The slot of the only hedge, or NULL if no step is hedged. */
static const struct window_slot *find_hedge(const struct fby_window *w)
{
    for (uint64_t position = w->cursor; position < w->window_end; position++) {
        int slot = fby_w_step(w, position)->hedge_slot;
        if (slot != FBY_NO_SLOT) {
            return &w->slots[slot];
        }
    }
    return NULL;
}

/* True if max_batches and max_bytes allow a new step with a batch of `bytes`.
 * They do not limit the hedge's slot. */
static bool has_room(const struct fby_window *w, uint64_t bytes)
{
    const struct window_slot *hedge = find_hedge(w);
    uint32_t                  used  = w->n_used - (hedge != NULL ? 1 : 0);
    uint64_t used_bytes = w->used_bytes - (hedge != NULL ? hedge->bytes : 0);
    return used < w->config.max_batches && used_bytes <= w->config.max_bytes &&
           bytes <= w->config.max_bytes - used_bytes;
}

/* Add the next step to the window, with `slot` for its main request. */
static void reserve_slot(
    struct fby_window *w, struct window_slot *slot, uint64_t bytes)
{
    struct window_step *step = fby_w_step(w, w->window_end);

    slot->position = w->window_end++;
    slot->bytes    = bytes;
    *step          = (struct window_step){
                 .main_slot    = (int)(slot - w->slots),
                 .hedge_slot   = FBY_NO_SLOT,
                 .avoid_peer   = FBY_NO_PEER,
                 .last_refuser = FBY_NO_PEER,
                 .refused      = step->refused,
    };
    size_t words = (w->config.max_peers + 63) / 64;
    memset(step->refused, 0, words * sizeof(*step->refused));
    fby_w_set_slot_state(w, slot, SLOT_RESERVED);
}

static void request_new_steps(struct fby_window *w)
{
    while (w->window_end < w->plan.total && w->window_end < w->fail_at) {
        uint64_t            bytes = batch_bytes_of(w, w->window_end);
        struct window_slot *slot  = find_free_slot(w);
        if (slot == NULL || (!has_room(w, bytes) && !FBY_MUTANT(ignore_room))) {
            return;
        }
        reserve_slot(w, slot, bytes);
        if (!request_step(w, slot)) { /* no peer: the next tick tries again */
            return;
        }
    }
}

/* ---- The lowest missing step --------------------------------------------- */

/* The main slot of the lowest step that is not ready, which follows `n_ready`
 * steps that are; NULL if its request is not open. */
static struct window_slot *find_lowest_missing(
    const struct fby_window *w, uint32_t n_ready)
{
    uint64_t position = w->cursor + n_ready;
    if (position >= w->window_end || position >= w->fail_at) {
        return NULL;
    }
    struct window_slot *slot = fby_w_main_slot(w, position);
    return fby_w_is_open(slot) ? slot : NULL;
}

/* Send PING as a probe to a peer whose answer is late, unless the last PING is
 * recent. A peer that does not answer the probe in time becomes suspect. */
static void probe_late_peer(struct fby_window *w, struct window_peer *peer)
{
    if (peer->probed_ns != 0 || peer->state == PEER_GREETING ||
        w->now < peer->last_ping_ns + fby_w_suspect_after(w, peer)) {
        return;
    }
    fby_w_send_ping(w, peer);
    peer->probed_ns = w->now != 0 ? w->now : 1; /* 0 means none */
}

/* True if there is memory for a hedge of the request in `slow`. The hedge may
 * exceed max_bytes by one batch. There is at most one hedge, because only the
 * lowest missing step is hedged. */
static bool hedge_fits(
    const struct fby_window *w, const struct window_slot *slow)
{
    uint64_t limit = w->config.max_bytes + w->config.batch_bytes;
    return slow->bytes <= limit - w->used_bytes;
}

/* Hedge the request in `slow`, if that is possible and was not done yet. */
static void try_hedge(struct fby_window *w, struct window_slot *slow)
{
    struct window_slot *slot = find_free_slot(w);
    if (slow->hedged || slot == NULL || !hedge_fits(w, slow) ||
        !fby_w_may_hedge(w)) {
        return;
    }
    int peer = fby_w_choose_peer(w, slow, slow->peer, AMONG_READY);
    if (peer == FBY_NO_PEER) {
        return;
    }
    slot->position                            = slow->position;
    slot->bytes                               = slow->bytes;
    slow->hedged                              = true;
    fby_w_step(w, slow->position)->hedge_slot = (int)(slot - w->slots);
    w->counters.hedges++;
    send_slot_request(w, slot, peer, HEDGE_REQUEST);
}

/* The window time from which the slot's request is late. */
static int64_t late_from_ns(
    const struct fby_window *w, const struct window_slot *slot)
{
    return slot->requested_ns + fby_w_hedge_after(w, slot->bytes);
}

/* Probe and hedge a late request that the consumer will have to wait for. */
static void hedge_lowest_missing(struct fby_window *w)
{
    uint32_t            n_ready = fby_window_n_ready(w);
    struct window_slot *slot    = find_lowest_missing(w, n_ready);
    if (slot == NULL || w->now < late_from_ns(w, slot) ||
        !fby_w_consumer_runs_out(w, n_ready)) {
        return;
    }
    probe_late_peer(w, &w->peers[slot->peer]);
    try_hedge(w, slot);
}

/* Before fby_window_start there are no steps, so no request is sent. */
void fby_w_requests_tick(struct fby_window *w)
{
    fby_w_stalls_tick(w);
    request_reserved_steps(w);
    request_new_steps(w);
    fby_w_probes_tick(w);
    hedge_lowest_missing(w);
    fby_w_audits_tick(w);
}

/* ---- The next deadline --------------------------------------------------- */

bool fby_w_has_unrequested_step(const struct fby_window *w)
{
    for (uint64_t position = w->cursor; position < w->window_end; position++) {
        if (fby_w_main_slot(w, position)->state == SLOT_RESERVED) {
            return true;
        }
    }
    return false;
}

/* The time at which the next BUSY peer accepts requests, if a step waits. */
static int64_t busy_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        if (peer->state == PEER_READY && peer->busy_until_ns > w->now) {
            due = fby_earlier_ns(due, peer->busy_until_ns);
        }
    }
    bool waits = w->window_end < w->plan.total || fby_w_has_unrequested_step(w);
    return waits ? due : FBY_W_NEVER;
}

/* The time at which the lowest missing step is late. If it is late already,
 * only the probe needs a timer. */
static int64_t hedge_deadline(const struct fby_window *w)
{
    uint32_t                  n_ready = fby_window_n_ready(w);
    const struct window_slot *slot    = find_lowest_missing(w, n_ready);
    if (slot == NULL || !fby_w_consumer_runs_out(w, n_ready)) {
        return FBY_W_NEVER;
    }
    if (late_from_ns(w, slot) > w->now) {
        return late_from_ns(w, slot);
    }
    const struct window_peer *peer = &w->peers[slot->peer];
    int64_t probe_due = peer->last_ping_ns + fby_w_suspect_after(w, peer);
    return peer->probed_ns == 0 && probe_due > w->now ? probe_due : FBY_W_NEVER;
}

int64_t fby_w_requests_deadline(const struct fby_window *w)
{
    int64_t due = fby_earlier_ns(busy_deadline(w), hedge_deadline(w));
    due         = fby_earlier_ns(due, fby_w_stalls_deadline(w));
    return fby_earlier_ns(due, fby_w_audits_deadline(w));
}
