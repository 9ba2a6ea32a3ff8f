/* choose.c - which peer, how fast it is, and when it is late.
 *
 * All of it is arithmetic over what was measured; nothing here changes a
 * request. Pace is time per raw byte, so that peers and batches compare. */
#include "trainer_client/window/state.h"

#include <string.h>

/* A number from which every client and every call draws the same winner:
 * rendezvous hashing, so that a peer that goes moves only its own requests. */
static uint64_t affinity(uint64_t key, uint64_t locality)
{
    uint64_t z = key ^ (locality * UINT64_C(0x9e3779b97f4a7c15));
    z          = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    z          = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ z >> 32;
}

static uint64_t locality_of(const struct fby_window *w, uint64_t at)
{
    if (w->plan.locality == NULL) {
        return at;
    }
    return w->plan.locality(w->plan.context, at / w->plan.steps_per_epoch,
        at % w->plan.steps_per_epoch);
}

static bool is_ready(const struct fby_window *w, const struct peer *peer)
{
    return peer->state == PEER_READY && !peer->suspect &&
           peer->busy_ns <= w->now;
}

static bool is_reachable(const struct fby_window *w, const struct peer *peer)
{
    return is_ready(w, peer) || peer->state == PEER_IDLE ||
           peer->state == PEER_GREETING || peer->state == PEER_OPENING;
}

/* Before anything is measured any number will do: peers differ by bytes. */
static double usual_pace(const struct fby_window *w)
{
    return w->pace > 0 ? w->pace : 1.0;
}

/* What was measured long ago says nothing any more; an answer that is overdue
 * says something before it is there. */
static double pace_of(const struct fby_window *w, const struct peer *peer)
{
    bool known =
        peer->pace > 0 && w->now - peer->done_ns < w->config.times.hedge_span;
    double pace    = known ? peer->pace : usual_pace(w);
    double wait    = peer->n_open > 0 ? (double)(w->now - peer->since_ns) : 0;
    double overdue = wait / (double)w->config.batch_bytes;
    return overdue > pace ? overdue : pace;
}

/* When the peer would be done with `bytes` more, from now. */
static double finish(
    const struct fby_window *w, const struct peer *peer, uint64_t bytes)
{
    return (double)(peer->owed + bytes) * pace_of(w, peer);
}

struct candidates {
    uint64_t           locality;  /* of what is to be asked */
    const struct peer *preferred; /* highest affinity */
    uint64_t           affinity;
    const struct peer *soonest; /* earliest finish */
    double             finish;
};

static void consider(const struct fby_window *w, const struct slot *slot,
    const struct peer *peer, struct candidates *c)
{
    uint64_t draw = affinity(peer->key, c->locality);
    if (c->preferred == NULL || draw > c->affinity) {
        c->preferred = peer;
        c->affinity  = draw;
    }
    double done = finish(w, peer, slot->bytes);
    if (c->soonest == NULL || done < c->finish) {
        c->soonest = peer;
        c->finish  = done;
    }
}

static bool qualifies(const struct fby_window *w, const struct peer *peer,
    enum choose_among among)
{
    return among == AMONG_READY ? is_ready(w, peer) : is_reachable(w, peer);
}

static struct candidates gather(const struct fby_window *w,
    const struct slot *slot, int except, enum choose_among among)
{
    struct candidates   c     = {.locality = locality_of(w, slot->at)};
    const struct place *place = fby_w_place(w, slot->at);
    for (int i = 0; i < w->n_peers; i++) {
        const struct peer *peer = &w->peers[i];
        if (i != except && qualifies(w, peer, among) &&
            !fby_w_has_bit(place->refused, (uint32_t)i)) {
            consider(w, slot, peer, &c);
        }
    }
    return c;
}

int fby_w_choose(struct fby_window *w, const struct slot *slot, int except,
    enum choose_among among)
{
    struct candidates c = gather(w, slot, except, among);
    if (c.preferred == NULL) {
        return FBY_NO_PEER;
    }
    /* The preferred one has the data at hand; that is worth one service
     * time, not more. */
    double             service = (double)slot->bytes * usual_pace(w);
    const struct peer *chosen =
        finish(w, c.preferred, slot->bytes) > c.finish + service ? c.soonest
                                                                 : c.preferred;
    return fby_w_peer_number(w, chosen);
}

bool fby_w_all_refused(struct fby_window *w, const struct place *place)
{
    for (int i = 0; i < w->n_peers; i++) {
        const struct peer *peer = &w->peers[i];
        if ((is_reachable(w, peer) || peer->state == PEER_READY) &&
            !fby_w_has_bit(place->refused, (uint32_t)i)) {
            return false;
        }
    }
    return place->refuser != FBY_NO_PEER;
}

/* ---- How fast ------------------------------------------------------------ */

static unsigned kind_of(const struct fby_window *w, uint64_t bytes)
{
    return bytes < w->config.batch_bytes ? 1 : 0;
}

static uint32_t n_above(const struct times *t, uint32_t n, int64_t limit)
{
    uint32_t above = 0;
    for (uint32_t i = 0; i < n; i++) {
        above += t->last[i] > limit;
    }
    return above;
}

/* The smallest of the last answers that at most one in 20 is above. */
static int64_t p95_of(const struct times *t)
{
    uint32_t n     = t->n < KNOWN_TIMES ? t->n : KNOWN_TIMES;
    int64_t  found = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (t->last[i] < found && n_above(t, n, t->last[i]) <= n / 20) {
            found = t->last[i];
        }
    }
    return found;
}

static void note_time(struct times *t, int64_t took_ns)
{
    t->last[t->n % KNOWN_TIMES] = took_ns;
    t->n   = t->n == 2 * KNOWN_TIMES ? KNOWN_TIMES + 1 : t->n + 1;
    t->p95 = p95_of(t);
}

static double blend(double old, double sample)
{
    return old > 0 ? old + (sample - old) / 8 : sample;
}

/* Called at END. Between two ENDs of a peer that had work all the while lies
 * one service time; an idle one needed the whole wait. */
void fby_w_measure_pace(
    struct fby_window *w, int peer, uint64_t bytes, int64_t asked_ns)
{
    struct peer *p     = &w->peers[peer];
    int64_t      began = p->since_ns > asked_ns ? p->since_ns : asked_ns;
    if (bytes > 0) {
        double pace = (double)(w->now - began + 1) / (double)bytes;
        p->pace     = blend(p->pace, pace);
        w->pace     = blend(w->pace, pace);
    }
    p->done_ns  = w->now;
    p->since_ns = w->now;
}

void fby_w_measure(struct fby_window *w, const struct slot *slot)
{
    note_time(&w->answers[kind_of(w, slot->bytes)], w->now - slot->asked_ns);
    fby_w_measure_pace(w, slot->peer, slot->bytes, slot->asked_ns);
}

/* Its answer was not waited for: it is at least this slow. */
void fby_w_measure_slow(struct fby_window *w, struct peer *peer)
{
    peer->pace    = blend(peer->pace, pace_of(w, peer));
    peer->done_ns = w->now;
}

int64_t fby_w_hedge_after(const struct fby_window *w, uint64_t bytes)
{
    const struct times            *t     = &w->answers[kind_of(w, bytes)];
    const struct fby_window_times *times = &w->config.times;
    int64_t least = t->n < ENOUGH_TIMES ? times->hedge_first : times->hedge_min;
    return 2 * t->p95 > least ? 2 * t->p95 : least;
}

/* ---- How many hedges ----------------------------------------------------- */

static int64_t span_now(const struct fby_window *w)
{
    return w->now / (w->config.times.hedge_span / SPANS + 1);
}

void fby_w_count_request(struct fby_window *w, bool hedge)
{
    int64_t      number = span_now(w);
    struct span *span   = &w->spans[(uint64_t)number % SPANS];
    if (span->number != number) {
        *span = (struct span){.number = number};
    }
    span->requests++;
    span->hedges += hedge;
}

bool fby_w_may_hedge(struct fby_window *w)
{
    uint32_t requests = 0;
    uint32_t hedges   = 0;
    for (int i = 0; i < SPANS; i++) {
        if (w->spans[i].number > span_now(w) - SPANS) {
            requests += w->spans[i].requests;
            hedges += w->spans[i].hedges;
        }
    }
    uint32_t most = requests / 20 > 2 ? requests / 20 : 2;
    return hedges < most && !FBY_MUTANT(hedge_ignored);
}

/* ---- What the consumer needs --------------------------------------------- */

void fby_w_wish(struct fby_window *w)
{
    if (!w->wanting) {
        int64_t sample = w->now - w->taken_ns;
        w->interval    = w->counters.delivered < 2
                             ? sample
                             : w->interval + (sample - w->interval) / 4;
        w->wanting     = true;
    }
}

void fby_w_took(struct fby_window *w)
{
    w->wanting  = false;
    w->taken_ns = w->now;
}

/* Fewer are ready than the consumer takes while one more is made. */
bool fby_w_in_demand(const struct fby_window *w, uint32_t ready)
{
    int64_t interval = w->interval;
    if (!w->wanting && w->now - w->taken_ns > interval) {
        interval = w->now - w->taken_ns; /* it is slower this time */
    }
    double service = w->pace * (double)w->config.batch_bytes;
    return ready == 0 || (double)ready * (double)interval < service;
}
