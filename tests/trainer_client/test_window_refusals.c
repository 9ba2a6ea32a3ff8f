/* SPDX-License-Identifier: Apache-2.0 */
/* BUSY, LOST and SEND_CONTENT: which peer is asked instead, and when. */
#include "tests/trainer_client/window_words.h"

/* `n` workers, of which worker 0 is the preferred one. */
static struct driver of_one_block(
    const struct fby_window_config *config, uint64_t n)
{
    struct driver d = driver_of(config);
    for (uint64_t i = n; i >= 1; i--) {
        (void)join(&d, i);
    }
    start_constant_locality(&d);
    return d;
}

/* ---- BUSY ---------------------------------------------------------------- */

static void a_busy_wait_is_kept_between_a_least_and_a_longest_one(void **state)
{
    (void)state;
    const int64_t waits[][2] = {{INT64_MIN, 5 * MS}, {0, 5 * MS},
        {5 * MS - 1, 5 * MS}, {5 * MS, 5 * MS}, {5 * MS + 1, 5 * MS + 1},
        {50 * MS - 1, 50 * MS - 1}, {50 * MS, 50 * MS}, {50 * MS + 1, 50 * MS},
        {INT64_MAX, 50 * MS}};
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        struct fby_window_config c = config_of(1);
        c.times.backoff_max        = 50 * MS;
        c.times.credit             = 3 * MS;
        struct driver     d        = started_with(&c, 1);
        struct fby_action r        = nth_action(&d, FBY_DO_REQUEST, 0);
        fby_window_busy(d.w, d.now, 0, r.id, waits[i][0]);
        assert_turn(&d, "");
        assert_after(&d, waits[i][1], "REQUEST 0 #2 step 0 slot 0");
        assert_counters(&d, "requests 2, busy 1");
        fby_window_destroy(&d.w);
    }
}

static void a_busy_worker_gets_nothing_else_meanwhile(void **state)
{
    (void)state;
    struct driver     d = started(2, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_busy(d.w, d.now, 0, r.id, 40 * MS);
    r = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &r);
    assert_turn(&d, "");
    wait(&d, 39 * MS);
    assert_actions(&d, "");
    assert_after(&d, 1 * MS, "REQUEST 0 #3 step 0 slot 0");
    fby_window_destroy(&d.w);
}

static void the_last_step_of_a_stream_is_asked_again_in_time_too(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    struct driver            d = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 2, 2);
    struct fby_action last = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_busy(d.w, d.now, 0, last.id, 40 * MS);
    assert_turn(&d, "");
    assert_after(&d, 40 * MS, "REQUEST 0 #3 step 1 slot 1");
    assert_counters(&d, "requests 3, busy 1");
    fby_window_destroy(&d.w);
}

/* Worker 0 was first, or the other one. */
static void the_first_worker_that_is_free_again_is_asked(void **state)
{
    (void)state;
    const int64_t waits[][2] = {{40 * MS, 80 * MS}, {80 * MS, 40 * MS}};
    for (size_t i = 0; i < 2; i++) {
        struct driver d = started(1, 2);
        for (int n = 0; n < 2; n++) {
            struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
            fby_window_busy(d.w, d.now, r.peer, r.id, waits[i][r.peer]);
            turn(&d);
        }
        assert_actions(&d, "");
        assert_after(&d, 40 * MS,
            i == 0 ? "REQUEST 0 #3 step 0 slot 0"
                   : "REQUEST 1 #3 step 0 slot 0");
        fby_window_destroy(&d.w);
    }
}

/* An audit that was refused with BUSY is not repeated. */
static void no_deadline_is_set_for_a_busy_worker_that_is_not_needed(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.audit                    = 1;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_at(&d, 1, 1);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_busy(d.w, d.now, second.peer, second.id, 40 * MS);
    assert_turn(&d, "");
    assert_int_equal(fby_window_deadline(d.w), BEGIN + S); /* a PING */
    fby_window_destroy(&d.w);
}

static void busy_after_a_loss_still_counts_the_loss(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_lost(d.w, d.now, 0, r.id);
    assert_turn(&d, "REQUEST 0 #2 step 0 slot 0");
    r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_busy(d.w, d.now, 0, r.id, 40 * MS);
    wait(&d, 40 * MS);
    assert_actions(&d, "REQUEST 0 #3 step 0 slot 0");
    assert_counters(&d, "requests 3, rerequests 1, lost 1, busy 1");
    fby_window_destroy(&d.w);
}

static void busy_loses_nothing_of_an_audited_step_either(void **state)
{
    (void)state;
    struct driver     d    = audited(1, 2, 1);
    struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_busy(d.w, d.now, main.peer, main.id, 40 * MS);
    turn(&d);
    assert_counters(&d, "requests 3, busy 1");
    fby_window_destroy(&d.w);
}

static void a_worker_too_busy_for_an_audit_is_left_alone_too(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 2);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_busy(d.w, d.now, second.peer, second.id, 40 * MS);
    fby_window_set_aside(d.w, d.now, main.peer, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    wait(&d, 40 * MS);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).peer, second.peer);
    assert_counters(&d,
        "requests 3, rerequests 1, lost 1, busy 1, set_aside 1, "
        "audits_skipped 1");
    fby_window_destroy(&d.w);
}

/* ---- LOST ---------------------------------------------------------------- */

static void a_loss_counts_against_a_worker_for_one_step(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = of_one_block(&c, 2);
    struct fby_action        r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_lost(d.w, d.now, r.peer, r.id);
    turn(&d);
    assert_int_equal(answer_next(&d).peer, 1 - r.peer);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).peer, r.peer);
    fby_window_destroy(&d.w);
}

/* A worker lost a step of which a chunk is being decoded: the step waits for
 * the chunk before it is asked for again. *out is the lost request. */
static struct driver lost_while_decoding(
    uint64_t n, int step, struct fby_action *out)
{
    struct fby_window_config c = config_of(2);
    struct driver            d = of_one_block(&c, n);
    *out                       = nth_action(&d, FBY_DO_REQUEST, step);
    assert_int_equal(header(&d, out, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, out, 0), FBY_TAKE);
    fby_window_lost(d.w, d.now, out->peer, out->id);
    assert_turn(&d, "");
    return d;
}

static struct fby_action asked_after_decoding(
    struct driver *d, const struct fby_action *lost)
{
    decoded(d, lost, true);
    turn(d);
    struct fby_action r = nth_action(d, FBY_DO_REQUEST, 0);
    assert_int_equal(r.step, lost->step);
    return r;
}

static void a_loss_is_not_held_against_the_next_owner_of_a_number(void **state)
{
    (void)state;
    struct fby_action lost;
    struct driver     d = lost_while_decoding(2, 0, &lost);
    remove_peer(&d, lost.peer);
    assert_int_equal(add(&d, PREFERRED), lost.peer);
    turn(&d);
    admit_peer(&d, lost.peer, PREFERRED);
    assert_int_equal(asked_after_decoding(&d, &lost).peer, lost.peer);
    fby_window_destroy(&d.w);
}

static void a_loss_is_remembered_when_another_worker_goes(void **state)
{
    (void)state;
    struct fby_action lost;
    struct driver     d = lost_while_decoding(3, 1, &lost);
    assert_int_equal(lost.peer, 0);
    remove_peer(&d, 1);
    assert_int_equal(asked_after_decoding(&d, &lost).peer, 2);
    fby_window_destroy(&d.w);
}

/* The worker loses the only request; its next one comes after `pause_ns`. */
static void lose_again(struct driver *d, int64_t pause_ns)
{
    struct fby_action r = nth_action(d, FBY_DO_REQUEST, 0);
    fby_window_lost(d->w, d->now, r.peer, r.id);
    turn(d);
    if (pause_ns > 0) {
        assert_actions(d, "");
        wait(d, pause_ns - 1);
        assert_int_equal(count(d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
        wait(d, 1);
    }
    assert_int_equal(count(d, FBY_DO_REQUEST, r.peer), 1);
}

static void a_worker_that_loses_every_request_is_asked_ever_less_often(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.backoff            = 30 * MS;
    struct driver d            = started_with(&c, 1);
    const int64_t pauses[]     = {
            0, 5 * MS, 10 * MS, 20 * MS, 30 * MS, 30 * MS, 30 * MS};
    for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
        lose_again(&d, pauses[i]);
    }
    fby_window_destroy(&d.w);
}

static void after_an_answer_a_loss_is_the_first_again(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    lose_again(&d, 0);
    lose_again(&d, 5 * MS);
    (void)answer_next(&d);
    lose_again(&d, 0);
    lose_again(&d, 5 * MS);
    fby_window_destroy(&d.w);
}

static void an_answer_to_an_audit_ends_the_losses_too(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    remove_peer(&d, main.peer);
    turn(&d);
    lose_again(&d, 0);
    answer_audit(&d, &second, 1);
    lose_again(&d, 0);
    fby_window_destroy(&d.w);
}

static void requests_that_are_lost_together_are_one_loss(void **state)
{
    (void)state;
    struct driver d = started(3, 1);
    for (uint64_t id = 1; id <= 3; id++) {
        fby_window_lost(d.w, d.now, 0, (struct fby_request_id){id});
    }
    turn(&d);
    assert_requested_peers(&d, "000");
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){4});
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){5});
    assert_turn(&d, "");
    assert_after(
        &d, 5 * MS, "REQUEST 0 #7 step 0 slot 0; REQUEST 0 #8 step 1 slot 1");
    fby_window_destroy(&d.w);
}

static void a_loss_does_not_shorten_a_busy_wait(void **state)
{
    (void)state;
    struct driver d = started(2, 1);
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){1});
    assert_turn(&d, "REQUEST 0 #3 step 0 slot 0");
    fby_window_busy(d.w, d.now, 0, (struct fby_request_id){2}, 40 * MS);
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){3});
    assert_turn(&d, "");
    assert_after(
        &d, 40 * MS, "REQUEST 0 #4 step 0 slot 0; REQUEST 0 #5 step 1 slot 1");
    fby_window_destroy(&d.w);
}

static void the_losses_of_a_process_are_not_held_against_the_next(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    lose_again(&d, 0);
    lose_again(&d, 5 * MS);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    admit_peer(&d, 0, 2);
    turn(&d);
    lose_again(&d, 0);
    fby_window_destroy(&d.w);
}

static void other_workers_are_asked_during_a_pause(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = of_one_block(&c, 2);
    for (int i = 0; i < 4; i++) { /* each worker twice */
        assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        fby_window_lost(d.w, d.now, r.peer, r.id);
        turn(&d);
    }
    assert_actions(&d, "");
    wait(&d, 5 * MS);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

/* ---- SEND_CONTENT -------------------------------------------------------- */

static void content_is_sent_once_and_every_request_asked_again(void **state)
{
    (void)state;
    struct driver     d      = started(2, 1);
    struct fby_action first  = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_send_content(d.w, d.now, 0, first.id);
    assert_turn(&d, "OPEN 0");
    assert_int_equal(fby_window_find_slot(d.w, second.id), second.slot);
    fby_window_send_content(d.w, d.now, 0, second.id);
    assert_turn(&d, "");
    fby_window_opened(d.w, d.now, 0);
    assert_turn(&d, "REQUEST 0 #3 step 0 slot 0; REQUEST 0 #4 step 1 slot 1");
    assert_counters(&d, "requests 4, rerequests 2");
    fby_window_destroy(&d.w);
}

static void a_worker_that_always_lacks_the_content_is_asked_less_often(
    void **state)
{
    (void)state;
    struct driver d        = started(1, 1);
    const int64_t pauses[] = {0, 5 * MS, 10 * MS};
    for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        fby_window_send_content(d.w, d.now, 0, r.id);
        assert_turn(&d, "OPEN 0");
        fby_window_opened(d.w, d.now, 0);
        turn(&d);
        if (pauses[i] > 0) {
            assert_actions(&d, "");
            wait(&d, pauses[i] - 1);
            assert_actions(&d, "");
            wait(&d, 1);
        }
        assert_int_equal(count(&d, FBY_DO_REQUEST, 0), 1);
    }
    fby_window_destroy(&d.w);
}

static void content_that_another_worker_forgot_changes_no_request(void **state)
{
    (void)state;
    struct driver     d     = started(1, 2);
    struct fby_action r     = nth_action(&d, FBY_DO_REQUEST, 0);
    int               other = 1 - r.peer;
    fby_window_send_content(d.w, d.now, other, r.id);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_OPEN, other), 1);
    assert_int_equal(d.n_actions, 1);
    assert_int_equal(fby_window_find_slot(d.w, r.id), r.slot);
    fby_window_destroy(&d.w);
}

static void content_forgotten_while_greeting_is_sent_after_welcome(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_hello_first(d.w, d.now, 0);
    assert_turn(&d, "HELLO 0");
    struct driver greeting = d;
    fby_window_send_content(d.w, d.now, 0, r.id);
    assert_turn(&d, "");
    welcome(&greeting, 0, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    fby_window_destroy(&d.w);
}

static void a_leaving_worker_that_forgot_the_content_is_not_opened(void **state)
{
    (void)state;
    struct driver     d = started(2, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_leave(d.w, d.now, 0);
    fby_window_send_content(d.w, d.now, 0, r.id);
    assert_turn(&d, "");
    fby_window_opened(d.w, d.now, 0);
    assert_turn(&d, "");
    assert_int_equal(fby_window_n_usable_peers(d.w), 0);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_wait_is_kept_between_a_least_and_a_longest_one),
        cmocka_unit_test(a_busy_worker_gets_nothing_else_meanwhile),
        cmocka_unit_test(the_last_step_of_a_stream_is_asked_again_in_time_too),
        cmocka_unit_test(the_first_worker_that_is_free_again_is_asked),
        cmocka_unit_test(
            no_deadline_is_set_for_a_busy_worker_that_is_not_needed),
        cmocka_unit_test(busy_after_a_loss_still_counts_the_loss),
        cmocka_unit_test(busy_loses_nothing_of_an_audited_step_either),
        cmocka_unit_test(a_worker_too_busy_for_an_audit_is_left_alone_too),
        cmocka_unit_test(a_loss_counts_against_a_worker_for_one_step),
        cmocka_unit_test(a_loss_is_not_held_against_the_next_owner_of_a_number),
        cmocka_unit_test(a_loss_is_remembered_when_another_worker_goes),
        cmocka_unit_test(
            a_worker_that_loses_every_request_is_asked_ever_less_often),
        cmocka_unit_test(after_an_answer_a_loss_is_the_first_again),
        cmocka_unit_test(an_answer_to_an_audit_ends_the_losses_too),
        cmocka_unit_test(requests_that_are_lost_together_are_one_loss),
        cmocka_unit_test(a_loss_does_not_shorten_a_busy_wait),
        cmocka_unit_test(the_losses_of_a_process_are_not_held_against_the_next),
        cmocka_unit_test(other_workers_are_asked_during_a_pause),
        cmocka_unit_test(content_is_sent_once_and_every_request_asked_again),
        cmocka_unit_test(content_that_another_worker_forgot_changes_no_request),
        cmocka_unit_test(
            a_worker_that_always_lacks_the_content_is_asked_less_often),
        cmocka_unit_test(
            content_forgotten_while_greeting_is_sent_after_welcome),
        cmocka_unit_test(
            a_leaving_worker_that_forgot_the_content_is_not_opened),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_refusals", tests, NULL, NULL);
}
