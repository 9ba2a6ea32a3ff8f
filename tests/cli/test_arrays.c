/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/arrays.h"
#include "tests/says.h"

/* Add a file of this type and shape: "(2, 3)" of `n_bytes` bytes of values. */
static fby_err add(struct fby_init_array *array, const char *dtype,
    const char *shape, uint64_t n_bytes, struct fby_error_detail *why)
{
    uint8_t head[128] = "\x93NUMPY\x01\x00\x76\x00";
    memset(head + 10, ' ', 118);
    int n        = snprintf((char *)head + 10, 117,
               "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape);
    head[10 + n] = ' ';
    head[127]    = '\n';
    return fby_init_add_array(array, head, 128, 128 + n_bytes, why);
}

static void expect_wire(
    const char *first, const char *second, enum fby_type wire)
{
    struct fby_init_array   array = {.wire = 0};
    struct fby_error_detail why   = {""};
    uint64_t                size  = (uint64_t)(first[2] - '0');
    uint64_t                other = (uint64_t)(second[2] - '0');
    assert_ok(add(&array, first, "(3,)", 3 * size, &why));
    assert_ok(add(&array, second, "(3,)", 3 * other, &why));
    assert_int_equal(array.wire, wire);
}

static void values_of_two_types_travel_as_one_that_holds_both(void **state)
{
    (void)state;
    expect_wire("|u1", "|u1", FBY_U8);
    expect_wire("<u2", "<u2", FBY_U16);
    expect_wire("|u1", "<u2", FBY_I64);
    expect_wire("<u4", "<i4", FBY_I64);
    expect_wire("<f2", "<f2", FBY_F16);
    expect_wire("<i4", "<f2", FBY_F32);
    expect_wire("<f2", "<f8", FBY_F32);
}

static void a_first_dimension_that_differs_makes_the_array_ragged(void **state)
{
    (void)state;
    struct fby_init_array   array = {.wire = 0};
    struct fby_error_detail why   = {""};
    assert_ok(add(&array, "|u1", "(2, 3)", 6, &why));
    assert_ok(add(&array, "|u1", "(2, 3)", 6, &why));
    assert_false(array.is_ragged);
    assert_ok(add(&array, "|u1", "(5, 3)", 15, &why));
    assert_ok(add(&array, "|u1", "(4, 3)", 12, &why));
    assert_true(array.is_ragged);
    assert_int_equal(array.longest, 5);
}

static void refuse(
    const char *dtype, const char *shape, uint64_t n_bytes, const char *words)
{
    struct fby_init_array   array = {.wire = 0};
    struct fby_error_detail why   = {""};
    assert_ok(add(&array, "|u1", "(2, 3)", 6, &why));
    assert_int_equal(add(&array, dtype, shape, n_bytes, &why), FBY_CONFIG);
    assert_says(&why, words);
}

static void files_that_no_field_can_read_are_refused(void **state)
{
    (void)state;
    refuse("|u1", "(2, 4)", 8, "of another shape than the first");
    refuse("|u1", "()", 1, "of another shape than the first");
    refuse("|u1", "(2, 0)", 0, "and none of 0: reshape the arrays");
    refuse("|u1", "(2, 3)", 5, "cut: it has 5 bytes of values");
    refuse("|u1", "(2, 3)", 7, "too long: it has 7 bytes of values");
    refuse("|O", "(2, 3)", 6, "no array that is read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_two_types_travel_as_one_that_holds_both),
        cmocka_unit_test(a_first_dimension_that_differs_makes_the_array_ragged),
        cmocka_unit_test(files_that_no_field_can_read_are_refused),
    };
    return cmocka_run_group_tests_name("cli.arrays", tests, NULL, NULL);
}
