/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for the order, the source and the buckets of a content, at their
 * limits: the last valid value and the first invalid value. */
#include "tests/pipeline/contents.h"

/* ---- the order ---- */

static void blocks_have_their_numbers_within_limits(void **state)
{
    (void)state;
    struct fby_split   *split = split_of(sample_file, "train");
    struct fby_content *c     = &split->content;
    assert_string_equal(content_error(c), "");
    c->block = 0;
    assert_string_equal(content_error(c), "block is not within 1 to 1048576");
    c->block = 1 << 20;
    assert_string_equal(content_error(c), "");
    c->block++;
    assert_string_equal(content_error(c), "block is not within 1 to 1048576");
    c->block = 1;
    c->lanes = 0;
    assert_string_equal(content_error(c), "lanes is not within 1 to 65536");
    c->lanes = 65536;
    assert_string_equal(content_error(c), "");
    c->lanes++;
    assert_string_equal(content_error(c), "lanes is not within 1 to 65536");
    c->lanes  = 1;
    c->slices = 0;
    assert_string_equal(
        content_error(c), "slices (0) does not divide global_batch (24)");
    c->slices = 24;
    assert_string_equal(content_error(c), "");
    c->slices = 5;
    assert_string_equal(
        content_error(c), "slices (5) does not divide global_batch (24)");
    c->slices = 48;
    assert_string_equal(
        content_error(c), "slices (48) does not divide global_batch (24)");
    fby_split_destroy(&split);
}

static void without_blocks_their_numbers_are_0(void **state)
{
    (void)state;
    static const char   wrong[] = "block, lanes and slices belong to shuffle: "
                                  "{block: K}";
    struct fby_split   *split   = split_of(sample_file, "val");
    struct fby_content *c       = &split->content;
    assert_string_equal(content_error(c), "");
    c->block = 1;
    assert_string_equal(content_error(c), wrong);
    c->block = 0;
    c->lanes = 1;
    assert_string_equal(content_error(c), wrong);
    c->lanes  = 0;
    c->slices = 1;
    assert_string_equal(content_error(c), wrong);
    c->block = UINT32_MAX; /* block + slices wraps to 0 */
    assert_string_equal(content_error(c), wrong);
    fby_split_destroy(&split);
}

static void a_batch_and_a_source_are_known(void **state)
{
    (void)state;
    struct fby_split   *split = split_of(sample_file, "val");
    struct fby_content *c     = &split->content;
    c->global_batch           = 1;
    assert_string_equal(content_error(c), "");
    c->global_batch = 65536;
    assert_string_equal(content_error(c), "");
    c->global_batch++;
    assert_string_equal(
        content_error(c), "global_batch is not within 1 to 65536");
    c->global_batch = 0;
    assert_string_equal(
        content_error(c), "global_batch is not within 1 to 65536");
    c->global_batch = 1;
    c->source       = (enum fby_source_kind)7;
    assert_string_equal(
        content_error(c), "the kind of the source is not known");
    c->source = (enum fby_source_kind)0;
    assert_string_equal(
        content_error(c), "the kind of the source is not known");
    fby_split_destroy(&split);
}

static void names_of_fields_ascend(void **state)
{
    (void)state;
    static const char   wrong[] = "fields are not in byte order of their names";
    struct fby_split   *split   = split_of(sample_file, "train");
    struct fby_content *c       = &split->content;
    for (uint32_t i = 1; i < c->n_fields; i++) {
        struct fby_field_content kept = c->fields[i];
        memcpy(c->fields[i].name, c->fields[i - 1].name, FBY_NAME_SIZE);
        assert_string_equal(content_error(c), wrong);
        c->fields[i] = kept;
    }
    assert_string_equal(content_error(c), "");
    c->n_fields = 0;
    assert_string_equal(content_error(c), "there is no field");
    fby_split_destroy(&split);
}

/* ---- sources ---- */

static void files_are_columns_of_a_list(void **state)
{
    (void)state;
    static const char wrong[] =
        "files are columns of a list, each once, in byte order: lower-case "
        "letters, digits, _ and -";
    struct fby_split *split =
        split_of("forebay: 1\n"
                 "splits: {train: {list: \"p:t.csv\", files: [image, mask]}}\n"
                 "global_batch: 8\n"
                 "fields: {image: {from: image.jpg, ops: [{center_crop: {size: "
                 "32}}]}}\n",
            "train");
    struct fby_content *c = &split->content;
    assert_int_equal(c->n_files, 2);
    assert_string_equal(content_error(c), "");
    name_is(c->files[1], "image");
    assert_string_equal(content_error(c), wrong);
    name_is(c->files[1], "imaga");
    assert_string_equal(content_error(c), wrong);
    name_is(c->files[1], "mask.a");
    assert_string_equal(content_error(c), wrong);
    name_is(c->files[1], "Mask");
    assert_string_equal(content_error(c), wrong);
    name_is(c->files[1], "mask");
    name_is(c->files[0], "Image");
    assert_string_equal(content_error(c), wrong);
    name_is(c->files[0], "image");
    c->source = FBY_SOURCE_SHARDS;
    assert_string_equal(content_error(c), "files are columns of a list");
    c->n_files = 0;
    assert_string_equal(content_error(c), "");
    fby_split_destroy(&split);
}

static void a_token_is_one_of_its_type(void **state)
{
    (void)state;
    static const struct {
        enum fby_type type;
        uint32_t      most;
    } types[] = {{FBY_U8, 255}, {FBY_U16, 65535}, {FBY_U32, INT32_MAX},
        {FBY_I32, INT32_MAX}, {FBY_I64, INT32_MAX}};
    struct fby_split   *split = split_of_documents();
    struct fby_content *c     = &split->content;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char wrong[160];
        c->tokens.type = types[i].type;
        c->tokens.end  = types[i].most;
        assert_string_equal(content_error(c), "");
        c->tokens.end++;
        snprintf(wrong, sizeof(wrong),
            "tokens: end (%u) must be 0 to %u, and pad (9) 0 to 2147483647",
            c->tokens.end, types[i].most);
        assert_string_equal(content_error(c), wrong);
    }
    c->tokens.end              = 0;
    c->fields[0].wire_type     = FBY_U32;
    c->fields[0].as.tokens.pad = INT32_MAX;
    c->tokens.pad              = INT32_MAX;
    assert_string_equal(content_error(c), "");
    c->tokens.pad++;
    assert_non_null(strstr(content_error(c), "pad (2147483648) 0 to"));
    fby_split_destroy(&split);
}

static void pad_and_end_belong_to_packed_documents(void **state)
{
    (void)state;
    static const char wrong[] = "tokens: pad belongs to packed documents, "
                                "end to those of flat files";
    struct fby_split *split   = split_of(
          "forebay: 1\n"
            "splits: {train: {tokens: {files: t.bin, format: flat, type: u16,\n"
            "  length: 8, shift: 1}}}\n"
            "global_batch: 4\n"
            "fields: {a: {from: input}}\n",
          "train");
    struct fby_content *c = &split->content;
    assert_string_equal(content_error(c), "");
    c->tokens.pad = 1;
    assert_string_equal(content_error(c), wrong);
    c->tokens.pad = 0;
    c->tokens.end = 1;
    assert_string_equal(content_error(c), wrong);
    fby_split_destroy(&split);
    split            = split_of_documents();
    c                = &split->content;
    c->tokens.format = FBY_TOKENS_MEGATRON;
    assert_string_equal(content_error(c), wrong);
    c->tokens.end = 0;
    assert_string_equal(content_error(c), "");
    fby_split_destroy(&split);
}

static void tokens_say_their_type_length_and_column(void **state)
{
    (void)state;
    static const char type[] = "tokens: the type is u8, u16, u32, i32 or i64; "
                               "flat files need it";
    static const char length[] = "tokens: length is not within 1 to 16777216";
    static const char column[] = "tokens: the column belongs to format: mds, "
                                 "which has one";
    struct fby_split *split    = split_of_documents();
    struct fby_content *c      = &split->content;
    c->tokens.type             = (enum fby_type)0;
    assert_string_equal(content_error(c), type);
    c->tokens.end    = 0;
    c->tokens.format = FBY_TOKENS_MEGATRON;
    assert_string_equal(content_error(c), "");
    c->tokens.type = FBY_BF16;
    assert_string_equal(content_error(c), type);
    c->tokens.type = FBY_F32;
    assert_string_equal(content_error(c), type);
    c->tokens.type   = FBY_U16;
    c->tokens.length = (1 << 24) + 1;
    assert_string_equal(content_error(c), length);
    c->tokens.length = 0;
    assert_string_equal(content_error(c), length);
    c->tokens.length = 1 << 24; /* then the field's is another one */
    assert_string_equal(content_error(c),
        "field 'a': 8 tokens, but a sequence of the source has 16777216");
    c->tokens.length = 8;
    name_is(c->tokens.column, "x");
    assert_string_equal(content_error(c), column);
    c->tokens.format = FBY_TOKENS_MDS;
    assert_string_equal(content_error(c), "");
    c->tokens.column[0] = '\0';
    assert_string_equal(content_error(c), column);
    fby_split_destroy(&split);
}

static void pad_is_held_by_the_type_that_travels(void **state)
{
    (void)state;
    struct fby_split   *split = split_of_documents();
    struct fby_content *c     = &split->content;
    for (uint32_t pad = 65535; pad <= 65536; pad++) {
        c->tokens.pad              = pad;
        c->fields[0].as.tokens.pad = pad;
        assert_string_equal(content_error(c),
            pad <= 65535 ? ""
                         : "field 'a': wire type u16 does not hold pad: 65536");
    }
    c->fields[0].wire_type = FBY_U32;
    assert_string_equal(content_error(c), "");
    fby_split_destroy(&split);
}

static void tokens_come_from_one_part_of_a_sequence(void **state)
{
    (void)state;
    static const char tokens[] =
        "field 'a': tokens come from input, from target (the tokens after "
        "those of input) or from sequence (both in one)";
    static const char documents[] =
        "field 'b': lengths of documents come from documents";
    struct fby_split         *split = split_of_documents();
    struct fby_field_content *f     = split->content.fields;
    f[0].n_from                     = 2;
    name_is(f[0].from[1], "x");
    assert_string_equal(content_error(&split->content), tokens);
    f[0].n_from = 1;
    name_is(f[0].from[0], "documents");
    assert_string_equal(content_error(&split->content), tokens);
    name_is(f[0].from[0], "target");
    assert_string_equal(content_error(&split->content), "");
    f[1].n_from = 2;
    name_is(f[1].from[1], "x");
    assert_string_equal(content_error(&split->content), documents);
    f[1].n_from   = 1;
    f[1].too_long = FBY_TOO_LONG_TRUNCATE;
    assert_string_equal(content_error(&split->content),
        "field 'b': the list of documents is never truncated");
    f[1].too_long  = FBY_TOO_LONG_REFUSE;
    f[1].wire_type = FBY_U32;
    assert_string_equal(content_error(&split->content),
        "field 'b': lengths of documents travel as the smaller of u16 and u32 "
        "that holds the length of a sequence; leave the type out");
    f[1].wire_type = FBY_U16;
    name_is(f[1].from[0], "input");
    assert_string_equal(content_error(&split->content), documents);
    fby_split_destroy(&split);
}

static void a_field_fits_its_source(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    name_is(f->from[0], "folder");
    assert_string_equal(
        field_error(split, f), "shards have no class folders; use from: cls");
    split->content.source = FBY_SOURCE_FOLDER;
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
    split                 = split_of_documents();
    f                     = split->content.fields;
    split->content.source = FBY_SOURCE_FOLDER;
    assert_string_equal(field_error(split, f),
        "the field is made of tokens, which the source does not have");
    fby_split_destroy(&split);
}

/* ---- buckets ---- */

static void bounds_ascend_from_1_to_2_to_the_40(void **state)
{
    (void)state;
    static const char wrong[] =
        "bucket_by: bounds are within 1 to 2^40, and ascend";
    static const struct {
        int64_t     bounds[3];
        const char *says;
    } cases[] = {{{1, 2, INT64_C(1) << 40}, ""}, {{0, 2, 3}, wrong},
        {{-1, 2, 3}, wrong}, {{1, 1, 2}, wrong}, {{1, 2, 2}, wrong},
        {{2, 1, 3}, wrong}, {{1, 2, (INT64_C(1) << 40) + 1}, wrong}};
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    name_is(split->content.bucket_by.field, "txt");
    split->content.bucket_by.n_bounds = 3;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memcpy(split->content.bucket_by.bounds, cases[i].bounds,
            sizeof(cases[i].bounds));
        assert_string_equal(content_error(&split->content), cases[i].says);
    }
    split->content.bucket_by.bounds[2] = INT64_MAX;
    assert_string_equal(content_error(&split->content), wrong);
    split->content.bucket_by.field[0] = '\0';
    assert_string_equal(
        content_error(&split->content), "bucket_by: there is no field ''");
    fby_split_destroy(&split);
}

static void rows_of_columns_have_lengths_where_they_vary(void **state)
{
    (void)state;
    struct fby_split *split = split_of(
        "forebay: 1\n"
        "splits: {train: {columns: \"r:d\"}}\n"
        "global_batch: 8\n"
        "fields:\n"
        "  a: {from: a, decode: array, shape: [], max_length: 5, wire: f32}\n"
        "  b: {from: b, decode: array, shape: [5], wire: f32}\n",
        "train");
    struct fby_content *c  = &split->content;
    c->bucket_by.n_bounds  = 1;
    c->bucket_by.bounds[0] = 3;
    name_is(c->bucket_by.field, "a");
    assert_string_equal(content_error(c), "");
    name_is(c->bucket_by.field, "b");
    assert_string_equal(content_error(c),
        "bucket_by: the rows of field 'b' are all of one length");
    name_is(c->bucket_by.field, "a");
    c->shuffle = FBY_SHUFFLE_BLOCK;
    c->block   = 1;
    c->lanes   = 1;
    c->slices  = 1;
    assert_string_equal(content_error(c),
        "bucket_by needs shuffle: full or none; buckets are not cut into "
        "blocks");
    fby_split_destroy(&split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_their_numbers_within_limits),
        cmocka_unit_test(without_blocks_their_numbers_are_0),
        cmocka_unit_test(a_batch_and_a_source_are_known),
        cmocka_unit_test(names_of_fields_ascend),
        cmocka_unit_test(files_are_columns_of_a_list),
        cmocka_unit_test(a_token_is_one_of_its_type),
        cmocka_unit_test(pad_and_end_belong_to_packed_documents),
        cmocka_unit_test(tokens_say_their_type_length_and_column),
        cmocka_unit_test(pad_is_held_by_the_type_that_travels),
        cmocka_unit_test(tokens_come_from_one_part_of_a_sequence),
        cmocka_unit_test(a_field_fits_its_source),
        cmocka_unit_test(bounds_ascend_from_1_to_2_to_the_40),
        cmocka_unit_test(rows_of_columns_have_lengths_where_they_vary),
    };
    return cmocka_run_group_tests_name("pipeline.rules", tests, NULL, NULL);
}
