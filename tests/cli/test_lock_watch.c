/* SPDX-License-Identifier: Apache-2.0 */
/* When the watch of a file's locks ends. tests/system/test_up.py has real
 * locks. */
#include "tests/test.h"

#include <fcntl.h>
#include <string.h>

#include "cli/lock_watch.h"
#include "common/clock.h"

#define S FBY_NS_PER_S

static bool ends(struct fby_lock_watch *watch, bool is_locked, int64_t now_ns)
{
    return fby_lock_watch_update(watch, is_locked, now_ns);
}

static void it_ends_at_once_after_the_last_lock(void **state)
{
    (void)state;
    struct fby_lock_watch watch = {.fd = -1};
    assert_false(ends(&watch, true, 100 * S));
    assert_false(ends(&watch, true, 1000 * S));
    assert_true(ends(&watch, false, 1000 * S + 1));
}

static void within_the_grace_time_a_lock_that_was_seen_counts(void **state)
{
    (void)state;
    struct fby_lock_watch watch = {.fd = -1};
    assert_false(ends(&watch, false, 100 * S));
    assert_false(ends(&watch, true, 101 * S));
    assert_true(ends(&watch, false, 102 * S));
}

static void without_any_lock_it_ends_after_the_grace_time(void **state)
{
    (void)state;
    struct fby_lock_watch watch = {.fd = -1};
    assert_false(ends(&watch, false, 100 * S));
    assert_false(ends(&watch, false, 105 * S - 1));
    assert_true(ends(&watch, false, 105 * S));
}

static void a_lock_taken_late_keeps_it(void **state)
{
    (void)state;
    struct fby_lock_watch watch = {.fd = -1};
    assert_false(ends(&watch, false, 100 * S));
    assert_false(ends(&watch, true, 200 * S));
    assert_true(ends(&watch, false, 201 * S));
}

static void without_a_file_it_never_ends(void **state)
{
    (void)state;
    struct fby_lock_watch watch = {.fd = -1};
    assert_false(fby_lock_watch_has_ended(&watch, S));
    assert_false(fby_lock_watch_has_ended(&watch, 1000 * S));
    fby_lock_watch_close(&watch);
}

static void the_file_must_exist_and_is_closed_on_exec(void **state)
{
    (void)state;
    struct fby_lock_watch   watch;
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        fby_lock_watch_open(&watch, "/nowhere/lock", &why), FBY_IO);
    assert_string_equal(why.text,
        "/nowhere/lock: cannot watch the locks of the file: No such file or "
        "directory");
    assert_int_equal(watch.fd, -1);
    assert_ok(fby_lock_watch_open(&watch, "/proc/self/exe", &why));
    assert_int_equal(fcntl(watch.fd, F_GETFD), FD_CLOEXEC);
    assert_false(fby_lock_watch_has_ended(&watch, 100 * S));
    assert_true(fby_lock_watch_has_ended(&watch, 105 * S));
    fby_lock_watch_close(&watch);
    assert_int_equal(watch.fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_at_once_after_the_last_lock),
        cmocka_unit_test(within_the_grace_time_a_lock_that_was_seen_counts),
        cmocka_unit_test(without_any_lock_it_ends_after_the_grace_time),
        cmocka_unit_test(a_lock_taken_late_keeps_it),
        cmocka_unit_test(without_a_file_it_never_ends),
        cmocka_unit_test(the_file_must_exist_and_is_closed_on_exec),
    };
    return cmocka_run_group_tests_name("cli.lock_watch", tests, NULL, NULL);
}
