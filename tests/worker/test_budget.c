/* The budget's promises. */
#include "tests/test.h"

#include "worker/budget.h"

static struct fby_budget budget_of(uint64_t total)
{
    struct fby_budget b;
    fby_budget_init(&b, total);
    return b;
}

static void entitlements_never_exceed_the_budget(void **state)
{
    (void)state;
    struct fby_budget       b     = budget_of(100);
    struct fby_budget_share first = {0};
    struct fby_budget_share next  = {0};
    assert_ok(fby_budget_join(&b, &first, 60));
    assert_int_equal(fby_budget_join(&b, &next, 41), FBY_FULL);
    assert_ok(fby_budget_join(&b, &next, 40));
    fby_budget_leave(&b, &first);
    assert_int_equal(b.entitled, 40);
}

static void what_another_is_entitled_to_is_kept_for_it(void **state)
{
    (void)state;
    struct fby_budget       b      = budget_of(100);
    struct fby_budget_share greedy = {0};
    struct fby_budget_share quiet  = {0};
    assert_ok(fby_budget_join(&b, &greedy, 30));
    assert_ok(fby_budget_join(&b, &quiet, 30));
    assert_ok(fby_budget_charge(&b, &greedy, 30));
    assert_ok(fby_budget_charge(&b, &greedy, 40));
    assert_int_equal(fby_budget_charge(&b, &greedy, 1), FBY_AGAIN);
    assert_ok(fby_budget_charge(&b, &quiet, 30));
    assert_int_equal(b.charged, 100);
    assert_int_equal(fby_budget_beyond(&greedy), 40);
}

static void a_newcomer_waits_only_for_what_is_on_its_way_back(void **state)
{
    (void)state;
    struct fby_budget       b    = budget_of(100);
    struct fby_budget_share old  = {0};
    struct fby_budget_share late = {0};
    assert_ok(fby_budget_join(&b, &old, 50));
    assert_ok(fby_budget_charge(&b, &old, 100));
    assert_ok(fby_budget_join(&b, &late, 50));
    assert_int_equal(fby_budget_charge(&b, &late, 50), FBY_AGAIN);
    fby_budget_refund(&b, &old, 50);
    assert_int_equal(fby_budget_charge(&b, &old, 1), FBY_AGAIN);
    assert_ok(fby_budget_charge(&b, &late, 50));
}

static void more_than_the_budget_is_refused_for_ever(void **state)
{
    (void)state;
    struct fby_budget       b     = budget_of(100);
    struct fby_budget_share share = {0};
    assert_ok(fby_budget_join(&b, &share, 10));
    assert_int_equal(fby_budget_charge(&b, &share, 101), FBY_FULL);
    assert_int_equal(fby_budget_charge(&b, &share, UINT64_MAX), FBY_FULL);
    assert_ok(fby_budget_charge(&b, &share, 100));
}

static void what_a_leaver_charged_stays_charged(void **state)
{
    (void)state;
    struct fby_budget       b     = budget_of(100);
    struct fby_budget_share share = {0};
    assert_ok(fby_budget_join(&b, &share, 50));
    assert_ok(fby_budget_charge(&b, &share, 20));
    fby_budget_leave(&b, &share);
    assert_int_equal(b.charged, 20);
    assert_int_equal(b.unused, 0);
    fby_budget_refund(&b, &share, 20);
    assert_int_equal(b.charged, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entitlements_never_exceed_the_budget),
        cmocka_unit_test(what_another_is_entitled_to_is_kept_for_it),
        cmocka_unit_test(a_newcomer_waits_only_for_what_is_on_its_way_back),
        cmocka_unit_test(more_than_the_budget_is_refused_for_ever),
        cmocka_unit_test(what_a_leaver_charged_stays_charged),
    };
    return cmocka_run_group_tests_name("worker.budget", tests, NULL, NULL);
}
