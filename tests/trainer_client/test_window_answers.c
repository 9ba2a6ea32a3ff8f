/* Answers that are lost, damaged or refused, and what is asked again. */
#include "tests/trainer_client/window_words.h"

/* ---- Asking again -------------------------------------------------------- */

static void a_lost_request_is_asked_again_under_a_new_id(void **state)
{
    (void)state;
    struct driver     d   = started(1, 1);
    struct fby_action old = act(&d, FBY_DO_REQUEST, 0);
    fby_window_lost(d.w, d.now, old.peer, old.id);
    turn(&d);
    struct fby_action again = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(again.step, old.step);
    assert_true(again.id.value > old.id.value);
    assert_int_equal(header(&d, &old, 1), FBY_LATE);
    assert_int_equal(chunk(&d, &old, 0), FBY_LATE);
    assert_int_equal(counters(&d).rerequests, 1);
    assert_int_equal(counters(&d).late, 1);
    answer(&d, &again);
    take_and_release(&d, 0);
    fby_window_destroy(&d.w);
}

static void a_lost_request_goes_to_another_worker_if_there_is_one(void **state)
{
    (void)state;
    struct driver     d   = started(1, 2);
    struct fby_action old = act(&d, FBY_DO_REQUEST, 0);
    fby_window_lost(d.w, d.now, old.peer, old.id);
    turn(&d);
    assert_int_not_equal(act(&d, FBY_DO_REQUEST, 0).peer, old.peer);
    fby_window_destroy(&d.w);
}

static void a_slot_waits_for_its_old_chunks_before_it_is_asked_again(
    void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    fby_window_lost(d.w, d.now, r.peer, r.id);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    decoded(&d, &r, true);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

static void a_pong_judges_only_requests_sent_before_its_ping(void **state)
{
    (void)state;
    struct driver     d     = started(2, 1);
    struct fby_action early = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action also  = act(&d, FBY_DO_REQUEST, 1);
    wait(&d, 990 * MS);
    answer(&d, &early);
    turn(&d);
    wait(&d, 15 * MS);
    struct fby_action ping = act(&d, FBY_DO_PING, 0);
    take_and_release(&d, 0);
    turn(&d);
    struct fby_action later = act(&d, FBY_DO_REQUEST, 0);
    fby_window_pong(d.w, d.now, 0,
        &(struct fby_window_pong){.instance = {1}, .seq = ping.number});
    assert_int_equal(fby_window_slot(d.w, also.id), FBY_NO_SLOT);
    assert_int_equal(fby_window_slot(d.w, later.id), later.slot);
    assert_int_equal(counters(&d).lost, 1);
    fby_window_destroy(&d.w);
}

static void a_named_request_stays_after_a_reconnect(void **state)
{
    (void)state;
    struct driver     d    = started(2, 1);
    struct fby_action kept = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action lost = act(&d, FBY_DO_REQUEST, 1);
    assert_int_equal(header(&d, &kept, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &kept, 0), FBY_TAKE);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    welcome(&d, 0, 1, &kept.id, 1);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, lost.step);
    assert_int_equal(header(&d, &kept, 2), FBY_DUPLICATE);
    assert_int_equal(chunk(&d, &kept, 0), FBY_DUPLICATE);
    assert_int_equal(chunk(&d, &kept, 1), FBY_TAKE);
    assert_int_equal(counters(&d).reconnects, 1);
    fby_window_destroy(&d.w);
}

static void what_a_worker_still_has_open_for_nobody_is_cancelled(void **state)
{
    (void)state;
    struct driver         d     = started(1, 1);
    struct fby_request_id alien = {act(&d, FBY_DO_REQUEST, 0).id.value + 7};
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    welcome(&d, 0, 1, &alien, 1);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_CANCEL, 0).id.value, alien.value);
    fby_window_destroy(&d.w);
}

static void a_restarted_worker_has_lost_everything(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    welcome(&d, 0, 99, &r.id, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_OPEN, 0), 1);
    assert_int_equal(counters(&d).restarts, 1);
    fby_window_opened(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, r.step);
    fby_window_destroy(&d.w);
}

static void a_welcome_for_an_older_hello_is_ignored(void **state)
{
    (void)state;
    struct fby_window_config c    = config_of(1);
    struct driver            d    = driver_of(&c);
    int                      peer = add(&d, 1);
    turn(&d);
    struct driver first = d;
    wait(&d, 1 * S);
    assert_int_equal(count(&d, FBY_DO_HELLO, peer), 1);
    welcome(&first, peer, 1, NULL, 0);
    turn(&first);
    assert_int_equal(count(&first, FBY_DO_OPEN, peer), 0);
    welcome(&d, peer, 1, NULL, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_OPEN, peer), 1);
    fby_window_destroy(&d.w);
}

static void a_corrupt_chunk_is_asked_for_at_another_worker(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    decoded(&d, &r, false);
    turn(&d);
    assert_int_not_equal(act(&d, FBY_DO_REQUEST, 0).peer, r.peer);
    assert_int_equal(act(&d, FBY_DO_CANCEL, 0).id.value, r.id.value);
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
        *r = act(d, FBY_DO_REQUEST, 0);
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
    struct fby_action r     = act(&d, FBY_DO_REQUEST, 5);
    struct fby_action first = act(&d, FBY_DO_REQUEST, 0);
    for (int i = 0; i < 7; i++) {
        damage(&d, &r);
        assert_failed(&d, "");
        assert_int_equal(r.epoch, 1);
        assert_int_equal(r.step, 2);
    }
    assert_int_equal(r.id.value, 13);
    damage(&d, &r);
    assert_said(&d, "FAIL 1; CANCEL 1 #13");
    assert_failed(&d, "CORRUPT 0, peers 1 and -1, step 1.2 #13");
    assert_counted(&d, "requests 13, rerequests 7, corrupt 8, set_aside 1");
    answer(&d, &first);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    fby_window_destroy(&d.w);
}

static void the_damaged_answers_of_each_step_are_counted(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    for (uint64_t step = 0; step < 2; step++) {
        for (int i = 0; i < 7; i++) {
            damage(&d, &r);
        }
        answer(&d, &r);
        take_and_release(&d, step);
        turn(&d);
        r = act(&d, FBY_DO_REQUEST, 0);
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
        r[i] = act(&d, FBY_DO_REQUEST, i);
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

static void a_busy_worker_is_left_alone_until_it_said(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_busy(d.w, d.now, 0, r.id, 40 * MS);
    turn(&d);
    wait(&d, 39 * MS);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    wait(&d, 1 * MS);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, r.step);
    assert_int_equal(counters(&d).busy, 1);
    assert_int_equal(counters(&d).rerequests, 0);
    fby_window_destroy(&d.w);
}

static void a_refused_step_fails_only_when_all_refused(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_action       r = act(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    fby_window_cannot(d.w, d.now, r.peer, r.id, 7);
    turn(&d);
    struct fby_action other = act(&d, FBY_DO_REQUEST, 0);
    assert_int_not_equal(other.peer, r.peer);
    fby_window_cannot(d.w, d.now, other.peer, other.id, 8);
    turn(&d);
    const struct fby_window_failure *f = fby_window_failure(d.w);
    assert_non_null(f);
    assert_int_equal(f->cause, FBY_CAUSE_CANNOT);
    assert_int_equal(f->code, 8);
    assert_int_equal(f->peer, other.peer);
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_destroy(&d.w);
}

static void batches_before_a_failed_one_are_delivered(void **state)
{
    (void)state;
    struct driver           d  = started(2, 1);
    struct fby_action       r0 = act(&d, FBY_DO_REQUEST, 0);
    struct fby_action       r1 = act(&d, FBY_DO_REQUEST, 1);
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
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_set_aside(d.w, d.now, r.peer, 5);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, r.peer), 1);
    struct fby_action other = act(&d, FBY_DO_REQUEST, 0);
    assert_int_not_equal(other.peer, r.peer);
    assert_null(fby_window_failure(d.w));
    fby_window_set_aside(d.w, d.now, other.peer, 6);
    assert_int_equal(fby_window_failure(d.w)->cause, FBY_CAUSE_ASIDE);
    assert_int_equal(fby_window_failure(d.w)->code, 6);
    fby_window_destroy(&d.w);
}

static void a_worker_that_forgot_the_content_gets_it_again(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_send_content(d.w, d.now, 0, r.id);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_OPEN, 0), 1);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    fby_window_opened(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(act(&d, FBY_DO_REQUEST, 0).step, r.step);
    fby_window_destroy(&d.w);
}

static void a_leaving_worker_finishes_what_it_has(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_leave(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, 0), 0);
    answer(&d, &r);
    take_and_release(&d, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 0);
    assert_int_equal(count(&d, FBY_DO_BYE, 0), 1);
    assert_int_equal(count(&d, FBY_DO_CLOSE, 0), 1);
    assert_int_equal(count(&d, FBY_DO_GONE, 0), 1);
    fby_window_destroy(&d.w);
}

static void a_breach_closes_the_peer_and_its_requests_go_elsewhere(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(chunk(&d, &r, 0), FBY_BREACH); /* before its HEADER */
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, r.peer), 1);
    assert_int_not_equal(act(&d, FBY_DO_REQUEST, 0).peer, r.peer);
    assert_int_equal(counters(&d).breaches, 1);
    fby_window_destroy(&d.w);
}

static void ids_that_were_never_asked_are_unknown(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    r.id.value += 1;
    assert_int_equal(chunk(&d, &r, 0), FBY_UNKNOWN);
    r.id.value = 0;
    assert_int_equal(header(&d, &r, 1), FBY_UNKNOWN);
    assert_int_equal(counters(&d).unknown, 2);
    fby_window_destroy(&d.w);
}

static void an_answer_from_a_peer_that_was_not_asked_is_dropped(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    r.peer = 1 - r.peer;
    assert_int_equal(chunk(&d, &r, 0), FBY_UNKNOWN);
    assert_int_equal(end(&d, &r, 1), FBY_UNKNOWN);
    r.peer = 1 - r.peer;
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    fby_window_destroy(&d.w);
}

static void more_chunks_than_a_batch_can_have_are_a_breach(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 9), FBY_BREACH);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_request_is_asked_again_under_a_new_id),
        cmocka_unit_test(a_lost_request_goes_to_another_worker_if_there_is_one),
        cmocka_unit_test(
            a_slot_waits_for_its_old_chunks_before_it_is_asked_again),
        cmocka_unit_test(a_pong_judges_only_requests_sent_before_its_ping),
        cmocka_unit_test(a_named_request_stays_after_a_reconnect),
        cmocka_unit_test(what_a_worker_still_has_open_for_nobody_is_cancelled),
        cmocka_unit_test(a_restarted_worker_has_lost_everything),
        cmocka_unit_test(a_welcome_for_an_older_hello_is_ignored),
        cmocka_unit_test(a_corrupt_chunk_is_asked_for_at_another_worker),
        cmocka_unit_test(a_step_that_comes_damaged_8_times_fails),
        cmocka_unit_test(the_damaged_answers_of_each_step_are_counted),
        cmocka_unit_test(each_damaged_step_avoids_the_worker_that_damaged_it),
        cmocka_unit_test(a_busy_worker_is_left_alone_until_it_said),
        cmocka_unit_test(a_refused_step_fails_only_when_all_refused),
        cmocka_unit_test(batches_before_a_failed_one_are_delivered),
        cmocka_unit_test(
            a_worker_with_other_bytes_is_set_aside_and_others_go_on),
        cmocka_unit_test(a_worker_that_forgot_the_content_gets_it_again),
        cmocka_unit_test(a_leaving_worker_finishes_what_it_has),
        cmocka_unit_test(
            a_breach_closes_the_peer_and_its_requests_go_elsewhere),
        cmocka_unit_test(ids_that_were_never_asked_are_unknown),
        cmocka_unit_test(an_answer_from_a_peer_that_was_not_asked_is_dropped),
        cmocka_unit_test(more_chunks_than_a_batch_can_have_are_a_breach),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_answers", tests, NULL, NULL);
}
