/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes copied to a GPU are those of the field on the wire and at most 5 %
 * more: the list of segments and `valid`. */
#include "tests/trainer_client/rig.h"

#include "tests/trainer_client/fake_cuda.h"

enum { STEPS = 6, SIDE = 128 };

#define PIXELS UINT64_C(16384) /* SIDE * SIDE */

struct field {
    const char *keys;  /* of the field, with SIDE as 128 */
    uint64_t    least; /* bytes of a row on the wire */
};

static const struct field fields[] = {
    {"from: npy, decode: array, shape: [128, 128], wire: u8, out: {dtype: f32}",
        PIXELS},
    {"from: npy, decode: array, shape: [128, 128], wire: u16,"
     " out: {dtype: bf16, scale: 0.5}",
        2 * PIXELS},
    {"from: npy, decode: array, shape: [128, 128], wire: i32,"
     " out: {dtype: i64}",
        4 * PIXELS},
    {"from: npy, decode: array, shape: [128, 128], wire: u32", 4 * PIXELS},
    {"from: npy, decode: array, shape: [128, 128], wire: i64", 8 * PIXELS},
    {"from: npy, decode: array, shape: [128, 128], wire: f16,"
     " out: {dtype: f32}",
        2 * PIXELS},
    {"from: npy, decode: array, shape: [128, 128], wire: bf16,"
     " out: {dtype: f32}",
        2 * PIXELS},
    {"from: npy, decode: array, shape: [128, 128], wire: f32", 4 * PIXELS},
    {"from: npy, decode: array, shape: [128, 128, 19], wire: bits,"
     " out: {dtype: bf16, layout: chw}",
        3 * PIXELS},
    {"from: jpg, ops: [{random_resized_crop: {size: 128}}],"
     " device: [{normalize: {mean: 0.5, std: 0.25}}],"
     " out: {dtype: f32, layout: chw}",
        3 * PIXELS},
    {"from: jpg, ops: [{random_resized_crop: {size: 128}}], wire: yuv420,"
     " device: [{normalize: {mean: 0.5, std: 0.25}}],"
     " out: {dtype: bf16, layout: chw}",
        3 * PIXELS / 2},
    {"from: jpg, ops: [{random_resized_crop: {size: 128}}], wire: yuv420,"
     " device: [horizontal_flip, {colour_jitter: {contrast: 0.4}}],"
     " out: {dtype: bf16, layout: chw}",
        3 * PIXELS / 2},
};

static void begin_split(struct rig *rig, const char *split, const char *text)
{
    fake_cuda_begin(1);
    rig_begin(rig, 1, "drop");
    snprintf(rig->text, sizeof(rig->text),
        "forebay: 1\n"
        "splits: {train: {%s}}\n"
        "global_batch: %d\n"
        "fields:\n%s",
        split, RIG_BATCH, text);
    rig->options.device         = "cuda";
    rig->options.digests        = false;
    rig->options.verify_decoded = false;
    rig->options.steps          = STEPS;
    rig_add(rig, (struct fake_behaviour){0});
    rig_open(rig);
}

/* `more` is another field, or nothing. */
static void begin(struct rig *rig, const char *keys, const char *more)
{
    char text[1024];
    snprintf(text, sizeof(text), "  x: {%s}\n%s", keys, more);
    begin_split(rig, "shards: \"in1k:train-{0..0}.tar\"", text);
}

static uint64_t bytes_copied(const char *keys, const char *more)
{
    struct rig rig;
    begin(&rig, keys, more);
    rig_skip(&rig, STEPS);
    rig_assert_next(&rig, FOREBAY_END);
    uint64_t copied = fake_cuda_counts().copied;
    rig_end(&rig);
    fake_cuda_end();
    return copied;
}

struct ragged {
    uint32_t most;  /* entries of a row */
    uint32_t entry; /* bytes of one */
};

/* To the end; *all grows by the entries of the rows. */
static uint64_t take_rows(struct rig *rig, struct ragged rows, uint64_t *all)
{
    for (int i = 0; i < STEPS; i++) {
        struct forebay_batch *batch = rig_next(rig);
        for (uint32_t row = 0; row < RIG_BATCH; row++) {
            *all +=
                rows.entry * (uint64_t)fake_worker_length(
                                 forebay_batch_samples(batch)[row], rows.most);
        }
        forebay_release(&batch, NULL);
    }
    rig_assert_next(rig, FOREBAY_END);
    uint64_t copied = fake_cuda_counts().copied;
    rig_end(rig);
    fake_cuda_end();
    return copied;
}

static uint64_t bytes_of_rows(
    const char *keys, struct ragged rows, uint64_t *all)
{
    struct rig rig;
    begin(&rig, keys, "");
    return take_rows(&rig, rows, all);
}

static void is_at_most(uint64_t copied, uint64_t row, const char *what)
{
    uint64_t least = row * RIG_BATCH * STEPS;
    assert_true(row * RIG_BATCH >= 256 << 10);
    if (copied < least || copied * 100 > least * 105) {
        fail_msg("%s: %llu bytes copied, at least %llu", what,
            (unsigned long long)copied, (unsigned long long)least);
    }
}

static void each_field_crosses_as_it_travelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint64_t copied = bytes_copied(fields[i].keys, "");
        is_at_most(copied, fields[i].least, fields[i].keys);
    }
}

static void rows_cross_with_the_values_they_have(void **state)
{
    (void)state;
    static const char *const keys =
        "from: npy, decode: array, shape: [64], wire: f32, max_length: 700,"
        " too_long: refuse";
    uint64_t all    = 0; /* of the rows, as the worker makes them */
    uint64_t copied = bytes_of_rows(keys, (struct ragged){700, 256}, &all);
    assert_true(all >= (uint64_t)STEPS * (256 << 10));
    assert_in_range(copied, all, all + all / 20);
}

/* An index and a value each, and no more for 100000 places. */
static void sparse_rows_cross_with_the_values_they_have(void **state)
{
    (void)state;
    static const char *const as[] = {"dense", "csr", "coo"};
    for (uint32_t i = 0; i < 3; i++) {
        char     keys[200];
        uint64_t all = 0;
        snprintf(keys, sizeof(keys),
            "from: npz, decode: sparse, shape: [100000], wire: f32,"
            " max_length: 4000, out: {as: %s}",
            as[i]);
        uint64_t copied = bytes_of_rows(keys, (struct ragged){4000, 8}, &all);
        assert_true(all >= (uint64_t)STEPS * (256 << 10));
        assert_in_range(copied, all, all + all / 20);
    }
}

/* Tokens as they travelled, and of each document where it ends. */
static void documents_cross_as_where_they_end(void **state)
{
    (void)state;
    enum { LENGTH = 8192 };
    static const char *const as[] = {
        "positions, dtype: i64", "mask, dtype: f16"};
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        char       text[200];
        uint64_t   all = (uint64_t)STEPS * RIG_BATCH * LENGTH * 2;
        snprintf(text, sizeof(text),
            "  input: {from: input}\n"
            "  of: {from: documents, out: {as: %s}}\n",
            as[i]);
        begin_split(&rig,
            "tokens: {files: \"c4:*.bin\", format: flat, type: u16,"
            " length: 8192, shift: 1, pack: documents, end: 7}",
            text);
        uint64_t copied = take_rows(&rig, (struct ragged){LENGTH, 4}, &all);
        assert_in_range(copied, all, all + all / 20);
    }
}

static void a_label_crosses_as_an_id(void **state)
{
    (void)state;
    uint64_t copied = bytes_copied(
        fields[0].keys, "  label: {from: cls, one_hot: {classes: 60000}}\n");
    is_at_most(copied, fields[0].least + 2, "one-hot label");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_crosses_as_it_travelled),
        cmocka_unit_test(rows_cross_with_the_values_they_have),
        cmocka_unit_test(sparse_rows_cross_with_the_values_they_have),
        cmocka_unit_test(documents_cross_as_where_they_end),
        cmocka_unit_test(a_label_crosses_as_an_id),
    };
    return cmocka_run_group_tests_name("trainer_client.bus", tests, NULL, NULL);
}
