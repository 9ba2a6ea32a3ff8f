/* SPDX-License-Identifier: Apache-2.0 */
/* Streams through the public header: their values, which no fault of a worker
 * or of the network changes. */
#include "tests/trainer_client/client_stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/log.h"
#include "trainer_client/batch/digest.h"

/* ---- Delivered values ---------------------------------------------------- */

static void every_value_is_that_of_its_sample_and_each_comes_once(void **state)
{
    (void)state;
    struct rig rig;
    uint8_t    seen[RIG_SAMPLES] = {0};
    rig_begin(&rig, SIZE, "drop");
    rig.options.epochs = 2;
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    for (uint32_t i = 0; i < 8; i++) {
        struct forebay_batch *batch = rig_next(&rig);
        assert_int_equal(forebay_batch_epoch(batch), i / 4);
        assert_int_equal(forebay_batch_step(batch), i % 4);
        assert_int_equal(forebay_batch_rows(batch), RIG_BATCH);
        check_values(batch);
        for (uint32_t row = 0; row < RIG_BATCH && i < 4; row++) {
            assert_int_equal(seen[forebay_batch_samples(batch)[row]]++, 0);
        }
        forebay_release(&batch, NULL);
    }
    rig_assert_next(&rig, FOREBAY_END);
    rig_end(&rig);
}

/* More epochs than orders are kept at a time. */
static void every_epoch_has_an_order_of_its_own(void **state)
{
    (void)state;
    enum { EPOCHS = 12, EACH = RIG_SAMPLES / RIG_BATCH };
    struct rig rig;
    uint64_t   first[EPOCHS][RIG_BATCH];
    rig_stream(&rig, SIZE);
    for (uint32_t i = 0; i < EPOCHS * EACH; i++) {
        struct forebay_batch *batch = rig_next(&rig);
        assert_int_equal(forebay_batch_epoch(batch), i / EACH);
        assert_int_equal(forebay_batch_step(batch), i % EACH);
        check_values(batch);
        memcpy(first[i / EACH], forebay_batch_samples(batch),
            i % EACH == 0 ? sizeof(first[0]) : 0);
        forebay_release(&batch, NULL);
    }
    for (uint32_t a = 0; a < EPOCHS; a++) {
        for (uint32_t b = 0; b < a; b++) {
            assert_memory_not_equal(first[a], first[b], sizeof(first[0]));
        }
    }
    rig_end(&rig);
}

static void the_batchs_digests_are_those_of_the_documented_bytes(void **state)
{
    (void)state;
    struct rig          rig;
    struct fby_checksum sums[RIG_BATCH];
    rig_stream(&rig, SIZE);
    struct forebay_batch *batch  = rig_next(&rig);
    uint8_t              *labels = calloc(RIG_BATCH, 1);
    for (uint32_t row = 0; row < RIG_BATCH; row++) {
        uint64_t sample = forebay_batch_samples(batch)[row];
        labels[row]     = (uint8_t)(sample % 10);
        const struct fby_digest_field fields[2] = {
            {"image", FBY_U8, {3, {SIZE, SIZE, 3}},
                forebay_batch_tensor(batch, 0)->data, UINT64_C(3) * SIZE * SIZE,
                NULL},
            {"label", FBY_U8, {0, {0}}, labels, 1, NULL},
        };
        sums[row] = fby_sample_digest(sample, fields, 2, row);
        assert_memory_equal(
            forebay_batch_sample_digests(batch) + (size_t)16 * row,
            sums[row].bytes, 16);
    }
    struct fby_checksum step = fby_step_digest(0, 0, sums, RIG_BATCH);
    assert_memory_equal(forebay_batch_digest(batch), step.bytes, 16);
    free(labels);
    forebay_release(&batch, NULL);
    rig_end(&rig);
}

static void the_info_says_what_was_opened(void **state)
{
    (void)state;
    struct rig          rig;
    struct forebay_info info = {.struct_size = sizeof(info)};
    rig_begin(&rig, SIZE, "pad");
    rig.options.steps = 7;
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    assert_int_equal(forebay_info(rig.stream, &info), FOREBAY_OK);
    assert_int_equal(info.samples, RIG_SAMPLES);
    assert_int_equal(info.steps_per_epoch, 5);
    assert_int_equal(info.global_batch, RIG_BATCH);
    assert_int_equal(info.end_step, 7);
    assert_int_equal(info.n_fields, 3);
    assert_int_equal(info.seed, 7);
    assert_int_equal(strlen(info.data_digest), 64);
    rig_skip(&rig, 7);
    rig_assert_next(&rig, FOREBAY_END);
    rig_end(&rig);
}

/* ---- The same stream despite faults -------------------------------------- */

static void workers_codecs_and_threads_change_no_byte(void **state)
{
    (void)state;
    struct digest        want    = digest_without_faults();
    static const uint8_t codec[] = {0, 1, 0, 1, 2}; /* beside each filter */
    for (uint32_t i = 0; i < 5; i++) {
        struct rig rig;
        rig_begin(&rig, SIZE, "drop");
        rig.options.decode_threads = i + 1;
        for (uint32_t w = i < 4 ? 0 : i; w <= i; w++) {
            rig_add(&rig, (struct fake_behaviour){
                              .filter = (uint8_t)w, .codec = codec[w]});
        }
        struct digest got = stream_digest(&rig, STEPS);
        assert_same(&got, &want);
        rig_end(&rig);
    }
}

static void without_faults_nothing_is_asked_twice(void **state)
{
    (void)state;
    struct rig rig;
    rig_stream(&rig, SIZE);
    rig_skip(&rig, 40);
    struct forebay_stats stats = rig_stats(&rig);
    assert_int_equal(stats.steps, 40);
    assert_int_equal(stats.images, 40 * RIG_BATCH);
    assert_int_equal(stats.raw_bytes, 40 * RIG_BATCH * (SIZE * SIZE * 3 + 1));
    assert_int_equal(stats.rerequests, 0);
    assert_int_equal(stats.checksum_failures, 0);
    assert_int_equal(stats.protocol_errors, 0);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.late_chunks, 0);
    rig_end(&rig);
}

/* One worker misbehaves, another does not. */
static void survive(const struct fake_behaviour *bad, const struct digest *want)
{
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    struct fake_worker *worker = rig_add(&rig, *bad);
    rig_add(&rig, (struct fake_behaviour){0});
    struct digest got = stream_digest(&rig, STEPS);
    assert_same(&got, want);
    /* the last request may still be in work */
    assert_true(
        fake_worker_requests(worker) < 3 || fake_worker_effects(worker) > 0);
    rig_end(&rig);
}

static void refusals_change_no_byte(void **state)
{
    (void)state;
    struct digest               want  = digest_without_faults();
    const struct fake_behaviour bad[] = {
        {.busy_every = 1},
        {.lost_every = 1},
        {.content_every = 2},
        {.forget_every = 2},
        {.vanish_after = 1},
        {.stale = true},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        survive(&bad[i], &want);
    }
}

static void damage_on_the_way_changes_no_byte(void **state)
{
    (void)state;
    struct digest               want  = digest_without_faults();
    const struct fake_behaviour bad[] = {
        {.corrupt_every = 1},
        {.twice_every = 1},
        {.skip_every = 2},
        {.garbage_every = 1},
        {.sum_every = 1},
        {.header_every = 1},
        {.asked_every = 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        survive(&bad[i], &want);
    }
}

/* One request at a time, so that it is known which chunks are damaged. */
static struct digest one_at_a_time(struct rig *rig, uint32_t size,
    struct fake_behaviour behaviour, bool verify)
{
    rig_begin(rig, size, "drop");
    rig->options.window_batches = 1;
    rig->options.steps          = STEPS;
    rig->options.verify_decoded = verify;
    rig_add(rig, behaviour);
    rig_open(rig);
    struct digest digest;
    rig_skip(rig, STEPS);
    rig_assert_next(rig, FOREBAY_END);
    forebay_stream_digest(rig->stream, digest.bytes);
    return digest;
}

struct damage {
    uint32_t              size;
    struct fake_behaviour behaviour;
    bool                  verify;
};

/* Each damaged chunk is noticed, counted and asked for again, once. */
static void assert_noticed(const struct damage *damage)
{
    struct rig    rig;
    struct digest want =
        one_at_a_time(&rig, damage->size, (struct fake_behaviour){0}, false);
    rig_end(&rig);
    struct digest got =
        one_at_a_time(&rig, damage->size, damage->behaviour, damage->verify);
    struct forebay_stats stats   = rig_stats(&rig);
    uint32_t             effects = fake_worker_effects(rig.workers[0]);
    assert_same(&got, &want);
    assert_true(effects >= STEPS / 2);
    /* a stored chunk that is short is no chunk at all */
    assert_int_equal(stats.checksum_failures + stats.protocol_errors, effects);
    assert_true(stats.protocol_errors == 0 || damage->behaviour.cut_every != 0);
    assert_int_equal(stats.rerequests, effects);
    assert_int_equal(fake_worker_requests(rig.workers[0]), STEPS + effects);
    rig_end(&rig);
}

/* Chunks that are copied, kept as they came and given to a decode thread. */
static void no_damaged_chunk_is_delivered(void **state)
{
    (void)state;
    enum { SMALL = 8, STORED = 0, LZ4 = 1, PACK = 2, PHOTO = 4 };
    const struct damage all[] = {
        {SMALL, {.corrupt_every = 3}, false},
        {SMALL, {.corrupt_every = 3, .codec = LZ4}, false},
        {SMALL, {.cut_every = 3, .codec = LZ4}, false},
        {SMALL, {.spoil_every = 3}, true},
        {SIZE, {.corrupt_every = 3}, false},
        {SIZE, {.corrupt_every = 3, .filter = PHOTO, .codec = PACK}, false},
        {SIZE, {.cut_every = 3, .filter = PHOTO, .codec = PACK}, false},
        {SIZE, {.spoil_every = 3}, true},
        {SIZE, {.spoil_every = 3, .filter = PHOTO, .codec = PACK}, true},
        {SIZE, {.corrupt_every = 3, .codec = LZ4}, false},
        {SIZE, {.cut_every = 3, .codec = LZ4}, false},
        {SIZE, {.spoil_every = 3, .filter = 1}, true},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        assert_noticed(&all[i]);
    }
}

/* Two chunks a batch, from the last to the first. */
static struct digest large_digest(struct fake_behaviour behaviour)
{
    struct rig rig;
    rig_begin(&rig, 200, "drop");
    rig.options.window_batches = 2;
    rig_add(&rig, behaviour);
    struct digest digest = stream_digest(&rig, 3);
    rig_end(&rig);
    return digest;
}

static void chunks_may_come_in_any_order(void **state)
{
    (void)state;
    struct digest               want = large_digest((struct fake_behaviour){0});
    const struct fake_behaviour any[] = {
        {.backwards = true},
        {.backwards = true, .codec = 1},
        {.backwards = true, .filter = 4, .codec = 2},
    };
    for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
        struct digest got = large_digest(any[i]);
        assert_same(&got, &want);
    }
}

/* As when a connection breaks while a worker opens: it answers both OPENs. */
static void an_answer_to_an_older_open_is_no_error(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig.options.steps = STEPS; /* no more are under way at the end */

    struct fake_worker *late = rig_add(
        &rig, (struct fake_behaviour){.late = true, .content_every = 2});
    rig_open(&rig);
    rig_skip(&rig, STEPS);
    rig_assert_next(&rig, FOREBAY_END);
    assert_true(fake_worker_effects(late) > fake_worker_requests(late) / 2);
    assert_int_equal(rig_stats(&rig).protocol_errors, 0);
    rig_end(&rig);
}

/* ---- Audits -------------------------------------------------------------- */

/* Every step is asked of a correct worker and of this one. */
static struct fake_worker *audit_with(
    struct rig *rig, struct fake_behaviour behaviour)
{
    rig_begin(rig, SIZE, "drop");
    rig->options.audit = 1;
    rig_add(rig, (struct fake_behaviour){0});
    return rig_add(rig, behaviour);
}

static void two_correct_workers_pass_every_audit(void **state)
{
    (void)state;
    struct rig rig;
    audit_with(&rig, (struct fake_behaviour){.codec = 1, .twice_every = 2});
    rig.options.steps = STEPS;
    rig_open(&rig);
    rig_skip(&rig, STEPS);
    rig_assert_next(&rig, FOREBAY_END);
    struct forebay_stats stats = rig_stats(&rig);
    assert_int_equal(stats.audits + stats.audits_skipped, STEPS);
    assert_true(stats.audits > 0);
    assert_int_equal(stats.protocol_errors + stats.checksum_failures, 0);
    rig_end(&rig);
}

static void damage_of_a_second_answer_does_not_count_as_other_values(
    void **state)
{
    (void)state;
    struct digest               want  = digest_without_faults();
    const struct fake_behaviour bad[] = {
        {.corrupt_every = 1},
        {.skip_every = 2},
        {.sum_every = 1},
        {.header_every = 1},
        {.asked_every = 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct rig rig;
        audit_with(&rig, bad[i]);
        rig_open(&rig);
        rig_skip(&rig, STEPS);
        struct digest got;
        forebay_stream_digest(rig.stream, got.bytes);
        assert_same(&got, &want);
        rig_end(&rig);
    }
}

static void other_values_in_an_audit_name_both_workers_and_the_step(
    void **state)
{
    (void)state;
    struct rig rig;
    audit_with(&rig, (struct fake_behaviour){.value_salt = 1});
    rig_open(&rig);
    const char *error = rig_assert_fails(&rig, FOREBAY_DATA);
    assert_non_null(strstr(error, "different values of epoch"));
    assert_non_null(strstr(error, fake_worker_endpoint(rig.workers[0])));
    assert_non_null(strstr(error, fake_worker_endpoint(rig.workers[1])));
    rig_end(&rig);
}

/* ---- Resume and ranks ---------------------------------------------------- */

static void a_token_goes_on_right_after_its_batch(void **state)
{
    (void)state;
    struct rig rig;
    uint8_t    want[STEPS][16];
    char       token[256] = "";
    rig_stream(&rig, SIZE);
    for (int i = 0; i < STEPS; i++) {
        struct forebay_batch *batch = rig_next(&rig);
        memcpy(want[i], forebay_batch_digest(batch), 16);
        if (i == 3) { /* the last of its epoch */
            snprintf(token, sizeof(token), "%s", forebay_batch_token(batch));
        }
        forebay_release(&batch, NULL);
    }
    forebay_close(&rig.stream);
    rig.options.token = token;
    rig_open(&rig);
    for (int i = 4; i < STEPS; i++) {
        struct forebay_batch *batch = rig_next(&rig);
        assert_memory_equal(forebay_batch_digest(batch), want[i], 16);
        forebay_release(&batch, NULL);
    }
    rig_end(&rig);
}

/* Sample digests of the first batches of one rank, one after another. */
static void rank_digests(
    struct rig *rig, uint32_t rank, uint32_t world, uint8_t *out)
{
    rig->options.job   = "together";
    rig->options.rank  = rank;
    rig->options.world = world;
    rig_open(rig);
    for (uint32_t step = 0; step < 5; step++) {
        struct forebay_batch *batch = rig_next(rig);
        uint32_t              rows  = forebay_batch_rows(batch);
        uint32_t              first = forebay_batch_first_row(batch);
        if (rows > 0) {
            memcpy(out + ((size_t)step * RIG_BATCH + first) * 16,
                forebay_batch_sample_digests(batch), (size_t)rows * 16);
        }
        forebay_release(&batch, NULL);
    }
    forebay_close(&rig->stream);
}

static void ranks_together_are_the_whole(const char *last)
{
    enum { BYTES = 5 * RIG_BATCH * 16 };
    struct rig rig;
    uint8_t   *whole = calloc(1, BYTES);
    uint8_t   *parts = calloc(1, BYTES);
    rig_begin(&rig, SIZE, last);
    rig_add(&rig, (struct fake_behaviour){0});
    rank_digests(&rig, 0, 1, whole);
    for (uint32_t rank = 0; rank < 4; rank++) {
        rank_digests(&rig, rank, 4, parts);
    }
    assert_memory_equal(whole, parts, BYTES);
    free(whole);
    free(parts);
    rig_end(&rig);
}

static void ranks_concatenated_are_the_stream_of_one(void **state)
{
    (void)state;
    ranks_together_are_the_whole("drop");
    ranks_together_are_the_whole("pad");
    ranks_together_are_the_whole("short"); /* the last: 4 rows, 3 ranks none */
}

/* How many lists of shards were stored (renamed to their final name), and the
 * thread that stored the last one. */
static int       n_lists;
static pthread_t storing_thread;

/* NOLINTBEGIN(readability-identifier-naming): what the linker calls them */

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_rename(const char *from, const char *to)
{
    n_lists++;
    storing_thread = pthread_self();
    return __real_rename(from, to);
}

/* NOLINTEND(readability-identifier-naming) */

/* Open a stream as `rank` of 2, in an empty cache directory. Returns how often
 * a list of shards was stored. */
static int lists_stored_by_rank(uint32_t rank)
{
    struct rig rig;
    char       cache[]     = "/tmp/forebay-rank-XXXXXX";
    char       command[64] = "";
    assert_non_null(mkdtemp(cache));
    setenv("FOREBAY_CACHE_DIR", cache, 1); /* NOLINT(concurrency-mt-unsafe) */
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){0});
    rig.options.job   = "together";
    rig.options.rank  = rank;
    rig.options.world = 2;
    n_lists           = 0;
    rig_open(&rig);
    rig_end(&rig);
    snprintf(command, sizeof(command), "rm -rf %s", cache);
    /* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe) */
    assert_int_equal(system(command), 0);
    return n_lists;
}

/* A file system that hangs must not stop the thread that answers workers. */
static void the_first_rank_stores_the_list_in_the_thread_that_opens(
    void **state)
{
    (void)state;
    assert_int_equal(lists_stored_by_rank(1), 0);
    assert_int_equal(lists_stored_by_rank(0), 1);
    assert_true(pthread_equal(storing_thread, pthread_self()));
}

static void padding_rows_are_not_valid(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "pad");
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    rig_skip(&rig, 4);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(forebay_batch_field(batch, "valid"), 2);
    const DLTensor *valid = forebay_batch_tensor(batch, 2);
    assert_int_equal(valid->dtype.code, kDLBool);
    for (uint32_t row = 0; row < RIG_BATCH; row++) {
        assert_int_equal(((const uint8_t *)valid->data)[row], row < 4);
        assert_int_equal(forebay_batch_valid(batch)[row], row < 4);
    }
    forebay_release(&batch, NULL);
    rig_end(&rig);
}

static void selected_fields_come_alone(void **state)
{
    (void)state;
    struct digest     all = digest_without_faults();
    struct rig        rig;
    const char *const fields[] = {"label"};
    rig_begin(&rig, SIZE, "drop");
    rig.options.fields   = fields;
    rig.options.n_fields = 1;
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(forebay_batch_n_fields(batch), 1);
    assert_string_equal(forebay_batch_field_name(batch, 0), "label");
    forebay_release(&batch, NULL);
    forebay_close(&rig.stream);
    struct digest one = stream_digest(&rig, STEPS);
    assert_memory_not_equal(one.bytes, all.bytes, 16);
    rig_end(&rig);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_that_of_its_sample_and_each_comes_once),
        cmocka_unit_test(every_epoch_has_an_order_of_its_own),
        cmocka_unit_test(the_batchs_digests_are_those_of_the_documented_bytes),
        cmocka_unit_test(the_info_says_what_was_opened),
        cmocka_unit_test(workers_codecs_and_threads_change_no_byte),
        cmocka_unit_test(without_faults_nothing_is_asked_twice),
        cmocka_unit_test(refusals_change_no_byte),
        cmocka_unit_test(damage_on_the_way_changes_no_byte),
        cmocka_unit_test(no_damaged_chunk_is_delivered),
        cmocka_unit_test(chunks_may_come_in_any_order),
        cmocka_unit_test(an_answer_to_an_older_open_is_no_error),
        cmocka_unit_test(two_correct_workers_pass_every_audit),
        cmocka_unit_test(
            damage_of_a_second_answer_does_not_count_as_other_values),
        cmocka_unit_test(
            other_values_in_an_audit_name_both_workers_and_the_step),
        cmocka_unit_test(a_token_goes_on_right_after_its_batch),
        cmocka_unit_test(ranks_concatenated_are_the_stream_of_one),
        cmocka_unit_test(
            the_first_rank_stores_the_list_in_the_thread_that_opens),
        cmocka_unit_test(padding_rows_are_not_valid),
        cmocka_unit_test(selected_fields_come_alone),
    };
    setenv("FOREBAY_TIME_DIVISOR", "10", 1);
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.client", tests, NULL, NULL);
}
