/* SPDX-License-Identifier: Apache-2.0 */
/* stall.c - peers (workers) that make no progress on what they owe.
 *
 * A peer may answer PING and HEADER, and never send a chunk. It is stalled if
 * it owes an answer and has sent no byte for as long as a hedge waits, or if
 * three of its requests in a row were overtaken by a hedge. A stalled peer gets
 * no more requests while another peer accepts them, and what it has moves
 * there. Instead it gets a probe: a request for a step that another peer
 * makes, too. Its answer is dropped, so no step waits for it. The peer is
 * trusted again when it has answered the probe, or any other request.
 * FBY_MUTANT(bug) is true only in a test that must detect this bug. */
#include "common/clock.h"
#include "trainer_client/window/window_state.h"

/* ---- What a peer owes ---------------------------------------------------- */

void fby_w_note_owed(const struct fby_window *w, struct window_peer *peer)
{
    if (peer->owed_since_ns == 0) {
        peer->owed_since_ns = w->now != 0 ? w->now : 1; /* 0: owes nothing */
    }
}

void fby_w_note_progress(const struct fby_window *w, struct window_peer *peer)
{
    peer->owed_since_ns = 0;
    if (peer->n_open > 0) {
        fby_w_note_owed(w, peer);
    }
}

void fby_w_note_answered(const struct fby_window *w, struct window_peer *peer)
{
    fby_w_note_progress(w, peer);
    peer->hedges_lost = 0;
    peer->stalled     = false;
}

/* ---- Stalling ------------------------------------------------------------ */

/* The time after which a peer without progress is stalled. Before the first
 * answer of any peer nothing is known about the time that an answer takes. */
static int64_t stall_after(const struct fby_window *w)
{
    int64_t hedge_ns = fby_w_hedge_after(w, w->config.batch_bytes);
    bool is_known = w->answer_times[0].n_times + w->answer_times[1].n_times > 0;
    if (!is_known || FBY_MUTANT(trust_silence)) {
        return FBY_W_NEVER;
    }
    return hedge_ns > w->config.times.stall ? hedge_ns : w->config.times.stall;
}

/* The time at which the peer is stalled, unless it makes progress. */
static int64_t stall_deadline(
    const struct fby_window *w, const struct window_peer *peer)
{
    int64_t after_ns = stall_after(w);
    if (peer->state != PEER_READY || peer->stalled ||
        peer->owed_since_ns == 0 || after_ns == FBY_W_NEVER) {
        return FBY_W_NEVER;
    }
    return peer->owed_since_ns + after_ns;
}

/* True if another peer accepts requests, and does what it was asked. */
static bool can_replace(
    const struct fby_window *w, const struct window_peer *peer)
{
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *other = &w->peers[i];
        if (other != peer && other->state == PEER_READY && !other->suspect &&
            !other->stalled && stall_deadline(w, other) > w->now) {
            return true;
        }
    }
    return false;
}

static void mark_stalled(struct fby_window *w, struct window_peer *peer)
{
    if (!peer->stalled && can_replace(w, peer) && !FBY_MUTANT(trust_silence)) {
        peer->stalled     = true;
        peer->probe_at_ns = w->now;
        w->counters.stalls++;
    }
}

void fby_w_note_hedge_lost(struct fby_window *w, struct window_peer *peer)
{
    peer->hedges_lost++;
    if (peer->hedges_lost >= w->config.max_hedges_lost) {
        mark_stalled(w, peer);
    }
}

void fby_w_stalls_tick(struct fby_window *w)
{
    for (int i = 0; i < w->n_peers; i++) {
        if (stall_deadline(w, &w->peers[i]) <= w->now) {
            mark_stalled(w, &w->peers[i]);
        }
    }
}

/* ---- Probes -------------------------------------------------------------- */

static bool needs_probe(const struct window_peer *peer)
{
    return peer->state == PEER_READY && peer->stalled && !peer->suspect &&
           peer->probe.id.value == 0;
}

static int64_t probe_due_ns(const struct window_peer *peer)
{
    return peer->probe_at_ns > peer->busy_until_ns ? peer->probe_at_ns
                                                   : peer->busy_until_ns;
}

/* Probe with the last step of the window, which is needed last. */
static void send_probe(struct fby_window *w, struct window_peer *peer)
{
    uint64_t                  position = w->window_end - 1;
    const struct window_slot *slot     = fby_w_main_slot(w, position);
    if (w->window_end == w->cursor || slot->bytes == 0) {
        return; /* no step, or an empty one, which needs no worker */
    }
    struct fby_action *action = fby_w_send_request(
        w, fby_w_peer_number(w, peer), position, slot->bytes);
    action->probe = true;
    peer->probe   = (struct window_probe){.id = action->id,
          .bytes                              = slot->bytes,
          .sent_after_ping                    = w->n_pings,
          .requested_ns                       = w->now};
}

void fby_w_probes_tick(struct fby_window *w)
{
    for (int i = 0; i < w->n_peers; i++) {
        struct window_peer *peer = &w->peers[i];
        if (needs_probe(peer) && probe_due_ns(peer) <= w->now) {
            send_probe(w, peer);
        }
    }
}

bool fby_w_is_probe(const struct window_peer *peer, struct fby_request_id id)
{
    return id.value != 0 && peer->probe.id.value == id.value;
}

void fby_w_end_probe(struct fby_window *w, struct window_peer *peer)
{
    peer->probe.id.value = 0;
    peer->probe_at_ns    = w->now + w->config.times.backoff;
    fby_w_count_request_closed(
        w, fby_w_peer_number(w, peer), peer->probe.bytes);
}

void fby_w_note_refusal(
    struct fby_window *w, struct window_peer *peer, struct fby_request_id id)
{
    if (fby_w_is_probe(peer, id)) {
        fby_w_end_probe(w, peer);
    }
    fby_w_note_progress(w, peer);
}

void fby_w_note_probe_answered(struct fby_window *w, struct window_peer *peer)
{
    fby_w_measure_pace(w, fby_w_peer_number(w, peer), peer->probe.bytes,
        peer->probe.requested_ns);
    fby_w_end_probe(w, peer);
    fby_w_note_answered(w, peer);
}

int64_t fby_w_stalls_deadline(const struct fby_window *w)
{
    int64_t due = FBY_W_NEVER;
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer     = &w->peers[i];
        int64_t                   stall_ns = stall_deadline(w, peer);
        if (stall_ns > w->now) { /* else no other peer can replace it */
            due = fby_earlier_ns(due, stall_ns);
        }
        if (needs_probe(peer) && probe_due_ns(peer) > w->now) {
            due = fby_earlier_ns(due, probe_due_ns(peer));
        }
    }
    return due;
}
