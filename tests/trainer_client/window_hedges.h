/* SPDX-License-Identifier: Apache-2.0 */
/* window_hedges.h - a step that a worker answers late, and the hedge for it. */
#ifndef FBY_TESTS_WINDOW_HEDGES_H
#define FBY_TESTS_WINDOW_HEDGES_H

#include "tests/trainer_client/window_words.h"

/* A hedge is due 20 ms after its request, even before any answer is known; no
 * PING is sent except with a hedge. */
static inline struct fby_window_config quick_hedges(uint32_t batches)
{
    struct fby_window_config c = config_of(batches);
    c.times.hedge_first        = 20 * MS;
    c.times.ping               = 1000 * S;
    c.times.reach              = 1000 * S;
    return c;
}

/* Workers 0 and 1; every step prefers worker 1. Their WELCOME was long enough
 * ago for a PING to be due. */
static inline struct driver of_one_block(const struct fby_window_config *config)
{
    struct driver d = driver_of(config);
    (void)join(&d, 1);
    (void)join(&d, 2);
    d.now += 100 * MS;
    start_constant_locality(&d);
    return d;
}

struct pair {
    struct fby_action slow;
    struct fby_action hedge;
};

/* The consumer waits for step 0, which was requested from worker 1 and, as a
 * hedge, from worker 0. */
static inline struct driver hedged_with(
    const struct fby_window_config *config, struct pair *out)
{
    struct driver d = of_one_block(config);
    out->slow       = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(out->slow.peer, 1);
    demand_batch(&d);
    wait(&d, 20 * MS);
    out->hedge = action_for(&d, FBY_DO_REQUEST, 0);
    assert_true(out->hedge.hedge);
    return d;
}

static inline struct driver hedged(struct pair *out)
{
    struct fby_window_config c = quick_hedges(1);
    return hedged_with(&c, out);
}

/* The slow answer ends with other values, and then the hedge is complete. */
static inline void answer_differs(struct driver *d, const struct pair *p)
{
    assert_int_equal(header(d, &p->slow, 1), FBY_TAKE);
    assert_int_equal(chunk(d, &p->slow, 0), FBY_TAKE);
    assert_int_equal(end(d, &p->slow, 2), FBY_TAKE);
    answer_with(d, &p->hedge, 1);
}

/* The consumer holds step 0 and step 1 is late; *out is the held slot. */
static inline struct driver hedged_behind_a_held_batch(
    const struct fby_window_config *config, int *out)
{
    struct driver           d  = of_one_block(config);
    struct fby_action       r0 = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer_with(&d, &r0, 1);
    assert_ok(take(&d, &batch));
    *out = batch.slot;
    turn(&d);
    demand_batch(&d);
    wait(&d, 20 * MS);
    assert_actions(&d, "PING 1; REQUEST 0 #3 step 1 slot 2 hedge");
    fby_window_heard(d.w, d.now, 1);
    return d;
}

#endif
