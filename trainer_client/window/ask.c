/* ask.c - asking, asking again, and hedging.
 *
 * Events only note what happened; the asking is done once a turn, from what is
 * noted, lowest step first. */
#include "trainer_client/window/state.h"

#include <string.h>

/* ---- One request --------------------------------------------------------- */

static uint64_t bytes_of(const struct fby_window *w, uint64_t at)
{
    if (w->plan.bytes == NULL) {
        return w->config.batch_bytes;
    }
    uint64_t bytes = w->plan.bytes(w->plan.context,
        at / w->plan.steps_per_epoch, at % w->plan.steps_per_epoch);
    return bytes < w->config.batch_bytes ? bytes : w->config.batch_bytes;
}

struct fby_action *fby_w_request(
    struct fby_window *w, int peer, uint64_t at, uint64_t bytes)
{
    struct peer *p = &w->peers[peer];

    p->since_ns = p->n_open == 0 ? w->now : p->since_ns;
    p->n_open++;
    p->owed += bytes;
    p->used_ns = w->now;
    w->counters.requests++;

    struct fby_action *action = fby_w_act(w, FBY_DO_REQUEST, peer);
    action->id                = fby_w_new_id(w);
    action->epoch             = at / w->plan.steps_per_epoch;
    action->step              = at % w->plan.steps_per_epoch;
    action->bytes             = bytes;
    return action;
}

static void request(
    struct fby_window *w, struct slot *slot, int peer, bool hedge)
{
    struct fby_action *action = fby_w_request(w, peer, slot->at, slot->bytes);

    action->slot    = (int)(slot - w->slots);
    action->hedge   = hedge;
    slot->id        = action->id;
    slot->peer      = peer;
    slot->sent      = w->pings;
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

/* One that sent a bad answer is asked again only when there is no other. */
static int choose(
    struct fby_window *w, const struct slot *slot, enum choose_among among)
{
    int avoid = fby_w_place(w, slot->at)->avoid;
    int peer  = fby_w_choose(w, slot, avoid, among);
    return peer != FBY_NO_PEER ? peer
                               : fby_w_choose(w, slot, FBY_NO_PEER, among);
}

/* Whoever would be best is connected, if it is not; meanwhile one that can be
 * asked now is asked. */
static int pick(struct fby_window *w, const struct slot *slot)
{
    int best = choose(w, slot, AMONG_REACHABLE);
    if (best != FBY_NO_PEER && w->peers[best].state == PEER_IDLE) {
        fby_w_connect(w, &w->peers[best]);
    }
    return choose(w, slot, AMONG_READY);
}

static void fail_when_refused(struct fby_window *w, const struct slot *slot)
{
    const struct place *place = fby_w_place(w, slot->at);
    if (!fby_w_all_refused(w, place)) {
        return;
    }
    bool there = fby_w_has_bit(place->refused, (uint32_t)place->refuser);
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_CANNOT,
            .code  = place->code,
            .peer  = there ? place->refuser : FBY_NO_PEER,
            .other = FBY_NO_PEER,
            .epoch = slot->at / w->plan.steps_per_epoch,
            .step  = slot->at % w->plan.steps_per_epoch,
            .id    = slot->id,
        },
        slot->at);
}

/* False: nobody can be asked for it now. */
static bool ask(struct fby_window *w, struct slot *slot)
{
    struct place *place = fby_w_place(w, slot->at);
    if (slot->decoding > 0 && !FBY_MUTANT(reuse_busy_slot)) {
        return true; /* soon: its old chunks are still being decoded */
    }
    if (FBY_MUTANT(forget_rerequest) && place->again) {
        return true;
    }
    int peer = pick(w, slot);
    if (peer == FBY_NO_PEER) {
        fail_when_refused(w, slot);
        return false;
    }
    w->counters.rerequests += place->again;
    place->again = false;
    request(w, slot, peer, false);
    fby_w_audit_begin(w, slot);
    return true;
}

/* A suspect's request moves when somebody else can be asked, and stays when
 * there is nobody. */
static void move_from_suspect(struct fby_window *w, struct slot *slot)
{
    const struct place *place = fby_w_place(w, slot->at);
    if (!w->peers[slot->peer].suspect || !fby_w_is_open(slot)) {
        return;
    }
    if (place->hedge != FBY_NO_SLOT ||
        fby_w_choose(w, slot, slot->peer, AMONG_READY) != FBY_NO_PEER) {
        fby_w_drop(w, slot, true);
    }
}

static void ask_places(struct fby_window *w)
{
    for (uint64_t at = w->cursor; at < w->reserved && at < w->fail_at; at++) {
        move_from_suspect(w, fby_w_slot(w, fby_w_place(w, at)->main));
        struct slot *slot = fby_w_slot(w, fby_w_place(w, at)->main);
        if (slot->state == SLOT_RESERVED) {
            (void)ask(w, slot);
        }
    }
}

/* ---- New steps ----------------------------------------------------------- */

static struct slot *free_slot(const struct fby_window *w)
{
    for (int i = 0; i < w->n_slots; i++) {
        if (w->slots[i].state == SLOT_FREE) {
            return &w->slots[i];
        }
    }
    return NULL;
}

/* The one hedge under way, or NULL. */
static const struct slot *hedge_slot(const struct fby_window *w)
{
    for (uint64_t at = w->cursor; at < w->reserved; at++) {
        int hedge = fby_w_place(w, at)->hedge;
        if (hedge != FBY_NO_SLOT) {
            return fby_w_slot(w, hedge);
        }
    }
    return NULL;
}

/* As many steps as slots have a place: each holds a slot besides the hedge's. */
static bool has_room(const struct fby_window *w, uint64_t bytes)
{
    const struct slot *hedge = hedge_slot(w);
    uint32_t           used  = w->n_used - (hedge != NULL ? 1 : 0);
    uint64_t held = w->used_bytes - (hedge != NULL ? hedge->bytes : 0);
    return used < w->config.max_batches && held <= w->config.max_bytes &&
           bytes <= w->config.max_bytes - held;
}

static void reserve(struct fby_window *w, struct slot *slot, uint64_t bytes)
{
    struct place *place = fby_w_place(w, w->reserved);

    slot->at    = w->reserved++;
    slot->bytes = bytes;
    *place      = (struct place){
             .main    = (int)(slot - w->slots),
             .hedge   = FBY_NO_SLOT,
             .avoid   = FBY_NO_PEER,
             .refuser = FBY_NO_PEER,
             .refused = place->refused,
    };
    size_t words = (w->config.max_peers + 63) / 64;
    memset(place->refused, 0, words * sizeof(*place->refused));
    fby_w_slot_state(w, slot, SLOT_RESERVED);
}

static void ask_new(struct fby_window *w)
{
    while (w->reserved < w->plan.total && w->reserved < w->fail_at) {
        uint64_t     bytes = bytes_of(w, w->reserved);
        struct slot *slot  = free_slot(w);
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

/* Its slot while its answer is on its way and no hedge is; else NULL. */
static struct slot *lowest_missing(const struct fby_window *w, uint32_t ready)
{
    uint64_t at = w->cursor + ready;
    if (at >= w->reserved || at >= w->fail_at) {
        return NULL;
    }
    const struct place *place = fby_w_place(w, at);
    struct slot        *slot  = fby_w_slot(w, place->main);
    return fby_w_is_open(slot) ? slot : NULL;
}

/* Ask whether the peer is there; not again before it could be judged. */
static void probe(struct fby_window *w, struct peer *peer)
{
    const struct fby_window_times *t = &w->config.times;
    if (peer->probe_ns != 0 || peer->state == PEER_GREETING ||
        w->now < peer->ping_ns + t->suspect) {
        return;
    }
    fby_w_ping(w, peer);
    peer->probe_ns = w->now != 0 ? w->now : 1;
}

/* There is no other hedge: only the lowest missing step has one. */
static bool hedge_fits(const struct fby_window *w, const struct slot *slot)
{
    uint64_t most = w->config.max_bytes + w->config.batch_bytes;
    return slot->bytes <= most - w->used_bytes;
}

static void hedge(struct fby_window *w, struct slot *slow)
{
    struct slot *slot = free_slot(w);
    if (slow->hedged || slot == NULL || !hedge_fits(w, slow) ||
        !fby_w_may_hedge(w)) {
        return;
    }
    int peer = fby_w_choose(w, slow, slow->peer, AMONG_READY);
    if (peer == FBY_NO_PEER) {
        return;
    }
    slot->at                        = slow->at;
    slot->bytes                     = slow->bytes;
    slow->hedged                    = true;
    fby_w_place(w, slow->at)->hedge = (int)(slot - w->slots);
    w->counters.hedges++;
    request(w, slot, peer, true);
}

static int64_t late_at(const struct fby_window *w, const struct slot *slot)
{
    return slot->asked_ns + fby_w_hedge_after(w, slot->bytes);
}

static void mind_lowest_missing(struct fby_window *w)
{
    uint32_t     ready = fby_window_ready(w);
    struct slot *slot  = lowest_missing(w, ready);
    if (slot == NULL || w->now < late_at(w, slot) ||
        !fby_w_in_demand(w, ready)) {
        return;
    }
    probe(w, &w->peers[slot->peer]);
    hedge(w, slot);
}

/* Before the start there is no step: all of them find nothing to do. */
void fby_w_ask_tick(struct fby_window *w)
{
    ask_places(w);
    ask_new(w);
    mind_lowest_missing(w);
    fby_w_audits_tick(w);
}

/* ---- When to look again -------------------------------------------------- */

bool fby_w_lacks_request(const struct fby_window *w)
{
    for (uint64_t at = w->cursor; at < w->reserved; at++) {
        if (fby_w_slot(w, fby_w_place(w, at)->main)->state == SLOT_RESERVED) {
            return true;
        }
    }
    return false;
}

static bool is_waiting(const struct fby_window *w)
{
    return fby_w_lacks_request(w) || w->reserved < w->plan.total;
}

/* When the next BUSY peer may be asked again, if that helps anybody. */
static int64_t busy_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    for (int i = 0; i < w->n_peers; i++) {
        const struct peer *peer = &w->peers[i];
        if (peer->state == PEER_READY && peer->busy_ns > w->now &&
            peer->busy_ns < due) {
            due = peer->busy_ns;
        }
    }
    return due != FBY_W_NEVER && is_waiting(w) ? due : FBY_W_NEVER;
}

static int64_t lowest_deadline(const struct fby_window *w)
{
    uint32_t           ready = fby_window_ready(w);
    const struct slot *slot  = lowest_missing(w, ready);
    if (slot == NULL || !fby_w_in_demand(w, ready)) {
        return FBY_W_NEVER;
    }
    if (late_at(w, slot) > w->now) {
        return late_at(w, slot);
    }
    const struct peer *peer  = &w->peers[slot->peer];
    int64_t            probe = peer->ping_ns + w->config.times.suspect;
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
