/* SPDX-License-Identifier: Apache-2.0 */
/* When a bench has warmed up, by the times of its last runs. */
#include "tests/test.h"

#include "bench/bench.h"

/* The first runs are slow, as before a clock rises. */
static const double times[] = {9.0, 3.0, 1.001, 1.0, 1.004, 1.009, 1.002};
enum { N = sizeof(times) / sizeof(times[0]) };

static void equal_times_are_warm_after_half_a_second(void **state)
{
    (void)state;
    assert_false(bench_is_warm(0.499, times, N));
    assert_true(bench_is_warm(0.5, times, N));
}

static void slow_runs_among_the_last_ones_are_not_warm(void **state)
{
    (void)state;
    for (size_t n = 0; n < N; n++) {
        assert_false(bench_is_warm(60, times, n));
    }
}

static void times_that_differ_by_more_than_a_hundredth_are_not_warm(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < BENCH_STEADY_RUNS; i++) {
        double some[BENCH_STEADY_RUNS] = {1, 1, 1, 1, 1};
        some[i]                        = 1.009;
        assert_true(bench_is_warm(1, some, BENCH_STEADY_RUNS));
        some[i] = 1.011;
        assert_false(bench_is_warm(1, some, BENCH_STEADY_RUNS));
        some[i] = 0.989;
        assert_false(bench_is_warm(1, some, BENCH_STEADY_RUNS));
    }
}

static void too_few_runs_are_not_warm(void **state)
{
    (void)state;
    const double some[BENCH_STEADY_RUNS] = {1, 1, 1, 1, 1};
    assert_false(bench_is_warm(60, some, BENCH_STEADY_RUNS - 1));
    assert_true(bench_is_warm(60, some, BENCH_STEADY_RUNS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_times_are_warm_after_half_a_second),
        cmocka_unit_test(slow_runs_among_the_last_ones_are_not_warm),
        cmocka_unit_test(
            times_that_differ_by_more_than_a_hundredth_are_not_warm),
        cmocka_unit_test(too_few_runs_are_not_warm),
    };
    return cmocka_run_group_tests_name("bench.bench", tests, NULL, NULL);
}
