#include "tests/test.h"

#include <math.h>

#include "common/pipeline/derived.h"

static void ids_travel_in_the_smallest_type_that_holds_them(void **state)
{
    (void)state;
    assert_int_equal(fby_label_type(0), FBY_U32);
    assert_int_equal(fby_label_type(256), FBY_U8);
    assert_int_equal(fby_label_type(257), FBY_U16);
    assert_int_equal(fby_label_type(65536), FBY_U16);
    assert_int_equal(fby_label_type(65537), FBY_U32);
    assert_int_equal(fby_documents_type(65535), FBY_U16);
    assert_int_equal(fby_documents_type(65536), FBY_U32);
}

static void a_type_takes_what_it_can_hold(void **state)
{
    (void)state;
    assert_true(fby_type_takes(FBY_U8, 255));
    assert_false(fby_type_takes(FBY_U8, 256));
    assert_false(fby_type_takes(FBY_U8, 0.5));
    assert_true(fby_type_takes(FBY_I32, INT32_MIN));
    assert_false(fby_type_takes(FBY_U32, -1));
    assert_true(fby_type_takes(FBY_F16, 65504.0));
    assert_false(fby_type_takes(FBY_F16, 65505.0));
    assert_true(fby_type_takes(FBY_F32, 0.1));
    assert_false(fby_type_takes(FBY_F32, NAN));
    assert_false(fby_type_takes((enum fby_type)0, 0));
}

static void the_last_dot_of_an_extension_begins_its_kind(void **state)
{
    (void)state;
    assert_string_equal(fby_extension_kind("jpg"), "jpg");
    assert_string_equal(fby_extension_kind("left.eye.png"), "png");
    assert_string_equal(fby_undecoded_picture("left.webp"), "webp");
    assert_null(fby_undecoded_picture("webp.png"));
    struct fby_field_content field = {.from = {"jpg", "a.png"}, .n_from = 1};
    assert_false(fby_field_takes_png(&field));
    field.n_from = 2;
    assert_true(fby_field_takes_png(&field));
}

static void sizes_beyond_their_limit_are_none(void **state)
{
    (void)state;
    const struct fby_shape   most  = {2, {FBY_MAX_LENGTH / 4, 4}};
    const struct fby_shape   wide  = {3, {UINT32_MAX, UINT32_MAX, 2}};
    struct fby_field_content field = {.decode = FBY_DECODE_TEXT,
        .wire_type                            = FBY_U8,
        .max_length                           = FBY_MAX_VARYING};
    assert_int_equal(fby_array_bytes(&most, FBY_U8), FBY_MAX_LENGTH);
    assert_int_equal(fby_array_bytes(&most, FBY_U16), 0);
    assert_int_equal(fby_array_bytes(&wide, FBY_U8), 0);
    assert_int_equal(fby_varying_bytes(&field), FBY_MAX_VARYING);
    field.max_length++;
    assert_int_equal(fby_varying_bytes(&field), 0);
}

/* A row of it is 7 values of u16, and as many places in a row of 300. */
static void a_sparse_row_has_indices_too(void **state)
{
    (void)state;
    const struct fby_field_content field = {.decode = FBY_DECODE_SPARSE,
        .wire_type                                  = FBY_U16,
        .array                                      = {1, {300}},
        .max_length                                 = 7};
    assert_int_equal(fby_varying_bytes(&field), 7 * (2 + 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_travel_in_the_smallest_type_that_holds_them),
        cmocka_unit_test(a_type_takes_what_it_can_hold),
        cmocka_unit_test(the_last_dot_of_an_extension_begins_its_kind),
        cmocka_unit_test(sizes_beyond_their_limit_are_none),
        cmocka_unit_test(a_sparse_row_has_indices_too),
    };
    return cmocka_run_group_tests_name(
        "common.pipeline.derived", tests, NULL, NULL);
}
