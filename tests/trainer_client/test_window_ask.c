/* Whom the window asks, and whom it asks too when one is late. */
#include "tests/trainer_client/window_driver.h"

/* ---- Whom ---------------------------------------------------------------- */

static uint64_t same_block(const void *context, uint64_t epoch, uint64_t step)
{
    (void)epoch;
    (void)step;
    return *(const uint64_t *)context;
}

static void steps_of_one_block_prefer_one_worker(void **state)
{
    (void)state;
    uint64_t                 block = 77;
    struct fby_window_config c     = config_of(1);
    struct driver            d     = driver_of(&c);
    struct fby_why           why;
    for (uint64_t i = 1; i <= 4; i++) {
        (void)join(&d, i);
    }
    assert_ok(fby_window_start(d.w, d.now,
        &(struct fby_window_plan){.steps_per_epoch = 10,
            .total                                 = 10,
            .locality                              = same_block,
            .context                               = &block},
        &why));
    turn(&d);
    int preferred = act(&d, FBY_DO_REQUEST, 0).peer;
    for (uint64_t step = 0; step < 9; step++) {
        struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(r.peer, preferred);
        answer(&d, &r);
        take_and_release(&d, step);
        turn(&d);
    }
    fby_window_destroy(&d.w);
}

static void requests_spread_over_workers_of_equal_speed(void **state)
{
    (void)state;
    struct driver d = started(8, 4);
    for (int peer = 0; peer < 4; peer++) {
        assert_in_range(count(&d, FBY_DO_REQUEST, peer), 1, 4);
    }
    fby_window_destroy(&d.w);
}

/* ---- Hedges -------------------------------------------------------------- */

/* Two workers, both known to answer in 10 ms; a consumer that waits. Step 30
 * was just asked; *out is its request. */
static struct driver warm(struct fby_action *out)
{
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    for (uint64_t step = 0; step < 30; step++) {
        struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(take(&d, &batch), FBY_AGAIN);
        wait(&d, 10 * MS);
        answer(&d, &r);
        take_and_release(&d, step);
        turn(&d);
    }
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    *out = act(&d, FBY_DO_REQUEST, 0);
    fby_window_heard(d.w, d.now, 0);
    fby_window_heard(d.w, d.now, 1);
    (void)fby_window_deadline(d.w);
    return d;
}

static void slow_first_answers_put_the_first_hedges_off(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    struct fby_action       r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(fby_window_hedge_after(d.w), 1000 * MS);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 900 * MS);
    answer(&d, &r);
    take_and_release(&d, 0);
    assert_int_equal(fby_window_hedge_after(d.w), 1800 * MS);
    fby_window_destroy(&d.w);
}

static void a_late_step_is_hedged_with_a_ping(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    assert_int_equal(fby_window_hedge_after(d.w), 20 * MS);
    wait(&d, 19 * MS);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    wait(&d, 1 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    assert_true(hedge.hedge);
    assert_int_equal(hedge.step, slow.step);
    assert_int_not_equal(hedge.peer, slow.peer);
    assert_int_not_equal(hedge.slot, slow.slot);
    assert_int_equal(count(&d, FBY_DO_PING, slow.peer), 1);
    wait(&d, 90 * MS);
    assert_int_equal(counters(&d).hedges, 1); /* one a request */
    fby_window_destroy(&d.w);
}

static void the_slower_answer_of_a_hedge_is_dropped(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &slow, 1), FBY_TAKE);
    answer(&d, &hedge);
    take_and_release(&d, 30);
    assert_int_equal(chunk(&d, &slow, 0), FBY_LATE_HEDGE);
    assert_int_equal(end(&d, &slow, 1), FBY_LATE_HEDGE);
    assert_int_equal(counters(&d).hedges_won, 1);
    assert_int_equal(counters(&d).late, 0);
    assert_null(fby_window_failure(d.w));
    fby_window_destroy(&d.w);
}

static void two_answers_that_differ_name_both_workers(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &hedge);
    assert_int_equal(end(&d, &slow, 2), FBY_LATE_HEDGE);
    const struct fby_window_failure *f = fby_window_failure(d.w);
    assert_non_null(f);
    assert_int_equal(f->cause, FBY_CAUSE_DIFFERENT);
    assert_int_equal(f->peer, hedge.peer);
    assert_int_equal(f->other, slow.peer);
    assert_int_equal(f->step, slow.step);
    fby_window_destroy(&d.w);
}

static void a_winner_that_is_gone_is_not_named_as_another(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &hedge);
    fby_window_peer_unlist(d.w, d.now, hedge.peer);
    fby_window_unreachable(d.w, d.now, hedge.peer);
    assert_int_equal(add(&d, 77), hedge.peer); /* the number's next owner */
    assert_int_equal(end(&d, &slow, 2), FBY_LATE_HEDGE);
    assert_non_null(fby_window_failure(d.w));
    assert_int_equal(fby_window_failure(d.w)->peer, FBY_NO_PEER);
    assert_int_equal(fby_window_failure(d.w)->other, slow.peer);
    fby_window_destroy(&d.w);
}

static void a_silent_worker_is_suspect_and_its_step_stays_with_the_hedge(
    void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    wait(&d, 20 * MS);
    assert_int_equal(fby_window_usable(d.w), 2);
    struct fby_action hedge = act(&d, FBY_DO_REQUEST, 0);
    wait(&d, 100 * MS);
    assert_int_equal(fby_window_usable(d.w), 1);
    assert_int_equal(act(&d, FBY_DO_CANCEL, 0).id.value, slow.id.value);
    answer(&d, &hedge);
    take_and_release(&d, 30);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).peer, hedge.peer);
    fby_window_heard(d.w, d.now, slow.peer);
    assert_int_equal(fby_window_usable(d.w), 2);
    fby_window_destroy(&d.w);
}

static void a_busy_worker_gets_no_hedge(void **state)
{
    (void)state;
    struct fby_action slow;
    struct driver     d = warm(&slow);
    fby_window_busy(d.w, d.now, slow.peer, slow.id, 10 * S);
    turn(&d);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_not_equal(r.peer, slow.peer);
    wait(&d, 50 * MS);
    assert_int_equal(counters(&d).hedges, 0);
    fby_window_destroy(&d.w);
}

static void while_few_answers_are_known_a_hedge_waits_a_second(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 999 * MS);
    assert_int_equal(counters(&d).hedges, 0);
    wait(&d, 1 * MS);
    assert_int_equal(counters(&d).hedges, 1);
    fby_window_destroy(&d.w);
}

static void a_lone_worker_keeps_its_requests_while_suspect(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_window_batch batch;
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 1500 * MS);
    assert_int_equal(counters(&d).suspects, 1);
    assert_int_equal(counters(&d).rerequests, 0);
    assert_int_equal(count(&d, FBY_DO_CANCEL, 0), 0);
    fby_window_destroy(&d.w);
}

static void hedges_are_rationed(void **state)
{
    (void)state;
    struct fby_action       slow;
    struct driver           d = warm(&slow);
    struct fby_window_batch batch;
    for (uint64_t step = 30; step < 34; step++) {
        wait(&d, 21 * MS);
        fby_window_heard(d.w, d.now, 0);
        fby_window_heard(d.w, d.now, 1);
        answer(&d, &slow);
        take_and_release(&d, step);
        turn(&d);
        slow = act(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(take(&d, &batch), FBY_AGAIN);
        (void)fby_window_deadline(d.w);
    }
    assert_int_equal(counters(&d).hedges, 2);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_one_block_prefer_one_worker),
        cmocka_unit_test(requests_spread_over_workers_of_equal_speed),
        cmocka_unit_test(slow_first_answers_put_the_first_hedges_off),
        cmocka_unit_test(a_late_step_is_hedged_with_a_ping),
        cmocka_unit_test(the_slower_answer_of_a_hedge_is_dropped),
        cmocka_unit_test(two_answers_that_differ_name_both_workers),
        cmocka_unit_test(a_winner_that_is_gone_is_not_named_as_another),
        cmocka_unit_test(
            a_silent_worker_is_suspect_and_its_step_stays_with_the_hedge),
        cmocka_unit_test(a_busy_worker_gets_no_hedge),
        cmocka_unit_test(while_few_answers_are_known_a_hedge_waits_a_second),
        cmocka_unit_test(a_lone_worker_keeps_its_requests_while_suspect),
        cmocka_unit_test(hedges_are_rationed),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_ask", tests, NULL, NULL);
}
