/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>

#include "cli/init/text.h"
#include "pipeline/op.h"
#include "tests/pipeline/sample.h"

static const struct fby_init_member found[] = {{.extension = "jpg"},
    {.extension = "txt"}, {.extension = "jpeg"}, {.extension = "cls"}};

static char *text_of(const struct fby_init_summary *summary)
{
    struct fby_buffer       out = {0};
    struct fby_error_detail why = {{0}};
    if (fby_init_text(summary, &out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    fby_put_u8(&out, 0);
    return (char *)out.data;
}

/* The text for a summary, and one of the splits that it describes. */
struct written {
    char             *text;
    struct fby_split *split;
};

static struct written write_for(
    const struct fby_init_summary *summary, const char *split)
{
    char *text = text_of(summary);
    return (struct written){.text = text, .split = split_of(text, split)};
}

static void written_fini(struct written *self)
{
    fby_split_destroy(&self->split);
    free(self->text);
}

static void the_text_for_a_folder_works_at_once(void **state)
{
    (void)state;
    struct fby_init_summary summary = {.kind = FBY_SOURCE_FOLDER,
        .path                                = "/data/my \"best\" photos\\x",
        .samples                             = 5000,
        .classes                             = 300,
        .members                             = found,
        .n_members                           = 3};
    struct written          made    = write_for(&summary, "train");
    assert_string_equal(made.split->location.pattern, summary.path);
    assert_int_equal(made.split->content.global_batch, 64);
    assert_int_equal(made.split->content.n_fields, 2);
    assert_int_equal(made.split->content.fields[0].n_from, 2);
    assert_int_equal(made.split->content.fields[0].n_ops, 2);
    assert_int_equal(made.split->content.fields[0].shape.dims[0], 224);
    assert_true(made.split->content.fields[0].as.rgb8.normalize);
    assert_int_equal(made.split->content.fields[1].wire_type, FBY_U16);
    assert_int_equal(made.split->delivery.fields[0].dtype, FBY_F32);
    assert_int_equal(made.split->delivery.fields[0].layout, FBY_LAYOUT_CHW);
    written_fini(&made);
}

static enum fby_last last_of(const struct fby_init_summary *summary)
{
    struct written made = write_for(summary, "train");
    enum fby_last  last = made.split->content.last;
    written_fini(&made);
    return last;
}

static void fewer_samples_than_a_batch_make_a_short_one(void **state)
{
    (void)state;
    struct fby_init_summary summary = {.kind = FBY_SOURCE_FOLDER,
        .path                                = "/d",
        .samples                             = 63,
        .classes                             = 2,
        .members                             = found,
        .n_members                           = 1};
    char                   *text    = text_of(&summary);
    assert_null(strstr(text, "# Names for"));
    free(text);
    assert_int_equal(last_of(&summary), FBY_LAST_SHORT);
    summary.samples = 64;
    assert_int_equal(last_of(&summary), FBY_LAST_DROP);
    summary.samples       = 0; /* not counted, */
    summary.least_samples = 63;
    assert_int_equal(last_of(&summary), FBY_LAST_SHORT);
}

static void the_text_for_shards_works_at_once(void **state)
{
    (void)state;
    struct fby_init_summary summary = {.kind = FBY_SOURCE_SHARDS,
        .path                                = "t-{000..003}.tar",
        .shards                              = 4,
        .samples                             = 100,
        .members                             = found,
        .n_members                           = 4};
    struct written          made    = write_for(&summary, NULL);
    assert_string_equal(
        made.split->location.pattern, "/home/me/t-{000..003}.tar");
    assert_string_equal(made.split->content.fields[1].from[0], "cls");
    assert_non_null(strstr(made.text, "# Found: 100 samples in 4 shards\n"));
    assert_non_null(
        strstr(made.text, "# Names for `from`: jpg, txt, jpeg, cls\n"));
    written_fini(&made);
}

static void shards_without_labels_get_no_label(void **state)
{
    (void)state;
    struct fby_init_summary summary = {.kind = FBY_SOURCE_SHARDS,
        .path                                = "x.tar",
        .members                             = found,
        .n_members                           = 1};
    struct written          made    = write_for(&summary, NULL);
    assert_int_equal(made.split->content.n_fields, 1);
    written_fini(&made);
}

static void the_val_split_in_its_comments_is_right_too(void **state)
{
    (void)state;
    struct fby_init_summary summary = {.kind = FBY_SOURCE_FOLDER,
        .path                                = "/d",
        .classes                             = 10,
        .members                             = found,
        .n_members                           = 1};
    char                   *text    = text_of(&summary);
    char                   *at      = text;
    while ((at = strstr(at, "# ")) != NULL) {
        bool code = strncmp(at + 2, "val:", 4) == 0 ||
                    strncmp(at + 2, "- ", 2) == 0 ||
                    strncmp(at + 2, "one_hot:", 8) == 0;
        if (code) {
            memmove(at, at + 2, strlen(at + 2) + 1);
        }
        at++;
    }
    struct fby_split *val = split_of(text, "val");
    assert_int_equal(val->content.fields[0].n_ops, 2);
    assert_true(val->content.fields[1].as.label.one_hot);
    fby_split_destroy(&val);
    free(text);
}

static void splits_other_than_train_are_not_augmented(void **state)
{
    (void)state;
    static const struct fby_init_split others[] = {
        {.name = "val", .path = "/v"}, {.name = "test", .path = "/t"}};
    static const struct fby_init_member members[] = {{.extension = "jpg"},
        {.extension = "mask.png", .always = true, .may_be_ids = true}};
    struct fby_init_summary             summary   = {.kind = FBY_SOURCE_SHARDS,
                      .path                                = "/d",
                      .members                             = members,
                      .n_members                           = 2,
                      .others                              = others,
                      .n_others                            = 1};
    for (; summary.n_others <= 2; summary.n_others++) {
        struct written    made = write_for(&summary, "train");
        const char       *last = others[summary.n_others - 1].name;
        struct fby_split *val  = split_of(made.text, last);
        assert_int_equal(made.split->content.fields[0].n_ops, 2);
        assert_int_equal(made.split->content.fields[0].ops[0].op->id,
            FBY_OP_RANDOM_RESIZED_CROP);
        for (uint32_t f = 0; f < 2; f++) { /* the image, and its mask */
            assert_int_equal(val->content.fields[f].n_ops, 2);
            assert_int_equal(
                val->content.fields[f].ops[0].op->id, FBY_OP_RESIZE);
            assert_int_equal(
                val->content.fields[f].ops[1].op->id, FBY_OP_CENTER_CROP);
        }
        assert_int_equal(val->content.shuffle, FBY_SHUFFLE_NONE);
        assert_int_equal(val->content.last, FBY_LAST_PAD);
        fby_split_destroy(&val);
        written_fini(&made);
    }
}

/* The extensions in the field of the image. */
static void assert_from(const struct fby_init_member *members, size_t n,
    const char *first, const char *second)
{
    struct fby_init_summary summary = {.kind = FBY_SOURCE_FOLDER,
        .path                                = "/d",
        .members                             = members,
        .n_members                           = n};
    struct written          made    = write_for(&summary, "train");

    const struct fby_field_content *image = &made.split->content.fields[0];
    assert_int_equal(image->n_from, second == NULL ? 1 : 2);
    assert_string_equal(image->from[0], first);
    assert_string_equal(image->from[1], second == NULL ? "" : second);
    written_fini(&made);
}

static void pictures_are_jpeg_or_png_the_commonest_first(void **state)
{
    (void)state;
    static const struct fby_init_member mixed[] = {
        {.extension = "png"}, {.extension = "json"}, {.extension = "jpg"}};
    assert_from(mixed, 1, "png", NULL);
    assert_from(mixed, 3, "png", "jpg");
}

static void other_pictures_of_a_sample_are_no_choice_of_its_image(void **state)
{
    (void)state;
    static const struct fby_init_member masks[] = {
        {.extension = "mask.png"}, {.extension = "jpg"}};
    static const struct fby_init_member eyes[] = {
        {.extension = "left.png"}, {.extension = "right.png"}};
    assert_from(masks, 2, "jpg", NULL);
    assert_from(eyes, 2, "left.png", "right.png");
}

static void without_a_picture_there_is_nothing_to_write(void **state)
{
    (void)state;
    struct fby_init_summary summary = {.kind = FBY_SOURCE_FOLDER,
        .path                                = "/d",
        .members                             = found + 1,
        .n_members                           = 1};
    struct fby_buffer       out     = {0};
    struct fby_error_detail why     = {{0}};
    assert_int_equal(fby_init_text(&summary, &out, &why), FBY_CONFIG);
    assert_string_equal(why.text, "/d: no picture among the files (.jpg, "
                                  ".jpeg, .png, .webp); found: txt");
    assert_null(out.data);
}

static void columns_become_fields_or_say_that_they_do_not(void **state)
{
    (void)state;
    static const struct fby_init_column columns[] = {
        {"Dense", FBY_F32, {1, {13}}, 0, false},
        {"click", FBY_U8, {0, {0}}, 0, false},
        {"ids", FBY_I64, {0, {0}}, 64, false},
        {"words", FBY_F32, {1, {300}}, 16, true},
        {"a b", FBY_U8, {0, {0}}, 0, false},
        {"cube", (enum fby_type)0, {0, {0}}, 0, false},
    };
    struct fby_init_summary summary = {.kind = FBY_SOURCE_COLUMNS,
        .path                                = "/data/day-*",
        .shards                              = 24,
        .columns                             = columns,
        .n_columns                           = 6};
    struct written          made    = write_for(&summary, "train");
    assert_int_equal(made.split->content.source, FBY_SOURCE_COLUMNS);
    assert_int_equal(made.split->content.global_batch, 4096);
    assert_int_equal(made.split->content.n_fields, 4);
    assert_int_equal(made.split->content.fields[3].decode, FBY_DECODE_SPARSE);
    assert_int_equal(made.split->content.fields[3].shape.dims[0], 300);
    assert_string_equal(made.split->content.fields[1].from[0], "dense");
    assert_int_equal(made.split->content.fields[1].shape.dims[0], 13);
    assert_int_equal(made.split->content.fields[2].max_length, 64);
    assert_non_null(strstr(made.text, "column \"a b\""));
    assert_non_null(strstr(made.text, "column \"cube\""));
    written_fini(&made);
    struct fby_buffer       out = {0};
    struct fby_error_detail why = {{0}};
    summary.columns             = columns + 4;
    summary.n_columns           = 2;
    assert_int_equal(fby_init_text(&summary, &out, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "no column can be a field"));
    fby_buffer_fini(&out);
}

static void values_of_a_list_become_fields_and_ids_a_mask(void **state)
{
    (void)state;
    static const char files[][FBY_NAME_SIZE] = {"a", "b"};

    static const struct fby_init_member members[] = {
        {.extension      = "a.png",
            .always      = true,
            .header_read = true,
            .may_be_ids  = true},
        {.extension      = "b_photo.png",
            .always      = true,
            .header_read = true,
            .may_be_ids  = true},
        {.extension = "kind", .always = true, .value = FBY_INIT_DIGITS},
        {.extension = "size", .always = true, .value = FBY_INIT_NUMBER},
        {.extension  = "text",
            .always  = true,
            .value   = FBY_INIT_TEXT,
            .longest = 17},
        {.extension = "gaps", .value = FBY_INIT_TEXT},
    };
    struct fby_init_summary summary = {.kind = FBY_SOURCE_LIST,
        .path                                = "/d/l.csv",
        .members                             = members,
        .n_members                           = 6,
        .files                               = files,
        .n_files                             = 2};
    struct written          made    = write_for(&summary, "train");

    const struct fby_field_content *fields = made.split->content.fields;
    assert_int_equal(made.split->content.n_files, 2);
    assert_int_equal(made.split->content.n_fields, 5);
    assert_int_equal(fields[0].decode, FBY_DECODE_MASK8);
    assert_string_equal(fields[0].group, "b_photo");
    assert_int_equal(fields[1].decode, FBY_DECODE_RGB8);
    assert_int_equal(fields[2].decode, FBY_DECODE_LABEL);
    assert_int_equal(fields[3].decode, FBY_DECODE_NUMBER);
    assert_int_equal(fields[4].max_length, 32);
    assert_non_null(strstr(made.text, "column \"gaps\""));
    written_fini(&made);
}

static void lists_of_a_list_become_fields_and_objects_a_comment(void **state)
{
    (void)state;
    static const struct fby_init_member members[] = {
        {.extension     = "captions",
            .always     = true,
            .value      = FBY_INIT_TEXT_LISTS,
            .max_length = 17},
        {.extension     = "box",
            .always     = true,
            .value      = FBY_INIT_NUMBER_LISTS,
            .max_length = 5},
        {.extension         = "meta",
            .always         = true,
            .value          = FBY_INIT_OBJECT,
            .keys           = "car.speed, id",
            .first_key_kind = FBY_INIT_NUMBER},
        {.extension = "points", .always = true, .value = FBY_INIT_OTHER_LISTS},
        {.extension = "any", .always = true, .value = FBY_INIT_MIXED},
    };
    struct fby_init_summary summary = {.kind = FBY_SOURCE_LIST,
        .path                                = "/d/l.jsonl",
        .members                             = members,
        .n_members                           = 5};
    struct written          made    = write_for(&summary, "train");

    const struct fby_field_content *fields = made.split->content.fields;
    assert_int_equal(made.split->content.n_fields, 2);
    assert_string_equal(fields[0].name, "box");
    assert_int_equal(fields[0].decode, FBY_DECODE_NUMBER);
    assert_int_equal(fields[0].max_length, 5);
    assert_int_equal(fields[1].decode, FBY_DECODE_TEXT);
    assert_int_equal(fields[1].as.text.pick, FBY_PICK_RANDOM);
    assert_string_equal(fields[1].as.text.key, ".");
    assert_int_equal(fields[1].max_length, 32);
    assert_non_null(strstr(made.text, "#   members: car.speed, id\n"));
    assert_non_null(strstr(
        made.text, "#   car: {from: meta, decode: number, key: car.speed}\n"));
    assert_non_null(strstr(made.text, "column \"points\""));
    assert_non_null(strstr(made.text, "column \"any\""));
    written_fini(&made);
}

static void token_files_give_inputs_and_targets(void **state)
{
    (void)state;
    static const struct fby_tokens tokens  = {.format = FBY_TOKENS_MDS,
         .type                                        = FBY_U16,
         .length                                      = 256,
         .shift                                       = 1,
         .column                                      = "input_ids"};
    struct fby_init_summary        summary = {.kind = FBY_SOURCE_TOKENS,
               .path                                = "/d/*.mds",
               .samples                             = 100,
               .shards                              = 2,
               .tokens                              = &tokens};
    struct written                 made    = write_for(&summary, "train");
    assert_memory_equal(&made.split->content.tokens, &tokens, sizeof(tokens));
    assert_string_equal(made.split->location.pattern, "/d/*.mds");
    assert_int_equal(made.split->content.n_fields, 2);
    written_fini(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_become_fields_or_say_that_they_do_not),
        cmocka_unit_test(values_of_a_list_become_fields_and_ids_a_mask),
        cmocka_unit_test(lists_of_a_list_become_fields_and_objects_a_comment),
        cmocka_unit_test(token_files_give_inputs_and_targets),
        cmocka_unit_test(the_text_for_a_folder_works_at_once),
        cmocka_unit_test(fewer_samples_than_a_batch_make_a_short_one),
        cmocka_unit_test(the_text_for_shards_works_at_once),
        cmocka_unit_test(shards_without_labels_get_no_label),
        cmocka_unit_test(the_val_split_in_its_comments_is_right_too),
        cmocka_unit_test(splits_other_than_train_are_not_augmented),
        cmocka_unit_test(pictures_are_jpeg_or_png_the_commonest_first),
        cmocka_unit_test(other_pictures_of_a_sample_are_no_choice_of_its_image),
        cmocka_unit_test(without_a_picture_there_is_nothing_to_write),
    };
    return cmocka_run_group_tests_name("pipeline.init", tests, NULL, NULL);
}
