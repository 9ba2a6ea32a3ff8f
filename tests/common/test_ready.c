/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ready.h"

#include "tests/fake_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_file(const char *path, const char *text)
{
    char  read[64] = "";
    FILE *file     = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(read, 1, sizeof(read) - 1, file);
    read[n]  = '\0';
    fclose(file);
    assert_string_equal(read, text);
}

static void the_file_holds_the_line_of_the_descriptor(void **state)
{
    struct fby_error_detail why = {""};
    char                    line[64];
    int                     ends[2];
    char                    path[256];
    (void)state;
    path_of(path, "ready");
    assert_int_equal(pipe(ends), 0);
    assert_ok(fby_ready_prepare(path, &why));
    assert_ok(fby_ready_announce(ends[1], path, "tcp://127.0.0.1:7", &why));
    assert_file(path, "tcp://127.0.0.1:7\n");
    assert_int_equal(read(ends[0], line, sizeof(line)), 18);
    assert_memory_equal(line, "tcp://127.0.0.1:7\n", 18);
    assert_int_equal(read(ends[0], line, sizeof(line)), 0); /* closed */
    close(ends[0]);
    fby_ready_withdraw(path);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_file_of_an_earlier_process_is_removed_first(void **state)
{
    struct fby_error_detail why = {""};
    char                    path[256];
    (void)state;
    path_of(path, "ready");
    assert_ok(fby_ready_announce(-1, path, "tcp://127.0.0.1:7", &why));
    assert_ok(fby_ready_prepare(path, &why));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(fby_ready_prepare(path, &why)); /* none is no error */
    assert_ok(fby_ready_prepare(NULL, &why));
    assert_ok(fby_ready_announce(-1, NULL, "tcp://127.0.0.1:7", &why));
    fby_ready_withdraw(NULL);
}

static void what_is_no_file_is_neither_removed_nor_replaced(void **state)
{
    struct fby_error_detail why = {""};
    char                    path[256];
    char                    text[sizeof(why.text)];
    struct stat             about;
    (void)state;
    path_of(path, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(fby_ready_prepare(path, &why), FBY_CONFIG);
    snprintf(text, sizeof(text),
        "--ready-file %.100s: this is no regular file: give the path of a file "
        "in a directory that this process can write",
        path);
    assert_string_equal(why.text, text);
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
}

static void a_file_that_cannot_be_written_is_named(void **state)
{
    struct fby_error_detail why = {""};
    (void)state;
    assert_int_equal(
        fby_ready_announce(-1, "/nowhere/ready", "tcp://127.0.0.1:7", &why),
        FBY_CONFIG);
    assert_string_equal(why.text,
        "--ready-file /nowhere/ready: No such file or directory: give the path "
        "of a file in a directory that this process can write");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_file_holds_the_line_of_the_descriptor, make_root, remove_root),
        cmocka_unit_test_setup_teardown(
            a_file_of_an_earlier_process_is_removed_first, make_root,
            remove_root),
        cmocka_unit_test_setup_teardown(
            what_is_no_file_is_neither_removed_nor_replaced, make_root,
            remove_root),
        cmocka_unit_test(a_file_that_cannot_be_written_is_named),
    };
    return cmocka_run_group_tests_name("common.ready", tests, NULL, NULL);
}
