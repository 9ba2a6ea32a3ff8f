/* SPDX-License-Identifier: Apache-2.0 */
/* The suggestion for a misspelled word, and its maximum distance. */
#include "tests/test.h"

#include <stdbool.h>
#include <string.h>

#include "pipeline/nearest.h"

static bool is_near(const char *word, const char *name)
{
    const char *const names[] = {name};
    const char       *best    = fby_nearest_find(word, names, 1);
    assert_true(best == NULL || best == name);
    return best != NULL;
}

static void a_third_of_the_letters_may_differ(void **state)
{
    (void)state;
    assert_true(is_near("abcdef", "abcdef"));
    assert_true(is_near("abcdxx", "abcdef"));
    assert_false(is_near("abcxxx", "abcdef"));
    assert_true(is_near("abcde", "abcdefg")); /* two are missing */
    assert_true(is_near("abcdefg", "abcde"));
    assert_false(is_near("abcd", "abcdefg"));
    assert_true(is_near("abxx", "abx"));
    assert_true(is_near("abxxx", "abx"));
    assert_false(is_near("abxxxx", "abx"));
    assert_true(is_near("axxxx", "ayxxx"));
    assert_true(is_near("abcdefxx", "abcdefgh"));
    assert_false(is_near("abcdxxxx", "abcdefg"));
    assert_true(is_near("xxbcdefg", "abcdefg"));
}

static void short_words_differ_in_one_letter_at_most(void **state)
{
    (void)state;
    assert_false(is_near("a", "b"));
    assert_true(is_near("a", "a"));
    assert_true(is_near("a", "ab"));
    assert_true(is_near("ab", "a"));
    assert_true(is_near("ab", "ax"));
    assert_false(is_near("ab", "xy"));
    assert_false(is_near("", "a"));
    assert_false(is_near("", ""));
}

static void a_swap_of_neighbours_is_one_step(void **state)
{
    (void)state;
    assert_true(is_near("ba", "ab"));
    assert_true(is_near("bac", "abc"));
    assert_true(is_near("acb", "abc"));
    assert_false(is_near("cba", "abc"));
    assert_true(is_near("badc", "abcd") == is_near("xbcx", "abcd"));
    assert_true(is_near("bacde", "abcde") && is_near("badce", "abcde"));
    assert_false(is_near("bacx", "abcd"));
}

static void the_nearest_name_is_found_and_of_two_the_first(void **state)
{
    (void)state;
    static const char *const names[] = {"abcdxx", "abcdef", "abcdeg", "abcdex"};
    assert_string_equal(fby_nearest_find("abcdef", names, 4), "abcdef");
    assert_string_equal(fby_nearest_find("abcdez", names, 4), "abcdef");
    assert_string_equal(fby_nearest_find("abcdez", names, 1), "abcdxx");
    assert_string_equal(fby_nearest_find("abcdeg", names, 4), "abcdeg");
    assert_string_equal(fby_nearest_find("abcdxx", names + 1, 3), "abcdex");
    assert_null(fby_nearest_find("zzzzzz", names, 4));
    assert_null(fby_nearest_find("abcdef", names, 0));
}

static void words_have_at_most_63_letters(void **state)
{
    (void)state;
    char word[65];
    char name[65];
    memset(word, 'x', sizeof(word));
    memset(name, 'x', sizeof(name));
    word[63] = '\0';
    name[62] = '\0';
    assert_true(is_near(word, name));
    name[62] = 'x';
    name[63] = '\0';
    assert_true(is_near(word, name));
    name[63] = 'x';
    name[64] = '\0';
    assert_false(is_near(word, name));
    assert_false(is_near(name, word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_third_of_the_letters_may_differ),
        cmocka_unit_test(short_words_differ_in_one_letter_at_most),
        cmocka_unit_test(a_swap_of_neighbours_is_one_step),
        cmocka_unit_test(the_nearest_name_is_found_and_of_two_the_first),
        cmocka_unit_test(words_have_at_most_63_letters),
    };
    return cmocka_run_group_tests_name("pipeline.nearest", tests, NULL, NULL);
}
