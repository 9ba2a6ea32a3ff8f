/* SPDX-License-Identifier: Apache-2.0 */
/* A file is there completely or not at all, no other file is changed, and no
 * partial file stays, whatever fails. */
#include "tests/fake_files.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/atomic_file.h"

static char path[256]; /* of FILE, in the folder of this test */

static int make_folder(void **state)
{
    int failed = make_root(state);
    path_of(path, "out");
    return failed;
}

static fby_err write_text(const char *text, struct fby_error_detail *why)
{
    struct fby_atomic_file file;
    FBY_TRY(fby_atomic_file_open(&file, path, 0666, why));
    fby_atomic_file_write(&file, text, strlen(text));
    return fby_atomic_file_finish(&file, why);
}

static fby_err write_text_with_limit(
    const char *text, rlim_t most, struct fby_error_detail *why)
{
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, old.rlim_max});
    fby_err err = write_text(text, why);
    setrlimit(RLIMIT_FSIZE, &old);
    return err;
}

static void assert_holds(const char *file_path, const char *text)
{
    char  bytes[64] = "";
    FILE *file      = fopen(file_path, "re");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

static void assert_file_count(int expected)
{
    int  n   = -2; /* without . and .. */
    DIR *dir = opendir(root);
    assert_non_null(dir);
    while (readdir(dir) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        n++;
    }
    closedir(dir);
    assert_int_equal(n, expected);
}

static void the_file_is_replaced_at_the_end(void **state)
{
    (void)state;
    struct fby_atomic_file file;
    assert_ok(write_text("old", NULL));
    assert_ok(fby_atomic_file_open(&file, path, 0666, NULL));
    fby_atomic_file_write(&file, "new", 3);
    assert_int_equal(fflush(file.file), 0);
    assert_holds(path, "old");
    assert_holds(file.part_path, "new");
    assert_ok(fby_atomic_file_finish(&file, NULL));
    assert_holds(path, "new");
    assert_file_count(1);
}

static void a_failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    struct fby_error_detail why = {""};
    char long_text[9001]        = ""; /* more than a buffer of stdio */
    memset(long_text, 'x', sizeof(long_text) - 1);
    const char *const texts[] = {"more than four", long_text};
    assert_ok(write_text("old", NULL));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write_text_with_limit(texts[i], 4, &why), FBY_IO);
        assert_string_equal(why.text, "File too large");
        assert_holds(path, "old");
        assert_file_count(1);
    }
}

static void a_folder_made_in_place_of_the_file_meanwhile_is_kept(void **state)
{
    (void)state;
    struct fby_error_detail why = {""};
    struct fby_atomic_file  file;
    assert_ok(fby_atomic_file_open(&file, path, 0666, &why));
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(fby_atomic_file_finish(&file, &why), FBY_IO);
    assert_string_equal(why.text, "Is a directory");
    assert_file_count(1);
}

static void a_file_that_is_given_up_is_removed(void **state)
{
    (void)state;
    struct fby_atomic_file file;
    assert_ok(write_text("old", NULL));
    assert_ok(fby_atomic_file_open(&file, path, 0666, NULL));
    fby_atomic_file_write(&file, "half", 4);
    fby_atomic_file_close(&file);
    fby_atomic_file_close(&file);
    assert_holds(path, "old");
    assert_file_count(1);
}

static void a_file_left_by_a_killed_process_stays_and_does_not_block(
    void **state)
{
    (void)state;
    struct fby_atomic_file killed;
    assert_ok(fby_atomic_file_open(&killed, path, 0666, NULL));
    fclose(killed.file);
    assert_true(
        fby_atomic_file_is_part_suffix(killed.part_path + strlen(path)));
    assert_ok(write_text("new", NULL));
    assert_holds(path, "new");
    assert_file_count(2);
}

static void no_other_suffix_is_that_of_a_new_file(void **state)
{
    (void)state;
    static const char *const others[] = {"", ".part", "x0123cdef.part",
        ".0123cde.part", ".0123cdef0.part", ".0123cdeG.part", ".0123cdef.par",
        ".0123cdef.parts", ".0123CDEF.part", ".0123cdef"};
    assert_true(fby_atomic_file_is_part_suffix(".0123cdef.part"));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(fby_atomic_file_is_part_suffix(others[i]));
    }
}

static void a_new_file_has_the_mode_less_the_umask(void **state)
{
    (void)state;
    struct fby_atomic_file file;
    struct stat            st;
    mode_t                 old = umask(0027);
    assert_ok(fby_atomic_file_open(&file, path, 0666, NULL));
    umask(old);
    assert_ok(fby_atomic_file_finish(&file, NULL));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_device_is_written_in_place_and_stays(void **state)
{
    (void)state;
    struct fby_error_detail why = {""};
    struct fby_atomic_file  file;
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_ok(fby_atomic_file_open_in_place(&file, path, &why));
    fby_atomic_file_write(&file, "text", 4);
    assert_int_equal(fby_atomic_file_finish(&file, &why), FBY_IO);
    assert_string_equal(why.text, "No space left on device");
    assert_file_count(1);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    struct fby_error_detail why = {""};
    path_of(path, "none/out");
    assert_int_equal(write_text("text", &why), FBY_IO);
    assert_string_equal(why.text, "No such file or directory");
    assert_file_count(0);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_file_is_replaced_at_the_end),
        IN_FOLDER(a_failed_write_keeps_the_old_file),
        IN_FOLDER(a_folder_made_in_place_of_the_file_meanwhile_is_kept),
        IN_FOLDER(a_file_that_is_given_up_is_removed),
        IN_FOLDER(a_file_left_by_a_killed_process_stays_and_does_not_block),
        IN_FOLDER(no_other_suffix_is_that_of_a_new_file),
        IN_FOLDER(a_new_file_has_the_mode_less_the_umask),
        IN_FOLDER(a_device_is_written_in_place_and_stays),
        IN_FOLDER(a_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests_name("common.atomic_file", tests, NULL, NULL);
}
