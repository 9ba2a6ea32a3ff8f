/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/says.h"
#include "tests/test.h"

#include "tests/worker/transform/npy_file.h"
#include "tests/worker/transform/transform.h"
#include "worker/transform/field.h"

static struct fby_field_content field_of(
    enum fby_type type, struct fby_shape shape)
{
    return (struct fby_field_content){.name = "f",
        .group                              = "f",
        .decode                             = FBY_DECODE_ARRAY,
        .wire_type                          = type,
        .as.array.shape                     = shape,
        .shape                              = shape};
}

struct npy_file { /* its parts */
    const char *descr;
    const char *shape;
    const void *values;
    size_t      size;
};

static struct fby_field_content bits_of(struct fby_shape shape)
{
    uint32_t                 last  = shape.n_dims - 1;
    struct fby_field_content field = field_of(FBY_U8, shape);
    field.as.array.n_bits          = shape.dims[last];
    field.shape.dims[last]         = (shape.dims[last] + 7) / 8;
    return field;
}

/* 32 bytes of 0xee, the field's values in the first of them. */
static fby_err write_array(const struct fby_field_content *field,
    const struct npy_file *file, uint8_t out[32], struct fby_error_detail *why)
{
    struct fby_buffer bytes = {0};
    put_npy_header(&bytes, file->descr, file->shape);
    fby_put_bytes(&bytes, file->values, file->size);
    struct fby_field_job job = {
        .field = field, .bytes = bytes.data, .size = bytes.size};
    memset(out, 0xee, 32);
    fby_err err = fby_field_write(transform, &job, out, why);
    fby_buffer_fini(&bytes);
    return err;
}

static void assert_refused(const struct fby_field_content *field,
    const struct npy_file *file, const char *words)
{
    uint8_t                 out[32];
    struct fby_error_detail why = {{0}};
    assert_int_equal(write_array(field, file, out, &why), FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

static void an_array_is_written_in_its_wire_type(void **state)
{
    (void)state;
    static const float values[6] = {0, -1.5F, 0.1F, 65504, 1e-8F, 2048.5F};
    struct fby_field_content field =
        field_of(FBY_F16, (struct fby_shape){2, {2, 3}});
    const struct npy_file file    = {"<f4", "(2, 3)", values, sizeof(values)};
    static const uint8_t  right[] = {0x00, 0x00, 0x00, 0xbe, 0x66, 0x2e, 0xff,
         0x7b, 0x00, 0x00, 0x00, 0x68, 0xee};
    uint8_t               out[32];
    assert_ok(write_array(&field, &file, out, NULL));
    assert_memory_equal(out, right, sizeof(right)); /* and not a byte more */
    assert_int_equal(fby_field_bytes(&field), 12);
}

static void one_number_and_big_endian_ones_are_arrays(void **state)
{
    (void)state;
    struct fby_field_content one   = field_of(FBY_I32, (struct fby_shape){0});
    const struct npy_file    minus = {">i2", "()", "\xff\xfe", 2};
    uint8_t                  out[32];
    assert_ok(write_array(&one, &minus, out, NULL));
    assert_memory_equal(out, "\xfe\xff\xff\xff\xee", 5);
    struct fby_field_content two =
        field_of(FBY_U16, (struct fby_shape){1, {2}});
    const struct npy_file file = {">u2", "(2,)", "\1\2\3\4", 4};
    assert_ok(write_array(&two, &file, out, NULL));
    assert_memory_equal(out, "\2\1\4\3\xee", 5);
}

static void another_shape_is_refused_and_both_are_named(void **state)
{
    (void)state;
    struct fby_field_content field =
        field_of(FBY_U8, (struct fby_shape){2, {2, 3}});
    assert_refused(&field, &(struct npy_file){"|u1", "(3, 2)", "abcdef", 6},
        "its shape is [3, 2], the field's [2, 3]");
    assert_refused(&field, &(struct npy_file){"|u1", "(6,)", "abcdef", 6},
        "its shape is [6], the field's [2, 3]");
    assert_refused(&field, &(struct npy_file){"|u1", "(2, 3, 1)", "abcdef", 6},
        "its shape is [2, 3, 1], the field's [2, 3]");
    assert_refused(&field, &(struct npy_file){"|u1", "(0, 3)", "", 0},
        "its shape is [0, 3], the field's [2, 3]");
}

static void a_value_that_does_not_fit_is_named(void **state)
{
    (void)state;
    static const int16_t     whole[] = {0, 255, 256};
    static const double      real[]  = {1, 2, 0.5};
    static const double      large[] = {1, 65519, 65520};
    struct fby_field_content u8 = field_of(FBY_U8, (struct fby_shape){1, {3}});
    struct fby_field_content f16 =
        field_of(FBY_F16, (struct fby_shape){1, {3}});
    assert_refused(&u8, &(struct npy_file){"<i2", "(3,)", whole, 6},
        "value 2 is 256 (int16), which wire type u8 cannot hold");
    assert_refused(&u8, &(struct npy_file){"<f8", "(3,)", real, 24},
        "value 2 is 0.5 (float64), which");
    assert_refused(&f16, &(struct npy_file){"<f8", "(3,)", large, 24},
        "value 2 is 65520 (float64), which");
}

static void damaged_files_and_fortran_order_are_refused(void **state)
{
    (void)state;
    static const char text[] =
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)}";
    struct fby_field_content field =
        field_of(FBY_U8, (struct fby_shape){2, {2, 2}});
    struct fby_buffer       bytes = {0};
    struct fby_error_detail why   = {{0}};
    uint8_t                 out[4];
    put_npy_text(&bytes, 1, text);
    fby_put_bytes(&bytes, "abcd", 4);
    struct fby_field_job job = {
        .field = &field, .bytes = bytes.data, .size = bytes.size};
    assert_int_equal(
        fby_field_write(transform, &job, out, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "Fortran order"));
    job.size = 20;
    assert_int_equal(
        fby_field_write(transform, &job, out, &why), FBY_BAD_SAMPLE);
    fby_buffer_fini(&bytes);
}

static void an_array_without_a_wire_type_is_no_content(void **state)
{
    (void)state;
    struct fby_field_content field =
        field_of((enum fby_type)0, (struct fby_shape){1, {3}});
    uint8_t               out[32];
    const struct npy_file file = {"|u1", "(3,)", "abc", 3};
    assert_int_equal(write_array(&field, &file, out, NULL), FBY_USAGE);
}

static void bits_are_packed_row_by_row(void **state)
{
    (void)state;
    const uint8_t            bools[22] = {1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, /* */
                   0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0};
    const uint16_t           wide[3]   = {0x0100, 0, 0x0100};
    struct fby_field_content field = bits_of((struct fby_shape){2, {2, 11}});
    struct fby_error_detail  why   = {{0}};
    uint8_t                  out[32];
    const struct npy_file    file = {"|b1", "(2, 11)", bools, sizeof(bools)};
    assert_ok(write_array(&field, &file, out, &why));
    assert_memory_equal(out, ((uint8_t[]){3, 5, 0x80, 2, 0xee}), 5);
    field = bits_of((struct fby_shape){2, {3, 1}});
    assert_ok(write_array(&field,
        &(struct npy_file){">i2", "(3, 1)", wide, sizeof(wide)}, out, &why));
    assert_memory_equal(out, ((uint8_t[]){1, 0, 1, 0xee}), 4);
}

/* Rows longer than a block of values, one that ends within a byte. */
static void long_rows_are_packed_as_short_ones(void **state)
{
    (void)state;
    enum { N = 9001 };
    struct fby_field_content field = bits_of((struct fby_shape){1, {N}});
    struct fby_buffer        file  = {0};
    static uint8_t           out[N / 8 + 1];
    put_npy_header(&file, "<i8", "(9001,)");
    for (uint64_t i = 0; i < N; i++) {
        uint8_t value[8] = {(uint8_t)(i * i % 7 == 2)};
        fby_put_bytes(&file, value, sizeof(value));
    }
    struct fby_field_job job = {
        .field = &field, .bytes = file.data, .size = file.size};
    assert_ok(fby_field_write(transform, &job, out, NULL));
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(out[i / 8] >> (i % 8) & 1, i * i % 7 == 2);
    }
    assert_int_equal(out[N / 8] >> (N % 8), 0);
    file.data[file.size - 8]    = 2;
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        fby_field_write(transform, &job, out, &why), FBY_BAD_SAMPLE);
    assert_non_null(
        strstr(why.text, "value 9000 is 2 (int64); a bit is 0 or 1"));
    fby_buffer_fini(&file);
}

static void values_that_are_no_bits_are_refused(void **state)
{
    (void)state;
    const uint8_t            ones[9]  = {1, 1, 1, 1, 1, 1, 1, 1, 2};
    const uint8_t            early[9] = {1, 255, 0};
    const int32_t            wide[9]  = {0, -1};
    const float              reals[9] = {0, 1};
    struct fby_field_content field    = bits_of((struct fby_shape){1, {9}});
    assert_refused(&field, &(struct npy_file){"|u1", "(9,)", ones, 9},
        "value 8 is 2 (uint8); a bit is 0 or 1");
    assert_refused(&field, &(struct npy_file){"|u1", "(9,)", early, 9},
        "value 1 is 255 (uint8)");
    assert_refused(&field, &(struct npy_file){"<i4", "(9,)", wide, 36},
        "value 1 is -1 (int32)");
    assert_refused(&field, &(struct npy_file){"<f4", "(9,)", reals, 36},
        "its values are float32; bits come from bools or whole numbers");
    assert_refused(&field, &(struct npy_file){"|u1", "(2,)", ones, 2},
        "its shape is [2], the field's [9]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_written_in_its_wire_type),
        cmocka_unit_test(one_number_and_big_endian_ones_are_arrays),
        cmocka_unit_test(another_shape_is_refused_and_both_are_named),
        cmocka_unit_test(a_value_that_does_not_fit_is_named),
        cmocka_unit_test(damaged_files_and_fortran_order_are_refused),
        cmocka_unit_test(an_array_without_a_wire_type_is_no_content),
        cmocka_unit_test(bits_are_packed_row_by_row),
        cmocka_unit_test(long_rows_are_packed_as_short_ones),
        cmocka_unit_test(values_that_are_no_bits_are_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.array", tests, open_transform, close_transform);
}
