/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/limits.h"

static void too_few_files_are_refused_with_the_number_needed(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    struct rlimit           before;
    getrlimit(RLIMIT_NOFILE, &before);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){40, before.rlim_max});
    uint32_t open = 0;
    for (int fd = 0; fd < 40; fd++) {
        open += dup2(fd, fd) == fd ? 1 : 0;
    }
    assert_int_equal(fby_limits_max_files(), 40);
    fby_err enough   = fby_limits_check_files("a test", 40 - open, &why);
    fby_err too_many = fby_limits_check_files("a test", 41 - open, &why);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(enough, FBY_OK);
    assert_int_equal(too_many, FBY_SYS);
    assert_string_equal(why.text,
        "a test needs 41 open files and sockets here, and the limit is 40; "
        "raise it (ulimit -n)");
}

static void threads_that_can_be_had_are_given_back(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_ok(fby_limits_check_threads("a test", 64, NULL));
    }
}

static void too_much_memory_is_refused_with_the_number_needed(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_limits_check_memory("a test", 1 << 20, &why));
    assert_int_equal(
        fby_limits_check_memory("a test", SIZE_MAX / 2, &why), FBY_SYS);
    assert_non_null(strstr(why.text, "MiB more address space here"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few_files_are_refused_with_the_number_needed),
        cmocka_unit_test(threads_that_can_be_had_are_given_back),
        cmocka_unit_test(too_much_memory_is_refused_with_the_number_needed),
    };
    return cmocka_run_group_tests_name("common.limits", tests, NULL, NULL);
}
