/* SPDX-License-Identifier: Apache-2.0 */
/* `forebay doctor` on a machine with more CPUs than a cpu_set_t holds. */
#include "tests/test.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/checks.h"

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out);

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out)
{
    (void)pid;
    (void)size;
    (void)out;
    errno = EINVAL;
    return -1;
}
/* NOLINTEND(readability-identifier-naming) */

static void cpus_that_cannot_be_counted_are_not_made_up(void **state)
{
    const struct fby_doctor_options options = {.root = ""};
    struct fby_doctor_line          line;
    int                             ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    fby_doctor_machine(&options, ends[1]);
    assert_int_equal(read(ends[0], &line, sizeof(line)), sizeof(line));
    assert_string_equal(line.check, "cpus");
    assert_int_equal(line.verdict.state, FBY_DOCTOR_NOTE);
    assert_string_equal(line.verdict.finding,
        "the usable CPUs are unknown: more than 1024 exist");
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_that_cannot_be_counted_are_not_made_up),
    };
    return cmocka_run_group_tests_name("cli.doctor_machine", tests, NULL, NULL);
}
