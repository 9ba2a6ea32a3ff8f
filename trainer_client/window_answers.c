/* window_answers.c - messages that answer a request, and giving a request up.
 *
 * An answer is for the slot that holds its id now, or it is late: nothing else
 * is remembered of old ids, except of the slower answers of hedges, whose END
 * is still compared with the faster one's. */
#include "trainer_client/window_state.h"

#include <string.h>

int fby_window_slot(const struct fby_window *self, struct fby_request_id id)
{
    for (int i = 0; i < self->n_slots && id.value != 0; i++) {
        const struct slot *slot = &self->slots[i];
        if (slot->id.value == id.value && slot->state >= SLOT_ASKED &&
            slot->state <= SLOT_HELD) {
            return i;
        }
    }
    return FBY_NO_SLOT;
}

bool fby_window_has_all(
    const struct fby_window *self, int peer, struct fby_request_id id)
{
    int                 slot  = fby_window_slot(self, id);
    const struct audit *audit = fby_w_audit(self, id);
    if (audit != NULL) {
        return audit->peer == peer && audit->begun &&
               audit->n_taken == audit->n_chunks;
    }
    return slot != FBY_NO_SLOT && self->slots[slot].peer == peer &&
           self->slots[slot].state != SLOT_ASKED &&
           self->slots[slot].n_taken == self->slots[slot].n_chunks;
}

/* ---- Giving up ------------------------------------------------------------ */

void fby_w_disown(struct fby_window *w, int peer, uint64_t bytes)
{
    w->peers[peer].n_open--;
    w->peers[peer].owed -= bytes;
}

/* A slot that no place needs is free once all its chunks are back. */
void fby_w_settle(struct fby_window *w, struct slot *slot)
{
    bool back = slot->decoding == 0 || FBY_MUTANT(reuse_busy_slot);
    fby_w_slot_state(w, slot, back ? SLOT_FREE : SLOT_SPENT);
}

void fby_w_cancel(struct fby_window *w, int peer, struct fby_request_id id)
{
    const struct peer *p = &w->peers[peer];
    if (fby_w_is_connected(p) && p->state != PEER_GREETING) {
        fby_w_act(w, FBY_DO_CANCEL, peer)->id = id;
    }
}

static void end_request(struct fby_window *w, struct slot *slot, bool tell)
{
    if (!fby_w_is_open(slot)) {
        return;
    }
    fby_w_disown(w, slot->peer, slot->bytes);
    if (tell) {
        fby_w_cancel(w, slot->peer, slot->id);
    }
}

/* Where there is a hedge, it takes the place; else the slot stays and waits for
 * another request. */
void fby_w_drop(struct fby_window *w, struct slot *slot, bool tell)
{
    struct place *place = fby_w_place(w, slot->at);
    int           self  = (int)(slot - w->slots);

    end_request(w, slot, tell);
    if (place->hedge == self || place->hedge != FBY_NO_SLOT) {
        place->main  = place->hedge == self ? place->main : place->hedge;
        place->hedge = FBY_NO_SLOT;
        fby_w_settle(w, slot);
        return;
    }
    fby_w_slot_state(w, slot, SLOT_RESERVED);
    place->again = true;
}

bool fby_w_names(
    const struct fby_request_id *open, size_t n_open, struct fby_request_id id)
{
    for (size_t i = 0; i < n_open; i++) {
        if (open[i].value == id.value) {
            return true;
        }
    }
    return false;
}

void fby_w_drop_unnamed(struct fby_window *w, struct peer *peer,
    uint64_t sent_before, const struct fby_request_id *open, size_t n_open)
{
    int number = fby_w_peer_number(w, peer);
    for (int i = 0; i < w->n_slots; i++) {
        struct slot *slot = &w->slots[i];
        if (fby_w_is_open(slot) && slot->peer == number &&
            slot->sent < sent_before && !fby_w_names(open, n_open, slot->id)) {
            w->counters.lost++;
            fby_w_drop(w, slot, false);
        }
    }
    fby_w_audits_drop_unnamed(w, number, sent_before, open, n_open);
}

void fby_w_drop_all(struct fby_window *w, struct peer *peer)
{
    fby_w_drop_unnamed(w, peer, UINT64_MAX, NULL, 0);
}

static void corrupt(struct fby_window *w, struct slot *slot)
{
    struct place *place = fby_w_place(w, slot->at);

    w->counters.corrupt++;
    place->avoid = slot->peer;
    if (++place->corrupt >= CORRUPT_MAX) {
        fby_w_fail(w,
            &(struct fby_window_failure){
                .cause = FBY_CAUSE_CORRUPT,
                .peer  = slot->peer,
                .other = FBY_NO_PEER,
                .epoch = slot->at / w->plan.steps_per_epoch,
                .step  = slot->at % w->plan.steps_per_epoch,
                .id    = slot->id,
            },
            slot->at);
    }
    fby_w_drop(w, slot, true);
}

/* ---- Hedges --------------------------------------------------------------- */

void fby_w_differ(struct fby_window *w, const struct difference *difference)
{
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_DIFFERENT,
            .peer  = difference->peer,
            .other = difference->other,
            .epoch = difference->at / w->plan.steps_per_epoch,
            .step  = difference->at % w->plan.steps_per_epoch,
            .id    = difference->id,
        },
        0);
}

static void compare(struct fby_window *w, const struct loser *loser,
    const struct fby_sum *content)
{
    if (!fby_sum_equal(&loser->content, content)) {
        fby_w_differ(w, &(struct difference){
                            .at    = loser->at,
                            .peer  = loser->winner_peer,
                            .other = loser->peer,
                            .id    = loser->id,
                        });
    }
}

/* The slower one is told to stop; what it has sent already is compared. */
static void retire(
    struct fby_window *w, const struct slot *winner, struct slot *slower)
{
    struct loser loser = {
        .id          = slower->id,
        .peer        = slower->peer,
        .winner      = winner->id,
        .winner_peer = winner->peer,
        .at          = winner->at,
        .content     = winner->content,
    };
    w->losers[w->n_losers++ % LOSERS] = loser;
    if (slower->state == SLOT_ENDED) {
        compare(w, &loser, &slower->content);
    }
    if (fby_w_is_open(slower)) {
        fby_w_measure_slow(w, &w->peers[slower->peer]);
    }
    end_request(w, slower, true);
    fby_w_settle(w, slower);
}

static const struct loser *find_loser(
    const struct fby_window *w, struct fby_request_id id)
{
    for (uint32_t i = 0; i < LOSERS && i < w->n_losers; i++) {
        if (w->losers[i].id.value == id.value) {
            return &w->losers[i];
        }
    }
    return NULL;
}

void fby_w_losers_forget(struct fby_window *w, int peer)
{
    for (uint32_t i = 0; i < LOSERS && i < w->n_losers; i++) {
        struct loser *loser = &w->losers[i];
        if (loser->peer == peer) {
            loser->peer = FBY_NO_PEER;
        }
        if (loser->winner_peer == peer) {
            loser->winner_peer = FBY_NO_PEER;
        }
    }
}

static void complete(struct fby_window *w, struct slot *slot)
{
    struct place *place = fby_w_place(w, slot->at);
    int           self  = (int)(slot - w->slots);

    fby_w_slot_state(w, slot, SLOT_READY);
    fby_w_audit_main(w, slot);
    if (place->hedge == FBY_NO_SLOT) {
        return;
    }
    int slower = place->hedge == self ? place->main : place->hedge;
    w->counters.hedges_won += place->hedge == self;
    place->main  = self;
    place->hedge = FBY_NO_SLOT;
    retire(w, slot, &w->slots[slower]);
}

/* ---- Data messages -------------------------------------------------------- */

static enum fby_verdict breach(struct fby_window *w, int peer)
{
    fby_window_proto(w, w->clock, peer);
    return FBY_BREACH;
}

/* What an audit says of its answer, done. */
static enum fby_verdict judged(
    struct fby_window *w, int peer, enum fby_verdict verdict)
{
    return verdict == FBY_BREACH ? breach(w, peer) : verdict;
}

static enum fby_verdict late_verdict(
    const struct fby_window *w, struct fby_request_id id)
{
    return find_loser(w, id) != NULL ? FBY_LATE_HEDGE : FBY_LATE;
}

/* The slot an answer is for, or NULL and why not. An answer from a peer that
 * was not asked may be honest, when two peers turn out to be one worker. */
static struct slot *open_slot(struct fby_window *w, int peer,
    struct fby_request_id id, enum fby_verdict *verdict)
{
    int slot = fby_window_slot(w, id);
    if (FBY_MUTANT(wrong_id) && slot == FBY_NO_SLOT) {
        slot = fby_window_slot(w, (struct fby_request_id){id.value + 1});
    }
    const struct audit *audit = fby_w_audit(w, id);
    if (id.value == 0 || id.value > w->newest ||
        (slot != FBY_NO_SLOT && w->slots[slot].peer != peer) ||
        (audit != NULL && audit->peer != peer)) {
        w->counters.unknown++;
        *verdict = FBY_UNKNOWN;
        return NULL;
    }
    if (slot == FBY_NO_SLOT) {
        *verdict = audit != NULL ? FBY_AUDIT : late_verdict(w, id);
        return NULL;
    }
    *verdict = FBY_TAKE;
    return &w->slots[slot];
}

/* False: the message came from nobody, and is to be dropped as late. */
static bool enter(struct fby_window *w, int64_t now_ns, int peer)
{
    fby_w_enter(w, now_ns);
    struct peer *p = fby_w_peer(w, peer);
    if (p == NULL || !fby_w_is_connected(p)) {
        return false;
    }
    fby_w_heard(w, p);
    return true;
}

enum fby_verdict fby_window_header(struct fby_window *self, int64_t now_ns,
    int peer, struct fby_request_id id, uint32_t n_chunks)
{
    enum fby_verdict verdict = FBY_LATE;
    struct slot     *slot    = NULL;
    if (enter(self, now_ns, peer)) {
        slot = open_slot(self, peer, id, &verdict);
    }
    if (verdict == FBY_AUDIT) {
        return judged(self, peer, fby_w_audit_header(self, id, n_chunks));
    }
    if (slot == NULL) {
        return verdict;
    }
    if (slot->state != SLOT_ASKED) { /* sent again on a new route */
        return n_chunks == slot->n_chunks ? FBY_DUPLICATE : breach(self, peer);
    }
    if (n_chunks > self->config.max_chunks) {
        return breach(self, peer);
    }
    slot->n_chunks = n_chunks;
    fby_w_slot_state(self, slot, SLOT_FILLING);
    return FBY_TAKE;
}

/* Chunks are independent and their bytes are a function of the step: those
 * taken on an old route stay taken when the answer is sent again. */
static enum fby_verdict take_chunk(
    struct fby_window *w, struct slot *slot, uint32_t chunk)
{
    if (slot->state == SLOT_ASKED || chunk >= slot->n_chunks) {
        return breach(w, slot->peer);
    }
    if (fby_w_has_bit(slot->taken, chunk) &&
        !(FBY_MUTANT(accept_duplicate) && slot->n_taken < slot->n_chunks)) {
        return FBY_DUPLICATE;
    }
    fby_w_set_bit(slot->taken, chunk);
    slot->n_taken++;
    slot->decoding++;
    return FBY_TAKE;
}

static void count_chunk(struct fby_window *w, enum fby_verdict verdict)
{
    w->counters.late += verdict == FBY_LATE;
    w->counters.late_hedge += verdict == FBY_LATE_HEDGE;
    w->counters.duplicates += verdict == FBY_DUPLICATE;
}

static void count_bytes(struct fby_window *w, struct peer *peer, uint64_t bytes)
{
    peer->received += bytes;
    if (peer->uncredited_ns == 0 && bytes > 0) {
        peer->uncredited_ns = w->now != 0 ? w->now : 1;
    }
}

enum fby_verdict fby_window_chunk(struct fby_window *self, int64_t now_ns,
    const struct fby_window_chunk *chunk)
{
    enum fby_verdict verdict = FBY_LATE;
    if (!enter(self, now_ns, chunk->peer)) {
        return verdict;
    }
    struct slot *slot = open_slot(self, chunk->peer, chunk->id, &verdict);
    if (verdict == FBY_AUDIT) {
        verdict = judged(self, chunk->peer,
            fby_w_audit_chunk(self, chunk->id, chunk->chunk));
    } else if (slot != NULL) {
        verdict = take_chunk(self, slot, chunk->chunk);
    }
    if (verdict == FBY_TAKE || !FBY_MUTANT(forget_credit)) {
        count_bytes(self, &self->peers[chunk->peer], chunk->wire_bytes);
    }
    count_chunk(self, verdict);
    return verdict;
}

static void end_late(struct fby_window *w, const struct fby_window_end *end)
{
    const struct loser *loser = find_loser(w, end->id);
    if (loser != NULL && loser->peer == end->peer) {
        compare(w, loser, &end->content);
    }
}

static void end_slot(
    struct fby_window *w, struct slot *slot, const struct fby_window_end *end)
{
    if (slot->n_taken < slot->n_chunks || !end->matches) {
        corrupt(w, slot);
        return;
    }
    fby_w_measure(w, slot);
    fby_w_disown(w, slot->peer, slot->bytes);
    slot->content = end->content;
    fby_w_slot_state(w, slot, SLOT_ENDED);
    if (slot->n_decoded == slot->n_chunks) {
        complete(w, slot);
    }
}

enum fby_verdict fby_window_end(
    struct fby_window *self, int64_t now_ns, const struct fby_window_end *end)
{
    enum fby_verdict verdict = FBY_LATE;
    if (!enter(self, now_ns, end->peer)) {
        return verdict;
    }
    struct slot *slot = open_slot(self, end->peer, end->id, &verdict);
    if (verdict == FBY_AUDIT) {
        return judged(self, end->peer, fby_w_audit_end(self, end));
    }
    if (verdict == FBY_LATE_HEDGE) {
        end_late(self, end);
    }
    if (slot == NULL) {
        return verdict;
    }
    if (slot->state == SLOT_ASKED) {
        return breach(self, end->peer);
    }
    if (slot->state != SLOT_FILLING) {
        return FBY_DUPLICATE;
    }
    end_slot(self, slot, end);
    return FBY_TAKE;
}

void fby_window_decoded(struct fby_window *self, int64_t now_ns, int slot,
    struct fby_request_id id, bool ok)
{
    fby_w_enter(self, now_ns);
    if (slot < 0 || slot >= self->n_slots || self->slots[slot].decoding == 0) {
        return;
    }
    struct slot *s = &self->slots[slot];
    s->decoding--;
    if (s->state == SLOT_SPENT) {
        fby_w_settle(self, s);
        return;
    }
    if (s->id.value != id.value || s->state < SLOT_FILLING ||
        s->state > SLOT_ENDED) {
        return;
    }
    if (!ok && !FBY_MUTANT(accept_corrupt)) {
        corrupt(self, s);
        return;
    }
    s->n_decoded++;
    if (s->state == SLOT_ENDED && s->n_decoded == s->n_chunks) {
        complete(self, s);
    }
}

/* ---- Refusals ------------------------------------------------------------- */

/* Is a refusal about an open request? *out is its slot, or NULL: an audit's,
 * of which nothing is left to do. */
static bool is_refused(
    struct fby_window *w, int peer, struct fby_request_id id, struct slot **out)
{
    enum fby_verdict verdict = FBY_LATE;
    struct slot     *slot    = open_slot(w, peer, id, &verdict);
    *out                     = slot;
    if (verdict == FBY_AUDIT) {
        return fby_w_audit_skip(w, id);
    }
    return slot != NULL && fby_w_is_open(slot);
}

void fby_window_busy(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int64_t retry_ns)
{
    struct slot *slot = NULL;
    if (!enter(self, now_ns, peer) || !is_refused(self, peer, id, &slot)) {
        return;
    }
    const struct fby_window_times *t = &self->config.times;
    int64_t wait = retry_ns > t->busy_min ? retry_ns : t->busy_min;
    self->counters.busy++;
    self->peers[peer].busy_ns =
        self->now + (wait < t->backoff_max ? wait : t->backoff_max);
    if (slot == NULL) {
        return;
    }
    struct place *place = fby_w_place(self, slot->at);
    bool          again = place->again;
    fby_w_drop(self, slot, false);
    place->again = again; /* BUSY loses nothing */
}

void fby_window_lost(
    struct fby_window *self, int64_t now_ns, int peer, struct fby_request_id id)
{
    struct slot *slot = NULL;
    if (!enter(self, now_ns, peer) || !is_refused(self, peer, id, &slot)) {
        return;
    }
    self->counters.lost++;
    if (slot != NULL) {
        /* It may lose every request at once: better ask another. */
        fby_w_place(self, slot->at)->avoid = peer;
        fby_w_drop(self, slot, false);
    }
}

void fby_window_cannot(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int code)
{
    struct slot *slot = NULL;
    if (!enter(self, now_ns, peer) || !is_refused(self, peer, id, &slot)) {
        return;
    }
    self->counters.cannot++;
    if (slot == NULL) {
        return;
    }
    struct place *place = fby_w_place(self, slot->at);
    fby_w_set_bit(place->refused, (uint32_t)peer);
    place->refuser = peer;
    place->code    = code;
    fby_w_drop(self, slot, false);
}
