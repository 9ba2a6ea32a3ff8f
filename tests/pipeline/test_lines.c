/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of keys, ops and splits in a pipeline file. */
#include "tests/test.h"

#include "pipeline/lines.h"
#include "tests/pipeline/sample.h"

static struct fby_pipeline *sample(void)
{
    struct fby_pipeline *pipeline = NULL;
    assert_ok(parse_text(sample_file, &pipeline, NULL));
    return pipeline;
}

static void keys_stand_where_they_are_given(void **state)
{
    (void)state;
    struct fby_pipeline *p = sample();
    assert_int_equal(fby_pipeline_line(p, "image", FBY_FIELD_WHOLE), 10);
    assert_int_equal(fby_pipeline_line(p, "image", FBY_FIELD_DCT_SCALE), 13);
    assert_int_equal(fby_pipeline_line(p, "image", FBY_FIELD_WIRE_CODEC), 21);
    assert_int_equal(fby_pipeline_line(p, "image", FBY_FIELD_WIRE_TYPE), 21);
    assert_int_equal(fby_pipeline_line(p, "kind", FBY_FIELD_CLASSES), 30);
    fby_pipeline_destroy(&p);
}

static void keys_that_are_left_out_stand_where_their_field_does(void **state)
{
    (void)state;
    struct fby_pipeline *p = sample();
    assert_int_equal(fby_pipeline_line(p, "label", FBY_FIELD_CLASSES), 25);
    assert_int_equal(fby_pipeline_line(p, "label", FBY_FIELD_WIRE_CODEC), 25);
    assert_int_equal(fby_pipeline_line(p, "absent", FBY_FIELD_WHOLE), 0);
    fby_pipeline_destroy(&p);
}

/* `wire: f32` is all of wire; its codec is left out there. */
static void a_plain_word_is_the_place_of_all_of_wire(void **state)
{
    (void)state;
    struct fby_pipeline *p    = NULL;
    char                *text = changed("wire: f32,", "\n     wire: f32,");
    assert_ok(parse_text(text, &p, NULL));
    assert_int_equal(fby_pipeline_line(p, "score", FBY_FIELD_WIRE_TYPE), 29);
    assert_int_equal(fby_pipeline_line(p, "score", FBY_FIELD_WIRE_CODEC), 29);
    fby_pipeline_destroy(&p);
    free(text);
}

static void normalize_stands_where_it_is_given(void **state)
{
    (void)state;
    struct fby_pipeline *p    = sample();
    size_t               line = fby_pipeline_line(p, "image", FBY_FIELD_DEVICE);
    assert_int_equal(line, 23);
    assert_int_equal(fby_pipeline_line(p, "label", FBY_FIELD_DEVICE), 25);
    fby_pipeline_destroy(&p);
}

static void ops_are_counted_as_the_split_has_them(void **state)
{
    (void)state;
    struct fby_pipeline *p = sample();
    assert_int_equal(fby_pipeline_op_line(p, "train", "image", 0), 16);
    assert_int_equal(fby_pipeline_op_line(p, NULL, "image", 1), 18);
    assert_int_equal(fby_pipeline_op_line(p, "val", "image", 0), 19);
    assert_int_equal(fby_pipeline_op_line(p, "val", "image", 1), 20);
    assert_int_equal(fby_pipeline_op_line(p, "val", "image", 2), 0);
    fby_pipeline_destroy(&p);
}

static void the_end_of_documents_stands_with_its_split(void **state)
{
    (void)state;
    static const char text[] =
        "forebay: 1\n"
        "splits:\n"
        "  train:\n" /* 3 */
        "    tokens: {files: a:t.bin, format: flat, type: u16, length: 8,\n"
        "             pack: documents, end: 1}\n" /* 5 */
        "  val: {tokens: {files: a:v.bin, format: megatron, length: 8}}\n"
        "global_batch: 8\n"
        "fields: {tokens: {from: input}}\n";
    struct fby_pipeline *p = NULL;
    assert_ok(parse_text(text, &p, NULL));
    assert_int_equal(fby_pipeline_tokens_end_line(p, "train"), 5);
    assert_int_equal(fby_pipeline_tokens_end_line(p, "val"), 6);
    assert_int_equal(fby_pipeline_tokens_end_line(p, "test"), 0);
    fby_pipeline_destroy(&p);
}

static void a_split_stands_for_a_shuffle_that_is_left_out(void **state)
{
    (void)state;
    struct fby_pipeline *p    = NULL;
    char                *text = changed(", shuffle: none", "");
    assert_ok(parse_text(text, &p, NULL));
    assert_int_equal(fby_pipeline_shuffle_line(p, "train"), 3);
    assert_int_equal(fby_pipeline_shuffle_line(p, "val"), 5);
    assert_int_equal(fby_pipeline_shuffle_line(p, "test"), 0);
    fby_pipeline_destroy(&p);
    free(text);
}

/* `train` is not the first split, and normalize not the first op. */
static const char turned_round[] =
    "forebay: 1\n"
    "splits:\n"
    "  val: {folder: v}\n"
    "  train: {folder: t, shuffle: none}\n" /* 4 */
    "global_batch: 8\n"
    "fields:\n"
    "  x:\n" /* 7 */
    "    from: jpg\n"
    "    ops:\n"
    "      - resize: {size: 9, only: val}\n"   /* 10 */
    "      - resize: {size: 9, only: train}\n" /* 11 */
    "    device:\n"
    "      - horizontal_flip\n"
    "      - normalize: {mean: 0, std: 1}\n"; /* 14 */

static void the_split_that_is_not_named_is_train(void **state)
{
    (void)state;
    struct fby_pipeline *p = NULL;
    assert_ok(parse_text(turned_round, &p, NULL));
    assert_int_equal(fby_pipeline_shuffle_line(p, NULL), 4);
    assert_int_equal(fby_pipeline_shuffle_line(p, "val"), 3);
    assert_int_equal(fby_pipeline_op_line(p, NULL, "x", 0), 11);
    assert_int_equal(fby_pipeline_op_line(p, "val", "x", 0), 10);
    assert_int_equal(fby_pipeline_op_line(p, "val", "x", 1), 0);
    assert_int_equal(fby_pipeline_op_line(p, "val", "y", 0), 0);
    assert_int_equal(fby_pipeline_line(p, "x", FBY_FIELD_DEVICE), 14);
    assert_int_equal(fby_pipeline_line(p, "x", FBY_FIELD_WIRE_TYPE), 7);
    fby_pipeline_destroy(&p);
}

static void a_split_alone_needs_no_name(void **state)
{
    (void)state;
    struct fby_pipeline *p = NULL;
    assert_ok(parse_text("forebay: 1\n"
                         "splits:\n"
                         "  other: {folder: v,\n"
                         "          shuffle: none}\n" /* 4 */
                         "global_batch: 8\n"
                         "fields: {x: {from: folder}}\n",
        &p, NULL));
    assert_int_equal(fby_pipeline_shuffle_line(p, NULL), 4);
    assert_int_equal(fby_pipeline_shuffle_line(p, "train"), 0);
    fby_pipeline_destroy(&p);
}

static const char line_by_line[] = "forebay: 1\n"
                                   "splits: {train: {folder: v}}\n"
                                   "global_batch: 8\n"
                                   "fields:\n"
                                   "  x:\n" /* 5 */
                                   "    from: jpg\n"
                                   "    group: x\n"
                                   "    dct_scale: off\n" /* 8 */
                                   "    ops: [{resize: {size: 9}}]\n"
                                   "    wire:\n"          /* 10 */
                                   "      filter: none\n" /* 11 */
                                   "      codec: store\n" /* 12 */
                                   "      type: u8\n"     /* 13 */
                                   "  y:\n"               /* 14 */
                                   "    from: folder\n"   /* 15 */
                                   "    out: {dtype: i64}\n"
                                   "    classes: 9\n"       /* 17 */
                                   "    wire:\n"            /* 18 */
                                   "      filter: delta\n"; /* 19 */

static void each_key_has_its_own_line(void **state)
{
    (void)state;
    static const struct {
        enum fby_field_key key;
        size_t             x, y;
    } lines[] = {{FBY_FIELD_DCT_SCALE, 8, 14}, {FBY_FIELD_CLASSES, 5, 17},
        {FBY_FIELD_WIRE_TYPE, 13, 19}, {FBY_FIELD_WIRE_CODEC, 12, 19},
        {FBY_FIELD_DEVICE, 5, 14}, {FBY_FIELD_WHOLE, 5, 14}};
    struct fby_pipeline *p = NULL;
    assert_ok(parse_text(line_by_line, &p, NULL));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(fby_pipeline_line(p, "x", lines[i].key), lines[i].x);
        assert_int_equal(fby_pipeline_line(p, "y", lines[i].key), lines[i].y);
    }
    fby_pipeline_destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_stand_where_they_are_given),
        cmocka_unit_test(keys_that_are_left_out_stand_where_their_field_does),
        cmocka_unit_test(a_plain_word_is_the_place_of_all_of_wire),
        cmocka_unit_test(ops_are_counted_as_the_split_has_them),
        cmocka_unit_test(normalize_stands_where_it_is_given),
        cmocka_unit_test(the_end_of_documents_stands_with_its_split),
        cmocka_unit_test(a_split_stands_for_a_shuffle_that_is_left_out),
        cmocka_unit_test(the_split_that_is_not_named_is_train),
        cmocka_unit_test(a_split_alone_needs_no_name),
        cmocka_unit_test(each_key_has_its_own_line),
    };
    return cmocka_run_group_tests_name("pipeline.lines", tests, NULL, NULL);
}
