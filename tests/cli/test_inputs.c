/* SPDX-License-Identifier: Apache-2.0 */
/* cli/inputs.c: an output that is an input is refused, by whatever path. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "tests/says.h"

static int enter_folder(void **state)
{
    static char dir[64];
    strcpy(dir, "/tmp/fby-inputs-XXXXXX");
    *state = mkdtemp(dir);
    return *state == NULL ? -1 : chdir(dir);
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"p.yaml", "link", "l.csv", "a.zip",
        "t-0.tar", "t-1.tar", "new", "bad.txt"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unlink(names[i]);
    }
    return rmdir(*state);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void a_link_to_the_input_is_refused(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    write_file("p.yaml", "");
    write_file("l.csv", "");
    assert_int_equal(symlink("p.yaml", "link"), 0);
    assert_int_equal(
        fby_inputs_check_file("link", "./p.yaml", &why), FBY_USAGE);
    assert_says(&why, "link: the command reads this file; write to another");
    assert_ok(fby_inputs_check_file("l.csv", "p.yaml", &why));
    assert_ok(fby_inputs_check_file("new", "new", &why)); /* none is there */
    assert_ok(fby_inputs_check_file("/dev/null", "/dev/null", &why));
    assert_ok(fby_inputs_check_file(NULL, "p.yaml", &why));
}

static void assert_refused(const char *output, const char *pattern)
{
    assert_int_equal(
        fby_inputs_check_pattern(output, pattern, NULL), FBY_USAGE);
}

static void files_of_a_pattern_are_refused(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    write_file("a.zip", "");
    write_file("t-0.tar", "");
    write_file("t-1.tar", "");
    assert_refused("t-1.tar", "t-{0..1}.tar");
    assert_refused("t-1.tar", "{x,t}-*.tar");
    assert_refused("t-1.tar", "t-?.tar");
    assert_refused("a.zip", "a.zip");
    assert_refused("a.zip", "a.zip/train/x");
    assert_ok(fby_inputs_check_pattern("t-1.tar", "t-{2..5}.tar", &why));
    assert_ok(fby_inputs_check_pattern("t-1.tar", "u-*.tar", &why));
    assert_ok(fby_inputs_check_pattern("t-1.tar", ".", &why));
}

static void the_pipeline_and_the_data_of_its_splits_are_refused(void **state)
{
    (void)state;
    char                    root[] = "top=/";
    char                    text[512];
    char                   *words[] = {root};
    const struct fby_words  roots   = {.items = words, .n = 1};
    const struct fby_words  none    = {0};
    struct fby_error_detail why     = {{0}};
    snprintf(text, sizeof(text),
        "forebay: 1\n"
        "splits:\n"
        "  train: {list: l.csv, files: [image], exclude: bad.txt}\n"
        "  val: {shards: \"top:%s/t-{0..1}.tar\"}\n"
        "global_batch: 4\n"
        "fields:\n"
        "  image: {from: jpg, decode: bytes, max_length: 8}\n",
        (const char *)*state + 1);
    write_file("p.yaml", text);
    write_file("l.csv", "");
    write_file("t-1.tar", "");
    write_file("new", "");
    write_file("bad.txt", "");
    assert_int_equal(
        fby_inputs_check_pipeline("p.yaml", "p.yaml", &none, &why), FBY_USAGE);
    assert_int_equal(
        fby_inputs_check_pipeline("l.csv", "p.yaml", &none, &why), FBY_USAGE);
    assert_int_equal(
        fby_inputs_check_pipeline("t-1.tar", "p.yaml", &roots, &why),
        FBY_USAGE);
    assert_ok(fby_inputs_check_pipeline("t-1.tar", "p.yaml", &none, &why));
    assert_ok(fby_inputs_check_pipeline("new", "p.yaml", &roots, &why));
    assert_ok(fby_inputs_check_pipeline("bad.txt", "p.yaml", &roots, &why));
    assert_ok(fby_inputs_check_all("new", "p.yaml", &roots, &why));
    assert_int_equal(
        fby_inputs_check_all("bad.txt", "p.yaml", &roots, &why), FBY_USAGE);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, enter_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_link_to_the_input_is_refused),
        IN_FOLDER(files_of_a_pattern_are_refused),
        IN_FOLDER(the_pipeline_and_the_data_of_its_splits_are_refused),
    };
    return cmocka_run_group_tests_name("cli.inputs", tests, NULL, NULL);
}
