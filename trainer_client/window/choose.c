/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - chooses a worker ("peer") for a request from measured speeds, and
 * decides when a request is late.
 *
 * This file only computes with measurements and changes no request. Pace is the
 * time per byte of a decoded batch, so it is comparable between batches of
 * different sizes. A late step may be requested from a second peer, too: that
 * request is a hedge. FBY_MUTANT(bug) is true only in a test for that bug. */
#include "trainer_client/window/window_state.h"

#include <string.h>

/* Rendezvous hashing: a step prefers the peer with the highest affinity. So all
 * clients prefer the same peer for a locality key. If a peer is removed, only
 * the steps that preferred it prefer another one. The constants are those of
 * published 64-bit hash functions. */
static uint64_t affinity(uint64_t peer_key, uint64_t locality_key)
{
    uint64_t z = peer_key ^ (locality_key * UINT64_C(0x9e3779b97f4a7c15));
    z          = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    z          = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ z >> 32;
}

static uint64_t locality_key_of(const struct fby_window *w, uint64_t position)
{
    if (w->plan.locality == NULL) {
        return position;
    }
    return w->plan.locality(w->plan.context, position / w->plan.steps_per_epoch,
        position % w->plan.steps_per_epoch);
}

/* True if the peer accepts a request now. */
static bool is_ready(const struct fby_window *w, const struct window_peer *peer)
{
    return peer->state == PEER_READY && !peer->suspect &&
           peer->busy_until_ns <= w->now;
}

/* True if the peer is ready, being connected, or idle and can be connected. */
static bool is_ready_soon(
    const struct fby_window *w, const struct window_peer *peer)
{
    return is_ready(w, peer) || peer->state == PEER_IDLE ||
           peer->state == PEER_GREETING || peer->state == PEER_OPENING;
}

/* True if the peer belongs to those that `among` names. */
static bool is_among(const struct fby_window *w, const struct window_peer *peer,
    enum choose_among among)
{
    if (among == AMONG_STALLED) {
        return is_ready(w, peer);
    }
    /* A stall ends with the connection: a closed peer may be connected again. */
    bool is_stalled = peer->stalled && peer->state == PEER_READY;
    return !is_stalled &&
           (among == AMONG_READY ? is_ready(w, peer) : is_ready_soon(w, peer));
}

/* The mean pace of all peers. Before the first measurement it is a constant, so
 * that only the bytes of their open requests distinguish the peers. */
static double mean_pace(const struct fby_window *w)
{
    return w->pace > 0 ? w->pace : 1.0;
}

/* The peer's measured pace, or the mean pace if there is no recent measurement.
 * If the client has waited longer for the current answer than a full batch
 * takes at that pace, the pace computed from the waiting time. */
static double pace_of(
    const struct fby_window *w, const struct window_peer *peer)
{
    bool is_recent = peer->pace > 0 &&
                     w->now - peer->measured_ns < w->config.times.hedge_period;
    double pace = is_recent ? peer->pace : mean_pace(w);
    double waited_ns =
        peer->n_open > 0 ? (double)(w->now - peer->service_since_ns) : 0;
    double waited_pace = waited_ns / (double)w->config.batch_bytes;
    return waited_pace > pace ? waited_pace : pace;
}

/* The expected time, in ns, until the peer has sent all open answers and
 * `bytes` more. */
static double time_to_finish_ns(
    const struct fby_window *w, const struct window_peer *peer, uint64_t bytes)
{
    return (double)(peer->open_bytes + bytes) * pace_of(w, peer);
}

int fby_w_choose_peer(struct fby_window *w, const struct window_slot *slot,
    int excluded, enum choose_among among)
{
    const struct window_step *step         = fby_w_step(w, slot->position);
    uint64_t                  locality_key = locality_key_of(w, slot->position);
    const struct window_peer *preferred    = NULL;
    const struct window_peer *soonest      = NULL;
    uint64_t                  max_affinity = 0; /* of `preferred` */
    double                    min_time_ns  = 0; /* of `soonest` */
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        if (i == excluded || fby_w_has_bit(step->refused, (uint32_t)i) ||
            !is_among(w, peer, among)) {
            continue;
        }
        uint64_t peer_affinity = affinity(peer->key, locality_key);
        double   time_ns       = time_to_finish_ns(w, peer, slot->bytes);
        if (preferred == NULL || peer_affinity > max_affinity) {
            preferred    = peer;
            max_affinity = peer_affinity;
        }
        if (soonest == NULL || time_ns < min_time_ns) {
            soonest     = peer;
            min_time_ns = time_ns;
        }
    }
    if (preferred == NULL) {
        return FBY_NO_PEER;
    }
    /* The preferred peer probably has the data in its cache. So choose it
     * unless it finishes later by more than the mean time of one such batch. */
    double limit_ns = min_time_ns + (double)slot->bytes * mean_pace(w);
    bool   is_slow  = time_to_finish_ns(w, preferred, slot->bytes) > limit_ns;
    return fby_w_peer_number(w, is_slow ? soonest : preferred);
}

bool fby_w_waits_for_busy(
    const struct fby_window *w, const struct window_step *step)
{
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        if (peer->state == PEER_READY && !peer->suspect && !peer->stalled &&
            !fby_w_has_bit(step->refused, (uint32_t)i)) {
            return true;
        }
    }
    return false;
}

bool fby_w_all_refused(struct fby_window *w, const struct window_step *step)
{
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        /* Suspect and busy peers are in PEER_READY, too. */
        bool may_answer = is_ready_soon(w, peer) || peer->state == PEER_READY;
        if (may_answer && !fby_w_has_bit(step->refused, (uint32_t)i)) {
            return false;
        }
    }
    return step->last_refuser != FBY_NO_PEER;
}

/* ---- Speed --------------------------------------------------------------- */

/* The index in w->answer_times: 0 for full batches, 1 for shorter ones. */
static unsigned batch_kind(const struct fby_window *w, uint64_t bytes)
{
    return bytes < w->config.batch_bytes ? 1 : 0;
}

static uint32_t count_above(
    const struct answer_times *t, uint32_t n_stored, int64_t limit_ns)
{
    uint32_t n_above = 0;
    for (uint32_t i = 0; i < n_stored; i++) {
        n_above += t->ring[i] > limit_ns;
    }
    return n_above;
}

/* The 95th percentile: the smallest stored time that at most 5 % of the stored
 * times exceed. */
static int64_t p95_of(const struct answer_times *t)
{
    uint32_t n_stored = t->n_times < MAX_TIMES ? t->n_times : MAX_TIMES;
    int64_t  p95_ns   = INT64_MAX;
    for (uint32_t i = 0; i < n_stored; i++) {
        int64_t time_ns = t->ring[i];
        if (time_ns < p95_ns &&
            count_above(t, n_stored, time_ns) <= n_stored / 20) {
            p95_ns = time_ns;
        }
    }
    return p95_ns;
}

static void store_time(struct answer_times *t, int64_t took_ns)
{
    t->ring[t->n_times % MAX_TIMES] = took_ns;
    /* Go back by MAX_TIMES to avoid an overflow: the index in ring[] stays. */
    t->n_times = t->n_times == 2 * MAX_TIMES ? MAX_TIMES + 1 : t->n_times + 1;
    t->p95_ns  = p95_of(t);
}

/* A moving average in which the new sample has weight 1/8. `old` is 0 before
 * the first sample. */
static double moving_average(double old, double sample)
{
    return old > 0 ? old + (sample - old) / 8 : sample;
}

/* A peer makes one answer at a time. So it began this one at the later of two
 * times: that of the request, and that of the END of the answer before. */
void fby_w_measure_pace(
    struct fby_window *w, int peer, uint64_t bytes, int64_t requested_ns)
{
    struct window_peer *p = &w->peers[peer];
    int64_t             began_ns =
        p->service_since_ns > requested_ns ? p->service_since_ns : requested_ns;
    if (bytes > 0) {
        /* + 1 ns, because a pace of 0 means unknown */
        double pace = (double)(w->now - began_ns + 1) / (double)bytes;
        p->pace     = moving_average(p->pace, pace);
        w->pace     = moving_average(w->pace, pace);
    }
    p->measured_ns      = w->now;
    p->service_since_ns = w->now;
}

void fby_w_measure_answer(struct fby_window *w, const struct window_slot *slot)
{
    store_time(&w->answer_times[batch_kind(w, slot->bytes)],
        w->now - slot->requested_ns);
    fby_w_measure_pace(w, slot->peer, slot->bytes, slot->requested_ns);
}

void fby_w_measure_dropped(struct fby_window *w, struct window_peer *peer)
{
    peer->pace        = moving_average(peer->pace, pace_of(w, peer));
    peer->measured_ns = w->now;
}

/* As TCP does for its retransmissions (RFC 6298): on a loaded machine answers
 * take longer, and a peer that answers as usual must not become suspect. */
void fby_w_measure_trip(const struct fby_window *w, struct window_peer *peer)
{
    int64_t trip_ns = w->now - peer->last_ping_ns;
    if (peer->trip_ns == 0) {
        peer->trip_ns           = trip_ns > 0 ? trip_ns : 1;
        peer->trip_deviation_ns = trip_ns / 2;
        return;
    }
    int64_t difference_ns = trip_ns - peer->trip_ns;
    int64_t deviation_ns  = difference_ns < 0 ? -difference_ns : difference_ns;
    peer->trip_deviation_ns += (deviation_ns - peer->trip_deviation_ns) / 4;
    peer->trip_ns += difference_ns / 8;
}

int64_t fby_w_suspect_after(
    const struct fby_window *w, const struct window_peer *peer)
{
    int64_t usual_ns = peer->trip_ns + 4 * peer->trip_deviation_ns;
    return usual_ns > w->config.times.suspect ? usual_ns
                                              : w->config.times.suspect;
}

int64_t fby_w_hedge_after(const struct fby_window *w, uint64_t bytes)
{
    const struct answer_times     *t = &w->answer_times[batch_kind(w, bytes)];
    const struct fby_window_times *times = &w->config.times;
    int64_t                        min_ns =
        t->n_times < MIN_TIMES ? times->hedge_first : times->hedge_min;
    /* 95 % of the answers took at most p95_ns; more than twice that is late. */
    return 2 * t->p95_ns > min_ns ? 2 * t->p95_ns : min_ns;
}

/* ---- Limit of hedges ----------------------------------------------------- */

static int64_t current_bin(const struct fby_window *w)
{
    int64_t bin_ns = w->config.times.hedge_period / HEDGE_BINS + 1; /* > 0 */
    return w->now / bin_ns;
}

void fby_w_count_request(struct fby_window *w, bool is_hedge)
{
    int64_t           number = current_bin(w);
    struct hedge_bin *bin    = &w->hedge_bins[(uint64_t)number % HEDGE_BINS];
    if (bin->number != number) { /* an older bin has the same index: reuse it */
        *bin = (struct hedge_bin){.number = number};
    }
    bin->requests++;
    bin->hedges += is_hedge;
}

bool fby_w_may_hedge(struct fby_window *w)
{
    uint32_t requests = 0;
    uint32_t hedges   = 0;
    for (int i = 0; i < HEDGE_BINS; i++) {
        if (w->hedge_bins[i].number > current_bin(w) - HEDGE_BINS) {
            requests += w->hedge_bins[i].requests;
            hedges += w->hedge_bins[i].hedges;
        }
    }
    uint32_t max_hedges = requests / 20 > 2 ? requests / 20 : 2;
    return hedges < max_hedges && !FBY_MUTANT(hedge_ignored);
}

/* ---- Demand of the consumer ---------------------------------------------- */

void fby_w_note_consumer_waits(struct fby_window *w)
{
    if (!w->consumer_waiting) {
        /* A moving average in which the new interval has weight 1/4. The first
         * interval is not averaged, because it is the start-up. */
        int64_t interval_ns = w->now - w->taken_ns;
        int64_t old_ns =
            w->counters.delivered < 2 ? interval_ns : w->take_interval_ns;
        w->take_interval_ns = old_ns + (interval_ns - old_ns) / 4;
        w->consumer_waiting = true;
    }
}

void fby_w_note_consumer_took(struct fby_window *w)
{
    w->consumer_waiting = false;
    w->taken_ns         = w->now;
}

bool fby_w_consumer_runs_out(const struct fby_window *w, uint32_t n_ready)
{
    int64_t interval_ns    = w->take_interval_ns;
    int64_t since_taken_ns = w->now - w->taken_ns;
    if (!w->consumer_waiting && since_taken_ns > interval_ns) {
        interval_ns = since_taken_ns; /* the consumer is slower than before */
    }
    double batch_ns = w->pace * (double)w->config.batch_bytes;
    return n_ready == 0 || (double)n_ready * (double)interval_ns < batch_ns;
}
