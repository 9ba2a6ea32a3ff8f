/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the sentence about data that changed. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer_client/receive/shard_list_diff.h"

enum { MAX_SHARDS = 8 };

struct list { /* a list and its memory */
    struct fby_shard_list list;
    struct fby_shard_info shards[MAX_SHARDS];
    char                  names[MAX_SHARDS][16];
};

/* "a12 b7*": shard a with 12 samples, b with 7 and another digest. */
static void parse(const char *text, struct list *out)
{
    *out = (struct list){.list.shards = out->shards};
    for (const char *word = text; *word != '\0';) {
        size_t                 i     = out->list.n_shards++;
        struct fby_shard_info *shard = &out->shards[i];
        char                  *end   = NULL;
        size_t size = strspn(word, "abcdefghijklmnopqrstuvwxyz");
        assert_in_range(size, 1, sizeof(out->names[i]) - 1);
        memcpy(out->names[i], word, size);
        shard->samples         = (uint32_t)strtoul(word + size, &end, 10);
        shard->name            = out->names[i];
        shard->digest.bytes[0] = (uint8_t)shard->samples;
        word                   = end;
        shard->digest.bytes[1] = *word == '*';
        word += *word == '*';
        word += *word == ' ';
        out->list.samples += shard->samples;
    }
}

#define CHANGED "the data changed since this state was saved: "

static void assert_change(const char *then, const char *now, const char *text)
{
    struct list             a;
    struct list             b;
    struct fby_error_detail said;
    parse(then, &a);
    parse(now, &b);
    fby_shard_list_diff(&a.list, &b.list, &said);
    assert_string_equal(said.text, text);
}

static void numbers_and_the_first_difference_are_said(void **state)
{
    (void)state;
    assert_change("a12 b7", "a12 b6",
        CHANGED
        "19 samples in 2 shards then, 18 samples in 2 shards now; first "
        "difference: shard b (7 samples then, 6 now)");
    assert_change("a12 b7 c1", "a12 b7*",
        CHANGED
        "20 samples in 3 shards then, 19 samples in 2 shards now; first "
        "difference: shard b (same number of samples, but names, sizes or "
        "hashes differ)");
}

static void a_shard_may_be_added_or_missing(void **state)
{
    (void)state;
    static const char added[] =
        CHANGED "2 samples in 2 shards then, 3 samples in 3 shards now; first "
                "difference: shard %s was added (1 sample)";
    static const char *const now[][2] = {
        {"a1 b1 c1", "a"}, {"b1 bb1 c1", "bb"}, {"b1 c1 d1", "d"}};
    for (size_t i = 0; i < sizeof(now) / sizeof(now[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), added, now[i][1]);
        assert_change("b1 c1", now[i][0], text);
    }
    assert_change("b1 c2", "c2",
        CHANGED "3 samples in 2 shards then, 2 samples in 1 shard now; first "
                "difference: shard b is missing (1 sample then)");
    assert_change("b1 c2", "b1",
        CHANGED "3 samples in 2 shards then, 1 sample in 1 shard now; first "
                "difference: shard c is missing (2 samples then)");
}

/* A folder of pictures has no shards that its owner knows. */
static void a_part_of_single_files_is_named_by_its_first_sample(void **state)
{
    (void)state;
    const struct fby_shard_info first[] = {
        {.name = "part-0000000", .samples = 1024},
        {.name = "part-0000001", .samples = 12}};
    const struct fby_shard_info second[] = {
        first[0], {.name = "part-0000001", .samples = 13, .digest = {{1}}}};
    const struct fby_shard_list then = {1036, first, 2};
    const struct fby_shard_list now  = {1037, second, 2};
    const struct fby_shard_list less = {1024, first, 1};
    struct fby_error_detail     said;
    fby_shard_list_diff(&then, &now, &said);
    assert_string_equal(said.text,
        CHANGED "1036 samples in 2 shards then, 1037 samples in 2 shards now; "
                "first difference: the part from sample 1024 on (12 samples "
                "then, 13 now)");
    fby_shard_list_diff(&less, &then, &said);
    assert_non_null(strstr(
        said.text, "the part from sample 1024 on was added (12 samples)"));
}

static void an_unknown_past_and_equal_shards_are_not_compared(void **state)
{
    (void)state;
    struct list             now;
    struct fby_error_detail said;
    parse("a1 b2", &now);
    fby_shard_list_diff(NULL, &now.list, &said);
    assert_string_equal(said.text, CHANGED "3 samples in 2 shards now");
    assert_change("a1", "a1",
        CHANGED "1 sample in 1 shard then, 1 sample in 1 shard now; first "
                "difference: the class folders of the split that numbers the "
                "classes");
}

static void long_names_are_cut(void **state)
{
    (void)state;
    char                    name[4000];
    struct fby_error_detail said;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1]            = '\0';
    const struct fby_shard_info shard = {.name = name, .samples = 1};
    const struct fby_shard_list empty = {0};
    const struct fby_shard_list list  = {1, &shard, 1};
    fby_shard_list_diff(&list, &empty, &said);
    assert_non_null(strstr(said.text, "nnn is missing (1 sample then)"));
    assert_true(strlen(said.text) < 350);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_the_first_difference_are_said),
        cmocka_unit_test(a_shard_may_be_added_or_missing),
        cmocka_unit_test(an_unknown_past_and_equal_shards_are_not_compared),
        cmocka_unit_test(a_part_of_single_files_is_named_by_its_first_sample),
        cmocka_unit_test(long_names_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
