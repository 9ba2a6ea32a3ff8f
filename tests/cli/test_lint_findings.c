/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of `forebay lint` for made-up facts. */
#include "cli/lint/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/class_folders.h"
#include "pipeline/op.h"
#include "tests/test.h"

static struct fby_field_content content[2];
static struct fby_lint_facts    facts;
static struct fby_finding       findings[FBY_LINT_FINDINGS];

/* Two fields without findings. */
static int start(void **state)
{
    (void)state;
    memset(content, 0, sizeof(content));
    facts = (struct fby_lint_facts){
        .samples = 64, .n_fields = 2, .split = "train", .is_shuffled = true};
    for (uint32_t f = 0; f < 2; f++) {
        facts.fields[f] = (struct fby_lint_field){
            .content = &content[f],
            .lines   = {.field = 10,
                  .dct_scale   = 11,
                  .classes     = 12,
                  .type        = 13,
                  .codec       = 14,
                  .normalize   = 15,
                  .ops         = {20, 21, 22, 23}},
            .bytes   = 1000,
            .same_as = f,
            .current = {.bytes = 500},
            .best    = {.bytes = 500},
        };
    }
    strcpy(content[0].name, "image");
    strcpy(content[1].name, "label");
    content[0].decode    = FBY_DECODE_RGB8;
    content[1].decode    = FBY_DECODE_NUMBER;
    content[1].wire_type = FBY_I64;
    return 0;
}

static uint32_t find(void)
{
    return fby_lint_find(&facts, findings);
}

static void assert_one(enum fby_finding_kind kind, size_t line)
{
    assert_int_equal(find(), 1);
    assert_int_equal(findings[0].kind, kind);
    assert_int_equal(findings[0].line, line);
}

static void a_good_pipeline_has_no_findings(void **state)
{
    (void)state;
    assert_int_equal(find(), 0);
}

static void inputs_and_targets_are_one_sequence(void **state)
{
    (void)state;
    for (uint32_t f = 0; f < 2; f++) {
        content[f].decode    = FBY_DECODE_TOKENS;
        content[f].wire_type = FBY_U16;
    }
    strcpy(content[0].from[0], "input");
    strcpy(content[1].from[0], "target");
    assert_one(FBY_FINDING_TWICE, 10);
    assert_string_equal(findings[0].field, "label");
    assert_non_null(strstr(findings[0].advice, "from: sequence"));
    assert_true(findings[0].before == 1000 && findings[0].after < 510);
    content[1].as.tokens.packed = true;
    assert_int_equal(find(), 0);
    content[1].as.tokens.packed = false;
    strcpy(content[0].from[0], "target");
    assert_int_equal(find(), 0);
}

static void files_where_no_document_ends_are_counted(void **state)
{
    (void)state;
    facts.ends = (struct fby_lint_ends){0, 9, 50256, 4};
    assert_int_equal(find(), 0);
    facts.ends.undivided = 7;
    assert_one(FBY_FINDING_NO_END, 4);
    assert_null(findings[0].field);
    assert_non_null(strstr(findings[0].found, "7 of 9 files"));
    assert_non_null(strstr(findings[0].found, "50256"));
}

static void another_type_of_tokens_is_said(void **state)
{
    (void)state;
    facts.token_type = (struct fby_lint_token_type){FBY_U32, FBY_U16, 7};
    assert_one(FBY_FINDING_TOKEN_TYPE, 7);
    assert_string_equal(
        findings[0].advice, "type: u16, unless the files really have u32");
    facts.token_type.found = (enum fby_type)0;
    assert_int_equal(find(), 0);
}

/* ---- random ops ---------------------------------------------------------- */

static void random_ops_are_for_training(void **state)
{
    (void)state;
    static const char *const evaluation[] = {
        "val", "valid", "validation", "test", "val_small", "test-1"};
    content[0].n_ops        = 3;
    content[0].ops[0].op    = fby_op_named("resize");
    content[0].ops[1].op    = fby_op_named("random_crop");
    content[0].ops[2].op    = fby_op_named("colour_jitter");
    content[0].n_device     = 1;
    content[0].device[0].op = fby_device_op_named("mixup");
    assert_int_equal(find(), 0);
    facts.split = "value";
    assert_int_equal(find(), 0);
    for (size_t i = 0; i < sizeof(evaluation) / sizeof(evaluation[0]); i++) {
        facts.split = evaluation[i];
        assert_one(FBY_FINDING_RANDOM, 21);
    }
    facts.split = "val";
    assert_int_equal(find(), 1);
    assert_string_equal(findings[0].found,
        "random_crop, colour_jitter, mixup in split 'val', which is for "
        "evaluation by its name");
    assert_non_null(strstr(findings[0].advice, "only: train at each of them"));
    facts.split       = "train";
    facts.is_shuffled = false;
    assert_int_equal(find(), 1);
    assert_non_null(strstr(findings[0].found, "which is not shuffled"));
    assert_non_null(strstr(findings[0].advice, "shuffle: full"));
    assert_null(strstr(findings[0].advice, "only:"));
    content[0].n_device = 0;
    content[0].n_ops    = 1; /* only a resize */
    assert_int_equal(find(), 0);
}

/* ---- levels -------------------------------------------------------------- */

static void put_levels(double mean, double std)
{
    content[0].as.rgb8.normalize = true;
    for (size_t k = 0; k < 3; k++) {
        content[0].as.rgb8.mean[k] = mean;
        content[0].as.rgb8.std[k]  = std;
    }
}

static void assert_levels(double mean, double std, const char *instead)
{
    put_levels(mean, std);
    assert_one(FBY_FINDING_LEVELS, 15);
    assert_non_null(strstr(findings[0].advice, instead));
}

static void pictures_of_16_bits_are_counted(void **state)
{
    (void)state;
    facts.fields[0].clipped = 3;
    assert_one(FBY_FINDING_CLIPPED, 10);
    assert_string_equal(findings[0].found,
        "PNG in grey of 16 bits: 3 of 64 pictures; values above 255 become "
        "255, so most of such pictures turn white, as with Pillow");
    assert_string_equal(findings[0].advice,
        "nothing: scale the files to 8 bits, for example with 'mogrify -depth "
        "8 FILE', or store them as .npy and read these with decode: array");
    assert_false(findings[0].changes_content);
}

static void floats_of_0_to_255_are_named(void **state)
{
    (void)state;
    facts.fields[0].is_float  = true;
    facts.fields[0].lines.out = 16;
    facts.fields[1].is_float  = true; /* a number */
    assert_one(FBY_FINDING_LEVELS, 16);
    assert_non_null(strstr(findings[0].found, "floats of 0 to 255"));
    assert_non_null(strstr(findings[0].advice, "{mean: 0, std: 1}"));
    put_levels(0, 1);
    assert_int_equal(find(), 0);
}

static void levels_of_bytes_are_divided(void **state)
{
    (void)state;
    assert_levels(123.675, 58.395,
        "{mean: [0.485, 0.485, 0.485], std: [0.229, 0.229, 0.229]}");
    assert_non_null(strstr(findings[0].found, "mean [123.7, 123.7, 123.7]"));
    assert_levels(127.5, 0.5, "{mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5]}");
    assert_levels(0, 255, "{mean: [0, 0, 0], std: [1, 1, 1]}");
    assert_levels(102, 1, "mean: [0.4, 0.4, 0.4], std: [0.003922,");
    content[0].as.rgb8.mean[0] = 0.1; /* one of the three is enough */
    assert_int_equal(find(), 1);
}

static void levels_of_0_to_1_give_no_finding(void **state)
{
    (void)state;
    static const double well[][2] = {
        {0.485, 0.229}, {0, 1}, {1, 1}, {0.5, 2}, {-3, 0.1}};
    for (size_t i = 0; i < sizeof(well) / sizeof(well[0]); i++) {
        put_levels(well[i][0], well[i][1]);
        assert_int_equal(find(), 0);
    }
    put_levels(123, 58);
    content[0].as.rgb8.normalize = false;
    assert_int_equal(find(), 0);
}

/* ---- orders -------------------------------------------------------------- */

static void put_ops(uint32_t n)
{
    content[0].n_ops = n;
    for (uint32_t i = 0; i < n; i++) {
        content[0].ops[i].op = fby_ops[i];
    }
}

static void put_move(
    uint32_t from, uint32_t to, double after_ms, double difference)
{
    struct fby_lint_field *field   = &facts.fields[0];
    field->moves[field->n_moves++] = (struct fby_lint_move){from, to,
        {.succeeded     = true,
            .before_ms  = 10,
            .after_ms   = after_ms,
            .difference = difference}};
}

static void an_op_is_moved_where_it_costs_less(void **state)
{
    (void)state;
    put_ops(2);
    put_move(1, 0, 6, 0.2);
    assert_one(FBY_FINDING_OP_ORDER, 21);
    assert_true(findings[0].changes_content);
    assert_non_null(strstr(findings[0].advice, fby_ops[1]->name));
    assert_true(findings[0].before == 10 && findings[0].after == 6);
}

static void an_order_with_other_values_is_no_finding(void **state)
{
    (void)state;
    put_ops(2);
    put_move(1, 0, 6, 1.1);
    assert_int_equal(find(), 0);
}

static void ids_of_a_mask_may_not_differ_at_all(void **state)
{
    (void)state;
    put_ops(2);
    put_move(1, 0, 6, 0.01);
    content[0].decode = FBY_DECODE_MASK8;
    assert_int_equal(find(), 0);
    facts.fields[0].moves[0].trial.difference = 0;
    assert_one(FBY_FINDING_OP_ORDER, 21);
}

static void an_order_that_saves_too_little_is_no_finding(void **state)
{
    (void)state;
    put_ops(2);
    put_move(1, 0, 9.6, 0);
    assert_int_equal(find(), 0);
}

static void an_order_that_could_not_be_tried_is_no_finding(void **state)
{
    (void)state;
    put_ops(2);
    put_move(1, 0, 1, 0);
    facts.fields[0].moves[0].trial.succeeded = false;
    assert_int_equal(find(), 0);
}

static void an_op_goes_further_only_for_more(void **state)
{
    (void)state;
    put_ops(4);
    put_move(3, 2, 6, 0);
    put_move(3, 1, 5.9, 0); /* a flip costs nothing */
    assert_one(FBY_FINDING_OP_ORDER, 23);
    assert_true(findings[0].after == 6);
    put_move(3, 0, 3, 0);
    assert_one(FBY_FINDING_OP_ORDER, 23);
    assert_true(findings[0].after == 3);
    assert_non_null(strstr(findings[0].advice, fby_ops[0]->name));
}

static void a_stop_with_another_meaning_is_no_barrier(void **state)
{
    (void)state;
    put_ops(3);
    put_move(2, 1, 5, 40);
    put_move(2, 0, 5, 0.1);
    assert_one(FBY_FINDING_OP_ORDER, 22);
    assert_non_null(strstr(findings[0].advice, fby_ops[0]->name));
}

/* ---- decoding ------------------------------------------------------------ */

static void decoding_smaller_is_advised_where_it_is_faster(void **state)
{
    (void)state;
    facts.fields[0].scale =
        (struct fby_lint_trial){true, .before_ms = 4, .after_ms = 3.9};
    assert_int_equal(find(), 0);
    facts.fields[0].scale.after_ms = 2;
    assert_one(FBY_FINDING_DCT_SCALE, 11);
    assert_true(findings[0].changes_content);
}

/* ---- types --------------------------------------------------------------- */

static void put_numbers(double least, double most, double bytes)
{
    struct fby_lint_field *field = &facts.fields[1];
    if (bytes <= 8) {
        content[1].wire_type = bytes == 8   ? FBY_I64
                               : bytes == 4 ? FBY_I32
                                            : FBY_U8;
    }
    field->bytes              = bytes;
    field->values.are_numbers = true;
    field->values.are_whole   = true;
    field->values.constant    = false;
    field->values.min         = least;
    field->values.max         = most;
}

static void assert_narrowest(
    double least, double most, double bytes, const char *type)
{
    put_numbers(least, most, bytes);
    if (type == NULL) {
        assert_int_equal(find(), 0);
        return;
    }
    char wire[16];
    snprintf(wire, sizeof(wire), "wire: %s,", type);
    assert_one(FBY_FINDING_WIRE_TYPE, 13);
    assert_non_null(strstr(findings[0].advice, wire));
}

static void numbers_get_the_narrowest_type_that_holds_them(void **state)
{
    (void)state;
    assert_narrowest(0, 255, 8, "u8");
    assert_narrowest(0, 256, 8, "u16");
    assert_narrowest(3, 65535, 4, "u16");
    assert_narrowest(0, 65536, 8, "i32");
    assert_narrowest(-1, 5, 8, "i32");
    assert_narrowest(0, 4294967295.0, 8, "u32");
    assert_narrowest(0, 4294967296.0, 8, NULL);
    assert_narrowest(-1, 5, 4, NULL);
    assert_narrowest(0, 255, 1, NULL);
}

static void arrays_get_the_narrowest_type_of_a_value(void **state)
{
    (void)state;
    content[1].decode    = FBY_DECODE_ARRAY;
    content[1].wire_type = FBY_F32;
    assert_narrowest(0, 255, 4000, "u8");
    assert_true(findings[0].before == 4000 && findings[0].after == 1000);
    assert_non_null(strstr(findings[0].found, "in 4 bytes each"));
    content[1].wire_type = FBY_U16;
    assert_narrowest(0, 256, 4000, NULL);
}

static void fractions_keep_their_type(void **state)
{
    (void)state;
    put_numbers(0, 1, 4);
    facts.fields[1].values.are_whole = false;
    assert_int_equal(find(), 0);
}

static void labels_get_their_number_of_classes(void **state)
{
    (void)state;
    content[1].decode = FBY_DECODE_LABEL;
    put_numbers(0, 3, 4);
    facts.fields[1].classes = 300; /* folders; samples of 4 were read */
    assert_one(FBY_FINDING_WIRE_TYPE, 12);
    assert_non_null(strstr(findings[0].advice, "classes: 300;"));
    assert_non_null(strstr(findings[0].advice, "u16"));
    facts.fields[1].classes = 0;
    assert_one(FBY_FINDING_WIRE_TYPE, 12);
    assert_non_null(strstr(findings[0].advice, "classes: N"));
    content[1].as.label.classes = 100000;
    assert_int_equal(find(), 0);
}

/* ---- codecs -------------------------------------------------------------- */

static void a_codec_is_advised_from_an_eighth_on(void **state)
{
    (void)state;
    facts.fields[0].current = (struct fby_lint_encoding){.bytes = 1000};
    facts.fields[0].best =
        (struct fby_lint_encoding){{FBY_FILTER_DELTA, FBY_CODEC_LZ4}, 876, 0.5};
    assert_int_equal(find(), 0);
    facts.fields[0].best.bytes = 875;
    assert_one(FBY_FINDING_CODEC, 14);
    assert_false(findings[0].changes_content);
    assert_non_null(strstr(findings[0].advice, "0.50 CPU ms"));
    facts.fields[0].best.ms = 0.004;
    assert_one(FBY_FINDING_CODEC, 14);
    assert_non_null(strstr(findings[0].advice, "hardly any CPU time more"));
}

static void a_few_bytes_need_no_codec(void **state)
{
    (void)state;
    facts.fields[0].bytes   = 63;
    facts.fields[0].current = (struct fby_lint_encoding){.bytes = 63};
    facts.fields[0].best    = (struct fby_lint_encoding){.bytes = 1};
    assert_int_equal(find(), 0);
}

/* ---- redundant fields ---------------------------------------------------- */

static void a_field_of_one_value_can_be_left_out(void **state)
{
    (void)state;
    put_numbers(0, 0, 8);
    facts.fields[1].values.constant = true;
    assert_one(FBY_FINDING_CONSTANT, 10); /* and no finding about its type */
    facts.samples = FBY_LINT_MIN_SAMPLES - 1;
    assert_int_equal(find(), 0);
}

static void a_field_like_another_is_named_with_it(void **state)
{
    (void)state;
    facts.fields[1].same_as = 0;
    assert_one(FBY_FINDING_TWICE, 10);
    assert_non_null(strstr(findings[0].found, "'image'"));
    assert_string_equal(findings[0].field, "label");
    facts.samples = FBY_LINT_MIN_SAMPLES - 1;
    assert_int_equal(find(), 0);
}

/* ---- shards -------------------------------------------------------------- */

static void blocks_are_advised_beyond_the_files_kept_open(void **state)
{
    (void)state;
    facts.shuffle_line = 3;
    facts.shards       = FBY_LINT_OPEN_SHARDS;
    facts.block        = 4;
    facts.block_shards = 40;
    assert_int_equal(find(), 0);
    facts.shards = FBY_LINT_OPEN_SHARDS + 1;
    assert_one(FBY_FINDING_SHARDS, 3);
    assert_null(findings[0].field);
    assert_non_null(strstr(findings[0].advice, "{block: 4}"));
    facts.shards       = 1000;
    facts.block_shards = FBY_LINT_OPEN_SHARDS + 1;
    assert_int_equal(find(), 0);
    facts.block_shards = 0;
    facts.block        = 0; /* not tried */
    assert_int_equal(find(), 0);
}

/* ---- bad samples --------------------------------------------------------- */

static void the_first_bad_sample_is_named_and_what_pull_does(void **state)
{
    (void)state;
    facts.refused       = 3;
    facts.refusal       = "sample 7 (a/1): field image: no JPEG";
    facts.refused_field = 0;
    assert_one(FBY_FINDING_REFUSED, 10);
    assert_string_equal(findings[0].field, "image");
    assert_string_equal(findings[0].found, facts.refusal);
    assert_non_null(strstr(findings[0].advice, "pull stops"));
    assert_non_null(strstr(findings[0].advice, "3 of 67"));
    assert_null(findings[0].unit);
    facts.substitutes = true;
    assert_one(FBY_FINDING_REFUSED, 10);
    assert_non_null(strstr(findings[0].advice, "other samples instead"));
    assert_false(findings[0].changes_content);
}

/* ---- class folders ------------------------------------------------------- */

static void a_class_with_two_names_is_found(void **state)
{
    (void)state;
    content[1].decode = FBY_DECODE_LABEL;
    content[1].n_from = 1;
    facts.classes     = (struct fby_class_folders_difference){
            .differ      = true,
            .id          = 3,
            .name        = "cat",
            .other_name  = "cow",
            .other_split = "val",
    };
    assert_int_equal(find(), 0); /* no field uses the folder */
    strcpy(content[1].from[0], "folder");
    assert_one(FBY_FINDING_CLASSES, 10);
    assert_string_equal(findings[0].field, "label");
    assert_non_null(strstr(findings[0].found,
        "class 3 is the folder 'cat' here and 'cow' in split 'val'"));
}

static void classes_of_more_folders_are_numbered_alike(void **state)
{
    (void)state;
    static const char *const here[]  = {"c00", "c01", "c02"};
    static const char *const there[] = {"c00", "c02"};
    uint32_t                 id      = 0;
    assert_false(fby_class_folders_differ(here, 3, here, 2, &id));
    assert_false(fby_class_folders_differ(here, 1, there, 2, &id));
    assert_true(fby_class_folders_differ(here, 3, there, 2, &id));
    assert_int_equal(id, 1);
}

/* ---- pictures and their labels ------------------------------------------- */

/* Field 0 is a picture, field 1 its mask: one op of that name in each. */
static void put_pair(const char *picture_op, const char *mask_op)
{
    strcpy(content[1].name, "mask");
    strcpy(content[0].group, "image");
    strcpy(content[1].group, "mask");
    content[1].decode    = FBY_DECODE_MASK8;
    content[0].n_ops     = picture_op != NULL;
    content[1].n_ops     = mask_op != NULL;
    content[0].ops[0].op = picture_op != NULL ? fby_op_named(picture_op) : NULL;
    content[1].ops[0].op = mask_op != NULL ? fby_op_named(mask_op) : NULL;
}

static void a_mask_that_is_cropped_apart_is_asked_about(void **state)
{
    (void)state;
    put_pair("random_resized_crop", "random_resized_crop");
    assert_one(FBY_FINDING_PAIR, 10);
    assert_non_null(strstr(findings[0].found, "'mask'"));
    assert_non_null(strstr(findings[0].found, "'image'"));
    assert_string_equal(findings[0].advice, "group: image");
    strcpy(content[1].group, "image");
    assert_int_equal(find(), 0);
}

static void a_mask_with_other_crops_is_asked_about(void **state)
{
    (void)state;
    put_pair("random_crop", "center_crop");
    assert_one(FBY_FINDING_PAIR, 10);
    put_pair("horizontal_flip", "horizontal_flip");
    strcpy(content[1].group, "image");
    content[0].ops[0].params[0] = (struct fby_value){1, true, {0}, {0.5}};
    content[1].ops[0].params[0] = (struct fby_value){1, true, {0}, {0.4}};
    assert_one(FBY_FINDING_PAIR, 10);
    content[1].ops[0].params[0].r[0] = 0.5;
    assert_int_equal(find(), 0);
}

static void labels_may_be_smaller_than_their_picture(void **state)
{
    (void)state;
    put_pair("random_resized_crop", "random_resized_crop");
    strcpy(content[1].group, "image");
    content[0].ops[0].params[0] = (struct fby_value){1, false, {224}, {0}};
    content[1].ops[0].params[0] = (struct fby_value){1, false, {56}, {0}};
    assert_string_equal(content[0].ops[0].op->params[0].name, "size");
    assert_int_equal(find(), 0);
    put_pair("random_crop", "random_crop");
    strcpy(content[1].group, "image");
    assert_one(FBY_FINDING_PAIR, 10);
}

static void ops_that_move_no_pixels_need_no_group(void **state)
{
    (void)state;
    put_pair("colour_jitter", "center_crop");
    assert_int_equal(find(), 0);
}

static void a_flip_of_the_device_belongs_to_the_mask_too(void **state)
{
    (void)state;
    put_pair(NULL, NULL);
    content[0].n_device     = 1;
    content[0].device[0].op = fby_device_op_named("horizontal_flip");
    assert_one(FBY_FINDING_PAIR, 10);
    assert_non_null(strstr(findings[0].advice, "device"));
    content[1].n_device  = 1;
    content[1].device[0] = content[0].device[0];
    assert_one(FBY_FINDING_PAIR, 10);
    assert_string_equal(findings[0].advice, "group: image");
    strcpy(content[1].group, "image");
    assert_int_equal(find(), 0);
}

static void two_views_of_one_picture_give_no_finding(void **state)
{
    (void)state;
    put_pair("random_resized_crop", "random_resized_crop");
    content[1].decode = FBY_DECODE_RGB8;
    assert_int_equal(find(), 0);
}

static void a_mask_needs_one_of_two_views(void **state)
{
    (void)state;
    static struct fby_field_content other;
    put_pair("random_resized_crop", "random_resized_crop");
    other                   = content[0];
    facts.fields[2]         = facts.fields[0];
    facts.fields[2].content = &other;
    facts.fields[2].same_as = 2;
    facts.n_fields          = 3;
    assert_one(FBY_FINDING_PAIR, 10);
    strcpy(other.group, "mask");
    assert_int_equal(find(), 0);
}

static void a_picture_that_moves_without_its_boxes_is_found(void **state)
{
    (void)state;
    strcpy(content[1].name, "objects");
    strcpy(content[1].from[0], "bbox");
    content[1].wire_type = FBY_F32;
    content[0].n_ops     = 2;
    content[0].ops[0].op = fby_op_named("resize");
    content[0].ops[1].op = fby_op_named("colour_jitter");
    assert_int_equal(find(), 0);
    content[0].ops[1].op = fby_op_named("horizontal_flip");
    assert_one(FBY_FINDING_COORDINATES, 21);
    assert_string_equal(findings[0].found,
        "horizontal_flip: the picture is moved or cut, but not the coordinates "
        "in 'objects'");
    content[0].ops[1].op = fby_op_named("center_crop");
    assert_one(FBY_FINDING_COORDINATES, 21);
    strcpy(content[1].from[0], "speed");
    assert_int_equal(find(), 0);
}

/* ---- size ---------------------------------------------------------------- */

/* Each op of each field, and every other finding that is possible. */
static void all_findings_at_once_have_room(void **state)
{
    (void)state;
    put_ops(FBY_MAX_OPS > (int)fby_n_ops ? (uint32_t)fby_n_ops : FBY_MAX_OPS);
    facts.shards                  = 1000;
    facts.block                   = 1;
    facts.n_fields                = FBY_MAX_FIELDS;
    facts.fields[0].current.bytes = 1000;
    facts.fields[0].best.bytes    = 1;
    facts.fields[0].scale         = (struct fby_lint_trial){true, 4, 2, 0};
    for (uint32_t i = 1; i < content[0].n_ops; i++) {
        put_move(i, i - 1, 1, 0);
    }
    for (uint32_t f = 1; f < FBY_MAX_FIELDS; f++) {
        facts.fields[f] = facts.fields[0];
    }
    uint32_t each = content[0].n_ops - 1 + 2;
    assert_int_equal(find(), 1 + FBY_MAX_FIELDS * each + FBY_MAX_FIELDS - 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, start)
    const struct CMUnitTest tests[] = {
        TEST(a_good_pipeline_has_no_findings),
        TEST(inputs_and_targets_are_one_sequence),
        TEST(random_ops_are_for_training),
        TEST(files_where_no_document_ends_are_counted),
        TEST(another_type_of_tokens_is_said),
        TEST(pictures_of_16_bits_are_counted),
        TEST(floats_of_0_to_255_are_named),
        TEST(levels_of_bytes_are_divided),
        TEST(levels_of_0_to_1_give_no_finding),
        TEST(an_op_is_moved_where_it_costs_less),
        TEST(an_order_with_other_values_is_no_finding),
        TEST(ids_of_a_mask_may_not_differ_at_all),
        TEST(an_order_that_saves_too_little_is_no_finding),
        TEST(an_order_that_could_not_be_tried_is_no_finding),
        TEST(an_op_goes_further_only_for_more),
        TEST(a_stop_with_another_meaning_is_no_barrier),
        TEST(decoding_smaller_is_advised_where_it_is_faster),
        TEST(numbers_get_the_narrowest_type_that_holds_them),
        TEST(arrays_get_the_narrowest_type_of_a_value),
        TEST(fractions_keep_their_type),
        TEST(labels_get_their_number_of_classes),
        TEST(a_codec_is_advised_from_an_eighth_on),
        TEST(a_few_bytes_need_no_codec),
        TEST(a_field_of_one_value_can_be_left_out),
        TEST(a_field_like_another_is_named_with_it),
        TEST(blocks_are_advised_beyond_the_files_kept_open),
        TEST(the_first_bad_sample_is_named_and_what_pull_does),
        TEST(a_class_with_two_names_is_found),
        TEST(classes_of_more_folders_are_numbered_alike),
        TEST(a_mask_that_is_cropped_apart_is_asked_about),
        TEST(a_mask_with_other_crops_is_asked_about),
        TEST(labels_may_be_smaller_than_their_picture),
        TEST(ops_that_move_no_pixels_need_no_group),
        TEST(a_flip_of_the_device_belongs_to_the_mask_too),
        TEST(two_views_of_one_picture_give_no_finding),
        TEST(a_mask_needs_one_of_two_views),
        TEST(a_picture_that_moves_without_its_boxes_is_found),
        TEST(all_findings_at_once_have_room),
    };
#undef TEST
    return cmocka_run_group_tests_name("cli.lint_findings", tests, NULL, NULL);
}
