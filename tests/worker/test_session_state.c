/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a session at their limits. */
#include "tests/test.h"

#include "tests/worker/session_driver.h"

static struct fby_request_id id_of(uint64_t value)
{
    return (struct fby_request_id){value};
}

static void check_state(
    const struct driver *d, const struct fby_session_state *right)
{
    struct fby_session_state got = fby_session_state(d->s);
    assert_int_equal(got.route, right->route);
    assert_int_equal(got.sent, right->sent);
    assert_int_equal(got.credited, right->credited);
    assert_int_equal(got.open, right->open);
    assert_int_equal(got.charged, right->charged);
    assert_int_equal(got.entitled, right->entitled);
    assert_int_equal(got.leaving, right->leaving);
}

static void expect_chunk(
    struct driver *d, uint64_t id, uint32_t chunk, uint32_t wire_bytes)
{
    struct fby_session_item item = {0};
    assert_true(fby_session_next(d->s, 0, &item));
    assert_int_equal(item.kind, FBY_SEND_CHUNK);
    assert_int_equal(item.id.value, id);
    assert_int_equal(item.chunk, chunk);
    assert_int_equal(item.wire_bytes, wire_bytes);
}

static void the_defaults_are_those_of_the_header(void **state)
{
    (void)state;
    struct fby_session_config c = fby_session_defaults();
    assert_int_equal(c.send_window, 16 << 20);
    assert_int_equal(c.max_batches, 64);
    assert_int_equal(c.retry_ns, 50 * FBY_NS_PER_MS);
    assert_int_equal(c.lease_ns, 10 * S);
    assert_int_equal(c.stall_limit_ns, S);
}

static void a_session_counts_what_is_open_charged_sent_and_credited(
    void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    struct fby_session_state now = {.route = 7};
    check_state(&d, &now);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    now.entitled = BATCH;
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    now.open    = 2;
    now.charged = UINT64_C(2) * BATCH;
    check_state(&d, &now);
    make(&d, 1, 2, 30);
    expect(&d, FBY_SEND_HEADER, 1);
    expect_chunk(&d, 1, 0, 30);
    expect_chunk(&d, 1, 1, 30);
    assert_ok(fby_session_credit(d.s, 0, 7, 30));
    now.sent     = 60;
    now.credited = 30;
    check_state(&d, &now);
    expect(&d, FBY_SEND_END, 1);
    now.open = 1;
    check_state(&d, &now);
    fby_session_drop(d.s, id_of(2));
    now.open = 0;
    check_state(&d, &now);
    fby_session_freed(d.s, id_of(1));
    now.charged = BATCH;
    check_state(&d, &now);
    finish(&d);
}

static void chunks_go_out_in_the_order_in_which_they_became_ready(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_ok(fby_session_header(d.s, id_of(1), d.chunks[1], 3));
    assert_ok(fby_session_chunk_ready(
        d.s, id_of(1), (struct fby_session_chunk){2, 5}));
    expect(&d, FBY_SEND_HEADER, 1);
    expect_chunk(&d, 1, 2, 5);
    expect_nothing(&d);
    assert_ok(fby_session_chunk_ready(
        d.s, id_of(1), (struct fby_session_chunk){0, 6}));
    assert_ok(fby_session_chunk_ready(
        d.s, id_of(1), (struct fby_session_chunk){1, 7}));
    expect_chunk(&d, 1, 0, 6);
    expect_chunk(&d, 1, 1, 7);
    expect_nothing(&d);
    assert_ok(fby_session_all_ready(d.s, id_of(1)));
    expect(&d, FBY_SEND_END, 1);
    finish(&d);
}

static void batches_of_one_step_go_in_the_order_of_requests(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 3), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 3), FBY_SESSION_ACCEPT);
    make(&d, 1, 0, 0);
    make(&d, 2, 0, 0);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_END, 1);
    expect(&d, FBY_SEND_HEADER, 2);
    finish(&d);
}

static void the_window_is_used_up_to_its_last_byte(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 2, 50);
    expect(&d, FBY_SEND_HEADER, 1);
    expect_chunk(&d, 1, 0, 50);
    expect_chunk(&d, 1, 1, 50);
    expect(&d, FBY_SEND_END, 1);
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    make(&d, 2, 1, 51);
    expect(&d, FBY_SEND_HEADER, 2);
    expect_nothing(&d);
    assert_ok(fby_session_credit(d.s, 0, 7, 50));
    expect_nothing(&d); /* one byte too many */
    assert_ok(fby_session_credit(d.s, 0, 7, 51));
    expect_chunk(&d, 2, 0, 51);
    expect(&d, FBY_SEND_END, 2);
    finish(&d);
}

static void a_smaller_window_waits_for_credit(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 2, 40);
    expect(&d, FBY_SEND_HEADER, 1);
    expect_chunk(&d, 1, 0, 40);
    fby_session_set_window(d.s, 30);
    expect_nothing(&d);
    assert_ok(fby_session_credit(d.s, 0, 7, 10));
    expect_nothing(&d);
    fby_session_set_window(d.s, 70);
    expect_chunk(&d, 1, 1, 40);
    expect(&d, FBY_SEND_END, 1);
    finish(&d);
}

/* Requests of 0 bytes join other work; only their number is limited. */
static void no_more_batches_than_allowed_are_open(void **state)
{
    (void)state;
    struct driver              d = {0};
    struct fby_session_request r = {.id = {1}};
    begin(&d, 1);
    for (; r.id.value <= MANY; r.id.value++) {
        assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_ACCEPT);
    }
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_BUSY);
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_REPEATED);
    fby_session_cancel(d.s, 0, id_of(3));
    r.id.value++;
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_BUSY);
    fby_session_freed(d.s, id_of(3));
    r.id.value++;
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_ACCEPT);
    assert_int_equal(fby_session_state(d.s).open, MANY);
    fby_session_bye(d.s);
    assert_int_equal(fby_session_state(d.s).open, 0);
    fby_session_destroy(&d.s);
}

static void a_batch_of_the_whole_budget_is_not_too_large(void **state)
{
    (void)state;
    struct driver              d = {0};
    struct fby_session_request r = {
        .id = {1}, .bytes = UINT64_C(2) * BATCH + 1};
    begin(&d, 2);
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_TOO_LARGE);
    r = (struct fby_session_request){.id = {2}, .bytes = UINT64_C(2) * BATCH};
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_ACCEPT);
    assert_int_equal(fby_session_state(d.s).charged, UINT64_C(2) * BATCH);
    finish(&d);
}

/* Lose a batch of which nothing was sent. */
static void lose(struct driver *d, uint64_t id)
{
    assert_int_equal(request(d, id, id), FBY_SESSION_ACCEPT);
    assert_int_equal(fby_session_shed_batch(d->s).value, id);
    fby_session_freed(d->s, id_of(id));
}

static void lost_batches_are_reported_up_to_a_limit(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    for (uint64_t id = 1; id <= MANY + 2; id++) {
        lose(&d, id);
    }
    for (uint64_t id = MANY; id >= 1; id--) {
        expect(&d, FBY_SEND_LOST, id);
    }
    expect_nothing(&d);
    lose(&d, MANY + 3);
    expect(&d, FBY_SEND_LOST, MANY + 3);
    finish(&d);
}

static void a_new_route_gets_no_earlier_lost(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    lose(&d, 1);
    fby_session_hello(d.s, 0, 8);
    expect_nothing(&d);
    lose(&d, 2);
    fby_session_route_lost(d.s);
    expect_nothing(&d);
    finish(&d);
}

static void after_bye_nothing_is_open_promised_or_sent(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    make(&d, 1, 1, 10);
    assert_int_equal(fby_session_shed_batch(d.s).value, 2);
    fby_session_bye(d.s);
    const struct fby_session_state left = {
        .charged = UINT64_C(2) * BATCH, .leaving = true};
    check_state(&d, &left);
    assert_int_equal(d.budget.entitled, 0);
    assert_false(fby_session_is_open(d.s, id_of(1)));
    fby_session_hello(d.s, 0, 9);
    expect_nothing(&d); /* nor the LOST */
    assert_int_equal(request(&d, 3, 0), FBY_SESSION_LOST);
    finish(&d);
}

static void an_ended_batch_takes_no_more_chunks(void **state)
{
    (void)state;
    struct driver                  d     = {0};
    const struct fby_session_chunk chunk = {0, 10};
    begin(&d, 4);
    assert_int_equal(
        fby_session_header(d.s, id_of(1), d.chunks[1], 1), FBY_GONE);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(fby_session_all_ready(d.s, id_of(1)), FBY_USAGE);
    assert_ok(fby_session_header(d.s, id_of(1), d.chunks[1], 1));
    fby_session_drop(d.s, id_of(1));
    fby_session_drop(d.s, id_of(1));
    assert_int_equal(fby_session_chunk_ready(d.s, id_of(1), chunk), FBY_GONE);
    assert_int_equal(fby_session_all_ready(d.s, id_of(1)), FBY_GONE);
    fby_session_freed(d.s, id_of(1));
    expect_nothing(&d); /* no LOST: the caller answers */
    fby_session_freed(d.s, id_of(1));
    assert_int_equal(d.budget.charged, 0);
    finish(&d);
}

static void credit_counts_on_its_own_route_alone(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 1, 50);
    expect(&d, FBY_SEND_HEADER, 1);
    expect_chunk(&d, 1, 0, 50);
    assert_int_equal(fby_session_credit(d.s, 0, 7, 51), FBY_PROTO);
    assert_ok(fby_session_credit(d.s, 0, 6, 50));
    assert_int_equal(fby_session_state(d.s).credited, 0);
    fby_session_route_lost(d.s);
    assert_ok(fby_session_credit(d.s, 0, 0, 50));
    assert_ok(fby_session_credit(d.s, 0, 7, 50));
    const struct fby_session_state now = {
        .sent = 50, .open = 1, .charged = BATCH, .entitled = BATCH};
    check_state(&d, &now);
    finish(&d);
}

static void a_new_route_starts_without_uncredited_bytes(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 2, 50);
    expect(&d, FBY_SEND_HEADER, 1);
    expect_chunk(&d, 1, 0, 50);
    expect_chunk(&d, 1, 1, 50);
    assert_ok(fby_session_credit(d.s, 0, 7, 40));
    fby_session_hello(d.s, 0, 8);
    const struct fby_session_state now = {
        .route = 8, .open = 1, .charged = BATCH, .entitled = BATCH};
    check_state(&d, &now);
    expect(&d, FBY_SEND_HEADER, 1);
    expect_chunk(&d, 1, 0, 50);
    expect_chunk(&d, 1, 1, 50);
    finish(&d);
}

/* ---- Time ---------------------------------------------------------------- */

/* Check that a session silent since `since_ns` expires after one lease. */
static void expires(struct driver *d, int64_t since_ns)
{
    assert_false(fby_session_expired(d->s, since_ns + 10 * S));
    assert_true(fby_session_expired(d->s, since_ns + 10 * S + 1));
}

static void every_message_of_a_client_ends_its_silence(void **state)
{
    (void)state;
    struct driver             d = {0};
    struct fby_session_config c = config();
    fby_budget_init(&d.budget, BATCH);
    d.s = fby_session_create(&c, &d.budget, BATCH, 5 * S);
    expires(&d, 5 * S);
    fby_session_hello(d.s, 6 * S, 7);
    expires(&d, 6 * S);
    fby_session_heard(d.s, 7 * S);
    expires(&d, 7 * S);
    const struct fby_session_request r = {.id = {1}};
    assert_int_equal(fby_session_request(d.s, 8 * S, &r), FBY_SESSION_ACCEPT);
    expires(&d, 8 * S);
    fby_session_cancel(d.s, 9 * S, id_of(4));
    expires(&d, 9 * S);
    assert_int_equal(fby_session_credit(d.s, 10 * S, 7, 1), FBY_PROTO);
    expires(&d, 10 * S);
    fby_session_route_lost(d.s);
    expires(&d, 10 * S);
    fby_session_extend_lease(d.s, 3 * S); /* the worker was stopped */
    expires(&d, 13 * S);
    finish(&d);
}

/* Open two batches beyond the entitlement of one, and send a chunk of one batch
 * at `now_ns`. */
static void begin_surplus(struct driver *d, int64_t now_ns)
{
    struct fby_session_item item;
    begin(d, 3);
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(request(d, id, id), FBY_SESSION_ACCEPT);
    }
    make(d, 1, 2, 60);
    expect(d, FBY_SEND_HEADER, 1);
    assert_true(fby_session_next(d->s, now_ns, &item));
    assert_int_equal(item.kind, FBY_SEND_CHUNK);
}

static bool must_shed(struct driver *d, int64_t now_ns)
{
    struct fby_session *const all[] = {d->s};
    return fby_session_choose_victim(all, 1, NULL, now_ns) == d->s;
}

/* Time does not count while all bytes sent are credited. */
static void a_session_stalls_a_second_after_an_uncredited_send(void **state)
{
    (void)state;
    struct driver           d = {0};
    struct fby_session_item item;
    begin_surplus(&d, 50 * S);
    assert_false(fby_session_next(d.s, 51 * S, &item));
    assert_false(must_shed(&d, 51 * S));
    assert_true(must_shed(&d, 51 * S + 1));
    assert_ok(fby_session_credit(d.s, 51 * S, 7, 20));
    assert_false(must_shed(&d, 52 * S));
    assert_true(must_shed(&d, 52 * S + 1));
    assert_ok(fby_session_credit(d.s, 53 * S, 7, 20)); /* nothing new */
    assert_true(must_shed(&d, 52 * S + 1));
    assert_ok(fby_session_credit(d.s, 53 * S, 7, 60));
    assert_false(must_shed(&d, 100 * S)); /* all bytes are credited */
    assert_true(fby_session_next(d.s, 100 * S, &item));
    assert_int_equal(item.kind, FBY_SEND_CHUNK);
    assert_false(must_shed(&d, 101 * S));
    assert_true(must_shed(&d, 101 * S + 1));
    finish(&d);
}

static void a_session_without_a_route_stalls_at_once(void **state)
{
    (void)state;
    struct driver d = {0};
    begin_surplus(&d, 50 * S);
    assert_false(must_shed(&d, 50 * S));
    fby_session_route_lost(d.s);
    assert_true(must_shed(&d, 50 * S));
    fby_session_hello(d.s, 50 * S, 8);
    assert_false(must_shed(&d, 500 * S));
    finish(&d);
}

/* ---- Shedding ------------------------------------------------------------ */

static void batches_that_have_begun_or_are_no_surplus_are_not_shed(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 3);
    fby_session_route_lost(d.s);
    assert_int_equal(request(&d, 1, 1), FBY_SESSION_ACCEPT);
    assert_false(must_shed(&d, 0)); /* within its entitlement */
    finish(&d);
    begin_surplus(&d, 0);
    assert_int_equal(fby_session_shed_batch(d.s).value, 3);
    assert_true(must_shed(&d, 2 * S));
    assert_int_equal(fby_session_shed_batch(d.s).value, 2);
    assert_false(
        must_shed(&d, 2 * S)); /* still charged, but no batch is unsent */
    assert_int_equal(fby_session_shed_batch(d.s).value, 0);
    finish(&d);
}

static void a_surplus_of_one_byte_is_shed(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 3);
    struct fby_session_request r = {.id = {1}, .order = 4, .bytes = BATCH};
    fby_session_route_lost(d.s);
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_ACCEPT);
    assert_false(must_shed(&d, 0));
    r.id.value = 2;
    r.bytes    = 1;
    assert_int_equal(fby_session_request(d.s, 0, &r), FBY_SESSION_ACCEPT);
    assert_true(must_shed(&d, 0));
    assert_int_equal(
        fby_session_shed_batch(d.s).value, 1); /* of one step, the first */
    finish(&d);
}

static void no_session_sheds_for_one_that_has_its_share(void **state)
{
    (void)state;
    struct driver              d     = {0};
    struct fby_session_config  c     = config();
    struct fby_session        *other = NULL;
    struct fby_session_request r     = {.id = {1}, .bytes = BATCH - 1};
    begin(&d, 4);
    other = fby_session_create(&c, &d.budget, BATCH, 0);
    struct fby_session *const all[] = {other, d.s};
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(request(&d, id, id), FBY_SESSION_ACCEPT);
    }
    assert_int_equal(fby_session_request(other, 0, &r), FBY_SESSION_ACCEPT);
    assert_ptr_equal(fby_session_choose_victim(all, 2, other, 0), d.s);
    fby_session_freed(other, id_of(1));
    r = (struct fby_session_request){.id = {2}, .bytes = BATCH};
    assert_int_equal(fby_session_request(other, 0, &r), FBY_SESSION_ACCEPT);
    assert_null(fby_session_choose_victim(all, 2, other, 0));
    assert_null(fby_session_choose_victim(all, 2, d.s, 500 * S));
    fby_session_freed(other, id_of(2));
    fby_session_destroy(&other);
    finish(&d);
}

static void the_session_furthest_beyond_its_share_sheds(void **state)
{
    (void)state;
    struct driver             d      = {0};
    struct fby_session_config c      = config();
    struct fby_session       *all[3] = {NULL};
    static const uint64_t     n[]    = {2, 4, 4};
    fby_budget_init(&d.budget, UINT64_C(10) * BATCH);
    for (int i = 0; i < 3; i++) {
        all[i] = fby_session_create(&c, &d.budget, BATCH, 0);
        for (uint64_t id = 1; id <= n[i]; id++) {
            const struct fby_session_request r = {{id}, id, BATCH};
            assert_int_equal(
                fby_session_request(all[i], 0, &r), FBY_SESSION_ACCEPT);
        }
    }
    assert_ptr_equal(fby_session_choose_victim(all, 1, NULL, 0), all[0]);
    assert_ptr_equal(fby_session_choose_victim(all, 3, NULL, 0), all[1]);
    assert_ptr_equal(fby_session_choose_victim(all, 3, all[1], 0), all[2]);
    for (int i = 0; i < 3; i++) {
        fby_session_lose_open(all[i]);
        for (uint64_t id = 1; id <= n[i]; id++) {
            fby_session_freed(all[i], id_of(id));
        }
        fby_session_destroy(&all[i]);
    }
    assert_int_equal(d.budget.charged + d.budget.entitled, 0);
}

/* ---- Leaving ------------------------------------------------------------- */

static void given_back_batches_are_lost_once(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 1), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 2), FBY_SESSION_ACCEPT);
    make(&d, 1, 0, 0);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_END, 1);
    fby_session_lose_open(d.s);
    const struct fby_session_state now = {.route = 7,
        .charged                                 = UINT64_C(2) * BATCH,
        .entitled                                = BATCH,
        .leaving                                 = true};
    check_state(&d, &now);
    fby_session_lose_open(d.s);
    expect(&d, FBY_SEND_LOST, 2);
    expect_nothing(&d);
    assert_int_equal(request(&d, 3, 0), FBY_SESSION_LOST);
    assert_int_equal(request(&d, 3, 0), FBY_SESSION_REPEATED);
    finish(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_header),
        cmocka_unit_test(
            a_session_counts_what_is_open_charged_sent_and_credited),
        cmocka_unit_test(chunks_go_out_in_the_order_in_which_they_became_ready),
        cmocka_unit_test(batches_of_one_step_go_in_the_order_of_requests),
        cmocka_unit_test(the_window_is_used_up_to_its_last_byte),
        cmocka_unit_test(a_smaller_window_waits_for_credit),
        cmocka_unit_test(no_more_batches_than_allowed_are_open),
        cmocka_unit_test(a_batch_of_the_whole_budget_is_not_too_large),
        cmocka_unit_test(lost_batches_are_reported_up_to_a_limit),
        cmocka_unit_test(a_new_route_gets_no_earlier_lost),
        cmocka_unit_test(after_bye_nothing_is_open_promised_or_sent),
        cmocka_unit_test(an_ended_batch_takes_no_more_chunks),
        cmocka_unit_test(credit_counts_on_its_own_route_alone),
        cmocka_unit_test(a_new_route_starts_without_uncredited_bytes),
        cmocka_unit_test(every_message_of_a_client_ends_its_silence),
        cmocka_unit_test(a_session_stalls_a_second_after_an_uncredited_send),
        cmocka_unit_test(a_session_without_a_route_stalls_at_once),
        cmocka_unit_test(
            batches_that_have_begun_or_are_no_surplus_are_not_shed),
        cmocka_unit_test(a_surplus_of_one_byte_is_shed),
        cmocka_unit_test(no_session_sheds_for_one_that_has_its_share),
        cmocka_unit_test(the_session_furthest_beyond_its_share_sheds),
        cmocka_unit_test(given_back_batches_are_lost_once),
    };
    return cmocka_run_group_tests_name(
        "worker.session_state", tests, NULL, NULL);
}
