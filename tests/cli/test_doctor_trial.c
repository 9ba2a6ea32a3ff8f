/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of `forebay doctor` that report lines, hang or crash. */
#include "cli/doctor/trial.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/test.h"

static struct fby_doctor_line lines[4];
static unsigned               n_lines;

static void keep_line(void *arg, const struct fby_doctor_line *line)
{
    (void)arg;
    assert_true(n_lines < 4);
    lines[n_lines++] = *line;
}

static void try_check(
    void (*run)(const struct fby_doctor_options *, int), int deadline_ms)
{
    const struct fby_doctor_check check = {
        "odd", run, 0, deadline_ms, FBY_DOCTOR_WARN};
    const struct fby_doctor_options  options  = {.root = ""};
    const struct fby_doctor_listener listener = {keep_line, NULL};
    n_lines                                   = 0;
    fby_doctor_run_check(&check, &options, &listener);
}

static void assert_failed(const struct fby_doctor_line *line,
    enum fby_doctor_state state, const char *how)
{
    assert_string_equal(line->check, "odd");
    assert_int_equal(line->verdict.state, state);
    assert_non_null(strstr(line->verdict.finding, how));
}

static void say_two(const struct fby_doctor_options *options, int out)
{
    (void)options;
    fby_doctor_report(out, "a", fby_verdict(FBY_DOCTOR_NOTE, NULL, "one"));
    fby_doctor_report(out, "b", fby_verdict(FBY_DOCTOR_OK, NULL, "two"));
}

static void hang(const struct fby_doctor_options *options, int out)
{
    say_two(options, out);
    for (;;) {
        pause();
    }
}

static void die(const struct fby_doctor_options *options, int out)
{
    (void)options;
    (void)out;
    (void)raise(SIGKILL);
}

static void leave(const struct fby_doctor_options *options, int out)
{
    (void)options;
    (void)out;
    _exit(3);
}

static void the_lines_of_a_check_arrive_in_order(void **state)
{
    (void)state;
    try_check(say_two, 60000);
    assert_int_equal(n_lines, 2);
    assert_string_equal(lines[0].check, "a");
    assert_string_equal(lines[0].verdict.finding, "one");
    assert_int_equal(lines[0].verdict.state, FBY_DOCTOR_NOTE);
    assert_string_equal(lines[1].check, "b");
}

static void a_check_that_hangs_ends_at_its_deadline(void **state)
{
    (void)state;
    int64_t begun_ns = fby_now_ns();
    try_check(hang, 1000);
    assert_true(fby_now_ns() - begun_ns < 30 * FBY_NS_PER_S);
    assert_failed(&lines[n_lines - 1], FBY_DOCTOR_WARN, "no end within 1 s");
}

static void a_check_that_dies_is_a_finding(void **state)
{
    (void)state;
    try_check(die, 60000);
    assert_int_equal(n_lines, 1);
    assert_failed(&lines[0], FBY_DOCTOR_FAIL, "ended by signal 9");
    try_check(leave, 60000);
    assert_failed(&lines[0], FBY_DOCTOR_FAIL, "exit code 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lines_of_a_check_arrive_in_order),
        cmocka_unit_test(a_check_that_hangs_ends_at_its_deadline),
        cmocka_unit_test(a_check_that_dies_is_a_finding),
    };
    return cmocka_run_group_tests_name("cli.doctor_trial", tests, NULL, NULL);
}
