/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c - messages of workers ("peers") that answer a request for a batch.
 *
 * An answer is HEADER, chunks and END, or one message that refuses. Its request
 * id belongs to a slot, or to an audit (a second request, sent only to compare
 * the answers). If the id belongs to neither, the answer is late.
 * FBY_MUTANT(bug) is true only in a test that must detect this bug. */
#include "common/clock.h"
#include "trainer_client/window/window_state.h"

int fby_window_find_slot(
    const struct fby_window *self, struct fby_request_id id)
{
    for (int i = 0; i < self->n_slots; i++) {
        const struct window_slot *slot = &self->slots[i];
        bool                      has_request =
            slot->state >= SLOT_REQUESTED && slot->state <= SLOT_HELD;
        if (has_request && slot->id.value == id.value) {
            return i;
        }
    }
    return FBY_NO_SLOT;
}

bool fby_window_has_all_chunks(
    const struct fby_window *self, int peer, struct fby_request_id id)
{
    const struct audit *audit = fby_w_find_audit(self, id);
    if (audit != NULL) {
        return audit->peer == peer && audit->has_header &&
               audit->n_taken == audit->n_chunks;
    }
    int index = fby_window_find_slot(self, id);
    if (index == FBY_NO_SLOT) {
        return false;
    }
    const struct window_slot *slot       = &self->slots[index];
    bool                      has_header = slot->state != SLOT_REQUESTED;
    return slot->peer == peer && has_header && slot->n_taken == slot->n_chunks;
}

/* ---- Data messages ------------------------------------------------------- */

enum fby_verdict fby_w_report_breach(struct fby_window *w, int peer)
{
    fby_window_breach(w, w->last_caller_ns, peer);
    return FBY_BREACH;
}

/* Find the slot of the request that `peer` answers. If there is none, set
 * *verdict and return NULL. An answer from a peer that was not asked is
 * FBY_UNKNOWN and no breach, because two peers may be one worker. */
static struct window_slot *find_answered_slot(struct fby_window *w, int peer,
    struct fby_request_id id, enum fby_verdict *verdict)
{
    int slot = fby_window_find_slot(w, id);
    if (FBY_MUTANT(wrong_id) && slot == FBY_NO_SLOT) {
        slot = fby_window_find_slot(w, (struct fby_request_id){id.value + 1});
    }
    const struct audit *audit = fby_w_find_audit(w, id);
    bool never_requested      = id.value == 0 || id.value > w->newest_id;
    bool from_other_peer =
        (slot != FBY_NO_SLOT && w->slots[slot].peer != peer) ||
        (audit != NULL && audit->peer != peer);
    if (never_requested || from_other_peer) {
        w->counters.unknown++;
        *verdict = FBY_UNKNOWN;
        return NULL;
    }
    if (slot != FBY_NO_SLOT) {
        return &w->slots[slot];
    }
    bool is_loser = fby_w_is_loser(w, id);
    *verdict = audit != NULL ? FBY_AUDIT : is_loser ? FBY_LATE_HEDGE : FBY_LATE;
    return NULL;
}

enum fby_verdict fby_window_header(struct fby_window *self, int64_t now_ns,
    int peer, struct fby_request_id id, uint32_t n_chunks)
{
    enum fby_verdict    verdict = FBY_LATE;
    struct window_slot *slot    = NULL;
    if (fby_w_begin_peer_event(self, now_ns, peer) != NULL) {
        slot = find_answered_slot(self, peer, id, &verdict);
    }
    if (verdict == FBY_AUDIT) {
        return fby_w_audit_header(self, fby_w_find_audit(self, id), n_chunks);
    }
    if (slot == NULL) {
        return verdict;
    }
    if (slot->state != SLOT_REQUESTED) { /* HEADER again, on a new route */
        return n_chunks == slot->n_chunks ? FBY_DUPLICATE
                                          : fby_w_report_breach(self, peer);
    }
    if (n_chunks > self->config.max_chunks) {
        return fby_w_report_breach(self, peer);
    }
    slot->n_chunks = n_chunks;
    fby_w_set_slot_state(self, slot, SLOT_FILLING);
    return FBY_TAKE;
}

/* The bytes of a chunk depend only on the step. So a chunk that was received on
 * an older route is a duplicate, and is not stored again. */
static enum fby_verdict take_chunk(
    struct fby_window *w, struct window_slot *slot, uint32_t chunk)
{
    if (chunk >= slot->n_chunks) { /* n_chunks is 0 before HEADER */
        return fby_w_report_breach(w, slot->peer);
    }
    if (fby_w_has_bit(slot->taken, chunk) &&
        !(FBY_MUTANT(accept_duplicate) && slot->n_taken < slot->n_chunks)) {
        return FBY_DUPLICATE;
    }
    fby_w_set_bit(slot->taken, chunk);
    slot->n_taken++;
    slot->n_decoding++;
    return FBY_TAKE;
}

static void count_received(
    struct fby_window *w, struct window_peer *peer, uint64_t bytes)
{
    peer->received += bytes;
    peer->largest = bytes > peer->largest ? bytes : peer->largest;
    if (peer->uncredited_since_ns == 0 && bytes > 0) {
        peer->uncredited_since_ns = w->now != 0 ? w->now : 1; /* 0 means none */
    }
}

enum fby_verdict fby_window_chunk(struct fby_window *self, int64_t now_ns,
    const struct fby_window_chunk *chunk)
{
    enum fby_verdict verdict = FBY_LATE;
    if (fby_w_begin_peer_event(self, now_ns, chunk->peer) == NULL) {
        return verdict;
    }
    struct window_slot *slot =
        find_answered_slot(self, chunk->peer, chunk->id, &verdict);
    if (verdict == FBY_AUDIT) {
        verdict = fby_w_audit_chunk(
            self, fby_w_find_audit(self, chunk->id), chunk->chunk);
    } else if (slot != NULL) {
        verdict = take_chunk(self, slot, chunk->chunk);
    }
    fby_w_note_progress(self, &self->peers[chunk->peer]);
    if (verdict == FBY_TAKE || !FBY_MUTANT(forget_credit)) {
        count_received(self, &self->peers[chunk->peer], chunk->wire_bytes);
    }
    self->counters.late += verdict == FBY_LATE;
    self->counters.late_hedge += verdict == FBY_LATE_HEDGE;
    self->counters.duplicates += verdict == FBY_DUPLICATE;
    return verdict;
}

static void finish_answer(struct fby_window *w, struct window_slot *slot,
    const struct fby_window_end *end)
{
    if (slot->n_taken < slot->n_chunks || !end->matches) {
        fby_w_drop_corrupt_answer(w, slot);
        return;
    }
    fby_w_measure_answer(w, slot);
    fby_w_count_request_closed(w, slot->peer, slot->bytes);
    fby_w_reset_loss_pause(w, slot->peer);
    fby_w_note_answered(w, &w->peers[slot->peer]);
    slot->content_hash = end->content_hash;
    fby_w_set_slot_state(w, slot, SLOT_ENDED);
    if (slot->n_decoded == slot->n_chunks) {
        fby_w_complete_answer(w, slot);
    }
}

enum fby_verdict fby_window_end(
    struct fby_window *self, int64_t now_ns, const struct fby_window_end *end)
{
    enum fby_verdict verdict = FBY_LATE;
    if (fby_w_begin_peer_event(self, now_ns, end->peer) == NULL) {
        return verdict;
    }
    if (fby_w_is_probe(&self->peers[end->peer], end->id)) {
        fby_w_note_probe_answered(self, &self->peers[end->peer]);
        return verdict;
    }
    struct window_slot *slot =
        find_answered_slot(self, end->peer, end->id, &verdict);
    if (verdict == FBY_AUDIT) {
        verdict = fby_w_audit_end(self, fby_w_find_audit(self, end->id), end);
        fby_w_note_answered(self, &self->peers[end->peer]);
        return verdict;
    }
    if (slot == NULL) {
        return verdict;
    }
    if (slot->state == SLOT_REQUESTED) { /* END without HEADER */
        return fby_w_report_breach(self, end->peer);
    }
    if (slot->state != SLOT_FILLING) {
        return FBY_DUPLICATE;
    }
    finish_answer(self, slot, end);
    return FBY_TAKE;
}

void fby_window_decoded(struct fby_window *self, int64_t now_ns, int slot,
    struct fby_request_id id, bool ok)
{
    fby_w_set_now(self, now_ns);
    if (slot < 0 || slot >= self->n_slots ||
        self->slots[slot].n_decoding == 0) {
        return;
    }
    struct window_slot *s = &self->slots[slot];
    s->n_decoding--;
    if (s->state == SLOT_SPENT) {
        fby_w_release_slot(self, s);
        return;
    }
    if (s->id.value != id.value || s->state == SLOT_RESERVED) {
        return; /* the chunk's request was dropped */
    }
    if (!ok && !FBY_MUTANT(accept_corrupt)) {
        fby_w_drop_corrupt_answer(self, s);
        return;
    }
    s->n_decoded++;
    if (s->state == SLOT_ENDED && s->n_decoded == s->n_chunks) {
        fby_w_complete_answer(self, s);
    }
}

/* ---- Refusals ------------------------------------------------------------ */

/* Begin the event that `peer` refuses a request. Returns false if the request
 * is not open. Otherwise sets *out to its slot, or skips the audit that it
 * belongs to and sets *out to NULL. */
static bool begin_refusal(struct fby_window *w, int64_t now_ns, int peer,
    struct fby_request_id id, struct window_slot **out)
{
    enum fby_verdict verdict = FBY_LATE;
    *out                     = NULL;
    struct window_peer *p    = fby_w_begin_peer_event(w, now_ns, peer);
    if (p != NULL) {
        fby_w_note_refusal(w, p, id);
        *out = find_answered_slot(w, peer, id, &verdict);
    }
    if (verdict == FBY_AUDIT) {
        return fby_w_audit_skip(w, fby_w_find_audit(w, id));
    }
    return *out != NULL && fby_w_is_open(*out);
}

void fby_window_busy(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int64_t retry_ns)
{
    struct window_slot *slot = NULL;
    if (!begin_refusal(self, now_ns, peer, id, &slot)) {
        return;
    }
    const struct fby_window_times *t = &self->config.times;
    int64_t wait_ns = retry_ns > t->busy_min ? retry_ns : t->busy_min;
    wait_ns         = fby_earlier_ns(wait_ns, t->backoff_max);
    self->counters.busy++;
    self->peers[peer].busy_until_ns = self->now + wait_ns;
    if (slot == NULL) {
        return;
    }
    struct window_step *step       = fby_w_step(self, slot->position);
    bool                was_repeat = step->is_repeat;
    fby_w_drop_request(self, slot, DROP_SILENTLY); /* sets is_repeat */
    step->is_repeat = was_repeat; /* a request after BUSY is not a repeat */
}

/* Several requests can be lost at once. So only the loss of a request that was
 * sent after the last loss shows that asking again did not help. */
void fby_w_pause_after_loss(
    struct fby_window *w, int peer, struct fby_request_id id)
{
    struct window_peer *p = &w->peers[peer];
    if (id.value <= p->newest_id_at_loss) {
        return;
    }
    p->newest_id_at_loss = w->newest_id;
    int64_t pause_ns     = p->lost_pause_ns;
    int64_t until_ns     = w->now + pause_ns;
    if (pause_ns > 0 && until_ns > p->busy_until_ns) {
        p->busy_until_ns = until_ns;
    }
    const struct fby_window_times *t = &w->config.times;
    int64_t next_ns  = pause_ns > 0 ? 2 * pause_ns : t->busy_min;
    p->lost_pause_ns = fby_earlier_ns(next_ns, t->backoff);
}

void fby_w_reset_loss_pause(struct fby_window *w, int peer)
{
    w->peers[peer].lost_pause_ns = 0;
}

void fby_window_lost(
    struct fby_window *self, int64_t now_ns, int peer, struct fby_request_id id)
{
    struct window_slot *slot = NULL;
    if (!begin_refusal(self, now_ns, peer, id, &slot)) {
        return;
    }
    self->counters.lost++;
    fby_w_pause_after_loss(self, peer, id);
    if (slot != NULL) {
        /* This worker may lose the next request too: prefer another one. */
        fby_w_step(self, slot->position)->avoid_peer = peer;
        fby_w_drop_request(self, slot, DROP_SILENTLY);
    }
}

void fby_window_cannot(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int code)
{
    struct window_slot *slot = NULL;
    if (!begin_refusal(self, now_ns, peer, id, &slot)) {
        return;
    }
    self->counters.cannot++;
    if (slot == NULL) {
        return;
    }
    struct window_step *step = fby_w_step(self, slot->position);
    fby_w_set_bit(step->refused, (uint32_t)peer);
    step->last_refuser = peer;
    step->refusal_code = code;
    fby_w_drop_request(self, slot, DROP_SILENTLY);
}
