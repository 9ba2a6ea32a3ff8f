/* drop.c - requests that are given up, and answers that are complete.
 *
 * Of a request given up nothing is remembered, except of the slower answer of
 * a hedge, whose END is still compared with the faster one's. */
#include "trainer_client/window/state.h"

/* ---- Giving up ----------------------------------------------------------- */

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
    if (w->peers[peer].state != PEER_GREETING) { /* else WELCOME will tell */
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
    if (place->hedge != FBY_NO_SLOT) {
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

void fby_w_corrupt(struct fby_window *w, struct slot *slot)
{
    struct place *place = fby_w_place(w, slot->at);

    w->counters.corrupt++;
    place->avoid = slot->peer;
    if (++place->corrupt >= FBY_CORRUPT_MAX) {
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

/* ---- Hedges -------------------------------------------------------------- */

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

void fby_w_compare_loser(struct fby_window *w, const struct loser *loser,
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
        .winner_peer = winner->peer,
        .at          = winner->at,
        .content     = winner->content,
    };
    w->losers[w->next_loser++ % LOSERS] = loser;
    if (slower->state == SLOT_ENDED) {
        fby_w_compare_loser(w, &loser, &slower->content);
    }
    if (fby_w_is_open(slower)) {
        fby_w_measure_slow(w, &w->peers[slower->peer]);
    }
    end_request(w, slower, true);
    fby_w_settle(w, slower);
}

const struct loser *fby_w_loser(
    const struct fby_window *w, struct fby_request_id id)
{
    for (int i = 0; i < LOSERS; i++) {
        if (w->losers[i].id.value == id.value) {
            return &w->losers[i];
        }
    }
    return NULL;
}

void fby_w_losers_forget(struct fby_window *w, int peer)
{
    for (int i = 0; i < LOSERS; i++) {
        struct loser *loser = &w->losers[i];
        if (loser->peer == peer) {
            loser->peer = FBY_NO_PEER;
        }
        if (loser->winner_peer == peer) {
            loser->winner_peer = FBY_NO_PEER;
        }
    }
}

void fby_w_complete(struct fby_window *w, struct slot *slot)
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
