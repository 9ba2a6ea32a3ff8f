/* SPDX-License-Identifier: Apache-2.0 */
/* The timers of a peer: none acts a nanosecond early or late.
 *
 * The driver ticks only at the window's deadlines, so what is done in time was
 * also announced in time. */
#include "tests/trainer_client/window_words.h"

/* Two and a half times as long as between two PINGs. */
static struct fby_window_config with_reach(void)
{
    struct fby_window_config c = config_of(1);
    c.times.reach              = 2500 * MS;
    c.times.hedge_first        = 1000 * S;
    return c;
}

static struct driver greeting(void)
{
    struct fby_window_config c = with_reach();
    struct driver            d = driver_of(&c);
    (void)add(&d, 1);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    return d;
}

/* ---- Greeting ------------------------------------------------------------ */

static void hello_is_repeated_until_the_peer_counts_as_cut_off(void **state)
{
    (void)state;
    struct driver d = greeting();
    assert_after(&d, 1 * S, "HELLO 0");
    assert_after(&d, 1 * S, "HELLO 0");
    assert_after(&d, 500 * MS, "UNREACHABLE 0; CLOSE 0");
    assert_counters(&d, "unreachable 1");
    fby_window_destroy(&d.w);
}

static void a_peer_that_talks_but_never_welcomes_is_given_up(void **state)
{
    (void)state;
    struct driver d = greeting();
    wait(&d, 2400 * MS);
    assert_actions(&d, "HELLO 0; HELLO 0");
    fby_window_heard(d.w, d.now, 0);
    assert_turn(&d, "");
    assert_after(&d, 100 * MS, "UNREACHABLE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

/* Asked for HELLO again, it has all of the time again. */
static void a_greeting_begins_anew_with_hello_first(void **state)
{
    (void)state;
    struct fby_window_config c = with_reach();
    struct driver            d = started_with(&c, 1);
    assert_after(&d, 1 * S, "PING 0");
    wait(&d, 900 * MS);
    fby_window_hello_first(d.w, d.now, 0);
    assert_turn(&d, "HELLO 0");
    assert_after(&d, 1 * S, "HELLO 0");
    fby_window_heard(d.w, d.now, 0);
    assert_after(&d, 1 * S, "HELLO 0");
    assert_after(&d, 500 * MS, "UNREACHABLE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

/* ---- PING and silence ---------------------------------------------------- */

static void a_silent_peer_is_pinged_and_given_up(void **state)
{
    (void)state;
    struct fby_window_config c = with_reach();
    struct driver            d = started_with(&c, 1);
    assert_after(&d, 1 * S, "PING 0");
    assert_after(&d, 1 * S, "PING 0");
    assert_after(&d, 500 * MS, "UNREACHABLE 0; CLOSE 0");
    assert_counters(&d, "requests 1, lost 1, unreachable 1");
    fby_window_destroy(&d.w);
}

static void a_peer_that_is_heard_is_pinged_and_kept(void **state)
{
    (void)state;
    struct fby_window_config c = with_reach();
    struct driver            d = started_with(&c, 1);
    wait(&d, 2400 * MS);
    assert_actions(&d, "PING 0; PING 0");
    fby_window_heard(d.w, d.now, 0);
    assert_turn(&d, "");
    assert_after(&d, 600 * MS, "PING 0");
    assert_after(&d, 1 * S, "PING 0");
    assert_after(&d, 900 * MS, "UNREACHABLE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

static void the_first_ping_comes_a_while_after_welcome(void **state)
{
    (void)state;
    struct driver d = greeting();
    wait(&d, 1300 * MS);
    assert_actions(&d, "HELLO 0");
    welcome(&d, 0, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    assert_after(&d, 1 * S, "PING 0");
    fby_window_destroy(&d.w);
}

/* ---- Backoff ------------------------------------------------------------- */

/* The backoff of peer 0 after it was unreachable once more. */
static int64_t time_until_connect(struct driver *d)
{
    fby_window_unreachable(d->w, d->now, 0);
    assert_turn(d, "UNREACHABLE 0; CLOSE 0");
    int64_t from = d->now;
    while (count(d, FBY_DO_CONNECT, 0) == 0) {
        d->now = fby_window_deadline(d->w);
        turn(d);
    }
    return d->now - from;
}

static struct driver with_seed(uint64_t seed)
{
    struct fby_window_config c = config_of(1);
    c.times.warn               = 1000 * S;
    c.seed                     = seed;
    struct driver d            = driver_of(&c);
    (void)add(&d, 1);
    turn(&d);
    return d;
}

static void each_wait_is_up_to_twice_as_long_until_the_longest(void **state)
{
    (void)state;
    const int64_t waits[] = {S, 2 * S, 4 * S, 8 * S, 16 * S, 30 * S, 30 * S};
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct driver d = with_seed(seed);
        for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
            int64_t waited = time_until_connect(&d);
            assert_in_range(waited, waits[i] / 2, waits[i]);
        }
        assert_counters(&d, "unreachable 7");
        fby_window_destroy(&d.w);
    }
}

static void the_waits_of_many_clients_spread(void **state)
{
    (void)state;
    int64_t shortest = INT64_MAX;
    int64_t longest  = 0;
    for (uint64_t seed = 1; seed <= 64; seed++) {
        struct driver d      = with_seed(seed);
        int64_t       waited = time_until_connect(&d);
        shortest             = waited < shortest ? waited : shortest;
        longest              = waited > longest ? waited : longest;
        fby_window_destroy(&d.w);
    }
    assert_in_range(shortest, 500 * MS, 550 * MS);
    assert_in_range(longest, 950 * MS, 1000 * MS);
}

/* Half of a backoff of 1 ns is none, and none more is drawn. */
static void the_least_backoff_is_no_wait(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        struct fby_window_config c = config_of(1);
        c.times.backoff            = 1;
        c.seed                     = seed;
        struct driver d            = driver_of(&c);
        (void)add(&d, 1);
        turn(&d);
        fby_window_unreachable(d.w, d.now, 0);
        assert_turn(&d, "UNREACHABLE 0; CLOSE 0; CONNECT 0; HELLO 0");
        fby_window_destroy(&d.w);
    }
}

static void a_backoff_begins_when_the_transport_fails(void **state)
{
    (void)state;
    struct driver d = with_seed(1);
    d.now += 900 * MS;
    fby_window_unreachable(d.w, d.now, 0);
    int64_t from = d.now;
    assert_turn(&d, "UNREACHABLE 0; CLOSE 0");
    assert_in_range(fby_window_deadline(d.w), from + 500 * MS, from + S);
    fby_window_destroy(&d.w);
}

static void welcome_ends_the_doubling(void **state)
{
    (void)state;
    struct driver d = with_seed(1);
    for (int i = 0; i < 4; i++) {
        (void)time_until_connect(&d);
    }
    welcome(&d, 0, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    assert_in_range(time_until_connect(&d), 500 * MS, 1000 * MS);
    fby_window_destroy(&d.w);
}

/* ---- Before the start ---------------------------------------------------- */

static void so_many_peers_are_connected_and_no_more(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.max_peers_before_start   = 2;
    struct driver d            = driver_of(&c);
    for (uint64_t i = 1; i <= 4; i++) {
        (void)add(&d, i);
    }
    assert_turn(&d, "CONNECT 0; HELLO 0; CONNECT 1; HELLO 1");
    assert_turn(&d, "");
    fby_window_unreachable(d.w, d.now, 0);
    assert_turn(&d, "UNREACHABLE 0; CLOSE 0; CONNECT 2; HELLO 2");
    fby_window_destroy(&d.w);
}

static void after_the_start_peers_are_connected_when_needed(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.max_peers_before_start   = 1;
    struct driver d            = driver_of(&c);
    for (uint64_t i = 1; i <= 3; i++) {
        (void)add(&d, i);
    }
    assert_turn(&d, "CONNECT 0; HELLO 0");
    welcome(&d, 0, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    fby_window_opened(d.w, d.now, 0);
    start_at(&d, 1000, 1000);
    assert_actions(&d, "CONNECT 2; HELLO 2; REQUEST 0 #1 step 0 slot 0");
    fby_window_destroy(&d.w);
}

/* ---- A late tick --------------------------------------------------------- */

static void late_tick_says(struct driver *d, const char *expected)
{
    d->now = fby_window_deadline(d->w) + 10 * MS;
    assert_turn(d, expected);
}

/* The first tick after its time does what is due. */
static void a_tick_that_comes_late_does_what_was_due(void **state)
{
    (void)state;
    struct driver d = greeting();
    late_tick_says(&d, "HELLO 0");
    late_tick_says(&d, "HELLO 0");
    late_tick_says(&d, "UNREACHABLE 0; CLOSE 0");
    late_tick_says(&d, "CONNECT 0; HELLO 0");
    fby_window_heard(d.w, d.now, 0);
    late_tick_says(&d, "HELLO 0");
    welcome(&d, 0, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    fby_window_opened(d.w, d.now, 0);
    start_at(&d, 1, 1);
    assert_actions(&d, "REQUEST 0 #1 step 0 slot 0");
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    late_tick_says(&d, "PING 0");
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    late_tick_says(&d, "CREDIT 0 10");
    late_tick_says(&d, "PING 0");
    late_tick_says(&d, "PING 0");
    late_tick_says(&d, "UNREACHABLE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

static void a_late_tick_gives_up_a_worker_without_a_welcome(void **state)
{
    (void)state;
    struct driver d = greeting();
    late_tick_says(&d, "HELLO 0");
    fby_window_heard(d.w, d.now, 0);
    late_tick_says(&d, "HELLO 0");
    fby_window_heard(d.w, d.now, 0);
    late_tick_says(&d, "UNREACHABLE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

static void a_late_tick_finds_suspects_and_idle_workers(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.ping               = 1000 * S;
    c.times.reach              = 2000 * S;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    late_tick_says(&d, "PING 0"); /* after 1 s, for it cannot be hedged */
    late_tick_says(&d, "");
    assert_int_equal(counters(&d).suspects, 1);
    assert_int_equal(header(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    while (count(&d, FBY_DO_BYE, 0) == 0 && d.now < BEGIN + 70 * S) {
        d.now = fby_window_deadline(d.w) + 10 * MS;
        turn(&d);
    }
    assert_int_equal(count(&d, FBY_DO_BYE, 0), 1);
    fby_window_destroy(&d.w);
}

static void a_late_tick_warns_that_no_worker_can_be_asked(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    late_tick_says(&d, "NO_WORKERS");
    late_tick_says(&d, "NO_WORKERS");
    fby_window_destroy(&d.w);
}

/* ---- No worker to ask ---------------------------------------------------- */

static void without_a_worker_the_user_is_warned_every_5_s(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    assert_after(&d, 5 * S, "NO_WORKERS");
    start_at(&d, 1, 1);
    assert_after(&d, 5 * S, "NO_WORKERS");
    assert_after(&d, 5 * S, "NO_WORKERS");
    fby_window_destroy(&d.w);
}

/* The consumer takes nothing for so long that the worker is closed as idle. */
static void no_worker_is_missed_while_no_step_waits_for_one(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 1, 2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    turn(&d);
    for (int s = 0; s < 100; s++) {
        fby_window_heard(d.w, d.now, 0);
        wait(&d, 1 * S);
        assert_int_equal(count(&d, FBY_DO_WARN_NO_WORKERS, FBY_NO_PEER), 0);
    }
    take_and_release(&d, 0);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    fby_window_refused_full(d.w, d.now, 0);
    assert_turn(&d, "CLOSE 0");
    wait(&d, 5 * S);
    assert_int_equal(count(&d, FBY_DO_WARN_NO_WORKERS, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

static void the_user_is_warned_5_s_after_the_last_worker_went(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.hedge_first        = 1000 * S;
    c.times.backoff            = 100 * S;
    c.times.backoff_max        = 100 * S;
    struct driver d            = started_with(&c, 1);
    wait(&d, 2 * S);
    fby_window_refused_full(d.w, d.now, 0);
    assert_turn(&d, "CLOSE 0");
    assert_after(&d, 5 * S, "NO_WORKERS");
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_is_repeated_until_the_peer_counts_as_cut_off),
        cmocka_unit_test(a_peer_that_talks_but_never_welcomes_is_given_up),
        cmocka_unit_test(a_greeting_begins_anew_with_hello_first),
        cmocka_unit_test(a_silent_peer_is_pinged_and_given_up),
        cmocka_unit_test(a_peer_that_is_heard_is_pinged_and_kept),
        cmocka_unit_test(the_first_ping_comes_a_while_after_welcome),
        cmocka_unit_test(each_wait_is_up_to_twice_as_long_until_the_longest),
        cmocka_unit_test(the_waits_of_many_clients_spread),
        cmocka_unit_test(the_least_backoff_is_no_wait),
        cmocka_unit_test(a_backoff_begins_when_the_transport_fails),
        cmocka_unit_test(welcome_ends_the_doubling),
        cmocka_unit_test(so_many_peers_are_connected_and_no_more),
        cmocka_unit_test(after_the_start_peers_are_connected_when_needed),
        cmocka_unit_test(a_tick_that_comes_late_does_what_was_due),
        cmocka_unit_test(a_late_tick_gives_up_a_worker_without_a_welcome),
        cmocka_unit_test(a_late_tick_finds_suspects_and_idle_workers),
        cmocka_unit_test(a_late_tick_warns_that_no_worker_can_be_asked),
        cmocka_unit_test(without_a_worker_the_user_is_warned_every_5_s),
        cmocka_unit_test(no_worker_is_missed_while_no_step_waits_for_one),
        cmocka_unit_test(the_user_is_warned_5_s_after_the_last_worker_went),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_timers", tests, NULL, NULL);
}
