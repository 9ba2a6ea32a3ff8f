/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "common/file_watch.h"
#include "common/log.h"

#define S FBY_NS_PER_S

static int         open_error; /* 0: open() works */
static const char *expected;
static int         lines;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
    if (open_error != 0) {
        errno = open_error;
        return -1;
    }
    return __real_open(path, flags);
}
/* NOLINTEND(readability-identifier-naming) */

static void count_line(void *arg, enum fby_log_level level, const char *line)
{
    (void)arg;
    assert_int_equal(level, FBY_LOG_ERROR);
    assert_string_equal(line, expected);
    lines++;
}

static int redirect(void **state)
{
    (void)state;
    lines      = 0;
    open_error = 0;
    fby_log_redirect(FBY_LOG_ERROR, count_line, NULL);
    return 0;
}

static int end_redirection(void **state)
{
    (void)state;
    fby_log_redirect(FBY_LOG_ERROR, NULL, NULL);
    return 0;
}

static void a_process_without_files_says_so_once_a_minute(void **state)
{
    (void)state;
    struct fby_file_watch watch = {0};
    struct rlimit         before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {3, before.rlim_max}; /* the standard streams */
    expected = "FILES-USED-UP this process has reached its limit of 3 open "
               "files and connections; new connections wait; raise it (ulimit "
               "-n, LimitNOFILE=)";
    fby_file_watch_tick(&watch, 10 * S);
    assert_int_equal(lines, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    fby_file_watch_tick(&watch, 11 * S - 1);
    assert_int_equal(lines, 0); /* not checked yet */
    fby_file_watch_tick(&watch, 11 * S);
    fby_file_watch_tick(&watch, 12 * S);
    fby_file_watch_tick(&watch, 71 * S - 1);
    assert_int_equal(lines, 1);
    fby_file_watch_tick(&watch, 72 * S);
    assert_int_equal(lines, 2);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    fby_file_watch_tick(&watch, 200 * S);
    assert_int_equal(lines, 2);
}

static void a_system_without_files_is_another_limit(void **state)
{
    (void)state;
    struct fby_file_watch watch = {0};
    expected = "FILES-USED-UP the system has reached its limit of open files; "
               "new connections wait; raise it (sysctl fs.file-max)";
    open_error = ENFILE;
    fby_file_watch_tick(&watch, S);
    assert_int_equal(lines, 1);
}

static void other_errors_are_not_logged(void **state)
{
    (void)state;
    struct fby_file_watch watch = {0};
    open_error                  = EACCES;
    fby_file_watch_tick(&watch, S);
    assert_int_equal(lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_process_without_files_says_so_once_a_minute, redirect,
            end_redirection),
        cmocka_unit_test_setup_teardown(
            a_system_without_files_is_another_limit, redirect, end_redirection),
        cmocka_unit_test_setup_teardown(
            other_errors_are_not_logged, redirect, end_redirection),
    };
    return cmocka_run_group_tests_name("common.file_watch", tests, NULL, NULL);
}
