/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about a peer: WELCOME, PONG, OPENED, LEAVE; and peers that are set
 * aside. */
#include "tests/trainer_client/window_words.h"

/* Worker 0 was asked for steps 0 and 1, and then asked for HELLO. */
static struct driver greeting(struct fby_action requests[2])
{
    struct driver d = started(2, 1);
    requests[0]     = nth_action(&d, FBY_DO_REQUEST, 0);
    requests[1]     = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_hello_first(d.w, d.now, 0);
    assert_turn(&d, "HELLO 0");
    return d;
}

static void welcome_route(struct driver *d, uint64_t instance, uint64_t route)
{
    fby_window_welcome(d->w, d->now, 0,
        &(struct fby_window_welcome){
            .instance = {instance}, .route = route, .send_window = 1000});
}

/* ---- WELCOME ------------------------------------------------------------- */

static void only_the_welcome_of_the_last_hello_counts(void **state)
{
    (void)state;
    struct fby_action r[2];
    struct driver     d     = greeting(r);
    uint64_t          route = nth_action(&d, FBY_DO_HELLO, 0).number;
    welcome_route(&d, 1, route + 1);
    assert_turn(&d, "");
    uint64_t older = route;
    assert_after(&d, 1 * S, "HELLO 0");
    route = nth_action(&d, FBY_DO_HELLO, 0).number;
    welcome_route(&d, 1, older);
    assert_turn(&d, "");
    welcome_route(&d, 1, route);
    assert_turn(&d, "REQUEST 0 #3 step 0 slot 0; REQUEST 0 #4 step 1 slot 1");
    assert_counters(&d, "requests 4, rerequests 2, lost 2, reconnects 1");
    welcome_route(&d, 1, route); /* once more, which is no new route */
    assert_turn(&d, "");
    assert_counters(&d, "requests 4, rerequests 2, lost 2, reconnects 1");
    fby_window_destroy(&d.w);
}

static void every_hello_has_a_route_of_its_own(void **state)
{
    (void)state;
    uint64_t other = 0;
    for (uint64_t seed = 1; seed <= 32; seed++) {
        struct fby_window_config c = config_of(1);
        c.seed                     = seed;
        struct driver d            = driver_of(&c);
        (void)add(&d, 1);
        turn(&d);
        uint64_t first = nth_action(&d, FBY_DO_HELLO, 0).number;
        wait(&d, 1 * S);
        uint64_t second = nth_action(&d, FBY_DO_HELLO, 0).number;
        assert_int_not_equal(first, second);
        assert_int_not_equal(first, other);
        assert_int_equal(first & second & 1, 1); /* never 0 */
        other = first;
        fby_window_destroy(&d.w);
    }
}

static void named_requests_go_on_and_others_are_lost(void **state)
{
    (void)state;
    struct fby_action r[2];
    struct driver     d      = greeting(r);
    struct driver     before = d;
    assert_turn(&d, "");
    welcome(&before, 0, 1, &r[1].id, 1);
    assert_turn(&d, "REQUEST 0 #3 step 0 slot 0");
    answer(&d, &r[1]);
    assert_counters(&d, "requests 3, rerequests 1, lost 1, reconnects 1");
    fby_window_destroy(&d.w);
}

/* If a worker names more than the window can hold, only that many. */
static void requests_that_are_not_waited_for_are_cancelled(void **state)
{
    (void)state;
    struct fby_action           r[2];
    struct driver               d      = greeting(r);
    const struct fby_request_id open[] = {{91}, {92}, {93}};
    welcome(&d, 0, 1, open, 3);
    assert_turn(&d, "CANCEL 0 #91; CANCEL 0 #92; REQUEST 0 #3 step 0 slot 0; "
                    "REQUEST 0 #4 step 1 slot 1");
    fby_window_destroy(&d.w);
}

static void a_delivered_batch_that_is_named_is_not_cancelled(void **state)
{
    (void)state;
    struct fby_action       r[2];
    struct driver           d = greeting(r);
    struct fby_window_batch batch;
    struct driver           before = d;
    answer(&d, &r[0]);
    assert_ok(take(&d, &batch));
    const struct fby_request_id open[] = {r[0].id, r[1].id};
    welcome(&before, 0, 1, open, 2);
    assert_turn(&d, "");
    fby_window_destroy(&d.w);
}

static void a_request_named_by_another_worker_is_cancelled_there(void **state)
{
    (void)state;
    for (int nth = 0; nth < 2; nth++) {
        struct driver     d     = audited(1, 2, 1);
        struct fby_action asked = nth_action(&d, FBY_DO_REQUEST, nth);
        int               other = 1 - asked.peer;
        fby_window_hello_first(d.w, d.now, other);
        turn(&d);
        welcome(&d, other, (uint64_t)other + 1, &asked.id, 1);
        turn(&d);
        assert_int_equal(nth_action(&d, FBY_DO_CANCEL, 0).peer, other);
        assert_int_equal(
            nth_action(&d, FBY_DO_CANCEL, 0).id.value, asked.id.value);
        assert_int_equal(counters(&d).lost, 1);
        fby_window_destroy(&d.w);
    }
}

static void every_reconnect_is_counted(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    for (uint64_t n = 1; n <= 3; n++) {
        struct fby_request_id open = {1};
        fby_window_hello_first(d.w, d.now, 0);
        turn(&d);
        welcome(&d, 0, 1, &open, 1);
        assert_int_equal(counters(&d).reconnects, n);
    }
    assert_counters(&d, "requests 1, reconnects 3");
    fby_window_destroy(&d.w);
}

static void a_worker_is_a_reconnect_once_it_was_opened(void **state)
{
    (void)state;
    struct fby_window_config c    = config_of(1);
    struct driver            d    = driver_of(&c);
    int                      peer = add(&d, 1);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    welcome(&d, peer, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    fby_window_hello_first(d.w, d.now, peer);
    assert_turn(&d, "HELLO 0");
    welcome(&d, peer, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    assert_counters(&d, "");
    fby_window_destroy(&d.w);
}

static void a_restarted_worker_is_as_new(void **state)
{
    (void)state;
    struct fby_action r[2];
    struct driver     d = started(2, 1);
    r[0]                = nth_action(&d, FBY_DO_REQUEST, 0);
    r[1]                = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_busy(d.w, d.now, 0, r[0].id, 10 * S);
    fby_window_leave(d.w, d.now, 0);
    fby_window_hello_first(d.w, d.now, 0);
    assert_turn(&d, "HELLO 0");
    welcome(&d, 0, 99, &r[1].id, 1);
    assert_turn(&d, "CANCEL 0 #2; OPEN 0");
    fby_window_opened(d.w, d.now, 0);
    assert_turn(&d, "REQUEST 0 #3 step 0 slot 0; REQUEST 0 #4 step 1 slot 1");
    assert_counters(&d, "requests 4, rerequests 1, lost 1, busy 1, restarts 1");
    assert_int_equal(add(&d, 99), 0);
    assert_int_equal(add(&d, 1), 1); /* the old instance is unknown */
    fby_window_destroy(&d.w);
}

/* ---- One worker under two numbers ---------------------------------------- */

/* Worker 0, and worker 1 in its greeting. */
static struct driver about_to_be_double(void)
{
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)join(&d, 1);
    (void)add(&d, 2);
    assert_turn(&d, "CONNECT 1; HELLO 1");
    return d;
}

static void the_number_in_use_stays(void **state)
{
    (void)state;
    struct driver d = about_to_be_double();
    welcome(&d, 1, 1, NULL, 0);
    assert_turn(&d, "CLOSE 1; GONE 1");
    assert_int_equal(fby_window_n_usable_peers(d.w), 1);
    assert_counters(&d, "");
    fby_window_destroy(&d.w);
}

static void a_number_that_waits_makes_way(void **state)
{
    (void)state;
    struct driver d = about_to_be_double();
    fby_window_refused_full(d.w, d.now, 0);
    welcome(&d, 1, 1, NULL, 0);
    assert_turn(&d, "CLOSE 0; GONE 0; OPEN 1");
    assert_counters(&d, "restarts 1");
    assert_int_equal(add(&d, 3), 0);
    fby_window_destroy(&d.w);
}

static void a_number_that_is_not_connected_makes_way(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.max_peers_before_start   = 1;
    struct driver d            = driver_of(&c);
    (void)add(&d, 1);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    struct driver greeting = d;
    (void)add(&d, 2);
    assert_turn(&d, "");
    welcome(&greeting, 0, 2, NULL, 0);
    assert_turn(&d, "GONE 1; OPEN 0");
    fby_window_destroy(&d.w);
}

/* ---- HELLO_FIRST --------------------------------------------------------- */

static void a_second_hello_first_is_answered_by_the_hello_on_its_way(
    void **state)
{
    (void)state;
    struct fby_action r[2];
    struct driver     d = greeting(r);
    fby_window_hello_first(d.w, d.now, 0);
    assert_turn(&d, "");
    fby_window_destroy(&d.w);
}

/* ---- PONG ---------------------------------------------------------------- */

static void say_pong(struct driver *d, uint64_t instance, uint64_t seq)
{
    fby_window_pong(d->w, d->now, 0,
        &(struct fby_window_pong){.instance = {instance}, .sequence = seq});
}

/* A request before the first PING and one after it; *out is its number. */
static struct driver pinged(uint64_t *out)
{
    struct fby_window_config c = config_of(2);
    c.times.hedge_first        = 1000 * S;
    struct driver     d        = started_with(&c, 1);
    struct fby_action r        = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_after(&d, 1 * S, "PING 0");
    *out = nth_action(&d, FBY_DO_PING, 0).number;
    fby_window_lost(d.w, d.now, 0, r.id);
    assert_turn(&d, "REQUEST 0 #3 step 0 slot 0");
    return d;
}

static void a_pong_that_names_nothing_loses_what_was_asked_before_its_ping(
    void **state)
{
    (void)state;
    uint64_t      ping;
    struct driver d = pinged(&ping);
    say_pong(&d, 1, ping);
    assert_turn(&d, "REQUEST 0 #4 step 1 slot 1");
    assert_counters(&d, "requests 4, rerequests 2, lost 2");
    fby_window_destroy(&d.w);
}

static void pongs_that_say_nothing_of_the_session_are_ignored(void **state)
{
    (void)state;
    uint64_t      ping;
    struct driver d = pinged(&ping);
    say_pong(&d, 1, 0);          /* of a PING before its requests */
    say_pong(&d, 1, ping + 1);   /* of a PING that was not sent */
    say_pong(&d, 1, UINT64_MAX); /* the same */
    say_pong(&d, 2, ping);       /* of another instance */
    assert_turn(&d, "");
    fby_window_hello_first(d.w, d.now, 0);
    say_pong(&d, 1, ping); /* of a route that is over */
    assert_turn(&d, "HELLO 0");
    assert_counters(&d, "requests 3, rerequests 1, lost 1");
    fby_window_destroy(&d.w);
}

static void a_pong_names_what_goes_on(void **state)
{
    (void)state;
    uint64_t                    ping;
    struct driver               d      = pinged(&ping);
    const struct fby_request_id open[] = {{77}, {2}};
    fby_window_pong(d.w, d.now, 0,
        &(struct fby_window_pong){
            .instance = {1}, .sequence = ping, .open_ids = open, .n_open = 2});
    assert_turn(&d, "");
    assert_counters(&d, "requests 3, rerequests 1, lost 1");
    fby_window_destroy(&d.w);
}

static void a_pong_loses_audits_that_were_asked_before_its_ping(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.hedge_first        = 1000 * S;
    c.audit                    = 1;
    struct driver     d        = started_with(&c, 2);
    struct fby_action second   = nth_action(&d, FBY_DO_REQUEST, 1);
    wait(&d, 1 * S);
    struct fby_window_pong pong = {.instance = {(uint64_t)second.peer + 1}};
    fby_window_pong(d.w, d.now, second.peer, &pong);
    assert_counters(&d, "requests 2");
    pong.sequence = action_for(&d, FBY_DO_PING, second.peer).number;
    fby_window_pong(d.w, d.now, second.peer, &pong);
    assert_counters(&d, "requests 2, lost 1, audits_skipped 1");
    fby_window_destroy(&d.w);
}

static void a_pong_loses_no_audit_that_was_asked_after_its_ping(void **state)
{
    (void)state;
    struct driver     d    = audited(1, 2, 1);
    struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 0);
    wait(&d, 1 * S);
    struct fby_window_pong pongs[2];
    for (int peer = 0; peer < 2; peer++) {
        pongs[peer] = (struct fby_window_pong){.instance = {(uint64_t)peer + 1},
            .sequence = action_for(&d, FBY_DO_PING, peer).number};
    }
    answer(&d, &main);
    take_and_release(&d, 0);
    turn(&d); /* asks for step 1, of both */
    uint64_t lost = counters(&d).lost;
    uint64_t open = counters(&d).requests;
    fby_window_pong(d.w, d.now, 0, &pongs[0]);
    fby_window_pong(d.w, d.now, 1, &pongs[1]);
    assert_int_equal(counters(&d).lost, lost + 1); /* the audit of step 0 */
    assert_int_equal(
        fby_window_audit_index(d.w, (struct fby_request_id){open}), 1);
    fby_window_destroy(&d.w);
}

/* ---- OPENED, LEAVE ------------------------------------------------------- */

static void opened_while_greeting_is_remembered(void **state)
{
    (void)state;
    struct fby_window_config c    = config_of(1);
    struct driver            d    = driver_of(&c);
    int                      peer = add(&d, 1);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    fby_window_opened(d.w, d.now, peer);
    assert_int_equal(fby_window_n_usable_peers(d.w), 0);
    welcome(&d, peer, 1, NULL, 0);
    assert_turn(&d, "");
    assert_int_equal(fby_window_n_usable_peers(d.w), 1);
    fby_window_destroy(&d.w);
}

static void a_worker_that_leaves_is_asked_nothing_and_parts(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_leave(d.w, d.now, 0);
    assert_turn(&d, "");
    fby_window_lost(d.w, d.now, 0, r.id);
    assert_turn(&d, "BYE 0; CLOSE 0; GONE 0");
    assert_int_equal(fby_window_n_usable_peers(d.w), 0);
    fby_window_destroy(&d.w);
}

static void a_worker_that_left_while_it_was_opened_is_not_asked(void **state)
{
    (void)state;
    struct driver     d = started(2, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_send_content(d.w, d.now, 0, r.id);
    assert_turn(&d, "OPEN 0");
    fby_window_leave(d.w, d.now, 0);
    fby_window_opened(d.w, d.now, 0);
    assert_turn(&d, ""); /* it still owes step 1 */
    assert_int_equal(fby_window_n_usable_peers(d.w), 0);
    fby_window_destroy(&d.w);
}

static void a_worker_that_left_while_greeting_leaves_after_welcome(void **state)
{
    (void)state;
    struct fby_action r[2];
    struct driver     d      = greeting(r);
    struct driver     before = d;
    fby_window_leave(d.w, d.now, 0);
    assert_turn(&d, "");
    welcome(&before, 0, 1, &r[0].id, 1);
    assert_turn(&d, "");
    assert_int_equal(fby_window_n_usable_peers(d.w), 0);
    answer(&d, &r[0]);
    assert_turn(&d, "BYE 0; CLOSE 0; GONE 0");
    assert_counters(&d, "requests 2, lost 1, reconnects 1");
    fby_window_destroy(&d.w);
}

static void a_leaving_worker_that_fails_is_gone(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    fby_window_leave(d.w, d.now, 0);
    fby_window_unreachable(d.w, d.now, 0);
    assert_turn(&d, "UNREACHABLE 0; CLOSE 0; GONE 0");
    fby_window_destroy(&d.w);
}

/* ---- FULL, a breach ------------------------------------------------------ */

static void a_full_worker_is_tried_again_without_a_word_to_the_server(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)add(&d, 1);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    fby_window_refused_full(d.w, d.now, 0);
    assert_turn(&d, "CLOSE 0");
    wait(&d, 1 * S);
    assert_actions(&d, "CONNECT 0; HELLO 0");
    assert_counters(&d, "");
    fby_window_destroy(&d.w);
}

static void a_breach_is_counted_and_backed_off_from(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    fby_window_breach(d.w, d.now, 0);
    assert_turn(&d, "CLOSE 0");
    wait(&d, 1 * S);
    assert_actions(&d, "CONNECT 0; HELLO 0");
    assert_counters(&d, "requests 1, lost 1, breaches 1");
    fby_window_destroy(&d.w);
}

/* ---- Set aside ----------------------------------------------------------- */

static void a_worker_is_set_aside_once_and_for_all(void **state)
{
    (void)state;
    struct driver d = started(1, 2);
    fby_window_set_aside(d.w, d.now, 0, 5);
    fby_window_set_aside(d.w, d.now, 0, 6);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_BYE, 0), 1);
    assert_int_equal(count(&d, FBY_DO_CLOSE, 0), 1);
    assert_int_equal(add(&d, 1), 0); /* listed again */
    fby_window_refused_full(d.w, d.now, 1);
    assert_turn(&d, "CLOSE 1");
    wait(&d, 1 * S);
    assert_int_equal(count(&d, FBY_DO_CONNECT, 0), 0);
    assert_int_equal(counters(&d).set_aside, 1);
    assert_failed(&d, "");
    fby_window_destroy(&d.w);
}

static void a_worker_that_is_not_connected_can_be_set_aside(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.max_peers_before_start   = 1;
    struct driver d            = driver_of(&c);
    (void)add(&d, 1);
    (void)add(&d, 2);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    fby_window_set_aside(d.w, d.now, 1, 5);
    assert_turn(&d, "");
    assert_failed(&d, "");
    fby_window_set_aside(d.w, d.now, 0, 6);
    assert_turn(&d, "BYE 0; CLOSE 0; FAIL 0");
    assert_failed(&d, "ASIDE 6, peers 0 and -1, step 0 #0");
    assert_counters(&d, "set_aside 2");
    fby_window_destroy(&d.w);
}

static void a_worker_in_backoff_that_is_set_aside_is_not_tried_again(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)add(&d, 1);
    (void)add(&d, 2);
    assert_turn(&d, "CONNECT 0; HELLO 0; CONNECT 1; HELLO 1");
    fby_window_refused_full(d.w, d.now, 1);
    fby_window_set_aside(d.w, d.now, 1, 5);
    assert_turn(&d, "CLOSE 1");
    assert_int_equal(add(&d, 2), 1);
    assert_int_equal(add(&d, 3), 2);
    wait(&d, 1 * S);
    assert_int_equal(count(&d, FBY_DO_CONNECT, 1), 0);
    fby_window_destroy(&d.w);
}

static void workers_that_are_gone_do_not_keep_a_stream_alive(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)add(&d, 1);
    (void)add(&d, 2);
    fby_window_peer_unlist(d.w, d.now, 0);
    fby_window_set_aside(d.w, d.now, 1, 5);
    assert_turn(&d, "GONE 0; FAIL 1");
    assert_failed(&d, "ASIDE 5, peers 1 and -1, step 0 #0");
    fby_window_destroy(&d.w);
}

static void ready_batches_are_delivered_when_all_workers_are_set_aside(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(5);
    struct driver            d = driver_of(&c);
    struct fby_window_batch  batch;
    (void)join(&d, 1);
    (void)add(&d, 2);
    start_at(&d, 3, 9);
    for (int i = 0; i < 5; i++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, i);
        answer(&d, &r);
    }
    fby_window_set_aside(d.w, d.now, 0, 5);
    assert_failed(&d, "");
    fby_window_peer_unlist(d.w, d.now, 1);
    fby_window_unreachable(d.w, d.now, 1);
    int third = add(&d, 3);
    fby_window_set_aside(d.w, d.now, third, 6);
    assert_failed(&d, "ASIDE 6, peers 1 and -1, step 1.2 #0");
    for (uint64_t at = 0; at < 5; at++) {
        take_and_release(&d, at % 3);
    }
    assert_int_equal(take(&d, &batch), FBY_IO);
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_welcome_of_the_last_hello_counts),
        cmocka_unit_test(every_hello_has_a_route_of_its_own),
        cmocka_unit_test(named_requests_go_on_and_others_are_lost),
        cmocka_unit_test(requests_that_are_not_waited_for_are_cancelled),
        cmocka_unit_test(a_delivered_batch_that_is_named_is_not_cancelled),
        cmocka_unit_test(a_request_named_by_another_worker_is_cancelled_there),
        cmocka_unit_test(every_reconnect_is_counted),
        cmocka_unit_test(a_worker_is_a_reconnect_once_it_was_opened),
        cmocka_unit_test(a_restarted_worker_is_as_new),
        cmocka_unit_test(the_number_in_use_stays),
        cmocka_unit_test(a_number_that_waits_makes_way),
        cmocka_unit_test(a_number_that_is_not_connected_makes_way),
        cmocka_unit_test(
            a_second_hello_first_is_answered_by_the_hello_on_its_way),
        cmocka_unit_test(
            a_pong_that_names_nothing_loses_what_was_asked_before_its_ping),
        cmocka_unit_test(pongs_that_say_nothing_of_the_session_are_ignored),
        cmocka_unit_test(a_pong_names_what_goes_on),
        cmocka_unit_test(a_pong_loses_audits_that_were_asked_before_its_ping),
        cmocka_unit_test(a_pong_loses_no_audit_that_was_asked_after_its_ping),
        cmocka_unit_test(opened_while_greeting_is_remembered),
        cmocka_unit_test(a_worker_that_leaves_is_asked_nothing_and_parts),
        cmocka_unit_test(a_worker_that_left_while_it_was_opened_is_not_asked),
        cmocka_unit_test(
            a_worker_that_left_while_greeting_leaves_after_welcome),
        cmocka_unit_test(a_leaving_worker_that_fails_is_gone),
        cmocka_unit_test(
            a_full_worker_is_tried_again_without_a_word_to_the_server),
        cmocka_unit_test(a_breach_is_counted_and_backed_off_from),
        cmocka_unit_test(a_worker_is_set_aside_once_and_for_all),
        cmocka_unit_test(a_worker_that_is_not_connected_can_be_set_aside),
        cmocka_unit_test(
            a_worker_in_backoff_that_is_set_aside_is_not_tried_again),
        cmocka_unit_test(workers_that_are_gone_do_not_keep_a_stream_alive),
        cmocka_unit_test(
            ready_batches_are_delivered_when_all_workers_are_set_aside),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_messages", tests, NULL, NULL);
}
