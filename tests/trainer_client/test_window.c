/* The window's slots, order, end and clock. */
#include "tests/trainer_client/window_driver.h"

/* ---- Config -------------------------------------------------------------- */

static void a_batch_that_never_fits_is_refused_with_both_numbers(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    struct fby_window       *w = NULL;
    struct fby_why           why;
    c.batch_bytes = 5000;
    assert_int_equal(fby_window_create(&c, 0, &w, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "5000"));
    assert_non_null(strstr(why.text, "2000"));
    assert_null(w);
}

static void a_first_step_beyond_the_epoch_is_refused(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    struct driver            d = driver_of(&c);
    struct fby_why           why;
    assert_int_equal(fby_window_start(d.w, d.now,
                         &(struct fby_window_plan){
                             .steps_per_epoch = 4, .step = 4, .total = 9},
                         &why),
        FBY_CONFIG);
    fby_window_destroy(&d.w);
}

/* ---- The window ---------------------------------------------------------- */

static void no_more_is_asked_than_slots_and_bytes_allow(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(8);
    c.max_bytes                = 3 * BATCH + BATCH / 2;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 100, 100);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 3);
    assert_int_equal(fby_window_bytes(d.w), 3 * BATCH);
    fby_window_destroy(&d.w);
}

static void a_held_slot_is_not_given_to_a_new_step(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_action       r = act(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &r);
    assert_ok(take(&d, &batch));
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    fby_window_release(d.w, d.now, batch.slot);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, 1);
    fby_window_destroy(&d.w);
}

static void batches_come_in_order_whatever_order_they_arrive_in(void **state)
{
    (void)state;
    struct driver           d  = started(2, 1);
    struct fby_action       r0 = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action       r1 = act(&d, FBY_DO_REQUEST, 1);
    struct fby_window_batch batch;
    answer(&d, &r1);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    answer(&d, &r0);
    assert_int_equal(fby_window_ready(d.w), 2);
    take_and_release(&d, 0);
    take_and_release(&d, 1);
    fby_window_destroy(&d.w);
}

static void an_epoch_ends_without_a_pause(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(4);
    struct driver            d = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 2, 3);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 3);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 2);
    assert_int_equal(r.epoch, 1);
    assert_int_equal(r.step, 0);
    fby_window_destroy(&d.w);
}

static void after_the_last_batch_the_stream_is_over(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(4);
    struct driver            d = driver_of(&c);
    struct fby_window_batch  batch;
    (void)join(&d, 1);
    start_at(&d, 1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
}

static void a_batch_without_chunks_is_complete_at_its_end(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    take_and_release(&d, 0);
    fby_window_destroy(&d.w);
}

/* ---- Time ---------------------------------------------------------------- */

static void a_loop_that_slept_judges_nobody(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    (void)fby_window_deadline(d.w);
    d.now += 60 * S;
    turn(&d);
    assert_int_equal(counters(&d).gaps, 1);
    assert_int_equal(count(&d, FBY_DO_UNREACHABLE, FBY_NO_PEER), 0);
    assert_int_equal(counters(&d).hedges + counters(&d).rerequests, 0);
    assert_int_equal(fby_window_usable(d.w), 2);
    fby_window_destroy(&d.w);
}

static void stopping_says_bye_to_everybody(void **state)
{
    (void)state;
    struct driver           d = started(2, 2);
    struct fby_window_batch batch;
    fby_window_stop(d.w, d.now);
    d.n_acts = 0;
    while (fby_window_next(d.w, &d.acts[d.n_acts])) {
        d.n_acts++;
    }
    assert_int_equal(count(&d, FBY_DO_BYE, FBY_NO_PEER), 2);
    assert_int_equal(count(&d, FBY_DO_CLOSE, FBY_NO_PEER), 2);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_that_never_fits_is_refused_with_both_numbers),
        cmocka_unit_test(a_first_step_beyond_the_epoch_is_refused),
        cmocka_unit_test(no_more_is_asked_than_slots_and_bytes_allow),
        cmocka_unit_test(a_held_slot_is_not_given_to_a_new_step),
        cmocka_unit_test(batches_come_in_order_whatever_order_they_arrive_in),
        cmocka_unit_test(an_epoch_ends_without_a_pause),
        cmocka_unit_test(after_the_last_batch_the_stream_is_over),
        cmocka_unit_test(a_batch_without_chunks_is_complete_at_its_end),
        cmocka_unit_test(a_loop_that_slept_judges_nobody),
        cmocka_unit_test(stopping_says_bye_to_everybody),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window", tests, NULL, NULL);
}
