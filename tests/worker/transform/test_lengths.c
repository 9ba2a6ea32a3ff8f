/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of several lengths: bytes, texts, arrays and lists of numbers, with one
 * entry less than the maximum, the maximum, and one more. Guard pages follow
 * the input and the output. */
#include "tests/guard.h"
#include "tests/says.h"
#include "tests/test.h"
#include "tests/worker/transform/npy_file.h"
#include "tests/worker/transform/transform.h"

#include "worker/transform/field.h"

enum { MOST = 6 /* max_length */ };

static struct fby_field_content field_of(
    enum fby_decode decode, enum fby_type type, enum fby_too_long too_long)
{
    return (struct fby_field_content){.name = "f",
        .group                              = "f",
        .decode                             = decode,
        .wire_type                          = type,
        .max_length                         = MOST,
        .too_long                           = too_long,
        .shape                              = {1, {MOST}}};
}

struct row {
    fby_err  err;
    uint32_t length;
    uint8_t  values[64];
};

/* Room for exactly `room` bytes. */
static struct row write_row(const struct fby_field_content *field,
    const void *bytes, size_t size, size_t room, struct fby_error_detail *why)
{
    struct row           row = {.length = 77};
    struct fby_guarded   in  = fby_guarded_copy(bytes, size);
    struct fby_guarded   out = fby_guarded_copy(NULL, room);
    struct fby_field_job job = {
        .field = field, .bytes = in.bytes, .size = size, .length = &row.length};
    memset(out.bytes, 0xee, room);
    row.err = fby_field_write(transform, &job, out.bytes, why);
    memcpy(row.values, out.bytes, room);
    fby_guarded_free(&in);
    fby_guarded_free(&out);
    return row;
}

static void writes_text(const struct fby_field_content *field, const char *text,
    size_t size, const char *right)
{
    struct fby_error_detail why = {{0}};
    struct row              row = write_row(field, text, size, MOST, &why);
    if (row.err != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(row.length, strlen(right));
    assert_memory_equal(row.values, right, row.length);
    for (size_t i = row.length; i < MOST; i++) {
        assert_int_equal(row.values[i], 0xee);
    }
}

static void refuses_text(const struct fby_field_content *field,
    const char *text, size_t size, const char *words)
{
    struct fby_error_detail why = {{0}};
    struct row              row = write_row(field, text, size, MOST, &why);
    assert_int_equal(row.err, FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

static void bytes_are_taken_up_to_the_most(void **state)
{
    (void)state;
    struct fby_field_content refuse =
        field_of(FBY_DECODE_BYTES, FBY_U8, FBY_TOO_LONG_REFUSE);
    struct fby_field_content cut =
        field_of(FBY_DECODE_BYTES, FBY_U8, FBY_TOO_LONG_TRUNCATE);
    writes_text(&refuse, "", 0, "");
    writes_text(&refuse, "a", 1, "a");
    writes_text(&refuse, "abcde", 5, "abcde");
    writes_text(&refuse, "abcdef", 6, "abcdef");
    refuses_text(&refuse, "abcdefg", 7,
        "the row has 7 entries, max_length is 6; raise it, or say");
    writes_text(&cut, "abcde", 5, "abcde");
    writes_text(&cut, "abcdef", 6, "abcdef");
    writes_text(&cut, "abcdefg", 7, "abcdef");
    writes_text(&cut, "a\xff\xfe\n", 4, "a\xff\xfe\n");
}

static void a_text_loses_one_newline_at_its_end(void **state)
{
    (void)state;
    struct fby_field_content field =
        field_of(FBY_DECODE_TEXT, FBY_U8, FBY_TOO_LONG_REFUSE);
    writes_text(&field, "", 0, "");
    writes_text(&field, "\n", 1, "");
    writes_text(&field, "a", 1, "a");
    writes_text(&field, "a\n", 2, "a");
    writes_text(&field, "\n\n", 2, "\n");
    writes_text(&field, "cat\n", 4, "cat");
    writes_text(&field, "cat\r\n", 5, "cat\r");
    writes_text(&field, "kitten\n", 7, "kitten");
    refuses_text(&field, "kittens", 7, "max_length is 6");
    refuses_text(&field, "kittens\n", 8, "the row has 7 entries");
    refuses_text(&field, "c\0t", 3, "UTF-8 without NUL");
    refuses_text(&field, "c\xfft", 3, "UTF-8 without NUL");
    refuses_text(&field, "ca\xc3", 3, "UTF-8 without NUL");
}

static void a_text_is_cut_between_characters(void **state)
{
    (void)state;
    struct fby_field_content field =
        field_of(FBY_DECODE_TEXT, FBY_U8, FBY_TOO_LONG_TRUNCATE);
    writes_text(&field, "abcdef", 6, "abcdef");
    writes_text(&field, "abcdefg", 7, "abcdef");
    writes_text(&field, "abcd\xc3\xa9", 6, "abcd\xc3\xa9");
    writes_text(&field, "abcd\xc3\xa9x", 7, "abcd\xc3\xa9");
    writes_text(&field, "abcde\xc3\xa9", 7, "abcde");
    writes_text(&field, "abcd\xe2\x82\xac", 7, "abcd");
    writes_text(&field, "abc\xe2\x82\xacx", 7, "abc\xe2\x82\xac");
    writes_text(&field, "ab\xf0\x9f\x98\x80", 6, "ab\xf0\x9f\x98\x80");
    writes_text(&field, "abc\xf0\x9f\x98\x80", 7, "abc");
}

/* ---- arrays -------------------------------------------------------------- */

/* Entries of two values each. */
static struct fby_field_content pairs(enum fby_too_long too_long)
{
    struct fby_field_content field =
        field_of(FBY_DECODE_ARRAY, FBY_U16, too_long);
    field.as.array.shape = (struct fby_shape){1, {2}};
    field.shape          = (struct fby_shape){2, {MOST, 2}};
    return field;
}

static struct row write_array(const struct fby_field_content *field,
    const char *shape, uint64_t values, struct fby_error_detail *why)
{
    struct fby_buffer file = {0};
    put_npy_header(&file, "|u1", shape);
    for (uint64_t i = 0; i < values; i++) {
        fby_put_u8(&file, (uint8_t)(1 + i));
    }
    struct row row = write_row(
        field, file.data, file.size, (size_t)MOST * 2 * sizeof(uint16_t), why);
    fby_buffer_fini(&file);
    return row;
}

static void has_entries(const struct row *row, uint32_t n)
{
    assert_int_equal(row->err, FBY_OK);
    assert_int_equal(row->length, n);
    for (size_t i = 0; i < 2 * (size_t)MOST; i++) {
        bool is = i < 2 * (size_t)n;
        assert_int_equal(row->values[2 * i], is ? 1 + i : 0xee);
        assert_int_equal(row->values[2 * i + 1], is ? 0 : 0xee);
    }
}

static void the_first_dimension_of_an_array_may_vary(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= MOST + 2; n++) {
        char shape[32];
        snprintf(shape, sizeof(shape), "(%u, 2)", n);
        struct fby_field_content refuse = pairs(FBY_TOO_LONG_REFUSE);
        struct fby_field_content cut    = pairs(FBY_TOO_LONG_TRUNCATE);
        struct row row = write_array(&cut, shape, UINT64_C(2) * n, NULL);
        has_entries(&row, n < MOST ? n : MOST);
        row = write_array(&refuse, shape, UINT64_C(2) * n, NULL);
        if (n <= MOST) {
            has_entries(&row, n);
        } else {
            assert_int_equal(row.err, FBY_BAD_SAMPLE);
        }
    }
}

static void entries_of_an_array_have_the_field_s_shape(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        uint64_t    values;
    } wrong[] = {
        {"(4,)", 4}, {"(2, 3)", 6}, {"(2, 2, 1)", 4}, {"(2, 1)", 2}, {"()", 1}};
    struct fby_field_content field = pairs(FBY_TOO_LONG_TRUNCATE);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct fby_error_detail why = {{0}};
        struct row              row =
            write_array(&field, wrong[i].shape, wrong[i].values, &why);
        assert_int_equal(row.err, FBY_BAD_SAMPLE);
        assert_non_null(strstr(why.text, "that of the field's entries [2]"));
    }
    field.as.array.shape =
        (struct fby_shape){0}; /* entries are single values */
    struct row plain = write_array(&field, "(3,)", 3, NULL);
    assert_int_equal(plain.err, FBY_OK);
    assert_int_equal(plain.length, 3);
    assert_memory_equal(plain.values, "\1\0\2\0\3\0\xee", 7);
}

/* ---- lists of numbers ---------------------------------------------------- */

static void a_list_of_json_is_taken_up_to_the_most(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint32_t    length;
        bool        fits;
    } cases[] = {{"{\"k\": []}", 0, true}, {"{\"k\": [1]}", 1, true},
        {"{\"k\": [1, 2, 3, 4, 5, 6]}", 6, true},
        {"{\"k\": [1, 2, 3, 4, 5, 6, 7]}", 6, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fby_field_content field =
            field_of(FBY_DECODE_NUMBER, FBY_I32, FBY_TOO_LONG_REFUSE);
        strcpy(field.as.number.key, "k");
        size_t     n   = strlen(cases[i].json);
        struct row row = write_row(&field, cases[i].json, n, 24, NULL);
        assert_int_equal(row.err, cases[i].fits ? FBY_OK : FBY_BAD_SAMPLE);
        field.too_long = FBY_TOO_LONG_TRUNCATE;
        row            = write_row(&field, cases[i].json, n, 24, NULL);
        assert_int_equal(row.err, FBY_OK);
        assert_int_equal(row.length, cases[i].length);
        for (size_t k = 0; k < MOST; k++) {
            bool is = k < row.length;
            assert_int_equal(row.values[4 * k], is ? k + 1 : 0xee);
            assert_int_equal(row.values[4 * k + 3], is ? 0 : 0xee);
        }
    }
}

/* ---- labels -------------------------------------------------------------- */

static fby_err write_label(const char *text, size_t size, uint8_t *out)
{
    struct fby_field_content field =
        field_of(FBY_DECODE_LABEL, FBY_U32, (enum fby_too_long)0);
    field.max_length = 0;
    struct row row   = write_row(&field, text, size, 4, NULL);
    *out             = row.values[0];
    return row.err;
}

static void a_label_s_text_has_its_most_bytes_and_no_more(void **state)
{
    (void)state;
    char    text[FBY_LABEL_MAX_BYTES + 1];
    uint8_t label = 0;
    memset(text, ' ', sizeof(text));
    text[9] = '8';
    assert_int_equal(write_label(text, FBY_LABEL_MAX_BYTES, &label), FBY_OK);
    assert_int_equal(label, 8);
    assert_int_equal(
        write_label(text, FBY_LABEL_MAX_BYTES + 1, &label), FBY_BAD_SAMPLE);
    assert_int_equal(write_label("\t\r\n 7\n\r\t ", 9, &label), FBY_OK);
    assert_int_equal(label, 7);
    assert_int_equal(write_label("\v7", 2, &label), FBY_BAD_SAMPLE);
    assert_int_equal(write_label("7\0", 2, &label), FBY_BAD_SAMPLE);
    assert_int_equal(write_label("/", 1, &label), FBY_BAD_SAMPLE);
    assert_int_equal(write_label(":", 1, &label), FBY_BAD_SAMPLE);
    assert_int_equal(write_label("", 0, &label), FBY_BAD_SAMPLE);
}

/* The error text for a label that is refused. */
static void refuses_label(
    enum fby_type type, const char *text, const char *words)
{
    struct fby_field_content field =
        field_of(FBY_DECODE_LABEL, type, (enum fby_too_long)0);
    struct fby_error_detail why = {{0}};
    field.max_length            = 0;
    struct row row = write_row(&field, text, strlen(text), 8, &why);
    assert_int_equal(row.err, FBY_BAD_SAMPLE);
    assert_string_equal(why.text, words);
}

static void errors_tell_large_labels_from_wrong_ones(void **state)
{
    (void)state;
    refuses_label(FBY_I64, "18446744073709551615",
        "label 18446744073709551615 is too large: it must be 0 to "
        "9223372036854775807");
    refuses_label(FBY_I64, "18446744073709551616",
        "a label is a whole number from 0 to 2^64 - 1, and not "
        "'18446744073709551616'");
    refuses_label(FBY_U8, "99999999999999999999999999",
        "a label is a whole number from 0 to 2^64 - 1, and not "
        "'999999999999999999999999...'");
    refuses_label(FBY_U8, "12a",
        "a label is a whole number from 0 to 2^64 - 1, and not '12a'");
    refuses_label(FBY_U8, "cat",
        "a label is a whole number from 0 to 2^64 - 1, and not 'cat'; if the "
        "classes have names, list them: names: [...]");
    refuses_label(FBY_U8, " ",
        "a label is a whole number from 0 to 2^64 - 1, and not ''");
}

/* The least and the most of a type, and one beyond each. */
static const struct {
    enum fby_type type;
    const char   *number;
    uint64_t      right; /* when it fits */
    bool          fits;
} whole_numbers[] = {
    {FBY_U8, "0", 0, true},
    {FBY_U8, "255", 255, true},
    {FBY_U8, "-1", 0, false},
    {FBY_U8, "256", 0, false},
    {FBY_U16, "0", 0, true},
    {FBY_U16, "65535", 65535, true},
    {FBY_U16, "-1", 0, false},
    {FBY_U16, "65536", 0, false},
    {FBY_U32, "0", 0, true},
    {FBY_U32, "4294967295", UINT32_MAX, true},
    {FBY_U32, "-1", 0, false},
    {FBY_U32, "4294967296", 0, false},
    {FBY_I32, "-2147483648", 0x80000000, true},
    {FBY_I32, "2147483647", INT32_MAX, true},
    {FBY_I32, "-2147483649", 0, false},
    {FBY_I32, "2147483648", 0, false},
    {FBY_I64, "-9223372036854775808", (uint64_t)INT64_MIN, true},
    {FBY_I64, "9223372036854775807", INT64_MAX, true},
    {FBY_I64, "-9223372036854775808.0", (uint64_t)INT64_MIN, true},
    {FBY_I64, "9223372036854775808.0", 0, false},
};

static void whole_numbers_fill_their_wire_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(whole_numbers) / sizeof(*whole_numbers);
         i++) {
        struct fby_field_content field = field_of(
            FBY_DECODE_NUMBER, whole_numbers[i].type, (enum fby_too_long)0);
        field.max_length = 0;
        strcpy(field.as.number.key, ".");
        size_t            n   = fby_type_bytes(whole_numbers[i].type);
        struct row        row = write_row(&field, whole_numbers[i].number,
                   strlen(whole_numbers[i].number), n, NULL);
        struct fby_reader in  = fby_reader(row.values, n);
        assert_int_equal(
            row.err, whole_numbers[i].fits ? FBY_OK : FBY_BAD_SAMPLE);
        assert_true(!whole_numbers[i].fits ||
                    fby_read_le(&in, n) == whole_numbers[i].right);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_taken_up_to_the_most),
        cmocka_unit_test(a_text_loses_one_newline_at_its_end),
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(the_first_dimension_of_an_array_may_vary),
        cmocka_unit_test(entries_of_an_array_have_the_field_s_shape),
        cmocka_unit_test(a_list_of_json_is_taken_up_to_the_most),
        cmocka_unit_test(errors_tell_large_labels_from_wrong_ones),
        cmocka_unit_test(whole_numbers_fill_their_wire_types),
        cmocka_unit_test(a_label_s_text_has_its_most_bytes_and_no_more),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.lengths", tests, open_transform, close_transform);
}
