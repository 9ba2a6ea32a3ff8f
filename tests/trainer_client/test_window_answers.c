/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged or refused answers, reconnects, and repeated requests. */
#include "tests/trainer_client/window_words.h"

/* ---- Asking again -------------------------------------------------------- */

static void a_named_request_stays_after_a_reconnect(void **state)
{
    (void)state;
    struct driver     d    = started(2, 1);
    struct fby_action kept = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action lost = nth_action(&d, FBY_DO_REQUEST, 1);
    assert_int_equal(header(&d, &kept, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &kept, 0), FBY_TAKE);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    welcome(&d, 0, 1, &kept.id, 1);
    turn(&d);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).step, lost.step);
    assert_int_equal(header(&d, &kept, 2), FBY_DUPLICATE);
    assert_int_equal(chunk(&d, &kept, 0), FBY_DUPLICATE);
    assert_int_equal(chunk(&d, &kept, 1), FBY_TAKE);
    assert_int_equal(counters(&d).reconnects, 1);
    fby_window_destroy(&d.w);
}

static void a_corrupt_chunk_is_asked_for_at_another_worker(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    decoded(&d, &r, false);
    turn(&d);
    assert_int_not_equal(nth_action(&d, FBY_DO_REQUEST, 0).peer, r.peer);
    assert_int_equal(nth_action(&d, FBY_DO_CANCEL, 0).id.value, r.id.value);
    assert_int_equal(counters(&d).corrupt, 1);
    fby_window_destroy(&d.w);
}

/* One more damaged answer to `*r`, which becomes the next request for it. */
static void damage(struct driver *d, struct fby_action *r)
{
    assert_int_equal(header(d, r, 1), FBY_TAKE);
    assert_int_equal(end(d, r, 1), FBY_TAKE); /* its chunk is missing */
    turn(d);
    if (count(d, FBY_DO_REQUEST, FBY_NO_PEER) > 0) {
        *r = nth_action(d, FBY_DO_REQUEST, 0);
    }
}

static void a_step_that_comes_damaged_8_times_fails(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(6);
    struct driver            d = driver_of(&c);
    struct fby_window_batch  batch;
    (void)join(&d, 1);
    (void)join(&d, 2);
    fby_window_set_aside(d.w, d.now, 0, 1);
    start_at(&d, 3, 9);
    struct fby_action r     = nth_action(&d, FBY_DO_REQUEST, 5);
    struct fby_action first = nth_action(&d, FBY_DO_REQUEST, 0);
    for (int i = 0; i < 7; i++) {
        damage(&d, &r);
        assert_failed(&d, "");
        assert_int_equal(r.epoch, 1);
        assert_int_equal(r.step, 2);
    }
    assert_int_equal(r.id.value, 13);
    damage(&d, &r);
    assert_actions(&d, "FAIL 1; CANCEL 1 #13");
    assert_failed(&d, "CORRUPT 0, peers 1 and -1, step 1.2 #13");
    assert_counters(&d, "requests 13, rerequests 7, corrupt 8, set_aside 1");
    answer(&d, &first);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    fby_window_destroy(&d.w);
}

static void the_damaged_answers_of_each_step_are_counted(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    for (uint64_t step = 0; step < 2; step++) {
        for (int i = 0; i < 7; i++) {
            damage(&d, &r);
        }
        answer(&d, &r);
        take_and_release(&d, step);
        turn(&d);
        r = nth_action(&d, FBY_DO_REQUEST, 0);
    }
    assert_failed(&d, "");
    assert_int_equal(counters(&d).corrupt, 14);
    fby_window_destroy(&d.w);
}

/* Each of three steps is asked of the other worker next. */
static void each_damaged_step_avoids_the_worker_that_damaged_it(void **state)
{
    (void)state;
    struct driver     d = started(3, 2);
    struct fby_action r[3];
    for (int i = 0; i < 3; i++) {
        r[i] = nth_action(&d, FBY_DO_REQUEST, i);
    }
    for (int i = 0; i < 3; i++) {
        struct fby_action next = r[i];
        damage(&d, &next);
        assert_int_equal(next.step, r[i].step);
        assert_int_equal(next.peer, 1 - r[i].peer);
        assert_int_equal(next.slot, r[i].slot);
    }
    fby_window_destroy(&d.w);
}

/* ---- Refusals ------------------------------------------------------------ */

static void batches_before_a_failed_one_are_delivered(void **state)
{
    (void)state;
    struct driver           d  = started(2, 1);
    struct fby_action       r0 = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action       r1 = nth_action(&d, FBY_DO_REQUEST, 1);
    struct fby_window_batch batch;
    fby_window_cannot(d.w, d.now, 0, r1.id, 3);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_FAIL, 0), 1);
    answer(&d, &r0);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_destroy(&d.w);
}

static void a_worker_with_other_bytes_is_set_aside_and_others_go_on(
    void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_set_aside(d.w, d.now, r.peer, 5);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, r.peer), 1);
    struct fby_action other = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_not_equal(other.peer, r.peer);
    assert_null(fby_window_failure(d.w));
    fby_window_set_aside(d.w, d.now, other.peer, 6);
    assert_int_equal(fby_window_failure(d.w)->cause, FBY_CAUSE_ASIDE);
    assert_int_equal(fby_window_failure(d.w)->code, 6);
    fby_window_destroy(&d.w);
}

static void a_breach_closes_the_peer_and_its_requests_go_elsewhere(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(chunk(&d, &r, 0), FBY_BREACH); /* before its HEADER */
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, r.peer), 1);
    assert_int_not_equal(nth_action(&d, FBY_DO_REQUEST, 0).peer, r.peer);
    assert_int_equal(counters(&d).breaches, 1);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_named_request_stays_after_a_reconnect),
        cmocka_unit_test(a_corrupt_chunk_is_asked_for_at_another_worker),
        cmocka_unit_test(a_step_that_comes_damaged_8_times_fails),
        cmocka_unit_test(the_damaged_answers_of_each_step_are_counted),
        cmocka_unit_test(each_damaged_step_avoids_the_worker_that_damaged_it),
        cmocka_unit_test(batches_before_a_failed_one_are_delivered),
        cmocka_unit_test(
            a_worker_with_other_bytes_is_set_aside_and_others_go_on),
        cmocka_unit_test(
            a_breach_closes_the_peer_and_its_requests_go_elsewhere),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_answers", tests, NULL, NULL);
}
