/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a peer, and the messages in them. */
#include "tests/trainer_client/window_words.h"

static void a_peer_is_connected_at_its_first_use(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.max_peers_before_start   = 0;
    struct driver d            = driver_of(&c);
    int           peer         = add(&d, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 0);
    start_at(&d, 1, 1);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 1);
    fby_window_destroy(&d.w);
}

static void an_unlisted_peer_stays_while_its_connection_works(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    fby_window_peer_unlist(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_GONE, 0), 0);
    fby_window_unreachable(d.w, d.now, 0);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_GONE, 0), 1);
    fby_window_destroy(&d.w);
}

static void a_number_is_given_again_once_it_is_free(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    int                      peer;
    for (int i = 0; i < PEERS; i++) {
        assert_int_equal(add(&d, (uint64_t)i + 1), i);
    }
    assert_int_equal(
        fby_window_peer_add(d.w, d.now, (struct fby_instance_id){9}, 9, &peer),
        FBY_FULL);
    assert_int_equal(add(&d, PEERS), PEERS - 1);
    fby_window_peer_unlist(d.w, d.now, 3);
    fby_window_peer_unlist(d.w, d.now, 5);
    fby_window_peer_unlist(d.w, d.now, 5); /* no peer any more */
    assert_int_equal(add(&d, 10), 3);
    assert_int_equal(add(&d, 6), 5); /* the old one is forgotten */
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_GONE, FBY_NO_PEER), 2);
    assert_int_equal(count(&d, FBY_DO_CONNECT, FBY_NO_PEER), PEERS);
    fby_window_destroy(&d.w);
}

static void a_peer_that_is_listed_again_is_kept(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    fby_window_peer_unlist(d.w, d.now, 0);
    assert_int_equal(add(&d, 1), 0);
    fby_window_unreachable(d.w, d.now, 0);
    assert_turn(&d, "UNREACHABLE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

static void an_unlisted_peer_that_is_not_connected_is_gone(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)add(&d, 1);
    fby_window_peer_unlist(d.w, d.now, 0);
    assert_turn(&d, "GONE 0");
    fby_window_destroy(&d.w);
}

static void a_new_owner_of_a_number_has_nothing_of_the_old_one(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_busy(d.w, d.now, 0, r.id, 10 * S);
    fby_window_peer_unlist(d.w, d.now, 0);
    fby_window_unreachable(d.w, d.now, 0);
    assert_int_equal(add(&d, 2), 0);
    assert_turn(&d, "UNREACHABLE 0; CLOSE 0; GONE 0; CONNECT 0; HELLO 0");
    welcome(&d, 0, 2, NULL, 0);
    assert_turn(&d, "OPEN 0"); /* it is not opened yet */
    fby_window_opened(d.w, d.now, 0);
    assert_turn(&d, "REQUEST 0 #2 step 0 slot 0");
    fby_window_destroy(&d.w);
}

enum { MANY = 40 };

/* A window of one batch over MANY workers; the first 16 are connected. Returns
 * the number of workers that are connected later, during `steps` steps. */
static int connected_during(struct driver *d, uint64_t steps)
{
    struct fby_window_config c = config_of(1);
    int                      n = 0;
    c.max_peers                = MANY;
    *d                         = driver_of(&c);
    for (uint64_t i = 1; i <= MANY; i++) {
        (void)add(d, i);
    }
    turn(d);
    assert_int_equal(count(d, FBY_DO_CONNECT, FBY_NO_PEER), 16);
    for (int i = 0; i < 16; i++) {
        welcome(d, i, (uint64_t)i + 1, NULL, 0);
        fby_window_opened(d->w, d->now, i);
    }
    start_at(d, 1000, UINT64_MAX);
    for (uint64_t step = 0; step < steps; step++) {
        n += count(d, FBY_DO_CONNECT, FBY_NO_PEER);
        (void)answer_next(d);
    }
    return n;
}

static void no_more_workers_are_connected_than_a_window_can_use(void **state)
{
    (void)state;
    struct driver d;
    assert_int_equal(connected_during(&d, 200), 0);
    fby_window_destroy(&d.w);
}

/* All that are connected refuse the step. */
static void a_step_that_all_refuse_connects_another_worker(void **state)
{
    (void)state;
    struct driver d;
    (void)connected_during(&d, 1);
    for (int i = 0; i < 16; i++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(count(&d, FBY_DO_CONNECT, FBY_NO_PEER), 0);
        fby_window_cannot(d.w, d.now, r.peer, r.id, 1);
        turn(&d);
    }
    assert_int_equal(count(&d, FBY_DO_CONNECT, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_is_connected_at_its_first_use),
        cmocka_unit_test(an_unlisted_peer_stays_while_its_connection_works),
        cmocka_unit_test(a_number_is_given_again_once_it_is_free),
        cmocka_unit_test(a_peer_that_is_listed_again_is_kept),
        cmocka_unit_test(an_unlisted_peer_that_is_not_connected_is_gone),
        cmocka_unit_test(a_new_owner_of_a_number_has_nothing_of_the_old_one),
        cmocka_unit_test(no_more_workers_are_connected_than_a_window_can_use),
        cmocka_unit_test(a_step_that_all_refuse_connects_another_worker),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_peers", tests, NULL, NULL);
}
