/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/canon.h"
#include "pipeline/exclude.h"
#include "pipeline/parse.h"
#include "tests/says.h"

static const char pipeline_text[] =
    "forebay: 1\n"
    "splits:\n"
    "  train: {folder: /data, exclude: bad.txt}\n"
    "  val: {folder: /data}\n"
    "global_batch: 4\n"
    "fields:\n"
    "  image: {from: jpg, decode: bytes, max_length: 8}\n";

static const char *const split_names[] = {"train", "val"};

static const struct fby_exclude_splits for_train = {
    .wanted = "train", .names = split_names, .n = 2};
static const struct fby_exclude_splits for_val = {
    .wanted = "val", .names = split_names, .n = 2};

static struct fby_excluded *zeroed(void)
{
    return calloc(1, sizeof(struct fby_excluded));
}

static void a_line_is_a_name_unless_it_is_empty_or_a_comment(void **state)
{
    (void)state;
    static const char text[] = "# bad ones\n\na/1.jpg\r\n./a/2 x.jpg\na/1.jpg";
    struct fby_excluded *names = zeroed();
    assert_ok(fby_excluded_parse(
        text, strlen(text), "f", &for_train, names, NULL, NULL));
    assert_int_equal(names->n, 2); /* each name once */
    assert_true(fby_excluded_is_valid(names));
    assert_true(fby_excluded_has(names, "a/1.jpg"));
    assert_true(fby_excluded_has(names, "a/2 x.jpg"));
    assert_false(fby_excluded_has(names, "a/2"));
    assert_false(fby_excluded_has(names, ""));
    assert_ok(fby_excluded_parse("", 0, "f", &for_train, names, NULL, NULL));
    assert_int_equal(names->n, 0);
    free(names);
}

static void names_in_a_section_are_for_one_split(void **state)
{
    (void)state;
    static const char text[] = "for/all.jpg\n[train] \r\na/1.jpg\n./[x]\n[y\n"
                               "[val]\na/2.jpg\n[train]\na/4.jpg";
    static const char *const yes[] = {
        "for/all.jpg", "a/1.jpg", "[x]", "[y", "a/4.jpg"};
    struct fby_excluded *names = zeroed();
    assert_ok(fby_excluded_parse(
        text, strlen(text), "f", &for_train, names, NULL, NULL));
    assert_int_equal(names->n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(fby_excluded_has(names, yes[i]));
    }
    assert_ok(fby_excluded_parse(
        text, strlen(text), "f", &for_val, names, NULL, NULL));
    assert_int_equal(names->n, 2);
    assert_true(fby_excluded_has(names, "for/all.jpg"));
    assert_true(fby_excluded_has(names, "a/2.jpg"));
    free(names);
}

/* As a tar member or a list may have them. */
static void blanks_are_a_part_of_a_name(void **state)
{
    (void)state;
    static const char *const list[] = {
        "blank ", " blank", " ", "#1", "[train]", "[train] ", "./a", "././b"};
    char                 text[256] = "     \n \r\n";
    uint32_t             n_lines   = 0;
    struct fby_excluded *names     = zeroed();
    for (size_t i = 0; i < 8; i++) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof(text) - size, "%s%s%s",
            fby_excluded_prefix(list[i]), list[i], i % 2 == 0 ? "\n" : "\r\n");
    }
    strcat(text, "blank \n");
    assert_ok(fby_excluded_parse(
        text, strlen(text), "f", &for_train, names, &n_lines, NULL));
    assert_int_equal(names->n, 8);
    assert_int_equal(n_lines, 9);
    for (size_t i = 0; i < 8; i++) {
        assert_true(fby_excluded_has(names, list[i]));
    }
    assert_false(fby_excluded_has(names, "blank"));
    free(names);
}

static void assert_refused(const char *text, const char *message)
{
    struct fby_excluded    *names = zeroed();
    struct fby_error_detail why   = {{0}};
    assert_int_equal(fby_excluded_parse(text, strlen(text), "f", &for_train,
                         names, NULL, &why),
        FBY_CONFIG);
    assert_says(&why, message);
    free(names);
}

/* Else the names of a section with a typo, or of a split that was renamed,
 * would be read again. */
static void a_section_for_a_split_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    char long_name[128] = "a.jpg\n[";
    memset(long_name + strlen(long_name), 'x', 70);
    strcat(long_name, "]\n");
    assert_refused("a.jpg\n[trian]\nb.jpg\n",
        "f, line 2: a name in brackets begins the section of a split, and "
        "there is no split 'trian'; did you mean 'train'? (a sample of this "
        "name: ./[trian])");
    assert_refused("[x]\n",
        "there is no split 'x'; the splits are train, val (a sample of this "
        "name: ./[x])");
    assert_refused("[]\n", "there is no split ''; the splits are train, val");
    assert_refused("[tra\nb\n[val ]", "there is no split 'val '; did you");
    assert_refused(long_name, "line 2: a name in brackets");
}

static void a_line_that_is_no_name_is_refused(void **state)
{
    (void)state;
    struct fby_excluded    *names = zeroed();
    struct fby_error_detail why;
    static char             text[8 * FBY_MAX_EXCLUDED + 16];
    size_t                  size = 0;
    assert_int_equal(
        fby_excluded_parse("ok\na\0b\n", 7, "f", &for_train, names, NULL, &why),
        FBY_CONFIG);
    assert_says(&why, "f, line 2: this is not the name of a sample");
    for (int i = 0; i <= FBY_MAX_EXCLUDED; i++) {
        size += (size_t)sprintf(text + size, "%d\n", i);
    }
    assert_int_equal(
        fby_excluded_parse(text, size, "f", &for_train, names, NULL, &why),
        FBY_CONFIG);
    assert_says(&why, "f, line 65537: more than 65536 names; move such "
                      "files out of the data instead");
    free(names);
}

/* Parse the pipeline, with bad.txt in `folder`, and make a split. */
static fby_err parse(const char *folder, const char *split,
    struct fby_split **out, struct fby_error_detail *why)
{
    const struct fby_pipeline_text text     = {.text = pipeline_text,
            .size                                    = strlen(pipeline_text),
            .name                                    = "p.yaml",
            .folder                                  = folder};
    struct fby_pipeline           *pipeline = NULL;
    fby_err err = fby_pipeline_parse(&text, &pipeline, why);
    if (err == FBY_OK) {
        err = fby_pipeline_make_split(pipeline, split, out, why);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

static void write_file(const char *folder, const char *text)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/bad.txt", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_names_are_a_part_of_the_content(void **state)
{
    (void)state;
    char                    folder[] = "/tmp/forebay-exclude-XXXXXX";
    struct fby_error_detail why      = {{0}};
    struct fby_split       *train    = NULL;
    struct fby_split       *val      = NULL;
    struct fby_content     *decoded  = calloc(1, sizeof(*decoded));
    struct fby_buffer       bytes    = {0};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(parse(folder, "train", &train, &why), FBY_CONFIG);
    assert_says(&why, "p.yaml:3:35: exclude: ");
    assert_says(&why, "/bad.txt: No such file");
    write_file(folder, "[vall]\n");
    assert_int_equal(parse(folder, "train", &train, &why), FBY_CONFIG);
    assert_says(&why, "p.yaml:3:35: exclude: ");
    assert_says(&why, "line 1: ");
    assert_says(&why, "did you mean 'val'?");
    write_file(folder, "a/1.jpg\n[train]\nb/2.jpg\n[val]\nc.jpg\n");
    assert_ok(parse(folder, "train", &train, NULL));
    assert_ok(parse(folder, "val", &val, NULL));
    assert_int_equal(train->content.excluded.n, 2);
    assert_int_equal(val->content.excluded.n, 0);
    struct fby_digest with    = fby_content_digest(&train->content);
    struct fby_digest without = fby_content_digest(&val->content);
    assert_false(fby_digest_equal(&with, &without));
    fby_content_encode(&train->content, &bytes);
    assert_ok(fby_content_decode(bytes.data, bytes.size, decoded, NULL));
    assert_memory_equal(&decoded->excluded, &train->content.excluded,
        sizeof(decoded->excluded));
    write_file(folder, "# none\n"); /* as if there were no key */
    fby_split_destroy(&train);
    assert_ok(parse(folder, "train", &train, NULL));
    with = fby_content_digest(&train->content);
    assert_true(fby_digest_equal(&with, &without));
    fby_split_destroy(&train);
    fby_split_destroy(&val);
    fby_buffer_fini(&bytes);
    free(decoded);
    char path[64];
    snprintf(path, sizeof(path), "%s/bad.txt", folder);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_name_unless_it_is_empty_or_a_comment),
        cmocka_unit_test(blanks_are_a_part_of_a_name),
        cmocka_unit_test(names_in_a_section_are_for_one_split),
        cmocka_unit_test(a_section_for_a_split_that_does_not_exist_is_refused),
        cmocka_unit_test(a_line_that_is_no_name_is_refused),
        cmocka_unit_test(the_names_are_a_part_of_the_content),
    };
    return cmocka_run_group_tests_name("pipeline.exclude", tests, NULL, NULL);
}
