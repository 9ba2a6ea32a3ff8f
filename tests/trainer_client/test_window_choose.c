/* SPDX-License-Identifier: Apache-2.0 */
/* The worker that a step prefers, and when measurements favour another. */
#include "tests/trainer_client/window_words.h"

/* ---- Preference ---------------------------------------------------------- */

/* The instance that each of the first 32 steps is asked of; workers are listed
 * in the order of `instances`. */
static void assert_preferred(const uint64_t instances[4], const char *expected)
{
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    char                     asked[33];
    for (int i = 0; i < 4; i++) {
        (void)join(&d, instances[i]);
    }
    start_at(&d, 1000, 1000);
    for (uint64_t step = 0; step < 32; step++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        asked[step]         = (char)('0' + instances[r.peer]);
        answer(&d, &r);
        take_and_release(&d, step);
        turn(&d);
    }
    asked[32] = '\0';
    assert_string_equal(asked, expected);
    fby_window_destroy(&d.w);
}

/* Clients of any release prefer the same worker for a step, whatever order they
 * learned of the workers in: it has the data at hand. */
static void all_clients_prefer_the_same_worker_for_a_step(void **state)
{
    (void)state;
    const char *preferred = "41142432414431222143242343114133";
    assert_preferred((const uint64_t[]){1, 2, 3, 4}, preferred);
    assert_preferred((const uint64_t[]){4, 3, 2, 1}, preferred);
    assert_preferred((const uint64_t[]){3, 1, 4, 2}, preferred);
}

/* The steps with which a function of the plan was called, each once. */
struct asked_for {
    uint64_t n;
    uint64_t steps[8]; /* 1000 * epoch + step */
};

struct noted {
    struct asked_for locality;
    struct asked_for bytes;
};

static void note(struct asked_for *asked, uint64_t epoch, uint64_t step)
{
    uint64_t at = 1000 * epoch + step;
    if (asked->n == 0 || asked->steps[asked->n - 1] != at) {
        assert_true(asked->n < 8);
        asked->steps[asked->n++] = at;
    }
}

static uint64_t note_locality(
    const void *context, uint64_t epoch, uint64_t step)
{
    struct noted *noted = *(struct noted *const *)context;
    note(&noted->locality, epoch, step);
    return 0;
}

static uint64_t note_bytes(const void *context, uint64_t epoch, uint64_t step)
{
    struct noted *noted = *(struct noted *const *)context;
    note(&noted->bytes, epoch, step);
    return BATCH;
}

static void the_plan_is_asked_for_the_bytes_and_locality_of_each_step(
    void **state)
{
    (void)state;
    struct noted             noted      = {.locality = {.n = 0}};
    struct noted            *to         = &noted;
    struct fby_window_config c          = config_of(3);
    struct driver            d          = driver_of(&c);
    const uint64_t           expected[] = {2003, 2004, 3000};
    struct fby_error_detail  why;
    (void)join(&d, 1);
    assert_ok(fby_window_start(d.w, d.now,
        &(struct fby_window_plan){.steps_per_epoch = 5,
            .epoch                                 = 2,
            .step                                  = 3,
            .total                                 = 18,
            .bytes                                 = note_bytes,
            .locality                              = note_locality,
            .context                               = &to},
        &why));
    assert_turn(&d,
        "REQUEST 0 #1 step 2.3 slot 0; "
        "REQUEST 0 #2 step 2.4 slot 1; REQUEST 0 #3 step 3.0 slot 2");
    assert_int_equal(noted.locality.n, 3);
    assert_memory_equal(noted.locality.steps, expected, sizeof(expected));
    assert_memory_equal(noted.bytes.steps, expected, sizeof(expected));
    fby_window_destroy(&d.w);
}

/* ---- Load and pace ------------------------------------------------------- */

/* Workers 0 and 1, of which every step prefers the second. */
static struct driver of_one_block(uint32_t batches)
{
    struct fby_window_config c = config_of(batches);
    c.times.reach              = 1000 * S;
    c.times.ping               = 1000 * S;
    c.times.hedge_first        = 1000 * S;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    (void)join(&d, 2);
    start_constant_locality(&d);
    return d;
}

/* The preferred worker is asked while it would be done at most one service time
 * after the other one. */
static void a_preferred_worker_may_be_one_batch_behind(void **state)
{
    (void)state;
    struct driver d = of_one_block(9);
    assert_requested_peers(&d, "110101010");
    fby_window_destroy(&d.w);
}

/* Among workers that finish equally soon, the first; the third is preferred. */
static void the_worker_that_is_done_first_is_asked_instead(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(9);
    struct driver            d = driver_of(&c);
    for (uint64_t i = 1; i <= 3; i++) {
        (void)join(&d, i);
    }
    start_constant_locality(&d);
    assert_requested_peers(&d, "220120120");
    fby_window_destroy(&d.w);
}

/* A damaged answer no longer counts as load of its worker. */
static void a_worker_owes_nothing_after_a_damaged_answer(void **state)
{
    (void)state;
    struct driver     d  = of_one_block(2);
    struct fby_action r0 = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action r1 = nth_action(&d, FBY_DO_REQUEST, 1);
    assert_requested_peers(&d, "11");
    assert_int_equal(header(&d, &r0, 1), FBY_TAKE);
    assert_int_equal(end(&d, &r0, 1), FBY_TAKE);
    turn(&d);
    assert_requested_peers(&d, "0");
    r0 = nth_action(&d, FBY_DO_REQUEST, 0);
    answer_with(&d, &r0, 1);
    answer_with(&d, &r1, 1);
    take_and_release(&d, 0);
    take_and_release(&d, 1);
    turn(&d);
    assert_requested_peers(&d, "11");
    fby_window_destroy(&d.w);
}

/* One that is connected and preferred is enough. */
static void a_worker_that_is_not_preferred_is_not_connected(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.max_peers_before_start   = 1;
    struct driver d            = driver_of(&c);
    (void)join(&d, 2);
    (void)add(&d, 1);
    start_constant_locality(&d);
    assert_actions(&d, "REQUEST 0 #1 step 0 slot 0");
    fby_window_destroy(&d.w);
}

/* Five batches at a time, two of worker 0, each of which took 10 ms, and three
 * of worker 1, each of which took `slow`, at least 20 ms. All are ready. */
static struct driver measured(int64_t slow)
{
    struct driver     d = of_one_block(5);
    struct fby_action r[5];
    assert_requested_peers(&d, "11010");
    for (int i = 0; i < 5; i++) {
        r[i] = nth_action(&d, FBY_DO_REQUEST, i);
    }
    wait(&d, 10 * MS);
    answer_with(&d, &r[2], 1);
    wait(&d, 10 * MS);
    answer_with(&d, &r[4], 1);
    wait(&d, slow - 20 * MS);
    answer_with(&d, &r[0], 1);
    wait(&d, slow);
    answer_with(&d, &r[1], 1);
    wait(&d, slow);
    answer_with(&d, &r[3], 1);
    return d;
}

/* The consumer takes the five; which workers are asked for five more? */
static void assert_asked_next(struct driver *d, const char *expected)
{
    for (uint64_t step = 0; step < 5; step++) {
        take_and_release(d, step);
    }
    turn(d);
    assert_requested_peers(d, expected);
}

/* The pace of all is 13.3, 18.3 and 23.2 ms a batch: each answer moves it by an
 * eighth. */
static void a_slower_worker_is_asked_for_less(void **state)
{
    (void)state;
    const struct {
        int64_t     slow;
        const char *asked;
    } cases[] = {{20 * MS, "10010"}, {35 * MS, "01000"}, {50 * MS, "00100"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct driver d = measured(cases[i].slow);
        assert_asked_next(&d, cases[i].asked);
        fby_window_destroy(&d.w);
    }
}

/* The answer to an audit is a measurement of a worker that has no request, and
 * afterwards adds no load. Worker 0 takes 30 ms, worker 1 takes 10 ms; all take
 * 12.5 ms on average. */
static void an_audit_measures_a_worker_too(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.times.hedge_first        = 1000 * S;
    c.audit                    = 2;
    struct driver d            = driver_of(&c);
    (void)join(&d, 2); /* the preferred one */
    (void)join(&d, 1);
    start_constant_locality(&d);
    assert_requested_peers(&d, "01");
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    wait(&d, 10 * MS);
    answer_audit(&d, &second, 1);
    wait(&d, 20 * MS);
    answer(&d, &main);
    take_and_release(&d, 0);
    turn(&d);
    assert_requested_peers(&d, "1");
    fby_window_destroy(&d.w);
}

/* Answered or lost, an audit is no load: what follows is asked of the same. */
static void a_worker_owes_nothing_after_an_audit(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct fby_window_config c = config_of(4);
        c.audit                    = 4;
        struct driver d            = driver_of(&c);
        (void)join(&d, 1);
        (void)join(&d, 2);
        start_constant_locality(&d);
        assert_requested_peers(&d, "10110");
        for (int i = 0; i < 5; i++) {
            struct fby_action r = nth_action(&d, FBY_DO_REQUEST, i);
            if (r.slot != FBY_NO_SLOT) {
                answer(&d, &r);
            } else if (lost == 0) {
                answer_audit(&d, &r, 1);
            } else {
                fby_window_lost(d.w, d.now, r.peer, r.id);
            }
        }
        for (uint64_t step = 0; step < 4; step++) {
            take_and_release(&d, step);
        }
        turn(&d);
        assert_requested_peers(&d, "10110");
        fby_window_destroy(&d.w);
    }
}

/* A pace measured more than hedge_period ago is replaced by the mean of all
 * peers; that of worker 0 is so old in both cases here. */
static void an_old_pace_says_nothing(void **state)
{
    (void)state;
    for (int64_t age = 10 * S - 1; age <= 10 * S; age++) {
        struct driver d = measured(50 * MS);
        wait(&d, age);
        assert_asked_next(&d, age < 10 * S ? "01001" : "11010");
        fby_window_destroy(&d.w);
    }
}

static void a_restarted_worker_has_no_pace(void **state)
{
    (void)state;
    struct driver d = measured(50 * MS);
    fby_window_hello_first(d.w, d.now, 1);
    fby_window_hello_first(d.w, d.now, 0);
    struct driver before = d;
    turn(&before);
    welcome(&before, 0, 1, NULL, 0);
    welcome(&before, 1, 99, NULL, 0);
    fby_window_opened(d.w, d.now, 1);
    assert_asked_next(&d, "10010");
    fby_window_destroy(&d.w);
}

/* Worker 1 answered step 0 after 10 ms and works on step 1. */
static void an_overdue_answer_counts_before_it_is_there(void **state)
{
    (void)state;
    for (int64_t us = 9999; us <= 10001; us += 2) {
        struct driver     d = of_one_block(2);
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_requested_peers(&d, "11");
        wait(&d, 10 * MS);
        answer_with(&d, &r, 1);
        wait(&d, us * FBY_NS_PER_US);
        take_and_release(&d, 0);
        turn(&d);
        assert_requested_peers(&d, us < 10000 ? "1" : "0");
        fby_window_destroy(&d.w);
    }
}

/* The second request of worker 1, asked for later, does not hide that. */
static void the_oldest_request_of_a_worker_is_the_overdue_one(void **state)
{
    (void)state;
    struct driver     d = of_one_block(2);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    wait(&d, 10 * MS);
    answer_with(&d, &r, 1);
    wait(&d, 9 * MS);
    take_and_release(&d, 0);
    turn(&d);
    assert_requested_peers(&d, "1");
    for (int peer = 1; peer >= 0; peer--) {
        r = action_for(&d, FBY_DO_REQUEST, peer);
        fby_window_busy(d.w, d.now, peer, r.id, 5 * MS);
        turn(&d);
    }
    wait(&d, 5 * MS);
    assert_requested_peers(&d, "0");
    fby_window_destroy(&d.w);
}

static void requests_spread_over_workers_of_equal_speed(void **state)
{
    (void)state;
    struct driver d = started(8, 4);
    for (int peer = 0; peer < 4; peer++) {
        assert_in_range(count(&d, FBY_DO_REQUEST, peer), 1, 4);
    }
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_clients_prefer_the_same_worker_for_a_step),
        cmocka_unit_test(
            the_plan_is_asked_for_the_bytes_and_locality_of_each_step),
        cmocka_unit_test(a_preferred_worker_may_be_one_batch_behind),
        cmocka_unit_test(the_worker_that_is_done_first_is_asked_instead),
        cmocka_unit_test(a_worker_owes_nothing_after_a_damaged_answer),
        cmocka_unit_test(a_worker_that_is_not_preferred_is_not_connected),
        cmocka_unit_test(a_slower_worker_is_asked_for_less),
        cmocka_unit_test(an_audit_measures_a_worker_too),
        cmocka_unit_test(a_worker_owes_nothing_after_an_audit),
        cmocka_unit_test(an_old_pace_says_nothing),
        cmocka_unit_test(a_restarted_worker_has_no_pace),
        cmocka_unit_test(an_overdue_answer_counts_before_it_is_there),
        cmocka_unit_test(the_oldest_request_of_a_worker_is_the_overdue_one),
        cmocka_unit_test(requests_spread_over_workers_of_equal_speed),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_choose", tests, NULL, NULL);
}
