/* drop.c - requests that are given up, and answers that are complete.
 *
 * A request given up is forgotten, except the slower one of a hedge: its END is
 * still compared with the END of the faster one. */
#include "trainer_client/window/state.h"

/* ---- Giving up ----------------------------------------------------------- */

void fby_w_answer_done(struct fby_window *w, int peer, uint64_t bytes)
{
    w->peers[peer].n_open--;
    w->peers[peer].owed -= bytes;
}

void fby_w_release_slot(struct fby_window *w, struct window_slot *slot)
{
    bool decoded = slot->decoding == 0 || FBY_MUTANT(reuse_busy_slot);
    fby_w_slot_state(w, slot, decoded ? SLOT_FREE : SLOT_SPENT);
}

void fby_w_cancel(struct fby_window *w, int peer, struct fby_request_id id)
{
    if (w->peers[peer].state != PEER_GREETING) { /* else at WELCOME */
        fby_w_action(w, FBY_DO_CANCEL, peer)->id = id;
    }
}

static void end_request(
    struct fby_window *w, struct window_slot *slot, bool send_cancel)
{
    if (!fby_w_is_open(slot)) {
        return;
    }
    fby_w_answer_done(w, slot->peer, slot->bytes);
    if (send_cancel) {
        fby_w_cancel(w, slot->peer, slot->id);
    }
}

/* A hedge becomes the main request. Without one the slot stays reserved and
 * waits for another request. */
void fby_w_drop(
    struct fby_window *w, struct window_slot *slot, bool send_cancel)
{
    struct window_step *step  = fby_w_step(w, slot->position);
    int                 index = (int)(slot - w->slots);

    end_request(w, slot, send_cancel);
    if (step->hedge != FBY_NO_SLOT) {
        step->main  = step->hedge == index ? step->main : step->hedge;
        step->hedge = FBY_NO_SLOT;
        fby_w_release_slot(w, slot);
        return;
    }
    fby_w_slot_state(w, slot, SLOT_RESERVED);
    step->repeat = true;
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

void fby_w_drop_unnamed(struct fby_window *w, struct window_peer *peer,
    uint64_t before_ping, const struct fby_request_id *open, size_t n_open)
{
    int number = fby_w_peer_number(w, peer);
    for (int i = 0; i < w->n_slots; i++) {
        struct window_slot *slot = &w->slots[i];
        if (fby_w_is_open(slot) && slot->peer == number &&
            slot->last_ping < before_ping &&
            !fby_w_has_id(open, n_open, slot->id)) {
            w->counters.lost++;
            fby_w_drop(w, slot, false);
        }
    }
    fby_w_audits_drop_unnamed(w, number, before_ping, open, n_open);
}

void fby_w_drop_all(struct fby_window *w, struct window_peer *peer)
{
    fby_w_drop_unnamed(w, peer, UINT64_MAX, NULL, 0);
}

void fby_w_answer_corrupt(struct fby_window *w, struct window_slot *slot)
{
    struct window_step *step = fby_w_step(w, slot->position);

    w->counters.corrupt++;
    step->avoid = slot->peer;
    if (++step->corrupt >= FBY_CORRUPT_MAX) {
        fby_w_fail(w,
            &(struct fby_window_failure){
                .cause = FBY_CAUSE_CORRUPT,
                .peer  = slot->peer,
                .other = FBY_NO_PEER,
                .epoch = slot->position / w->plan.steps_per_epoch,
                .step  = slot->position % w->plan.steps_per_epoch,
                .id    = slot->id,
            },
            slot->position);
    }
    fby_w_drop(w, slot, true);
}

/* ---- Hedges -------------------------------------------------------------- */

void fby_w_fail_different(
    struct fby_window *w, const struct difference *difference)
{
    fby_w_fail(w,
        &(struct fby_window_failure){
            .cause = FBY_CAUSE_DIFFERENT,
            .peer  = difference->peer,
            .other = difference->other,
            .epoch = difference->position / w->plan.steps_per_epoch,
            .step  = difference->position % w->plan.steps_per_epoch,
            .id    = difference->id,
        },
        0);
}

void fby_w_compare_loser(struct fby_window *w, const struct hedge_loser *loser,
    const struct fby_sum *content)
{
    if (!fby_sum_equal(&loser->content, content)) {
        fby_w_fail_different(w, &(struct difference){
                                    .position = loser->position,
                                    .peer     = loser->winner_peer,
                                    .other    = loser->peer,
                                    .id       = loser->id,
                                });
    }
}

/* Cancel the slower answer and remember it; if its END is here, compare it. */
static void cancel_loser(struct fby_window *w, const struct window_slot *winner,
    struct window_slot *slower)
{
    struct hedge_loser loser = {
        .id          = slower->id,
        .peer        = slower->peer,
        .winner_peer = winner->peer,
        .position    = winner->position,
        .content     = winner->content,
    };
    w->losers[w->next_loser++ % MAX_LOSERS] = loser;
    if (slower->state == SLOT_ENDED) {
        fby_w_compare_loser(w, &loser, &slower->content);
    }
    if (fby_w_is_open(slower)) {
        fby_w_measure_slow(w, &w->peers[slower->peer]);
    }
    end_request(w, slower, true);
    fby_w_release_slot(w, slower);
}

const struct hedge_loser *fby_w_loser(
    const struct fby_window *w, struct fby_request_id id)
{
    for (int i = 0; i < MAX_LOSERS; i++) {
        if (w->losers[i].id.value == id.value) {
            return &w->losers[i];
        }
    }
    return NULL;
}

void fby_w_losers_forget(struct fby_window *w, int peer)
{
    for (int i = 0; i < MAX_LOSERS; i++) {
        struct hedge_loser *loser = &w->losers[i];
        if (loser->peer == peer) {
            loser->peer = FBY_NO_PEER;
        }
        if (loser->winner_peer == peer) {
            loser->winner_peer = FBY_NO_PEER;
        }
    }
}

void fby_w_answer_complete(struct fby_window *w, struct window_slot *slot)
{
    struct window_step *step  = fby_w_step(w, slot->position);
    int                 index = (int)(slot - w->slots);

    fby_w_slot_state(w, slot, SLOT_READY);
    fby_w_audit_delivered(w, slot);
    if (step->hedge == FBY_NO_SLOT) {
        return;
    }
    int slower = step->hedge == index ? step->main : step->hedge;
    w->counters.hedges_won += step->hedge == index;
    step->main  = index;
    step->hedge = FBY_NO_SLOT;
    cancel_loser(w, slot, &w->slots[slower]);
}
