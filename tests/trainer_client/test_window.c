/* SPDX-License-Identifier: Apache-2.0 */
/* The window's slots, order, end and clock. */
#include "tests/trainer_client/window_words.h"

/* ---- Config -------------------------------------------------------------- */

static void the_defaults_are_those_of_the_header(void **state)
{
    (void)state;
    const struct fby_window_config c        = fby_window_defaults();
    const struct fby_window_config expected = {
        .max_peers              = 1024,
        .max_peers_before_start = 16,
        .times                  = {.ping      = 1 * S,
                             .reach           = 3 * S,
                             .backoff         = 1 * S,
                             .backoff_max     = 30 * S,
                             .idle            = 60 * S,
                             .hedge_min       = 20 * MS,
                             .hedge_first     = 1 * S,
                             .hedge_period    = 10 * S,
                             .suspect         = 100 * MS,
                             .stall           = 300 * MS,
                             .suspended_after = 500 * MS,
                             .credit          = 50 * MS,
                             .busy_min        = 5 * MS,
                             .warn            = 5 * S},
    };
    assert_memory_equal(&c.times, &expected.times, sizeof(c.times));
    assert_int_equal(c.max_peers, expected.max_peers);
    assert_int_equal(c.max_peers_before_start, expected.max_peers_before_start);
    assert_int_equal(c.max_batches + c.max_bytes + c.batch_bytes, 0);
    assert_int_equal(c.max_chunks + c.seed + c.audit, 0);
}

static void assert_refused(
    const struct fby_window_config *config, const char *expected)
{
    struct fby_window      *w = NULL;
    struct fby_error_detail why;
    assert_int_equal(fby_window_create(config, 0, &w, &why), FBY_CONFIG);
    assert_string_equal(why.text, expected);
    assert_null(w);
}

static void a_window_without_room_for_anything_is_refused(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    c.max_batches              = 0;
    assert_refused(&c, "window of 0 batches of 1000 bytes and 8 chunks, "
                       "8 workers: each must be at least 1");
    c             = config_of(2);
    c.batch_bytes = 0;
    assert_refused(&c, "window of 2 batches of 0 bytes and 8 chunks, "
                       "8 workers: each must be at least 1");
    c            = config_of(2);
    c.max_chunks = 0;
    assert_refused(&c, "window of 2 batches of 1000 bytes and 0 chunks, "
                       "8 workers: each must be at least 1");
    c           = config_of(2);
    c.max_peers = 0;
    assert_refused(&c, "window of 2 batches of 1000 bytes and 8 chunks, "
                       "0 workers: each must be at least 1");
}

static void a_window_of_one_of_each_works(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.batch_bytes              = 1;
    c.max_bytes                = 1;
    c.max_chunks               = 1;
    c.max_peers                = 1;
    struct fby_window_batch batch;
    struct driver           d = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_destroy(&d.w);
    assert_null(d.w);
    fby_window_destroy(&d.w); /* once more is nothing */
}

static void a_batch_that_never_fits_is_refused_with_both_numbers(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    c.batch_bytes              = 2001;
    assert_refused(
        &c, "a batch of 2001 bytes does not fit into a window of 2000 bytes");
    c.batch_bytes   = 2000;
    struct driver d = driver_of(&c);
    fby_window_destroy(&d.w);
}

static fby_err start(struct driver *d, uint64_t per_epoch, uint64_t step,
    struct fby_error_detail *why)
{
    struct fby_window_plan plan = {
        .steps_per_epoch = per_epoch, .epoch = 2, .step = step, .total = 12};
    return fby_window_start(d->w, d->now, &plan, why);
}

static void a_first_epoch_whose_steps_overflow_is_refused(void **state)
{
    (void)state;
    struct fby_window_config c    = config_of(2);
    struct driver            d    = driver_of(&c);
    struct fby_error_detail  why  = {""};
    struct fby_window_plan   plan = {
          .steps_per_epoch = 4, .epoch = UINT64_MAX / 4, .total = UINT64_MAX};
    assert_int_equal(fby_window_start(d.w, d.now, &plan, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "epoch 4611686018427387903 is too large"));
    fby_window_destroy(&d.w);
}

static void a_first_step_beyond_the_epoch_is_refused(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(2);
    struct driver            d = driver_of(&c);
    struct fby_error_detail  why;
    struct fby_window_batch  batch;
    assert_int_equal(start(&d, 4, 4, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "step 4: an epoch has 4 steps, counted from 0");
    assert_int_equal(start(&d, 0, 0, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "step 0: an epoch has 0 steps, counted from 0");
    assert_int_equal(start(&d, 4, UINT64_MAX, &why), FBY_CONFIG);
    assert_int_equal(take(&d, &batch), FBY_AGAIN); /* it has not started */
    fby_window_destroy(&d.w);
}

static void a_stream_begins_at_its_first_step_and_ends_at_its_total(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(4);
    struct driver            d = driver_of(&c);
    struct fby_error_detail  why;
    struct fby_window_batch  batch;
    (void)join(&d, 1);
    assert_ok(start(&d, 4, 3, &why));
    assert_turn(&d, "REQUEST 0 #1 step 2.3 slot 0");
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    assert_ok(take(&d, &batch));
    assert_int_equal(batch.epoch, 2);
    assert_int_equal(batch.step, 3);
    assert_int_equal(batch.slot, 0);
    assert_int_equal(batch.peer, 0);
    assert_int_equal(batch.id.value, 1);
    assert_int_equal(take(&d, &batch), FBY_GONE);
    assert_turn(&d, "");
    assert_counters(&d, "delivered 1, requests 1");
    fby_window_destroy(&d.w);
}

/* ---- The window ---------------------------------------------------------- */

static void no_more_is_asked_than_slots_and_bytes_allow(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(8);
    c.max_bytes                = 3 * BATCH + BATCH / 2;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1);
    start_at(&d, 100, 100);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 3);
    assert_int_equal(fby_window_used_bytes(d.w), 3 * BATCH);
    fby_window_destroy(&d.w);
}

static void a_held_slot_is_not_given_to_a_new_step(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_action       r = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &r);
    assert_ok(take(&d, &batch));
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
    fby_window_release(d.w, d.now, batch.slot);
    turn(&d);
    assert_int_equal(nth_action(&d, FBY_DO_REQUEST, 0).step, 1);
    fby_window_destroy(&d.w);
}

static void bytes_are_those_of_slots_in_use(void **state)
{
    (void)state;
    struct driver           d = started(2, 1);
    struct fby_action       r = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    assert_int_equal(fby_window_used_bytes(d.w), 2 * BATCH);
    fby_window_lost(d.w, d.now, 0, r.id);
    assert_int_equal(fby_window_used_bytes(d.w), 2 * BATCH);
    turn(&d);
    r = nth_action(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    assert_ok(take(&d, &batch));
    assert_int_equal(fby_window_used_bytes(d.w), 2 * BATCH);
    fby_window_release(d.w, d.now, batch.slot);
    assert_int_equal(fby_window_used_bytes(d.w), BATCH);
    turn(&d);
    assert_int_equal(fby_window_used_bytes(d.w), 2 * BATCH);
    fby_window_destroy(&d.w);
}

static void only_batches_without_a_gap_before_them_are_ready(void **state)
{
    (void)state;
    struct driver           d = started(3, 1);
    struct fby_action       r[3];
    struct fby_window_batch batch;
    for (int i = 0; i < 3; i++) {
        r[i] = nth_action(&d, FBY_DO_REQUEST, i);
    }
    answer(&d, &r[2]);
    assert_int_equal(fby_window_n_ready(d.w), 0);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    answer(&d, &r[0]);
    assert_int_equal(fby_window_n_ready(d.w), 1);
    answer(&d, &r[1]);
    assert_int_equal(fby_window_n_ready(d.w), 3);
    take_and_release(&d, 0);
    assert_int_equal(fby_window_n_ready(d.w), 2);
    take_and_release(&d, 1);
    take_and_release(&d, 2);
    fby_window_destroy(&d.w);
}

/* ---- Time ---------------------------------------------------------------- */

/* A worker's PING is due after 1 s; nothing else is before. */
static void a_loop_that_slept_suspects_no_worker(void **state)
{
    (void)state;
    struct driver           d = started(1, 2);
    struct fby_window_batch batch;
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    (void)fby_window_deadline(d.w);
    d.now += 60 * S;
    assert_turn(&d, "");
    assert_counters(&d, "requests 1, gaps 1");
    assert_int_equal(fby_window_n_usable_peers(d.w), 2);
    assert_int_equal(fby_window_deadline(d.w), BEGIN + 61 * S);
    fby_window_destroy(&d.w);
}

static void a_loop_may_wake_a_while_after_its_deadline(void **state)
{
    (void)state;
    for (int64_t late = 500 * MS; late <= 500 * MS + 1; late++) {
        struct driver d = started(1, 1);
        assert_int_equal(fby_window_deadline(d.w), BEGIN + S);
        d.now = BEGIN + S + late;
        assert_turn(&d, late == 500 * MS ? "PING 0" : "");
        assert_int_equal(counters(&d).gaps, late == 500 * MS ? 0 : 1);
        assert_int_equal(fby_window_deadline(d.w),
            d.now + (late == 500 * MS ? 100 * MS : 1 * S));
        fby_window_destroy(&d.w);
    }
}

/* When the last deadline is over, it is the last event that counts. */
static void a_loop_that_has_work_is_not_asleep(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    assert_int_equal(fby_window_deadline(d.w), BEGIN + S);
    fby_window_heard(d.w, BEGIN + 1400 * MS, 0);
    fby_window_heard(d.w, BEGIN + 1900 * MS, 0);
    assert_counters(&d, "requests 1");
    fby_window_heard(d.w, BEGIN + 2400 * MS + 1, 0);
    assert_counters(&d, "requests 1, gaps 1");
    fby_window_destroy(&d.w);
}

static void before_the_first_deadline_a_loop_is_given_the_same_time(
    void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    for (int64_t late = 500 * MS; late <= 500 * MS + 1; late++) {
        struct driver           d = {.now = S};
        struct fby_error_detail why;
        assert_ok(fby_window_create(&c, d.now, &d.w, &why));
        fby_window_tick(d.w, d.now + late);
        assert_int_equal(counters(&d).gaps, late - 500 * MS);
        fby_window_destroy(&d.w);
    }
}

static void time_does_not_go_back(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    fby_window_heard(d.w, BEGIN + 900 * MS, 0);
    fby_window_tick(d.w, 0);
    fby_window_heard(d.w, BEGIN - 500 * MS, 0);
    d.now = BEGIN + S - 1;
    assert_turn(&d, "");
    d.now = BEGIN + S;
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_PING, 0), 1);
    assert_counters(&d, "requests 1");
    fby_window_destroy(&d.w);
}

/* The deadline is over: a loop that went back would seem to sleep. */
static void a_clock_that_was_wrong_for_a_moment_is_no_gap(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    assert_int_equal(fby_window_deadline(d.w), BEGIN + S);
    fby_window_heard(d.w, BEGIN + 1200 * MS, 0);
    fby_window_heard(d.w, BEGIN + 300 * MS, 0);
    fby_window_heard(d.w, BEGIN + 1600 * MS, 0);
    assert_counters(&d, "requests 1");
    fby_window_destroy(&d.w);
}

static void a_window_without_deadline_may_sleep(void **state)
{
    (void)state;
    struct driver d = started(1, 1);
    fby_window_stop(d.w, d.now);
    assert_int_equal(fby_window_deadline(d.w), INT64_MAX);
    d.now += 1000 * S;
    fby_window_tick(d.w, d.now);
    assert_int_equal(counters(&d).gaps, 0);
    assert_int_equal(fby_window_deadline(d.w), INT64_MAX);
    fby_window_destroy(&d.w);
}

/* ---- Stopping ------------------------------------------------------------ */

static void drain(struct driver *d)
{
    d->n_actions = 0;
    while (fby_window_next_action(d->w, &d->actions[d->n_actions])) {
        d->n_actions++;
    }
}

static void a_stopped_window_does_nothing_more(void **state)
{
    (void)state;
    struct driver           d = started(2, 2);
    struct fby_action       r = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &r);   /* the other request is open */
    (void)add(&d, 3); /* not connected */
    fby_window_stop(d.w, d.now);
    drain(&d);
    assert_actions(&d, "BYE 0; CLOSE 0; BYE 1; CLOSE 1");
    assert_int_equal(take(&d, &batch), FBY_GONE);
    fby_window_peer_unlist(d.w, d.now, 0);
    fby_window_set_aside(d.w, d.now, 1, 3);
    fby_window_tick(d.w, d.now + 100 * MS);
    drain(&d);
    assert_actions(&d, "");
    assert_counters(&d, "requests 2, lost 1");
    fby_window_destroy(&d.w);
}

static void a_window_that_was_stopped_early_connects_to_no_worker(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    struct driver            d = driver_of(&c);
    (void)add(&d, 1);
    fby_window_stop(d.w, d.now);
    fby_window_tick(d.w, d.now + 10 * S);
    drain(&d);
    assert_actions(&d, "");
    fby_window_destroy(&d.w);
}

static void a_stream_that_failed_says_so_after_it_was_stopped(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_window_batch batch;
    fby_window_set_aside(d.w, d.now, 0, 3);
    fby_window_stop(d.w, d.now);
    assert_int_equal(take(&d, &batch), FBY_IO);
    assert_failed(&d, "ASIDE 3, peers 0 and -1, step 0 #0");
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_header),
        cmocka_unit_test(a_window_without_room_for_anything_is_refused),
        cmocka_unit_test(a_window_of_one_of_each_works),
        cmocka_unit_test(a_batch_that_never_fits_is_refused_with_both_numbers),
        cmocka_unit_test(a_first_step_beyond_the_epoch_is_refused),
        cmocka_unit_test(a_first_epoch_whose_steps_overflow_is_refused),
        cmocka_unit_test(
            a_stream_begins_at_its_first_step_and_ends_at_its_total),
        cmocka_unit_test(no_more_is_asked_than_slots_and_bytes_allow),
        cmocka_unit_test(a_held_slot_is_not_given_to_a_new_step),
        cmocka_unit_test(bytes_are_those_of_slots_in_use),
        cmocka_unit_test(only_batches_without_a_gap_before_them_are_ready),
        cmocka_unit_test(a_loop_that_slept_suspects_no_worker),
        cmocka_unit_test(a_loop_may_wake_a_while_after_its_deadline),
        cmocka_unit_test(a_loop_that_has_work_is_not_asleep),
        cmocka_unit_test(
            before_the_first_deadline_a_loop_is_given_the_same_time),
        cmocka_unit_test(time_does_not_go_back),
        cmocka_unit_test(a_clock_that_was_wrong_for_a_moment_is_no_gap),
        cmocka_unit_test(a_window_without_deadline_may_sleep),
        cmocka_unit_test(a_stopped_window_does_nothing_more),
        cmocka_unit_test(a_window_that_was_stopped_early_connects_to_no_worker),
        cmocka_unit_test(a_stream_that_failed_says_so_after_it_was_stopped),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window", tests, NULL, NULL);
}
