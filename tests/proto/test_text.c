#include "tests/test.h"

#include "proto/text.h"

static void plain_text_has_no_control_characters(void **state)
{
    (void)state;
    assert_true(text_is_plain("caf\xc3\xa9 ~", 7));
    assert_false(text_is_plain("a\nb", 3));
    assert_false(text_is_plain("\x7f", 1));
}

static void mending_replaces_and_never_cuts_a_character(void **state)
{
    (void)state;
    uint8_t out[8];
    assert_int_equal(text_mend("a\tb\xff", out, sizeof(out)), 4);
    assert_memory_equal(out, "a b?", 4);
    assert_int_equal(text_mend("1234567\xc3\xa9", out, sizeof(out)), 7);
    assert_memory_equal(out, "1234567", 7);
}

static void mended_bytes_are_always_plain(void **state)
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
        assert_true(text_is_plain(out, text_mend(text, out, sizeof(out))));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_has_no_control_characters),
        cmocka_unit_test(mending_replaces_and_never_cuts_a_character),
        cmocka_unit_test(mended_bytes_are_always_plain),
    };
    return cmocka_run_group_tests_name("proto.text", tests, NULL, NULL);
}
