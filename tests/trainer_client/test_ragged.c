/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of rows of several lengths: every value is that of its sample despite
 * faults, and wrong lengths are refused with an error that names them. */
#include "tests/trainer_client/rig.h"

#include "pipeline/types.h"
#include "tests/says.h"

enum { STEPS = 12, WORDS = 9, BOXES = 300 };

/* The rig's batches, of rows of up to 9 bytes and of up to 300 pairs of i32. */
static void ragged_begin(struct rig *rig, const char *last, uint32_t batch)
{
    rig_begin(rig, 1, last);
    snprintf(rig->text, sizeof(rig->text),
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:train-{0..0}.tar\", last: %s}}\n"
        "global_batch: %u\n"
        "seed: 7\n"
        "fields:\n"
        "  words: {from: bin, decode: bytes, max_length: 9,"
        " out: {dtype: i32, pad: -1, to: longest}}\n"
        "  boxes: {from: npy, decode: array, shape: [2], max_length: 300,"
        " wire: i32, out: {as: ragged, offsets: i64}}\n"
        "  label: {from: cls, classes: 10}\n",
        last, batch);
}

static void ragged_stream(struct rig *rig, struct fake_behaviour behaviour)
{
    ragged_begin(rig, "drop", RIG_BATCH);
    rig_add(rig, behaviour);
    rig_open(rig);
}

/* ---- Values -------------------------------------------------------------- */

static const DLTensor *tensor(
    const struct forebay_batch *batch, const char *name)
{
    int32_t at = forebay_batch_field(batch, name);
    assert_true(at >= 0);
    return forebay_batch_tensor(batch, (uint32_t)at);
}

static void check_words(const struct forebay_batch *batch)
{
    const uint64_t *samples = forebay_batch_samples(batch);
    const DLTensor *words   = tensor(batch, "words");
    const int32_t  *values  = words->data;
    const int32_t  *lengths = tensor(batch, "words.lengths")->data;
    int64_t         longest = 0;
    for (uint32_t row = 0; row < forebay_batch_rows(batch); row++) {
        int64_t n = fake_worker_length(samples[row], WORDS);
        longest   = n > longest ? n : longest;
        assert_int_equal(lengths[row], n);
        for (int64_t k = 0; k < words->shape[1]; k++) {
            int32_t want = k < n ? (uint8_t)(samples[row] + (uint64_t)k) : -1;
            assert_int_equal(values[row * words->shape[1] + k], want);
        }
    }
    assert_int_equal(words->ndim, 2);
    assert_int_equal(words->shape[1], longest);
}

static void check_boxes(const struct forebay_batch *batch)
{
    const uint64_t *samples = forebay_batch_samples(batch);
    const DLTensor *boxes   = tensor(batch, "boxes");
    const uint8_t  *bytes   = boxes->data;
    const int64_t  *offsets = tensor(batch, "boxes.offsets")->data;
    uint32_t        rows    = forebay_batch_rows(batch);
    assert_int_equal(offsets[0], 0);
    for (uint32_t row = 0; row < rows; row++) {
        int64_t n = fake_worker_length(samples[row], BOXES);
        assert_int_equal(offsets[row + 1] - offsets[row], n);
        for (int64_t k = 0; k < 8 * n; k++) {
            assert_int_equal(bytes[8 * offsets[row] + k],
                (uint8_t)(samples[row] + (uint64_t)k));
        }
    }
    assert_int_equal(boxes->ndim, 2);
    assert_int_equal(boxes->shape[0], offsets[rows]);
    assert_int_equal(boxes->shape[1], 2);
}

static void check_steps(struct rig *rig, int steps)
{
    for (int i = 0; i < steps; i++) {
        struct forebay_batch *batch = rig_next(rig);
        check_words(batch);
        check_boxes(batch);
        forebay_release(&batch, NULL);
    }
}

static void every_row_is_that_of_its_sample_in_every_coding(void **state)
{
    (void)state;
    static const uint8_t codings[][2] = {{0, 0}, {0, 1}, {1, 1}, {3, 1}};
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        struct rig rig;
        ragged_stream(&rig, (struct fake_behaviour){.filter = codings[i][0],
                                .codec                      = codings[i][1]});
        check_steps(&rig, STEPS);
        rig_end(&rig);
    }
}

/* 100 samples: 4 rows are left of the last batch of 24, none for 3 ranks. */
static void ranks_without_rows_get_tensors_without_rows(void **state)
{
    (void)state;
    struct rig rig;
    ragged_begin(&rig, "short", RIG_BATCH);
    rig_add(&rig, (struct fake_behaviour){0});
    rig.options.job   = "together";
    rig.options.world = 4;
    rig.options.rank  = 3;
    rig_open(&rig);
    check_steps(&rig, 4);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(forebay_batch_rows(batch), 0);
    check_words(batch);
    check_boxes(batch);
    assert_int_equal(tensor(batch, "words.lengths")->shape[0], 0);
    assert_int_equal(tensor(batch, "boxes.offsets")->shape[0], 1);
    forebay_release(&batch, NULL);
    rig_end(&rig);
}

static void batches_of_one_row_hold(void **state)
{
    (void)state;
    struct rig rig;
    ragged_begin(&rig, "drop", 1);
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    check_steps(&rig, RIG_SAMPLES);
    rig_end(&rig);
}

/* ---- The same stream despite faults -------------------------------------- */

static void refusals_damage_and_second_answers_change_no_row(void **state)
{
    (void)state;
    const struct fake_behaviour bad[] = {
        {.busy_every = 2},
        {.lost_every = 2},
        {.vanish_after = 1},
        {.corrupt_every = 1},
        {.spoil_every = 1},
        {.spoil_every = 1, .codec = 1},
        {.twice_every = 1},
        {.skip_every = 2},
        {.sum_every = 1},
        {.header_every = 1},
        {.backwards = true, .codec = 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct rig rig;
        ragged_begin(&rig, "drop", RIG_BATCH);
        rig.options.verify_decoded = bad[i].spoil_every != 0;
        rig_add(&rig, bad[i]);
        rig_add(&rig, (struct fake_behaviour){0});
        rig_open(&rig);
        check_steps(&rig, STEPS);
        rig_end(&rig);
    }
}

static void a_token_goes_on_with_the_rows_that_follow(void **state)
{
    (void)state;
    struct rig rig;
    uint8_t    want[STEPS][16];
    char       token[256] = "";
    ragged_stream(&rig, (struct fake_behaviour){0});
    for (int i = 0; i < STEPS; i++) {
        struct forebay_batch *batch = rig_next(&rig);
        memcpy(want[i], forebay_batch_digest(batch), 16);
        if (i == 4) {
            snprintf(token, sizeof(token), "%s", forebay_batch_token(batch));
        }
        forebay_release(&batch, NULL);
    }
    forebay_close(&rig.stream);
    rig.options.token = token;
    rig_open(&rig);
    for (int i = 5; i < STEPS; i++) {
        struct forebay_batch *batch = rig_next(&rig);
        assert_memory_equal(forebay_batch_digest(batch), want[i], 16);
        forebay_release(&batch, NULL);
    }
    rig_end(&rig);
}

/* ---- Audits -------------------------------------------------------------- */

static void audit_with(struct rig *rig, struct fake_behaviour behaviour)
{
    ragged_begin(rig, "drop", RIG_BATCH);
    rig->options.audit = 1;
    rig->options.steps = STEPS;
    rig_add(rig, (struct fake_behaviour){0});
    rig_add(rig, behaviour);
    rig_open(rig);
}

static void equal_rows_pass_an_audit_in_any_coding(void **state)
{
    (void)state;
    struct rig rig;
    audit_with(&rig, (struct fake_behaviour){.codec = 1});
    check_steps(&rig, STEPS);
    rig_assert_next(&rig, FOREBAY_END);
    struct forebay_stats stats = rig_stats(&rig);
    assert_true(stats.audits > 0);
    assert_int_equal(stats.protocol_errors + stats.checksum_failures, 0);
    rig_end(&rig);
}

static void other_rows_are_found_by_an_audit(void **state)
{
    (void)state;
    struct rig rig;
    audit_with(&rig, (struct fake_behaviour){.value_salt = 1});
    const char *error = rig_assert_fails(&rig, FOREBAY_DATA);
    assert_non_null(strstr(error, "different values of epoch"));
    rig_end(&rig);
}

/* ---- False lengths ------------------------------------------------------- */

static void fails_with(struct fake_behaviour bad, const char *words)
{
    struct rig rig;
    ragged_stream(&rig, bad);
    const char *error = rig_assert_fails(&rig, FOREBAY_DATA);
    assert_text_says(error, words);
    rig_end(&rig);
}

static void false_lengths_fail_the_stream_by_the_fields_name(void **state)
{
    (void)state;
    fails_with((struct fake_behaviour){.long_every = 1},
        "field boxes: row 0 has 65535 entries, max_length is 300");
    fails_with(
        (struct fake_behaviour){.torn_every = 1}, "field boxes: chunk 0 has ");
}

/* ---- What is known of rows ------------------------------------------------ */

static void the_shortest_and_longest_row_are_known(void **state)
{
    (void)state;
    struct rig rig;
    ragged_stream(&rig, (struct fake_behaviour){0});
    struct forebay_batch *batch    = rig_next(&rig);
    const int32_t        *lengths  = tensor(batch, "words.lengths")->data;
    uint32_t              shortest = 0;
    uint32_t              longest  = 0;
    int32_t               min      = lengths[0];
    int32_t               max      = lengths[0];
    for (uint32_t row = 0; row < forebay_batch_rows(batch); row++) {
        min = lengths[row] < min ? lengths[row] : min;
        max = lengths[row] > max ? lengths[row] : max;
    }
    uint32_t words = (uint32_t)forebay_batch_field(batch, "words");
    assert_int_equal(
        forebay_batch_row_lengths(batch, words, &shortest, &longest),
        FOREBAY_OK);
    assert_int_equal(shortest, min);
    assert_int_equal(longest, max);
    for (uint32_t i = 0; i <= forebay_batch_n_fields(batch); i++) {
        const char *name  = forebay_batch_field_name(batch, i);
        bool        first = name != NULL &&
                     (strcmp(name, "words") == 0 || strcmp(name, "boxes") == 0);
        assert_int_equal(
            forebay_batch_row_lengths(batch, i, &shortest, &longest),
            first ? FOREBAY_OK : FOREBAY_USAGE);
    }
    forebay_release(&batch, NULL);
    rig_end(&rig);
}

static void dimensions_that_vary_are_known_before_the_first_batch(void **state)
{
    (void)state;
    struct rig rig;
    ragged_stream(&rig, (struct fake_behaviour){0});
    static const struct {
        const char *name;
        int64_t     shape[2];
    } want[] = {
        {"boxes", {-1, 2}},
        {"boxes.offsets", {RIG_BATCH + 1, 0}},
        {"label", {RIG_BATCH, 0}},
        {"words", {RIG_BATCH, -1}},
        {"words.lengths", {RIG_BATCH, 0}},
    };
    for (uint32_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct forebay_field field = {.struct_size = sizeof(field)};
        assert_int_equal(forebay_field(rig.stream, i, &field), FOREBAY_OK);
        assert_string_equal(field.name, want[i].name);
        assert_memory_equal(field.shape, want[i].shape, sizeof(want[i].shape));
        bool ragged = i == 0 || i == 1;
        bool padded = i == 3 || i == 4;
        assert_int_equal(field.as, ragged   ? FOREBAY_AS_RAGGED
                                   : padded ? FOREBAY_AS_PADDED
                                            : 0);
    }
    rig_end(&rig);
}

static void the_shape_of_a_dense_row_is_known(void **state)
{
    (void)state;
    static const char *const as[] = {"dense", "csr", "coo"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig rig;
        rig_begin(&rig, 1, "drop");
        snprintf(rig.text, sizeof(rig.text),
            "forebay: 1\n"
            "splits: {train: {shards: \"in1k:train-{0..0}.tar\"}}\n"
            "global_batch: %u\n"
            "fields:\n"
            "  words: {from: npz, decode: sparse, shape: [900], wire: f32,"
            " max_length: 30, out: {as: %s}}\n"
            "  label: {from: cls, classes: 10}\n",
            RIG_BATCH, as[i]);
        rig_add(&rig, (struct fake_behaviour){0});
        rig_open(&rig);
        struct forebay_field words = {.struct_size = sizeof(words)};
        struct forebay_field label = words;
        assert_int_equal(forebay_field(rig.stream, 0, &label), FOREBAY_OK);
        assert_string_equal(label.name, "label");
        assert_int_equal(label.n_dense_dims, 0);
        assert_int_equal(forebay_field(rig.stream, 1, &words), FOREBAY_OK);
        assert_string_equal(words.source, "words");
        assert_int_equal(words.n_dense_dims, 1);
        assert_int_equal(words.dense_shape[0], 900);
        rig_end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_that_of_its_sample_in_every_coding),
        cmocka_unit_test(ranks_without_rows_get_tensors_without_rows),
        cmocka_unit_test(batches_of_one_row_hold),
        cmocka_unit_test(refusals_damage_and_second_answers_change_no_row),
        cmocka_unit_test(a_token_goes_on_with_the_rows_that_follow),
        cmocka_unit_test(equal_rows_pass_an_audit_in_any_coding),
        cmocka_unit_test(other_rows_are_found_by_an_audit),
        cmocka_unit_test(false_lengths_fail_the_stream_by_the_fields_name),
        cmocka_unit_test(the_shortest_and_longest_row_are_known),
        cmocka_unit_test(dimensions_that_vary_are_known_before_the_first_batch),
        cmocka_unit_test(the_shape_of_a_dense_row_is_known),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.ragged", tests, NULL, NULL);
}
