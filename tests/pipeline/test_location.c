/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/location.h"
#include "tests/guard.h"

/* ---- splitting ---- */

static void splits_into(const char *pattern, enum fby_source_kind kind,
    const char *root, const char *base, const char *rest)
{
    struct fby_location_parts parts;
    struct fby_error_detail   why = {{0}};
    if (fby_location_split(pattern, kind, &parts, &why) != FBY_OK) {
        fail_msg("%s: %s", pattern, why.text);
    }
    assert_string_equal(parts.root, root);
    assert_string_equal(parts.base, base);
    assert_string_equal(parts.rest, rest);
}

static void base_is_the_last_directory_before_the_first_wildcard(void **state)
{
    (void)state;
    enum fby_source_kind tar = FBY_SOURCE_SHARDS;
    splits_into(
        "in1k:a/b/t-{00..11}.tar", tar, "in1k", "a/b", "t-{00..11}.tar");
    splits_into("in1k:t-*.tar", tar, "in1k", "", "t-*.tar");
    splits_into("in1k:one.tar", tar, "in1k", "", "one.tar");
    splits_into("in1k:a/one.tar", tar, "in1k", "a", "one.tar");
    splits_into("/d/p{a,b}/x/?.tar", tar, "", "/d", "p{a,b}/x/?.tar");
    splits_into("/*.tar", tar, "", "/", "*.tar");
}

static void a_folder_is_its_base_and_may_hold_any_letter(void **state)
{
    (void)state;
    enum fby_source_kind folder = FBY_SOURCE_FOLDER;
    splits_into("photos:a/b", folder, "photos", "a/b", "");
    splits_into("photos:", folder, "photos", "", "");
    splits_into("/d/{a}*", folder, "", "/d/{a}*", "");
    splits_into("/", folder, "", "/", "");
}

static void split_refuses(
    const char *pattern, enum fby_source_kind kind, const char *part)
{
    struct fby_location_parts parts;
    struct fby_error_detail   why = {{0}};
    assert_int_equal(
        fby_location_split(pattern, kind, &parts, &why), FBY_CONFIG);
    if (strstr(why.text, part) == NULL) {
        fail_msg("%s: %s", pattern, why.text);
    }
}

static void a_list_is_a_file_whose_name_may_hold_any_letter(void **state)
{
    (void)state;
    enum fby_source_kind list = FBY_SOURCE_LIST;
    splits_into("pets:a/b/train.csv", list, "pets", "a/b", "train.csv");
    splits_into("pets:t{1}*.jsonl", list, "pets", "", "t{1}*.jsonl");
    splits_into("/d/x.csv", list, "", "/d", "x.csv");
    splits_into("/x.csv", list, "", "/", "x.csv");
    split_refuses("pets:a/b", list, "is not a list");
    split_refuses("pets:a/.csv", list, "is not a list");
    split_refuses("pets:../t.csv", list, "a location must not");
}

static void parallel_folders_are_the_choices_of_one_brace(void **state)
{
    (void)state;
    enum fby_source_kind       parallel = FBY_SOURCE_PARALLEL;
    struct fby_parallel_folder side;
    splits_into("a:b/{x,y}/train", parallel, "a", "b", "{x,y}/train");
    splits_into("/d/p{0..3}", parallel, "", "/d", "p{0..3}");
    fby_location_parallel_folder("v{x,yy}/train", 1, &side);
    assert_string_equal(side.name, "yy");
    assert_string_equal(side.path, "vyy/train");
    split_refuses("a:b/x", parallel, "2 to 16 names in one brace");
    split_refuses("a:{x,y}/*", parallel, "without wildcards");
    split_refuses("a:{x,y}{z,w}", parallel, "in one brace");
    split_refuses("a:{00..16}", parallel, "2 to 16");
    split_refuses("a:{x,x}", parallel, "are different ones");
    split_refuses("a:{x,y.z}", parallel, "are different ones");
    split_refuses("a:{x,}/y", parallel, "empty or only dots");
}

static void paths_that_are_not_plain_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const paths[] = {"a:..", "a:../b", "a:b/..", "a:b/../c",
        "a:.", "a:./b", "a:b//c", "a:b/", "/b//c", "/b/../c", "/b/"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        split_refuses(
            paths[i], FBY_SOURCE_FOLDER, "must not contain '.', '..'");
    }
    split_refuses("a:/etc", FBY_SOURCE_FOLDER, "write NAME:path");
    split_refuses("etc", FBY_SOURCE_FOLDER, "write NAME:path");
    split_refuses("A:b", FBY_SOURCE_FOLDER, "write NAME:path");
    split_refuses("", FBY_SOURCE_FOLDER, "1 to 4095 bytes");
    split_refuses("a:\xff", FBY_SOURCE_FOLDER, "UTF-8");
    split_refuses("a:", FBY_SOURCE_SHARDS, "names no shard file");
}

static void choices_in_braces_cannot_make_dots(void **state)
{
    (void)state;
    static const char *const dots[] = {"a:{..,b}/x.tar", "a:{.,b}/x.tar",
        "a:{,b}/x.tar", "a:.{.,b}/x.tar", "a:.{b,}", "a:{a,.}{b,.}/x",
        "a:{x,y}/{.,c}", "a:{x,y}/z/{,c}/w"};
    for (size_t i = 0; i < sizeof(dots) / sizeof(dots[0]); i++) {
        split_refuses(dots[i], FBY_SOURCE_SHARDS, "empty or only dots");
    }
    struct fby_location_parts parts;
    assert_ok(
        fby_location_split("a:x{,.y}.tar", FBY_SOURCE_SHARDS, &parts, NULL));
    assert_ok(
        fby_location_split("a:{a,b}/.{0..9}", FBY_SOURCE_SHARDS, &parts, NULL));
    assert_ok(fby_location_split("a:x{,.}", FBY_SOURCE_SHARDS, &parts, NULL));
    assert_ok(fby_location_split("a:{,.}x", FBY_SOURCE_SHARDS, &parts, NULL));
}

/* `n` times x, behind `start`. */
static char *long_text(const char *start, size_t n)
{
    static char text[3 * FBY_PATH_SIZE];
    size_t      at = strlen(start);
    memcpy(text, start, at);
    memset(text + at, 'x', n);
    text[at + n] = '\0';
    return text;
}

static void a_location_has_at_most_4095_bytes(void **state)
{
    (void)state;
    struct fby_guarded room =
        fby_guarded_copy(NULL, sizeof(struct fby_location_parts));
    struct fby_location_parts *parts = (void *)room.bytes;
    assert_ok(fby_location_split(
        long_text("/", 4094), FBY_SOURCE_FOLDER, parts, NULL));
    assert_int_equal(strlen(parts->base), 4095);
    assert_ok(fby_location_split(
        long_text("/{a,b}", 4089), FBY_SOURCE_SHARDS, parts, NULL));
    assert_int_equal(strlen(parts->rest), 4094);
    split_refuses(long_text("/", 4095), FBY_SOURCE_FOLDER,
        "a location has 1 to 4095 bytes, not 4096");
    fby_guarded_free(&room);
}

static void the_name_of_a_root_has_at_most_63_letters(void **state)
{
    (void)state;
    struct fby_location_parts parts;
    char                      name[FBY_NAME_SIZE];
    char                      dir[FBY_PATH_SIZE];
    char                      text[256];
    for (size_t n = 62; n <= 200; n += n < 65 ? 1 : 45) {
        snprintf(text, sizeof(text), "%s:a", long_text("r", n - 1));
        assert_int_equal(
            fby_location_split(text, FBY_SOURCE_FOLDER, &parts, NULL),
            n <= 63 ? FBY_OK : FBY_CONFIG);
        assert_int_equal(fby_location_is_named(text), n <= 63);
        snprintf(text, sizeof(text), "%s=/d", long_text("r", n - 1));
        assert_int_equal(fby_location_parse_root(text, name, dir, NULL),
            n <= 63 ? FBY_OK : FBY_USAGE);
    }
    assert_string_equal(name, long_text("r", 62));
}

/* ---- plain paths ---- */

static void becomes(const char *pattern, const char *folder, const char *right)
{
    char out[FBY_PATH_SIZE];
    assert_ok(fby_location_make_absolute(pattern, folder, out, NULL));
    assert_string_equal(out, right);
}

static void a_relative_path_lies_below_the_file_s_folder(void **state)
{
    (void)state;
    becomes("photos", "/home/me", "/home/me/photos");
    becomes("./photos/", "/home/me", "/home/me/photos");
    becomes("../x/*.tar", "/home/me", "/home/x/*.tar");
    becomes("../..", "/home/me", "/");
    becomes("/a//b/./c/", "/home/me", "/a/b/c");
    becomes("x", "/", "/x");
    becomes("in1k:a/b", "/home/me", "in1k:a/b");
    becomes("./in1k:a", "/home/me", "/home/me/in1k:a");
}

static void a_path_that_became_too_long_is_refused(void **state)
{
    (void)state;
    struct fby_guarded      room = fby_guarded_copy(NULL, FBY_PATH_SIZE);
    char                   *out  = (char *)room.bytes;
    struct fby_error_detail why  = {{0}};
    assert_ok(
        fby_location_make_absolute(long_text("", 4089), "/home", out, &why));
    assert_int_equal(strlen(out), 4095);
    assert_int_equal(
        fby_location_make_absolute(long_text("", 4090), "/home", out, &why),
        FBY_CONFIG);
    assert_non_null(strstr(why.text, "': the path is longer than 4095 bytes"));
    fby_guarded_free(&room);
}

static void a_rooted_location_is_not_cut(void **state)
{
    (void)state;
    static const char *const any[] = {"any=/"};
    struct fby_location      plain = {{0}};
    struct fby_location      out   = {"kept"};
    struct fby_error_detail  why   = {{0}};
    snprintf(plain.pattern, FBY_PATH_SIZE, "%s", long_text("/", 4092));
    assert_int_equal(
        fby_location_find_root(&plain, any, 1, &out, &why), FBY_CONFIG);
    assert_string_equal(why.text, "the location is too long");
    assert_string_equal(out.pattern, "kept");
    snprintf(plain.pattern, FBY_PATH_SIZE, "%s", long_text("/", 4091));
    assert_ok(fby_location_find_root(&plain, any, 1, &out, &why));
    assert_string_equal(out.pattern, long_text("any:", 4091));
}

static void dots_are_resolved_only_at_the_beginning(void **state)
{
    (void)state;
    char out[FBY_PATH_SIZE];
    assert_int_equal(
        fby_location_make_absolute("a/../b", "/home", out, NULL), FBY_CONFIG);
    assert_int_equal(
        fby_location_make_absolute("/a/../b", "/home", out, NULL), FBY_CONFIG);
    assert_int_equal(
        fby_location_make_absolute("../../b", "/home", out, NULL), FBY_CONFIG);
}

static void an_embedded_cluster_serves_the_directory_of_an_archive(void **state)
{
    (void)state;
    static const char *const paths[][2] = {{"/d/x.zip", "/d"},
        {"/d/x.ZIP/train", "/d"}, {"/x.zip", "/"}, {"/d/.zip", "/d/.zip"},
        {"/d/x.zip.d/a", "/d/x.zip.d/a"}, {"/d/a.zip/b.zip", "/d"}};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char                dir[FBY_PATH_SIZE];
        struct fby_location location = {{0}};
        snprintf(location.pattern, sizeof(location.pattern), "%s", paths[i][0]);
        assert_ok(
            fby_location_plain_base(&location, FBY_SOURCE_FOLDER, dir, NULL));
        assert_string_equal(dir, paths[i][1]);
    }
    struct fby_location tars = {"/d/x.zip/a.tar"}; /* a folder: tars are not
                                                      read from archives */
    char                dir[FBY_PATH_SIZE];
    assert_ok(fby_location_plain_base(&tars, FBY_SOURCE_SHARDS, dir, NULL));
    assert_string_equal(dir, "/d/x.zip");
}

static void the_first_archive_of_a_path_is_found(void **state)
{
    (void)state;
    const char *path = "a/b.zip/c/D.Zip/e";
    assert_int_equal(fby_location_zip_length(path, 0), 7);
    assert_int_equal(fby_location_zip_length(path, 7), 15);
    assert_int_equal(fby_location_zip_length(path, 15), 0);
    assert_int_equal(fby_location_zip_length("", 0), 0);
    assert_int_equal(fby_location_zip_length(".zip", 0), 0);
    assert_int_equal(fby_location_zip_length("x.zip", 0), 5);
}

static void an_embedded_cluster_serves_the_base(void **state)
{
    (void)state;
    struct fby_location     tars  = {"/data/in1k/t-{0..9}.tar"};
    struct fby_location     named = {"in1k:t.tar"};
    struct fby_error_detail why   = {{0}};
    char                    dir[FBY_PATH_SIZE];
    assert_ok(fby_location_plain_base(&tars, FBY_SOURCE_SHARDS, dir, NULL));
    assert_string_equal(dir, "/data/in1k");
    assert_int_equal(
        fby_location_plain_base(&named, FBY_SOURCE_SHARDS, dir, &why),
        FBY_USAGE);
    assert_string_equal(why.text, "'in1k:t.tar' names the root 'in1k': "
                                  "name its directory with --data in1k=DIR");
}

/* ---- roots ---- */

static const char *const roots[] = {
    "all=/data", "in1k=/data/in1k/", "any=/", "two=/data/in"};

static void roots_to(const char *pattern, const char *right)
{
    struct fby_location plain = {{0}};
    struct fby_location out;
    memcpy(plain.pattern, pattern, strlen(pattern) + 1);
    assert_ok(fby_location_find_root(&plain, roots, 4, &out, NULL));
    assert_string_equal(out.pattern, right);
}

static void the_longest_root_that_holds_a_path_names_it(void **state)
{
    (void)state;
    roots_to("/data/in1k/t-*.tar", "in1k:t-*.tar");
    roots_to("/data/in1k", "in1k:");
    roots_to("/data/in1k2/x.tar", "all:in1k2/x.tar");
    roots_to("/data/in/x", "two:x");
    roots_to("/etc", "any:etc");
    roots_to("all:x/y", "all:x/y");
}

static void a_path_below_no_root_is_refused(void **state)
{
    (void)state;
    struct fby_location     plain = {"/etc/passwd"};
    struct fby_location     named = {"other:x"};
    struct fby_location     out;
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        fby_location_find_root(&plain, roots, 2, &out, &why), FBY_NOT_FOUND);
    assert_string_equal(why.text, "'/etc/passwd' is not below any of the "
                                  "roots; add one to options.roots");
    assert_int_equal(
        fby_location_find_root(&plain, NULL, 0, &out, &why), FBY_NOT_FOUND);
    assert_non_null(strstr(why.text, "say which root it is in: options.roots"));
    assert_int_equal(
        fby_location_find_root(&named, roots, 4, &out, &why), FBY_NOT_FOUND);
}

static void a_root_option_is_name_and_absolute_directory(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "", "x", "x=", "x=y", "=/d", "X=/d", "a b=/d", "1=/d", "a:=/d"};
    char name[FBY_NAME_SIZE];
    char dir[FBY_PATH_SIZE];
    assert_ok(fby_location_parse_root("my-1=/a=b/", name, dir, NULL));
    assert_string_equal(name, "my-1");
    assert_string_equal(dir, "/a=b");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(
            fby_location_parse_root(wrong[i], name, dir, NULL), FBY_USAGE);
    }
}

/* ---- braces ---- */

static void names_are(
    const char *rest, uint32_t n, const char *first, const char *last)
{
    uint32_t count = 0;
    char     name[FBY_PATH_SIZE];
    assert_ok(fby_braces_count(rest, &count, NULL));
    assert_int_equal(count, n);
    fby_braces_write_name(rest, 0, name);
    assert_string_equal(name, first);
    fby_braces_write_name(rest, n - 1, name);
    assert_string_equal(name, last);
}

static void braces_stand_for_many_names(void **state)
{
    (void)state;
    names_are("plain.tar", 1, "plain.tar", "plain.tar");
    names_are("t-{0000..1023}.tar", 1024, "t-0000.tar", "t-1023.tar");
    names_are("t-{8..11}.tar", 4, "t-8.tar", "t-11.tar");
    names_are("{a,bc}/{00..02}*", 6, "a/00*", "bc/02*");
    names_are("x{,-more}.{tar,tgz}", 4, "x.tar", "x-more.tgz");
    names_are("{5..5}", 1, "5", "5");
    names_are("{00..11}", 12, "00", "11");
    names_are("{08..11}", 4, "08", "11");
    names_are("{0..2}", 3, "0", "2");
    names_are("t{0..1},x.tar", 2, "t0,x.tar", "t1,x.tar");
    names_are("{000..999}{000..999}", 1000000, "000000", "999999");
}

static void a_pattern_has_at_most_8_braces(void **state)
{
    (void)state;
    uint32_t n = 0;
    names_are("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", 256, "aaaaaaaa",
        "bbbbbbbb");
    assert_int_equal(
        fby_braces_count(
            "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", &n, NULL),
        FBY_CONFIG);
    names_are("{000000000000001..000000000000002}", 2, "000000000000001",
        "000000000000002");
    names_are("{999999999999998..999999999999999}", 2, "999999999999998",
        "999999999999999");
    names_are("{0..999999}", 1000000, "0", "999999");
}

static void a_wrong_pattern_gives_no_name(void **state)
{
    (void)state;
    char name[FBY_PATH_SIZE] = "kept";
    fby_braces_write_name("{a", 0, name);
    assert_string_equal(name, "");
    fby_braces_write_name("{a,b}", 2, name); /* begins again */
    assert_string_equal(name, "a");
}

static void every_choice_has_its_number(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * 3 * 5; i++) {
        char name[FBY_PATH_SIZE];
        char right[32];
        fby_braces_write_name("x{a,bb}-{,c,dd}.{7..11}z", i, name);
        snprintf(right, sizeof(right), "x%s-%s.%uz",
            (const char *[]){"a", "bb"}[i / 15],
            (const char *[]){"", "c", "dd"}[i / 5 % 3], 7 + i % 5);
        assert_string_equal(name, right);
    }
}

static void the_last_brace_runs_fastest(void **state)
{
    (void)state;
    char name[FBY_PATH_SIZE];
    fby_braces_write_name("{a,b}{0..2}", 2, name);
    assert_string_equal(name, "a2");
    fby_braces_write_name("{a,b}{0..2}", 3, name);
    assert_string_equal(name, "b0");
}

static void wrong_braces_are_explained(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{a", "'{a': the brace is not closed"},
        {"x}", "'}': the brace was not opened"},
        {"{a,{b,c}}", "'{a,{b,c}': nested braces are not supported"},
        {"{}", "'{}': a brace is a range like {000..127} or a choice like "
               "{a,b}"},
        {"{a..c}", "'{a..c}': a range is {FIRST..LAST}, both whole numbers"},
        {"{0..9..2}", "'{0..9..2}': a range is {FIRST..LAST}, both whole "
                      "numbers"},
        {"{1..010}", "'{1..010}': with leading zeros, both ends have the same "
                     "number of digits"},
        {"{9..1}", "'{9..1}': a range must ascend"},
        {"{0..1000000}", "'{0..1000000}': a pattern has at most 8 braces and "
                         "expands to at most 1000000 names"},
        {"{0..999}{0..1000}", "'{0..999}{0..1000}': a pattern has at most 8 "
                              "braces and expands to at most 1000000 names"},
        {"{0..9999999999999999}", "'{0..9999999999999999}': a range has "
                                  "numbers of at most 15 digits"},
        {"{1000000000000000..9}", "'{1000000000000000..9}': a range has "
                                  "numbers of at most 15 digits"},
        {"{01..002}", "'{01..002}': with leading zeros, both ends have the "
                      "same number of digits"},
        {"{a/b,c}", "'{a/b,c}': a brace must not contain '/'"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fby_error_detail why = {{0}};
        uint32_t                n   = 0;
        assert_int_equal(fby_braces_count(wrong[i][0], &n, &why), FBY_CONFIG);
        assert_string_equal(why.text, wrong[i][1]);
    }
}

/* ---- globs ---- */

static void wildcards_match_as_in_a_shell(void **state)
{
    (void)state;
    static const char *const right[][2] = {{"*.tar", "a.tar"}, {"*", "a"},
        {"a*", "a"}, {"a?c", "abc"}, {"?", "\xc3\xa9"}, {"*a*b*", "xxaxxbxx"},
        {"a**b", "ab"}, {"[x]", "[x]"}, {"", ""}, {"*ab", "aab"}, {".*", ".a"}};
    static const char *const wrong[][2] = {{"*.tar", "a.tgz"}, {"a?c", "ac"},
        {"*", ".hidden"}, {"?a", ".a"}, {"a", "ab"}, {"ab", "a"}, {"", "a"},
        {"*a*b", "ba"}, {"[ab]", "a"}, {"??", "\xc3\xa9"}};
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        assert_true(fby_glob_match(right[i][0], right[i][1]));
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(fby_glob_match(wrong[i][0], wrong[i][1]));
    }
    assert_true(fby_has_wildcards("a*"));
    assert_false(fby_has_wildcards("a{0..1}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_is_the_last_directory_before_the_first_wildcard),
        cmocka_unit_test(a_folder_is_its_base_and_may_hold_any_letter),
        cmocka_unit_test(a_list_is_a_file_whose_name_may_hold_any_letter),
        cmocka_unit_test(parallel_folders_are_the_choices_of_one_brace),
        cmocka_unit_test(paths_that_are_not_plain_are_refused_by_name),
        cmocka_unit_test(choices_in_braces_cannot_make_dots),
        cmocka_unit_test(a_location_has_at_most_4095_bytes),
        cmocka_unit_test(the_name_of_a_root_has_at_most_63_letters),
        cmocka_unit_test(a_path_that_became_too_long_is_refused),
        cmocka_unit_test(a_rooted_location_is_not_cut),
        cmocka_unit_test(a_pattern_has_at_most_8_braces),
        cmocka_unit_test(a_wrong_pattern_gives_no_name),
        cmocka_unit_test(every_choice_has_its_number),
        cmocka_unit_test(a_relative_path_lies_below_the_file_s_folder),
        cmocka_unit_test(dots_are_resolved_only_at_the_beginning),
        cmocka_unit_test(an_embedded_cluster_serves_the_base),
        cmocka_unit_test(
            an_embedded_cluster_serves_the_directory_of_an_archive),
        cmocka_unit_test(the_first_archive_of_a_path_is_found),
        cmocka_unit_test(the_longest_root_that_holds_a_path_names_it),
        cmocka_unit_test(a_path_below_no_root_is_refused),
        cmocka_unit_test(a_root_option_is_name_and_absolute_directory),
        cmocka_unit_test(braces_stand_for_many_names),
        cmocka_unit_test(the_last_brace_runs_fastest),
        cmocka_unit_test(wrong_braces_are_explained),
        cmocka_unit_test(wildcards_match_as_in_a_shell),
    };
    return cmocka_run_group_tests_name("pipeline.location", tests, NULL, NULL);
}
