/* SPDX-License-Identifier: Apache-2.0 */
/* Reading tensors of every type and any strides. */
#include "cli/show/tensor.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

static DLTensor tensor_of(DLDataType type, void *data)
{
    static int64_t shape[]   = {1};
    static int64_t strides[] = {1};
    return (DLTensor){.data = data,
        .ndim               = 1,
        .dtype              = type,
        .shape              = shape,
        .strides            = strides};
}

static void half_precision_values_are_read(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        double   value;
    } cases[] = {{0x0000, 0}, {0x3c00, 1}, {0xc000, -2}, {0x7bff, 65504},
        {0x0001, 1.0 / (1 << 24)}, {0x3555, 0.333251953125},
        {0xfc00, -(double)INFINITY}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint16_t bits   = cases[i].bits;
        DLTensor tensor = tensor_of((DLDataType){kDLFloat, 16, 1}, &bits);
        assert_true(fby_tensor_real(&tensor, &bits) == cases[i].value);
    }
    uint16_t nan    = 0x7e00;
    DLTensor tensor = tensor_of((DLDataType){kDLFloat, 16, 1}, &nan);
    assert_true(isnan(fby_tensor_real(&tensor, &nan)));
}

static void bf16_is_the_upper_half_of_f32(void **state)
{
    (void)state;
    uint16_t bits   = 0xc0a0;
    DLTensor tensor = tensor_of((DLDataType){kDLBfloat, 16, 1}, &bits);
    char     text[FBY_TENSOR_TEXT];
    assert_true(fby_tensor_real(&tensor, &bits) == -5);
    assert_string_equal(fby_tensor_text(&tensor, &bits, text), "-5");
}

static void whole_numbers_are_printed_in_full(void **state)
{
    (void)state;
    char     text[FBY_TENSOR_TEXT];
    int64_t  large  = INT64_MIN + 1;
    int32_t  minus  = -7;
    uint8_t  small  = 255;
    DLTensor tensor = tensor_of((DLDataType){kDLInt, 64, 1}, &large);
    assert_string_equal(
        fby_tensor_text(&tensor, &large, text), "-9223372036854775807");
    tensor = tensor_of((DLDataType){kDLInt, 32, 1}, &minus);
    assert_string_equal(fby_tensor_text(&tensor, &minus, text), "-7");
    tensor = tensor_of((DLDataType){kDLUInt, 8, 1}, &small);
    assert_string_equal(fby_tensor_text(&tensor, &small, text), "255");
}

/* channels_last: the shape of planes over the memory of pixels. */
static void rows_are_copied_in_the_order_of_their_shape(void **state)
{
    (void)state;
    uint16_t memory[2 * 6];
    for (uint16_t i = 0; i < 12; i++) {
        memory[i] = i;
    }
    int64_t               shape[]   = {2, 3, 1, 2}; /* n, c, h, w */
    int64_t               strides[] = {6, 1, 6, 3};
    DLTensor              tensor    = {.data = memory,
                        .ndim                = 4,
                        .dtype               = {kDLUInt, 16, 1},
                        .shape               = shape,
                        .strides             = strides};
    uint16_t              row[6];
    static const uint16_t wanted[] = {6, 9, 7, 10, 8, 11};
    assert_int_equal(fby_tensor_row_elements(&tensor), 6);
    fby_tensor_copy_row(&tensor, 1, row);
    assert_memory_equal(row, wanted, sizeof(row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_precision_values_are_read),
        cmocka_unit_test(bf16_is_the_upper_half_of_f32),
        cmocka_unit_test(whole_numbers_are_printed_in_full),
        cmocka_unit_test(rows_are_copied_in_the_order_of_their_shape),
    };
    return cmocka_run_group_tests_name("cli.tensor", tests, NULL, NULL);
}
