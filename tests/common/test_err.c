/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>

#include "common/err.h"
#include "common/utf8.h"

static void every_code_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int i = FBY_OK; i <= FBY_SYS; i++) {
        assert_string_not_equal(fby_strerror((fby_err)i), "unknown error");
    }
    assert_string_equal(fby_strerror((fby_err)(FBY_SYS + 1)), "unknown error");
    assert_string_equal(fby_strerror((fby_err)-1), "unknown error");
}

static void the_outer_words_come_first(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        fby_error_set(&why, FBY_CONFIG, "key %d is missing", 3), FBY_CONFIG);
    assert_int_equal(
        fby_error_prefix(&why, FBY_PROTO, "field '%s'", "x"), FBY_PROTO);
    assert_string_equal(why.text, "field 'x': key 3 is missing");
}

static void without_details_the_text_of_the_code_is_used(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    fby_error_prefix(&why, FBY_GONE, "worker 7");
    assert_string_equal(why.text, "worker 7: peer left");
    assert_int_equal(fby_error_set(NULL, FBY_GONE, "no detail"), FBY_GONE);
    assert_int_equal(fby_error_prefix(NULL, FBY_IO, "no detail"), FBY_IO);
}

static void without_an_error_nothing_is_prefixed(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_int_equal(fby_error_prefix(&why, FBY_OK, "worker 7"), FBY_OK);
    assert_string_equal(why.text, "");
}

enum { ROOM = sizeof(((struct fby_error_detail *)0)->text) - 1 };

static void text_that_does_not_fit_is_cut(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    fby_error_set(&why, FBY_IO, "%*s", ROOM + 1, "x");
    assert_int_equal(strlen(why.text), ROOM);
}

static void the_cause_is_never_cut(void **state)
{
    (void)state;
    static const char       cause[] = "...: a name has at most 63 bytes";
    struct fby_error_detail why     = {{0}};
    fby_error_set(&why, FBY_IO, "%s", "a name has at most 63 bytes");
    fby_error_prefix(&why, FBY_IO, "shard %0*d", ROOM, 7);
    assert_int_equal(strlen(why.text), ROOM);
    assert_memory_equal(why.text, "shard 0000", 10);
    assert_string_equal(why.text + ROOM + 1 - sizeof(cause), cause);
    struct fby_error_detail full = why; /* it has no room for more */
    fby_error_prefix(&why, FBY_IO, "split train");
    assert_string_equal(why.text, full.text);
}

/* "outer: cause" if it fits. Otherwise the outer text is cut and ends in dots;
 * if not even one letter of it fits, the cause alone. */
static void joined(size_t outer, size_t cause, char out[2 * ROOM + 4])
{
    size_t room = ROOM - cause;
    size_t most = room < 3 ? 0 : room - 2;
    size_t n    = outer <= most ? outer : most < 4 ? 0 : most - 3;
    memset(out, 'o', n);
    const char *between = outer > n && n > 0 ? "...: " : n > 0 ? ": " : "";
    size_t      at      = n + strlen(between);
    memcpy(out + n, between, strlen(between));
    memset(out + at, 'c', cause);
    out[at + cause] = '\0';
}

static void outer_words_and_cause_share_the_room(void **state)
{
    (void)state;
    char outer_words[ROOM + 1];
    char cause_words[ROOM + 1];
    char wanted[2 * ROOM + 4];
    memset(outer_words, 'o', sizeof(outer_words));
    memset(cause_words, 'c', sizeof(cause_words));
    for (size_t cause = 1; cause <= ROOM; cause += cause < ROOM - 12 ? 9 : 1) {
        for (size_t outer = 1; outer <= 40; outer++) {
            struct fby_error_detail why = {{0}};
            fby_error_set(&why, FBY_IO, "%.*s", (int)cause, cause_words);
            fby_error_prefix(&why, FBY_IO, "%.*s", (int)outer, outer_words);
            joined(outer, cause, wanted);
            assert_string_equal(why.text, wanted);
        }
    }
}

static void outer_words_are_cut_between_characters(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct fby_error_detail why = {{0}};
        fby_error_set(&why, FBY_IO, "%0*d", ROOM - 20 + i, 7);
        fby_error_prefix(&why, FBY_IO, "%s",
            "\u00e4\u20ac\u00e4\u20ac\u00e4\u20ac\u00e4\u20ac\u00e4\u20ac");
        assert_true(fby_is_utf8(why.text, strlen(why.text)));
        assert_non_null(strstr(why.text, "...: 000"));
    }
}

static void control_characters_are_no_part_of_it(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    fby_error_set(
        &why, FBY_USAGE, "'%s' is no address", "tcp://\n\x1b[31m\x7f");
    assert_string_equal(why.text, "'tcp://??[31m?' is no address");
    fby_error_prefix(&why, FBY_USAGE, "%s", "a\tb\r");
    assert_string_equal(why.text, "a?b?: 'tcp://??[31m?' is no address");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_text_of_its_own),
        cmocka_unit_test(the_outer_words_come_first),
        cmocka_unit_test(without_details_the_text_of_the_code_is_used),
        cmocka_unit_test(without_an_error_nothing_is_prefixed),
        cmocka_unit_test(text_that_does_not_fit_is_cut),
        cmocka_unit_test(the_cause_is_never_cut),
        cmocka_unit_test(outer_words_and_cause_share_the_room),
        cmocka_unit_test(outer_words_are_cut_between_characters),
        cmocka_unit_test(control_characters_are_no_part_of_it),
    };
    return cmocka_run_group_tests_name("common.err", tests, NULL, NULL);
}
