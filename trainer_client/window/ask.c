/* ask.c - requests, repeated requests and hedges.
 *
 * Events only change the state. The tick sends requests from that state, the
 * lowest step first. */
#include "trainer_client/window/state.h"

#include <string.h>

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

struct fby_action *fby_w_request(
    struct fby_window *w, int peer, uint64_t position, uint64_t bytes)
{
    struct window_peer *p = &w->peers[peer];

    p->service_since_ns = p->n_open == 0 ? w->now : p->service_since_ns;
    p->n_open++;
    p->owed += bytes;
    p->used_ns = w->now;
    w->counters.requests++;

    struct fby_action *action = fby_w_action(w, FBY_DO_REQUEST, peer);
    action->id                = fby_w_new_id(w);
    action->epoch             = position / w->plan.steps_per_epoch;
    action->step              = position % w->plan.steps_per_epoch;
    action->bytes             = bytes;
    return action;
}

static void request(
    struct fby_window *w, struct window_slot *slot, int peer, bool hedge)
{
    struct fby_action *action =
        fby_w_request(w, peer, slot->position, slot->bytes);

    action->slot    = (int)(slot - w->slots);
    action->hedge   = hedge;
    slot->id        = action->id;
    slot->peer      = peer;
    slot->last_ping = w->pings;
    slot->asked_ns  = w->now;
    slot->hedged    = false;
    slot->n_chunks  = 0;
    slot->n_taken   = 0;
    slot->n_decoded = 0;
    fby_w_clear_chunks(w, slot->taken);
    fby_w_slot_state(w, slot, SLOT_ASKED);
    fby_w_count_request(w, hedge);
}

/* ---- Steps without a request --------------------------------------------- */

/* Avoid a peer that sent a bad answer, unless there is no other. */
static int choose(struct fby_window *w, const struct window_slot *slot,
    enum choose_among among)
{
    int avoid = fby_w_step(w, slot->position)->avoid;
    int peer  = fby_w_choose(w, slot, avoid, among);
    return peer != FBY_NO_PEER ? peer
                               : fby_w_choose(w, slot, FBY_NO_PEER, among);
}

/* Connect the best peer if it is idle, and meanwhile choose one that is
 * ready. */
static int pick_peer(struct fby_window *w, const struct window_slot *slot)
{
    int best = choose(w, slot, AMONG_REACHABLE);
    if (best != FBY_NO_PEER && w->peers[best].state == PEER_IDLE) {
        fby_w_connect(w, &w->peers[best]);
    }
    return choose(w, slot, AMONG_READY);
}

static void fail_when_refused(
    struct fby_window *w, const struct window_slot *slot)
{
    const struct window_step *step = fby_w_step(w, slot->position);
    if (!fby_w_all_refused(w, step)) {
        return;
    }
    bool there = fby_w_has_bit(step->refused, (uint32_t)step->last_refuser);
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_CANNOT,
            .code  = step->code,
            .peer  = there ? step->last_refuser : FBY_NO_PEER,
            .other = FBY_NO_PEER,
            .epoch = slot->position / w->plan.steps_per_epoch,
            .step  = slot->position % w->plan.steps_per_epoch,
            .id    = slot->id,
        },
        slot->position);
}

/* Send the slot's request. False: no peer is usable now. */
static bool ask(struct fby_window *w, struct window_slot *slot)
{
    struct window_step *step = fby_w_step(w, slot->position);
    if (slot->decoding > 0 && !FBY_MUTANT(reuse_busy_slot)) {
        return true; /* later: its old chunks are still being decoded */
    }
    if (FBY_MUTANT(forget_rerequest) && step->repeat) {
        return true;
    }
    int peer = pick_peer(w, slot);
    if (peer == FBY_NO_PEER) {
        fail_when_refused(w, slot);
        return false;
    }
    w->counters.rerequests += step->repeat;
    step->repeat = false;
    request(w, slot, peer, false);
    fby_w_audit_begin(w, slot);
    return true;
}

/* Drop a suspect's request if a hedge or another peer can replace it. */
static void move_from_suspect(struct fby_window *w, struct window_slot *slot)
{
    const struct window_step *step = fby_w_step(w, slot->position);
    if (!w->peers[slot->peer].suspect || !fby_w_is_open(slot)) {
        return;
    }
    if (step->hedge != FBY_NO_SLOT ||
        fby_w_choose(w, slot, slot->peer, AMONG_READY) != FBY_NO_PEER) {
        fby_w_drop(w, slot, true);
    }
}

static void ask_reserved(struct fby_window *w)
{
    for (uint64_t position = w->cursor;
         position < w->reserved && position < w->fail_at; position++) {
        move_from_suspect(w, fby_w_slot(w, fby_w_step(w, position)->main));
        struct window_slot *slot = fby_w_slot(w, fby_w_step(w, position)->main);
        if (slot->state == SLOT_RESERVED) {
            (void)ask(w, slot);
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

/* The slot of the only hedge, or NULL. */
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

/* Whether the limits allow a new step; the hedge's slot does not count. */
static bool has_room(const struct fby_window *w, uint64_t bytes)
{
    const struct window_slot *hedge = hedge_slot(w);
    uint32_t                  used  = w->n_used - (hedge != NULL ? 1 : 0);
    uint64_t held = w->used_bytes - (hedge != NULL ? hedge->bytes : 0);
    return used < w->config.max_batches && held <= w->config.max_bytes &&
           bytes <= w->config.max_bytes - held;
}

static void reserve(
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
    fby_w_slot_state(w, slot, SLOT_RESERVED);
}

static void ask_new(struct fby_window *w)
{
    while (w->reserved < w->plan.total && w->reserved < w->fail_at) {
        uint64_t            bytes = bytes_of(w, w->reserved);
        struct window_slot *slot  = free_slot(w);
        if (slot == NULL || (!has_room(w, bytes) && !FBY_MUTANT(ignore_room))) {
            return;
        }
        reserve(w, slot, bytes);
        if (!ask(w, slot)) {
            return;
        }
    }
}

/* ---- The lowest missing step --------------------------------------------- */

/* The slot of the lowest missing step while its request is open; else NULL. */
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

/* Send PING to a late peer, unless a recent PING can still be answered. */
static void probe(struct fby_window *w, struct window_peer *peer)
{
    const struct fby_window_times *t = &w->config.times;
    if (peer->probe_ns != 0 || peer->state == PEER_GREETING ||
        w->now < peer->ping_ns + t->suspect) {
        return;
    }
    fby_w_ping(w, peer);
    peer->probe_ns = w->now != 0 ? w->now : 1;
}

/* At most one hedge exists, because only the lowest missing step has one. */
static bool hedge_fits(
    const struct fby_window *w, const struct window_slot *slot)
{
    uint64_t most = w->config.max_bytes + w->config.batch_bytes;
    return slot->bytes <= most - w->used_bytes;
}

static void hedge(struct fby_window *w, struct window_slot *slow)
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
    request(w, slot, peer, true);
}

static int64_t late_at(
    const struct fby_window *w, const struct window_slot *slot)
{
    return slot->asked_ns + fby_w_hedge_after(w, slot->bytes);
}

static void check_lowest_missing(struct fby_window *w)
{
    uint32_t            ready = fby_window_ready(w);
    struct window_slot *slot  = lowest_missing(w, ready);
    if (slot == NULL || w->now < late_at(w, slot) ||
        !fby_w_in_demand(w, ready)) {
        return;
    }
    probe(w, &w->peers[slot->peer]);
    hedge(w, slot);
}

/* Does nothing before start, when there are no steps. */
void fby_w_ask_tick(struct fby_window *w)
{
    ask_reserved(w);
    ask_new(w);
    check_lowest_missing(w);
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

static bool is_waiting(const struct fby_window *w)
{
    return fby_w_lacks_request(w) || w->reserved < w->plan.total;
}

/* When the next BUSY peer accepts requests, if a step waits for a peer. */
static int64_t busy_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        if (peer->state == PEER_READY && peer->busy_until_ns > w->now &&
            peer->busy_until_ns < due) {
            due = peer->busy_until_ns;
        }
    }
    return due != FBY_W_NEVER && is_waiting(w) ? due : FBY_W_NEVER;
}

static int64_t lowest_deadline(const struct fby_window *w)
{
    uint32_t                  ready = fby_window_ready(w);
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

int64_t fby_w_ask_deadline(const struct fby_window *w)
{
    int64_t busy   = busy_deadline(w);
    int64_t lowest = lowest_deadline(w);
    int64_t audits = fby_w_audits_deadline(w);
    int64_t first  = busy < lowest ? busy : lowest;
    return first < audits ? first : audits;
}
