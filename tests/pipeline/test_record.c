/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <math.h>

#include "pipeline/record.h"
#include "tests/guard.h"

static void values_come_back_as_they_were_put(void **state)
{
    (void)state;
    struct fby_buffer out       = {0};
    const int64_t     column[3] = {INT64_MIN, 0, INT64_MAX};
    int64_t           back[3];
    char              text[8];
    fby_record_put_i64(&out, 1, -5);
    fby_record_put_reals(&out, 2, &(double){0.1}, 1);
    fby_record_put_text(&out, 7, "h\xc3\xa9");
    fby_record_put_i64s(&out, 8, column, 3);
    size_t mark = fby_record_open(&out, 9);
    fby_record_put_bytes(&out, 1, "xy", 2);
    fby_record_close(&out, mark);

    struct fby_record r = fby_record_begin(out.data, out.size);
    assert_int_equal(fby_record_read_i64(&r, 1), -5);
    double real = 0;
    assert_int_equal(fby_record_read_reals(&r, 2, &real, 1), 1);
    assert_true(fabs(real - 0.1) < 1e-18);
    assert_false(fby_record_next_is(&r, 3));
    assert_true(fby_record_next_is(&r, 7));
    fby_record_read_text(&r, 7, text, sizeof(text));
    assert_string_equal(text, "h\xc3\xa9");
    assert_int_equal(fby_record_read_i64s(&r, 8, back, 3), 3);
    assert_memory_equal(back, column, sizeof(back));
    struct fby_record inner = fby_record_enter(&r, 9);
    struct fby_span   bytes = fby_record_read_bytes(&inner, 1);
    assert_int_equal(bytes.size, 2);
    fby_record_leave(&r, &inner);
    assert_ok(fby_record_end(&r, "test", NULL));
    fby_buffer_fini(&out);
}

static void columns_of_any_length_come_back(void **state)
{
    (void)state;
    int64_t numbers[20];
    double  reals[20];
    for (int i = 0; i < 20; i++) {
        numbers[i] = INT64_MIN + i;
        reals[i]   = 0.5 + i;
    }
    for (size_t n = 0; n <= 20; n++) {
        struct fby_buffer  out   = {0};
        struct fby_guarded ints  = fby_guarded_copy(NULL, n * 8);
        struct fby_guarded other = fby_guarded_copy(NULL, n * 8);
        fby_record_put_i64s(&out, 1, numbers, n);
        fby_record_put_reals(&out, 2, reals, n);
        struct fby_record r = fby_record_begin(out.data, out.size);
        assert_int_equal(fby_record_read_i64s(&r, 1, (void *)ints.bytes, n), n);
        assert_int_equal(
            fby_record_read_reals(&r, 2, (void *)other.bytes, n), n);
        assert_ok(fby_record_end(&r, "test", NULL));
        assert_memory_equal(ints.bytes, numbers, n * 8);
        assert_memory_equal(other.bytes, reals, n * 8);
        fby_guarded_free(&other);
        fby_guarded_free(&ints);
        fby_buffer_fini(&out);
    }
}

static void an_entry_is_key_length_value_in_little_endian(void **state)
{
    (void)state;
    static const uint8_t right[] = {
        0x02, 0x01, 8, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct fby_buffer out = {0};
    fby_record_put_i64(&out, 0x102, -2);
    assert_int_equal(out.size, sizeof(right));
    assert_memory_equal(out.data, right, sizeof(right));
    fby_buffer_fini(&out);
}

static void minus_zero_is_written_as_zero_and_refused_when_read(void **state)
{
    (void)state;
    struct fby_buffer plus  = {0};
    struct fby_buffer minus = {0};
    fby_record_put_reals(&plus, 1, &(double){0.0}, 1);
    fby_record_put_reals(&minus, 1, &(double){-0.0}, 1);
    assert_memory_equal(plus.data, minus.data, plus.size);
    minus.data[minus.size - 1]   = 0x80;
    struct fby_error_detail why  = {{0}};
    struct fby_record       r    = fby_record_begin(minus.data, minus.size);
    double                  none = 0;
    fby_record_read_reals(&r, 1, &none, 1);
    assert_int_equal(fby_record_end(&r, "test", &why), FBY_PROTO);
    assert_string_equal(why.text, "test: key 1 holds NaN, an infinity or -0");
    fby_buffer_fini(&plus);
    fby_buffer_fini(&minus);
}

/* The result of reading `bytes` strictly as one i64 under key 3. */
static void says(const void *bytes, size_t size, const char *text)
{
    struct fby_error_detail why = {{0}};
    struct fby_record       r   = fby_record_begin(bytes, size);
    fby_record_read_between(&r, 3, 0, 10);
    assert_int_equal(fby_record_end(&r, "test", &why), FBY_PROTO);
    assert_string_equal(why.text, text);
}

static void what_is_not_as_it_should_be_is_named(void **state)
{
    (void)state;
    says("", 0, "test: key 3 is missing");
    says("\3\0\x8\0\0\0\1\0\0\0\0\0\0", 13,
        "test: key 3 is longer than the record");
    says("\3\0\4\0\0\0\1\0\0\0", 10,
        "test: key 3 is not made of whole 8-byte numbers");
    says("\3\0\0\0\0\0", 6, "test: key 3 is not one integer");
    says("\3\0\x8\0\0\0\x0b\0\0\0\0\0\0\0", 14, "test: key 3 is out of range");
    says("\4\0\x8\0\0\0\1\0\0\0\0\0\0\0", 14, "test: key 3 is missing");
    says("\2\0\x8\0\0\0\1\0\0\0\0\0\0\0", 14,
        "test: key 3 is missing, an unknown key is in its place");
    says("\3\0\x10\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 22,
        "test: key 3 has too many numbers");
    says("\3\0\x8\0\0\0\1\0\0\0\0\0\0\0\3\0", 16,
        "test: 2 bytes follow the last known key (next key 3)");
}

static void keys_must_ascend(void **state)
{
    (void)state;
    struct fby_buffer       out = {0};
    struct fby_error_detail why = {{0}};
    fby_record_put_i64(&out, 5, 0);
    fby_record_put_i64(&out, 4, 0);
    struct fby_record r = fby_record_begin(out.data, out.size);
    fby_record_read_i64(&r, 5);
    fby_record_read_i64(&r, 6);
    assert_int_equal(fby_record_end(&r, "test", &why), FBY_PROTO);
    assert_string_equal(
        why.text, "test: key 6 is missing, or keys do not ascend");
    fby_buffer_fini(&out);
}

static void texts_are_bounded_and_utf8(void **state)
{
    (void)state;
    struct fby_buffer       out = {0};
    struct fby_error_detail why = {{0}};
    char                    text[4];
    fby_record_put_text(&out, 1, "four");
    fby_record_put_text(&out, 2, "\xff");
    struct fby_record r = fby_record_begin(out.data, out.size);
    fby_record_read_text(&r, 1, text, sizeof(text));
    assert_string_equal(text, "");
    assert_int_equal(fby_record_end(&r, "test", &why), FBY_PROTO);
    assert_string_equal(why.text, "test: key 1 is too long a text");
    r = fby_record_begin(out.data, out.size);
    fby_record_read_bytes(&r, 1);
    fby_record_read_text(&r, 2, text, sizeof(text));
    assert_int_equal(fby_record_end(&r, "test", &why), FBY_PROTO);
    assert_string_equal(why.text, "test: key 2 is not UTF-8 without NUL");
    fby_buffer_fini(&out);
}

static void a_fault_within_is_a_fault_of_the_whole(void **state)
{
    (void)state;
    struct fby_buffer       out  = {0};
    struct fby_error_detail why  = {{0}};
    size_t                  mark = fby_record_open(&out, 1);
    fby_record_put_i64(&out, 9, 1);
    fby_record_close(&out, mark);
    struct fby_record r     = fby_record_begin(out.data, out.size);
    struct fby_record inner = fby_record_enter(&r, 1);
    assert_true(fby_record_has_more(&inner));
    fby_record_leave(&r, &inner);
    assert_int_equal(fby_record_end(&r, "test", &why), FBY_PROTO);
    assert_string_equal(why.text, "test: key 9 is not known here");
    assert_false(fby_record_has_more(&r));
    fby_buffer_fini(&out);
}

static void numbers_lie_between_two_borders(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        bool    taken;
    } cases[] = {{-4, false}, {-3, true}, {0, true}, {10, true}, {11, false},
        {INT64_MIN, false}, {INT64_MAX, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_buffer       out = {0};
        struct fby_error_detail why = {{0}};
        fby_record_put_i64(&out, 3, cases[i].value);
        struct fby_record r     = fby_record_begin(out.data, out.size);
        int64_t           value = fby_record_read_between(&r, 3, -3, 10);
        assert_int_equal(value, cases[i].taken ? cases[i].value : 0);
        assert_int_equal(fby_record_end(&r, "test", &why),
            cases[i].taken ? FBY_OK : FBY_PROTO);
        assert_string_equal(
            why.text, cases[i].taken ? "" : "test: key 3 is out of range");
        fby_buffer_fini(&out);
    }
}

/* The error text of reading a real number at key 1 of `bits`. */
static const char *said_of_reals(const uint64_t *bits, size_t n, double *value)
{
    static struct fby_error_detail why;
    struct fby_buffer              out = {0};
    why.text[0]                        = '\0';
    fby_record_put_i64s(&out, 1, (const int64_t *)bits, n);
    struct fby_record r = fby_record_begin(out.data, out.size);
    *value              = 0;
    fby_record_read_reals(&r, 1, value, 1);
    fby_err err = fby_record_end(&r, "test", &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_PROTO);
    fby_buffer_fini(&out);
    return why.text;
}

static void reals_are_finite(void **state)
{
    (void)state;
    static const uint64_t bits[]  = {0x7ff0000000000000, 0xfff0000000000000,
         0x7ff8000000000000, 0x8000000000000000};
    static const uint64_t right[] = {0xbff8000000000000, 0x7fefffffffffffff};
    double                value   = 1;
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(said_of_reals(bits + i, 1, &value),
            "test: key 1 holds NaN, an infinity or -0");
        assert_true(value == 0 && !signbit(value));
    }
    assert_string_equal(said_of_reals(right, 1, &value), "");
    assert_true(value == -1.5);
    assert_string_equal(said_of_reals(right + 1, 1, &value), "");
    assert_true(value == 0x1.fffffffffffffp1023);
    assert_string_equal(
        said_of_reals(right, 2, &value), "test: key 1 has too many numbers");
}

static void a_text_fills_its_room_but_for_its_end(void **state)
{
    (void)state;
    struct fby_buffer out = {0};
    char              text[4];
    fby_record_put_text(&out, 1, "abc");
    fby_record_put_text(&out, 2, "");
    struct fby_record r = fby_record_begin(out.data, out.size);
    fby_record_read_text(&r, 1, text, sizeof(text));
    assert_string_equal(text, "abc");
    fby_record_read_text(&r, 2, text, sizeof(text));
    assert_string_equal(text, "");
    assert_ok(fby_record_end(&r, "test", NULL));
    r = fby_record_begin(out.data, out.size);
    fby_record_read_text(&r, 1, text, 3);
    assert_string_equal(text, "");
    assert_int_equal(fby_record_end(&r, "test", NULL), FBY_PROTO);
    fby_buffer_fini(&out);
}

static void the_first_fault_of_a_record_stays(void **state)
{
    (void)state;
    struct fby_buffer       out  = {0};
    struct fby_error_detail why  = {{0}};
    size_t                  mark = fby_record_open(&out, 1);
    fby_record_put_i64(&out, 1, 7);
    fby_record_close(&out, mark);
    struct fby_record r = fby_record_begin(out.data, out.size);
    assert_true(fby_record_has_more(&r));
    fby_record_refuse(&r, 9, "is the first");
    fby_record_refuse(&r, 8, "is the second");
    assert_false(fby_record_has_more(&r));
    struct fby_record inner = fby_record_enter(&r, 1);
    assert_false(fby_record_has_more(&inner));
    assert_int_equal(fby_record_read_i64(&inner, 1), 0);
    assert_int_equal(fby_record_read_between(&inner, 1, 5, 9), 0);
    fby_record_leave(&r, &inner);
    assert_int_equal(fby_record_end(&r, "test", &why), FBY_PROTO);
    assert_string_equal(why.text, "test: key 9 is the first");
    assert_int_equal(fby_record_end(&inner, "inner", &why), FBY_PROTO);
    assert_string_equal(why.text, "inner: key 9 is the first");
    fby_buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_were_put),
        cmocka_unit_test(columns_of_any_length_come_back),
        cmocka_unit_test(an_entry_is_key_length_value_in_little_endian),
        cmocka_unit_test(minus_zero_is_written_as_zero_and_refused_when_read),
        cmocka_unit_test(what_is_not_as_it_should_be_is_named),
        cmocka_unit_test(keys_must_ascend),
        cmocka_unit_test(texts_are_bounded_and_utf8),
        cmocka_unit_test(a_fault_within_is_a_fault_of_the_whole),
        cmocka_unit_test(numbers_lie_between_two_borders),
        cmocka_unit_test(reals_are_finite),
        cmocka_unit_test(a_text_fills_its_room_but_for_its_end),
        cmocka_unit_test(the_first_fault_of_a_record_stays),
    };
    return cmocka_run_group_tests_name("pipeline.record", tests, NULL, NULL);
}
