/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c - audits: second answers, requested only to be compared.
 *
 * When the main request of an audited step is sent, the step is requested from
 * another worker ("peer") too. The second answer has no slot: its chunks are
 * counted, checked and dropped. When both answers are complete, their hashes
 * are compared. Only the end of the stream waits for an audit. If the second
 * answer is lost or damaged, the audit is skipped. FBY_MUTANT(bug) is true only
 * in a test that must detect this bug. */
#include "common/clock.h"
#include "trainer_client/window/window_state.h"

enum { UNUSED_ID = 0 }; /* id of an audit that is not in use */

static bool is_used(const struct audit *audit)
{
    return audit->id.value != UNUSED_ID;
}

/* The audit with this id, or NULL. UNUSED_ID finds an unused audit. */
static struct audit *find_audit(const struct fby_window *w, uint64_t id)
{
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        if (w->audits[i].id.value == id) {
            return &w->audits[i];
        }
    }
    return NULL;
}

struct audit *fby_w_find_audit(
    const struct fby_window *w, struct fby_request_id id)
{
    return id.value != UNUSED_ID ? find_audit(w, id.value) : NULL;
}

int fby_window_audit_index(
    const struct fby_window *self, struct fby_request_id id)
{
    const struct audit *audit = fby_w_find_audit(self, id);
    return audit != NULL && !audit->ended ? (int)(audit - self->audits)
                                          : FBY_NO_SLOT;
}

/* ---- Requesting the second answer ---------------------------------------- */

/* Choose a ready peer other than the slot's. If there is none, return
 * FBY_NO_PEER, and connect an idle peer for the next audit. */
static int choose_second_peer(
    struct fby_window *w, const struct window_slot *slot)
{
    int main_peer = FBY_MUTANT(audit_itself) ? FBY_NO_PEER : slot->peer;
    int peer      = fby_w_choose_peer(w, slot, main_peer, AMONG_READY);
    if (peer != FBY_NO_PEER) {
        return peer;
    }
    peer = fby_w_choose_peer(w, slot, main_peer, AMONG_READY_SOON);
    if (peer != FBY_NO_PEER && w->peers[peer].state == PEER_IDLE) {
        fby_w_connect(w, &w->peers[peer]);
    }
    return FBY_NO_PEER;
}

static bool step_needs_audit(const struct fby_window *w, uint64_t position)
{
    uint64_t interval = w->config.audit; /* 0: no audits */
    return interval != 0 && position % interval == 0 &&
           !fby_w_step(w, position)->audited;
}

void fby_w_audit_begin(struct fby_window *w, const struct window_slot *slot)
{
    if (!step_needs_audit(w, slot->position)) {
        return;
    }
    fby_w_step(w, slot->position)->audited = true;
    struct audit *audit                    = find_audit(w, UNUSED_ID);
    int peer = audit != NULL ? choose_second_peer(w, slot) : FBY_NO_PEER;
    if (peer == FBY_NO_PEER) {
        w->counters.audits_skipped++;
        return;
    }
    struct fby_action *action =
        fby_w_send_request(w, peer, slot->position, slot->bytes);
    *audit = (struct audit){
        .id              = action->id,
        .peer            = peer,
        .position        = slot->position,
        .bytes           = slot->bytes,
        .sent_after_ping = w->n_pings,
        .requested_ns    = w->now,
        .taken           = audit->taken,
    };
    fby_w_clear_chunks(w, audit->taken);
}

/* ---- The two answers ----------------------------------------------------- */

static void free_audit(struct audit *audit)
{
    *audit = (struct audit){.taken = audit->taken};
}

static void skip_audit(struct fby_window *w, struct audit *audit)
{
    if (!audit->ended) {
        fby_w_count_request_closed(w, audit->peer, audit->bytes);
    }
    w->counters.audits_skipped += !FBY_MUTANT(forget_audit);
    free_audit(audit);
}

/* Compare the answers, which are both complete; audit->content_hash is the hash
 * of the earlier one. Skip the audit if one peer sent both, which can happen if
 * the step was requested again: then equal answers prove nothing. */
static void compare_answers(struct fby_window *w, struct audit *audit,
    const struct fby_checksum *later_hash)
{
    if (audit->main_peer == audit->peer) {
        skip_audit(w, audit);
        return;
    }
    w->counters.audits++;
    if (!fby_checksum_equal(&audit->content_hash, later_hash)) {
        fby_w_fail(w,
            &(struct fby_window_failure){
                .cause = FBY_CAUSE_DIFFERENT,
                .peer  = audit->main_peer,
                .other = audit->peer,
                .id    = audit->id,
            },
            audit->position);
    }
    free_audit(audit);
}

static void note_main_answer(
    struct fby_window *w, struct audit *audit, const struct window_slot *slot)
{
    audit->main_peer  = slot->peer;
    audit->main_known = true;
    if (audit->ended) {
        compare_answers(w, audit, &slot->content_hash);
    } else {
        audit->content_hash = slot->content_hash;
    }
}

void fby_w_audits_note_main_answer(
    struct fby_window *w, const struct window_slot *slot)
{
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        struct audit *audit = &w->audits[i];
        if (is_used(audit) && audit->position == slot->position) {
            note_main_answer(w, audit, slot);
        }
    }
}

/* ---- Messages of the second answer --------------------------------------- */

enum fby_verdict fby_w_audit_header(
    struct fby_window *w, struct audit *audit, uint32_t n_chunks)
{
    if (n_chunks > w->config.max_chunks ||
        (audit->has_header && n_chunks != audit->n_chunks)) {
        return fby_w_report_breach(w, audit->peer);
    }
    audit->has_header = true;
    audit->n_chunks   = n_chunks;
    return FBY_AUDIT;
}

enum fby_verdict fby_w_audit_chunk(
    struct fby_window *w, struct audit *audit, uint32_t chunk)
{
    if (chunk >= audit->n_chunks) { /* n_chunks is 0 before HEADER */
        return fby_w_report_breach(w, audit->peer);
    }
    if (fby_w_has_bit(audit->taken, chunk)) {
        return FBY_DUPLICATE;
    }
    fby_w_set_bit(audit->taken, chunk);
    audit->n_taken++;
    return FBY_AUDIT;
}

static void drop_damaged_answer(struct fby_window *w, struct audit *audit)
{
    w->counters.corrupt++;
    fby_w_send_cancel(w, audit->peer, audit->id);
    skip_audit(w, audit);
}

void fby_window_audit_damaged(
    struct fby_window *self, int64_t now_ns, struct fby_request_id id)
{
    fby_w_set_now(self, now_ns);
    struct audit *audit = fby_w_find_audit(self, id);
    if (audit != NULL && !audit->ended) {
        drop_damaged_answer(self, audit);
    }
}

enum fby_verdict fby_w_audit_end(
    struct fby_window *w, struct audit *audit, const struct fby_window_end *end)
{
    if (audit->ended) {
        return FBY_DUPLICATE;
    }
    if (!audit->has_header) { /* END without HEADER */
        return fby_w_report_breach(w, audit->peer);
    }
    bool is_complete = audit->n_taken == audit->n_chunks && end->matches;
    if (!is_complete && !FBY_MUTANT(trust_audit)) {
        drop_damaged_answer(w, audit);
        return FBY_AUDIT;
    }
    audit->ended = true;
    fby_w_measure_pace(w, audit->peer, audit->bytes, audit->requested_ns);
    fby_w_count_request_closed(w, audit->peer, audit->bytes);
    fby_w_reset_loss_pause(w, audit->peer);
    if (audit->main_known) {
        compare_answers(w, audit, &end->content_hash);
    } else {
        audit->content_hash = end->content_hash;
    }
    return FBY_AUDIT;
}

/* ---- Audits that will not be answered ------------------------------------ */

bool fby_w_audit_skip(struct fby_window *w, struct audit *audit)
{
    if (audit->ended) {
        return false;
    }
    skip_audit(w, audit);
    return true;
}

void fby_w_audits_drop(struct fby_window *w)
{
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        struct audit *audit = &w->audits[i];
        if (is_used(audit) && !audit->ended) {
            fby_w_send_cancel(w, audit->peer, audit->id);
        }
        if (is_used(audit)) {
            skip_audit(w, audit);
        }
    }
}

void fby_w_audits_drop_missing(struct fby_window *w, int peer,
    uint64_t before_ping, const struct fby_request_id *open, size_t n_open)
{
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        struct audit *audit = &w->audits[i];
        bool is_open = is_used(audit) && !audit->ended && audit->peer == peer;
        if (is_open && audit->sent_after_ping < before_ping &&
            !fby_w_has_id(open, n_open, audit->id)) {
            w->counters.lost++;
            skip_audit(w, audit);
        }
    }
}

/* Only audits with a complete second answer can still name the peer: its other
 * audits were skipped when it was disconnected. */
void fby_w_audits_forget_peer(struct fby_window *w, int peer)
{
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        fby_w_forget_peer(&w->audits[i].peer, peer);
        fby_w_forget_peer(&w->audits[i].main_peer, peer);
    }
}

/* ---- The end of the stream, which waits for audits ----------------------- */

bool fby_w_has_open_audit(const struct fby_window *w)
{
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        if (is_used(&w->audits[i])) {
            return true;
        }
    }
    return false;
}

/* After the last batch, the time at which the audit is skipped. */
static int64_t skip_at(const struct fby_window *w, const struct audit *audit)
{
    if (!is_used(audit) || !fby_w_stream_is_over(w)) {
        return FBY_W_NEVER;
    }
    int64_t hedge_ns = fby_w_hedge_after(w, audit->bytes);
    int64_t min_ns   = w->config.times.hedge_first;
    return audit->requested_ns + (hedge_ns > min_ns ? hedge_ns : min_ns);
}

void fby_w_audits_tick(struct fby_window *w)
{
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        if (w->now >= skip_at(w, &w->audits[i])) {
            skip_audit(w, &w->audits[i]);
        }
    }
}

int64_t fby_w_audits_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        due = fby_earlier_ns(due, skip_at(w, &w->audits[i]));
    }
    return due;
}
