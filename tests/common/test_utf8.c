/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "tests/guard.h"

static void takes(const char *text)
{
    assert_true(fby_is_utf8(text, strlen(text)));
}

static void refuses(const char *text)
{
    assert_false(fby_is_utf8(text, strlen(text)));
}

static void the_ends_of_each_length_are_utf8(void **state)
{
    (void)state;
    takes("");
    takes("\x01\x7f");
    takes("\xc2\x80\xdf\xbf");
    takes("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf");
    takes("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}

static void long_forms_surrogates_and_cut_characters_are_not(void **state)
{
    (void)state;
    refuses("\x80");
    refuses("\xc1\xbf");
    refuses("\xc2");
    refuses("\xc2z");
    refuses("\xe0\x9f\xbf");
    refuses("\xed\xa0\x80");
    refuses("\xe1\x80");
    refuses("\xe1\x80z");
    refuses("\xf0\x8f\xbf\xbf");
    refuses("\xf4\x90\x80\x80");
    refuses("\xf5\x80\x80\x80");
    refuses("\xf1\x80\x80z");
}

static void nul_is_not_text(void **state)
{
    (void)state;
    assert_false(fby_is_utf8("a\0b", 3));
}

static void a_character_has_as_many_bytes_as_it_says(void **state)
{
    (void)state;
    assert_int_equal(fby_utf8_length("az", 2), 1);
    assert_int_equal(fby_utf8_length("\xc3\xa9z", 3), 2);
    assert_int_equal(fby_utf8_length("\xe2\x82\xac", 3), 3);
    assert_int_equal(fby_utf8_length("\xe2\x82\xac", 2), 0);
    assert_int_equal(fby_utf8_length("\xf0\x9f\x98\x80", 4), 4);
    assert_int_equal(fby_utf8_length("", 1), 0);
    assert_int_equal(fby_utf8_length("\xc3z", 2), 0);
    assert_int_equal(fby_utf8_length("\xe2\x82z", 3), 0);
    assert_int_equal(fby_utf8_length("\xf0\x9f\x98z", 4), 0);
}

static void nothing_behind_the_end_is_read(void **state)
{
    (void)state;
    static const char *const cut[] = {
        "\xc3", "\xe2", "\xe2\x82", "\xf0", "\xf0\x9f", "\xf0\x9f\x98"};
    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        size_t             size = strlen(cut[i]);
        struct fby_guarded text = fby_guarded_copy(cut[i], size);
        assert_int_equal(fby_utf8_length(text.bytes, size), 0);
        assert_false(fby_is_utf8(text.bytes, size));
        fby_guarded_free(&text);
    }
    struct fby_guarded whole = fby_guarded_copy("a\xc3\xa9", 3);
    assert_true(fby_is_utf8(whole.bytes, 3));
    assert_true(fby_is_utf8(whole.bytes + 3, 0));
    fby_guarded_free(&whole);
}

static void characters_that_change_what_is_shown_are_replaced(void **state)
{
    (void)state;
    static const uint8_t hidden[][2] = {{0x80, 0x8e}, {0x80, 0x8f},
        {0x80, 0xa8}, {0x80, 0xae}, {0x81, 0xa6}, {0x81, 0xa9}};
    static const uint8_t shown[][2] = {{0x80, 0x8d}, {0x80, 0x90}, {0x80, 0xa7},
        {0x80, 0xaf}, {0x81, 0xa5}, {0x81, 0xaa}};
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        char text[] = {
            'a', '\xe2', (char)hidden[i][0], (char)hidden[i][1], 'b', '\0'};
        char other[] = {'\xe2', (char)shown[i][0], (char)shown[i][1], '\0'};
        assert_true(fby_utf8_has_hidden(text, strlen(text)));
        assert_false(fby_utf8_has_control(text, strlen(text)));
        assert_false(fby_utf8_has_hidden(other, strlen(other)));
        fby_make_one_line(text);
        assert_string_equal(text, "a?b");
    }
}

static void control_characters_of_two_bytes_are_found(void **state)
{
    (void)state;
    assert_true(fby_utf8_has_control("a\x1f", 2));
    assert_true(fby_utf8_has_control("a\x7f", 2));
    assert_true(fby_utf8_has_control("a\0b", 3));
    assert_true(fby_utf8_has_control("a\xc2\x80", 3));
    assert_true(fby_utf8_has_control("a\xc2\x9f", 3));
    assert_false(fby_utf8_has_control("a\xc2\xa0", 3));
    assert_false(fby_utf8_has_control("\xc3\x80 \xe2\x82\x9f", 6));
    assert_false(fby_utf8_has_control("\x80\xc2", 2)); /* not UTF-8 */
    assert_false(fby_utf8_has_control("", 0));
}

static void assert_one_line(const char *from, const char *wanted)
{
    char text[32];
    snprintf(text, sizeof(text), "%s", from);
    fby_make_one_line(text);
    assert_string_equal(text, wanted);
}

static void one_line_has_only_characters_that_can_be_printed(void **state)
{
    (void)state;
    assert_one_line("", "");
    assert_one_line("a\xc3\xa9\xf0\x9f\x98\x80z", "a\xc3\xa9\xf0\x9f\x98\x80z");
    assert_one_line("a\n\x1b\x7f", "a???");
    assert_one_line("a\xc2\x9b"
                    "31m\xc2\xa0",
        "a?31m\xc2\xa0");
    assert_one_line("\xff"
                    "a\xe2\x82",
        "?a??");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ends_of_each_length_are_utf8),
        cmocka_unit_test(long_forms_surrogates_and_cut_characters_are_not),
        cmocka_unit_test(nul_is_not_text),
        cmocka_unit_test(a_character_has_as_many_bytes_as_it_says),
        cmocka_unit_test(nothing_behind_the_end_is_read),
        cmocka_unit_test(characters_that_change_what_is_shown_are_replaced),
        cmocka_unit_test(control_characters_of_two_bytes_are_found),
        cmocka_unit_test(one_line_has_only_characters_that_can_be_printed),
    };
    return cmocka_run_group_tests_name("common.utf8", tests, NULL, NULL);
}
