/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>

#include "common/utf8.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"

static void names_are_short_ascii_words(void **state)
{
    (void)state;
    char long_name[65];
    memset(long_name, 'a', 64);
    long_name[64] = '\0';
    assert_false(fby_text_is_name(long_name));
    assert_true(fby_text_is_name(long_name + 1));
    assert_true(fby_text_is_name("_Left-eye2"));
    assert_false(fby_text_is_name(""));
    assert_false(fby_text_is_name("2nd"));
    assert_false(fby_text_is_name("a b"));
    assert_false(fby_text_is_name("\xc3\xa9"));
}

static void extensions_are_lower_case_with_inner_dots(void **state)
{
    (void)state;
    assert_true(fby_text_is_extension("left.jpg"));
    assert_true(fby_text_is_extension("7z"));
    assert_false(fby_text_is_extension(""));
    assert_false(fby_text_is_extension("JPG"));
    assert_false(fby_text_is_extension(".jpg"));
    assert_false(fby_text_is_extension("jpg."));
    assert_false(fby_text_is_extension("a/b"));
}

static void an_ending_has_something_before_it(void **state)
{
    (void)state;
    assert_true(fby_text_ends_with("a.csv", ".csv"));
    assert_false(fby_text_ends_with(".csv", ".csv"));
    assert_false(fby_text_ends_with("csv", ".csv"));
    assert_false(fby_text_ends_with("a.csv.gz", ".csv"));
}

static void a_text_is_shown_on_one_short_line(void **state)
{
    (void)state;
    assert_string_equal(fby_text_show("plain").text, "plain");
    assert_string_equal(fby_text_show("a\nb\x1b[0m").text, "a?b?[0m");
    assert_string_equal(fby_text_show("a\xc2\x9b"
                                      "b\xff")
                            .text,
        "a?b?");
    char long_text[200];
    memset(long_text, 'x', sizeof(long_text));
    long_text[199] = '\0';
    memcpy(long_text + 59, "\xc3\xa9", 2);
    struct fby_shown shown = fby_text_show(long_text);
    assert_int_equal(strlen(shown.text), 62);
    assert_string_equal(shown.text + 57, "xx...");
    assert_true(fby_is_utf8(shown.text, strlen(shown.text)));
    memset(long_text, 0x80, 199); /* no letter begins anywhere */
    assert_string_equal(fby_text_show(long_text).text, "...");
}

static void the_begin_of_a_text_ends_with_a_whole_character(void **state)
{
    (void)state;
    assert_string_equal(fby_text_show_begin("plain", 5).text, "plain");
    assert_string_equal(fby_text_show_begin("plain", 4).text, "plai");
    assert_string_equal(fby_text_show_begin("", 4).text, "");
    assert_string_equal(fby_text_show_begin("ab\xc3\xa9", 3).text, "ab");
    assert_string_equal(
        fby_text_show_begin("ab\xc3\xa9", 4).text, "ab\xc3\xa9");
    assert_string_equal(fby_text_show_begin("\xe2\x82\xac", 2).text, "");
    assert_string_equal(fby_text_show_begin("a\nb\xff", 3).text, "a?b");
}

static const char *near(const char *word)
{
    static const char *const names[] = {
        "resize", "center_crop", "random_crop", "horizontal_flip", "p"};
    return fby_nearest_find(word, names, 5);
}

static void the_nearest_name_is_the_one_meant(void **state)
{
    (void)state;
    assert_string_equal(near("rezise"), "resize");
    assert_string_equal(near("resise"), "resize");
    assert_string_equal(near("centre_crop"), "center_crop");
    assert_string_equal(near("randomcrop"), "random_crop");
    assert_string_equal(near("horizontalflip"), "horizontal_flip");
    assert_string_equal(near("esize"), "resize");
}

static void a_word_that_is_near_to_none_has_no_nearest(void **state)
{
    (void)state;
    assert_null(near("blur"));
    assert_null(near(""));
    assert_null(near("q"));
    char long_word[300];
    memset(long_word, 'r', sizeof(long_word));
    long_word[299] = '\0';
    assert_null(near(long_word));
}

static void a_list_that_is_too_long_is_cut(void **state)
{
    (void)state;
    char list[12] = "";
    fby_text_append_name(list, sizeof(list), "ab");
    assert_string_equal(list, "ab");
    fby_text_append_name(list, sizeof(list), "cd");
    assert_string_equal(list, "ab, cd");
    fby_text_append_name(list, sizeof(list), "efgh");
    assert_string_equal(list, "ab, cd, efg");
    fby_text_append_name(list, sizeof(list), "i");
    assert_string_equal(list, "ab, cd, efg");
}

static void coordinates_are_known_by_their_names(void **state)
{
    (void)state;
    static const char *const names[]  = {"boxes", "BBox", "gt_boxes", "kp",
         "face-landmarks", "annotation.bbox", "boxes.npy", "x_min", "xmax",
         "xtl", "point1", "face_pt0", "box2d"};
    static const char *const others[] = {"", "label", "inbox", "boxer",
        "boxes_of", "x", "npy", "a.min", "pt", "opt1", "1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(fby_text_is_coordinates(names[i]));
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(fby_text_is_coordinates(others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_short_ascii_words),
        cmocka_unit_test(extensions_are_lower_case_with_inner_dots),
        cmocka_unit_test(an_ending_has_something_before_it),
        cmocka_unit_test(a_text_is_shown_on_one_short_line),
        cmocka_unit_test(coordinates_are_known_by_their_names),
        cmocka_unit_test(the_begin_of_a_text_ends_with_a_whole_character),
        cmocka_unit_test(a_list_that_is_too_long_is_cut),
        cmocka_unit_test(the_nearest_name_is_the_one_meant),
        cmocka_unit_test(a_word_that_is_near_to_none_has_no_nearest),
    };
    return cmocka_run_group_tests_name("pipeline.text", tests, NULL, NULL);
}
