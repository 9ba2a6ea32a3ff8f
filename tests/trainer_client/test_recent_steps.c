/* SPDX-License-Identifier: Apache-2.0 */
/* The pace of a trainer, from the times of its steps. */
#include "tests/test.h"

#include "common/clock.h"
#include "trainer_client/batch/recent_steps.h"

#define MS FBY_NS_PER_MS
#define S  FBY_NS_PER_S

static const int64_t window_ns = 30 * S;

static const struct fby_stage_times times = {
    .fetch = 4 * MS, .transform = 30 * MS, .encode = 6 * MS, .cpu = 35 * MS};

/* Add `n` steps of 64 rows that compute and wait so long. */
static void add_steps(struct fby_recent_steps *steps, uint32_t n,
    int64_t compute_ns, int64_t wait_ns)
{
    for (uint32_t i = 0; i < n; i++) {
        fby_recent_steps_wait(steps, wait_ns);
        fby_recent_steps_add(
            steps, steps->last_ns + compute_ns + wait_ns, 64, &times);
    }
}

/* The first batch came at second 1. */
static struct fby_recent_steps begin(void)
{
    struct fby_recent_steps steps = {.n = 0};
    fby_recent_steps_wait(&steps, S);
    fby_recent_steps_add(&steps, S, 64, &times);
    return steps;
}

static void assert_pace(const struct fby_recent_steps *steps, uint32_t span_ms,
    uint64_t rows, uint32_t wait_ms)
{
    struct fby_pace pace =
        fby_recent_steps_pace(steps, steps->last_ns, window_ns);
    assert_int_equal(pace.span_ms, span_ms);
    assert_int_equal(pace.rows, rows);
    assert_int_equal(pace.wait_ms, wait_ms);
}

static void the_first_batch_has_no_step(void **state)
{
    (void)state;
    struct fby_recent_steps none  = {.n = 0};
    struct fby_recent_steps steps = begin();
    assert_pace(&none, 0, 0, 0);
    assert_pace(&steps, 0, 0, 0);
}

static void a_pace_has_rows_and_wait(void **state)
{
    (void)state;
    struct fby_recent_steps steps = begin();
    add_steps(&steps, 10, 80 * MS, 20 * MS);
    assert_pace(&steps, 1000, 640, 200);
    struct fby_pace pace =
        fby_recent_steps_pace(&steps, steps.last_ns, window_ns);
    assert_int_equal(pace.fetch_ms, 40);
    assert_int_equal(pace.transform_ms, 300);
    assert_int_equal(pace.encode_ms, 60);
    assert_int_equal(pace.cpu_ms, 350);
}

static void waits_of_several_calls_add_up(void **state)
{
    (void)state;
    struct fby_recent_steps steps = begin();
    fby_recent_steps_wait(&steps, 20 * MS); /* in vain */
    add_steps(&steps, 1, 80 * MS, 30 * MS);
    assert_pace(&steps, 110, 64, 50);
}

static void steps_that_compute_for_long_do_not_count(void **state)
{
    (void)state;
    struct fby_recent_steps steps = begin();
    add_steps(&steps, 5, 80 * MS, 20 * MS);
    add_steps(&steps, 1, 1001 * MS, 20 * MS); /* an evaluation */
    add_steps(&steps, 5, 80 * MS, 20 * MS);
    assert_pace(&steps, 1000, 640, 200);
    add_steps(&steps, 1, 1000 * MS, 0); /* 10 times the median */
    assert_pace(&steps, 2000, 704, 200);
}

static void steps_that_wait_for_long_count(void **state)
{
    (void)state;
    struct fby_recent_steps steps = begin();
    add_steps(&steps, 5, 80 * MS, 20 * MS);
    add_steps(&steps, 1, 80 * MS, 5 * S);
    assert_pace(&steps, 5580, 384, 5100);
}

static void steps_are_forgotten_after_30_s_but_the_last_four(void **state)
{
    (void)state;
    struct fby_recent_steps steps = begin();
    add_steps(&steps, 10, S, 0); /* the last one at second 11 */
    assert_int_equal(
        fby_recent_steps_pace(&steps, 36 * S, window_ns).rows, 384);
    assert_int_equal(
        fby_recent_steps_pace(&steps, 36 * S + 1, window_ns).rows, 320);
    struct fby_pace pace = fby_recent_steps_pace(&steps, 999 * S, window_ns);
    assert_int_equal(pace.rows, 256);
    assert_int_equal(pace.span_ms, 4000);
    add_steps(&steps, 100, S, 0);
    assert_pace(&steps, 31000, 1984 /* 31 steps */, 0);
}

static void the_last_1024_steps_count(void **state)
{
    (void)state;
    struct fby_recent_steps steps = begin();
    add_steps(&steps, 1000, MS, 0);
    add_steps(&steps, FBY_RECENT_STEPS, 2 * MS, 2 * MS);
    assert_pace(&steps, 4 * FBY_RECENT_STEPS, UINT64_C(64) * FBY_RECENT_STEPS,
        2 * FBY_RECENT_STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_batch_has_no_step),
        cmocka_unit_test(a_pace_has_rows_and_wait),
        cmocka_unit_test(waits_of_several_calls_add_up),
        cmocka_unit_test(steps_that_compute_for_long_do_not_count),
        cmocka_unit_test(steps_that_wait_for_long_count),
        cmocka_unit_test(steps_are_forgotten_after_30_s_but_the_last_four),
        cmocka_unit_test(the_last_1024_steps_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
