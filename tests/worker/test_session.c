/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a session, one at a time. */
#include "tests/test.h"

#include "tests/worker/session_driver.h"

static void a_batch_goes_out_as_header_chunks_and_end(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 5), FBY_SESSION_ACCEPT);
    expect_nothing(&d);
    make(&d, 1, 2, 10);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_CHUNK, 1);
    expect(&d, FBY_SEND_CHUNK, 1);
    assert_true(fby_session_is_open(d.s, (struct fby_request_id){1}));
    expect(&d, FBY_SEND_END, 1);
    assert_false(fby_session_is_open(d.s, (struct fby_request_id){1}));
    assert_int_equal(fby_session_state(d.s).charged, BATCH);
    finish(&d);
}

static void a_batch_without_chunks_is_header_and_end(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 0, 0);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_END, 1);
    finish(&d);
}

static void a_chunk_larger_than_the_window_goes_alone(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 2, 500);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_CHUNK, 1);
    expect_nothing(&d);
    assert_ok(fby_session_credit(d.s, 0, 7, 500));
    expect(&d, FBY_SEND_CHUNK, 1);
    finish(&d);
}

static void the_lowest_step_goes_first(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 9), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 3), FBY_SESSION_ACCEPT);
    make(&d, 1, 1, 10);
    make(&d, 2, 1, 10);
    expect(&d, FBY_SEND_HEADER, 2);
    expect(&d, FBY_SEND_CHUNK, 2);
    expect(&d, FBY_SEND_END, 2);
    expect(&d, FBY_SEND_HEADER, 1);
    finish(&d);
}

static void a_batch_that_is_not_ready_does_not_delay_the_next(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    assert_ok(
        fby_session_header(d.s, (struct fby_request_id){1}, d.chunks[1], 1));
    make(&d, 2, 1, 10);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_HEADER, 2);
    expect(&d, FBY_SEND_CHUNK, 2);
    finish(&d);
}

static void a_new_route_sends_open_batches_from_their_start(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 3, 45);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_CHUNK, 1);
    fby_session_route_lost(d.s);
    expect_nothing(&d);
    fby_session_hello(d.s, 0, 8);
    assert_int_equal(fby_session_state(d.s).sent, 0);
    expect(&d, FBY_SEND_HEADER, 1);
    struct fby_session_item item;
    assert_true(fby_session_next(d.s, 0, &item));
    assert_int_equal(item.chunk, 0);
    finish(&d);
}

static void credit_for_more_than_was_sent_breaks_the_protocol(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(fby_session_credit(d.s, 0, 7, 1), FBY_PROTO);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    make(&d, 1, 1, 50);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_CHUNK, 1);
    assert_ok(fby_session_credit(d.s, 0, 7, 50));
    assert_int_equal(fby_session_credit(d.s, 0, 7, 49), FBY_PROTO);
    finish(&d);
}

static void an_id_is_accepted_once(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 0, 0), FBY_SESSION_REPEATED);
    assert_int_equal(request(&d, 3, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 3, 0), FBY_SESSION_REPEATED);
    assert_int_equal(request(&d, 2, 0), FBY_SESSION_REPEATED);
    finish(&d);
}

static void beyond_the_budget_is_busy(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 2);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 3, 2), FBY_SESSION_BUSY);
    fby_session_cancel(d.s, 0, (struct fby_request_id){1});
    assert_int_equal(request(&d, 4, 2), FBY_SESSION_BUSY);
    fby_session_freed(d.s, (struct fby_request_id){1});
    assert_int_equal(request(&d, 5, 2), FBY_SESSION_ACCEPT);
    finish(&d);
}

static void only_sessions_that_requested_are_entitled(void **state)
{
    (void)state;
    struct driver              d     = {0};
    struct fby_session_config  c     = config();
    struct fby_session_request r     = {.id = {1}, .bytes = BATCH};
    struct fby_session        *other = NULL;
    begin(&d, 1);
    other = fby_session_create(&c, &d.budget, BATCH, 0);
    fby_session_hello(other, 0, 8);
    assert_int_equal(d.budget.entitled, 0);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(d.budget.entitled, BATCH);
    assert_int_equal(fby_session_request(other, 0, &r), FBY_SESSION_NO_SHARE);
    assert_int_equal(fby_session_state(other).entitled, 0);
    fby_session_freed(d.s, (struct fby_request_id){1});
    r.id.value++; /* the first session keeps its share */
    assert_int_equal(fby_session_request(other, 0, &r), FBY_SESSION_NO_SHARE);
    finish(&d);
    r.id.value++;
    assert_int_equal(fby_session_request(other, 0, &r), FBY_SESSION_ACCEPT);
    fby_session_freed(other, r.id);
    fby_session_destroy(&other);
}

static void a_cancelled_batch_is_not_sent_and_need_not_be_made(void **state)
{
    (void)state;
    struct driver         d  = {0};
    struct fby_request_id id = {1};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    fby_session_cancel(d.s, 0, id);
    assert_int_equal(fby_session_header(d.s, id, d.chunks[1], 1), FBY_GONE);
    expect_nothing(&d);
    finish(&d);
}

static void chunks_are_counted_before_a_batch_is_complete(void **state)
{
    (void)state;
    struct driver         d  = {0};
    struct fby_request_id id = {1};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_ok(fby_session_header(d.s, id, d.chunks[1], 1));
    assert_int_equal(fby_session_all_ready(d.s, id), FBY_USAGE);
    assert_ok(fby_session_chunk_ready(d.s, id, (struct fby_session_chunk){0}));
    assert_int_equal(
        fby_session_chunk_ready(d.s, id, (struct fby_session_chunk){0}),
        FBY_USAGE);
    finish(&d);
}

static void open_requests_are_named(void **state)
{
    (void)state;
    struct driver         d = {0};
    struct fby_request_id named[MANY];
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    fby_session_cancel(d.s, 0, (struct fby_request_id){1});
    assert_int_equal(fby_session_list_open(d.s, named, MANY), 1);
    assert_int_equal(named[0].value, 2);
    assert_int_equal(fby_session_list_open(d.s, named, 0), 0);
    finish(&d);
}

static void a_surplus_is_shed_for_a_session_below_its_share(void **state)
{
    (void)state;
    struct driver             d     = {0};
    struct fby_session_config c     = config();
    struct fby_session       *other = NULL;
    begin(&d, 3);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 3, 2), FBY_SESSION_ACCEPT);
    other = fby_session_create(&c, &d.budget, BATCH, 0);
    struct fby_session *const        all[] = {d.s, other};
    const struct fby_session_request want  = {.id = {1}, .bytes = BATCH};
    assert_null(fby_session_choose_victim(all, 2, other, 0));
    assert_int_equal(fby_session_request(other, 0, &want), FBY_SESSION_BUSY);
    assert_ptr_equal(fby_session_choose_victim(all, 2, other, 0), d.s);
    assert_int_equal(fby_session_shed_batch(d.s).value, 3);
    expect(&d, FBY_SEND_LOST, 3);
    fby_session_freed(d.s, (struct fby_request_id){3});
    fby_session_freed(d.s, (struct fby_request_id){2});
    assert_null(fby_session_choose_victim(all, 2, other, 0));
    fby_session_destroy(&other);
    finish(&d);
}

static void a_leaving_worker_finishes_but_takes_nothing_new(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    assert_int_equal(request(&d, 2, 1), FBY_SESSION_ACCEPT);
    fby_session_leave(d.s);
    assert_int_equal(request(&d, 3, 2), FBY_SESSION_LOST);
    make(&d, 1, 1, 10);
    expect(&d, FBY_SEND_HEADER, 1);
    expect(&d, FBY_SEND_CHUNK, 1);
    expect(&d, FBY_SEND_END, 1);
    fby_session_lose_open(d.s);
    expect(&d, FBY_SEND_LOST, 2);
    finish(&d);
}

static void memory_freed_early_loses_the_batch(void **state)
{
    (void)state;
    struct driver d = {0};
    begin(&d, 4);
    assert_int_equal(request(&d, 1, 0), FBY_SESSION_ACCEPT);
    fby_session_freed(d.s, (struct fby_request_id){1});
    expect(&d, FBY_SEND_LOST, 1);
    assert_int_equal(fby_session_state(d.s).charged, 0);
    finish(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_goes_out_as_header_chunks_and_end),
        cmocka_unit_test(a_batch_without_chunks_is_header_and_end),
        cmocka_unit_test(a_chunk_larger_than_the_window_goes_alone),
        cmocka_unit_test(the_lowest_step_goes_first),
        cmocka_unit_test(a_batch_that_is_not_ready_does_not_delay_the_next),
        cmocka_unit_test(a_new_route_sends_open_batches_from_their_start),
        cmocka_unit_test(credit_for_more_than_was_sent_breaks_the_protocol),
        cmocka_unit_test(an_id_is_accepted_once),
        cmocka_unit_test(beyond_the_budget_is_busy),
        cmocka_unit_test(only_sessions_that_requested_are_entitled),
        cmocka_unit_test(a_cancelled_batch_is_not_sent_and_need_not_be_made),
        cmocka_unit_test(chunks_are_counted_before_a_batch_is_complete),
        cmocka_unit_test(open_requests_are_named),
        cmocka_unit_test(a_surplus_is_shed_for_a_session_below_its_share),
        cmocka_unit_test(a_leaving_worker_finishes_but_takes_nothing_new),
        cmocka_unit_test(memory_freed_early_loses_the_batch),
    };
    return cmocka_run_group_tests_name("worker.session", tests, NULL, NULL);
}
