/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/process_id.h"

/* `pid` is the result of fork(). The child checks its id and exits; the parent
 * returns whether the child's id was right. */
static bool child_knows_its_id(pid_t pid)
{
    int status = 0;
    if (pid == 0) {
        bool first_is_right  = fby_process_id() == getpid();
        bool second_is_right = fby_process_id() == getpid();
        _exit(first_is_right && second_is_right ? 0 : 1);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void it_is_the_id_of_the_process(void **state)
{
    (void)state;
    assert_int_equal(fby_process_id(), getpid());
    assert_int_equal(fby_process_id(), getpid());
}

static void a_forked_child_has_another(void **state)
{
    (void)state;
    (void)fby_process_id();
    assert_true(child_knows_its_id(fork()));
    assert_int_equal(fby_process_id(), getpid());
}

static void a_child_made_without_the_handlers_of_fork_has_another(void **state)
{
    (void)state;
    (void)fby_process_id();
    assert_true(
        child_knows_its_id((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_id_of_the_process),
        cmocka_unit_test(a_forked_child_has_another),
        cmocka_unit_test(a_child_made_without_the_handlers_of_fork_has_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
