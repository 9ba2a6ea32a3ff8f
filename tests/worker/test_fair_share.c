/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "common/clock.h"
#include "worker/stages/fair_share.h"

#define MS FBY_NS_PER_MS

/* Any address is a key. */
static const int plans[FBY_FAIR_STREAMS + 1];

static void make(struct fby_fair_share *share, struct fby_fair_stream *stream,
    uint32_t rows, int64_t cpu_ns)
{
    int64_t expected_ns = fby_fair_share_take(share, stream, rows);
    fby_fair_share_made(stream, rows, expected_ns, cpu_ns);
}

static void plan_and_seed_are_the_key(void **state)
{
    (void)state;
    struct fby_fair_share   share = {.n_uses = 0};
    struct fby_fair_stream *one   = fby_fair_share_stream(&share, &plans[0], 1);
    struct fby_fair_stream *two   = fby_fair_share_stream(&share, &plans[0], 2);
    assert_ptr_not_equal(one, two);
    assert_ptr_not_equal(one, fby_fair_share_stream(&share, &plans[1], 1));
    assert_ptr_equal(one, fby_fair_share_stream(&share, &plans[0], 1));
}

static void rows_in_work_are_charged_what_rows_before_took(void **state)
{
    (void)state;
    struct fby_fair_share   share  = {.n_uses = 0};
    struct fby_fair_stream *stream = fby_fair_share_stream(&share, plans, 1);
    assert_int_equal(fby_fair_share_take(&share, stream, 4), 0);
    fby_fair_share_made(stream, 4, 0, 40 * MS);
    assert_int_equal(stream->used_ns, 40 * MS);
    assert_int_equal(fby_fair_share_take(&share, stream, 2), 20 * MS);
    assert_int_equal(stream->used_ns, 60 * MS);
    fby_fair_share_made(stream, 2, 20 * MS, 36 * MS);
    assert_int_equal(stream->used_ns, 76 * MS);
    assert_int_equal(stream->row_ns, 11 * MS); /* an eighth of 18 */
    fby_fair_share_made(stream, 0, 0, 5 * MS);
    assert_int_equal(stream->used_ns, 81 * MS);
    assert_int_equal(stream->row_ns, 11 * MS);
}

static void a_started_stream_goes_on_for_50_ms(void **state)
{
    (void)state;
    const struct fby_fair_stream other = {.used_ns = 7 * MS};
    struct fby_fair_stream       begun = {.used_ns = 57 * MS};
    assert_true(fby_fair_share_goes_on(&begun, &other));
    begun.used_ns++;
    assert_false(fby_fair_share_goes_on(&begun, &other));
}

/* Neither a new stream nor one that was idle may use the stages alone until it
 * has used as much as the others. */
static void idle_time_is_no_credit(void **state)
{
    (void)state;
    struct fby_fair_share   share = {.n_uses = 0};
    struct fby_fair_stream *busy  = fby_fair_share_stream(&share, plans, 1);
    struct fby_fair_stream *idle  = fby_fair_share_stream(&share, plans, 2);
    make(&share, busy, 1, 900 * MS);
    make(&share, busy, 1, 900 * MS); /* taken when it had used 900 ms */
    struct fby_fair_stream *fresh = fby_fair_share_stream(&share, plans, 3);
    assert_int_equal(fresh->used_ns, 900 * MS);
    fby_fair_share_begin(&share, idle);
    assert_int_equal(idle->used_ns, 900 * MS);
    fby_fair_share_begin(&share, busy);
    assert_int_equal(busy->used_ns, 1800 * MS);
}

static void the_entry_unused_for_longest_is_replaced(void **state)
{
    (void)state;
    struct fby_fair_share   share = {.n_uses = 0};
    struct fby_fair_stream *first = fby_fair_share_stream(&share, plans, 1);
    struct fby_fair_stream *next  = fby_fair_share_stream(&share, &plans[1], 1);
    for (int i = 2; i < FBY_FAIR_STREAMS; i++) {
        (void)fby_fair_share_stream(&share, &plans[i], 1);
    }
    assert_ptr_equal(fby_fair_share_stream(&share, plans, 1), first);
    assert_ptr_equal(
        fby_fair_share_stream(&share, &plans[FBY_FAIR_STREAMS], 1), next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_and_seed_are_the_key),
        cmocka_unit_test(rows_in_work_are_charged_what_rows_before_took),
        cmocka_unit_test(a_started_stream_goes_on_for_50_ms),
        cmocka_unit_test(idle_time_is_no_credit),
        cmocka_unit_test(the_entry_unused_for_longest_is_replaced),
    };
    return cmocka_run_group_tests_name("worker.fair_share", tests, NULL, NULL);
}
