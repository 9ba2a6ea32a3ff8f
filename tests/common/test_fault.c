/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fault.h"

/* Read once per process, so all tests of this file share it. */
static const char faults[] = "a:after_chunk=3,b:after_chunk=2:times=2,"
                             "c:every_batch=2:ms=20,on,:,bad:after_chunk=x,"
                             "dies:after_step=2,stops:after_step=1";

static void a_point_is_due_at_the_event_it_names(void **state)
{
    (void)state;
    assert_false(fby_fault_takes_effect("a", "chunk"));
    assert_false(fby_fault_takes_effect("a", "batch"));
    assert_false(fby_fault_takes_effect("a", "chunk"));
    assert_true(fby_fault_takes_effect("a", "chunk"));
    assert_false(fby_fault_takes_effect("a", "chunk"));
}

static void times_are_as_many_in_a_row(void **state)
{
    (void)state;
    assert_false(fby_fault_takes_effect("b", "chunk"));
    assert_true(fby_fault_takes_effect("b", "chunk"));
    assert_true(fby_fault_takes_effect("b", "chunk"));
    assert_false(fby_fault_takes_effect("b", "chunk"));
}

static void every_is_each_of_so_many(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_false(fby_fault_takes_effect("c", "batch"));
        assert_true(fby_fault_takes_effect("c", "batch"));
    }
}

static void a_point_without_an_event_is_simply_on(void **state)
{
    (void)state;
    uint64_t before = fby_fault_count();
    assert_true(fby_fault_takes_effect("on", "this"));
    assert_true(fby_fault_takes_effect("on", "that"));
    assert_int_equal(fby_fault_count() - before, 2);
    assert_false(fby_fault_takes_effect("off", "this"));
    assert_false(fby_fault_takes_effect("bad", "chunk"));
    assert_int_equal(fby_fault_count() - before, 2);
}

static void parameters_are_numbers_with_a_fallback(void **state)
{
    (void)state;
    assert_int_equal(fby_fault_param("c", "ms", 5), 20);
    assert_int_equal(fby_fault_param("c", "s", 5), 5);
    assert_int_equal(fby_fault_param("off", "ms", 5), 5);
    assert_int_equal(fby_fault_param("bad", "after_chunk", 5), 5);
}

static void a_process_stops_or_dies_where_it_was_told_to(void **state)
{
    (void)state;
    int   status = 0;
    pid_t child  = fork();
    if (child == 0) {
        fby_fault_kill_or_stop("dies", "stops", "step");
        fby_fault_kill_or_stop("dies", "stops", "step");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

int main(void)
{
    setenv("FOREBAY_FAULT", faults, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_is_due_at_the_event_it_names),
        cmocka_unit_test(times_are_as_many_in_a_row),
        cmocka_unit_test(every_is_each_of_so_many),
        cmocka_unit_test(a_point_without_an_event_is_simply_on),
        cmocka_unit_test(parameters_are_numbers_with_a_fallback),
        cmocka_unit_test(a_process_stops_or_dies_where_it_was_told_to),
    };
    return cmocka_run_group_tests_name("common.fault", tests, NULL, NULL);
}
