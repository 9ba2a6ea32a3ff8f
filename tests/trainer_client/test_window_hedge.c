/* SPDX-License-Identifier: Apache-2.0 */
/* Hedges: which of two answers is used, and the slots and bytes they take. */
#include "tests/trainer_client/window_hedges.h"

/* ---- The first of two answers -------------------------------------------- */

static void a_late_step_is_asked_of_another_worker_with_a_ping(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    struct driver            d = of_one_block(&c);
    assert_actions(&d, "REQUEST 1 #1 step 0 slot 0");
    demand_batch(&d);
    assert_after(&d, 20 * MS, "PING 1; REQUEST 0 #2 step 0 slot 1 hedge");
    assert_int_equal(fby_window_used_bytes(d.w), 2 * BATCH);
    assert_counters(&d, "requests 2, hedges 1");
    fby_window_destroy(&d.w);
}

static void a_hedge_that_is_first_wins(void **state)
{
    (void)state;
    struct pair             p;
    struct driver           d = hedged(&p);
    struct fby_window_batch batch;
    answer_with(&d, &p.hedge, 1);
    assert_ok(take(&d, &batch));
    assert_int_equal(batch.slot, p.hedge.slot);
    assert_int_equal(batch.peer, p.hedge.peer);
    assert_int_equal(batch.id.value, p.hedge.id.value);
    assert_turn(&d, "CANCEL 1 #1");
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(chunk(&d, &p.slow, i), FBY_LATE_HEDGE);
    }
    assert_counters(
        &d, "delivered 1, requests 2, hedges 1, hedges_won 1, late_hedge 2");
    fby_window_destroy(&d.w);
}

static void a_hedge_that_is_second_is_cancelled(void **state)
{
    (void)state;
    struct pair             p;
    struct driver           d = hedged(&p);
    struct fby_window_batch batch;
    answer_with(&d, &p.slow, 1);
    assert_turn(&d, "CANCEL 0 #2");
    assert_ok(take(&d, &batch));
    assert_int_equal(batch.peer, 1);
    assert_counters(&d, "delivered 1, requests 2, hedges 1");
    fby_window_destroy(&d.w);
}

/* Its END came first, its chunk is still being decoded. */
static void an_ended_answer_that_is_slower_is_compared_at_once(void **state)
{
    (void)state;
    for (uint8_t content = 1; content <= 2; content++) {
        struct pair   p;
        struct driver d = hedged(&p);
        assert_int_equal(header(&d, &p.slow, 1), FBY_TAKE);
        assert_int_equal(chunk(&d, &p.slow, 0), FBY_TAKE);
        assert_int_equal(end(&d, &p.slow, content), FBY_TAKE);
        answer_with(&d, &p.hedge, 1);
        assert_turn(&d, content == 1 ? "" : "FAIL 0");
        assert_failed(
            &d, content == 1 ? "" : "DIFFERENT 0, peers 0 and 1, step 0 #1");
        assert_int_equal(fby_window_used_bytes(d.w), 2 * BATCH);
        decoded(&d, &p.slow, true);
        assert_int_equal(fby_window_used_bytes(d.w), BATCH);
        fby_window_destroy(&d.w);
    }
}

/* Its chunks are dropped without a check, so its END may be wrong. */
static void an_end_after_that_of_the_faster_answer_proves_nothing(void **state)
{
    (void)state;
    struct pair   p;
    struct driver d = hedged(&p);
    assert_int_equal(header(&d, &p.slow, 1), FBY_TAKE);
    answer_with(&d, &p.hedge, 1);
    assert_int_equal(chunk(&d, &p.slow, 0), FBY_LATE_HEDGE);
    assert_int_equal(end(&d, &p.slow, 2), FBY_LATE_HEDGE);
    assert_failed(&d, "");
    take_and_release(&d, 0);
    fby_window_destroy(&d.w);
}

/* After a difference no batch is delivered, not even one that is ready. */
static void the_first_difference_is_what_the_stream_fails_with(void **state)
{
    (void)state;
    struct pair             p;
    struct driver           d = hedged(&p);
    struct fby_window_batch batch;
    answer_differs(&d, &p);
    fby_window_set_aside(d.w, d.now, 0, 1);
    fby_window_set_aside(d.w, d.now, 1, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_FAIL, FBY_NO_PEER), 1);
    assert_failed(&d, "DIFFERENT 0, peers 0 and 1, step 0 #1");
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_destroy(&d.w);
}

/* ---- How many slower answers are remembered ------------------------------ */

enum { REMEMBERED = 64, HEDGES = REMEMBERED + 2 };

/* Every step is slow, and its hedge answers with its number. */
static struct driver many_hedges(struct pair pairs[HEDGES])
{
    struct fby_window_config c = quick_hedges(1);
    c.times.hedge_period       = 10 * MS; /* no limit */
    c.max_hedges_lost          = HEDGES + 1;
    struct driver d            = of_one_block(&c);
    for (int step = 0; step < HEDGES; step++) {
        pairs[step].slow = nth_action(&d, FBY_DO_REQUEST, 0);
        demand_batch(&d);
        wait(&d, 20 * MS);
        pairs[step].hedge = nth_action(&d, FBY_DO_REQUEST, 0);
        fby_window_heard(d.w, d.now, pairs[step].slow.peer);
        answer_with(&d, &pairs[step].hedge, (uint8_t)step);
        take_and_release(&d, (uint64_t)step);
        turn(&d);
    }
    return d;
}

static void the_last_64_slower_answers_are_known(void **state)
{
    (void)state;
    struct pair   pairs[HEDGES];
    struct driver d = many_hedges(pairs);
    for (int step = 0; step < HEDGES; step++) {
        bool forgotten = step < HEDGES - REMEMBERED;
        assert_int_equal(end(&d, &pairs[step].slow, (uint8_t)step),
            forgotten ? FBY_LATE : FBY_LATE_HEDGE);
    }
    assert_int_equal(counters(&d).hedges_won, HEDGES);
    fby_window_destroy(&d.w);
}

static void a_hedge_that_is_lost_leaves_the_request_alone(void **state)
{
    (void)state;
    struct pair   p;
    struct driver d = hedged(&p);
    fby_window_lost(d.w, d.now, p.hedge.peer, p.hedge.id);
    fby_window_heard(d.w, d.now, p.slow.peer);
    assert_turn(&d, "");
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    assert_after(&d, 100 * MS, "PING 1"); /* it is late, but hedged once */
    answer_with(&d, &p.slow, 1);
    take_and_release(&d, 0);
    assert_counters(&d, "delivered 1, requests 2, hedges 1, lost 1");
    fby_window_destroy(&d.w);
}

static void the_request_stays_in_its_slot_when_its_hedge_is_lost(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(2);
    int                      held;
    struct driver            d = hedged_behind_a_held_batch(&c, &held);
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){3});
    struct fby_action r = {.peer = 1, .id = {2}, .slot = 1};
    answer_with(&d, &r, 1);
    take_and_release(&d, 1);
    fby_window_destroy(&d.w);
}

/* It learns what is open from WELCOME. */
static void a_greeted_worker_is_not_told_to_cancel(void **state)
{
    (void)state;
    struct pair   p;
    struct driver d = hedged(&p);
    fby_window_hello_first(d.w, d.now, p.slow.peer);
    assert_turn(&d, "HELLO 1");
    answer_with(&d, &p.hedge, 1);
    assert_turn(&d, "");
    fby_window_destroy(&d.w);
}

static void a_request_that_is_lost_leaves_its_hedge(void **state)
{
    (void)state;
    struct pair   p;
    struct driver d = hedged(&p);
    fby_window_lost(d.w, d.now, p.slow.peer, p.slow.id);
    assert_turn(&d, "");
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    assert_after(&d, 20 * MS, "PING 0; REQUEST 1 #3 step 0 slot 0 hedge");
    answer_with(&d, &p.hedge, 1);
    take_and_release(&d, 0);
    assert_counters(&d, "delivered 1, requests 3, hedges 2, lost 1");
    fby_window_destroy(&d.w);
}

static void a_corrupt_answer_leaves_its_hedge(void **state)
{
    (void)state;
    struct pair   p;
    struct driver d = hedged(&p);
    assert_int_equal(header(&d, &p.slow, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &p.slow, 0), FBY_TAKE);
    decoded(&d, &p.slow, false);
    assert_turn(&d, "CANCEL 1 #1");
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    answer_with(&d, &p.hedge, 1);
    take_and_release(&d, 0);
    assert_counters(&d, "delivered 1, requests 2, hedges 1, corrupt 1");
    fby_window_destroy(&d.w);
}

/* ---- Room ---------------------------------------------------------------- */

static void a_slower_answer_keeps_its_slot_while_it_is_decoded(void **state)
{
    (void)state;
    struct pair   p;
    struct driver d = hedged(&p);
    assert_int_equal(header(&d, &p.slow, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &p.slow, 0), FBY_TAKE);
    assert_int_equal(chunk(&d, &p.slow, 1), FBY_TAKE);
    answer_with(&d, &p.hedge, 1);
    take_and_release(&d, 0);
    assert_turn(&d, "CANCEL 1 #1");
    decoded(&d, &p.slow, false); /* not needed any more */
    assert_turn(&d, "");
    assert_int_equal(counters(&d).corrupt, 0);
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    assert_int_equal(fby_window_find_slot(d.w, p.slow.id), FBY_NO_SLOT);
    assert_int_equal(chunk(&d, &p.slow, 1), FBY_LATE_HEDGE);
    decoded(&d, &p.slow, true);
    assert_turn(&d, "REQUEST 0 #3 step 1 slot 0");
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    fby_window_destroy(&d.w);
}

/* Slots for two batches, bytes for two, or both. */
static void a_hedge_takes_no_room_from_the_steps_that_follow(void **state)
{
    (void)state;
    const uint32_t rooms[][2] = {{2, 2}, {2, 9}, {4, 2}};
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        struct fby_window_config c = quick_hedges(rooms[i][0]);
        c.max_bytes                = rooms[i][1] * (uint64_t)BATCH;
        int           held;
        struct driver d = hedged_behind_a_held_batch(&c, &held);
        assert_turn(&d, "");
        fby_window_release(d.w, d.now, held);
        assert_turn(&d, "REQUEST 0 #4 step 2 slot 0");
        assert_int_equal(fby_window_used_bytes(d.w), 3 * BATCH);
        fby_window_destroy(&d.w);
    }
}

/* Four slots and bytes for two batches. Steps 0 and 1 are late; the hedge of
 * step 0 won and is held, its slower answer is still being decoded. */
static struct driver overfull(struct pair *p, struct fby_window_batch *held)
{
    struct fby_window_config c = quick_hedges(4);
    c.max_bytes                = (uint64_t)2 * BATCH;
    struct driver d            = hedged_with(&c, p);
    assert_int_equal(header(&d, &p->slow, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &p->slow, 0), FBY_TAKE);
    answer_with(&d, &p->hedge, 1);
    assert_ok(take(&d, held));
    demand_batch(&d);
    assert_turn(&d, "CANCEL 1 #1");
    assert_int_equal(fby_window_used_bytes(d.w), 3 * BATCH);
    return d;
}

static void a_step_that_is_complete_has_no_hedge_any_more(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(2);
    struct pair              p;
    struct driver            d = hedged_with(&c, &p);
    answer_with(&d, &p.hedge, 1);
    assert_turn(&d, "CANCEL 1 #1; REQUEST 0 #4 step 1 slot 0 hedge");
    assert_int_equal(fby_window_used_bytes(d.w), 3 * BATCH);
    assert_turn(&d, "");
    fby_window_destroy(&d.w);
}

/* Steps 0 and 1 are ready, step 2 is late. */
static void a_hedge_behind_ready_steps_takes_no_room_either(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(3);
    struct driver            d = of_one_block(&c);
    demand_batch(&d);
    wait(&d, 10 * MS);
    for (uint64_t id = 1; id <= 2; id++) {
        struct fby_action r = {.peer = 1, .id = {id}, .slot = (int)id - 1};
        answer_with(&d, &r, 1);
    }
    assert_after(&d, 10 * MS, "PING 0; REQUEST 1 #4 step 2 slot 3 hedge");
    take_and_release(&d, 0);
    assert_turn(&d, "REQUEST 1 #5 step 3 slot 0");
    fby_window_destroy(&d.w);
}

static void a_hedge_waits_for_a_slot(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    c.max_bytes                = (uint64_t)9 * BATCH;
    struct pair   p;
    struct driver d = hedged_with(&c, &p);
    assert_int_equal(header(&d, &p.hedge, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &p.hedge, 0), FBY_TAKE);
    fby_window_lost(d.w, d.now, p.hedge.peer, p.hedge.id);
    fby_window_lost(d.w, d.now, p.slow.peer, p.slow.id);
    assert_turn(&d, "REQUEST 0 #3 step 0 slot 0");
    wait(&d, 20 * MS);
    assert_actions(&d, "PING 0");
    decoded(&d, &p.hedge, true);
    assert_turn(&d, "REQUEST 1 #4 step 0 slot 1 hedge");
    fby_window_destroy(&d.w);
}

static void a_hedge_waits_for_bytes(void **state)
{
    (void)state;
    struct pair             p;
    struct fby_window_batch held;
    struct driver           d = overfull(&p, &held);
    fby_window_release(d.w, d.now, held.slot);
    assert_turn(&d, "REQUEST 0 #4 step 1 slot 2 hedge");
    assert_int_equal(fby_window_used_bytes(d.w), 3 * BATCH);
    fby_window_destroy(&d.w);
}

static void slower_answers_take_bytes_until_they_are_decoded(void **state)
{
    (void)state;
    struct pair             p;
    struct fby_window_batch held;
    struct driver           d    = overfull(&p, &held);
    struct fby_action       next = p.slow;
    next.id.value                = 2;
    next.slot                    = 1;
    answer_with(&d, &next, 1);
    take_and_release(&d, 1);
    assert_turn(&d, "");
    decoded(&d, &p.slow, true);
    assert_turn(&d, "REQUEST 0 #4 step 2 slot 0");
    assert_int_equal(fby_window_used_bytes(d.w), 2 * BATCH);
    fby_window_destroy(&d.w);
}

/* Three batches of bytes are taken where two are allowed. */
static void more_bytes_than_allowed_are_no_room(void **state)
{
    (void)state;
    struct pair             p;
    struct fby_window_batch held;
    struct driver           d = overfull(&p, &held);
    wait(&d, 10 * MS);
    assert_actions(&d, "");
    assert_int_equal(fby_window_used_bytes(d.w), 3 * BATCH);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_step_is_asked_of_another_worker_with_a_ping),
        cmocka_unit_test(a_hedge_that_is_first_wins),
        cmocka_unit_test(a_hedge_that_is_second_is_cancelled),
        cmocka_unit_test(an_ended_answer_that_is_slower_is_compared_at_once),
        cmocka_unit_test(an_end_after_that_of_the_faster_answer_proves_nothing),
        cmocka_unit_test(the_last_64_slower_answers_are_known),
        cmocka_unit_test(the_first_difference_is_what_the_stream_fails_with),
        cmocka_unit_test(a_hedge_that_is_lost_leaves_the_request_alone),
        cmocka_unit_test(the_request_stays_in_its_slot_when_its_hedge_is_lost),
        cmocka_unit_test(a_greeted_worker_is_not_told_to_cancel),
        cmocka_unit_test(a_request_that_is_lost_leaves_its_hedge),
        cmocka_unit_test(a_corrupt_answer_leaves_its_hedge),
        cmocka_unit_test(a_slower_answer_keeps_its_slot_while_it_is_decoded),
        cmocka_unit_test(a_hedge_takes_no_room_from_the_steps_that_follow),
        cmocka_unit_test(a_step_that_is_complete_has_no_hedge_any_more),
        cmocka_unit_test(a_hedge_behind_ready_steps_takes_no_room_either),
        cmocka_unit_test(a_hedge_waits_for_a_slot),
        cmocka_unit_test(a_hedge_waits_for_bytes),
        cmocka_unit_test(slower_answers_take_bytes_until_they_are_decoded),
        cmocka_unit_test(more_bytes_than_allowed_are_no_room),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_hedge", tests, NULL, NULL);
}
