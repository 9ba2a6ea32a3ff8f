/* SPDX-License-Identifier: Apache-2.0 */
/* Seeks: the window continues at another step. */
#include "tests/trainer_client/window_words.h"

static void open_requests_are_cancelled_and_the_new_steps_requested(
    void **state)
{
    (void)state;
    struct driver d = started(2, 1);
    fby_window_seek(d.w, d.now, 0, 500);
    turn(&d);
    assert_actions(&d,
        "CANCEL 0 #1; CANCEL 0 #2; REQUEST 0 #3 step 500 slot 0; "
        "REQUEST 0 #4 step 501 slot 1");
    fby_window_destroy(&d.w);
}

static void batches_that_are_ready_are_dropped(void **state)
{
    (void)state;
    struct driver           d     = started(1, 1);
    struct fby_action       first = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &first);
    fby_window_seek(d.w, d.now, 2, 7);
    turn(&d);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    struct fby_action again = nth_action(&d, FBY_DO_REQUEST, 0);
    answer(&d, &again);
    assert_ok(take(&d, &batch));
    assert_int_equal(batch.epoch, 2);
    assert_int_equal(batch.step, 7);
    fby_window_destroy(&d.w);
}

static void a_batch_that_was_taken_keeps_its_slot(void **state)
{
    (void)state;
    struct driver           d     = started(1, 1);
    struct fby_action       first = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &first);
    assert_ok(take(&d, &batch));
    fby_window_seek(d.w, d.now, 0, 3);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    fby_window_release(d.w, d.now, batch.slot);
    turn(&d);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).step, 3);
    fby_window_destroy(&d.w);
}

static void a_slot_waits_for_the_chunks_that_are_being_decoded(void **state)
{
    (void)state;
    struct driver     d     = started(1, 1);
    struct fby_action first = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &first, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &first, 0), FBY_TAKE);
    fby_window_seek(d.w, d.now, 0, 3);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    decoded(&d, &first, true);
    turn(&d);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).step, 3);
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    fby_window_destroy(&d.w);
}

static void late_chunks_of_a_dropped_step_are_not_taken(void **state)
{
    (void)state;
    struct driver     d     = started(1, 1);
    struct fby_action first = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_seek(d.w, d.now, 0, 0);
    turn(&d);
    assert_int_equal(header(&d, &first, 1), FBY_LATE);
    assert_int_equal(chunk(&d, &first, 0), FBY_LATE);
    assert_int_equal(end(&d, &first, 1), FBY_LATE);
    fby_window_destroy(&d.w);
}

static void both_requests_of_a_hedged_step_are_cancelled(void **state)
{
    (void)state;
    struct driver d = started(1, 2);
    demand_batch(&d);
    wait(&d, 1 * S);
    assert_true(nth_action(&d, FBY_DO_REQUEST, 0).hedge);
    fby_window_seek(d.w, d.now, 0, 9);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CANCEL, 0), 1);
    assert_int_equal(count(&d, FBY_DO_CANCEL, 1), 1);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

static void audits_are_skipped_and_the_new_step_is_audited(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_seek(d.w, d.now, 0, 0);
    turn(&d);
    assert_int_equal(counters(&d).audits_skipped, 1);
    assert_int_equal(fby_window_audit_index(d.w, second.id), FBY_NO_SLOT);
    assert_int_equal(count(&d, FBY_DO_CANCEL, FBY_NO_PEER), 2);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 2);
    fby_window_destroy(&d.w);
}

static void the_stream_goes_on_after_its_end(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct fby_window_batch  batch;
    struct driver            d = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 2, 2);
    fby_window_seek(d.w, d.now, 1, 0); /* the end itself */
    turn(&d);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_seek(d.w, d.now, 0, 1);
    turn(&d);
    (void)answer_next(&d);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
}

static void a_step_that_all_workers_refuse_can_be_left(void **state)
{
    (void)state;
    struct driver           d     = started(1, 1);
    struct fby_action       first = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    fby_window_cannot(d.w, d.now, first.peer, first.id, 1);
    turn(&d);
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_seek(d.w, d.now, 0, 1);
    turn(&d);
    assert_null(fby_window_failure(d.w));
    assert_int_equal(answer_next(&d).step, 1);
    fby_window_destroy(&d.w);
}

static void a_difference_between_workers_cannot_be_left(void **state)
{
    (void)state;
    struct driver           d      = audited(1, 2, 1);
    struct fby_action       first  = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action       second = nth_action(&d, FBY_DO_REQUEST, 1);
    struct fby_window_batch batch;
    answer(&d, &first);
    answer_audit(&d, &second, 2);
    fby_window_seek(d.w, d.now, 0, 1);
    turn(&d);
    assert_int_equal(take(&d, &batch), FBY_IO);
    assert_int_equal(fby_window_failure(d.w)->cause, FBY_CAUSE_DIFFERENT);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            open_requests_are_cancelled_and_the_new_steps_requested),
        cmocka_unit_test(batches_that_are_ready_are_dropped),
        cmocka_unit_test(a_batch_that_was_taken_keeps_its_slot),
        cmocka_unit_test(a_slot_waits_for_the_chunks_that_are_being_decoded),
        cmocka_unit_test(late_chunks_of_a_dropped_step_are_not_taken),
        cmocka_unit_test(both_requests_of_a_hedged_step_are_cancelled),
        cmocka_unit_test(audits_are_skipped_and_the_new_step_is_audited),
        cmocka_unit_test(the_stream_goes_on_after_its_end),
        cmocka_unit_test(a_step_that_all_workers_refuse_can_be_left),
        cmocka_unit_test(a_difference_between_workers_cannot_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
