/* choose.c - chooses a peer from measured speeds, and decides when a request is
 * late.
 *
 * This file only computes with measurements and changes no request. Pace is
 * time per raw byte, so that it can be compared for peers and batches of
 * different sizes. */
#include "trainer_client/window/window_state.h"

#include <string.h>

/* Rendezvous hashing: the peer with the highest affinity is preferred. All
 * clients prefer the same peer for a key. If a peer is removed, only the keys
 * that preferred it move to other peers. */
static uint64_t affinity(uint64_t key, uint64_t locality)
{
    uint64_t z = key ^ (locality * UINT64_C(0x9e3779b97f4a7c15));
    z          = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    z          = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ z >> 32;
}

static uint64_t locality_of(const struct fby_window *w, uint64_t position)
{
    if (w->plan.locality == NULL) {
        return position;
    }
    return w->plan.locality(w->plan.context, position / w->plan.steps_per_epoch,
        position % w->plan.steps_per_epoch);
}

static bool is_ready(const struct fby_window *w, const struct window_peer *peer)
{
    return peer->state == PEER_READY && !peer->suspect &&
           peer->busy_until_ns <= w->now;
}

static bool is_reachable(
    const struct fby_window *w, const struct window_peer *peer)
{
    return is_ready(w, peer) || peer->state == PEER_IDLE ||
           peer->state == PEER_GREETING || peer->state == PEER_OPENING;
}

/* Before the first measurement any constant does, because peers then differ
 * only in the bytes of their open requests. */
static double mean_pace(const struct fby_window *w)
{
    return w->pace > 0 ? w->pace : 1.0;
}

/* The peer's pace, or the mean pace if the measurement is old. If the peer's
 * current answer has taken longer, the pace is the time waited for a batch. */
static double pace_of(
    const struct fby_window *w, const struct window_peer *peer)
{
    bool known = peer->pace > 0 &&
                 w->now - peer->measured_ns < w->config.times.hedge_period;
    double pace = known ? peer->pace : mean_pace(w);
    double wait =
        peer->n_open > 0 ? (double)(w->now - peer->service_since_ns) : 0;
    double overdue = wait / (double)w->config.batch_bytes;
    return overdue > pace ? overdue : pace;
}

/* The expected time, in ns, until the peer has sent all open answers and
 * `bytes` more. */
static double time_to_finish(
    const struct fby_window *w, const struct window_peer *peer, uint64_t bytes)
{
    return (double)(peer->open_bytes + bytes) * pace_of(w, peer);
}

int fby_w_choose(struct fby_window *w, const struct window_slot *slot,
    int except, enum choose_among among)
{
    const struct window_step *step      = fby_w_step(w, slot->position);
    uint64_t                  locality  = locality_of(w, slot->position);
    const struct window_peer *preferred = NULL; /* with the highest affinity */
    const struct window_peer *soonest   = NULL; /* with the shortest time */
    uint64_t                  highest   = 0;
    double                    shortest  = 0;
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        if (i == except || fby_w_has_bit(step->refused, (uint32_t)i) ||
            !(is_ready(w, peer) ||
                (among == AMONG_REACHABLE && is_reachable(w, peer)))) {
            continue;
        }
        uint64_t score   = affinity(peer->key, locality);
        double   time_ns = time_to_finish(w, peer, slot->bytes);
        if (preferred == NULL || score > highest) {
            preferred = peer;
            highest   = score;
        }
        if (soonest == NULL || time_ns < shortest) {
            soonest  = peer;
            shortest = time_ns;
        }
    }
    if (preferred == NULL) {
        return FBY_NO_PEER;
    }
    /* The preferred peer probably has the data in its cache; that is worth
     * waiting one service time, not more. */
    double limit = shortest + (double)slot->bytes * mean_pace(w); /* ns */
    return fby_w_peer_number(
        w, time_to_finish(w, preferred, slot->bytes) > limit ? soonest
                                                             : preferred);
}

bool fby_w_all_refused(struct fby_window *w, const struct window_step *step)
{
    for (int i = 0; i < w->n_peers; i++) {
        const struct window_peer *peer = &w->peers[i];
        if ((is_reachable(w, peer) || peer->state == PEER_READY) &&
            !fby_w_has_bit(step->refused, (uint32_t)i)) {
            return false;
        }
    }
    return step->last_refuser != FBY_NO_PEER;
}

/* ---- Speed --------------------------------------------------------------- */

/* The index in answer_times: 0 for full batches, 1 for shorter ones. */
static unsigned kind_of(const struct fby_window *w, uint64_t bytes)
{
    return bytes < w->config.batch_bytes ? 1 : 0;
}

static uint32_t count_above(
    const struct answer_times *t, uint32_t n, int64_t limit)
{
    uint32_t above = 0;
    for (uint32_t i = 0; i < n; i++) {
        above += t->last[i] > limit;
    }
    return above;
}

/* The 95th percentile: the smallest stored time that at most 5 % of the stored
 * times exceed. */
static int64_t p95_of(const struct answer_times *t)
{
    uint32_t n     = t->n < KNOWN_TIMES ? t->n : KNOWN_TIMES;
    int64_t  found = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (t->last[i] < found && count_above(t, n, t->last[i]) <= n / 20) {
            found = t->last[i];
        }
    }
    return found;
}

static void note_time(struct answer_times *t, int64_t took_ns)
{
    t->last[t->n % KNOWN_TIMES] = took_ns;
    /* n never overflows, and stays above KNOWN_TIMES once the ring is full */
    t->n   = t->n == 2 * KNOWN_TIMES ? KNOWN_TIMES + 1 : t->n + 1;
    t->p95 = p95_of(t);
}

/* An exponential moving average; `old` is 0 before the first sample. */
static double average(double old, double sample)
{
    return old > 0 ? old + (sample - old) / 8 : sample;
}

/* If the peer was busy at the time of the request, its service began at the END
 * of the answer before; else at the request. */
void fby_w_measure_pace(
    struct fby_window *w, int peer, uint64_t bytes, int64_t requested_ns)
{
    struct window_peer *p = &w->peers[peer];
    int64_t             began =
        p->service_since_ns > requested_ns ? p->service_since_ns : requested_ns;
    if (bytes > 0) {
        /* + 1, because a pace of 0 means unknown */
        double pace = (double)(w->now - began + 1) / (double)bytes;
        p->pace     = average(p->pace, pace);
        w->pace     = average(w->pace, pace);
    }
    p->measured_ns      = w->now;
    p->service_since_ns = w->now;
}

void fby_w_measure_answer(struct fby_window *w, const struct window_slot *slot)
{
    note_time(
        &w->answer_times[kind_of(w, slot->bytes)], w->now - slot->requested_ns);
    fby_w_measure_pace(w, slot->peer, slot->bytes, slot->requested_ns);
}

void fby_w_measure_dropped(struct fby_window *w, struct window_peer *peer)
{
    peer->pace        = average(peer->pace, pace_of(w, peer));
    peer->measured_ns = w->now;
}

int64_t fby_w_hedge_after(const struct fby_window *w, uint64_t bytes)
{
    const struct answer_times     *t     = &w->answer_times[kind_of(w, bytes)];
    const struct fby_window_times *times = &w->config.times;
    int64_t least = t->n < ENOUGH_TIMES ? times->hedge_first : times->hedge_min;
    return 2 * t->p95 > least ? 2 * t->p95 : least;
}

/* ---- Limit of hedges ----------------------------------------------------- */

static int64_t bin_now(const struct fby_window *w)
{
    int64_t bin_ns = w->config.times.hedge_period / HEDGE_BINS + 1; /* > 0 */
    return w->now / bin_ns;
}

void fby_w_count_request(struct fby_window *w, bool hedge)
{
    int64_t           number = bin_now(w);
    struct hedge_bin *bin    = &w->hedge_bins[(uint64_t)number % HEDGE_BINS];
    if (bin->number != number) {
        *bin = (struct hedge_bin){.number = number};
    }
    bin->requests++;
    bin->hedges += hedge;
}

bool fby_w_may_hedge(struct fby_window *w)
{
    uint32_t requests = 0;
    uint32_t hedges   = 0;
    for (int i = 0; i < HEDGE_BINS; i++) {
        if (w->hedge_bins[i].number > bin_now(w) - HEDGE_BINS) {
            requests += w->hedge_bins[i].requests;
            hedges += w->hedge_bins[i].hedges;
        }
    }
    uint32_t most = requests / 20 > 2 ? requests / 20 : 2;
    return hedges < most && !FBY_MUTANT(hedge_ignored);
}

/* ---- Demand of the consumer ---------------------------------------------- */

void fby_w_consumer_waits(struct fby_window *w)
{
    if (!w->consumer_waiting) {
        int64_t sample = w->now - w->taken_ns;
        w->take_interval =
            w->counters.delivered < 2 /* the first interval is the start-up */
                ? sample
                : w->take_interval + (sample - w->take_interval) / 4;
        w->consumer_waiting = true;
    }
}

void fby_w_consumer_took(struct fby_window *w)
{
    w->consumer_waiting = false;
    w->taken_ns         = w->now;
}

bool fby_w_in_demand(const struct fby_window *w, uint32_t ready)
{
    int64_t take_interval = w->take_interval;
    if (!w->consumer_waiting && w->now - w->taken_ns > take_interval) {
        take_interval =
            w->now - w->taken_ns; /* the consumer is slower than before */
    }
    double service = w->pace * (double)w->config.batch_bytes;
    return ready == 0 || (double)ready * (double)take_interval < service;
}
