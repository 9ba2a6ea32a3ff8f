/* SPDX-License-Identifier: Apache-2.0 */
/* Output files: the paths that are replaced or written in place, and the names
 * in errors. */
#include "tests/test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"

struct folder {
    char dir[32];
    char file[64]; /* in dir */
    char part[80]; /* of the user: the name of FILE and .part */
};

static int open_folder(void **state)
{
    static struct folder folder;
    strcpy(folder.dir, "/tmp/forebay-output-XXXXXX");
    assert_non_null(mkdtemp(folder.dir));
    snprintf(folder.file, sizeof(folder.file), "%s/out", folder.dir);
    snprintf(folder.part, sizeof(folder.part), "%s.part", folder.file);
    *state = &folder;
    return 0;
}

static int remove_folder(void **state)
{
    const struct folder *folder = *state;
    unlink(folder->file);
    rmdir(folder->file);
    return rmdir(folder->dir); /* fails if a partial file stays */
}

static fby_err write_text(
    const struct folder *folder, const char *text, struct fby_error_detail *why)
{
    struct fby_output output;
    assert_ok(fby_output_open(&output, folder->file, why));
    fputs(text, output.file);
    return fby_output_finish(&output, why);
}

static void assert_holds(const char *path, const char *text)
{
    char  bytes[64] = "";
    FILE *file      = fopen(path, "r");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

static void assert_failed(const struct folder *folder,
    const struct fby_error_detail *why, const char *cause)
{
    char text[128];
    snprintf(text, sizeof(text), "%s: %s", folder->file, cause);
    assert_string_equal(why->text, text);
}

static void a_file_size_limit_keeps_the_old_file(void **state)
{
    const struct folder    *folder = *state;
    struct fby_error_detail why    = {""};
    struct rlimit           old;
    assert_ok(write_text(folder, "old", &why));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_IGN); /* as in cli/main.c */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4, old.rlim_max});
    fby_err err = write_text(folder, "more than four", &why);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(err, FBY_IO);
    assert_failed(folder, &why, "File too large");
    assert_holds(folder->file, "old");
}

static void a_file_beside_it_with_the_suffix_is_kept(void **state)
{
    const struct folder    *folder = *state;
    struct fby_error_detail why    = {""};
    char                    target[64];
    snprintf(target, sizeof(target), "%s/target", folder->dir);
    FILE *file = fopen(target, "w");
    assert_non_null(file);
    fputs("precious", file);
    fclose(file);
    assert_int_equal(symlink(target, folder->part), 0);
    assert_ok(fby_output_check(folder->file, &why));
    assert_ok(write_text(folder, "text", &why));
    assert_holds(folder->file, "text");
    assert_holds(folder->part, "precious");
    unlink(folder->part);
    unlink(target);
}

static void a_new_file_has_the_mode_of_the_umask(void **state)
{
    const struct folder    *folder = *state;
    struct fby_error_detail why    = {""};
    struct stat             st;
    mode_t                  old = umask(0027);
    assert_ok(write_text(folder, "text", &why));
    umask(old);
    assert_int_equal(stat(folder->file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_full_device_behind_a_link_is_a_failure(void **state)
{
    const struct folder    *folder = *state;
    struct fby_error_detail why    = {""};
    assert_int_equal(symlink("/dev/full", folder->file), 0);
    assert_ok(fby_output_check(folder->file, &why));
    assert_int_equal(write_text(folder, "text", &why), FBY_IO);
    assert_failed(folder, &why, "No space left on device");
}

static void a_link_may_lead_to_a_new_file(void **state)
{
    const struct folder    *folder = *state;
    struct fby_error_detail why    = {""};
    char                    target[64];
    snprintf(target, sizeof(target), "%s/target", folder->dir);
    assert_int_equal(symlink(target, folder->file), 0);
    assert_ok(fby_output_check(folder->file, &why));
    assert_ok(write_text(folder, "text", &why));
    assert_holds(target, "text");
    unlink(target);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, open_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_file_size_limit_keeps_the_old_file),
        IN_FOLDER(a_file_beside_it_with_the_suffix_is_kept),
        IN_FOLDER(a_new_file_has_the_mode_of_the_umask),
        IN_FOLDER(a_full_device_behind_a_link_is_a_failure),
        IN_FOLDER(a_link_may_lead_to_a_new_file),
    };
    return cmocka_run_group_tests_name("cli.output", tests, NULL, NULL);
}
