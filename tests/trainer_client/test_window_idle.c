/* SPDX-License-Identifier: Apache-2.0 */
/* CREDIT for received bytes, and idle workers. */
#include "tests/trainer_client/window_words.h"

/* ---- CREDIT -------------------------------------------------------------- */

static void chunk_of(
    struct driver *d, const struct fby_action *r, uint32_t n, uint64_t bytes)
{
    (void)fby_window_chunk(d->w, d->now,
        &(struct fby_window_chunk){
            .peer = r->peer, .id = r->id, .chunk = n, .wire_bytes = bytes});
}

/* A request of eight chunks; the peer's send window is 1000 bytes. */
static struct driver receiving(struct fby_action *out)
{
    struct driver d = started(1, 1);
    *out            = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, out, 8), FBY_TAKE);
    return d;
}

static void an_eighth_of_the_send_window_is_credited_at_once(void **state)
{
    (void)state;
    struct fby_action r;
    struct driver     d = receiving(&r);
    chunk_of(&d, &r, 0, 124);
    assert_turn(&d, "");
    chunk_of(&d, &r, 1, 1);
    assert_turn(&d, "CREDIT 0 125");
    assert_turn(&d, "");
    chunk_of(&d, &r, 2, 124);
    assert_turn(&d, "");
    chunk_of(&d, &r, 3, 2);
    assert_turn(&d, "CREDIT 0 251");
    fby_window_destroy(&d.w);
}

/* While a byte is uncredited, the worker may not send a chunk of 1000 bytes. */
static void all_is_credited_at_once_if_the_next_chunk_may_not_fit(void **state)
{
    (void)state;
    struct fby_action r;
    struct driver     d = receiving(&r);
    chunk_of(&d, &r, 0, 1);
    assert_turn(&d, "");
    chunk_of(&d, &r, 1, 1000);
    assert_turn(&d, "CREDIT 0 1001");
    chunk_of(&d, &r, 2, 1);
    assert_turn(&d, "CREDIT 0 1002");
    fby_window_destroy(&d.w);
}

static void fewer_bytes_are_credited_after_a_while(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.credit             = 7 * MS;
    struct driver     d        = started_with(&c, 1);
    struct fby_action r        = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 8), FBY_TAKE);
    wait(&d, 100 * MS);
    chunk_of(&d, &r, 0, 1);
    wait(&d, 3 * MS);
    chunk_of(&d, &r, 1, 1);
    assert_after(&d, 4 * MS, "CREDIT 0 2");
    wait(&d, 100 * MS);
    assert_actions(&d, "");
    chunk_of(&d, &r, 2, 3);
    wait(&d, 7 * MS - 1);
    assert_turn(&d, "");
    d.now += 1;
    assert_turn(&d, "CREDIT 0 5");
    fby_window_destroy(&d.w);
}

static void no_bytes_are_no_credit(void **state)
{
    (void)state;
    struct fby_action r;
    struct driver     d = receiving(&r);
    chunk_of(&d, &r, 0, 0);
    wait(&d, 100 * MS);
    assert_actions(&d, "");
    fby_window_destroy(&d.w);
}

static void bytes_that_come_at_time_0_are_credited_too(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = {.now = 0};
    struct fby_error_detail  why;
    assert_ok(fby_window_create(&c, d.now, &d.w, &why));
    (void)join(&d, 1);
    start_at(&d, 1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    chunk_of(&d, &r, 0, 7);
    wait(&d, 50 * MS);
    assert_actions(&d, "");
    wait(&d, 1); /* 0 means none, so time 0 is recorded as 1 ns */
    assert_actions(&d, "CREDIT 0 7");
    fby_window_destroy(&d.w);
}

/* Also chunks that come twice, late or under an unknown id. */
static void every_chunk_is_credited(void **state)
{
    (void)state;
    struct fby_action r;
    struct driver     d     = receiving(&r);
    struct fby_action other = r;
    other.id.value          = 99;
    chunk_of(&d, &r, 0, 10);
    chunk_of(&d, &r, 0, 20);
    decoded(&d, &r, true);
    fby_window_lost(d.w, d.now, 0, r.id);
    chunk_of(&d, &r, 0, 100);
    chunk_of(&d, &other, 0, 50);
    assert_turn(&d, "CREDIT 0 180; REQUEST 0 #2 step 0 slot 0");
    assert_counters(&d, "requests 2, rerequests 1, late 1, duplicates 1, "
                        "unknown 1, lost 1");
    fby_window_destroy(&d.w);
}

static void a_new_route_has_its_own_send_window(void **state)
{
    (void)state;
    struct fby_action r;
    struct driver     d = receiving(&r);
    chunk_of(&d, &r, 0, 200);
    assert_turn(&d, "CREDIT 0 200");
    chunk_of(&d, &r, 1, 100);
    fby_window_hello_first(d.w, d.now, 0);
    assert_turn(&d, "HELLO 0");
    uint64_t route = nth_action(&d, FBY_DO_HELLO, 0).number;
    fby_window_welcome(d.w, d.now, 0,
        &(struct fby_window_welcome){.instance = {1},
            .route                             = route,
            .send_window                       = 400,
            .open_ids                          = &r.id,
            .n_open                            = 1});
    wait(&d, 10 * MS);
    assert_actions(&d, ""); /* the bytes of the old route are forgotten */
    chunk_of(&d, &r, 2, 49);
    assert_turn(&d, "");
    chunk_of(&d, &r, 3, 1);
    assert_turn(&d, "CREDIT 0 50");
    assert_int_equal(nth_action(&d, FBY_DO_CREDIT, 0).route, route);
    fby_window_destroy(&d.w);
}

static void no_credit_is_sent_after_close(void **state)
{
    (void)state;
    struct fby_action r;
    struct driver     d = receiving(&r);
    chunk_of(&d, &r, 0, 100);
    decoded(&d, &r, true);
    fby_window_refused_full(d.w, d.now, 0);
    assert_turn(&d, "CLOSE 0");
    wait(&d, 1 * S);
    assert_actions(&d, "CONNECT 0; HELLO 0");
    struct driver greeted = d;
    wait(&d, 20 * MS);
    assert_actions(&d, "");
    welcome(&greeted, 0, 1, NULL, 0);
    turn(&d);
    wait(&d, 20 * MS);
    assert_actions(&d, "");
    fby_window_destroy(&d.w);
}

/* ---- Idle ---------------------------------------------------------------- */

/* Worker 0, which answered the only request 2 s after the start. */
static struct driver idle_after_2_s(void)
{
    struct fby_window_config c = config_of(1);
    c.times.ping               = 1000 * S;
    c.times.reach              = 2000 * S;
    c.times.hedge_first        = 1000 * S;
    c.times.warn               = 1000 * S;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 1, 2);
    struct fby_action r0 = nth_action(&d, FBY_DO_REQUEST, 0);
    d.now += 1 * S;
    (void)fby_window_deadline(d.w);
    fby_window_tick(d.w, d.now);
    wait(&d, 1 * S);
    assert_actions(&d, "");
    assert_int_equal(header(&d, &r0, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r0, 1), FBY_TAKE);
    return d;
}

static void a_worker_is_idle_from_its_last_request_on(void **state)
{
    (void)state;
    struct driver d = idle_after_2_s();
    assert_turn(&d, "");
    wait(&d, 10 * S);
    take_and_release(&d, 0);
    turn(&d); /* asks for step 1 */
    struct fby_action r1 = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(r1.epoch, 1);
    assert_int_equal(header(&d, &r1, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r1, 1), FBY_TAKE);
    assert_after(&d, 60 * S, "BYE 0; CLOSE 0");
    assert_int_equal(fby_window_n_usable_peers(d.w), 0);
    fby_window_destroy(&d.w);
}

static void a_worker_that_was_closed_is_connected_when_it_is_needed(
    void **state)
{
    (void)state;
    struct driver d = idle_after_2_s();
    assert_after(&d, 59 * S, "BYE 0; CLOSE 0"); /* a tick saw it ask at 1 s */
    take_and_release(&d, 0);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    welcome(&d, 0, 1, NULL, 0);
    assert_turn(&d, "REQUEST 0 #2 step 1.0 slot 0");
    fby_window_lost(d.w, d.now, 0, (struct fby_request_id){2});
    fby_window_leave(d.w, d.now, 0);
    assert_turn(&d, "BYE 0; CLOSE 0; GONE 0");
    fby_window_destroy(&d.w);
}

/* Opened already, it is READY at its WELCOME, but nothing is asked of it. */
static void a_worker_is_not_idle_while_it_is_connected(void **state)
{
    (void)state;
    struct driver d = idle_after_2_s();
    wait(&d, 59 * S);
    assert_actions(&d, "BYE 0; CLOSE 0");
    take_and_release(&d, 0);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    welcome(&d, 0, 1, NULL, 0);
    turn(&d);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_after(&d, 60 * S, "BYE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

/* Greeted, welcomed and opened 1 s apart, and never asked. */
static void a_worker_that_is_never_asked_is_idle_from_opened_on(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.ping               = 1000 * S;
    c.times.reach              = 2000 * S;
    c.times.warn               = 1000 * S;
    struct driver d            = driver_of(&c);
    (void)add(&d, 1);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    struct driver greeted = d;
    wait(&d, 1 * S);
    welcome(&greeted, 0, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    wait(&d, 1 * S);
    fby_window_opened(d.w, d.now, 0);
    start_at(&d, 1, 0);
    assert_after(&d, 60 * S, "BYE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

static void a_worker_that_is_not_opened_yet_is_not_idle(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.ping               = 1000 * S;
    c.times.reach              = 2000 * S;
    c.times.warn               = 1000 * S;
    struct driver d            = driver_of(&c);
    (void)add(&d, 1);
    assert_turn(&d, "CONNECT 0; HELLO 0");
    welcome(&d, 0, 1, NULL, 0);
    assert_turn(&d, "OPEN 0");
    start_at(&d, 1, 0);
    wait(&d, 200 * S);
    assert_actions(&d, "");
    assert_turn(&d, "");
    fby_window_destroy(&d.w);
}

static uint64_t no_bytes(const void *context, uint64_t epoch, uint64_t step)
{
    (void)context;
    (void)epoch;
    (void)step;
    return 0;
}

static void a_batch_of_no_bytes_is_owed_too(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    struct fby_error_detail  why;
    (void)join(&d, 1);
    assert_ok(fby_window_start(d.w, d.now,
        &(struct fby_window_plan){
            .steps_per_epoch = 1, .total = 1, .bytes = no_bytes},
        &why));
    assert_turn(&d, "REQUEST 0 #1 step 0 slot 0 of 0");
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_leave(d.w, d.now, 0);
    assert_turn(&d, "");
    assert_int_equal(header(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_turn(&d, "BYE 0; CLOSE 0; GONE 0");
    fby_window_destroy(&d.w);
}

/* Worker 0 has answered steps 0 and 1 and was closed; worker 1 has the rest. */
static void a_worker_that_is_connected_again_is_not_idle_at_once(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(4);
    c.times.ping               = 1000 * S;
    c.times.reach              = 2000 * S;
    c.times.hedge_first        = 1000 * S;
    struct driver d            = started_with(&c, 2);
    for (int i = 0; i < 2; i++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, i);
        assert_int_equal(r.peer, 0);
        assert_int_equal(header(&d, &r, 0), FBY_TAKE);
        assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    }
    wait(&d, 61 * S);
    assert_actions(&d, "BYE 0; CLOSE 0");
    take_and_release(&d, 0);
    assert_turn(&d, "CONNECT 0; HELLO 0; REQUEST 1 #5 step 4 slot 0");
    welcome(&d, 0, 1, NULL, 0);
    assert_turn(&d, "");
    assert_after(&d, 60 * S, "BYE 0; CLOSE 0");
    fby_window_destroy(&d.w);
}

static void before_the_start_no_worker_is_idle(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.ping               = 1000 * S;
    c.times.reach              = 2000 * S;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    wait(&d, 100 * S);
    assert_actions(&d, "");
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_eighth_of_the_send_window_is_credited_at_once),
        cmocka_unit_test(all_is_credited_at_once_if_the_next_chunk_may_not_fit),
        cmocka_unit_test(fewer_bytes_are_credited_after_a_while),
        cmocka_unit_test(no_bytes_are_no_credit),
        cmocka_unit_test(bytes_that_come_at_time_0_are_credited_too),
        cmocka_unit_test(every_chunk_is_credited),
        cmocka_unit_test(a_new_route_has_its_own_send_window),
        cmocka_unit_test(no_credit_is_sent_after_close),
        cmocka_unit_test(a_worker_is_idle_from_its_last_request_on),
        cmocka_unit_test(
            a_worker_that_was_closed_is_connected_when_it_is_needed),
        cmocka_unit_test(a_worker_is_not_idle_while_it_is_connected),
        cmocka_unit_test(a_worker_that_is_never_asked_is_idle_from_opened_on),
        cmocka_unit_test(a_worker_that_is_not_opened_yet_is_not_idle),
        cmocka_unit_test(a_batch_of_no_bytes_is_owed_too),
        cmocka_unit_test(a_worker_that_is_connected_again_is_not_idle_at_once),
        cmocka_unit_test(before_the_start_no_worker_is_idle),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_idle", tests, NULL, NULL);
}
