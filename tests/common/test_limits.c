/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/limits.h"
#include "common/log.h"

#define S FBY_NS_PER_S

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

static void count_line(void *arg, enum fby_log_level level, const char *line)
{
    assert_int_equal(level, FBY_LOG_ERROR);
    assert_non_null(strstr(line, "FILES-USED-UP Too many open files: this "
                                 "process has 3 files and connections open at "
                                 "most; new connections wait; raise the limit "
                                 "(ulimit -n, LimitNOFILE=)"));
    ++*(int *)arg;
}

static void used_up_files_are_logged_once_a_minute(void **state)
{
    (void)state;
    int                   lines = 0;
    struct fby_file_watch watch = {0};
    struct rlimit         before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {3, before.rlim_max}; /* the standard streams */
    fby_log_redirect(FBY_LOG_ERROR, count_line, &lines);
    fby_file_watch_turn(&watch, 10 * S);
    assert_int_equal(lines, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    fby_file_watch_turn(&watch, 11 * S - 1);
    assert_int_equal(lines, 0); /* not checked yet */
    fby_file_watch_turn(&watch, 11 * S);
    fby_file_watch_turn(&watch, 12 * S);
    fby_file_watch_turn(&watch, 71 * S - 1);
    assert_int_equal(lines, 1);
    fby_file_watch_turn(&watch, 72 * S);
    assert_int_equal(lines, 2);
    setrlimit(RLIMIT_NOFILE, &before);
    fby_file_watch_turn(&watch, 200 * S);
    fby_log_redirect(FBY_LOG_ERROR, NULL, NULL);
    assert_int_equal(lines, 2);
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
        cmocka_unit_test(used_up_files_are_logged_once_a_minute),
        cmocka_unit_test(threads_that_can_be_had_are_given_back),
        cmocka_unit_test(too_much_memory_is_refused_with_the_number_needed),
    };
    return cmocka_run_group_tests_name("common.limits", tests, NULL, NULL);
}
