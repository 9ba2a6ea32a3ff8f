/* SPDX-License-Identifier: Apache-2.0 */
/* CANNOT: steps that workers refuse, and the failure when all of them do. */
#include "tests/trainer_client/window_words.h"

static void answer_cannot(
    struct driver *d, const struct fby_action *r, int code)
{
    fby_window_cannot(d->w, d->now, r->peer, r->id, code);
    turn(d);
}

static void a_step_is_not_asked_again_of_a_worker_that_cannot(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    answer_cannot(&d, &r, 7);
    for (int i = 0; i < 3; i++) {
        struct fby_action again = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(again.peer, 1 - r.peer);
        fby_window_lost(d.w, d.now, again.peer, again.id);
        turn(&d);
        if (i > 0) { /* repeated losses pause */
            wait(&d, 10 * MS);
        }
    }
    assert_counters(&d, "requests 5, rerequests 4, lost 3, cannot 1");
    assert_failed(&d, "");
    fby_window_destroy(&d.w);
}

/* Two workers that are left of `n`, the numbers of which are the highest. */
static struct driver last_two_of(uint32_t n)
{
    struct fby_window_config c = config_of(1);
    c.max_peers                = n;
    c.max_peers_before_start   = n;
    struct driver d            = driver_of(&c);
    for (uint32_t i = 1; i <= n; i++) {
        (void)join(&d, i);
    }
    for (uint32_t i = 0; i < n - 2; i++) {
        fby_window_set_aside(d.w, d.now, (int)i, 1);
    }
    start_constant_locality(&d);
    return d;
}

/* Each of the two refuses a step that the other one answers. */
static void a_refusal_holds_for_one_step(void **state)
{
    (void)state;
    const uint32_t peers[] = {2, 64, 65, 66, 129};
    for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
        struct driver     d     = last_two_of(peers[i]);
        struct fby_action first = nth_action(&d, FBY_DO_REQUEST, 0);
        answer_cannot(&d, &first, 7);
        int other = answer_next(&d).peer;
        assert_int_not_equal(other, first.peer);
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(r.peer, first.peer);
        fby_window_lost(d.w, d.now, r.peer, r.id);
        turn(&d);
        r = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(r.peer, other);
        answer_cannot(&d, &r, 7);
        assert_int_equal(answer_next(&d).peer, first.peer);
        r = nth_action(&d, FBY_DO_REQUEST, 0);
        answer_cannot(&d, &r, 7);
        assert_int_equal(answer_next(&d).peer, other);
        assert_failed(&d, "");
        fby_window_destroy(&d.w);
    }
}

static void the_65th_worker_refuses_for_itself_alone(void **state)
{
    (void)state;
    struct driver     d = last_two_of(65);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    answer_cannot(&d, &r, 7);
    struct fby_action last = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(r.peer + last.peer, 63 + 64);
    answer_cannot(&d, &last, 8);
    assert_int_equal(count(&d, FBY_DO_FAIL, last.peer), 1);
    assert_int_equal(fby_window_failure(d.w)->peer, last.peer);
    fby_window_destroy(&d.w);
}

/* ---- Waiting for the other worker ---------------------------------------- */

static void is_busy(struct driver *d, int peer, struct fby_request_id id)
{
    fby_window_busy(d->w, d->now, peer, id, 40 * MS);
}

static void must_greet(struct driver *d, int peer, struct fby_request_id id)
{
    (void)id;
    fby_window_hello_first(d->w, d->now, peer);
}

static void forgot_content(struct driver *d, int peer, struct fby_request_id id)
{
    fby_window_send_content(d->w, d->now, peer, id);
}

static void is_gone_but_another_is_listed(
    struct driver *d, int peer, struct fby_request_id id)
{
    (void)id;
    remove_peer(d, peer);
    assert_int_equal(add(d, 3), peer);
}

static void is_full(struct driver *d, int peer, struct fby_request_id id)
{
    (void)id;
    fby_window_refused_full(d->w, d->now, peer);
}

static void leaves(struct driver *d, int peer, struct fby_request_id id)
{
    (void)id;
    fby_window_leave(d->w, d->now, peer);
}

static void has_other_bytes(
    struct driver *d, int peer, struct fby_request_id id)
{
    (void)id;
    fby_window_set_aside(d->w, d->now, peer, 3);
}

static void is_gone(struct driver *d, int peer, struct fby_request_id id)
{
    (void)id;
    remove_peer(d, peer);
}

typedef void state_fn(struct driver *d, int peer, struct fby_request_id id);

/* Worker `other` was asked for step 0 until `what` happened to it, then the
 * other of two, which cannot. */
static struct driver refused_while(state_fn *what, int other)
{
    struct driver     d = started(1, 2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    if (r.peer != other) {
        fby_window_lost(d.w, d.now, r.peer, r.id);
        turn(&d);
        r = nth_action(&d, FBY_DO_REQUEST, 0);
    }
    assert_int_equal(r.peer, other);
    what(&d, other, r.id);
    fby_window_lost(d.w, d.now, other, r.id); /* if it still has it */
    turn(&d);
    r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(r.peer, 1 - other);
    answer_cannot(&d, &r, 9);
    return d;
}

static void a_refused_step_waits_for_workers_that_may_be_asked_later(
    void **state)
{
    (void)state;
    state_fn *const ways[] = {
        is_busy, must_greet, forgot_content, is_gone_but_another_is_listed};
    for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver d = refused_while(ways[i / 2], (int)i % 2);
        assert_int_equal(count(&d, FBY_DO_FAIL, FBY_NO_PEER), 0);
        assert_failed(&d, "");
        fby_window_destroy(&d.w);
    }
}

static void a_refused_step_does_not_wait_for_workers_that_may_not(void **state)
{
    (void)state;
    state_fn *const ways[] = {is_full, leaves, has_other_bytes, is_gone};
    for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]); i++) {
        int           refuser = (int)i % 2;
        struct driver d       = refused_while(ways[i / 2], 1 - refuser);
        assert_int_equal(count(&d, FBY_DO_FAIL, refuser), 1);
        assert_int_equal(fby_window_failure(d.w)->cause, FBY_CAUSE_CANNOT);
        assert_int_equal(fby_window_failure(d.w)->code, 9);
        fby_window_destroy(&d.w);
    }
}

static void a_step_that_no_worker_refused_waits_for_workers(void **state)
{
    (void)state;
    struct driver     d = started(1, 2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    answer_cannot(&d, &r, 7);
    (void)answer_next(&d);
    fby_window_refused_full(d.w, d.now, 0);
    fby_window_refused_full(d.w, d.now, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CLOSE, FBY_NO_PEER), 2);
    assert_failed(&d, ""); /* though the step before was refused */
    fby_window_destroy(&d.w);
}

/* ---- The worker in the failure ------------------------------------------- */

static void a_refusal_fails_with_the_step_and_the_last_that_refused(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(3);
    struct driver            d = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 2, 9);
    struct fby_action lower = nth_action(&d, FBY_DO_REQUEST, 1);
    struct fby_action last  = nth_action(&d, FBY_DO_REQUEST, 2);
    answer_cannot(&d, &last, 7);
    assert_actions(&d, "FAIL 0");
    assert_failed(&d, "CANNOT 7, peers 0 and -1, step 1.0 #3");
    answer_cannot(&d, &lower, 8);
    assert_actions(&d, ""); /* once */
    assert_failed(&d, "CANNOT 8, peers 0 and -1, step 1 #2");
    fby_window_destroy(&d.w);
}

static void steps_from_a_failed_one_on_are_not_asked_for(void **state)
{
    (void)state;
    struct driver     d = started(4, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 2);
    answer_cannot(&d, &r, 7);
    assert_actions(&d, "FAIL 0");
    for (uint64_t id = 1; id <= 4; id++) {
        fby_window_lost(d.w, d.now, 0, (struct fby_request_id){id});
    }
    assert_turn(&d, "REQUEST 0 #5 step 0 slot 0; REQUEST 0 #6 step 1 slot 1");
    (void)answer_next(&d);
    assert_actions(&d, ""); /* there is room for step 4 */
    assert_failed(&d, "CANNOT 7, peers 0 and -1, step 2 #3");
    fby_window_destroy(&d.w);
}

static void both_refuse_and_the_last_is_gone(struct driver *d)
{
    struct fby_action r = nth_action(d, FBY_DO_REQUEST, 0);
    answer_cannot(d, &r, 7);
    r = nth_action(d, FBY_DO_REQUEST, 0);
    fby_window_cannot(d->w, d->now, r.peer, r.id, 8);
    remove_peer(d, r.peer);
}

static void a_worker_that_refused_and_is_gone_is_not_named(void **state)
{
    (void)state;
    struct driver d = started(1, 2);
    both_refuse_and_the_last_is_gone(&d);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_FAIL, FBY_NO_PEER), 1);
    assert_failed(&d, "CANNOT 8, peers -1 and -1, step 0 #2");
    fby_window_destroy(&d.w);
}

static void the_next_owner_of_a_number_has_refused_nothing(void **state)
{
    (void)state;
    struct driver d = started(1, 2);
    both_refuse_and_the_last_is_gone(&d);
    int next = add(&d, 3);
    turn(&d);
    assert_failed(&d, "");
    admit_peer(&d, next, 3);
    turn(&d);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).peer, next);
    fby_window_destroy(&d.w);
}

static void cannot_both(struct driver *d)
{
    for (int i = 0; i < 2; i++) {
        struct fby_action r = nth_action(d, FBY_DO_REQUEST, i);
        fby_window_cannot(d->w, d->now, r.peer, r.id, 7);
    }
}

/* For two steps, and for a number beyond the first word of the set. */
static void only_the_refusals_of_a_worker_that_is_gone_are_forgotten(
    void **state)
{
    (void)state;
    for (int peer = 63; peer <= 64; peer++) {
        struct fby_window_config c = config_of(2);
        c.max_peers                = 66;
        c.max_peers_before_start   = 66;
        struct driver d            = started_with(&c, 65);
        for (int i = 0; i < 63; i++) {
            fby_window_set_aside(d.w, d.now, i, 1);
        }
        turn(&d);
        cannot_both(&d);
        turn(&d);
        cannot_both(&d);
        remove_peer(&d, peer);
        assert_int_equal(add(&d, 77), peer);
        turn(&d);
        admit_peer(&d, peer, 77);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_REQUEST, peer), 2);
        assert_failed(&d, "");
        fby_window_destroy(&d.w);
    }
}

/* The bit sets of chunks and of refusals are adjacent in memory: the first two
 * chunks of every audit are taken, and no worker has refused a step. */
static void the_chunks_of_audits_are_no_refusals(void **state)
{
    (void)state;
    struct driver     d = audited(FBY_MAX_AUDITS, 2, 1);
    struct fby_action main[FBY_MAX_AUDITS];
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 2 * i + 1);
        main[i]                  = nth_action(&d, FBY_DO_REQUEST, 2 * i);
        assert_int_equal(header(&d, &second, 3), FBY_AUDIT);
        assert_int_equal(chunk(&d, &second, 0), FBY_AUDIT);
        assert_int_equal(chunk(&d, &second, 1), FBY_AUDIT);
    }
    for (int i = 0; i < FBY_MAX_AUDITS; i++) {
        fby_window_lost(d.w, d.now, main[i].peer, main[i].id);
        turn(&d);
        assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).step, i);
        assert_int_equal(
            nth_action(&d, FBY_DO_REQUEST, 0).peer, 1 - main[i].peer);
    }
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_not_asked_again_of_a_worker_that_cannot),
        cmocka_unit_test(a_refusal_holds_for_one_step),
        cmocka_unit_test(the_65th_worker_refuses_for_itself_alone),
        cmocka_unit_test(
            a_refused_step_waits_for_workers_that_may_be_asked_later),
        cmocka_unit_test(a_refused_step_does_not_wait_for_workers_that_may_not),
        cmocka_unit_test(a_step_that_no_worker_refused_waits_for_workers),
        cmocka_unit_test(
            a_refusal_fails_with_the_step_and_the_last_that_refused),
        cmocka_unit_test(steps_from_a_failed_one_on_are_not_asked_for),
        cmocka_unit_test(a_worker_that_refused_and_is_gone_is_not_named),
        cmocka_unit_test(the_next_owner_of_a_number_has_refused_nothing),
        cmocka_unit_test(
            only_the_refusals_of_a_worker_that_is_gone_are_forgotten),
        cmocka_unit_test(the_chunks_of_audits_are_no_refusals),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_cannot", tests, NULL, NULL);
}
