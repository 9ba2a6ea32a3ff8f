#include "tests/test.h"

#include <string.h>

#include "common/err.h"

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
    struct fby_why why = {{0}};
    assert_int_equal(
        fby_because(&why, FBY_CONFIG, "key %d is missing", 3), FBY_CONFIG);
    assert_int_equal(
        fby_because_in(&why, FBY_PROTO, "field '%s'", "x"), FBY_PROTO);
    assert_string_equal(why.text, "field 'x': key 3 is missing");
}

static void where_nothing_was_said_the_code_speaks(void **state)
{
    (void)state;
    struct fby_why why = {{0}};
    fby_because_in(&why, FBY_GONE, "worker 7");
    assert_string_equal(why.text, "worker 7: peer left");
    assert_int_equal(fby_because(NULL, FBY_GONE, "nobody asks"), FBY_GONE);
    assert_int_equal(fby_because_in(NULL, FBY_IO, "nobody asks"), FBY_IO);
}

static void what_does_not_fit_is_cut(void **state)
{
    (void)state;
    enum { ROOM = sizeof(((struct fby_why *)0)->text) - 1 };
    struct fby_why why = {{0}};
    for (int i = 0; i < 100; i++) {
        fby_because_in(&why, FBY_IO, "%s", "twelve words");
        assert_in_range(strlen(why.text), 1, ROOM);
    }
    assert_int_equal(strlen(why.text), ROOM);
    assert_memory_equal(why.text, "twelve words: twelve words: ", 28);
    fby_because_in(&why, FBY_IO, "%*s", ROOM, "x");
    assert_int_equal(why.text[ROOM - 1], 'x');
    assert_int_equal(strlen(why.text), ROOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_text_of_its_own),
        cmocka_unit_test(the_outer_words_come_first),
        cmocka_unit_test(where_nothing_was_said_the_code_speaks),
        cmocka_unit_test(what_does_not_fit_is_cut),
    };
    return cmocka_run_group_tests_name("common.err", tests, NULL, NULL);
}
