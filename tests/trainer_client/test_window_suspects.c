/* SPDX-License-Identifier: Apache-2.0 */
/* Suspects, and when and how often a late step is hedged. */
#include "tests/trainer_client/window_hedges.h"

/* ---- Suspects ------------------------------------------------------------ */

/* Steps 0, 1 and 3 were asked of worker 1, which answered only the second;
 * step 2 and the hedge of step 0 of worker 0. */
static struct driver with_a_silent_worker(struct fby_action requests[4])
{
    struct fby_window_config c = quick_hedges(4);
    struct driver            d = of_one_block(&c);
    assert_actions(&d,
        "REQUEST 1 #1 step 0 slot 0; REQUEST 1 #2 step 1 slot 1; "
        "REQUEST 0 #3 step 2 slot 2; REQUEST 1 #4 step 3 slot 3");
    for (int i = 0; i < 4; i++) {
        requests[i] = nth_action(&d, FBY_DO_REQUEST, i);
    }
    answer_with(&d, &requests[1], 1);
    demand_batch(&d);
    wait(&d, 20 * MS);
    assert_actions(&d, "PING 1; REQUEST 0 #5 step 0 slot 4 hedge");
    return d;
}

static void open_requests_move_away_from_a_suspect(void **state)
{
    (void)state;
    struct fby_action requests[4];
    struct driver     d = with_a_silent_worker(requests);
    assert_after(&d, 100 * MS,
        "CANCEL 1 #1; CANCEL 1 #4; REQUEST 0 #6 step 3 slot 3; PING 0");
    assert_counters(&d, "requests 6, hedges 1, rerequests 1, suspects 1");
    requests[0]      = nth_action(&d, FBY_DO_REQUEST, 0);
    requests[0].id   = (struct fby_request_id){5};
    requests[0].slot = 4;
    answer_with(&d, &requests[0], 1);
    take_and_release(&d, 0);
    take_and_release(&d, 1); /* which the suspect made before */
    fby_window_destroy(&d.w);
}

static void a_worker_heard_in_time_is_no_suspect(void **state)
{
    (void)state;
    struct fby_action requests[4];
    struct driver     d = with_a_silent_worker(requests);
    wait(&d, 100 * MS - 1);
    fby_window_heard(d.w, d.now, 1);
    d.now += 1;
    turn(&d);
    assert_counters(&d, "requests 5, hedges 1");
    assert_int_equal(count(&d, FBY_DO_PING, 1), 1); /* late again */
    assert_after(&d, 100 * MS,
        "CANCEL 1 #1; CANCEL 1 #4; REQUEST 0 #6 step 3 slot 3; PING 0");
    fby_window_destroy(&d.w);
}

/* The other worker is busy: of the suspect's steps only the one that it has
 * already moves. */
static void without_another_worker_a_suspect_keeps_what_has_no_hedge(
    void **state)
{
    (void)state;
    struct fby_action requests[4];
    struct driver     d = with_a_silent_worker(requests);
    wait(&d, 100 * MS - 1);
    fby_window_busy(d.w, d.now, 0, requests[2].id, 10 * S);
    d.now += 1;
    assert_turn(&d, "CANCEL 1 #1; PING 0");
    assert_int_equal(fby_window_find_slot(d.w, requests[3].id), 3);
    fby_window_destroy(&d.w);
}

/* The other worker is greeted: it cannot be asked now. */
static void a_suspect_keeps_what_no_other_worker_can_be_asked_for(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    struct driver            d = of_one_block(&c);
    demand_batch(&d);
    fby_window_hello_first(d.w, d.now, 0);
    assert_turn(&d, "HELLO 0");
    assert_after(&d, 20 * MS, "PING 1");
    wait(&d, 200 * MS);
    assert_actions(&d, "");
    assert_counters(&d, "requests 1, suspects 1");
    fby_window_destroy(&d.w);
}

/* The worker of the hedge is too busy for what it was asked after that. */
static void a_suspect_loses_a_step_to_its_hedge_though_no_worker_is_free(
    void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(2);
    int                      held;
    struct driver            d = hedged_behind_a_held_batch(&c, &held);
    fby_window_release(d.w, d.now, held);
    assert_turn(&d, "REQUEST 0 #4 step 2 slot 0");
    fby_window_busy(d.w, d.now, 0, (struct fby_request_id){4}, 10 * S);
    assert_turn(&d, "REQUEST 1 #5 step 2 slot 0");
    assert_after(&d, 100 * MS, "PING 1");
    assert_after(&d, 100 * MS, "CANCEL 1 #2; PING 0");
    fby_window_destroy(&d.w);
}

/* Answer the PING of the last turn `trip_ns` after it was sent. */
static void pong_after(
    struct driver *d, int64_t trip_ns, const struct fby_request_id *open)
{
    uint64_t sequence = action_for(d, FBY_DO_PING, 1).number;
    d->now += trip_ns;
    fby_window_pong(d->w, d->now, 1,
        &(struct fby_window_pong){.instance = {2},
            .sequence                       = sequence,
            .open_ids                       = open,
            .n_open                         = 1});
    turn(d);
    assert_actions(d, "");
}

/* 270 ms are the first trip and four times its deviation, half of it. */
static void a_worker_whose_pongs_are_slow_has_longer_to_answer(void **state)
{
    (void)state;
    struct pair   pair;
    struct driver d = hedged(&pair);
    pong_after(&d, 90 * MS, &pair.slow.id);
    assert_after(&d, 180 * MS, "PING 1");
    wait(&d, 270 * MS - 1);
    assert_int_equal(counters(&d).suspects, 0);
    wait(&d, 1);
    assert_int_equal(counters(&d).suspects, 1);
    fby_window_destroy(&d.w);
}

static void wait_for_ping(struct driver *d)
{
    d->n_actions = 0;
    while (count(d, FBY_DO_PING, 1) == 0) {
        wait(d, MS);
    }
}

/* Its trips take 90 ms, then 1 to 2 ms. */
static void a_worker_whose_pongs_are_fast_again_has_100_ms(void **state)
{
    (void)state;
    struct pair   pair;
    struct driver d = hedged(&pair);
    pong_after(&d, 90 * MS, &pair.slow.id);
    for (int i = 0; i < 40; i++) {
        wait_for_ping(&d);
        pong_after(&d, MS, &pair.slow.id);
    }
    wait_for_ping(&d);
    wait(&d, 98 * MS);
    assert_int_equal(counters(&d).suspects, 0);
    wait(&d, 2 * MS);
    assert_int_equal(counters(&d).suspects, 1);
    fby_window_destroy(&d.w);
}

static void a_suspect_is_asked_nothing_until_it_is_heard(void **state)
{
    (void)state;
    struct fby_action requests[4];
    struct driver     d = with_a_silent_worker(requests);
    wait(&d, 100 * MS);
    assert_int_equal(fby_window_n_usable_peers(d.w), 1);
    fby_window_lost(d.w, d.now, 0, requests[2].id);
    assert_turn(&d, "REQUEST 0 #7 step 2 slot 2");
    fby_window_heard(d.w, d.now, 1);
    assert_int_equal(fby_window_n_usable_peers(d.w), 2);
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){7});
    assert_turn(
        &d, "REQUEST 1 #8 step 2 slot 2; REQUEST 1 #9 step 0 slot 0 hedge");
    assert_int_equal(counters(&d).suspects, 1);
    fby_window_destroy(&d.w);
}

/* ---- When a step is hedged ----------------------------------------------- */

/* The request was sent 30 ms after the PING that is due each second. */
static void a_worker_is_not_pinged_twice_in_the_time_it_has_to_answer(
    void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    c.times.ping               = S;
    struct driver           d  = of_one_block(&c);
    struct fby_action       r  = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer_with(&d, &r, 1);
    assert_ok(take(&d, &batch));
    wait(&d, 930 * MS);
    assert_actions(&d, "PING 0; PING 1");
    fby_window_release(d.w, d.now, batch.slot);
    assert_turn(&d, "REQUEST 1 #2 step 1 slot 0");
    demand_batch(&d);
    assert_after(&d, 20 * MS, "REQUEST 0 #3 step 1 slot 1 hedge");
    assert_after(&d, 50 * MS, "PING 1");
    assert_after(&d, 100 * MS, "CANCEL 1 #2; PING 0");
    assert_counters(&d, "delivered 1, requests 3, hedges 1, suspects 1");
    fby_window_destroy(&d.w);
}

static void a_worker_that_is_greeted_is_not_pinged_for_a_hedge(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    struct driver            d = of_one_block(&c);
    demand_batch(&d);
    fby_window_hello_first(d.w, d.now, 1);
    assert_turn(&d, "HELLO 1");
    assert_after(&d, 20 * MS, "REQUEST 0 #2 step 0 slot 1 hedge");
    wait(&d, 200 * MS);
    assert_actions(&d, "");
    assert_counters(&d, "requests 2, hedges 1");
    fby_window_destroy(&d.w);
}

static void a_hedge_waits_for_another_worker_to_be_free(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(3);
    struct driver            d = of_one_block(&c);
    struct fby_action        r = nth_action(&d, FBY_DO_REQUEST, 2);
    assert_int_equal(r.peer, 0);
    fby_window_busy(d.w, d.now, 0, r.id, 40 * MS);
    assert_turn(&d, "REQUEST 1 #4 step 2 slot 2");
    demand_batch(&d);
    assert_after(&d, 20 * MS, "PING 1");
    fby_window_heard(d.w, d.now, 1);
    assert_after(&d, 20 * MS, "REQUEST 0 #5 step 0 slot 3 hedge");
    fby_window_destroy(&d.w);
}

static void an_answer_that_is_being_decoded_is_not_late(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    struct driver            d = of_one_block(&c);
    struct fby_action        r = nth_action(&d, FBY_DO_REQUEST, 0);
    demand_batch(&d);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    wait(&d, 200 * MS);
    assert_actions(&d, "CREDIT 1 10");
    assert_counters(&d, "requests 1");
    fby_window_destroy(&d.w);
}

static void a_stream_that_failed_hedges_nothing(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(2);
    struct pair              p;
    struct driver            d = hedged_with(&c, &p);
    struct fby_window_batch  batch;
    answer_differs(&d, &p);
    assert_turn(&d, "FAIL 0");
    assert_int_equal(take(&d, &batch), FBY_IO);
    wait(&d, 200 * MS); /* step 1 is late */
    assert_actions(&d, "CREDIT 1 10");
    assert_int_equal(counters(&d).hedges, 1);
    fby_window_destroy(&d.w);
}

static void a_worker_that_refused_a_step_is_no_hedge_of_it(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    struct driver            d = of_one_block(&c);
    struct fby_action        r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_cannot(d.w, d.now, 1, r.id, 7);
    assert_turn(&d, "REQUEST 0 #2 step 0 slot 0");
    demand_batch(&d);
    wait(&d, 50 * MS);
    assert_counters(&d, "requests 2, rerequests 1, cannot 1");
    fby_window_destroy(&d.w);
}

/* ---- How many hedges ----------------------------------------------------- */

/* A late step; its hedge, if there is one, answers at once. */
static void slow_step(struct driver *d, uint64_t step)
{
    struct fby_action r = nth_action(d, FBY_DO_REQUEST, 0);
    demand_batch(d);
    wait(d, 20 * MS);
    fby_window_heard(d->w, d->now, 0);
    fby_window_heard(d->w, d->now, 1);
    r = count(d, FBY_DO_REQUEST, FBY_NO_PEER) > 0
            ? nth_action(d, FBY_DO_REQUEST, 0)
            : r;
    answer_with(d, &r, 1);
    take_and_release(d, step);
    turn(d);
}

/* Steps 1 and 2 are hedged in the bin with this number, in which step 0 is
 * released; step 3 is late. */
static struct driver two_hedges_in_bin(int64_t number, int64_t bin_ns)
{
    struct fby_window_config c = quick_hedges(1);
    c.times.suspect            = 1000 * S;
    c.times.stall              = 1000 * S;
    c.times.idle               = 1000 * S;
    struct driver           d  = of_one_block(&c);
    struct fby_action       r  = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer_with(&d, &r, 1);
    assert_ok(take(&d, &batch));
    wait(&d, SLEPT + number * bin_ns + 200 * MS - d.now);
    fby_window_release(d.w, d.now, batch.slot);
    turn(&d);
    slow_step(&d, 1);
    slow_step(&d, 2);
    demand_batch(&d);
    wait(&d, 50 * MS);
    assert_int_equal((d.now - SLEPT) / bin_ns, number);
    assert_int_equal(counters(&d).hedges, 2);
    return d;
}

/* The last request and its hedge. */
static void lose_all(struct driver *d)
{
    uint64_t last = counters(d).requests;
    for (uint64_t id = last - 1; id <= last; id++) {
        fby_window_lost(d->w, d->now, 0, (struct fby_request_id){id});
        fby_window_lost(d->w, d->now, 1, (struct fby_request_id){id});
    }
    turn(d);
    assert_int_equal(counters(d).requests, last + 1);
}

/* A request in the last but one of them changes nothing. */
static void two_hedges_are_allowed_in_ten_bins(void **state)
{
    (void)state;
    const int64_t bin_ns = fby_window_defaults().times.hedge_period / 10 + 1;
    for (int64_t at = 1; at <= 10; at++) {
        struct driver         d    = two_hedges_in_bin(at, bin_ns);
        struct fby_request_id last = {counters(&d).requests};
        wait(&d, SLEPT + (at + 9) * bin_ns - d.now);
        fby_window_lost(d.w, d.now, 0, last);
        fby_window_lost(d.w, d.now, 1, last);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
        wait(&d, 30 * MS);
        assert_int_equal(counters(&d).hedges, 2);
        wait(&d, SLEPT + (at + 10) * bin_ns - 1 - d.now);
        turn(&d);
        assert_int_equal(counters(&d).hedges, 2);
        d.now += 1;
        turn(&d);
        assert_int_equal(counters(&d).hedges, 3);
        lose_all(&d);
        wait(&d, 30 * MS);
        assert_int_equal(counters(&d).hedges, 4); /* one of them counts */
        fby_window_destroy(&d.w);
    }
}

/* Hedges after `n` slow steps, the first of which is the request of number
 * `requests`. */
static void assert_hedges(uint64_t requests, const uint64_t *expected, size_t n)
{
    struct fby_window_config c = quick_hedges(1);
    struct driver            d = of_one_block(&c);
    slow_step(&d, 0);
    slow_step(&d, 1);
    uint64_t step = 2;
    while (counters(&d).requests < requests) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        answer_with(&d, &r, 1);
        take_and_release(&d, step++);
        turn(&d);
    }
    assert_int_equal(counters(&d).hedges, 2);
    for (size_t i = 0; i < n; i++) {
        slow_step(&d, step++);
        assert_int_equal(counters(&d).hedges, expected[i]);
    }
    fby_window_destroy(&d.w);
}

static void one_hedge_in_twenty_requests_is_allowed(void **state)
{
    (void)state;
    assert_hedges(59, (const uint64_t[]){2, 3, 3}, 3);
    assert_hedges(76, (const uint64_t[]){3, 3, 3, 4}, 4);
}

/* A measurement is valid for hedge_period, 100 ms here. */
static void a_worker_that_lost_to_a_hedge_is_known_to_be_slow(void **state)
{
    (void)state;
    struct fby_window_config c = quick_hedges(1);
    c.times.hedge_period       = 100 * MS;
    struct pair   p;
    struct driver d = hedged_with(&c, &p);
    answer_with(&d, &p.hedge, 1);
    take_and_release(&d, 0);
    assert_turn(&d, "CANCEL 1 #1; REQUEST 0 #3 step 1 slot 0");
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_requests_move_away_from_a_suspect),
        cmocka_unit_test(a_worker_heard_in_time_is_no_suspect),
        cmocka_unit_test(
            without_another_worker_a_suspect_keeps_what_has_no_hedge),
        cmocka_unit_test(a_suspect_keeps_what_no_other_worker_can_be_asked_for),
        cmocka_unit_test(
            a_suspect_loses_a_step_to_its_hedge_though_no_worker_is_free),
        cmocka_unit_test(a_worker_whose_pongs_are_slow_has_longer_to_answer),
        cmocka_unit_test(a_worker_whose_pongs_are_fast_again_has_100_ms),
        cmocka_unit_test(a_suspect_is_asked_nothing_until_it_is_heard),
        cmocka_unit_test(
            a_worker_is_not_pinged_twice_in_the_time_it_has_to_answer),
        cmocka_unit_test(a_worker_that_is_greeted_is_not_pinged_for_a_hedge),
        cmocka_unit_test(a_hedge_waits_for_another_worker_to_be_free),
        cmocka_unit_test(an_answer_that_is_being_decoded_is_not_late),
        cmocka_unit_test(a_stream_that_failed_hedges_nothing),
        cmocka_unit_test(a_worker_that_refused_a_step_is_no_hedge_of_it),
        cmocka_unit_test(two_hedges_are_allowed_in_ten_bins),
        cmocka_unit_test(one_hedge_in_twenty_requests_is_allowed),
        cmocka_unit_test(a_worker_that_lost_to_a_hedge_is_known_to_be_slow),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_suspects", tests, NULL, NULL);
}
