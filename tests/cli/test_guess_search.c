/* SPDX-License-Identifier: Apache-2.0 */
/* How `forebay init` judges names, values of a list and members of samples,
 * without a directory. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_members.h"
#include "cli/init/guess_search.h"
#include "cli/init/guess_values.h"
#include "cli/init/split_names.h"
#include "tests/test.h"
#include "tests/worker/source/memory_object.h"
#include "tests/worker/source/sandbox.h"

static struct fby_guess guess; /* too large for a stack */

/* ---- values -------------------------------------------------------------- */

static struct fby_init_member of_values(const char *const *texts, size_t n)
{
    struct fby_init_member member = {.value = FBY_INIT_NO_VALUE};
    for (size_t i = 0; i < n; i++) {
        fby_guess_add_value(&member, texts[i], strlen(texts[i]));
    }
    return member;
}

static struct fby_init_member of_value(const char *text)
{
    return of_values(&text, 1);
}

static void a_value_is_what_its_text_says(void **state)
{
    (void)state;
    static const struct {
        const char         *text;
        enum fby_init_value value;
    } rows[] = {
        {"0", FBY_INIT_DIGITS},
        {"0123456789", FBY_INIT_TEXT}, /* no JSON number begins with 0 */
        {"012345678", FBY_INIT_DIGITS},
        {"999999999", FBY_INIT_DIGITS},
        {"1999999999", FBY_INIT_NUMBER},
        {"1:", FBY_INIT_TEXT},
        {"1/", FBY_INIT_TEXT},
        {"-1", FBY_INIT_NUMBER},
        {"+1", FBY_INIT_TEXT},
        {"1.5", FBY_INIT_NUMBER},
        {"1e5", FBY_INIT_NUMBER},
        {" 1", FBY_INIT_NUMBER},
        {"\t1", FBY_INIT_NUMBER},
        {"2.0", FBY_INIT_NUMBER},
        {"3.0", FBY_INIT_NUMBER},
        {"4.0", FBY_INIT_NUMBER},
        {"5.0", FBY_INIT_NUMBER},
        {"6.0", FBY_INIT_NUMBER},
        {"7.0", FBY_INIT_NUMBER},
        {"8.0", FBY_INIT_NUMBER},
        {"9.0", FBY_INIT_NUMBER},
        {"0.0", FBY_INIT_NUMBER},
        {".5", FBY_INIT_TEXT},
        {"true", FBY_INIT_TEXT},
        {"null", FBY_INIT_TEXT},
        {"\"1\"", FBY_INIT_TEXT},
        {"word", FBY_INIT_TEXT},
        {"[1, 2", FBY_INIT_TEXT},
        {"[]", FBY_INIT_NUMBER_LISTS},
        {"[1, 2.5]", FBY_INIT_NUMBER_LISTS},
        {"[\"a\", \"b\"]", FBY_INIT_TEXT_LISTS},
        {"[\"a\", 1]", FBY_INIT_OTHER_LISTS},
        {"[1, null]", FBY_INIT_OTHER_LISTS},
        {"[[1]]", FBY_INIT_OTHER_LISTS},
        {"{}", FBY_INIT_OBJECT},
        {"{\"a\": 1}", FBY_INIT_OBJECT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fby_init_member member = of_value(rows[i].text);
        if (member.value != rows[i].value) {
            fail_msg("%s is taken for %d", rows[i].text, (int)member.value);
        }
        assert_int_equal(member.longest, strlen(rows[i].text));
    }
}

/* The kind of two values of a column, in either order. */
static enum fby_init_value of_both(const char *a, const char *b)
{
    const char            *texts[]  = {a, b};
    const char            *turned[] = {b, a};
    struct fby_init_member one      = of_values(texts, 2);
    struct fby_init_member other    = of_values(turned, 2);
    assert_int_equal(one.value, other.value);
    return one.value;
}

static void values_of_a_column_are_what_holds_for_all(void **state)
{
    (void)state;
    assert_int_equal(of_both("1", "2"), FBY_INIT_DIGITS);
    assert_int_equal(of_both("1", "2.5"), FBY_INIT_NUMBER);
    assert_int_equal(of_both("1", "a"), FBY_INIT_TEXT);
    assert_int_equal(of_both("1.5", "a"), FBY_INIT_TEXT);
    assert_int_equal(of_both("a", "b"), FBY_INIT_TEXT);
    assert_int_equal(of_both("a", "[1]"), FBY_INIT_MIXED);
    assert_int_equal(of_both("1", "[1]"), FBY_INIT_MIXED);
    assert_int_equal(of_both("[1]", "[2]"), FBY_INIT_NUMBER_LISTS);
    assert_int_equal(of_both("[1]", "[\"a\"]"), FBY_INIT_MIXED);
    assert_int_equal(of_both("[[]]", "[\"a\"]"), FBY_INIT_MIXED);
    assert_int_equal(of_both("{}", "[\"a\"]"), FBY_INIT_MIXED);
    static const char *const texts[] = {"a", "[1]", "{\"k\": 1}", "long text"};
    struct fby_init_member   mixed   = of_values(texts, 4);
    assert_int_equal(mixed.value, FBY_INIT_MIXED);
    assert_int_equal(mixed.longest, 9);
    assert_int_equal(mixed.max_length, 1);
    assert_string_equal(mixed.keys, ""); /* no longer read */
}

static void the_longest_list_and_text_are_kept(void **state)
{
    (void)state;
    static const char *const numbers[] = {"[1, 2]", "[1, 2, 3, 4]", "[7]"};
    static const char *const texts[]   = {
          "[\"ab\", \"abcde\", \"abc\"]", "[\"a\"]", "[\"a\", \"b\"]"};
    assert_int_equal(of_values(numbers, 3).max_length, 4);
    assert_int_equal(of_values(numbers, 3).longest, 12);
    assert_int_equal(of_values(texts, 3).max_length, 5);
    assert_int_equal(of_value("[1, \"abcdef\"]").max_length, 6);
    assert_int_equal(of_value("[1, null, \"a\"]").max_length, 3);
}

static void the_members_of_an_object_are_named(void **state)
{
    (void)state;
    static const char *const two[]  = {"{\"a\": 1}", "{\"b\": \"x\"}"};
    static const char *const late[] = {"{}", "{\"b\": \"x\"}", "{\"c\": 1}"};
    struct fby_init_member   member = of_values(two, 2);
    assert_string_equal(member.keys, "a");
    assert_int_equal(member.first_key_kind, FBY_INIT_NUMBER);
    member = of_values(late, 3);
    assert_string_equal(member.keys, "b");
    assert_int_equal(member.first_key_kind, FBY_INIT_TEXT);
    member = of_value("{\"l\": [1], \"t\": \"x\", \"n\": 2}");
    assert_string_equal(member.keys, "l, t, n");
    assert_int_equal(member.first_key_kind, FBY_INIT_MIXED);
    member =
        of_value("{\"o\": {\"x\": \"t\", \"y\": {\"z\": 1}}, \"A_-9\": 1}");
    assert_string_equal(member.keys, "o.x, o.y, A_-9");
    assert_int_equal(member.first_key_kind, FBY_INIT_TEXT);
    member = of_value("{\"a b\": {\"x\": 1}, \"\": 1, \"\xc3\xa4\": 2, "
                      "\"b\": {\"c.d\": 1, \"e\": 2}}");
    assert_string_equal(member.keys, "?.x, b.e");
}

/* The texts of all have 120 bytes, plus two bytes for each separator. */
static void members_are_named_as_far_as_they_fit(void **state)
{
    (void)state;
    char text[300];
    for (size_t n = 118; n <= 122; n++) {
        snprintf(text, sizeof(text), "{\"%0*d\": 1}", (int)n, 0);
        assert_int_equal(strlen(of_value(text).keys), n <= 120 ? n : 0);
        snprintf(text, sizeof(text), "{\"%0*d\": {\"abc\": 1}}", (int)n - 4, 0);
        assert_int_equal(strlen(of_value(text).keys), n - 1 <= 120 ? n : 0);
    }
    snprintf(
        text, sizeof(text), "{\"%050d\": 1, \"%071d\": 2, \"a\": 3}", 0, 0);
    assert_int_equal(strlen(of_value(text).keys), 50 + 3);
    snprintf(text, sizeof(text), "{\"%050d\": 1, \"%070d\": 2}", 0, 0);
    assert_int_equal(strlen(of_value(text).keys), 50 + 2 + 70);
}

/* ---- names --------------------------------------------------------------- */

static void words_for_splits_are_found_in_names(void **state)
{
    (void)state;
    assert_string_equal(fby_split_word("in1k-train-"), "train");
    assert_string_equal(fby_split_word("validation"), "validation");
    assert_string_equal(fby_split_word("x-valid-"), "valid");
    assert_string_equal(fby_split_word("val"), "val");
    assert_string_equal(fby_split_word("testing"), "test");
    assert_string_equal(fby_split_word("test-train"), "train");
    assert_string_equal(fby_split_word("test-val"), "val");
    assert_null(fby_split_word("tes"));
    assert_string_equal(fby_split_word("coco2017train"), "train");
    assert_string_equal(fby_split_word("latest_test"), "test");
    assert_string_equal(fby_split_word("eval"), "val");
    assert_string_equal(fby_split_word("evaluation-0"), "val");
}

static void a_split_word_within_another_word_is_none(void **state)
{
    (void)state;
    static const char *const names[] = {
        "latest", "my-contest", "interval", "invalid", "retrieval_0", "strain"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_null(fby_split_word(names[i]));
    }
}

static void folders_of_splits_have_usual_names(void **state)
{
    (void)state;
    assert_string_equal(fby_split_of_folder("Training"), "train");
    assert_string_equal(fby_split_of_folder("TEST"), "test");
    assert_null(fby_split_of_folder("eval"));
    assert_null(fby_split_of_folder("train_a"));
    assert_string_equal(fby_evaluation_split_of("val2017"), "val");
    assert_string_equal(fby_evaluation_split_of("test.zip"), "test");
    assert_null(fby_evaluation_split_of("train"));
    assert_null(fby_evaluation_split_of("tests"));
    assert_null(fby_evaluation_split_of(""));
}

static const char *named(const struct fby_search *search, const char *stem)
{
    static char name[FBY_NAME_SIZE];
    memset(name, 'x', sizeof(name));
    fby_guess_name_of_split(search, stem, name);
    return name;
}

static void a_split_has_a_name_that_no_other_one_has(void **state)
{
    (void)state;
    struct fby_search search = {.default_name = "train", .out = &guess};
    char              longest[FBY_NAME_SIZE + 8];
    memset(&guess, 0, sizeof(guess));
    assert_string_equal(named(&search, "any-"), "any");
    assert_string_equal(named(&search, "in1k-val-"), "val");
    assert_non_null(fby_guess_add_split(&search, "train"));
    assert_non_null(fby_guess_add_split(&search, "val"));
    assert_string_equal(named(&search, "test_"), "test");
    assert_string_equal(named(&search, "in1k-val-"), "in1k-val");
    assert_string_equal(named(&search, "a-_."), "a");
    assert_string_equal(named(&search, "a"), "a");
    assert_string_equal(named(&search, "a_b"), "a_b");
    assert_string_equal(named(&search, "-"), "split3");
    assert_string_equal(named(&search, "9a"), "split3");
    assert_non_null(fby_guess_add_split(&search, "a"));
    assert_string_equal(named(&search, "a-"), "split4");
    memset(longest, 'b', sizeof(longest));
    longest[FBY_NAME_SIZE] = '\0';
    assert_int_equal(strlen(named(&search, longest)), FBY_NAME_SIZE - 1);
    longest[FBY_NAME_SIZE - 1] = '-';
    assert_int_equal(strlen(named(&search, longest)), FBY_NAME_SIZE - 1);
    longest[FBY_NAME_SIZE - 1] = 'b';
    longest[FBY_NAME_SIZE - 2] = '-';
    assert_int_equal(strlen(named(&search, longest)), FBY_NAME_SIZE - 2);
    assert_true(fby_guess_has_split(&search, "a"));
    assert_false(fby_guess_has_split(&search, "b"));
}

static void splits_beyond_those_that_are_kept_are_counted(void **state)
{
    (void)state;
    struct fby_search search = {.default_name = "train", .out = &guess};
    memset(&guess, 0, sizeof(guess));
    for (uint32_t i = 0; i < FBY_GUESS_SPLITS; i++) {
        guess.splits[i].samples       = 7;
        struct fby_guess_split *split = fby_guess_add_split(&search, "s");
        assert_ptr_equal(split, &guess.splits[i]);
        assert_string_equal(split->name, "s");
        assert_int_equal(split->samples, 0);
        assert_int_equal(guess.n_splits, i + 1);
    }
    assert_int_equal(guess.n_left_out, 0);
    assert_null(fby_guess_add_split(&search, "s"));
    assert_null(fby_guess_add_split(&search, "s"));
    assert_int_equal(guess.n_splits, FBY_GUESS_SPLITS);
    assert_int_equal(guess.n_left_out, 2);
}

static void special_characters_are_refused_anywhere(void **state)
{
    (void)state;
    static const char letters[] = "{}*?,";
    for (size_t i = 0; i < strlen(letters); i++) {
        struct fby_error_detail why    = {{0}};
        const char              name[] = {'a', letters[i], '\0'};
        assert_int_equal(fby_refuse_name(name, &why), FBY_CONFIG);
        assert_says(&why, " has a special character of patterns; rename it");
    }
    assert_ok(fby_refuse_name("a b[c]!~'\"", NULL));
    assert_ok(fby_refuse_name("", NULL));
}

/* ---- members ------------------------------------------------------------- */

static void add_member(struct fby_shard *shard, const char *suffix)
{
    assert_ok(fby_shard_add_member(
        shard, suffix, (uint64_t)shard->n_members * 100, 5, NULL));
}

/* Samples: the extensions of each, "jpg cls"; NULL ends them. */
static void tally(
    struct fby_guess_split *split, const char *const (*samples)[4], unsigned n)
{
    struct fby_shard shard;
    fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
    for (unsigned i = 0; i < n; i++) {
        char key[8];
        int  size = snprintf(key, sizeof(key), "%u", i);
        assert_ok(fby_shard_add_sample(
            &shard, key, (size_t)size, FBY_SHARD_NO_CLASS, NULL));
        for (unsigned k = 0; k < 4 && samples[i][k] != NULL; k++) {
            add_member(&shard, samples[i][k]);
        }
    }
    fby_guess_count_members(split, &shard);
    fby_shard_fini(&shard);
}

static void assert_member(const struct fby_init_member *member,
    const char *extension, uint64_t count, bool always)
{
    assert_string_equal(member->extension, extension);
    assert_int_equal(member->count, count);
    assert_int_equal(member->always, always);
}

static void members_are_counted_and_the_most_used_come_first(void **state)
{
    (void)state;
    static const char *const first[3][4] = {
        {"json", "png", "CLS"}, {"PNG", "a.txt"}, {"png", "cls", "Z9"}};
    static const char *const second[1][4] = {{"png", "cls", "a.TXT"}};
    struct fby_guess_split  *split        = &guess.splits[0];
    memset(split, 0, sizeof(*split));
    tally(split, first, 3);
    tally(split, second, 1);
    fby_guess_sort_members(split);
    assert_int_equal(split->samples, 4);
    assert_int_equal(split->n_members, 5);
    assert_member(&split->members[0], "png", 4, true);
    assert_member(&split->members[1], "cls", 3, false);
    assert_member(&split->members[2], "a.txt", 2, false);
    assert_member(&split->members[3], "json", 1, false);
    assert_member(&split->members[4], "z9", 1, false);
}

static void of_many_extensions_the_first_are_kept(void **state)
{
    (void)state;
    struct fby_guess_split *split = &guess.splits[0];
    struct fby_shard        shard;
    memset(split, 0, sizeof(*split));
    fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
    assert_ok(fby_shard_add_sample(&shard, "0", 1, FBY_SHARD_NO_CLASS, NULL));
    for (unsigned i = 0; i < FBY_GUESS_MEMBERS + 2; i++) {
        char suffix[8];
        snprintf(suffix, sizeof(suffix), "e%u", i);
        add_member(&shard, suffix);
    }
    fby_guess_count_members(split, &shard);
    fby_guess_count_members(split, &shard);
    fby_guess_sort_members(split);
    assert_int_equal(split->samples, 2);
    assert_int_equal(split->n_members, FBY_GUESS_MEMBERS);
    assert_member(&split->members[0], "e0", 2, true);
    assert_member(&split->members[FBY_GUESS_MEMBERS - 1], "e31", 2, true);
    fby_shard_fini(&shard);
}

/* ---- PNG files ----------------------------------------------------------- */

static char opened[128]; /* members, in the order of the calls */

static fby_err open_empty(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_member_file *out, struct fby_error_detail *why)
{
    static struct memory empty = {.data = ""};
    size_t               used  = strlen(opened);
    snprintf(opened + used, sizeof(opened) - used, "%u ", member);
    (void)shard;
    if (arg != NULL) {
        return fby_error_set(why, FBY_AGAIN, "not now");
    }
    out->object = memory_object(&empty);
    return FBY_OK;
}

static fby_err look_into(struct fby_guess_split *split, const char *const *exts,
    unsigned n, const void *arg)
{
    const struct fby_member_opener opener = {open_empty, arg};
    struct fby_shard               shard;
    struct fby_error_detail        why = {{0}};
    fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
    assert_ok(fby_shard_add_sample(&shard, "0", 1, FBY_SHARD_NO_CLASS, NULL));
    for (unsigned i = 0; i < n; i++) {
        add_member(&shard, exts[i]);
    }
    fby_guess_count_members(split, &shard);
    opened[0]   = '\0';
    fby_err err = fby_guess_read_pngs(split, &shard, &opener, &why);
    fby_shard_fini(&shard);
    return err;
}

static void one_png_header_of_each_extension_is_read(void **state)
{
    (void)state;
    static const char *const first[] = {
        "jpg", "seg.PNG", "pngs", "png", "xpng", "ng", "a.b.png"};
    static const char *const second[] = {"png", "b.png", "seg.png"};
    struct fby_guess_split  *split    = &guess.splits[0];
    memset(split, 0, sizeof(*split));
    assert_ok(look_into(split, first, 7, NULL));
    assert_string_equal(opened, "1 3 6 ");
    assert_true(split->members[1].header_read);
    assert_false(split->members[1].may_be_ids); /* an empty file */
    assert_false(split->members[0].header_read);
    assert_ok(look_into(split, second, 3, NULL));
    assert_string_equal(opened, "1 ");
    assert_ok(look_into(split, second, 3, NULL));
    assert_string_equal(opened, "");
}

static void a_file_that_does_not_open_ends_the_search(void **state)
{
    (void)state;
    static const char *const exts[] = {"a.png", "b.png"};
    struct fby_guess_split  *split  = &guess.splits[0];
    memset(split, 0, sizeof(*split));
    assert_int_equal(look_into(split, exts, 2, "refuse"), FBY_AGAIN);
    assert_string_equal(opened, "0 ");
    assert_false(split->members[0].header_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_what_its_text_says),
        cmocka_unit_test(values_of_a_column_are_what_holds_for_all),
        cmocka_unit_test(the_longest_list_and_text_are_kept),
        cmocka_unit_test(the_members_of_an_object_are_named),
        cmocka_unit_test(members_are_named_as_far_as_they_fit),
        cmocka_unit_test(words_for_splits_are_found_in_names),
        cmocka_unit_test(a_split_word_within_another_word_is_none),
        cmocka_unit_test(folders_of_splits_have_usual_names),
        cmocka_unit_test(a_split_has_a_name_that_no_other_one_has),
        cmocka_unit_test(splits_beyond_those_that_are_kept_are_counted),
        cmocka_unit_test(special_characters_are_refused_anywhere),
        cmocka_unit_test(members_are_counted_and_the_most_used_come_first),
        cmocka_unit_test(of_many_extensions_the_first_are_kept),
        cmocka_unit_test(one_png_header_of_each_extension_is_read),
        cmocka_unit_test(a_file_that_does_not_open_ends_the_search),
    };
    return cmocka_run_group_tests_name("cli.guess_search", tests, NULL, NULL);
}
