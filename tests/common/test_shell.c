/* SPDX-License-Identifier: Apache-2.0 */
/* Words of shell commands, also as a shell reads them. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "common/shell.h"

static void assert_quoted(const char *word, const char *right)
{
    char out[64];
    assert_true(fby_shell_quote(word, out, sizeof(out)));
    assert_string_equal(out, right);
}

static void a_word_is_quoted_only_if_it_needs_to_be(void **state)
{
    (void)state;
    assert_quoted("/d/train-{0..9}.tar", "'/d/train-{0..9}.tar'");
    assert_quoted("/d/a_b-c+d=e.f:g,h@i%", "/d/a_b-c+d=e.f:g,h@i%");
    assert_quoted("my data", "'my data'");
    assert_quoted("it's", "'it'\\''s'");
    assert_quoted("", "''");
    assert_quoted("b\xc3\xa9", "'b\xc3\xa9'");
    assert_quoted("-o", "-o");
    assert_true(fby_shell_is_plain("a/b.tar"));
    assert_false(fby_shell_is_plain("-o"));
    assert_true(fby_shell_is_plain(""));
    assert_false(fby_shell_is_plain("~"));
}

static void control_characters_become_numbers(void **state)
{
    (void)state;
    assert_quoted("a\nb", "$'a\\012b'");
    assert_quoted("\x1b's\\", "$'\\033\\'s\\\\'");
    assert_quoted("\xe2\x80\x8e\xe2\x82\xac", "$'\\342\\200\\216\xe2\x82\xac'");
    assert_quoted("\xff", "$'\\377'");
    assert_quoted("\xc2\x85\xc3\xa9", "$'\\302\\205\xc3\xa9'");
}

static void a_word_that_does_not_fit_is_not_cut(void **state)
{
    (void)state;
    static const char *const words[] = {"abc", "a b", "'", "\x01", "\xff\xff"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char   whole[32];
        char   out[32];
        size_t most = 4 * strlen(words[i]) + 4;
        assert_true(fby_shell_quote(words[i], whole, most));
        for (size_t size = 1; size <= strlen(whole); size++) {
            assert_false(fby_shell_quote(words[i], out, size));
            assert_string_equal(out, "");
        }
        assert_true(fby_shell_quote(words[i], out, strlen(whole) + 1));
    }
}

static void a_text_in_two_pairs_of_quotes_has_no_special_characters(
    void **state)
{
    (void)state;
    assert_true(fby_shell_is_quotable("my file (1) & \xc3\xa9.png"));
    assert_true(fby_shell_is_quotable(""));
    for (const char *c = "\"$`\\'!\n\x1b\xff"; *c != '\0'; c++) {
        const char text[] = {'a', *c, 'b', '\0'};
        assert_false(fby_shell_is_quotable(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_quoted_only_if_it_needs_to_be),
        cmocka_unit_test(control_characters_become_numbers),
        cmocka_unit_test(a_word_that_does_not_fit_is_not_cut),
        cmocka_unit_test(
            a_text_in_two_pairs_of_quotes_has_no_special_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
