/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "proto/text.h"
#include "tests/guard.h"

static void plain_text_has_no_control_characters(void **state)
{
    (void)state;
    assert_true(text_is_plain("caf\xc3\xa9 ~", 7));
    assert_false(text_is_plain("a\nb", 3));
    assert_false(text_is_plain("\x7f", 1));
}

static void each_byte_by_itself_is_plain_or_not(void **state)
{
    (void)state;
    for (int i = 1; i < 256; i++) {
        char    text[2] = {(char)i, '\0'};
        uint8_t out[1]  = {0};
        bool    plain   = i >= 0x20 && i < 0x7f;
        assert_int_equal(text_is_plain(text, 1), plain);
        assert_int_equal(text_sanitize(text, out, 1), 1);
        assert_int_equal(out[0], plain ? i : i < 0x80 ? ' ' : '?');
    }
    assert_false(text_is_plain("\0", 1));
    assert_true(text_is_plain("", 0));
}

static void a_text_fills_its_room_and_no_more(void **state)
{
    (void)state;
    for (size_t room = 0; room <= 8; room++) {
        struct fby_guarded out = fby_guarded_copy(NULL, room);
        assert_int_equal(text_sanitize("12345678", out.bytes, room), room);
        assert_memory_equal(out.bytes, "12345678", room);
        size_t whole = room / 2 * 2;
        assert_int_equal(
            text_sanitize("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", out.bytes, room),
            whole);
        fby_guarded_free(&out);
    }
}

static void sanitizing_replaces_bytes_and_cuts_no_character(void **state)
{
    (void)state;
    uint8_t out[8];
    assert_int_equal(text_sanitize("a\tb\xff", out, sizeof(out)), 4);
    assert_memory_equal(out, "a b?", 4);
    assert_int_equal(text_sanitize("1234567\xc3\xa9", out, sizeof(out)), 7);
    assert_memory_equal(out, "1234567", 7);
}

static void sanitized_bytes_are_always_plain(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        char    text[33];
        uint8_t out[24];
        for (size_t i = 0; i + 1 < sizeof(text); i++) {
            seed    = seed * UINT32_C(1664525) + UINT32_C(1013904223);
            text[i] = (char)(seed >> 24 | 1);
        }
        text[sizeof(text) - 1] = '\0';
        assert_true(text_is_plain(out, text_sanitize(text, out, sizeof(out))));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_has_no_control_characters),
        cmocka_unit_test(each_byte_by_itself_is_plain_or_not),
        cmocka_unit_test(a_text_fills_its_room_and_no_more),
        cmocka_unit_test(sanitizing_replaces_bytes_and_cuts_no_character),
        cmocka_unit_test(sanitized_bytes_are_always_plain),
    };
    return cmocka_run_group_tests_name("proto.text", tests, NULL, NULL);
}
