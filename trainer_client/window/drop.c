/* SPDX-License-Identifier: Apache-2.0 */
/* drop.c - drops requests, and completes answers.
 *
 * The window forgets a dropped request, with one exception: if a step is hedged
 * (requested from two workers), it remembers the id of the slower request, to
 * count its chunks.
 * FBY_MUTANT(bug) is true only in a test that must detect this bug. */
#include "trainer_client/window/window_state.h"

/* ---- Dropping requests --------------------------------------------------- */

void fby_w_count_request_closed(struct fby_window *w, int peer, uint64_t bytes)
{
    w->peers[peer].n_open--;
    w->peers[peer].open_bytes -= bytes;
}

void fby_w_release_slot(struct fby_window *w, struct window_slot *slot)
{
    bool can_reuse = slot->n_decoding == 0 || FBY_MUTANT(reuse_busy_slot);
    fby_w_set_slot_state(w, slot, can_reuse ? SLOT_FREE : SLOT_SPENT);
}

void fby_w_send_cancel(struct fby_window *w, int peer, struct fby_request_id id)
{
    if (w->peers[peer].state != PEER_GREETING) { /* else after WELCOME */
        fby_w_add_action(w, FBY_DO_CANCEL, peer)->id = id;
    }
}

/* Count an open request as closed, and send CANCEL if `kind` says so. */
static void close_if_open(
    struct fby_window *w, struct window_slot *slot, enum drop_kind kind)
{
    if (!fby_w_is_open(slot)) {
        return;
    }
    fby_w_count_request_closed(w, slot->peer, slot->bytes);
    if (kind == DROP_WITH_CANCEL) {
        fby_w_send_cancel(w, slot->peer, slot->id);
        if (w->peers[slot->peer].n_open == 0) { /* it owes nothing */
            w->peers[slot->peer].owed_since_ns = 0;
        }
    }
}

void fby_w_drop_slot(struct fby_window *w, struct window_slot *slot)
{
    close_if_open(w, slot, DROP_WITH_CANCEL);
    fby_w_release_slot(w, slot);
}

/* The slot of a hedged step's other request. */
static int other_slot(const struct window_step *step, int slot)
{
    return slot == step->hedge_slot ? step->main_slot : step->hedge_slot;
}

void fby_w_drop_request(
    struct fby_window *w, struct window_slot *slot, enum drop_kind kind)
{
    struct window_step *step  = fby_w_step(w, slot->position);
    int                 index = (int)(slot - w->slots);
    close_if_open(w, slot, kind);
    if (step->hedge_slot != FBY_NO_SLOT) {
        step->main_slot  = other_slot(step, index);
        step->hedge_slot = FBY_NO_SLOT;
        fby_w_release_slot(w, slot);
        return;
    }
    fby_w_set_slot_state(w, slot, SLOT_RESERVED);
    step->is_repeat = true;
}

bool fby_w_has_id(
    const struct fby_request_id *open, size_t n_open, struct fby_request_id id)
{
    for (size_t i = 0; i < n_open; i++) {
        if (open[i].value == id.value) {
            return true;
        }
    }
    return false;
}

void fby_w_drop_missing_requests(struct fby_window *w, struct window_peer *peer,
    uint64_t before_ping, const struct fby_request_id *open, size_t n_open)
{
    int number = fby_w_peer_number(w, peer);
    for (int i = 0; i < w->n_slots; i++) {
        struct window_slot *slot = &w->slots[i];
        if (fby_w_is_open(slot) && slot->peer == number &&
            slot->sent_after_ping < before_ping &&
            !fby_w_has_id(open, n_open, slot->id)) {
            w->counters.lost++;
            fby_w_drop_request(w, slot, DROP_SILENTLY);
        }
    }
    if (peer->probe.id.value != 0 &&
        peer->probe.sent_after_ping < before_ping &&
        !fby_w_has_id(open, n_open, peer->probe.id)) {
        fby_w_end_probe(w, peer);
    }
    fby_w_audits_drop_missing(w, number, before_ping, open, n_open);
}

void fby_w_drop_all_requests(struct fby_window *w, struct window_peer *peer)
{
    fby_w_drop_missing_requests(w, peer, FBY_W_ANY_PING, NULL, 0);
}

void fby_w_drop_corrupt_answer(struct fby_window *w, struct window_slot *slot)
{
    struct window_step *step = fby_w_step(w, slot->position);
    w->counters.corrupt++;
    step->avoid_peer = slot->peer;
    step->n_corrupt++;
    if (step->n_corrupt >= FBY_CORRUPT_MAX) {
        fby_w_fail(w,
            &(struct fby_window_failure){
                .cause = FBY_CAUSE_CORRUPT,
                .peer  = slot->peer,
                .other = FBY_NO_PEER,
                .id    = slot->id,
            },
            slot->position);
    }
    fby_w_drop_request(w, slot, DROP_WITH_CANCEL);
}

/* ---- Hedges -------------------------------------------------------------- */

static void compare_answers(struct fby_window *w,
    const struct window_slot *faster, const struct window_slot *slower)
{
    if (!fby_checksum_equal(&faster->content_hash, &slower->content_hash)) {
        fby_w_fail(w,
            &(struct fby_window_failure){
                .cause = FBY_CAUSE_DIFFERENT,
                .peer  = faster->peer,
                .other = slower->peer,
                .id    = slower->id,
            },
            faster->position);
    }
}

/* Cancel the slower request. If its END has arrived already, it agreed with its
 * chunks, so compare the answers. A later END proves nothing, because the
 * chunks are dropped unchecked. */
static void cancel_loser(struct fby_window *w, const struct window_slot *winner,
    struct window_slot *slower)
{
    w->losers[w->n_losers++ % MAX_LOSERS] = slower->id;
    if (slower->state == SLOT_ENDED) {
        compare_answers(w, winner, slower);
    }
    if (fby_w_is_open(slower)) { /* n_open must still count this request */
        fby_w_measure_dropped(w, &w->peers[slower->peer]);
    }
    close_if_open(w, slower, DROP_WITH_CANCEL);
    fby_w_release_slot(w, slower);
}

bool fby_w_is_loser(const struct fby_window *w, struct fby_request_id id)
{
    return fby_w_has_id(w->losers, MAX_LOSERS, id);
}

void fby_w_complete_answer(struct fby_window *w, struct window_slot *slot)
{
    struct window_step *step  = fby_w_step(w, slot->position);
    int                 index = (int)(slot - w->slots);
    fby_w_set_slot_state(w, slot, SLOT_READY);
    fby_w_audits_note_main_answer(w, slot);
    if (step->hedge_slot == FBY_NO_SLOT) {
        return;
    }
    int slower = other_slot(step, index);
    if (step->hedge_slot == index) {
        w->counters.hedges_won++;
        fby_w_note_hedge_lost(w, &w->peers[w->slots[slower].peer]);
    }
    step->main_slot  = index;
    step->hedge_slot = FBY_NO_SLOT;
    cancel_loser(w, slot, &w->slots[slower]);
}
