/* SPDX-License-Identifier: Apache-2.0 */
/* Audits that are still open when the stream ends. */
#include "tests/trainer_client/window_words.h"

/* One step, delivered; *out is its audit, still open. */
static struct driver at_the_end(struct fby_action *out)
{
    struct fby_window_config c = config_of(1);
    c.audit                    = 1;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_at(&d, 1, 1);
    struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 0);
    *out                   = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    take_and_release(&d, 0);
    return d;
}

static void the_end_comes_after_the_last_audit(void **state)
{
    (void)state;
    struct fby_action       second;
    struct fby_window_batch batch;
    struct driver           d = at_the_end(&second);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    answer_audit(&d, &second, 1);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_int_equal(counters(&d).audits, 1);
    fby_window_destroy(&d.w);
}

static void the_end_waits_a_second_for_an_audit_and_no_longer(void **state)
{
    (void)state;
    struct fby_action       second;
    struct fby_window_batch batch;
    struct driver           d = at_the_end(&second);
    wait(&d, 999 * MS);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 1 * MS);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_int_equal(counters(&d).audits_skipped, 1);
    fby_window_destroy(&d.w);
}

/* A stream of `n` audited steps, all delivered; *out are the audits, open. */
static struct driver at_the_end_of(int n, struct fby_action *out)
{
    struct fby_window_config c = config_of((uint32_t)n);
    c.audit                    = 1;
    c.times.ping               = 100 * S;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_at(&d, 1000, (uint64_t)n);
    for (int i = 0; i < n; i++) {
        struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 2 * i);
        out[i]                 = nth_action(&d, FBY_DO_REQUEST, 2 * i + 1);
        answer(&d, &main);
        take_and_release(&d, (uint64_t)i);
    }
    return d;
}

static void the_end_waits_for_the_last_of_all_audits(void **state)
{
    (void)state;
    struct fby_action       audits[FBY_MAX_AUDITS];
    struct fby_window_batch batch;
    struct driver           d = at_the_end_of(FBY_MAX_AUDITS, audits);
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        assert_int_equal(take(&d, &batch), FBY_AGAIN);
        assert_int_equal(fby_window_audit_index(d.w, audits[i].id), i);
        answer_audit(&d, &audits[i], 1);
    }
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
    d = at_the_end_of(FBY_MAX_AUDITS, audits);
    for (int i = 0; i < FBY_MAX_AUDITS - 1; i++) {
        answer_audit(&d, &audits[i], 1);
    }
    wait(&d, 1 * S);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_counters(
        &d, "delivered 16, requests 32, stalls 1, audits 15, audits_skipped 1");
    fby_window_destroy(&d.w);
}

static void all_audits_of_a_worker_that_fails_are_skipped(void **state)
{
    (void)state;
    struct fby_action audits[FBY_MAX_AUDITS];
    struct driver     d = at_the_end_of(FBY_MAX_AUDITS, audits);
    fby_window_unreachable(d.w, d.now, 0);
    fby_window_unreachable(d.w, d.now, 1);
    assert_counters(&d, "delivered 16, requests 32, lost 16, unreachable 2, "
                        "audits_skipped 16");
    fby_window_destroy(&d.w);
}

/* The last audit is the one whose worker's number is given again. */
static void every_audit_forgets_a_worker_that_is_gone(void **state)
{
    (void)state;
    struct fby_action audits[FBY_MAX_AUDITS];
    struct driver     d    = at_the_end_of(FBY_MAX_AUDITS, audits);
    struct fby_action last = audits[FBY_MAX_AUDITS - 1];
    int               main = 1 - last.peer;
    fby_window_peer_unlist(d.w, d.now, main);
    fby_window_unreachable(d.w, d.now, main);
    assert_int_equal(add(&d, 77), main);
    answer_audit(&d, &last, 2);
    assert_int_equal(fby_window_failure(d.w)->peer, FBY_NO_PEER);
    assert_int_equal(fby_window_failure(d.w)->other, last.peer);
    fby_window_destroy(&d.w);
}

/* Enough answers are known, and quick, for a hedge after 20 ms. */
static void the_end_waits_a_second_however_soon_a_hedge_is_sent(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.audit                    = 30;
    struct driver           d  = driver_of(&c);
    struct fby_window_batch batch;
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_at(&d, 1000, 31);
    for (uint64_t step = 0; step < 31; step++) {
        struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 0);
        if (step == 0) {
            struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
            answer_audit(&d, &second, 1);
        }
        answer(&d, &main);
        take_and_release(&d, step);
        turn(&d);
    }
    assert_int_equal(fby_window_hedge_after(d.w), 20 * MS);
    wait(&d, 1 * S - 1);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    d.now += 1 + 10 * MS; /* a late tick */
    turn(&d);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
}

/* The only answer took 900 ms, so a hedge would wait for 1800 ms. */
static void the_end_waits_for_an_audit_as_long_as_for_a_hedge(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.audit                    = 1;
    struct driver           d  = driver_of(&c);
    struct fby_window_batch batch;
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_at(&d, 1, 1);
    struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 0);
    wait(&d, 900 * MS);
    fby_window_heard(d.w, d.now, 0);
    fby_window_heard(d.w, d.now, 1);
    answer(&d, &main);
    take_and_release(&d, 0);
    wait(&d, 900 * MS - 1);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 1);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_counters(&d, "delivered 1, requests 2, stalls 1, audits_skipped 1");
    fby_window_destroy(&d.w);
}

/* Asked for 300 ms apart, they are given up 300 ms apart; before the last batch
 * is taken, none is. */
static void the_end_waits_for_each_audit_by_its_own_time(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.audit                    = 1;
    c.times.reach              = 100 * S;
    c.times.ping               = 100 * S;
    struct driver           d  = driver_of(&c);
    struct fby_window_batch batch;
    (void)join(&d, 1);
    (void)join(&d, 2);
    (void)join(&d, 3);
    start_at(&d, 2, 2);
    for (uint64_t step = 0; step < 2; step++) {
        struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 0);
        wait(&d, 300 * MS);
        answer(&d, &main);
        take_and_release(&d, step);
        turn(&d);
    }
    assert_int_equal(counters(&d).audits_skipped, 0);
    wait(&d, 400 * MS - 1);
    assert_int_equal(counters(&d).audits_skipped, 0);
    wait(&d, 1);
    assert_int_equal(counters(&d).audits_skipped, 1);
    wait(&d, 300 * MS - 1);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 1);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_int_equal(counters(&d).audits_skipped, 2);
    fby_window_destroy(&d.w);
}

static void an_audit_is_not_given_up_before_the_end(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    wait(&d, 2 * S);
    answer_audit(&d, &second, 1);
    assert_counters(&d, "requests 3, stalls 1, audits 1"); /* a probe */
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_comes_after_the_last_audit),
        cmocka_unit_test(the_end_waits_a_second_for_an_audit_and_no_longer),
        cmocka_unit_test(the_end_waits_for_the_last_of_all_audits),
        cmocka_unit_test(all_audits_of_a_worker_that_fails_are_skipped),
        cmocka_unit_test(every_audit_forgets_a_worker_that_is_gone),
        cmocka_unit_test(the_end_waits_a_second_however_soon_a_hedge_is_sent),
        cmocka_unit_test(the_end_waits_for_an_audit_as_long_as_for_a_hedge),
        cmocka_unit_test(the_end_waits_for_each_audit_by_its_own_time),
        cmocka_unit_test(an_audit_is_not_given_up_before_the_end),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_audit_end", tests, NULL, NULL);
}
