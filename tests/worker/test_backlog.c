/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <pthread.h>
#include <semaphore.h>

#include "common/clock.h"
#include "tests/worker/kit.h"
#include "worker/stages/backlog.h"

enum { MEMORY = 16 << 20, TASKS = 100, JOBS = 8, PATIENCE_S = 20 };

struct bench {
    struct kit          kit;
    struct fby_memory  *memory;
    struct fby_arenas  *arenas;
    struct fby_backlog *backlog;
    struct fby_job     *jobs[JOBS]; /* added so far */
    unsigned            n_jobs;
};

static void bench_open_with(struct bench *bench, void **state, uint32_t tasks)
{
    *bench = (struct bench){.memory = fby_memory_create(MEMORY)};
    kit_open(&bench->kit, *state, "", "");
    assert_ok(fby_arenas_create(bench->memory, &bench->arenas));
    bench->backlog = fby_backlog_create(tasks);
}

static void bench_open(struct bench *bench, void **state)
{
    bench_open_with(bench, state, TASKS);
}

static void bench_close(struct bench *bench)
{
    fby_backlog_destroy(&bench->backlog);
    for (unsigned i = 0; i < bench->n_jobs; i++) {
        fby_job_release(&bench->jobs[i]);
    }
    fby_arenas_destroy(&bench->arenas);
    assert_int_equal(fby_memory_counts(bench->memory).used, 0);
    fby_memory_destroy(&bench->memory);
    kit_close(&bench->kit);
}

static struct fby_job *add_job(
    struct bench *bench, const struct fby_job_spec *spec)
{
    struct fby_error_detail why = {{0}};
    struct fby_job        **job = &bench->jobs[bench->n_jobs++];
    assert_ok(fby_job_create(spec, bench->arenas, NULL, job, &why));
    fby_backlog_add_job(bench->backlog, *job);
    return *job;
}

/* A job of two rows; each seed is a stream. */
static struct fby_job *add(struct bench *bench, uint64_t seed, uint64_t step)
{
    return add_job(
        bench, &(struct fby_job_spec){.dataset_plan = bench->kit.dataset_plan,
                   .seed                            = seed,
                   .step                            = step,
                   .rows                            = 2});
}

/* Take the next row, which must belong to `job`. */
static void expect_row(struct bench *bench, const struct fby_job *job)
{
    struct fby_task *task = NULL;
    assert_ok(fby_backlog_take_task(bench->backlog, &task));
    assert_int_equal(task->job->spec.seed, job->spec.seed);
    assert_int_equal(task->job->spec.step, job->spec.step);
    assert_int_equal(task->job->spec.epoch, job->spec.epoch);
    assert_int_equal(task->job->spec.first_row, job->spec.first_row);
    assert_int_equal(task->rows, 1);
    assert_int_equal(task->substitutes, 0);
    assert_int_equal(task->sample, job->samples[task->row]);
    fby_backlog_free_task(bench->backlog, task);
}

static void expect_all_rows(struct bench *bench, const struct fby_job *job)
{
    expect_row(bench, job);
    expect_row(bench, job);
}

static void the_lowest_step_is_fetched_first(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    const struct fby_job *second = add(&bench, 1, 1);
    const struct fby_job *third  = add(&bench, 1, 2);
    const struct fby_job *first  = add(&bench, 1, 0);
    assert_int_equal(fby_backlog_count_rows(bench.backlog), 6);
    expect_all_rows(&bench, first);
    expect_all_rows(&bench, second);
    expect_all_rows(&bench, third);
    assert_int_equal(fby_backlog_count_rows(bench.backlog), 0);
    bench_close(&bench);
}

static void a_batch_that_was_started_is_finished_first(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    const struct fby_job *begun = add(&bench, 1, 1);
    expect_row(&bench, begun);
    const struct fby_job *lower = add(&bench, 1, 0);
    expect_row(&bench, begun);
    expect_all_rows(&bench, lower);
    bench_close(&bench);
}

/* Take the next row, which must belong to `job` and takes this CPU time. */
static void make_row(
    struct bench *bench, const struct fby_job *job, int64_t cpu_ns)
{
    struct fby_task *task = NULL;
    assert_ok(fby_backlog_take_task(bench->backlog, &task));
    assert_int_equal(task->job->spec.seed, job->spec.seed);
    task->cpu_ns = cpu_ns;
    fby_backlog_free_task(bench->backlog, task);
}

/* A batch of costly rows does not have to be finished first, and its stream
 * waits until the other one has used as much. */
static void a_stream_of_costly_rows_lets_cheap_ones_by(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    const struct fby_job *costly = add(&bench, 1, 0);
    make_row(&bench, costly, 200 * FBY_NS_PER_MS);
    const struct fby_job *cheap = add(&bench, 2, 0);
    (void)add(&bench, 2, 1);
    (void)add(&bench, 2, 2);
    for (int i = 0; i < 4; i++) {
        make_row(&bench, cheap, 45 * FBY_NS_PER_MS);
    }
    make_row(&bench, costly, 200 * FBY_NS_PER_MS);
    make_row(&bench, cheap, 45 * FBY_NS_PER_MS);
    make_row(&bench, cheap, 45 * FBY_NS_PER_MS);
    bench_close(&bench);
}

static void streams_take_turns(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    const struct fby_job *a0 = add(&bench, 1, 0);
    const struct fby_job *a1 = add(&bench, 1, 1);
    const struct fby_job *a2 = add(&bench, 1, 2);
    const struct fby_job *b1 = add(&bench, 2, 1);
    const struct fby_job *b0 = add(&bench, 2, 0);
    expect_all_rows(&bench, a0);
    expect_all_rows(&bench, b0);
    expect_all_rows(&bench, a1);
    expect_all_rows(&bench, b1);
    expect_all_rows(&bench, a2);
    bench_close(&bench);
}

static void epochs_come_before_steps_and_steps_before_rows(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    struct fby_job_spec spec = {
        .dataset_plan = bench.kit.dataset_plan, .epoch = 1, .rows = 2};
    const struct fby_job *last   = add_job(&bench, &spec);
    spec.epoch                   = 0;
    spec.step                    = 1;
    const struct fby_job *third  = add_job(&bench, &spec);
    spec.step                    = 0;
    spec.first_row               = 4;
    const struct fby_job *second = add_job(&bench, &spec);
    spec.first_row               = 2;
    const struct fby_job *first  = add_job(&bench, &spec);
    expect_all_rows(&bench, first);
    expect_all_rows(&bench, second);
    expect_all_rows(&bench, third);
    expect_all_rows(&bench, last);
    bench_close(&bench);
}

/* It came during the turn of the first stream and goes before its next turn. */
static void a_new_stream_takes_the_next_turn(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    const struct fby_job *a0 = add(&bench, 1, 0);
    const struct fby_job *a1 = add(&bench, 1, 1);
    expect_row(&bench, a0);
    const struct fby_job *b0 = add(&bench, 2, 0);
    const struct fby_job *b1 = add(&bench, 2, 1);
    assert_int_equal(fby_backlog_count_rows(bench.backlog), 7);
    expect_row(&bench, a0);
    expect_all_rows(&bench, a1);
    expect_all_rows(&bench, b0);
    expect_all_rows(&bench, b1);
    bench_close(&bench);
}

static void a_row_to_be_fetched_again_comes_before_all(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    struct fby_task *task = NULL;
    struct fby_task *same = NULL;
    add(&bench, 1, 0);
    assert_ok(fby_backlog_take_task(bench.backlog, &task));
    task->substitutes = 1;
    fby_backlog_retry_task(bench.backlog, task);
    assert_ok(fby_backlog_take_task(bench.backlog, &same));
    assert_ptr_equal(same, task);
    assert_int_equal(same->substitutes, 1);
    fby_backlog_free_task(bench.backlog, same);
    bench_close(&bench);
}

static void cancelled_jobs_are_swept_out(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    struct fby_job       *cancelled = add(&bench, 1, 0);
    const struct fby_job *other     = add(&bench, 1, 1);
    assert_true(fby_job_cancel(cancelled));
    assert_false(fby_job_cancel(cancelled));
    fby_backlog_remove_aborted(bench.backlog);
    expect_all_rows(&bench, other);
    bench_close(&bench);
}

/* ---- Waiting ------------------------------------------------------------- */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */

int __real_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock);

static sem_t waiting; /* posted before a wait, with the lock held */

int __wrap_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock)
{
    sem_post(&waiting);
    return __real_pthread_cond_wait(changed, lock);
}

/* NOLINTEND(readability-identifier-naming) */

struct waiter { /* a thread that takes the next row */
    struct fby_backlog *backlog;
    struct fby_task    *task;
    fby_err             err;
    pthread_t           thread;
};

static void *take_next(void *opaque)
{
    struct waiter *waiter = opaque;
    waiter->err = fby_backlog_take_task(waiter->backlog, &waiter->task);
    return NULL;
}

/* Start the thread and return when it waits, so that a change must wake it. */
static void start_waiting(struct waiter *waiter, const struct bench *bench)
{
    *waiter = (struct waiter){.backlog = bench->backlog, .err = FBY_SYS};
    sem_init(&waiting, 0, 0);
    pthread_create(&waiter->thread, NULL, take_next, waiter);
    sem_wait(&waiting);
}

static void expect_woken(struct waiter *waiter, fby_err err)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    assert_int_equal(pthread_timedjoin_np(waiter->thread, NULL, &until), 0);
    assert_int_equal(waiter->err, err);
    sem_destroy(&waiting);
}

static void a_job_wakes_a_thread_that_waits_for_a_row(void **state)
{
    struct bench  bench;
    struct waiter waiter;
    bench_open(&bench, state);
    start_waiting(&waiter, &bench);
    struct fby_job *job = add(&bench, 1, 0);
    expect_woken(&waiter, FBY_OK);
    assert_ptr_equal(waiter.task->job, job);
    fby_backlog_free_task(bench.backlog, waiter.task);
    bench_close(&bench);
}

static void a_task_that_is_done_wakes_a_thread_that_waits_for_one(void **state)
{
    struct bench     bench;
    struct waiter    waiter;
    struct fby_task *task = NULL;
    bench_open_with(&bench, state, 1);
    add(&bench, 1, 0);
    assert_ok(fby_backlog_take_task(bench.backlog, &task));
    start_waiting(&waiter, &bench);
    fby_backlog_free_task(bench.backlog, task);
    expect_woken(&waiter, FBY_OK);
    assert_ptr_equal(waiter.task, task); /* there is no other */
    assert_int_equal(task->row, 1);
    start_waiting(&waiter, &bench);
    fby_backlog_retry_task(bench.backlog, task);
    expect_woken(&waiter, FBY_OK);
    assert_ptr_equal(waiter.task, task);
    fby_backlog_free_task(bench.backlog, task);
    bench_close(&bench);
}

static void every_task_is_used_again(void **state)
{
    enum { N = 3 };
    struct bench     bench;
    struct fby_task *tasks[N];
    bench_open_with(&bench, state, N);
    for (unsigned step = 0; step < 3; step++) {
        add(&bench, 1, step);
        add(&bench, 2, step);
    }
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < N; i++) {
            assert_ok(fby_backlog_take_task(bench.backlog, &tasks[i]));
        }
        assert_true(tasks[0] != tasks[1] && tasks[1] != tasks[2] &&
                    tasks[2] != tasks[0]);
        for (unsigned i = 0; i < N; i++) {
            fby_backlog_free_task(bench.backlog, tasks[i]);
        }
    }
    assert_int_equal(fby_backlog_count_rows(bench.backlog), 0);
    bench_close(&bench);
}

static void closing_wakes_all_threads_that_wait(void **state)
{
    struct bench  bench;
    struct waiter waiter;
    bench_open(&bench, state);
    start_waiting(&waiter, &bench);
    fby_backlog_close(bench.backlog);
    expect_woken(&waiter, FBY_GONE);
    bench_close(&bench);
}

static void a_closed_backlog_gives_no_task(void **state)
{
    struct bench     bench;
    struct fby_task *task = NULL;
    bench_open(&bench, state);
    add(&bench, 1, 0);
    assert_ok(fby_backlog_take_task(bench.backlog, &task));
    fby_backlog_retry_task(bench.backlog, task);
    fby_backlog_close(bench.backlog);
    assert_ok(
        fby_backlog_take_task(bench.backlog, &task)); /* the job was started */
    fby_backlog_free_task(bench.backlog, task);
    assert_int_equal(fby_backlog_take_task(bench.backlog, &task), FBY_GONE);
    bench_close(&bench);
}

static void a_closed_backlog_makes_no_thread_wait(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    struct fby_task *task = NULL;
    fby_backlog_close(bench.backlog);
    assert_int_equal(fby_backlog_take_task(bench.backlog, &task), FBY_GONE);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(the_lowest_step_is_fetched_first),
        IN_SANDBOX(a_batch_that_was_started_is_finished_first),
        IN_SANDBOX(a_stream_of_costly_rows_lets_cheap_ones_by),
        IN_SANDBOX(streams_take_turns),
        IN_SANDBOX(epochs_come_before_steps_and_steps_before_rows),
        IN_SANDBOX(a_new_stream_takes_the_next_turn),
        IN_SANDBOX(a_row_to_be_fetched_again_comes_before_all),
        IN_SANDBOX(cancelled_jobs_are_swept_out),
        IN_SANDBOX(a_job_wakes_a_thread_that_waits_for_a_row),
        IN_SANDBOX(a_task_that_is_done_wakes_a_thread_that_waits_for_one),
        IN_SANDBOX(every_task_is_used_again),
        IN_SANDBOX(closing_wakes_all_threads_that_wait),
        IN_SANDBOX(a_closed_backlog_gives_no_task),
        IN_SANDBOX(a_closed_backlog_makes_no_thread_wait),
    };
    return cmocka_run_group_tests_name("worker.backlog", tests, NULL, NULL);
}
