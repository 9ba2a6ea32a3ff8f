/* SPDX-License-Identifier: Apache-2.0 */
/* cli/lint/names.c: a list that it writes can be read by the key `exclude`. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/lint/names.h"
#include "pipeline/exclude.h"
#include "tests/says.h"

struct folder {
    char                 dir[64], file[80];
    struct fby_pipeline *pipeline; /* with the splits train and val */
};

static const char pipeline_text[] =
    "forebay: 1\n"
    "splits:\n"
    "  train: {folder: /data}\n"
    "  val: {folder: /data}\n"
    "global_batch: 4\n"
    "fields:\n"
    "  image: {from: jpg, decode: bytes, max_length: 8}\n";

static int open_folder(void **state)
{
    static struct folder           folder;
    const struct fby_pipeline_text text = {
        pipeline_text, strlen(pipeline_text), "p.yaml", "/"};
    strcpy(folder.dir, "/tmp/fby-names-XXXXXX");
    assert_non_null(mkdtemp(folder.dir));
    snprintf(folder.file, sizeof(folder.file), "%s/bad.txt", folder.dir);
    assert_ok(fby_pipeline_parse(&text, &folder.pipeline, NULL));
    *state = &folder;
    return 0;
}

static int close_folder(void **state)
{
    struct folder *folder = *state;
    fby_pipeline_destroy(&folder->pipeline);
    unlink(folder->file);
    return rmdir(folder->dir);
}

static void write_bytes(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(text, 1, size, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char  bytes[256] = "";
    FILE *file       = fopen(path, "r");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

static struct fby_lint_bad bad(size_t split, const char *name)
{
    static char names[16][16]; /* of the newest samples */
    static int  n;
    static char cause[] = "not\na picture";
    char       *copy    = names[n++ % 16];
    snprintf(copy, sizeof(names[0]), "%s", name);
    return (struct fby_lint_bad){
        split, 7, copy, cause, fby_bad_name_is_excludable(name)};
}

static struct fby_bad_names add(
    const struct folder *folder, const struct fby_lint_bad *samples, uint32_t n)
{
    struct fby_bad_names    names;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_bad_names_check(folder->pipeline, folder->file, &why));
    assert_ok(fby_bad_names_add(
        folder->pipeline, folder->file, samples, n, &names, &why));
    return names;
}

/* Returns the number of names for the split. */
static uint32_t count_names(const struct folder *folder, const char *split)
{
    static const char *const        names[]  = {"train", "val"};
    const struct fby_exclude_splits splits   = {split, names, 2};
    struct fby_excluded            *excluded = calloc(1, sizeof(*excluded));
    assert_ok(fby_excluded_load(folder->file, &splits, excluded, NULL));
    uint32_t n = excluded->n;
    free(excluded);
    return n;
}

static void names_that_are_there_are_not_added_again(void **state)
{
    const struct folder      *folder    = *state;
    const struct fby_lint_bad samples[] = {
        bad(0, "a.jpg"), bad(0, "#b "), bad(1, "a.jpg")};
    const char text[] = "a.jpg\n[train]\n# not?a picture\n./#b \n";
    write_bytes(folder->file, "a.jpg", 5);
    struct fby_bad_names names = add(folder, samples, 3);
    assert_int_equal(names.added, 1);
    assert_int_equal(names.present, 2);
    assert_holds(folder->file, text);
    assert_int_equal(add(folder, samples, 3).present, 3);
    assert_holds(folder->file, text);
}

static void without_bad_samples_a_new_list_is_empty(void **state)
{
    const struct folder *folder = *state;
    struct fby_bad_names names  = add(folder, NULL, 0);
    assert_true(names.is_empty_list);
    assert_holds(folder->file, "# names of bad samples, for the key exclude\n");
    assert_int_equal(count_names(folder, "train"), 0);
    write_bytes(folder->file, "a.jpg", 5);
    names = add(folder, NULL, 0);
    assert_false(names.is_empty_list);
    assert_holds(folder->file, "a.jpg");
}

static void a_full_list_gets_no_more_names(void **state)
{
    enum { OLD = FBY_MAX_EXCLUDED - 2 };
    const struct folder *folder = *state;
    FILE                *file   = fopen(folder->file, "w");
    assert_non_null(file);
    for (int i = 0; i < OLD; i++) {
        fprintf(file, "[train]\nold %d\n", i / 2); /* each name twice */
    }
    fclose(file);
    const struct fby_lint_bad samples[] = {bad(0, "a"), bad(0, "b"),
        bad(0, "c"), bad(0, "old 3"), bad(1, "a"), bad(1, "b"), bad(1, "c")};
    struct fby_bad_names      names     = add(folder, samples, 7);
    assert_int_equal(names.added, 5);
    assert_int_equal(names.beyond, 1);
    assert_int_equal(names.present, 1);
    assert_int_equal(count_names(folder, "train"), OLD / 2 + 2);
    assert_int_equal(count_names(folder, "val"), 3);
}

static void a_name_with_a_line_break_is_not_added(void **state)
{
    const struct folder      *folder    = *state;
    const struct fby_lint_bad samples[] = {
        bad(0, "a\nb"), bad(0, "a\r"), bad(0, "")};
    struct fby_bad_names names = add(folder, samples, 3);
    assert_int_equal(names.added, 0);
    assert_int_equal(names.without, 3);
    assert_int_not_equal(access(folder->file, F_OK), 0);
}

static void assert_refused(const struct folder *folder, const char *text,
    size_t size, const char *says)
{
    struct fby_error_detail why = {{0}};
    write_bytes(folder->file, text, size);
    assert_int_equal(
        fby_bad_names_check(folder->pipeline, folder->file, &why), FBY_USAGE);
    assert_says(&why, says);
}

static void a_file_that_is_no_list_is_refused(void **state)
{
    const struct folder *folder = *state;
    assert_refused(folder, "a\0b\n", 4, "no text in UTF-8; write to another");
    assert_refused(folder, "a\n\xff\n", 4, "no text in UTF-8");
    assert_refused(folder, "forebay: 1\n?", 12, "is a pipeline file");
    assert_refused(folder, "# mine\nforebay: 1\n?", 19, "is a pipeline file");
    assert_refused(folder, pipeline_text, strlen(pipeline_text), "is a pipel");
    assert_refused(folder, "[x]\n", 4, "there is no split 'x'");
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(names_that_are_there_are_not_added_again),
        IN_FOLDER(without_bad_samples_a_new_list_is_empty),
        IN_FOLDER(a_full_list_gets_no_more_names),
        IN_FOLDER(a_name_with_a_line_break_is_not_added),
        IN_FOLDER(a_file_that_is_no_list_is_refused),
    };
    return cmocka_run_group_tests_name("cli.lint_names", tests, NULL, NULL);
}
