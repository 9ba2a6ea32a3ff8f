/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "proto/ids.h"

static void an_id_reads_with_its_highest_digit_first(void **state)
{
    (void)state;
    assert_string_equal(
        fby_id_text(0x0123456789abcdef).text, "0123456789abcdef");
}

static void random_ids_differ_and_are_not_zero(void **state)
{
    (void)state;
    struct fby_session_id a = fby_session_random();
    struct fby_session_id b = fby_session_random();
    assert_true(a.value != 0 && b.value != 0);
    assert_false(fby_session_equal(a, b));
    assert_true(fby_session_equal(a, a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_reads_with_its_highest_digit_first),
        cmocka_unit_test(random_ids_differ_and_are_not_zero),
    };
    return cmocka_run_group_tests_name("proto.ids", tests, NULL, NULL);
}
