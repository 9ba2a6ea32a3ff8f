/* SPDX-License-Identifier: Apache-2.0 */
/* JSON members at their limits: depth, size, and the text of a value in errors.
 */
#include "tests/guard.h"
#include "tests/says.h"
#include "tests/test.h"
#include "tests/worker/transform/transform.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/bytes.h"
#include "worker/transform/field.h"

static void put_text(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

/* The whole number at `key`; nothing may be read behind the text. */
static fby_err read_number(const char *key, const void *text, size_t size,
    uint8_t value[8], struct fby_error_detail *why)
{
    struct fby_field_content field = {.name = "f",
        .group                              = "f",
        .decode                             = FBY_DECODE_NUMBER,
        .wire_type                          = FBY_I64};
    struct fby_guarded       in    = fby_guarded_copy(text, size);
    struct fby_field_job     job   = {
              .field = &field, .bytes = in.bytes, .size = size};
    snprintf(field.as.number.key, sizeof(field.as.number.key), "%s", key);
    fby_err err = fby_field_write(transform, &job, value, why);
    fby_guarded_free(&in);
    return err;
}

static void refuses(const char *key, const char *text, const char *words)
{
    uint8_t                 value[8];
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        read_number(key, text, strlen(text), value, &why), FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

/* An object with `times` nested arrays, `depth` levels in all. */
static fby_err read_nested(int depth, int times, struct fby_error_detail *why)
{
    uint8_t           value[8];
    struct fby_buffer text = {0};
    put_text(&text, "{\"k\": 1, \"a\": [0");
    for (int i = 0; i < times; i++) {
        put_text(&text, ", ");
        for (int k = 2; k < depth; k++) {
            fby_put_u8(&text, '[');
        }
        for (int k = 2; k < depth; k++) {
            fby_put_u8(&text, ']');
        }
    }
    put_text(&text, "]}");
    fby_err err = read_number("k", text.data, text.size, value, why);
    fby_buffer_fini(&text);
    return err;
}

static void arrays_nest_to_the_depth_and_no_deeper(void **state)
{
    (void)state;
    for (int depth = 3; depth <= FBY_JSON_MAX_DEPTH + 3; depth++) {
        for (int times = 1; times <= 41; times += 40) {
            struct fby_error_detail why = {{0}};
            fby_err                 err = read_nested(depth, times, &why);
            assert_int_equal(
                err, depth <= FBY_JSON_MAX_DEPTH ? FBY_OK : FBY_BAD_SAMPLE);
            assert_true(
                err == FBY_OK || strstr(why.text, "deeper than 32") != NULL);
        }
    }
}

/* `before`, nested arrays of one level too many, then `after`. */
static fby_err read_with_arrays(
    const char *before, const char *after, struct fby_error_detail *why)
{
    uint8_t           value[8];
    struct fby_buffer text = {0};
    *why                   = (struct fby_error_detail){{0}};
    put_text(&text, before);
    for (int i = 0; i < FBY_JSON_MAX_DEPTH; i++) {
        fby_put_u8(&text, '[');
    }
    for (int i = 0; i < FBY_JSON_MAX_DEPTH; i++) {
        fby_put_u8(&text, ']');
    }
    put_text(&text, after);
    fby_err err = read_number("k", text.data, text.size, value, why);
    fby_buffer_fini(&text);
    return err;
}

/* An escaped quote does not end a text; one after an escaped backslash does. */
static void brackets_in_strings_are_not_nesting(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "\\\"", "\\\\\\\"", "\\u0022", "\\\\", "a\\\"b\\\""};
    struct fby_error_detail why;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char before[64];
        snprintf(before, sizeof(before), "{\"k\": 1, \"%sa", texts[i]);
        assert_ok(read_with_arrays(before, "\": 2}", &why));
        snprintf(before, sizeof(before), "{\"k\": 1, \"%s\": ", texts[i]);
        assert_int_equal(read_with_arrays(before, "}", &why), FBY_BAD_SAMPLE);
        assert_string_equal(why.text, "JSON is nested deeper than 32");
        snprintf(before, sizeof(before), "{\"k\": 1, \"%sa", texts[i]);
        assert_int_equal(read_with_arrays(before, "\\", &why), FBY_BAD_SAMPLE);
        assert_null(strstr(why.text, "deeper"));
    }
    assert_int_equal(read_with_arrays("{\"a\": \\", "}", &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "deeper")); /* there it escapes nothing */
}

static void many_objects_side_by_side_are_not_deep(void **state)
{
    (void)state;
    struct fby_buffer text = {0};
    uint8_t           value[8];
    put_text(&text, "{\"a\": [{}");
    for (int i = 0; i < 100; i++) {
        put_text(&text, ", {\"b\": [\"}\"]}");
    }
    put_text(&text, "], \"k\": 1}");
    assert_ok(read_number("k", text.data, text.size, value, NULL));
    fby_buffer_fini(&text);
}

static void a_member_has_its_most_bytes_and_no_more(void **state)
{
    (void)state;
    uint8_t value[8];
    char   *text = malloc(FBY_JSON_MAX_BYTES + 2);
    snprintf(text, FBY_JSON_MAX_BYTES + 2, "{\"k\": 5}%*s",
        FBY_JSON_MAX_BYTES + 1 - 8, "");
    assert_ok(read_number("k", text, FBY_JSON_MAX_BYTES, value, NULL));
    assert_int_equal(value[0], 5);
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        read_number("k", text, FBY_JSON_MAX_BYTES + 1, value, &why),
        FBY_BAD_SAMPLE);
    assert_says(&why, "at most 1048576");
    free(text);
}

static void a_wrong_value_is_shown_in_the_error(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"0.5", "it is 0.5"},
        {"1e300", "it is 1e+300"},
        {"1000000.5", "is 1e+06"},
        {"-1e300", "is -1e+300"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fby_field_content field = {.name = "f",
            .group                              = "f",
            .decode                             = FBY_DECODE_LABEL,
            .wire_type                          = FBY_U8,
            .as.label.json.key                  = "k"};
        char                     text[64];
        uint8_t                  value[8];
        struct fby_error_detail  why = {{0}};
        snprintf(text, sizeof(text), "{\"k\": %s}", cases[i][0]);
        struct fby_field_job job = {.field = &field,
            .bytes                         = (const uint8_t *)text,
            .size                          = strlen(text)};
        assert_int_equal(
            fby_field_write(transform, &job, value, &why), FBY_BAD_SAMPLE);
        assert_says(&why, cases[i][1]);
    }
}

static void the_existing_part_of_a_path_is_named(void **state)
{
    (void)state;
    refuses("a.b", "{\"a\": 5}", "no member 'a.b': 'a' is 5");
    refuses(".a", "{\"\": 5}", "no member '.a': '' is 5");
    refuses("a.b.c", "{\"a\": {\"b\": null}}", "'a.b.c': 'a.b' is null");
    refuses("a", "[5, 6]", "no member 'a': it is a list of 2");
}

/* As many names as fit, then dots, once. */
static void names_are_listed_until_they_are_too_many(void **state)
{
    (void)state;
    struct fby_buffer       text = {0};
    struct fby_buffer       list = {0};
    uint8_t                 value[8];
    struct fby_error_detail why = {{0}};
    put_text(&text, "{");
    for (int i = 0; i < 60; i++) {
        char name[16];
        snprintf(name, sizeof(name), "\"n%03d\": 0, ", i);
        put_text(&text, name);
        snprintf(name, sizeof(name), "n%03d, ", i);
        put_text(&list, i < 32 ? name : "");
    }
    put_text(&text, "\"n060\": 0}");
    put_text(&list, "...");
    fby_put_u8(&list, 0);
    assert_int_equal(
        read_number("something", text.data, text.size, value, &why),
        FBY_BAD_SAMPLE);
    const char *there = strstr(why.text, "there are: ");
    assert_non_null(there);
    assert_string_equal(there + 11, (const char *)list.data);
    fby_buffer_fini(&text);
    fby_buffer_fini(&list);
}

/* An entry has up to seven digits, and no 0 before others. */
static void an_entry_of_a_list_is_plain_digits(void **state)
{
    (void)state;
    uint8_t           value[8];
    struct fby_buffer text = {0};
    put_text(&text, "{\"k\": [0");
    for (int i = 1; i <= 100; i++) {
        char   number[8];
        size_t n = (size_t)snprintf(number, sizeof(number), ", %d", i);
        fby_put_bytes(&text, number, n);
    }
    put_text(&text, "]}");
    static const char *const keys[]  = {"k.0", "k.9", "k.10", "k.99", "k.100"};
    static const uint8_t     right[] = {0, 9, 10, 99, 100};
    for (size_t i = 0; i < sizeof(right); i++) {
        assert_ok(read_number(keys[i], text.data, text.size, value, NULL));
        assert_int_equal(value[0], right[i]);
    }
    static const char *const wrong[] = {
        "k.101", "k.00", "k.0000001", "k.00000001", "k.1x", "k.", "k.-1"};
    fby_put_u8(&text, 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        refuses(wrong[i], (const char *)text.data, "no member");
    }
    fby_buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_nest_to_the_depth_and_no_deeper),
        cmocka_unit_test(brackets_in_strings_are_not_nesting),
        cmocka_unit_test(many_objects_side_by_side_are_not_deep),
        cmocka_unit_test(a_member_has_its_most_bytes_and_no_more),
        cmocka_unit_test(a_wrong_value_is_shown_in_the_error),
        cmocka_unit_test(the_existing_part_of_a_path_is_named),
        cmocka_unit_test(names_are_listed_until_they_are_too_many),
        cmocka_unit_test(an_entry_of_a_list_is_plain_digits),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.json", tests, open_transform, close_transform);
}
