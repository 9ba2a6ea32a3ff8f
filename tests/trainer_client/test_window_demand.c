/* SPDX-License-Identifier: Apache-2.0 */
/* When an answer is late, and whether the consumer needs it soon. */
#include "tests/trainer_client/window_words.h"

/* ---- When an answer is late ---------------------------------------------- */

enum { KNOWN = 64, ANSWERS = 3 * KNOWN };

/* Twice the smallest time that at most one in 20 of the last 64 is above. */
static int64_t expected_deadline(const int64_t *took, int n)
{
    const int64_t *last = n > KNOWN ? &took[n - KNOWN] : took;
    int            many = n > KNOWN ? KNOWN : n;
    int64_t        p95  = INT64_MAX;
    for (int i = 0; i < many; i++) {
        int above = 0;
        for (int j = 0; j < many; j++) {
            above += last[j] > last[i];
        }
        p95 = 20 * above <= many && last[i] < p95 ? last[i] : p95;
    }
    int64_t least = n < 20 ? 200 * MS : 20 * MS;
    return 2 * p95 > least ? 2 * p95 : least;
}

/* Between 1 and 97 ms, in no order, then a while of less than 10 ms. */
static int64_t time_of(int step)
{
    return (step < 2 * KNOWN ? step * 89 % 97 + 1 : step % 9 + 1) * MS;
}

static void an_answer_is_late_after_twice_what_19_of_20_took(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.hedge_first        = 200 * MS;
    struct driver d            = started_with(&c, 1);
    int64_t       took[ANSWERS];
    assert_int_equal(fby_window_hedge_after(d.w), 200 * MS);
    for (int step = 0; step < ANSWERS; step++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        took[step]          = time_of(step);
        d.now += took[step];
        answer_with(&d, &r, 1);
        assert_int_equal(
            fby_window_hedge_after(d.w), expected_deadline(took, step + 1));
        take_and_release(&d, (uint64_t)step);
        turn(&d);
    }
    fby_window_destroy(&d.w);
}

/* Batches of an even step have half the bytes. */
static uint64_t half_of_even_steps(
    const void *context, uint64_t epoch, uint64_t step)
{
    (void)context;
    (void)epoch;
    return step % 2 == 0 ? BATCH / 2 : 2 * BATCH;
}

/* Steps of two kinds, of which the short ones take 1 ms and the whole ones
 * 90 ms. *out is the request for step 40. */
static struct driver of_two_kinds(struct fby_action *out)
{
    struct fby_window_config c = config_of(1);
    c.max_bytes                = (uint64_t)3 * BATCH;
    struct driver           d  = driver_of(&c);
    struct fby_error_detail why;
    (void)join(&d, 1);
    (void)join(&d, 2);
    assert_ok(fby_window_start(d.w, d.now,
        &(struct fby_window_plan){.steps_per_epoch = 1000,
            .total                                 = 1000,
            .bytes                                 = half_of_even_steps},
        &why));
    turn(&d);
    for (uint64_t step = 0; step < 40; step++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(r.bytes, step % 2 == 0 ? BATCH / 2 : BATCH);
        assert_int_equal(fby_window_used_bytes(d.w), r.bytes);
        d.now += step % 2 == 0 ? 1 * MS : 90 * MS;
        fby_window_heard(d.w, d.now, 1 - r.peer);
        answer_with(&d, &r, 1);
        take_and_release(&d, step);
        turn(&d);
    }
    *out = nth_action(&d, FBY_DO_REQUEST, 0);
    return d;
}

static void short_batches_are_late_by_what_short_ones_took(void **state)
{
    (void)state;
    struct fby_action       r;
    struct driver           d = of_two_kinds(&r);
    struct fby_window_batch batch;
    assert_int_equal(fby_window_hedge_after(d.w), 180 * MS);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 20 * MS - 1);
    assert_int_equal(counters(&d).hedges, 0);
    wait(&d, 1);
    assert_int_equal(counters(&d).hedges, 1);
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    answer_with(&d, &r, 1);
    take_and_release(&d, 40);
    turn(&d);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    int64_t asked = d.now;
    while (counters(&d).hedges == 1 && d.now < asked + S) {
        fby_window_heard(d.w, d.now, 0);
        fby_window_heard(d.w, d.now, 1);
        d.now = fby_window_deadline(d.w);
        turn(&d);
    }
    assert_int_equal(d.now - asked, 180 * MS);
    fby_window_destroy(&d.w);
}

/* ---- Whether the consumer needs it --------------------------------------- */

/* Six batches at a time, the first `n` of which are ready after 10 ms; worker 1
 * has steps 0, 1, 3 and 5. An open request is late after 60 ms. The consumer
 * first wants a batch `wish` after the start. */
static struct driver ready_after_10_ms(int n, int64_t wish)
{
    struct fby_window_config c = config_of(6);
    c.times.hedge_first        = 60 * MS;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_constant_locality(&d);
    assert_requested_peers(&d, "110101");
    struct fby_action       r[6];
    struct fby_window_batch batch;
    for (int i = 0; i < 6; i++) {
        r[i] = nth_action(&d, FBY_DO_REQUEST, i);
    }
    wait(&d, wish);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 10 * MS - wish);
    for (int i = 0; i < n; i++) {
        answer_with(&d, &r[i], 1);
    }
    return d;
}

static void take_at(struct driver *d, int64_t at)
{
    struct fby_window_batch batch;
    wait(d, BEGIN + at - d->now);
    assert_ok(take(d, &batch));
}

/* Three ENDs make a service time of 8906251 ns: 10 ms + 1 ns by the first and
 * the third, 1 ns by the second, each of which counts an eighth. */
static void a_late_step_is_needed_when_the_rest_lasts_less_than_a_service(
    void **state)
{
    (void)state;
    for (int64_t last = 8906250; last <= 8906252; last += 2) {
        struct driver d = ready_after_10_ms(3, 0);
        take_at(&d, 60 * MS - 2 * last);
        take_at(&d, 60 * MS - last);
        wait(&d, last); /* the third is ready */
        assert_int_equal(counters(&d).hedges, last == 8906250 ? 1 : 0);
        fby_window_destroy(&d.w);
    }
}

/* Two ENDs make a service time of 8750001 ns. Until the second wish the time
 * before the first one is the interval. */
static void a_consumer_that_began_slowly_is_not_in_a_hurry(void **state)
{
    (void)state;
    for (int64_t wish = 8750000; wish <= 8750001; wish++) {
        struct driver d = ready_after_10_ms(2, wish);
        take_at(&d, 56 * MS);
        wait(&d, 4 * MS);
        assert_int_equal(counters(&d).hedges, wish == 8750000 ? 1 : 0);
        fby_window_destroy(&d.w);
    }
}

/* Step 6 was asked of worker 1 after 15 ms, while it had others, and answered
 * after 20 ms: that took 5 ms. With steps 0, 1 and 2, which took 10 ms, 1 ns
 * and 20 ms of their workers, a service takes 9677735.375 ns. */
static void an_answer_takes_time_from_its_request_on(void **state)
{
    (void)state;
    for (int64_t last = 9677735; last <= 9677736; last++) {
        struct driver d = ready_after_10_ms(1, 0);
        wait(&d, 5 * MS);
        take_and_release(&d, 0);
        demand_batch(&d);
        assert_turn(&d, "REQUEST 1 #7 step 6 slot 0");
        wait(&d, 5 * MS);
        struct fby_action r[] = {{.peer = 1, .id = {7}, .slot = 0},
            {.peer = 1, .id = {2}, .slot = 1},
            {.peer = 0, .id = {3}, .slot = 2}};
        for (int i = 0; i < 3; i++) {
            answer_with(&d, &r[i], 1);
        }
        take_at(&d, 60 * MS - last);
        wait(&d, last);
        assert_int_equal(counters(&d).hedges, last == 9677735 ? 1 : 0);
        fby_window_destroy(&d.w);
    }
}

/* Two are ready, so each may last half as long. */
static void every_ready_batch_lasts_as_long_as_the_last(void **state)
{
    (void)state;
    for (int64_t last = 4453125; last <= 4453126; last++) {
        struct driver d = ready_after_10_ms(3, 0);
        take_at(&d, 60 * MS - last);
        wait(&d, last);
        assert_int_equal(counters(&d).hedges, last == 4453125 ? 1 : 0);
        fby_window_destroy(&d.w);
    }
}

/* The service time is 7792969.75 ns after a fourth END; the time from one batch
 * to the next is 4 ms, then so much that it is `interval` on average. */
static void the_last_interval_counts_a_quarter(void **state)
{
    (void)state;
    for (int64_t interval = 7792969; interval <= 7792970; interval++) {
        struct driver d = ready_after_10_ms(4, 0);
        int64_t       b = 4 * MS + 4 * (interval - 4 * MS);
        take_at(&d, 60 * MS - b - 4 * MS);
        take_at(&d, 60 * MS - b);
        take_at(&d, 60 * MS);
        turn(&d);
        assert_int_equal(counters(&d).hedges, interval == 7792969 ? 1 : 0);
        fby_window_destroy(&d.w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_late_after_twice_what_19_of_20_took),
        cmocka_unit_test(short_batches_are_late_by_what_short_ones_took),
        cmocka_unit_test(
            a_late_step_is_needed_when_the_rest_lasts_less_than_a_service),
        cmocka_unit_test(a_consumer_that_began_slowly_is_not_in_a_hurry),
        cmocka_unit_test(an_answer_takes_time_from_its_request_on),
        cmocka_unit_test(every_ready_batch_lasts_as_long_as_the_last),
        cmocka_unit_test(the_last_interval_counts_a_quarter),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_demand", tests, NULL, NULL);
}
