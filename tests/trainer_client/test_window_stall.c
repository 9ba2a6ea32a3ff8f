/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that are heard and make no progress on what they were asked. */
#include "tests/trainer_client/window_hedges.h"

/* Answer the hedge of the last turn. */
static void answer_hedge(struct driver *d)
{
    struct fby_action hedge = action_for(d, FBY_DO_REQUEST, 0);
    assert_true(hedge.hedge);
    answer_with(d, &hedge, 1);
    turn(d);
}

/* Workers 0 and 1. Steps 0, 1 and 3 were asked of worker 1, which sends
 * nothing; worker 0 has answered step 2, and a hedge of step 0. */
static struct driver with_a_mute_worker(struct fby_action requests[4])
{
    struct fby_window_config c = quick_hedges(4);
    c.times.suspect            = 1000 * S;
    struct driver d            = of_one_block(&c);
    assert_actions(&d,
        "REQUEST 1 #1 step 0 slot 0; REQUEST 1 #2 step 1 slot 1; "
        "REQUEST 0 #3 step 2 slot 2; REQUEST 1 #4 step 3 slot 3");
    for (int i = 0; i < 4; i++) {
        requests[i] = nth_action(&d, FBY_DO_REQUEST, i);
    }
    answer_with(&d, &requests[2], 1);
    wait(&d, 20 * MS);
    answer_hedge(&d);
    wait(&d, 279 * MS);
    assert_actions(&d, "");
    return d;
}

/* The last action is the probe. */
static struct driver with_a_stalled_worker(struct fby_action *probe)
{
    struct fby_action requests[4];
    struct driver     d = with_a_mute_worker(requests);
    assert_after(&d, MS,
        "CANCEL 1 #2; REQUEST 0 #6 step 1 slot 1; CANCEL 1 #4; "
        "REQUEST 0 #7 step 3 slot 3; REQUEST 1 #8 step 3 probe");
    assert_counters(
        &d, "requests 8, hedges 1, hedges_won 1, rerequests 2, stalls 1");
    *probe = nth_action(&d, FBY_DO_REQUEST, 2);
    return d;
}

static void the_steps_of_a_worker_without_progress_move(void **state)
{
    (void)state;
    struct fby_action probe;
    struct driver     d = with_a_stalled_worker(&probe);
    wait(&d, 100 * S); /* one probe, and no other request */
    assert_int_equal(count(&d, FBY_DO_REQUEST, 1), 0);
    fby_window_destroy(&d.w);
}

static void a_byte_in_time_is_progress(void **state)
{
    (void)state;
    struct fby_action requests[4];
    struct driver     d = with_a_mute_worker(requests);
    assert_int_equal(header(&d, &requests[1], 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &requests[1], 0), FBY_TAKE);
    wait(&d, 300 * MS - 1);
    assert_int_equal(counters(&d).stalls, 0);
    wait(&d, 1);
    assert_int_equal(counters(&d).stalls, 1);
    fby_window_destroy(&d.w);
}

static void a_header_is_no_progress(void **state)
{
    (void)state;
    struct fby_action requests[4];
    struct driver     d = with_a_mute_worker(requests);
    assert_int_equal(header(&d, &requests[1], 2), FBY_TAKE);
    wait(&d, MS);
    assert_int_equal(counters(&d).stalls, 1);
    fby_window_destroy(&d.w);
}

/* Its chunks are counted for CREDIT, and dropped. */
static void a_worker_that_answers_its_probe_gets_requests_again(void **state)
{
    (void)state;
    struct fby_action probe;
    struct driver     d = with_a_stalled_worker(&probe);
    assert_int_equal(header(&d, &probe, 1), FBY_LATE);
    assert_int_equal(chunk(&d, &probe, 0), FBY_LATE);
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){6});
    assert_turn(&d, "REQUEST 0 #9 step 1 slot 1");
    assert_int_equal(end(&d, &probe, 1), FBY_LATE);
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){9});
    turn(&d);
    assert_requested_peers(&d, "1");
    fby_window_destroy(&d.w);
}

static void a_probe_that_is_refused_is_repeated_a_second_later(void **state)
{
    (void)state;
    struct fby_action probe;
    struct driver     d = with_a_stalled_worker(&probe);
    fby_window_busy(d.w, d.now, 1, probe.id, 50 * MS);
    wait(&d, S - 1);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 1), 0);
    wait(&d, 1);
    assert_actions(&d, "REQUEST 1 #9 step 3 probe");
    fby_window_destroy(&d.w);
}

/* WELCOME names only the probe as open. */
static void a_probe_survives_a_new_route_if_the_worker_has_it(void **state)
{
    (void)state;
    struct fby_action probe;
    struct driver     d = with_a_stalled_worker(&probe);
    fby_window_hello_first(d.w, d.now, 1);
    turn(&d);
    welcome(&d, 1, 2, &probe.id, 1);
    assert_turn(&d, "");
    fby_window_hello_first(d.w, d.now, 1);
    turn(&d);
    welcome(&d, 1, 2, NULL, 0);
    wait(&d, S);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).probe, true);
    fby_window_destroy(&d.w);
}

/* Worker 0 leaves: the stalled worker is better than none. */
static void without_another_worker_a_stalled_one_is_asked(void **state)
{
    (void)state;
    struct fby_action probe;
    struct driver     d = with_a_stalled_worker(&probe);
    fby_window_unreachable(d.w, d.now, 0);
    turn(&d);
    assert_requested_peers(&d, "11");
    fby_window_destroy(&d.w);
}

/* The only other worker is busy, and accepts requests later. */
static void a_step_waits_for_a_busy_worker_rather_than_a_stalled_one(
    void **state)
{
    (void)state;
    struct fby_action probe;
    struct driver     d = with_a_stalled_worker(&probe);
    fby_window_busy(d.w, d.now, 0, (struct fby_request_id){6}, 50 * MS);
    assert_turn(&d, "");
    assert_after(&d, 50 * MS, "REQUEST 0 #9 step 1 slot 1");
    fby_window_destroy(&d.w);
}

/* No answer is known: a batch may take longer than any hedge waits. */
static void before_the_first_answer_no_worker_is_stalled(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(4);
    c.times.suspect            = 1000 * S;
    struct driver d            = of_one_block(&c);
    wait(&d, 10 * S);
    assert_int_equal(counters(&d).stalls, 0);
    fby_window_destroy(&d.w);
}

/* Worker 1 has sent a chunk of `slow` when worker 0 answers a hedge of it. */
static void lose_hedge(struct driver *d, const struct fby_action *slow)
{
    assert_int_equal(header(d, slow, 2), FBY_TAKE);
    assert_int_equal(chunk(d, slow, 0), FBY_TAKE);
    decoded(d, slow, true);
    demand_batch(d);
    wait(d, 20 * MS);
    fby_window_heard(d->w, d->now, 1);
    answer_hedge(d);
}

/* Worker 0 answers its own steps; so worker 1 is the only one without an END. */
static void three_lost_hedges_in_a_row_stall_a_worker(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    c.times.hedge_period       = 10 * MS; /* no limit */
    struct driver d            = of_one_block(&c);
    uint64_t      n_lost       = 0;
    for (uint64_t step = 0; n_lost < 3; step++) {
        assert_int_equal(counters(&d).stalls, 0);
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        if (r.peer == 1) {
            lose_hedge(&d, &r);
            n_lost++;
        } else {
            answer_with(&d, &r, 1);
            d.now += 15 * MS; /* the pace of worker 1 is forgotten */
        }
        take_and_release(&d, step);
        turn(&d);
    }
    assert_int_equal(counters(&d).stalls, 1);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_steps_of_a_worker_without_progress_move),
        cmocka_unit_test(a_byte_in_time_is_progress),
        cmocka_unit_test(a_header_is_no_progress),
        cmocka_unit_test(a_worker_that_answers_its_probe_gets_requests_again),
        cmocka_unit_test(a_probe_that_is_refused_is_repeated_a_second_later),
        cmocka_unit_test(a_probe_survives_a_new_route_if_the_worker_has_it),
        cmocka_unit_test(without_another_worker_a_stalled_one_is_asked),
        cmocka_unit_test(
            a_step_waits_for_a_busy_worker_rather_than_a_stalled_one),
        cmocka_unit_test(before_the_first_answer_no_worker_is_stalled),
        cmocka_unit_test(three_lost_hedges_in_a_row_stall_a_worker),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_stall", tests, NULL, NULL);
}
