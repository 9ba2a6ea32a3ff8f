#include "tests/trainer_client/rig.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "proto/wire.h"
#include "trainer_client/digest.h"

enum { SIZE = 16, STEPS = 12 };

struct digest {
    uint8_t bytes[16];
};

/* Deliver `steps` batches and close. */
static struct digest stream_digest(struct rig *rig, int steps)
{
    struct digest digest;
    rig_open(rig);
    rig_skip(rig, steps);
    assert_int_equal(
        forebay_stream_digest(rig->stream, digest.bytes), FOREBAY_OK);
    forebay_close(&rig->stream);
    return digest;
}

static struct digest undisturbed(void)
{
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){0});
    struct digest digest = stream_digest(&rig, STEPS);
    rig_end(&rig);
    return digest;
}

static void assert_same(const struct digest *a, const struct digest *b)
{
    assert_memory_equal(a->bytes, b->bytes, sizeof(a->bytes));
}

/* ---- what is delivered --------------------------------------------------- */

static void check_values(const struct forebay_batch *batch)
{
    const uint64_t *samples = forebay_batch_samples(batch);
    const DLTensor *image   = forebay_batch_tensor(batch, 0);
    const DLTensor *label   = forebay_batch_tensor(batch, 1);
    const uint8_t  *pixels  = image->data;
    const int64_t  *ids     = label->data;
    assert_int_equal(image->ndim, 4);
    assert_int_equal(image->shape[0], RIG_BATCH);
    assert_int_equal(image->shape[1], SIZE);
    assert_int_equal(image->strides[0], SIZE * SIZE * 3);
    assert_int_equal(label->ndim, 1);
    assert_int_equal(label->dtype.bits, 64);
    for (uint32_t row = 0; row < RIG_BATCH; row++) {
        assert_int_equal(ids[row], samples[row] % 10);
        for (uint32_t i = 0; i < SIZE * SIZE * 3; i++) {
            assert_int_equal(pixels[row * SIZE * SIZE * 3 + i],
                (uint8_t)(samples[row] * 31 + i));
        }
    }
}

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
    struct rig     rig;
    struct fby_sum sums[RIG_BATCH];
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
    struct fby_sum step = fby_step_digest(0, 0, sums, RIG_BATCH);
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

/* ---- the same stream, whatever happens ----------------------------------- */

static void workers_codecs_and_threads_change_no_byte(void **state)
{
    (void)state;
    struct digest        want    = undisturbed();
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
    /* the last one may be in its hands */
    assert_true(
        fake_worker_requests(worker) < 3 || fake_worker_effects(worker) > 0);
    rig_end(&rig);
}

static void refusals_change_no_byte(void **state)
{
    (void)state;
    struct digest               want  = undisturbed();
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
    struct digest               want  = undisturbed();
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

static void garbage_and_damage_are_counted(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(
        &rig, (struct fake_behaviour){.garbage_every = 3, .corrupt_every = 7});
    rig_open(&rig);
    rig_skip(&rig, STEPS);
    struct forebay_stats stats = rig_stats(&rig);
    assert_true(stats.protocol_errors >= 4);
    assert_true(stats.checksum_failures >= 1);
    assert_true(stats.rerequests >= 1);
    rig_end(&rig);
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

/* ---- audits -------------------------------------------------------------- */

/* Every step is asked of an honest worker and of this one. */
static struct fake_worker *audit_with(
    struct rig *rig, struct fake_behaviour behaviour)
{
    rig_begin(rig, SIZE, "drop");
    rig->options.audit = 1;
    rig_add(rig, (struct fake_behaviour){0});
    return rig_add(rig, behaviour);
}

static void two_honest_workers_pass_every_audit(void **state)
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

static void damage_of_a_second_answer_is_not_told_as_other_values(void **state)
{
    (void)state;
    struct digest               want  = undisturbed();
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

/* ---- resume and ranks ---------------------------------------------------- */

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
    struct digest     all = undisturbed();
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

/* ---- agreeing on the data ------------------------------------------------ */

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
    struct digest want = undisturbed();
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

static void what_it_logs_goes_where_the_caller_says(void **state)
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

static void a_source_that_is_nowhere_is_an_error_that_names_it(void **state)
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

static void a_worker_that_never_opens_keeps_nobody_waiting(void **state)
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

static void what_the_server_refuses_is_told_in_its_words(void **state)
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

static void scanning_is_told_while_open_waits(void **state)
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

/* ---- failures and substitutes -------------------------------------------- */

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
    const char *error = rig_assert_next(&rig, FOREBAY_CONFIG);
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
    assert_non_null(strstr(rig_assert_next(&rig, FOREBAY_DATA), "limit 5"));
    rig_end(&rig);
}

/* Its HEADER says other draws for the device's ops than this library makes. */
static void a_worker_that_would_draw_otherwise_is_not_believed(void **state)
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
    for (int k = 0; k < 5000 && rig_stats(&rig).protocol_errors == 0; k++) {
        rig_skip(&rig, 1);
    }
    assert_true(fake_worker_effects(other) > 0);
    assert_true(fake_worker_requests(like) > 0);
    assert_true(rig_stats(&rig).protocol_errors > 0);
    rig_end(&rig);
}

static void impossible_labels_fail_by_name(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    char  *label = strstr(rig.text, "classes: 10}");
    size_t room  = sizeof(rig.text) - (size_t)(label - rig.text);
    snprintf(label, room, "one_hot: {classes: 10}}\n");
    rig_add(&rig, (struct fake_behaviour){.wrong_label = true});
    rig_open(&rig);
    assert_non_null(strstr(rig_assert_next(&rig, FOREBAY_DATA), "label"));
    rig_end(&rig);
}

/* ---- comings and goings -------------------------------------------------- */

static void a_server_restarted_is_joined_again_in_silence(void **state)
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

/* ---- holding, releasing, forking ----------------------------------------- */

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

static void a_forked_child_is_told_so_and_harms_nothing(void **state)
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
    assert_non_null(strstr(forebay_error(rig.stream), " is busy: it has no "));
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
        cmocka_unit_test(garbage_and_damage_are_counted),
        cmocka_unit_test(an_answer_to_an_older_open_is_no_error),
        cmocka_unit_test(two_honest_workers_pass_every_audit),
        cmocka_unit_test(damage_of_a_second_answer_is_not_told_as_other_values),
        cmocka_unit_test(
            other_values_in_an_audit_name_both_workers_and_the_step),
        cmocka_unit_test(a_token_goes_on_right_after_its_batch),
        cmocka_unit_test(ranks_concatenated_are_the_stream_of_one),
        cmocka_unit_test(padding_rows_are_not_valid),
        cmocka_unit_test(selected_fields_come_alone),
        cmocka_unit_test(a_worker_of_other_data_is_left_aside),
        cmocka_unit_test(what_it_logs_goes_where_the_caller_says),
        cmocka_unit_test(a_tie_names_both_workers_and_the_shard),
        cmocka_unit_test(the_jobs_pin_decides_against_the_majority),
        cmocka_unit_test(a_source_that_is_nowhere_is_an_error_that_names_it),
        cmocka_unit_test(a_worker_that_never_opens_keeps_nobody_waiting),
        cmocka_unit_test(without_a_worker_open_says_so_in_time),
        cmocka_unit_test(what_the_server_refuses_is_told_in_its_words),
        cmocka_unit_test(open_can_be_given_up),
        cmocka_unit_test(scanning_is_told_while_open_waits),
        cmocka_unit_test(a_bad_sample_fails_with_its_place),
        cmocka_unit_test(when_all_workers_are_set_aside_next_names_the_last),
        cmocka_unit_test(substitutes_are_listed_and_limited),
        cmocka_unit_test(a_worker_that_would_draw_otherwise_is_not_believed),
        cmocka_unit_test(impossible_labels_fail_by_name),
        cmocka_unit_test(a_server_restarted_is_joined_again_in_silence),
        cmocka_unit_test(a_server_that_forgot_us_and_refuses_stops_no_stream),
        cmocka_unit_test(a_job_whose_ranks_have_other_data_fails_at_any_time),
        cmocka_unit_test(with_all_workers_gone_next_says_so_and_then_goes_on),
        cmocka_unit_test(held_batches_go_beyond_the_slots_up_to_the_cap),
        cmocka_unit_test(batches_and_tensors_outlive_the_stream),
        cmocka_unit_test(a_forked_child_is_told_so_and_harms_nothing),
        cmocka_unit_test(next_honours_its_timeout),
    };
    setenv("FOREBAY_TIME_DIVISOR", "10", 1);
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.client", tests, NULL, NULL);
}
