/* The life of a peer, and what it is told. */
#include "tests/trainer_client/window_words.h"

static void a_peer_is_opened_at_first_use_and_closed_when_idle(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.open_peers               = 0;
    c.times.reach              = 1000 * S; /* nobody answers PING here */
    struct driver d            = driver_of(&c);
    int           peer         = add(&d, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 0);
    start_at(&d, 1, 1);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 1);
    welcome(&d, peer, 1, NULL, 0);
    fby_window_opened(d.w, d.now, peer);
    turn(&d);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    turn(&d);
    wait(&d, 59 * S);
    assert_int_equal(count(&d, FBY_DO_CLOSE, peer), 0);
    wait(&d, 1 * S);
    assert_int_equal(count(&d, FBY_DO_BYE, peer), 1);
    assert_int_equal(count(&d, FBY_DO_CLOSE, peer), 1);
    fby_window_destroy(&d.w);
}

static void an_unreachable_peer_is_reported_and_tried_again_later(void **state)
{
    (void)state;
    struct fby_window_config c    = config_of(1);
    struct driver            d    = driver_of(&c);
    int                      peer = add(&d, 1);
    turn(&d);
    wait(&d, 2999 * MS);
    assert_int_equal(count(&d, FBY_DO_UNREACHABLE, peer), 0);
    wait(&d, 1 * MS);
    assert_int_equal(count(&d, FBY_DO_UNREACHABLE, peer), 1);
    assert_int_equal(count(&d, FBY_DO_CLOSE, peer), 1);
    wait(&d, 499 * MS);
    assert_int_equal(count(&d, FBY_DO_CONNECT, peer), 0);
    wait(&d, 501 * MS);
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

static void a_known_instance_keeps_its_number(void **state)
{
    (void)state;
    struct driver d = started(1, 2);
    assert_int_equal(add(&d, 2), 1);
    assert_int_equal(add(&d, 3), 2);
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
    turn_says(&d, "UNREACHABLE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

static void an_unlisted_peer_that_is_not_connected_is_gone(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)add(&d, 1);
    fby_window_peer_unlist(d.w, d.now, 0);
    turn_says(&d, "GONE 0");
    fby_window_destroy(&d.w);
}

static void a_new_owner_of_a_number_has_nothing_of_the_old_one(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    fby_window_busy(d.w, d.now, 0, r.id, 10 * S);
    fby_window_peer_unlist(d.w, d.now, 0);
    fby_window_unreachable(d.w, d.now, 0);
    assert_int_equal(add(&d, 2), 0);
    turn_says(&d, "UNREACHABLE 0; CLOSE 0; GONE 0; CONNECT 0; HELLO 0");
    welcome(&d, 0, 2, NULL, 0);
    turn_says(&d, "OPEN 0"); /* it is not opened yet */
    fby_window_opened(d.w, d.now, 0);
    turn_says(&d, "REQUEST 0 #2 step 0 slot 0");
    fby_window_destroy(&d.w);
}

static void without_workers_it_says_so_every_few_seconds(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    start_at(&d, 1, 1);
    wait(&d, 11 * S);
    assert_int_equal(count(&d, FBY_DO_NO_WORKERS, FBY_NO_PEER), 2);
    fby_window_destroy(&d.w);
}

static void credit_reports_every_byte_also_of_dropped_chunks(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_DUPLICATE);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CREDIT, 0), 0);
    wait(&d, 5 * MS);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).number, 20);
    fby_window_destroy(&d.w);
}

static void credit_starts_at_zero_on_a_new_route(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = act(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    fby_window_hello_first(d.w, d.now, 0);
    turn(&d);
    uint64_t route = act(&d, FBY_DO_HELLO, 0).number;
    welcome(&d, 0, 1, &r.id, 1);
    assert_int_equal(chunk(&d, &r, 0), FBY_DUPLICATE);
    wait(&d, 5 * MS);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).number, 10);
    assert_int_equal(act(&d, FBY_DO_CREDIT, 0).route, route);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_is_opened_at_first_use_and_closed_when_idle),
        cmocka_unit_test(an_unreachable_peer_is_reported_and_tried_again_later),
        cmocka_unit_test(an_unlisted_peer_stays_while_its_connection_works),
        cmocka_unit_test(a_known_instance_keeps_its_number),
        cmocka_unit_test(a_number_is_given_again_once_it_is_free),
        cmocka_unit_test(a_peer_that_is_listed_again_is_kept),
        cmocka_unit_test(an_unlisted_peer_that_is_not_connected_is_gone),
        cmocka_unit_test(a_new_owner_of_a_number_has_nothing_of_the_old_one),
        cmocka_unit_test(without_workers_it_says_so_every_few_seconds),
        cmocka_unit_test(credit_reports_every_byte_also_of_dropped_chunks),
        cmocka_unit_test(credit_starts_at_zero_on_a_new_route),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_peers", tests, NULL, NULL);
}
