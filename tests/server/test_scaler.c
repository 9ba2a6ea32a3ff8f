/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers are wanted, and the reasons. */
#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "server/scaler.h"

#define S FBY_NS_PER_S

/* Two workers of 8 cores. */
static const struct fby_scaler_workers two = {.n = 2,
    .cores                                       = 16,
    .fetch_threads                               = 32,
    .transform_threads                           = 16,
    .encode_threads                              = 8};

/* A rank that took 1,000 rows a second for 30 s, and waited so long for them. A
 * row costs 10 ms of CPU. */
static struct fby_pace pace_of(uint32_t wait_ms)
{
    return (struct fby_pace){.span_ms = 30000,
        .rows                         = 30000,
        .wait_ms                      = wait_ms,
        .fetch_ms                     = 30000,
        .transform_ms                 = 270000,
        .encode_ms                    = 30000,
        .cpu_ms                       = 300000};
}

static struct fby_scaler_job job_of(const struct fby_pace *pace)
{
    struct fby_scaler_job job = {.name = "resnet"};
    fby_scaler_add_rank(&job, pace);
    return job;
}

static uint32_t decide(struct fby_scaler *scaler,
    const struct fby_scaler_workers *workers, const struct fby_pace *pace,
    int64_t now_ns)
{
    struct fby_buffer     why = {0};
    struct fby_scaler_job job = job_of(pace);
    uint32_t n = fby_scaler_decide(scaler, workers, &job, 1, now_ns, &why);
    fby_buffer_fini(&why);
    return n;
}

/* The first decision of a new server. */
static uint32_t decide_once(
    const struct fby_scaler_workers *workers, const struct fby_pace *pace)
{
    struct fby_scaler scaler = {.slot = 0};
    return decide(&scaler, workers, pace, S);
}

static void a_rank_that_waits_would_take_more(void **state)
{
    (void)state;
    struct fby_pace       half = pace_of(15000);
    struct fby_pace       all  = pace_of(30000);
    struct fby_scaler_job job  = job_of(&half);
    assert_float_equal(job.rows_per_s, 1000, 1e-6);
    assert_float_equal(job.demand, 2000, 1e-6);
    fby_scaler_add_rank(&job, &all); /* at most 4 times what it takes */
    assert_float_equal(job.rows_per_s, 2000, 1e-6);
    assert_float_equal(job.demand, 6000, 1e-6);
    assert_int_equal(job.n_measured, 2);
}

static void no_stage_is_busy_for_more_than_80_percent(void **state)
{
    (void)state;
    struct fby_pace pace = pace_of(15000);
    /* 2,000 rows a second keep 20 cores busy, which is 80 % of 25. */
    assert_int_equal(decide_once(&two, &pace), 4);
    pace.cpu_ms =
        288000; /* 19.2 cores are 80 % of 24, and 18 threads of 22.5 */
    assert_int_equal(decide_once(&two, &pace), 3);
    pace.transform_ms = 291000; /* 19.4 transform threads of 24.25 */
    assert_int_equal(decide_once(&two, &pace), 4);
}

static void each_stage_can_be_the_one_that_limits(void **state)
{
    (void)state;
    struct fby_pace fetch = pace_of(15000);
    fetch.fetch_ms        = 900000; /* 60 of 32 threads: 75 of 16 a worker */
    assert_int_equal(decide_once(&two, &fetch), 5);
    struct fby_pace encode = pace_of(15000);
    encode.encode_ms       = 300000; /* 20 of 8 threads: 25 of 4 a worker */
    assert_int_equal(decide_once(&two, &encode), 7);
}

static void without_cpu_time_the_time_of_threads_counts(void **state)
{
    (void)state;
    struct fby_pace           pace   = pace_of(15000);
    struct fby_scaler_workers untold = two;
    pace.cpu_ms                      = 0;
    untold.fetch_threads             = 0;
    untold.transform_threads         = 0;
    untold.encode_threads            = 0;
    assert_int_equal(decide_once(&untold, &pace), 4);
}

static void a_job_without_wait_asks_for_no_more(void **state)
{
    (void)state;
    struct fby_pace pace = pace_of(300);
    pace.cpu_ms          = 470000; /* 98 % of the cores */
    assert_int_equal(decide_once(&two, &pace), 2);
    pace.wait_ms = 900;
    assert_int_equal(decide_once(&two, &pace), 3);
}

static void at_most_four_times_as_many(void **state)
{
    (void)state;
    struct fby_pace pace = pace_of(15000);
    pace.cpu_ms          = 3000000;
    assert_int_equal(decide_once(&two, &pace), 8);
}

static void fewer_only_after_300_s(void **state)
{
    (void)state;
    struct fby_scaler scaler = {.slot = 0};
    struct fby_pace   much   = pace_of(15000);
    struct fby_pace   little = pace_of(0);
    little.cpu_ms            = 30000;
    little.transform_ms      = 30000;
    assert_int_equal(decide(&scaler, &two, &much, 5 * S), 4);
    assert_int_equal(decide(&scaler, &two, &little, 10 * S), 4);
    assert_int_equal(decide(&scaler, &two, &little, 300 * S), 4);
    assert_int_equal(decide(&scaler, &two, &little, 310 * S), 1);
    /* The highest number of the last 300 s. */
    assert_int_equal(decide(&scaler, &two, &much, 320 * S), 4);
    little.cpu_ms = 450000;
    assert_int_equal(decide(&scaler, &two, &little, 330 * S), 4);
    little.cpu_ms = 30000;
    assert_int_equal(decide(&scaler, &two, &little, 635 * S), 2);
    assert_int_equal(decide(&scaler, &two, &little, 10000 * S), 1);
}

static void the_first_decision_keeps_the_workers(void **state)
{
    (void)state;
    struct fby_pace pace = pace_of(0);
    pace.cpu_ms          = 30000;
    pace.transform_ms    = 30000;
    assert_int_equal(decide_once(&two, &pace), 2);
}

static void without_a_job_none_is_wanted(void **state)
{
    (void)state;
    struct fby_scaler scaler = {.slot = 0};
    struct fby_buffer why    = {0};
    assert_int_equal(fby_scaler_decide(&scaler, &two, NULL, 0, S, &why), 2);
    assert_int_equal(
        fby_scaler_decide(&scaler, &two, NULL, 0, 400 * S, &why), 0);
    fby_buffer_fini(&why);
}

static void without_a_worker_one_is_wanted(void **state)
{
    (void)state;
    const struct fby_scaler_workers none = {.n = 0};
    struct fby_pace                 pace = pace_of(15000);
    assert_int_equal(decide_once(&none, &pace), 1);
}

static void a_rank_without_a_step_keeps_the_workers(void **state)
{
    (void)state;
    struct fby_scaler scaler = {.slot = 0};
    struct fby_pace   none   = {.span_ms = 0};
    assert_int_equal(decide(&scaler, &two, &none, S), 2);
    assert_int_equal(decide(&scaler, &two, &none, 1000 * S), 2);
}

static void assert_reason(const struct fby_scaler_workers *workers,
    const struct fby_scaler_job *jobs, uint32_t n_jobs, const char *reason)
{
    struct fby_scaler scaler = {.slot = 0};
    struct fby_buffer why    = {0};
    (void)fby_scaler_decide(&scaler, workers, jobs, n_jobs, S, &why);
    fby_put_u8(&why, 0);
    if (strstr((const char *)why.data, reason) == NULL) {
        fail_msg("'%s' is not in:\n%s", reason, (const char *)why.data);
    }
    fby_buffer_fini(&why);
}

static void the_reasons_say_what_limits(void **state)
{
    (void)state;
    struct fby_pace           pace     = pace_of(15000);
    struct fby_scaler_job     jobs[10] = {job_of(&pace)};
    struct fby_scaler_workers workers  = two;
    assert_reason(&workers, jobs, 1,
        "job resnet: 1 rank, 1000 samples/s, waits 50 % of the time; without "
        "waiting 2000 samples/s\n");
    assert_reason(&workers, jobs, 1,
        "at that rate 20.0 cores are busy: 2 workers have 16; with 4 workers "
        "they are busy for at most 80 % of the time\n");
    pace = pace_of(23000); /* 4 times as many would be too few */
    fby_scaler_add_rank(&jobs[0], &pace);
    assert_reason(&workers, jobs, 1, "without waiting at least 6000 samples/s");
    workers.n_unusable = 1;
    assert_reason(&workers, jobs, 1, "1 further worker cannot serve the jobs");
    pace        = pace_of(15000);
    pace.cpu_ms = pace.transform_ms = 60000;
    struct fby_scaler_job light     = job_of(&pace);
    workers.n                       = 4;
    assert_reason(&workers, &light, 1, "more workers would not end the wait");
    for (int i = 1; i < 10; i++) {
        jobs[i] = (struct fby_scaler_job){.name = "idle", .n_ranks = 2};
    }
    assert_reason(&two, jobs, 10, "job idle: 2 ranks, no step yet");
    assert_reason(&two, jobs, 10, "and 2 other jobs\n");
}

static void a_name_is_cut_between_characters_and_has_no_control(void **state)
{
    (void)state;
    char                  name[128];
    struct fby_scaler_job job = {.name = name, .n_ranks = 1};
    memset(name, 'a', 99);
    strcpy(name + 99, "\xc3\xa9 more");
    assert_reason(&two, &job, 1, "aa?: 1 rank, no step yet\n");
    strcpy(name, "x\33[31m\r\ny");
    assert_reason(&two, &job, 1, "job x?[31m??y: 1 rank");
}

static void a_job_whose_ranks_all_wait_to_join_keeps_the_workers(void **state)
{
    (void)state;
    struct fby_scaler     scaler = {.slot = 0};
    struct fby_buffer     why    = {0};
    struct fby_scaler_job job    = {.name = "waits"};
    for (int64_t s = 1; s < 1000; s += 300) {
        assert_int_equal(
            fby_scaler_decide(&scaler, &two, &job, 1, s * S, &why), 2);
    }
    fby_buffer_fini(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_waits_would_take_more),
        cmocka_unit_test(no_stage_is_busy_for_more_than_80_percent),
        cmocka_unit_test(each_stage_can_be_the_one_that_limits),
        cmocka_unit_test(without_cpu_time_the_time_of_threads_counts),
        cmocka_unit_test(a_job_without_wait_asks_for_no_more),
        cmocka_unit_test(at_most_four_times_as_many),
        cmocka_unit_test(fewer_only_after_300_s),
        cmocka_unit_test(the_first_decision_keeps_the_workers),
        cmocka_unit_test(without_a_job_none_is_wanted),
        cmocka_unit_test(without_a_worker_one_is_wanted),
        cmocka_unit_test(a_rank_without_a_step_keeps_the_workers),
        cmocka_unit_test(the_reasons_say_what_limits),
        cmocka_unit_test(a_name_is_cut_between_characters_and_has_no_control),
        cmocka_unit_test(a_job_whose_ranks_all_wait_to_join_keeps_the_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
