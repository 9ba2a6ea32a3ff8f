/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>

#include "common/log_limit.h"

static void a_burst_is_written_and_the_rest_is_counted(void **state)
{
    struct fby_log_limit limit    = {0};
    uint64_t             left_out = 9;
    int64_t              now_ns   = 5;
    (void)state;
    for (int i = 0; i < FBY_LOG_BURST; i++) {
        assert_true(fby_log_limit_admit(&limit, "BAD", now_ns, &left_out));
        assert_int_equal(left_out, 0);
    }
    for (int i = 0; i < 7; i++) {
        left_out = 9;
        assert_false(fby_log_limit_admit(&limit, "BAD", now_ns, &left_out));
        assert_int_equal(left_out, 0);
    }
    now_ns += FBY_LOG_SPAN_NS - 1;
    assert_false(fby_log_limit_admit(&limit, "BAD", now_ns, &left_out));
    assert_true(fby_log_limit_admit(&limit, "BAD", now_ns + 1, &left_out));
    assert_int_equal(left_out, 8);
    assert_true(fby_log_limit_admit(&limit, "BAD", now_ns + 1, &left_out));
    assert_int_equal(left_out, 0);
}

static void words_are_limited_each_by_itself(void **state)
{
    static char          words[FBY_LOG_WORDS + 1][8];
    struct fby_log_limit limit    = {0};
    uint64_t             left_out = 0;
    (void)state;
    for (int i = 0; i <= FBY_LOG_WORDS; i++) {
        (void)snprintf(words[i], sizeof(words[i]), "W%d", i);
        for (int n = 0; n < FBY_LOG_BURST; n++) {
            assert_true(fby_log_limit_admit(&limit, words[i], 1, &left_out));
        }
    }
    assert_false(fby_log_limit_admit(&limit, "W0", 1, &left_out));
    assert_false(
        fby_log_limit_admit(&limit, words[FBY_LOG_WORDS - 1], 1, &left_out));
    left_out = 9;
    assert_true(
        fby_log_limit_admit(&limit, words[FBY_LOG_WORDS], 1, &left_out));
    assert_int_equal(left_out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_is_written_and_the_rest_is_counted),
        cmocka_unit_test(words_are_limited_each_by_itself),
    };
    return cmocka_run_group_tests_name("common.log_limit", tests, NULL, NULL);
}
