/* SPDX-License-Identifier: Apache-2.0 */
/* Counters by id, and as names on the wire. */
#include "tests/test.h"

#include "proto/counters.h"

static void a_list_is_read_back(void **state)
{
    struct fby_counter_values values = {0};
    struct fby_counter_values again  = {.known = 7, .at = {7, 7, 7}};
    struct fby_counter        list[FBY_N_COUNTERS];
    (void)state;
    for (uint32_t id = 0; id < FBY_N_COUNTERS; id += 2) {
        values.known |= UINT64_C(1) << id;
        values.at[id] = 1000 + id;
    }
    size_t n = fby_counter_values_list(&values, list);
    assert_int_equal(n, (FBY_N_COUNTERS + 1) / 2);
    assert_string_equal(list[0].name, "batches");
    assert_string_equal(list[1].name, "raw_bytes");
    assert_int_equal(list[1].value, 1002);
    fby_counter_values_read(&again, list, n);
    assert_memory_equal(&again, &values, sizeof(values));
}

static void counters_of_other_versions_are_ignored(void **state)
{
    static const struct fby_counter list[] = {
        {"memory.limit", 3}, {"", 4}, {"batche", 5}, {"batches", 6}};
    struct fby_counter_values values = {0};
    (void)state;
    fby_counter_values_read(&values, list, 4);
    assert_int_equal(values.at[FBY_COUNTER_BATCHES], 6);
    assert_int_equal(values.at[FBY_COUNTER_MEMORY_LIMIT], 3);
    assert_int_equal(__builtin_popcountll(values.known), 2);
    assert_true(fby_counter_is_known(&values, FBY_COUNTER_BATCHES));
    assert_false(fby_counter_is_known(&values, FBY_COUNTER_CHUNKS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_read_back),
        cmocka_unit_test(counters_of_other_versions_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
