/* request.c - requests, repeated requests and hedges.
 *
 * Events only change the state of slots and peers. The tick sends the requests
 * that this state allows, the lowest step first. */
#include "trainer_client/window/window_state.h"

#include <string.h>

#include "common/clock.h"

/* ---- One request --------------------------------------------------------- */

static uint64_t bytes_of(const struct fby_window *w, uint64_t position)
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

    p->service_since_ns = p->n_open == 0 ? w->now : p->service_since_ns;
    p->n_open++;
    p->open_bytes += bytes;
    p->used_ns = w->now;
    w->counters.requests++;

    struct fby_action *action = fby_w_add_action(w, FBY_DO_REQUEST, peer);
    action->id                = fby_w_new_id(w);
    action->epoch             = position / w->plan.steps_per_epoch;
    action->step              = position % w->plan.steps_per_epoch;
    action->bytes             = bytes;
    return action;
}

enum request_kind { MAIN_REQUEST, HEDGE_REQUEST };
static void send_request(struct fby_window *w, struct window_slot *slot,
    int peer, enum request_kind kind)
{
    struct fby_action *action =
        fby_w_send_request(w, peer, slot->position, slot->bytes);

    action->slot       = (int)(slot - w->slots);
    action->hedge      = kind == HEDGE_REQUEST;
    slot->id           = action->id;
    slot->peer         = peer;
    slot->last_ping    = w->pings;
    slot->requested_ns = w->now;
    slot->hedged       = false;
    slot->n_chunks     = 0;
    slot->n_taken      = 0;
    slot->n_decoded    = 0;
    fby_w_clear_chunks(w, slot->taken);
    fby_w_set_slot_state(w, slot, SLOT_REQUESTED);
    fby_w_count_request(w, action->hedge);
}

/* ---- Steps without a request --------------------------------------------- */

/* Choose a peer that is not to be avoided; if there is none, choose that one. */
static int choose_peer(struct fby_window *w, const struct window_slot *slot,
    enum choose_among among)
{
    int avoid = fby_w_step(w, slot->position)->avoid;
    int peer  = fby_w_choose(w, slot, avoid, among);
    return peer != FBY_NO_PEER ? peer
                               : fby_w_choose(w, slot, FBY_NO_PEER, among);
}

/* Connect the best peer if it is idle, and choose the best ready peer for the
 * present request. */
static int connect_and_choose(
    struct fby_window *w, const struct window_slot *slot)
{
    int best = choose_peer(w, slot, AMONG_REACHABLE);
    if (best != FBY_NO_PEER && w->peers[best].state == PEER_IDLE) {
        fby_w_connect(w, &w->peers[best]);
    }
    return choose_peer(w, slot, AMONG_READY);
}

static void fail_when_refused(
    struct fby_window *w, const struct window_slot *slot)
{
    const struct window_step *step = fby_w_step(w, slot->position);
    if (!fby_w_all_refused(w, step)) {
        return;
    }
    bool known = fby_w_has_bit(step->refused, (uint32_t)step->last_refuser);
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_CANNOT,
            .code  = step->code,
            .peer  = known ? step->last_refuser : FBY_NO_PEER,
            .other = FBY_NO_PEER,
            .id    = slot->id,
        },
        slot->position);
}

/* Send the slot's request, unless old chunks are in the way. False: no peer is
 * usable now. */
static bool request_step(struct fby_window *w, struct window_slot *slot)
{
    struct window_step *step = fby_w_step(w, slot->position);
    if (slot->decoding > 0 && !FBY_MUTANT(reuse_busy_slot)) {
        return true; /* not yet: its old chunks are still being decoded */
    }
    if (FBY_MUTANT(forget_rerequest) && step->repeat) {
        return true;
    }
    int peer = connect_and_choose(w, slot);
    if (peer == FBY_NO_PEER) {
        fail_when_refused(w, slot);
        return false;
    }
    w->counters.rerequests += step->repeat;
    step->repeat = false;
    send_request(w, slot, peer, MAIN_REQUEST);
    fby_w_audit_begin(w, slot);
    return true;
}

/* If the peer of this request is suspect, drop the request, provided that a
 * hedge or another peer replaces it. */
static void move_from_suspect(struct fby_window *w, struct window_slot *slot)
{
    const struct window_step *step = fby_w_step(w, slot->position);
    if (!w->peers[slot->peer].suspect || !fby_w_is_open(slot)) {
        return;
    }
    if (step->hedge != FBY_NO_SLOT ||
        fby_w_choose(w, slot, slot->peer, AMONG_READY) != FBY_NO_PEER) {
        fby_w_drop_request(w, slot, DROP_WITH_CANCEL);
    }
}

static void request_reserved_steps(struct fby_window *w)
{
    for (uint64_t position = w->cursor;
         position < w->reserved && position < w->fail_at; position++) {
        move_from_suspect(w, fby_w_slot(w, fby_w_step(w, position)->main));
        struct window_slot *slot = fby_w_slot(w, fby_w_step(w, position)->main);
        if (slot->state == SLOT_RESERVED) {
            (void)request_step(w, slot);
        }
    }
}

/* ---- New steps ----------------------------------------------------------- */

static struct window_slot *free_slot(const struct fby_window *w)
{
    for (int i = 0; i < w->n_slots; i++) {
        if (w->slots[i].state == SLOT_FREE) {
            return &w->slots[i];
        }
    }
    return NULL;
}

/* The slot of the hedge, or NULL. There is at most one hedge. */
static const struct window_slot *hedge_slot(const struct fby_window *w)
{
    for (uint64_t position = w->cursor; position < w->reserved; position++) {
        int hedge = fby_w_step(w, position)->hedge;
        if (hedge != FBY_NO_SLOT) {
            return fby_w_slot(w, hedge);
        }
    }
    return NULL;
}

/* True if max_batches and max_bytes allow a new step. The hedge's slot is not
 * counted. */
static bool has_room(const struct fby_window *w, uint64_t bytes)
{
    const struct window_slot *hedge = hedge_slot(w);
    uint32_t                  used  = w->n_used - (hedge != NULL ? 1 : 0);
    uint64_t held = w->used_bytes - (hedge != NULL ? hedge->bytes : 0);
    return used < w->config.max_batches && held <= w->config.max_bytes &&
           bytes <= w->config.max_bytes - held;
}

static void reserve_slot(
    struct fby_window *w, struct window_slot *slot, uint64_t bytes)
{
    struct window_step *step = fby_w_step(w, w->reserved);

    slot->position = w->reserved++;
    slot->bytes    = bytes;
    *step          = (struct window_step){
                 .main         = (int)(slot - w->slots),
                 .hedge        = FBY_NO_SLOT,
                 .avoid        = FBY_NO_PEER,
                 .last_refuser = FBY_NO_PEER,
                 .refused      = step->refused,
    };
    size_t words = (w->config.max_peers + 63) / 64;
    memset(step->refused, 0, words * sizeof(*step->refused));
    fby_w_set_slot_state(w, slot, SLOT_RESERVED);
}

static void request_new_steps(struct fby_window *w)
{
    while (w->reserved < w->plan.total && w->reserved < w->fail_at) {
        uint64_t            bytes = bytes_of(w, w->reserved);
        struct window_slot *slot  = free_slot(w);
        if (slot == NULL || (!has_room(w, bytes) && !FBY_MUTANT(ignore_room))) {
            return;
        }
        reserve_slot(w, slot, bytes);
        if (!request_step(w, slot)) {
            return;
        }
    }
}

/* ---- The lowest missing step --------------------------------------------- */

/* The main slot of the lowest step that is not ready, which follows `ready`
 * steps that are. NULL if that slot has no open request. */
static struct window_slot *lowest_missing(
    const struct fby_window *w, uint32_t ready)
{
    uint64_t position = w->cursor + ready;
    if (position >= w->reserved || position >= w->fail_at) {
        return NULL;
    }
    const struct window_step *step = fby_w_step(w, position);
    struct window_slot       *slot = fby_w_slot(w, step->main);
    return fby_w_is_open(slot) ? slot : NULL;
}

/* Send PING to a late peer, unless a recent PING may still be answered. */
static void probe_late_peer(struct fby_window *w, struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;
    if (peer->probe_ns != 0 || peer->state == PEER_GREETING ||
        w->now < peer->ping_ns + t->suspect) {
        return;
    }
    fby_w_send_ping(w, peer);
    peer->probe_ns = w->now != 0 ? w->now : 1; /* 0 means none */
}

/* True if the hedge's slot, which may exceed max_bytes by one batch, has room.
 * At most one hedge exists, because only the lowest missing step is hedged. */
static bool hedge_fits(
    const struct fby_window *w, const struct window_slot *slot)
{
    uint64_t most = w->config.max_bytes + w->config.batch_bytes;
    return slot->bytes <= most - w->used_bytes;
}

static void send_hedge(struct fby_window *w, struct window_slot *slow)
{
    struct window_slot *slot = free_slot(w);
    if (slow->hedged || slot == NULL || !hedge_fits(w, slow) ||
        !fby_w_may_hedge(w)) {
        return;
    }
    int peer = fby_w_choose(w, slow, slow->peer, AMONG_READY);
    if (peer == FBY_NO_PEER) {
        return;
    }
    slot->position                       = slow->position;
    slot->bytes                          = slow->bytes;
    slow->hedged                         = true;
    fby_w_step(w, slow->position)->hedge = (int)(slot - w->slots);
    w->counters.hedges++;
    send_request(w, slot, peer, HEDGE_REQUEST);
}

static int64_t late_at(
    const struct fby_window *w, const struct window_slot *slot)
{
    return slot->requested_ns + fby_w_hedge_after(w, slot->bytes);
}

static void hedge_lowest_missing(struct fby_window *w)
{
    uint32_t            ready = fby_window_n_ready(w);
    struct window_slot *slot  = lowest_missing(w, ready);
    if (slot == NULL || w->now < late_at(w, slot) ||
        !fby_w_in_demand(w, ready)) {
        return;
    }
    probe_late_peer(w, &w->peers[slot->peer]);
    send_hedge(w, slot);
}

/* Before fby_window_start there are no steps, so no request is sent. */
void fby_w_requests_tick(struct fby_window *w)
{
    request_reserved_steps(w);
    request_new_steps(w);
    hedge_lowest_missing(w);
    fby_w_audits_tick(w);
}

/* ---- The next deadline --------------------------------------------------- */

bool fby_w_lacks_request(const struct fby_window *w)
{
    for (uint64_t position = w->cursor; position < w->reserved; position++) {
        if (fby_w_slot(w, fby_w_step(w, position)->main)->state ==
            SLOT_RESERVED) {
            return true;
        }
    }
    return false;
}

/* The time at which the next BUSY peer accepts requests, if a step has none. */
static int64_t busy_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        if (peer->state == PEER_READY && peer->busy_until_ns > w->now) {
            due = fby_earlier_ns(due, peer->busy_until_ns);
        }
    }
    bool waiting = w->reserved < w->plan.total || fby_w_lacks_request(w);
    return waiting ? due : FBY_W_NEVER;
}

static int64_t lowest_deadline(const struct fby_window *w)
{
    uint32_t                  ready = fby_window_n_ready(w);
    const struct window_slot *slot  = lowest_missing(w, ready);
    if (slot == NULL || !fby_w_in_demand(w, ready)) {
        return FBY_W_NEVER;
    }
    if (late_at(w, slot) > w->now) {
        return late_at(w, slot);
    }
    const struct window_peer *peer  = &w->peers[slot->peer];
    int64_t                   probe = peer->ping_ns + w->config.times.suspect;
    return peer->probe_ns == 0 && probe > w->now ? probe : FBY_W_NEVER;
}

int64_t fby_w_requests_deadline(const struct fby_window *w)
{
    int64_t due = fby_earlier_ns(busy_deadline(w), lowest_deadline(w));
    return fby_earlier_ns(due, fby_w_audits_deadline(w));
}
