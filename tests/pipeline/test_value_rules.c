/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for labels, numbers, bytes, texts and arrays, of one length and of
 * several, at their limits. */
#include "tests/pipeline/contents.h"

/* ---- labels, numbers, bytes and texts ---- */

static void classes_decide_a_label_s_type(void **state)
{
    (void)state;
    static const struct {
        uint32_t      classes;
        enum fby_type type;
    } cases[] = {{0, FBY_U32}, {1, FBY_U8}, {256, FBY_U8}, {257, FBY_U16},
        {65536, FBY_U16}, {65537, FBY_U32}, {INT32_MAX, FBY_U32}};
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    f->as.label.one_hot             = false;
    f->as.label.smoothing           = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        f->as.label.classes = cases[i].classes;
        for (uint32_t type = FBY_U8; type <= FBY_U32; type++) {
            f->wire_type = (enum fby_type)type;
            assert_string_equal(field_error(split, f),
                type == cases[i].type
                    ? ""
                    : "a label travels as the smallest of u8, u16 and u32 "
                      "that holds 'classes' (u32 without 'classes'); "
                      "leave its type out");
        }
    }
    f->as.label.classes = UINT32_C(1) << 31;
    assert_string_equal(
        field_error(split, f), "classes is more than 2147483647");
    fby_split_destroy(&split);
}

static void one_hot_has_1_to_65536_classes(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    f->as.label.classes             = 1;
    assert_string_equal(field_error(split, f), "");
    f->as.label.classes = 65536;
    f->wire_type        = FBY_U16;
    assert_string_equal(field_error(split, f), "");
    f->as.label.classes++;
    f->wire_type = FBY_U32;
    assert_string_equal(
        field_error(split, f), "one_hot has at most 65536 classes");
    f->as.label.classes = 0;
    assert_string_equal(field_error(split, f),
        "one_hot needs 'classes': an integer, 1 to 65536");
    fby_split_destroy(&split);
}

static void smoothing_is_0_to_below_1(void **state)
{
    (void)state;
    static const struct {
        double      smoothing;
        const char *says;
    } cases[] = {{0, ""}, {0.999999, ""},
        {1, "smoothing is not at least 0 and below 1"},
        {-1e-9, "smoothing is not at least 0 and below 1"}};
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        f->as.label.smoothing = cases[i].smoothing;
        assert_string_equal(field_error(split, f), cases[i].says);
    }
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    name_is(f->as.label.json.key, "k");
    assert_string_equal(
        field_error(split, f), "a class folder's number has no key");
    fby_split_destroy(&split);
}

static void a_number_has_a_key_and_a_type(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("num", &f);
    for (uint32_t type = FBY_U8; type <= FBY_U32; type++) {
        f->wire_type = (enum fby_type)type;
        assert_string_equal(field_error(split, f),
            type == FBY_F16 || type == FBY_BF16
                ? "a number travels as f32, i32, i64, u8, u16 or u32"
                : "");
    }
    f->as.number.key[0] = '\0';
    assert_string_equal(field_error(split, f),
        "a number comes from a key of a JSON member, or from a column");
    name_is(f->as.number.key, "k");
    name_is(f->from[0], "folder");
    split->content.source = FBY_SOURCE_FOLDER;
    assert_string_equal(field_error(split, f),
        "folder is the number of the class folder: a label, alone");
    fby_split_destroy(&split);
}

static void bytes_have_a_length(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("blob", &f);
    f->as.bytes.length              = 1 << 30;
    assert_string_equal(field_error(split, f), "");
    f->as.bytes.length++;
    assert_string_equal(
        field_error(split, f), "length is not within 1 to 1073741824");
    f->as.bytes.length = 0;
    assert_string_equal(field_error(split, f),
        "the bytes of bin need a 'length' or a 'max_length'; or say another "
        "decode");
    f->max_length = 1;
    f->too_long   = FBY_TOO_LONG_REFUSE;
    assert_string_equal(field_error(split, f), "");
    f->as.bytes.length = 1;
    assert_string_equal(field_error(split, f),
        "give length, if all rows have it, or max_length, but not both");
    f->max_length = 0;
    f->too_long   = (enum fby_too_long)0;
    assert_string_equal(field_error(split, f), "");
    f->wire_type = FBY_U16;
    assert_string_equal(
        field_error(split, f), "bytes travel as u8; use type: u8");
    f->wire_type          = FBY_U8;
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    assert_string_equal(field_error(split, f),
        "folder is the number of the class folder: a label, alone");
    fby_split_destroy(&split);
}

static void a_text_has_a_max_length(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    struct fby_field_content  kept  = *f;
    f->max_length                   = 1;
    assert_string_equal(field_error(split, f), "");
    f->wire_type = FBY_U16;
    assert_string_equal(
        field_error(split, f), "text travels as u8; use type: u8");
    *f                    = kept;
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    assert_string_equal(field_error(split, f),
        "folder is the number of the class folder: a label, alone");
    *f            = kept;
    f->max_length = 0;
    f->too_long   = (enum fby_too_long)0;
    assert_string_equal(
        field_error(split, f), "a text needs 'max_length', in bytes");
    fby_split_destroy(&split);
}

/* ---- arrays, and what varies ---- */

static void an_array_has_at_most_1_gib(void **state)
{
    (void)state;
    static const char wrong[] =
        "an array of this shape has more than 1073741824 bytes as f16";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("arr", &f);
    f->as.array.shape               = (struct fby_shape){1, {1 << 29}};
    assert_string_equal(field_error(split, f), ""); /* of f16 */
    f->as.array.shape.dims[0]++;
    assert_string_equal(field_error(split, f), wrong);
    f->as.array.shape = (struct fby_shape){4, {1, 2, 3, 4}};
    assert_string_equal(field_error(split, f), "");
    f->as.array.shape.dims[3] = 0;
    assert_string_equal(field_error(split, f), wrong);
    f->as.array.shape = (struct fby_shape){4, {65536, 65536, 65536, 65536}};
    assert_string_equal(field_error(split, f), wrong);
    fby_split_destroy(&split);
}

static void bits_are_packed_along_the_last_dimension(void **state)
{
    (void)state;
    static const char wrong[] =
        "bits are packed along the last dimension of an array, as u8";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("bits", &f);
    assert_string_equal(field_error(split, f), "");
    f->as.array.n_bits = 11;
    assert_string_equal(field_error(split, f), wrong);
    f->as.array.n_bits = 4;
    assert_string_equal(field_error(split, f), wrong);
    f->as.array.n_bits = 12;
    f->wire_type       = FBY_U16;
    assert_string_equal(field_error(split, f), wrong);
    f->wire_type      = FBY_U8;
    f->as.array.shape = (struct fby_shape){0, {12}};
    assert_string_equal(field_error(split, f),
        "bits are packed along the last dimension, so there must be one");
    f->as.array.shape = (struct fby_shape){1, {12}};
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
}

static void a_sparse_row_has_room_for_its_values(void **state)
{
    (void)state;
    static const char keys[] =
        "sparse rows need 'shape' (of a dense row, such as [1000]), "
        "'max_length' (of their non-zeros) and the 'wire' type that they "
        "travel as";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("spa", &f);
    assert_string_equal(field_error(split, f), ""); /* 42 of 6 x 7 */
    f->max_length = 43;
    assert_string_equal(field_error(split, f),
        "max_length 43 is more than the 42 values of the shape");
    f->max_length = 1;
    assert_string_equal(field_error(split, f), "");
    f->as.sparse.shape = (struct fby_shape){2, {65536, 32768}};
    assert_string_equal(field_error(split, f), "");
    f->as.sparse.shape.dims[1]++;
    assert_string_equal(field_error(split, f),
        "a row of this shape has more than 2147483648 values");
    f->as.sparse.shape = (struct fby_shape){1, {1}};
    assert_string_equal(field_error(split, f), "");
    f->as.sparse.shape = (struct fby_shape){0};
    assert_string_equal(field_error(split, f), keys);
    f->as.sparse.shape = (struct fby_shape){1, {1 << 24}};
    f->max_length      = 33554368 / 6; /* 2 bytes of value, 4 of index */
    assert_string_equal(field_error(split, f), "");
    f->max_length++;
    assert_string_equal(field_error(split, f),
        "5592395 entries of 6 bytes are more than 33554368; lower "
        "max_length");
    f->max_length = 1;
    f->too_long   = FBY_TOO_LONG_TRUNCATE;
    assert_string_equal(field_error(split, f),
        "sparse rows that are too long are refused; raise max_length");
    f->too_long   = (enum fby_too_long)0;
    f->max_length = 0;
    assert_string_equal(field_error(split, f), keys);
    fby_split_destroy(&split);
}

static void ragged_rows_have_entries_of_at_most_3_dimensions(void **state)
{
    (void)state;
    static const char         wrong[] = "too_long is refuse or truncate";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("rag", &f);
    f->as.array.shape               = (struct fby_shape){3, {2, 3, 4}};
    assert_string_equal(field_error(split, f), "");
    f->as.array.shape = (struct fby_shape){4, {2, 3, 4, 5}};
    assert_string_equal(field_error(split, f),
        "with max_length the shape is that of one entry: at most 3 "
        "dimensions, [] for a number");
    f->as.array.shape = (struct fby_shape){0};
    for (int too_long = 0; too_long <= 3; too_long++) {
        f->too_long = (enum fby_too_long)too_long;
        assert_string_equal(
            field_error(split, f), too_long == 0 || too_long == 3 ? wrong : "");
    }
    f->too_long   = FBY_TOO_LONG_REFUSE;
    f->max_length = 33554368;
    assert_string_equal(field_error(split, f), "");
    f->max_length++;
    assert_string_equal(field_error(split, f),
        "33554369 entries of 1 bytes are more than 33554368; lower "
        "max_length");
    f->max_length = 0;
    assert_string_equal(field_error(split, f),
        "too_long needs max_length, the most entries of a row");
    fby_split_destroy(&split);
}

static void only_some_kinds_vary_in_length(void **state)
{
    (void)state;
    static const char *const kinds[] = {"img", "lab", "maps", "mask"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with(kinds[i], &f);
        f->max_length                   = 5;
        f->too_long                     = FBY_TOO_LONG_REFUSE;
        assert_string_equal(field_error(split, f),
            "max_length is not used: all rows of the field have one length");
        fby_split_destroy(&split);
    }
    struct fby_field_content *f;
    struct fby_split         *split = split_with("bits", &f);
    f->as.array.shape               = (struct fby_shape){1, {1}};
    f->as.array.n_bits              = 1;
    assert_string_equal(field_error(split, f), "");
    f->max_length = 5;
    f->too_long   = FBY_TOO_LONG_REFUSE;
    assert_string_equal(field_error(split, f),
        "with wire: bits there is no max_length; use another wire type");
    fby_split_destroy(&split);
    split         = split_with("num", &f);
    f->max_length = 5;
    f->too_long   = FBY_TOO_LONG_TRUNCATE;
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_decide_a_label_s_type),
        cmocka_unit_test(one_hot_has_1_to_65536_classes),
        cmocka_unit_test(smoothing_is_0_to_below_1),
        cmocka_unit_test(a_number_has_a_key_and_a_type),
        cmocka_unit_test(bytes_have_a_length),
        cmocka_unit_test(a_text_has_a_max_length),
        cmocka_unit_test(an_array_has_at_most_1_gib),
        cmocka_unit_test(bits_are_packed_along_the_last_dimension),
        cmocka_unit_test(a_sparse_row_has_room_for_its_values),
        cmocka_unit_test(ragged_rows_have_entries_of_at_most_3_dimensions),
        cmocka_unit_test(only_some_kinds_vary_in_length),
    };
    return cmocka_run_group_tests_name(
        "pipeline.value_rules", tests, NULL, NULL);
}
