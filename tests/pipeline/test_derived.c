/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/derived.h"

static void lengths_of_documents_travel_in_the_smaller_type(void **state)
{
    (void)state;
    assert_int_equal(fby_document_length_type(65535), FBY_U16);
    assert_int_equal(fby_document_length_type(65536), FBY_U32);
}

static void a_type_takes_what_lies_in_its_range(void **state)
{
    (void)state;
    static const struct {
        enum fby_type type;
        double        least, most, less, more;
    } ranges[] = {
        {FBY_U8, 0, 255, -1, 256},
        {FBY_U16, 0, 65535, -1, 65536},
        {FBY_U32, 0, 4294967295, -1, 4294967296},
        {FBY_I32, -2147483648.0, 2147483647, -2147483649.0, 2147483648},
        {FBY_I64, -0x1p53, 0x1p53, -0x1.0000000000001p53, 0x1.0000000000001p53},
        {FBY_BOOL, 0, 1, -1, 2},
        {FBY_F16, -65504, 65504, -65504.5, 65504.5},
        {FBY_BF16, -1e30, 1e30, -1.1e30, 1.1e30},
        {FBY_F32, -1e30, 1e30, -1.1e30, 1.1e30},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        enum fby_type type = ranges[i].type;
        assert_true(fby_type_can_hold(type, ranges[i].least));
        assert_true(fby_type_can_hold(type, ranges[i].most));
        assert_false(fby_type_can_hold(type, ranges[i].less));
        assert_false(fby_type_can_hold(type, ranges[i].more));
        assert_int_equal(fby_type_can_hold(type, 0.5), fby_type_is_float(type));
        assert_false(fby_type_can_hold(type, 0.0 / 0.0));
    }
    assert_false(fby_type_can_hold((enum fby_type)0, 0));
    assert_false(fby_type_can_hold((enum fby_type)10, 0));
}

static void the_last_dot_of_an_extension_begins_its_kind(void **state)
{
    (void)state;
    assert_string_equal(fby_extension_last_part("jpg"), "jpg");
    assert_string_equal(fby_extension_last_part("left.eye.png"), "png");
}

static void a_field_takes_png_if_one_of_its_extensions_is_png(void **state)
{
    (void)state;
    struct fby_field_content last  = {.from = {"jpg", "a.png"}, .n_from = 2};
    struct fby_field_content first = {.from = {"png", "jpg"}, .n_from = 2};
    assert_true(fby_field_takes_png(&last));
    assert_true(fby_field_takes_png(&first));
    last.n_from  = 1;
    first.n_from = 1;
    assert_false(fby_field_takes_png(&last));
    assert_true(fby_field_takes_png(&first));
    first.n_from = 0;
    assert_false(fby_field_takes_png(&first));
}

static void a_field_takes_webp_if_one_of_its_extensions_is_webp(void **state)
{
    (void)state;
    struct fby_field_content field = {.from = {"png", "a.webp"}, .n_from = 2};
    assert_true(fby_field_takes_webp(&field));
    field.n_from = 1;
    assert_false(fby_field_takes_webp(&field));
}

static void sizes_beyond_their_limit_are_none(void **state)
{
    (void)state;
    const struct fby_shape   most  = {2, {FBY_MAX_LENGTH / 4, 4}};
    const struct fby_shape   wide  = {3, {UINT32_MAX, UINT32_MAX, 2}};
    struct fby_field_content field = {.decode = FBY_DECODE_TEXT,
        .wire_type                            = FBY_U8,
        .max_length                           = FBY_MAX_RAGGED};
    assert_int_equal(fby_array_bytes(&most, FBY_U8), FBY_MAX_LENGTH);
    assert_int_equal(fby_array_bytes(&most, FBY_U16), 0);
    assert_int_equal(fby_array_bytes(&wide, FBY_U8), 0);
    assert_int_equal(fby_ragged_bytes(&field), FBY_MAX_RAGGED);
    field.max_length++;
    assert_int_equal(fby_ragged_bytes(&field), 0);
}

/* A row of it is 7 values of u16, and as many places in a row of 300. */
static void a_sparse_row_has_indices_too(void **state)
{
    (void)state;
    const struct fby_field_content field = {.decode = FBY_DECODE_SPARSE,
        .wire_type                                  = FBY_U16,
        .as.sparse.shape                            = {1, {300}},
        .max_length                                 = 7};
    assert_int_equal(fby_ragged_bytes(&field), 7 * (2 + 2));
}

static void only_sequences_of_packed_documents_are_packed(void **state)
{
    (void)state;
    struct fby_tokens        tokens = {.packed = true, .pad = 9, .shift = 1};
    struct fby_field_content field  = {.decode = FBY_DECODE_TOKENS};
    fby_field_set_packing(&field, &tokens);
    assert_true(field.as.tokens.packed && field.as.tokens.pad == 9);
    tokens.packed = false;
    fby_field_set_packing(&field, &tokens);
    assert_true(!field.as.tokens.packed && field.as.tokens.pad == 0);
    field.decode = FBY_DECODE_DOCUMENTS;
    fby_field_set_packing(&field, &tokens);
    assert_int_equal(field.as.documents.shift, 0);
    tokens.packed = true;
    fby_field_set_packing(&field, &tokens);
    assert_int_equal(field.as.documents.shift, 1);
    field = (struct fby_field_content){.decode = FBY_DECODE_NUMBER};
    fby_field_set_packing(&field, &tokens);
    assert_string_equal(field.as.number.key, "");
}

static void fields_without_a_member_have_none(void **state)
{
    (void)state;
    struct fby_field_content f;
    memset(&f, 0x55, sizeof(f));
    f.decode = FBY_DECODE_BYTES;
    assert_false(fby_field_is_yuv420(&f));
    assert_false(fby_field_is_normalized(&f));
    assert_false(fby_field_is_one_hot(&f));
    assert_string_equal(fby_field_json(&f)->key, "");
    assert_int_equal(fby_field_json(&f)->pick, FBY_PICK_NONE);
    assert_int_equal(fby_field_packed_bits(&f), 0);
    assert_int_equal(fby_array_shape(&f)->n_dims, 0);
}

static void a_sequence_has_its_targets_last_token(void **state)
{
    (void)state;
    static const char *const parts[] = {"input", "target", "sequence"};
    for (uint32_t shift = 0; shift <= 1; shift++) {
        struct fby_tokens tokens = {.length = 8, .shift = shift};
        for (size_t i = 0; i < 3; i++) {
            struct fby_field_content field = {0};
            snprintf(field.from[0], FBY_NAME_SIZE, "%s", parts[i]);
            assert_int_equal(
                fby_sequence_length(&field, &tokens), 8 + (i == 2) * shift);
            assert_int_equal(fby_from_has_targets(parts[i]), i > 0);
        }
    }
}

static void shape_is(const struct fby_field_content *field, uint32_t n_dims,
    uint32_t a, uint32_t b, uint32_t c)
{
    struct fby_shape shape = fby_field_shape(field);
    struct fby_shape right = {n_dims, {a, b, c}};
    assert_memory_equal(&shape, &right, sizeof(right));
}

static void every_kind_has_its_shape(void **state)
{
    (void)state;
    struct fby_field_content f = {.decode = FBY_DECODE_RGB8};
    shape_is(&f, 3, 0, 0, 3);
    f.decode = FBY_DECODE_MASK8;
    shape_is(&f, 3, 0, 0, 1);
    f.decode    = FBY_DECODE_MAPS;
    f.as.maps.n = 9;
    shape_is(&f, 3, 0, 0, 2);
    f.decode   = FBY_DECODE_ARRAY;
    f.as.array = (struct fby_array_field){{2, {5, 9}}, .n_bits = 9};
    shape_is(&f, 2, 5, 2, 0);
    f.as.array.n_bits = 0;
    shape_is(&f, 2, 5, 9, 0);
    f.max_length = 7;
    shape_is(&f, 3, 7, 5, 9);
    f.decode          = FBY_DECODE_SPARSE;
    f.as.sparse.shape = (struct fby_shape){2, {5, 9}};
    shape_is(&f, 2, 5, 9, 0);
    f.max_length      = 0;
    f.decode          = FBY_DECODE_BYTES;
    f.as.bytes.length = 16;
    shape_is(&f, 1, 16, 0, 0);
    f.decode           = FBY_DECODE_TOKENS;
    f.as.tokens.length = 16;
    shape_is(&f, 1, 16, 0, 0);
    f.decode = FBY_DECODE_LABEL;
    shape_is(&f, 0, 0, 0, 0);
    f.decode     = FBY_DECODE_TEXT;
    f.max_length = 7;
    shape_is(&f, 1, 7, 0, 0);
}

static void flat_files_say_their_type(void **state)
{
    (void)state;
    struct fby_tokens tokens = {.format = FBY_TOKENS_FLAT};
    assert_false(fby_tokens_type_is_valid(&tokens));
    tokens.type = FBY_U16;
    assert_true(fby_tokens_type_is_valid(&tokens));
    tokens.type = FBY_F16;
    assert_false(fby_tokens_type_is_valid(&tokens));
    tokens = (struct fby_tokens){.format = FBY_TOKENS_MDS};
    assert_true(fby_tokens_type_is_valid(&tokens));
    tokens.type = FBY_F32;
    assert_false(fby_tokens_type_is_valid(&tokens));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_of_documents_travel_in_the_smaller_type),
        cmocka_unit_test(a_type_takes_what_lies_in_its_range),
        cmocka_unit_test(the_last_dot_of_an_extension_begins_its_kind),
        cmocka_unit_test(a_field_takes_png_if_one_of_its_extensions_is_png),
        cmocka_unit_test(a_field_takes_webp_if_one_of_its_extensions_is_webp),
        cmocka_unit_test(sizes_beyond_their_limit_are_none),
        cmocka_unit_test(a_sparse_row_has_indices_too),
        cmocka_unit_test(only_sequences_of_packed_documents_are_packed),
        cmocka_unit_test(fields_without_a_member_have_none),
        cmocka_unit_test(a_sequence_has_its_targets_last_token),
        cmocka_unit_test(every_kind_has_its_shape),
        cmocka_unit_test(flat_files_say_their_type),
    };
    return cmocka_run_group_tests_name("pipeline.derived", tests, NULL, NULL);
}
