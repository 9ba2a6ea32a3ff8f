/* Words that were meant: how far away they may be. */
#include "tests/test.h"

#include <stdbool.h>
#include <string.h>

#include "common/pipeline/nearest.h"

static bool means(const char *word, const char *name)
{
    const char *const names[] = {name};
    const char       *best    = fby_nearest_of(word, names, 1);
    assert_true(best == NULL || best == name);
    return best != NULL;
}

static void a_third_of_the_letters_may_differ(void **state)
{
    (void)state;
    assert_true(means("abcdef", "abcdef"));
    assert_true(means("abcdxx", "abcdef"));
    assert_false(means("abcxxx", "abcdef"));
    assert_true(means("abcde", "abcdefg")); /* two are missing */
    assert_true(means("abcdefg", "abcde"));
    assert_false(means("abcd", "abcdefg"));
    assert_true(means("abxx", "abx"));
    assert_true(means("abxxx", "abx"));
    assert_false(means("abxxxx", "abx"));
    assert_true(means("axxxx", "ayxxx"));
    assert_true(means("abcdefxx", "abcdefgh"));
    assert_false(means("abcdxxxx", "abcdefg"));
    assert_true(means("xxbcdefg", "abcdefg"));
}

static void short_words_differ_in_one_letter_at_most(void **state)
{
    (void)state;
    assert_false(means("a", "b"));
    assert_true(means("a", "a"));
    assert_true(means("a", "ab"));
    assert_true(means("ab", "a"));
    assert_true(means("ab", "ax"));
    assert_false(means("ab", "xy"));
    assert_false(means("", "a"));
    assert_false(means("", ""));
}

static void a_swap_of_neighbours_is_one_step(void **state)
{
    (void)state;
    assert_true(means("ba", "ab"));
    assert_true(means("bac", "abc"));
    assert_true(means("acb", "abc"));
    assert_false(means("cba", "abc"));
    assert_true(means("badc", "abcd") == means("xbcx", "abcd"));
    assert_true(means("bacde", "abcde") && means("badce", "abcde"));
    assert_false(means("bacx", "abcd"));
}

static void the_nearest_one_is_meant_and_of_two_the_first(void **state)
{
    (void)state;
    static const char *const names[] = {"abcdxx", "abcdef", "abcdeg", "abcdex"};
    assert_string_equal(fby_nearest_of("abcdef", names, 4), "abcdef");
    assert_string_equal(fby_nearest_of("abcdez", names, 4), "abcdef");
    assert_string_equal(fby_nearest_of("abcdez", names, 1), "abcdxx");
    assert_string_equal(fby_nearest_of("abcdeg", names, 4), "abcdeg");
    assert_string_equal(fby_nearest_of("abcdxx", names + 1, 3), "abcdex");
    assert_null(fby_nearest_of("zzzzzz", names, 4));
    assert_null(fby_nearest_of("abcdef", names, 0));
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
    assert_true(means(word, name));
    name[62] = 'x';
    name[63] = '\0';
    assert_true(means(word, name));
    name[63] = 'x';
    name[64] = '\0';
    assert_false(means(word, name));
    assert_false(means(name, word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_third_of_the_letters_may_differ),
        cmocka_unit_test(short_words_differ_in_one_letter_at_most),
        cmocka_unit_test(a_swap_of_neighbours_is_one_step),
        cmocka_unit_test(the_nearest_one_is_meant_and_of_two_the_first),
        cmocka_unit_test(words_have_at_most_63_letters),
    };
    return cmocka_run_group_tests_name(
        "common.pipeline.nearest", tests, NULL, NULL);
}
