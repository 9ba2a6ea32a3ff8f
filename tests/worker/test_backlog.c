#include "tests/test.h"

#include "tests/worker/kit.h"
#include "worker/backlog.h"

enum { MEMORY = 16 << 20, TASKS = 100, JOBS = 8 };

struct bench {
    struct kit          kit;
    struct fby_memory  *memory;
    struct fby_arenas  *arenas;
    struct fby_backlog *backlog;
    struct fby_job     *jobs[JOBS]; /* added so far */
    unsigned            n_jobs;
};

static void bench_open(struct bench *bench, void **state)
{
    *bench = (struct bench){.memory = fby_memory_create(MEMORY)};
    kit_open(&bench->kit, *state, "", "");
    assert_ok(fby_arenas_create(bench->memory, &bench->arenas));
    bench->backlog = fby_backlog_create(TASKS);
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

/* A job of two rows; each seed is a stream. */
static struct fby_job *add(struct bench *bench, uint64_t seed, uint64_t step)
{
    const struct fby_job_spec spec = {
        .prepared = bench->kit.prepared, .seed = seed, .step = step, .rows = 2};
    struct fby_why   why = {{0}};
    struct fby_job **job = &bench->jobs[bench->n_jobs++];
    assert_ok(fby_job_create(&spec, bench->arenas, NULL, job, &why));
    fby_backlog_add(bench->backlog, *job);
    return *job;
}

/* Take the next row, which must be one of `job`. */
static void expect_row(struct bench *bench, const struct fby_job *job)
{
    struct fby_task *task = NULL;
    assert_ok(fby_backlog_next(bench->backlog, &task));
    assert_int_equal(task->job->spec.seed, job->spec.seed);
    assert_int_equal(task->job->spec.step, job->spec.step);
    assert_int_equal(task->sample, job->samples[task->row]);
    fby_backlog_done(bench->backlog, task);
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
    assert_int_equal(fby_backlog_rows(bench.backlog), 6);
    expect_all_rows(&bench, first);
    expect_all_rows(&bench, second);
    expect_all_rows(&bench, third);
    assert_int_equal(fby_backlog_rows(bench.backlog), 0);
    bench_close(&bench);
}

static void a_batch_that_was_begun_is_finished(void **state)
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

static void a_row_to_be_fetched_again_comes_before_all(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    struct fby_task *task = NULL;
    struct fby_task *same = NULL;
    add(&bench, 1, 0);
    assert_ok(fby_backlog_next(bench.backlog, &task));
    task->substitutes = 1;
    fby_backlog_again(bench.backlog, task);
    assert_ok(fby_backlog_next(bench.backlog, &same));
    assert_ptr_equal(same, task);
    assert_int_equal(same->substitutes, 1);
    fby_backlog_done(bench.backlog, same);
    bench_close(&bench);
}

static void what_was_cancelled_is_swept_out(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    struct fby_job       *cancelled = add(&bench, 1, 0);
    const struct fby_job *other     = add(&bench, 1, 1);
    assert_true(fby_job_cancel(cancelled));
    assert_false(fby_job_cancel(cancelled));
    fby_backlog_sweep(bench.backlog);
    expect_all_rows(&bench, other);
    bench_close(&bench);
}

static void a_closed_backlog_lets_nobody_wait(void **state)
{
    struct bench bench;
    bench_open(&bench, state);
    struct fby_task *task = NULL;
    fby_backlog_close(bench.backlog);
    assert_int_equal(fby_backlog_next(bench.backlog, &task), FBY_GONE);
    bench_close(&bench);
}

#define IN_SANDBOX(test) \
    cmocka_unit_test_setup_teardown(test, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(the_lowest_step_is_fetched_first),
        IN_SANDBOX(a_batch_that_was_begun_is_finished),
        IN_SANDBOX(streams_take_turns),
        IN_SANDBOX(a_row_to_be_fetched_again_comes_before_all),
        IN_SANDBOX(what_was_cancelled_is_swept_out),
        IN_SANDBOX(a_closed_backlog_lets_nobody_wait),
    };
    return cmocka_run_group_tests_name("worker.backlog", tests, NULL, NULL);
}
