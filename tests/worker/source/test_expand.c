/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/worker/source/sandbox.h"
#include "worker/source/expand.h"

static fby_err expand(const struct sandbox *sb, const char *pattern,
    struct fby_names *names, struct fby_error_detail *why)
{
    struct fby_location_parts parts;
    const struct fby_root    *root = NULL;
    assert_ok(fby_location_split(pattern, FBY_SOURCE_SHARDS, &parts, why));
    assert_ok(fby_roots_find(sb->roots, parts.root, &root, why));
    return fby_pattern_expand(root, &parts, FBY_EXPAND_FILES, names, why);
}

/* The pattern means exactly these names, separated by blanks. */
static void assert_means(
    const struct sandbox *sb, const char *pattern, const char *expected)
{
    struct fby_names        names = {0};
    struct fby_error_detail why   = {0};
    char                    all[4096];
    size_t                  used = 0;
    all[0]                       = '\0';
    if (expand(sb, pattern, &names, &why) != FBY_OK) {
        fail_msg("%s: %s", pattern, why.text);
    }
    for (uint32_t i = 0; i < names.count; i++) {
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
            i > 0 ? " " : "", names.list[i]);
    }
    assert_string_equal(all, expected);
    fby_names_fini(&names);
}

static void assert_fails(const struct sandbox *sb, const char *pattern,
    fby_err err, const char *words)
{
    struct fby_names        names = {0};
    struct fby_error_detail why   = {0};
    assert_int_equal(expand(sb, pattern, &names, &why), err);
    assert_says(&why, words);
    fby_names_fini(&names);
}

static void braces_are_written_out_whether_there_or_not(void **state)
{
    const struct sandbox *sb = *state;
    assert_means(
        sb, "data:s/t-{08..11}.tar", "t-08.tar t-09.tar t-10.tar t-11.tar");
    assert_means(
        sb, "data:s/{b,a}/{0..1}.tar", "a/0.tar a/1.tar b/0.tar b/1.tar");
    assert_means(sb, "data:s/one.tar", "one.tar");
}

static void names_are_sorted_by_bytes_and_unique(void **state)
{
    const struct sandbox *sb = *state;
    assert_means(sb, "data:{a,B,a,_}.tar", "B.tar _.tar a.tar");
    assert_means(sb, "data:t-{9..11}.tar", "t-10.tar t-11.tar t-9.tar");
}

static void globs_are_looked_up_beneath_the_root(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/s/x/t-1.tar", "");
    sandbox_write_text(sb, "data/s/y/t-2.tar", "");
    sandbox_write_text(sb, "data/s/y/t-10.tar", "");
    sandbox_write_text(sb, "data/s/y/.hidden.tar", "");
    sandbox_write_text(sb, "data/s/y/notes.txt", "");
    sandbox_mkdir(sb, "data/s/y/folder.tar");
    assert_means(sb, "data:s/*/t-*.tar", "x/t-1.tar y/t-10.tar y/t-2.tar");
    assert_means(sb, "data:s/y/*.tar", "t-10.tar t-2.tar");
    assert_means(sb, "data:s/?/t-?.tar", "x/t-1.tar y/t-2.tar");
    assert_means(sb, "data:s/{x,y}/t-?.tar", "x/t-1.tar y/t-2.tar");
}

static void a_glob_that_matches_nothing_is_named(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/s/x/t-1.tar", "");
    assert_fails(sb, "data:s/x/v-*.tar", FBY_NOT_FOUND, "v-*.tar");
    assert_fails(sb, "data:s/{x,z}/*.tar", FBY_NOT_FOUND, "data:s/z/*.tar");
}

static void a_matched_link_out_of_the_root_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/s/t-1.tar", "");
    sandbox_write_text(sb, "outside.tar", "");
    sandbox_link(sb, "../../outside.tar", "data/s/link");
    assert_means(sb, "data:s/*.tar", "t-1.tar");
    sandbox_link(sb, "../../outside.tar", "data/s/t-2.tar");
    assert_fails(sb, "data:s/*.tar", FBY_USAGE,
        "data:s/t-2.tar is outside the root: a link");
}

static void a_matched_name_that_is_no_text_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/s/caf\xe9.tar", "");
    assert_fails(sb, "data:s/*.tar", FBY_CONFIG, "must be UTF-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(braces_are_written_out_whether_there_or_not),
        IN_SANDBOX(names_are_sorted_by_bytes_and_unique),
        IN_SANDBOX(globs_are_looked_up_beneath_the_root),
        IN_SANDBOX(a_glob_that_matches_nothing_is_named),
        IN_SANDBOX(a_matched_link_out_of_the_root_is_refused),
        IN_SANDBOX(a_matched_name_that_is_no_text_is_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.source.expand", tests, NULL, NULL);
}
