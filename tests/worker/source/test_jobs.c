/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "tests/worker/source/sandbox.h"
#include "worker/source/jobs.h"

static bool no_threads; /* none can be started */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int __real_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg);

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes,
    void *(*run)(void *), void                                 *arg)
{
    return no_threads ? EAGAIN
                      : __real_pthread_create(out, attributes, run, arg);
}
/* NOLINTEND(readability-identifier-naming) */

static fby_err count(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    (void)stop;
    (void)why;
    atomic_fetch_add((atomic_uint *)arg + i, 1U);
    return FBY_OK;
}

static bool remember(void *arg, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    *(uint64_t *)arg = done;
    return true;
}

static void every_job_is_done_once_and_the_end_is_reported(void **state)
{
    (void)state;
    atomic_uint           done[500] = {0};
    uint64_t              reported  = 0;
    const struct fby_jobs work      = {
             .job       = count,
             .arg       = done,
             .n_jobs    = 500,
             .n_threads = 4,
             .progress  = {.fn = remember, .arg = &reported},
    };
    assert_ok(fby_jobs_run(&work, NULL));
    for (int i = 0; i < 500; i++) {
        assert_int_equal(atomic_load(&done[i]), 1);
    }
    assert_int_equal(reported, 500);
}

static bool give_up_at_ten(void *arg, uint64_t done, uint64_t total)
{
    (void)total;
    return remember(arg, done, total) && done < 10;
}

static void without_threads_the_caller_runs_the_jobs(void **state)
{
    (void)state;
    atomic_uint     done[50] = {0};
    uint64_t        reported = 0;
    struct fby_jobs work     = {
            .job       = count,
            .arg       = done,
            .n_jobs    = 50,
            .n_threads = 4,
            .progress  = {.fn = remember, .arg = &reported},
    };
    no_threads = true;
    assert_ok(fby_jobs_run(&work, NULL));
    assert_int_equal(reported, 50);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(atomic_load(&done[i]), 1);
    }
    work.progress.fn = give_up_at_ten;
    assert_int_equal(fby_jobs_run(&work, NULL), FBY_GONE);
    assert_int_equal(reported, 10);
    no_threads = false;
}

static fby_err fail_from_seven(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    (void)arg;
    (void)stop;
    return i < 7 ? FBY_OK : fby_error_set(why, FBY_CONFIG, "job %u", i);
}

static void the_lowest_failure_is_the_one_reported(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct fby_error_detail why  = {0};
        const struct fby_jobs   work = {
              .job = fail_from_seven, .n_jobs = 100, .n_threads = 8};
        assert_int_equal(fby_jobs_run(&work, &why), FBY_CONFIG);
        assert_string_equal(why.text, "job 7");
    }
}

static fby_err until_stopped(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    (void)arg;
    (void)i;
    (void)why;
    while (!atomic_load(stop)) {
    }
    return FBY_GONE;
}

static bool refuse(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    (void)done;
    (void)total;
    return false;
}

static void progress_can_stop_jobs_that_run(void **state)
{
    (void)state;
    struct fby_error_detail why  = {0};
    const struct fby_jobs   work = {.job = until_stopped,
          .n_jobs                        = 2,
          .n_threads                     = 2,
          .progress                      = {.fn = refuse}};
    assert_int_equal(fby_jobs_run(&work, &why), FBY_GONE);
}

/* The result is FBY_OK if this thread handles no SIGINT. */
static fby_err without_signals(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    sigset_t mask;
    (void)arg;
    (void)i;
    (void)stop;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGINT) == 1
               ? FBY_OK
               : fby_error_set(why, FBY_SYS, "a signal can come here");
}

static void signals_go_to_the_thread_that_waits(void **state)
{
    (void)state;
    sigset_t                mask;
    struct fby_error_detail why  = {0};
    const struct fby_jobs   work = {.job = without_signals, .n_jobs = 8};
    assert_ok(fby_jobs_run(&work, &why));
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGINT), 0);
}

static void no_jobs_are_done_at_once(void **state)
{
    (void)state;
    const struct fby_jobs work = {.job = count};
    assert_ok(fby_jobs_run(&work, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_is_done_once_and_the_end_is_reported),
        cmocka_unit_test(without_threads_the_caller_runs_the_jobs),
        cmocka_unit_test(the_lowest_failure_is_the_one_reported),
        cmocka_unit_test(progress_can_stop_jobs_that_run),
        cmocka_unit_test(signals_go_to_the_thread_that_waits),
        cmocka_unit_test(no_jobs_are_done_at_once),
    };
    return cmocka_run_group_tests_name(
        "worker.source.parallel", tests, NULL, NULL);
}
