/* The rules for labels, numbers, bytes, texts and arrays, of one length and of
 * many, at their borders. */
#include "tests/common/pipeline/contents.h"

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
    f->one_hot                      = false;
    f->smoothing                    = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        f->classes = cases[i].classes;
        for (uint32_t type = FBY_U8; type <= FBY_U32; type++) {
            f->wire_type = (enum fby_type)type;
            assert_string_equal(field_error(split, f),
                type == cases[i].type
                    ? ""
                    : "a label's wire type is the smallest of u8, u16, u32 "
                      "that holds the classes");
        }
    }
    f->classes = UINT32_C(1) << 31;
    assert_string_equal(
        field_error(split, f), "classes is more than 2147483647");
    fby_split_destroy(&split);
}

static void one_hot_has_1_to_65536_classes(void **state)
{
    (void)state;
    static const char         wrong[] = "one_hot needs classes, 1 to 65536";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    f->classes                      = 1;
    assert_string_equal(field_error(split, f), "");
    f->classes   = 65536;
    f->wire_type = FBY_U16;
    assert_string_equal(field_error(split, f), "");
    f->classes++;
    f->wire_type = FBY_U32;
    assert_string_equal(field_error(split, f), wrong);
    f->classes = 0;
    assert_string_equal(field_error(split, f), wrong);
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
        f->smoothing = cases[i].smoothing;
        assert_string_equal(field_error(split, f), cases[i].says);
    }
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    name_is(f->json_key, "k");
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
                ? "a number travels as u8, u16, u32, i32, i64 or f32"
                : "");
    }
    f->json_key[0] = '\0';
    assert_string_equal(field_error(split, f),
        "a number comes from a key of a JSON member, or from a column");
    name_is(f->json_key, "k");
    name_is(f->from[0], "folder");
    split->content.source = FBY_SOURCE_FOLDER;
    assert_string_equal(field_error(split, f),
        "a number comes from a key of a JSON member, or from a column");
    fby_split_destroy(&split);
}

static void bytes_have_a_length(void **state)
{
    (void)state;
    static const char wrong[] = "length is not within 1 to 1073741824";
    static const char other[] = "bytes come from a member and travel as u8";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("blob", &f);
    f->length                       = 1 << 30;
    assert_string_equal(field_error(split, f), "");
    f->length++;
    assert_string_equal(field_error(split, f), wrong);
    f->length = 0;
    assert_string_equal(field_error(split, f), wrong);
    f->max_length = 1;
    f->too_long   = FBY_TOO_LONG_REFUSE;
    assert_string_equal(field_error(split, f), "");
    f->length = 1;
    assert_string_equal(field_error(split, f), wrong);
    f->max_length = 0;
    f->too_long   = (enum fby_too_long)0;
    assert_string_equal(field_error(split, f), "");
    f->wire_type = FBY_U16;
    assert_string_equal(field_error(split, f), other);
    f->wire_type          = FBY_U8;
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    assert_string_equal(field_error(split, f), other);
    fby_split_destroy(&split);
}

static void a_text_has_a_max_length(void **state)
{
    (void)state;
    static const char wrong[] =
        "a text comes from a member, has a max_length and travels as u8";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    struct fby_field_content  kept  = *f;
    f->max_length                   = 1;
    assert_string_equal(field_error(split, f), "");
    f->wire_type = FBY_U16;
    assert_string_equal(field_error(split, f), wrong);
    *f                    = kept;
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    assert_string_equal(field_error(split, f), wrong);
    *f            = kept;
    f->max_length = 0;
    f->too_long   = (enum fby_too_long)0;
    assert_string_equal(field_error(split, f), wrong);
    fby_split_destroy(&split);
}

/* ---- arrays, and what varies ---- */

static void an_array_has_at_most_1_gib(void **state)
{
    (void)state;
    static const char wrong[] =
        "an array has a wire type, up to 4 dimensions of at least 1, and at "
        "most 1073741824 bytes";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("arr", &f);
    f->array                        = (struct fby_shape){1, {1 << 29}};
    assert_string_equal(field_error(split, f), ""); /* of f16 */
    f->array.dims[0]++;
    assert_string_equal(field_error(split, f), wrong);
    f->array = (struct fby_shape){4, {1, 2, 3, 4}};
    assert_string_equal(field_error(split, f), "");
    f->array.dims[3] = 0;
    assert_string_equal(field_error(split, f), wrong);
    f->array = (struct fby_shape){4, {65536, 65536, 65536, 65536}};
    assert_string_equal(field_error(split, f), wrong);
    fby_split_destroy(&split);
}

static void bits_are_packed_along_the_last_dimension(void **state)
{
    (void)state;
    static const char wrong[] =
        "bits are packed along the last dimension of an array";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("bits", &f);
    assert_string_equal(field_error(split, f), "");
    f->maps = 11;
    assert_string_equal(field_error(split, f), wrong);
    f->maps = 4;
    assert_string_equal(field_error(split, f), wrong);
    f->maps      = 12;
    f->wire_type = FBY_U16;
    assert_string_equal(field_error(split, f), wrong);
    f->wire_type = FBY_U8;
    f->array     = (struct fby_shape){0, {12}};
    assert_string_equal(field_error(split, f), wrong);
    f->array = (struct fby_shape){1, {12}};
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
}

static void a_sparse_row_has_room_for_its_values(void **state)
{
    (void)state;
    static const char member[] =
        "a sparse row comes from a member and has a max_length; longer ones "
        "are refused";
    static const char         shape[] = "its shape has no values, more than "
                                        "2147483648, or fewer than max_length";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("spa", &f);
    assert_string_equal(field_error(split, f), ""); /* 42 of 6 x 7 */
    f->max_length = 43;
    assert_string_equal(field_error(split, f), shape);
    f->max_length = 1;
    assert_string_equal(field_error(split, f), "");
    f->array = (struct fby_shape){2, {65536, 32768}};
    assert_string_equal(field_error(split, f), "");
    f->array.dims[1]++;
    assert_string_equal(field_error(split, f), shape);
    f->array = (struct fby_shape){1, {1}};
    assert_string_equal(field_error(split, f), "");
    f->array = (struct fby_shape){0};
    assert_string_equal(field_error(split, f), shape);
    f->array      = (struct fby_shape){1, {1 << 24}};
    f->max_length = 33554368 / 6; /* 2 bytes of value, 4 of index */
    assert_string_equal(field_error(split, f), "");
    f->max_length++;
    assert_string_equal(field_error(split, f),
        "max_length values and their indices have more than 33554368 bytes");
    f->max_length = 1;
    f->too_long   = FBY_TOO_LONG_TRUNCATE;
    assert_string_equal(field_error(split, f), member);
    f->too_long   = (enum fby_too_long)0;
    f->max_length = 0;
    assert_string_equal(field_error(split, f), member);
    fby_split_destroy(&split);
}

static void ragged_rows_have_entries_of_at_most_3_dimensions(void **state)
{
    (void)state;
    static const char wrong[] =
        "an entry has at most 3 dimensions; too_long is refuse or truncate";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("rag", &f);
    f->array                        = (struct fby_shape){3, {2, 3, 4}};
    assert_string_equal(field_error(split, f), "");
    f->array = (struct fby_shape){4, {2, 3, 4, 5}};
    assert_string_equal(field_error(split, f), wrong);
    f->array = (struct fby_shape){0};
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
        "max_length entries have more than 33554368 bytes");
    f->max_length = 0;
    assert_string_equal(field_error(split, f), "too_long goes with max_length");
    fby_split_destroy(&split);
}

static void only_some_kinds_vary_in_length(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bits", "img", "lab", "maps", "mask"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with(kinds[i], &f);
        f->max_length                   = 5;
        f->too_long                     = FBY_TOO_LONG_REFUSE;
        assert_string_equal(
            field_error(split, f), "its rows are all of one length");
        fby_split_destroy(&split);
    }
    struct fby_field_content *f;
    struct fby_split         *split = split_with("bits", &f);
    f->array                        = (struct fby_shape){1, {1}};
    f->maps                         = 1;
    assert_string_equal(field_error(split, f), "");
    f->max_length = 5;
    f->too_long   = FBY_TOO_LONG_REFUSE;
    assert_string_equal(
        field_error(split, f), "its rows are all of one length");
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
        "common.pipeline.value_rules", tests, NULL, NULL);
}
