/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "common/plural.h"

static void one_is_one_and_all_else_are_many(void **state)
{
    (void)state;
    assert_string_equal(fby_plural(0, "step").text, "0 steps");
    assert_string_equal(fby_plural(1, "step").text, "1 step");
    assert_string_equal(fby_plural(2, "tar shard").text, "2 tar shards");
    assert_string_equal(fby_plural(1, "class").text, "1 class");
    assert_string_equal(fby_plural(3, "class").text, "3 classes");
    assert_string_equal(fby_plural(2, "ash").text, "2 ashs");
    assert_string_equal(fby_plural(2, "batch").text, "2 batches");
    assert_string_equal(fby_plural(1, "batch").text, "1 batch");
    assert_string_equal(fby_plural(2, "h").text, "2 hs");
    assert_string_equal(fby_plural(2, "s").text, "2 ses");
    assert_string_equal(fby_plural(2, "").text, "2 s");
    assert_string_equal(
        fby_plural(UINT64_MAX, "image").text, "18446744073709551615 images");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_one_and_all_else_are_many),
    };
    return cmocka_run_group_tests_name("common.plural", tests, NULL, NULL);
}
