/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of single values: labels, numbers, texts and bytes, also in JSON. */
#include "tests/says.h"
#include "tests/worker/transform/transform.h"

#include <stdio.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "pipeline/class_names.h"
#include "pipeline/plan/draw.h"
#include "worker/transform/field.h"

static struct fby_field_content field_of(
    enum fby_decode decode, enum fby_type type)
{
    struct fby_field_content field = {.name = "f", .group = "f"};
    if (decode == FBY_DECODE_NUMBER) {
        strcpy(field.as.number.key, "k");
    }
    field.decode    = decode;
    field.wire_type = type;
    return field;
}

static const struct fby_class_names *class_names; /* of labels with names */

/* Write a scalar field of the member `text`. */
static fby_err write_text(const struct fby_field_content *field,
    const char *text, uint8_t value[8], struct fby_error_detail *why)
{
    struct fby_field_job job = {.field = field,
        .class_names                   = class_names,
        .bytes                         = (const uint8_t *)text,
        .size                          = strlen(text)};
    memset(value, 0xee, 8);
    return fby_field_write(transform, &job, value, why);
}

static void assert_value(
    const struct fby_field_content *field, const char *text, uint64_t expected)
{
    uint8_t                 value[8];
    uint8_t                 want[8];
    struct fby_error_detail why   = {0};
    size_t                  width = fby_field_bytes(field);
    if (write_text(field, text, value, &why) != FBY_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    memset(want, 0xee, sizeof(want));
    fby_store_le(want, expected, width);
    assert_memory_equal(value, want, sizeof(want)); /* and not a byte more */
}

static void assert_text_refused(
    const struct fby_field_content *field, const char *text, const char *words)
{
    uint8_t                 value[8];
    struct fby_error_detail why = {0};
    assert_int_equal(write_text(field, text, value, &why), FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

static fby_err write_caption(const struct fby_field_content *field,
    const char *json, uint64_t sample, char out[9],
    struct fby_error_detail *why)
{
    uint32_t             length = 0;
    struct fby_field_job job    = {.field = field,
           .bytes                         = (const uint8_t *)json,
           .size                          = strlen(json),
           .length                        = &length,
           .sample                        = sample};
    memset(out, 0, 9);
    fby_err err = fby_field_write(transform, &job, (uint8_t *)out, why);
    assert_true(err != FBY_OK || length == strlen(out));
    return err;
}

static void assert_caption(
    const struct fby_field_content *field, const char *json, const char *words)
{
    char                    text[9];
    struct fby_error_detail why = {0};
    if (write_caption(field, json, 0, text, &why) != FBY_OK) {
        fail_msg("%s: %s", json, why.text);
    }
    assert_string_equal(text, words);
}

static void assert_no_caption(
    const struct fby_field_content *field, const char *json, const char *words)
{
    char                    text[9];
    struct fby_error_detail why = {0};
    assert_int_equal(write_caption(field, json, 0, text, &why), FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

static void a_text_may_be_a_string_of_json(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_TEXT, FBY_U8);
    field.max_length               = 8;
    strcpy(field.as.text.key, "a.b");
    assert_caption(&field, "{\"a\": {\"b\": \"cat\"}}", "cat");
    assert_caption(&field, "{\"a\": {\"b\": \"\"}}", "");
    assert_caption(&field, "{\"a\": {\"b\": \"\\u00e9\\n\"}}", "\xc3\xa9\n");
    assert_no_caption(&field, "{\"a\": {\"b\": 5}}", "'a.b' is not a text");
    assert_no_caption(&field, "{\"a\": {}}", "no member 'a.b'");
    assert_no_caption(&field, "{\"a\": {\"b\": [\"c\"]}}", "pick: random");
    assert_no_caption(
        &field, "{\"a\": {\"b\": \"123456789\"}}", "max_length is 8");
    field.too_long = FBY_TOO_LONG_TRUNCATE;
    assert_caption(&field, "{\"a\": {\"b\": \"1234567\u00e9\"}}", "1234567");
    strcpy(field.as.text.key, ".");
    assert_caption(&field, "\"dog\"", "dog");
}

static void one_text_of_a_list_is_drawn(void **state)
{
    (void)state;
    struct fby_field_content field   = field_of(FBY_DECODE_TEXT, FBY_U8);
    bool                     seen[3] = {false};
    field.max_length                 = 8;
    field.as.text.pick               = FBY_PICK_RANDOM;
    strcpy(field.as.text.key, "k");
    for (uint64_t sample = 0; sample < 64; sample++) {
        char                    text[9];
        struct fby_error_detail why = {0};
        assert_ok(write_caption(
            &field, "{\"k\": [\"0\", \"1\", \"2\"]}", sample, text, &why));
        assert_true(text[0] >= '0' && text[0] <= '2' && text[1] == '\0');
        seen[text[0] - '0'] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    assert_no_caption(&field, "{\"k\": []}", "empty list");
    assert_no_caption(&field, "{\"k\": [1]}", "is not a text");
}

static void a_label_is_decimal_digits_with_blanks_around(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_LABEL, FBY_U16);
    assert_value(&field, "0", 0);
    assert_value(&field, " 0412\r\n", 412);
    assert_value(&field, "65535\n", 65535);
}

static void a_label_that_is_no_number_is_refused_in_words(void **state)
{
    (void)state;
    static const char *const texts[] = {"cat", "", " \n", "-1", "+1", "1.0",
        "1 2", "0x10", "12a", "99999999999999999999999"};
    struct fby_field_content field   = field_of(FBY_DECODE_LABEL, FBY_U32);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_text_refused(
            &field, texts[i], "a label is a whole number from 0");
    }
    assert_text_refused(&field, "c\x01t\xff", "'c?t?'");
    char blanks[FBY_LABEL_MAX_BYTES + 2];
    memset(blanks, ' ', sizeof(blanks));
    blanks[0]                  = '1';
    blanks[sizeof(blanks) - 1] = '\0';
    assert_text_refused(&field, blanks, "at most 64");
}

static void a_label_fits_its_classes_and_its_wire_type(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_LABEL, FBY_U8);
    assert_value(&field, "255", 255);
    assert_text_refused(
        &field, "256", "label 256 is too large: it must be 0 to 255");
    field.as.label.classes = 10;
    assert_value(&field, "9", 9);
    assert_text_refused(&field, "10",
        "label 10 is too large: it must be 0 to 9; or raise classes");
    field.as.label.classes = 1;
    assert_value(&field, "0", 0);
    assert_text_refused(&field, "1",
        "label 1 is too large: it must be 0 to 0; or raise classes");
    field.wire_type        = FBY_U32;
    field.as.label.classes = 0;
    assert_value(&field, "4294967295", UINT32_MAX);
    assert_text_refused(&field, "4294967296", "0 to 4294967295");
}

static void a_label_may_be_the_class_folder(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_LABEL, FBY_U16);
    strcpy(field.from[0], "folder");
    field.as.label.classes = 1000;
    uint8_t              value[2];
    struct fby_field_job job = {.field = &field, .class_id = 999};
    assert_ok(fby_field_write(transform, &job, value, NULL));
    assert_memory_equal(value, "\xe7\x03", 2);
    job.class_id = 1000;
    assert_int_equal(
        fby_field_write(transform, &job, value, NULL), FBY_BAD_SAMPLE);
}

static void whole_numbers_of_json_fit_their_type_or_are_refused(void **state)
{
    (void)state;
    struct fby_field_content i64 = field_of(FBY_DECODE_NUMBER, FBY_I64);
    assert_value(&i64, "{\"a\": [1, {\"k\": 2}], \"k\": 7}", 7);
    assert_value(&i64, "{\"k\": 1e3}", 1000);
    assert_text_refused(&i64, "{\"k\": 9223372036854775808}", "JSON");
    assert_text_refused(
        &i64, "{\"k\": 0.5}", "is 0.5, which wire type i64 cannot hold");
    assert_text_refused(&i64, "{\"k\": 1e30}", "i64 cannot hold");
    struct fby_field_content i32 = field_of(FBY_DECODE_NUMBER, FBY_I32);
    assert_text_refused(&i32, "{\"k\": 2147483648}", "i32 cannot hold");
}

static uint64_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void reals_of_json_are_rounded_to_the_nearest_f32(void **state)
{
    (void)state;
    struct fby_field_content f32 = field_of(FBY_DECODE_NUMBER, FBY_F32);
    assert_value(&f32, "{\"k\": 0.1}", f32_bits(0.1F));
    assert_value(&f32, "{\"k\": -0.0}", 0x80000000);
    assert_value(&f32, "{\"k\": 1e-40}", f32_bits(1e-40F));
    assert_value(&f32, "{\"k\": 1e-46}", 0);
    assert_value(&f32, "{\"k\": 3.4028235e38}", f32_bits(3.4028235e38F));
    assert_value(&f32, "{\"k\": 16777216}", f32_bits(16777216.0F));
    assert_text_refused(&f32, "{\"k\": 16777217}", "exactly");
    assert_text_refused(&f32, "{\"k\": 1e39}", "f32 cannot hold");
}

static void many_reals_round_as_the_machine_does(void **state)
{
    (void)state;
    struct fby_field_content f32   = field_of(FBY_DECODE_NUMBER, FBY_F32);
    uint64_t                 bits  = 1;
    unsigned                 tried = 0;
    for (int i = 0; i < 4000; i++) {
        char   text[64];
        double value;
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407U;
        uint64_t chosen = (bits & UINT64_C(0x800fffffffffffff)) |
                          (uint64_t)(870 + bits % 280) << 52;
        memcpy(&value, &chosen, sizeof(value));
        if (value > 3.4e38 || value < -3.4e38) {
            continue;
        }
        snprintf(text, sizeof(text), "{\"k\": %.17g}", value);
        if (strpbrk(text, ".e") != NULL) {
            assert_value(&f32, text, f32_bits((float)value));
            tried++;
        }
    }
    assert_true(tried > 3000);
}

static void small_reals_have_the_bits_ieee_gives_them(void **state)
{
    (void)state;
    struct fby_field_content f16  = field_of(FBY_DECODE_NUMBER, FBY_F16);
    struct fby_field_content bf16 = field_of(FBY_DECODE_NUMBER, FBY_BF16);
    assert_value(&f16, "{\"k\": 1.0}", 0x3c00);
    assert_value(&f16, "{\"k\": -2}", 0xc000);
    assert_value(&f16, "{\"k\": 65504}", 0x7bff);
    assert_value(&f16, "{\"k\": 65519.9}", 0x7bff);
    assert_value(&f16, "{\"k\": 5.9604644775390625e-8}", 0x0001);
    assert_value(&f16, "{\"k\": 0.00006103515625}", 0x0400);
    assert_value(&f16, "{\"k\": 1.00048828125}", 0x3c00); /* a tie, to even */
    assert_value(&f16, "{\"k\": 1.00146484375}", 0x3c02); /* a tie, to even */
    assert_text_refused(&f16, "{\"k\": 65520.0}", "f16 cannot hold");
    assert_text_refused(&f16, "{\"k\": 2049}", "exactly");
    assert_value(&bf16, "{\"k\": 1.0}", 0x3f80);
    assert_value(&bf16, "{\"k\": 3.140625}", 0x4049);
    assert_value(&bf16, "{\"k\": 1e38}", 0x7e96);
}

static struct fby_field_content number_at(const char *key)
{
    struct fby_field_content field = field_of(FBY_DECODE_NUMBER, FBY_I64);
    snprintf(field.as.number.key, sizeof(field.as.number.key), "%s", key);
    return field;
}

static void assert_at(const char *key, const char *json, uint64_t value)
{
    struct fby_field_content field = number_at(key);
    assert_value(&field, json, value);
}

static void assert_nothing_at(const char *key, const char *json)
{
    struct fby_field_content field = number_at(key);
    char                     words[64];
    snprintf(words, sizeof(words), "no member '%s'", key);
    assert_text_refused(&field, json, words);
}

static void a_dotted_key_steps_into_objects(void **state)
{
    (void)state;
    assert_at("box.left", "{\"box\": {\"left\": 12}}", 12);
    assert_nothing_at("box.left", "{\"box\": 3}");
    assert_nothing_at("box.left", "{\"box.left\": 3}");
}

static void a_name_between_dots_may_be_empty(void **state)
{
    (void)state;
    assert_at("a.", "{\"a\": {\"\": 7}}", 7);
    assert_nothing_at("a.", "{\"a\": 5}");
    assert_nothing_at("a.", "{\"a\": [5]}");
    assert_at(".a", "{\"\": {\"a\": 8}}", 8);
    assert_nothing_at(".a", "{\"a\": 5}");
    assert_at("a..b", "{\"a\": {\"\": {\"b\": 9}}}", 9);
    assert_nothing_at("a..b", "{\"a\": {\"b\": 5}}");
    assert_at("..", "{\"\": {\"\": {\"\": 1}}}", 1);
}

static void a_number_steps_into_a_list(void **state)
{
    (void)state;
    assert_at("a.1.b", "{\"a\": [0, {\"b\": 7}]}", 7);
    assert_at("a.1.b", "{\"a\": {\"1\": {\"b\": 8}}}", 8);
    assert_nothing_at("a.1.b", "{\"a\": [{\"b\": 7}]}");
    assert_nothing_at("a.01", "{\"a\": [1, 2]}");
    assert_nothing_at("a.99999999999999999999", "{\"a\": [1]}");
    struct fby_field_content field = number_at(".");
    assert_value(&field, " 12 ", 12);
    assert_text_refused(&field, "{\"a\": 1}", "JSON '.' is not a number");
    assert_text_refused(&field, "1 2", "JSON line 1");
}

static void a_label_comes_out_of_json_where_it_has_a_key(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_LABEL, FBY_U8);
    strcpy(field.as.label.json.key, "class.id");
    field.as.label.classes = 10;
    assert_value(&field, "{\"class\": {\"id\": 9}}", 9);
    assert_text_refused(&field, "{\"class\": {\"id\": 10}}", "0 to 9");
    assert_text_refused(&field, "{\"class\": {\"id\": -1}}", "is not a label");
    assert_text_refused(&field, "{\"class\": {\"id\": 1.0}}", "it is 1.0");
    assert_text_refused(
        &field, "{\"class\": {\"id\": \"1\"}}", "is not a label");
    assert_text_refused(&field, "{\"class\": {\"id\": \"one\"}}",
        "a whole number from 0: it is the text \"one\"; if the classes have "
        "names, list them: names: [...]");
    assert_text_refused(&field, "7", "write key: \".\" to read it");
    assert_text_refused(&field, "7 8", "JSON line 1");
}

static void a_label_with_names_is_the_position_of_its_name(void **state)
{
    (void)state;
    static const char *const names[] = {"zebras", "cat", "3", "Sch\303\244fer"};
    struct fby_class_names  *pool    = fby_zalloc(sizeof(*pool));
    struct fby_field_content field   = field_of(FBY_DECODE_LABEL, FBY_U8);
    for (size_t i = 0; i < 4; i++) {
        assert_ok(fby_class_names_add(
            pool, &field.as.label.names, names[i], strlen(names[i]), NULL));
    }
    class_names = pool;
    assert_value(&field, "zebras", 0);
    assert_value(&field, " \tcat\r\n", 1);
    assert_value(&field, "3", 2);
    assert_value(&field,
        "Sch\xc3\xa4"
        "fer",
        3);
    assert_text_refused(&field, "zebra",
        "class 'zebra' is not in names of field f (nearest: zebras): add it "
        "to names or correct the data");
    assert_text_refused(&field, "0", "class '0' is not in names of field f");
    assert_text_refused(&field, " ", "class '' is not in names of field f");
    assert_value(&field, "\xef\xbb\xbf cat\r\n", 1); /* a byte order mark */
    assert_text_refused(&field,
        "\xef\xbb\xbf"
        "dog",
        "class 'dog' is not in names of field f");
    strcpy(field.as.label.json.key, "k");
    assert_value(&field, "{\"k\": \"3\"}", 2);
    assert_value(&field,
        "{\"k\": \"Sch\\u00e4"
        "fer \"}",
        3);
    assert_text_refused(
        &field, "{\"k\": 3}", "JSON 'k' is not the name of a class: it is 3");
    assert_text_refused(&field, "{\"k\": \"caf\"}", "(nearest: cat)");
    class_names = NULL;
    free(pool);
}

/* Entries are picked about equally often, by the draw named "pick". */
static void one_of_a_list_is_picked_at_random_where_that_is_said(void **state)
{
    (void)state;
    static const char        text[]  = "{\"k\": [10, 11, 12, 13]}";
    struct fby_field_content field   = field_of(FBY_DECODE_NUMBER, FBY_U8);
    unsigned                 seen[4] = {0};
    assert_text_refused(&field, text, "list of 4; say pick: random");
    field.as.number.pick = FBY_PICK_RANDOM;
    assert_text_refused(&field, "{\"k\": []}", "an empty list");
    assert_value(&field, "{\"k\": 5}", 5);
    struct fby_field_job job = {.field = &field,
        .bytes                         = (const uint8_t *)text,
        .size                          = strlen(text),
        .seed                          = 3,
        .epoch                         = 1};
    for (; job.sample < 4000; job.sample++) {
        uint8_t value = 0;
        uint8_t again = 0;
        assert_ok(fby_field_write(transform, &job, &value, NULL));
        assert_ok(fby_field_write(transform, &job, &again, NULL));
        assert_true(value >= 10 && value <= 13 && again == value);
        seen[value - 10]++;
        struct fby_draw draw = fby_draw_begin(3, 1, job.sample, "f", "pick", 0);
        assert_int_equal(value, 10 + fby_draw_below(&draw, 4));
    }
    for (size_t i = 0; i < 4; i++) {
        assert_true(seen[i] > 880 && seen[i] < 1120);
    }
}

static void json_that_is_not_right_is_refused(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_NUMBER, FBY_I64);
    assert_text_refused(&field, "", "JSON of 0 bytes");
    assert_text_refused(
        &field, "{\"a\": \"\\u0000\"}", "\\u0000, which no text may have");
    assert_text_refused(&field, "{\"k\": 1", "JSON line 1");
    assert_text_refused(&field, "{\"k\": 1} x", "JSON line 1");
    assert_text_refused(&field, "{\"k\": 1, \"k\": 2}", "duplicate");
    assert_text_refused(&field, "{\"k\": \"1\"}", "is not a number");
    assert_text_refused(&field, "{\"k\": true}", "is not a number");
    assert_text_refused(&field, "[1]", "no member 'k'");
}

static void a_missing_member_is_named_with_those_that_exist(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_NUMBER, FBY_I64);
    strcpy(field.as.number.key, "car.scor");
    assert_text_refused(&field, "{\"car\": {\"score\": 1}}",
        "no member 'car.scor'; did you mean 'car.score'?");
    assert_text_refused(&field, "{\"car\": {\"a\": 1, \"b\\n\": 2}}",
        "no member 'car.scor'; there are: a, b?");
    assert_text_refused(
        &field, "{\"car\": {}}", "no member 'car.scor'; there is none");
    assert_text_refused(
        &field, "{\"car\": [1]}", "'car.scor': 'car' is a list of 1");
    strcpy(field.as.number.key, "k");
    assert_text_refused(&field, "[1]", "no member 'k': it is a list of 1");
    assert_text_refused(
        &field, "{\"k\": \"3.5\"}", "is not a number: it is the text \"3.5\"");
    assert_text_refused(&field, "{\"k\": null}", "it is null");
    assert_text_refused(&field, "{\"k\": true}", "it is true");
    assert_text_refused(&field, "{\"k\": {}}", "it is an object");
}

static void an_error_in_a_list_of_numbers_names_its_entry(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_NUMBER, FBY_U8);
    field.max_length               = 4;
    strcpy(field.as.number.key, "k");
    assert_caption(&field, "{\"k\": [65, 66]}", "AB");
    assert_no_caption(&field, "{\"k\": 2.5}", "list of numbers: it is 2.5");
    assert_no_caption(&field, "{\"k\": [1, {}]}",
        "entry 1: JSON 'k' is not a number: it is an object");
}

/* The advice of the message is right: the key that it names exists. */
static void the_advised_key_of_a_list_entry_works(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_NUMBER, FBY_U8);
    strcpy(field.as.number.key, ".");
    assert_text_refused(&field, "[7]", "or which one: '0'");
    strcpy(field.as.number.key, "0");
    assert_value(&field, "[7]", 7);
    strcpy(field.as.number.key, "k");
    assert_text_refused(&field, "{\"k\": [7]}", "or which one: 'k.0'");
}

static void bytes_have_the_one_right_length(void **state)
{
    (void)state;
    struct fby_field_content field = field_of(FBY_DECODE_BYTES, FBY_U8);
    field.as.bytes.length          = 5;
    field.shape                    = (struct fby_shape){1, {5}};
    uint8_t value[8];
    assert_ok(write_text(&field, "hello", value, NULL));
    assert_memory_equal(value, "hello\xee\xee\xee", 8);
    assert_text_refused(&field, "hell", "4 bytes; the field has 5");
    assert_text_refused(&field, "hello!", "6 bytes; the field has 5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_with_names_is_the_position_of_its_name),
        cmocka_unit_test(a_text_may_be_a_string_of_json),
        cmocka_unit_test(one_text_of_a_list_is_drawn),
        cmocka_unit_test(a_label_is_decimal_digits_with_blanks_around),
        cmocka_unit_test(a_label_that_is_no_number_is_refused_in_words),
        cmocka_unit_test(a_label_fits_its_classes_and_its_wire_type),
        cmocka_unit_test(a_label_may_be_the_class_folder),
        cmocka_unit_test(whole_numbers_of_json_fit_their_type_or_are_refused),
        cmocka_unit_test(reals_of_json_are_rounded_to_the_nearest_f32),
        cmocka_unit_test(many_reals_round_as_the_machine_does),
        cmocka_unit_test(small_reals_have_the_bits_ieee_gives_them),
        cmocka_unit_test(a_dotted_key_steps_into_objects),
        cmocka_unit_test(a_name_between_dots_may_be_empty),
        cmocka_unit_test(a_number_steps_into_a_list),
        cmocka_unit_test(a_label_comes_out_of_json_where_it_has_a_key),
        cmocka_unit_test(one_of_a_list_is_picked_at_random_where_that_is_said),
        cmocka_unit_test(json_that_is_not_right_is_refused),
        cmocka_unit_test(a_missing_member_is_named_with_those_that_exist),
        cmocka_unit_test(an_error_in_a_list_of_numbers_names_its_entry),
        cmocka_unit_test(the_advised_key_of_a_list_entry_works),
        cmocka_unit_test(bytes_have_the_one_right_length),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.field", tests, open_transform, close_transform);
}
