/* SPDX-License-Identifier: Apache-2.0 */
/* Streams through the public header: workers that differ, fail, come and go;
 * and batches that the trainer holds. */
#include "tests/trainer_client/client_stream.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "proto/wire.h"

/* ---- Agreeing on the data ------------------------------------------------ */

/* STEPS of a stream from three workers, of which the second has other data. */
static void run_beside_other_data(struct rig *rig)
{
    rig_begin(rig, SIZE, "drop");
    rig_add(rig, (struct fake_behaviour){0});
    rig_add(rig, (struct fake_behaviour){.data_salt = 1});
    rig_add(rig, (struct fake_behaviour){0});
    rig_open(rig);
    rig_skip(rig, STEPS);
    assert_int_equal(rig_stats(rig).workers_left_aside, 1);
}

static void a_worker_of_other_data_is_left_aside(void **state)
{
    (void)state;
    struct digest want = digest_without_faults();
    struct rig    rig;
    run_beside_other_data(&rig);
    struct digest got;
    forebay_stream_digest(rig.stream, got.bytes);
    assert_same(&got, &want);
    assert_int_equal(fake_worker_requests(rig.workers[1]), 0);
    rig_end(&rig);
}

/* Counts the workers that were left aside. */
static void hear(void *arg, enum forebay_log_level level, const char *line)
{
    if (strncmp(line, "WORKER-ASIDE worker ", 20) == 0 &&
        level == FOREBAY_LOG_WARN) {
        atomic_fetch_add((atomic_int *)arg, 1);
    }
}

static void log_lines_go_to_the_callers_function(void **state)
{
    (void)state;
    atomic_int aside = 0;
    struct rig rig;
    forebay_set_log(hear, &aside, FOREBAY_LOG_WARN);
    run_beside_other_data(&rig);
    forebay_set_log(NULL, NULL, FOREBAY_LOG_ERROR);
    assert_int_equal(aside, 1);
    rig_end(&rig);
}

static void a_tie_names_both_workers_and_the_shard(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){0});
    rig_add(&rig, (struct fake_behaviour){.data_salt = 1});
    assert_int_equal(rig_try_open(&rig), FOREBAY_CONFIG);
    assert_non_null(strstr(rig.error, "train-0.tar"));
    assert_non_null(strstr(rig.error, fake_worker_endpoint(rig.workers[0])));
    assert_non_null(strstr(rig.error, fake_worker_endpoint(rig.workers[1])));
    rig_end(&rig);
}

static void the_jobs_pin_decides_against_the_majority(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    fake_server_pin(rig.server, 1);
    rig_add(&rig, (struct fake_behaviour){0});
    rig_add(&rig, (struct fake_behaviour){0});
    rig_add(&rig, (struct fake_behaviour){.data_salt = 1});
    rig_open(&rig);
    rig_skip(&rig, STEPS);
    assert_int_equal(rig_stats(&rig).workers_left_aside, 2);
    rig_end(&rig);
}

static void a_missing_source_is_an_error_that_names_it(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.no_source = true});
    assert_int_equal(rig_try_open(&rig), FOREBAY_CONFIG);
    assert_non_null(strstr(rig.error, "nothing lies at in1k:train"));
    assert_null(rig.stream);
    rig_end(&rig);
}

static void a_worker_that_never_opens_does_not_delay_the_stream(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.mute = true});
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    rig_skip(&rig, STEPS);
    rig_end(&rig);
}

/* Before, each step of such a worker waited for a hedge, of which there are two
 * in ten seconds. */
static void three_workers_that_withhold_their_batches_cost_little_time(
    void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){0});
    for (int i = 0; i < 3; i++) {
        rig_add(&rig, (struct fake_behaviour){.withheld = true});
    }
    rig_open(&rig);
    int64_t begun_ns = fby_now_ns();
    rig_skip(&rig, 100);
    assert_true(fby_now_ns() - begun_ns < 10 * FBY_NS_PER_S); /* 0.3 s */
    rig_end(&rig);
}

static void without_a_worker_open_says_so_in_time(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig.options.open_timeout_ns = 4 * FBY_NS_PER_S; /* the server answers */
    assert_int_equal(rig_try_open(&rig), FOREBAY_TIMEOUT);
    assert_non_null(strstr(rig.error, "worker"));
    rig_end(&rig);
}

static void a_refusal_of_the_server_is_reported_in_its_words(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    fake_server_refuse(
        rig.server, FBY_JOIN_TAKEN, "rank 0 is taken by node7, process 12");
    assert_int_equal(rig_try_open(&rig), FOREBAY_CONFIG);
    assert_non_null(strstr(rig.error, "rank 0 is taken by node7"));
    rig_end(&rig);
}

static bool give_up_at_third(void *arg)
{
    int *asked = arg;
    return ++*asked == 3;
}

static void open_can_be_given_up(void **state)
{
    (void)state;
    struct rig rig;
    int        asked = 0;
    rig_begin(&rig, SIZE, "drop");
    rig.options.give_up     = give_up_at_third;
    rig.options.give_up_arg = &asked;
    assert_int_equal(rig_try_open(&rig), FOREBAY_INTERRUPTED);
    assert_string_equal(rig.error, "interrupted before the stream was open");
    assert_int_equal(asked, 3);
    assert_null(rig.stream);
    rig_end(&rig);
}

static void note_scan(void *arg, uint64_t done, uint64_t total)
{
    uint64_t *seen = arg;
    seen[0]        = done;
    seen[1]        = total;
}

static void scanning_is_reported_while_open_waits(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t   seen[2] = {0, 0};
    rig_begin(&rig, SIZE, "drop");
    rig.options.on_scan     = note_scan;
    rig.options.on_scan_arg = seen;
    rig_add(&rig, (struct fake_behaviour){.scans = 50});
    rig_open(&rig);
    assert_int_equal(seen[1], 50);
    assert_true(seen[0] >= 1 && seen[0] <= 50);
    rig_end(&rig);
}

/* ---- Failures and substitutes -------------------------------------------- */

static void a_bad_sample_fails_with_its_place(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.cannot = true});
    rig_add(&rig, (struct fake_behaviour){.cannot = true});
    rig_open(&rig);
    const char *error = rig_assert_next(&rig, FOREBAY_DATA);
    assert_non_null(strstr(error, "train-0.tar"));
    assert_non_null(strstr(error, "0007"));
    assert_non_null(strstr(error, "512"));
    assert_non_null(strstr(error, "cut short"));
    rig_end(&rig);
}

/* The only worker has other data, of which it names a shard or none. */
static void check_stale(bool unnamed)
{
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.stale = true, .unnamed = unnamed});
    rig_open(&rig);
    const char *error =
        rig_assert_next(&rig, unnamed ? FOREBAY_CONFIG : FOREBAY_DATA);
    assert_non_null(strstr(error, "another size"));
    assert_non_null(strstr(error, "worker here"));
    assert_int_equal(strstr(error, "shard") == NULL, unnamed);
    rig_end(&rig);
}

static void when_all_workers_are_set_aside_next_names_the_last(void **state)
{
    (void)state;
    check_stale(false);
    check_stale(true);
}

static void substitutes_are_listed_and_limited(void **state)
{
    (void)state;
    struct rig            rig;
    struct forebay_batch *batch = NULL;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.bad_row = 3});
    rig_open(&rig);
    for (int i = 0; i < 5; i++) {
        batch = rig_next(&rig);
        assert_int_equal(forebay_batch_n_substitutions(batch), 1);
        const struct forebay_substitution *one =
            forebay_batch_substitution(batch, 0);
        assert_int_equal(one->row, 2);
        assert_int_equal(forebay_batch_samples(batch)[2], 0);
        assert_non_null(strstr(one->cause, "cut short"));
        assert_null(strstr(one->cause, "shard")); /* the worker's text has it */
        forebay_release(&batch, NULL);
    }
    assert_non_null(
        strstr(rig_assert_next(&rig, FOREBAY_DATA), "more than 5 bad samples"));
    rig_end(&rig);
}

/* Its HEADER says other draws for the device's ops than this library makes. */
static void a_worker_with_other_draws_is_not_trusted(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    char  *out  = strstr(rig.text, "    out:");
    size_t room = sizeof(rig.text) - (size_t)(out - rig.text);
    snprintf(out, room,
        "    device: [vertical_flip]\n"
        "  label: {from: cls, classes: 10}\n");
    struct fake_worker *other =
        rig_add(&rig, (struct fake_behaviour){.draws_every = 1});
    struct fake_worker *like = rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    for (int k = 0; k < 5000 && (rig_stats(&rig).protocol_errors == 0 ||
                                    fake_worker_requests(like) == 0);
         k++) { /* the second worker may join later than the first errs */
        rig_skip(&rig, 1);
    }
    assert_true(fake_worker_effects(other) > 0);
    assert_true(fake_worker_requests(like) > 0);
    assert_true(rig_stats(&rig).protocol_errors > 0);
    rig_end(&rig);
}

/* ---- Workers and servers that come and go -------------------------------- */

static void a_restarted_server_is_joined_again(void **state)
{
    (void)state;
    struct rig rig;
    rig_stream(&rig, SIZE);
    rig_skip(&rig, 2);
    fake_server_restart(rig.server);
    struct fake_worker *late     = rig_add(&rig, (struct fake_behaviour){0});
    int64_t             patience = fby_now_ns() + RIG_PATIENCE;
    while (fake_worker_requests(late) == 0 && fby_now_ns() < patience) {
        rig_skip(&rig, 1);
    }
    assert_true(fake_worker_requests(late) > 0);
    assert_true(fake_server_joins(rig.server) >= 2);
    rig_end(&rig);
}

/* Another run took the place, and leaves it. */
static void a_server_that_forgot_us_and_refuses_stops_no_stream(void **state)
{
    (void)state;
    struct rig rig;
    rig_stream(&rig, SIZE);
    fake_server_refuse(rig.server, FBY_JOIN_TAKEN, "rank 0 is taken by node7");
    fake_server_restart(rig.server);
    int64_t patience = fby_now_ns() + RIG_PATIENCE;
    while (fake_server_quits(rig.server) < 2 && fby_now_ns() < patience) {
        rig_skip(&rig, 1);
    }
    assert_true(fake_server_quits(rig.server) >= 2);
    fake_server_refuse(rig.server, 0, "");
    struct fake_worker *late = rig_add(&rig, (struct fake_behaviour){0});
    while (fake_worker_requests(late) == 0 && fby_now_ns() < patience) {
        rig_skip(&rig, 1);
    }
    assert_true(fake_worker_requests(late) > 0);
    rig_end(&rig);
}

static void a_job_whose_ranks_have_other_data_fails_at_any_time(void **state)
{
    (void)state;
    struct rig rig;
    rig_stream(&rig, SIZE);
    fake_server_refuse(rig.server, FBY_JOIN_DATA, "rank 1 has other data");
    fake_server_restart(rig.server);
    assert_non_null(strstr(
        rig_assert_fails(&rig, FOREBAY_CONFIG), "rank 1 has other data"));
    rig_end(&rig);
}

static void with_all_workers_gone_next_says_so_and_then_goes_on(void **state)
{
    (void)state;
    struct rig            rig;
    struct forebay_batch *batch  = NULL;
    enum forebay_status   status = FOREBAY_OK;
    rig_stream(&rig, SIZE);
    rig_skip(&rig, 1);
    fake_worker_stop(&rig.workers[0]);
    int64_t patience = fby_now_ns() + RIG_PATIENCE;
    while (fby_now_ns() < patience &&
           (status == FOREBAY_OK ||
               strstr(forebay_error(rig.stream), "no worker") == NULL)) {
        status = forebay_next(rig.stream, 50 * FBY_NS_PER_MS, NULL, &batch);
        forebay_release(&batch, NULL);
    }
    assert_int_equal(status, FOREBAY_TIMEOUT);
    assert_non_null(strstr(forebay_error(rig.stream), "no worker"));
    rig_add(&rig, (struct fake_behaviour){0});
    rig_skip(&rig, 5);
    rig_end(&rig);
}

/* ---- Holding, releasing, forking ----------------------------------------- */

static void held_batches_go_beyond_the_slots_up_to_the_cap(void **state)
{
    (void)state;
    enum { CAP = 7 };
    struct rig            rig;
    struct forebay_batch *held[CAP] = {NULL};
    struct forebay_batch *batch     = NULL;
    uint64_t room = (SIZE * SIZE * 3 * RIG_BATCH + 63) / 64 * 64 + 192 + 64;
    rig_begin(&rig, SIZE, "drop");
    rig.options.max_held_bytes = room * CAP;
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    for (int i = 0; i < CAP; i++) {
        held[i] = rig_next(&rig);
    }
    assert_non_null(
        strstr(rig_assert_next(&rig, FOREBAY_FULL), "hold 7 batches"));
    struct forebay_stats stats = rig_stats(&rig);
    assert_int_equal(stats.batches_held, CAP);
    assert_int_equal(stats.overflow_batches, CAP - 4);
    forebay_release(&held[3], NULL);
    batch = rig_next(&rig);
    assert_int_equal(
        forebay_batch_epoch(batch) * 4 + forebay_batch_step(batch), CAP);
    forebay_release(&batch, NULL);
    for (int i = CAP; i-- > 0;) {
        forebay_release(&held[i], NULL);
    }
    rig_end(&rig);
}

static void batches_and_tensors_outlive_the_stream(void **state)
{
    (void)state;
    struct rig                rig;
    DLManagedTensorVersioned *tensor = NULL;
    DLManagedTensor          *legacy = NULL;
    rig_stream(&rig, SIZE);
    struct forebay_batch *first  = rig_next(&rig);
    struct forebay_batch *second = rig_next(&rig);
    assert_int_equal(forebay_batch_export(first, 0, 0, &tensor), FOREBAY_USAGE);
    assert_int_equal(forebay_batch_export(first, 9, 1, &tensor), FOREBAY_USAGE);
    assert_int_equal(forebay_batch_export(first, 0, 1, &tensor), FOREBAY_OK);
    assert_int_equal(
        forebay_batch_export_legacy(first, 1, &legacy), FOREBAY_OK);
    uint64_t sample = forebay_batch_samples(first)[0];
    forebay_release(&first, NULL);
    forebay_close(&rig.stream);
    check_values(second);
    assert_int_equal(tensor->version.major, 1);
    assert_int_equal(((const uint8_t *)tensor->dl_tensor.data)[1],
        (uint8_t)(sample * 31 + 1));
    assert_int_equal(((const int64_t *)legacy->dl_tensor.data)[0], sample % 10);
    tensor->deleter(tensor);
    forebay_release(&second, NULL);
    legacy->deleter(legacy);
    rig_end(&rig);
}

static int child_of_a_fork(struct rig *rig, struct forebay_batch *batch)
{
    struct forebay_stats      stats  = {.struct_size = sizeof(stats)};
    struct forebay_info       info   = {.struct_size = sizeof(info)};
    struct forebay_batch     *other  = NULL;
    DLManagedTensorVersioned *tensor = NULL;
    uint8_t                   digest[16];
    bool clear = forebay_next(rig->stream, 0, NULL, &other) == FOREBAY_FORKED &&
                 forebay_stats(rig->stream, &stats) == FOREBAY_FORKED &&
                 forebay_info(rig->stream, &info) == FOREBAY_FORKED &&
                 forebay_stream_digest(rig->stream, digest) == FOREBAY_FORKED &&
                 forebay_batch_export(batch, 0, 1, &tensor) == FOREBAY_FORKED &&
                 strstr(forebay_error(rig->stream), "child") != NULL &&
                 forebay_release(&batch, NULL) == FOREBAY_FORKED;
    forebay_close(&rig->stream);
    return clear && rig->stream == NULL ? 0 : 1;
}

static void a_forked_child_gets_an_error_and_harms_nothing(void **state)
{
    (void)state;
    struct rig rig;
    int        status = 0;
    rig_stream(&rig, SIZE);
    struct forebay_batch *batch = rig_next(&rig);
    pid_t                 pid   = fork();
    if (pid == 0) {
        _exit(child_of_a_fork(&rig, batch));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_values(batch);
    forebay_release(&batch, NULL);
    rig_skip(&rig, 3);
    rig_end(&rig);
}

static void next_honours_its_timeout(void **state)
{
    (void)state;
    struct rig            rig;
    struct forebay_batch *batch = NULL;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.busy_every = 1});
    rig_open(&rig);
    int64_t begun_ns = fby_now_ns();
    assert_int_equal(
        forebay_next(rig.stream, 100 * FBY_NS_PER_MS, NULL, &batch),
        FOREBAY_TIMEOUT);
    int64_t waited_ns = fby_now_ns() - begun_ns;
    assert_true(waited_ns >= 100 * FBY_NS_PER_MS);
    assert_true(waited_ns < 10 * FBY_NS_PER_S);
    assert_true(rig_stats(&rig).busy > 0);
    assert_int_equal(
        forebay_next(rig.stream, 0, NULL, &batch), FOREBAY_TIMEOUT);
    assert_non_null(strstr(forebay_error(rig.stream), " is busy: it lacks "));
    rig_end(&rig);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_of_other_data_is_left_aside),
        cmocka_unit_test(log_lines_go_to_the_callers_function),
        cmocka_unit_test(a_tie_names_both_workers_and_the_shard),
        cmocka_unit_test(the_jobs_pin_decides_against_the_majority),
        cmocka_unit_test(a_missing_source_is_an_error_that_names_it),
        cmocka_unit_test(a_worker_that_never_opens_does_not_delay_the_stream),
        cmocka_unit_test(
            three_workers_that_withhold_their_batches_cost_little_time),
        cmocka_unit_test(without_a_worker_open_says_so_in_time),
        cmocka_unit_test(a_refusal_of_the_server_is_reported_in_its_words),
        cmocka_unit_test(open_can_be_given_up),
        cmocka_unit_test(scanning_is_reported_while_open_waits),
        cmocka_unit_test(a_bad_sample_fails_with_its_place),
        cmocka_unit_test(when_all_workers_are_set_aside_next_names_the_last),
        cmocka_unit_test(substitutes_are_listed_and_limited),
        cmocka_unit_test(a_worker_with_other_draws_is_not_trusted),
        cmocka_unit_test(a_restarted_server_is_joined_again),
        cmocka_unit_test(a_server_that_forgot_us_and_refuses_stops_no_stream),
        cmocka_unit_test(a_job_whose_ranks_have_other_data_fails_at_any_time),
        cmocka_unit_test(with_all_workers_gone_next_says_so_and_then_goes_on),
        cmocka_unit_test(held_batches_go_beyond_the_slots_up_to_the_cap),
        cmocka_unit_test(batches_and_tensors_outlive_the_stream),
        cmocka_unit_test(a_forked_child_gets_an_error_and_harms_nothing),
        cmocka_unit_test(next_honours_its_timeout),
    };
    setenv("FOREBAY_TIME_DIVISOR", "10", 1);
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.client_workers", tests, NULL, NULL);
}
