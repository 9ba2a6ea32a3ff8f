/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals are one request. tests/system/test_faults.py sends them. */
#include "tests/test.h"

#include "cli/signals.h"
#include "common/clock.h"

static void signals_within_a_second_are_one_request(void **state)
{
    (void)state;
    const int64_t first_ns = 7 * FBY_NS_PER_S;
    assert_true(fby_signals_is_repetition(first_ns, first_ns));
    assert_true(fby_signals_is_repetition(first_ns, first_ns - 1)); /* thread */
    assert_true(
        fby_signals_is_repetition(first_ns, first_ns + FBY_NS_PER_S - 1));
    assert_false(fby_signals_is_repetition(first_ns, first_ns + FBY_NS_PER_S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_within_a_second_are_one_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
