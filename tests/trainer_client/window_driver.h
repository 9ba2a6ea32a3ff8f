/* SPDX-License-Identifier: Apache-2.0 */
/* window_driver.h - a small caller of the window under test.
 *
 * The driver stores the time and the actions of the last turn. Workers are
 * instances 1 to n and answer with one chunk, unless a test chooses otherwise.
 */
#ifndef FBY_TESTS_WINDOW_DRIVER_H
#define FBY_TESTS_WINDOW_DRIVER_H

#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "trainer_client/window/window.h"

#define MS FBY_NS_PER_MS
#define S  FBY_NS_PER_S
enum { BATCH = 1000, MAX_ACTIONS = 256, PEERS = 8 };

struct driver {
    struct fby_window *w;
    int64_t            now;
    struct fby_action  actions[MAX_ACTIONS];
    int                n_actions;
    uint64_t           slept; /* pauses of the loop before the test */
};

static inline struct fby_window_config config_of(uint32_t batches)
{
    struct fby_window_config c = fby_window_defaults();
    c.max_batches              = batches;
    c.max_bytes                = (uint64_t)batches * BATCH;
    c.batch_bytes              = BATCH;
    c.max_chunks               = 8;
    c.max_peers                = PEERS;
    c.seed                     = 1;
    return c;
}

static inline void turn(struct driver *d)
{
    d->n_actions = 0;
    fby_window_tick(d->w, d->now);
    while (fby_window_next_action(d->w, &d->actions[d->n_actions])) {
        d->n_actions++;
        assert_true(d->n_actions < MAX_ACTIONS);
    }
    int64_t due = fby_window_deadline(d->w);
    assert_true(due > d->now);
}

/* Tick at every deadline within `ns`, as the receiver does. */
static inline void wait(struct driver *d, int64_t ns)
{
    int64_t end = d->now + ns;
    int     n   = 0;
    while (fby_window_deadline(d->w) <= end) {
        struct fby_action kept[MAX_ACTIONS];
        d->now = fby_window_deadline(d->w);
        memcpy(kept, d->actions, sizeof(kept));
        turn(d);
        memcpy(&kept[n], d->actions, (size_t)d->n_actions * sizeof(kept[0]));
        n += d->n_actions;
        memcpy(d->actions, kept, sizeof(kept));
        assert_true(n < MAX_ACTIONS / 2);
    }
    d->now       = end;
    d->n_actions = n;
}

static inline int count(
    const struct driver *d, enum fby_action_kind kind, int peer)
{
    int n = 0;
    for (int i = 0; i < d->n_actions; i++) {
        n += d->actions[i].kind == kind &&
             (peer == FBY_NO_PEER || d->actions[i].peer == peer);
    }
    return n;
}

/* The `nth` action of a kind in the last turn; fails when there is none. */
static inline struct fby_action nth_action(
    const struct driver *d, enum fby_action_kind kind, int nth)
{
    for (int i = 0; i < d->n_actions; i++) {
        if (d->actions[i].kind == kind && nth-- == 0) {
            return d->actions[i];
        }
    }
    fail_msg("action %d did not come", (int)kind);
    return (struct fby_action){0};
}

/* The first action of a kind for `peer` in the last turn; fails if none. */
static inline struct fby_action action_for(
    const struct driver *d, enum fby_action_kind kind, int peer)
{
    int nth = 0;
    while (nth_action(d, kind, nth).peer != peer) {
        nth++;
    }
    return nth_action(d, kind, nth);
}

/* Answer the HELLO of the last turn with WELCOME. */
static inline void welcome(struct driver *d, int peer, uint64_t instance,
    const struct fby_request_id *open, size_t n_open)
{
    fby_window_welcome(d->w, d->now, peer,
        &(struct fby_window_welcome){.instance = {instance},
            .route       = action_for(d, FBY_DO_HELLO, peer).number,
            .send_window = 1000,
            .open_ids    = open,
            .n_open      = n_open});
}

static inline int add(struct driver *d, uint64_t instance)
{
    int peer = FBY_NO_PEER;
    assert_ok(fby_window_peer_add(
        d->w, d->now, (struct fby_instance_id){instance}, instance, &peer));
    return peer;
}

/* Add a peer that has opened the dataset, before the window starts. */
static inline int join(struct driver *d, uint64_t instance)
{
    int peer = add(d, instance);
    turn(d);
    welcome(d, peer, instance, NULL, 0);
    turn(d);
    assert_int_equal(count(d, FBY_DO_OPEN, peer), 1);
    fby_window_opened(d->w, d->now, peer);
    return peer;
}

/* The loop pauses for a minute before the test begins, so that a time that the
 * window does not correct for the pause is wrong by a minute. */
#define SLEPT (60 * S)
#define BEGIN (S + SLEPT)

static inline struct driver driver_of(const struct fby_window_config *config)
{
    struct driver           d = {.now = S, .slept = 1};
    struct fby_error_detail why;
    assert_ok(fby_window_create(config, d.now, &d.w, &why));
    d.now = BEGIN;
    turn(&d);
    return d;
}

static inline void start_at(
    struct driver *d, uint64_t per_epoch, uint64_t total)
{
    struct fby_error_detail why;
    struct fby_window_plan  plan = {
         .steps_per_epoch = per_epoch, .total = total};
    assert_ok(fby_window_start(d->w, d->now, &plan, &why));
    turn(d);
}

/* `n` workers, instances 1 to n, peers 0 to n - 1, and the first requests of a
 * stream without an end. */
static inline struct driver started_with(
    const struct fby_window_config *config, uint64_t n)
{
    struct driver d = driver_of(config);
    for (uint64_t i = 1; i <= n; i++) {
        (void)join(&d, i);
    }
    start_at(&d, 1000000, UINT64_MAX);
    return d;
}

/* The same; every `audit`-th step is requested from two workers. */
static inline struct driver audited(
    uint32_t batches, uint64_t n, uint64_t audit)
{
    struct fby_window_config c = config_of(batches);
    c.audit                    = audit;
    return started_with(&c, n);
}

static inline struct driver started(uint32_t batches, uint64_t n)
{
    return audited(batches, n, 0);
}

static inline enum fby_verdict chunk(
    struct driver *d, const struct fby_action *r, uint32_t number)
{
    return fby_window_chunk(d->w, d->now,
        &(struct fby_window_chunk){
            .peer = r->peer, .id = r->id, .chunk = number, .wire_bytes = 10});
}

static inline enum fby_verdict end(
    struct driver *d, const struct fby_action *r, uint8_t content)
{
    return fby_window_end(d->w, d->now,
        &(struct fby_window_end){.peer = r->peer,
            .id                        = r->id,
            .matches                   = true,
            .content_hash              = {{content}}});
}

static inline void decoded(
    struct driver *d, const struct fby_action *r, bool ok)
{
    fby_window_decoded(d->w, d->now, r->slot, r->id, ok);
}

static inline enum fby_verdict header(
    struct driver *d, const struct fby_action *r, uint32_t n)
{
    return fby_window_header(d->w, d->now, r->peer, r->id, n);
}

static inline void answer(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 1), FBY_TAKE);
    assert_int_equal(chunk(d, r, 0), FBY_TAKE);
    decoded(d, r, true);
    assert_int_equal(end(d, r, 1), FBY_TAKE);
}

/* The whole answer to an audit. */
static inline void answer_audit(
    struct driver *d, const struct fby_action *r, uint8_t content)
{
    assert_int_equal(header(d, r, 1), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 0), FBY_AUDIT);
    assert_int_equal(end(d, r, content), FBY_AUDIT);
}

static inline fby_err take(struct driver *d, struct fby_window_batch *out)
{
    return fby_window_take(d->w, d->now, out);
}

static inline void take_and_release(struct driver *d, uint64_t step)
{
    struct fby_window_batch batch;
    assert_ok(take(d, &batch));
    assert_int_equal(batch.step, step);
    fby_window_release(d->w, d->now, batch.slot);
}

/* The window's counters, without the driver's own pause. */
static inline struct fby_window_counters counters(const struct driver *d)
{
    struct fby_window_counters c = fby_window_counters(d->w);
    c.gaps -= d->slept;
    return c;
}

/* ---- Streams that prefer one worker -------------------------------------- */

/* With one locality for all steps, each step prefers this instance if it is
 * there, else the highest of the instances 1, 2 and 3. */
enum { PREFERRED = 16 };

static inline uint64_t constant_locality(
    const void *context, uint64_t epoch, uint64_t step)
{
    (void)context;
    (void)epoch;
    (void)step;
    return 77;
}

static inline void start_constant_locality(struct driver *d)
{
    struct fby_error_detail why;
    assert_ok(fby_window_start(d->w, d->now,
        &(struct fby_window_plan){.steps_per_epoch = 1000,
            .total                                 = UINT64_MAX,
            .locality                              = constant_locality},
        &why));
    turn(d);
}

/* ---- Several steps at once ----------------------------------------------- */

/* The whole answer, without chunks. */
static inline void answer_with(
    struct driver *d, const struct fby_action *r, uint8_t content)
{
    assert_int_equal(header(d, r, 0), FBY_TAKE);
    assert_int_equal(end(d, r, content), FBY_TAKE);
}

/* Answer the first request of the last turn and take its batch. */
static inline struct fby_action answer_next(struct driver *d)
{
    struct fby_action r = nth_action(d, FBY_DO_REQUEST, 0);
    answer(d, &r);
    take_and_release(d, r.step);
    turn(d);
    return r;
}

/* Answer HELLO and OPEN for a peer, which can then get requests. */
static inline void admit_peer(struct driver *d, int peer, uint64_t instance)
{
    welcome(d, peer, instance, NULL, 0);
    turn(d);
    fby_window_opened(d->w, d->now, peer);
}

static inline void remove_peer(struct driver *d, int peer)
{
    fby_window_peer_unlist(d->w, d->now, peer);
    fby_window_unreachable(d->w, d->now, peer);
}

/* The consumer asks for a batch that is not ready. */
static inline void demand_batch(struct driver *d)
{
    struct fby_window_batch batch;
    assert_int_equal(take(d, &batch), FBY_AGAIN);
}

#endif
