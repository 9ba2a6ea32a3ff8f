/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the token file of a run, and reading it again. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/pull/journal.h"

enum { SIZE = 16 };

struct folder { /* a private directory */
    char dir[64], file[80];
};

static int open_folder(void **state)
{
    static struct folder folder;
    strcpy(folder.dir, "/tmp/fby-journal-XXXXXX");
    assert_non_null(mkdtemp(folder.dir));
    snprintf(folder.file, sizeof(folder.file), "%s/token", folder.dir);
    *state = &folder;
    return 0;
}

static int close_folder(void **state)
{
    const struct folder *folder = *state;
    unlink(folder->file);
    return rmdir(folder->dir); /* fails if another file stays */
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char  bytes[128] = "";
    FILE *file       = fopen(path, "r");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void keep(const struct folder *folder, const char *token)
{
    struct fby_journal      journal;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_journal_open(&journal, NULL, folder->file, 10, &why));
    snprintf(journal.token, sizeof(journal.token), "%s", token);
    assert_ok(fby_journal_close(&journal, &why));
}

/* ---- Writing ------------------------------------------------------------- */

static void the_last_token_replaces_the_file(void **state)
{
    const struct folder *folder = *state;
    struct stat          before;
    struct stat          after;
    write_file(folder->file, "an older token, which is longer\n");
    assert_int_equal(stat(folder->file, &before), 0);
    keep(folder, "new");
    assert_holds(folder->file, "new\n");
    assert_int_equal(stat(folder->file, &after), 0);
    assert_true(before.st_ino != after.st_ino); /* not overwritten */
}

static void without_a_token_the_file_is_kept(void **state)
{
    const struct folder *folder = *state;
    write_file(folder->file, "old\n");
    keep(folder, "");
    assert_holds(folder->file, "old\n");
    unlink(folder->file);
    keep(folder, "");
    assert_false(is_there(folder->file));
}

/* The target of a link is written, and the link is kept. */
static void a_link_stays_a_link(void **state)
{
    const struct folder *folder = *state;
    char                 other[96];
    struct stat          st;
    snprintf(other, sizeof(other), "%s/other", folder->dir);
    write_file(other, "old\n");
    assert_int_equal(symlink(other, folder->file), 0);
    keep(folder, "new");
    assert_holds(other, "new\n");
    assert_int_equal(lstat(folder->file, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(other);
}

static void a_file_that_cannot_be_written_is_refused_at_once(void **state)
{
    const struct folder    *folder = *state;
    struct fby_journal      journal;
    struct fby_error_detail why = {{0}};
    char                    path[128];
    char                    text[256];
    assert_int_equal(
        fby_journal_open(&journal, NULL, folder->dir, 1, &why), FBY_IO);
    snprintf(text, sizeof(text), "%s: Is a directory", folder->dir);
    assert_string_equal(why.text, text);
    assert_int_equal(
        fby_journal_open(&journal, folder->file, folder->dir, 1, &why), FBY_IO);
    assert_false(is_there(folder->file));
    snprintf(path, sizeof(path), "%s/no/token", folder->dir);
    assert_int_equal(fby_journal_open(&journal, NULL, path, 1, &why), FBY_IO);
    snprintf(text, sizeof(text), "%s: No such file or directory", path);
    assert_string_equal(why.text, text);
    assert_int_equal(
        fby_journal_open(&journal, path, folder->file, 1, &why), FBY_IO);
    snprintf(text, sizeof(text), "%s: No such file or directory", path);
    assert_string_equal(why.text, text);
    assert_null(journal.digests);
    assert_ok(fby_journal_close(&journal, &why));
    assert_false(is_there(folder->file));
}

/* ---- Reading ------------------------------------------------------------- */

static void reads(const char *text, const char *token)
{
    char                    out[SIZE];
    struct fby_error_detail why = {{0}};
    assert_ok(fby_journal_read_token(text, out, sizeof(out), &why));
    assert_string_equal(out, token);
}

static void a_token_is_given_or_the_first_line_of_a_file(void **state)
{
    const struct folder *folder = *state;
    char                 at[96];
    snprintf(at, sizeof(at), "@%s", folder->file);
    reads("a-token", "a-token");
    reads("fifteen-letters", "fifteen-letters");
    keep(folder, "kept");
    reads(at, "kept");
    write_file(folder->file, "one\r\ntwo\n");
    reads(at, "one");
    write_file(folder->file, "bare");
    reads(at, "bare");
    write_file(folder->file, "fifteen-letters");
    reads(at, "fifteen-letters");
    write_file(folder->file, "fifteen-letters\r\n");
    reads(at, "fifteen-letters");
}

static void wrong_tokens_are_refused(void **state)
{
    const struct folder    *folder = *state;
    char                    out[SIZE];
    char                    at[96];
    char                    text[128];
    struct fby_error_detail why = {{0}};
    snprintf(at, sizeof(at), "@%s", folder->file);
    assert_int_equal(
        fby_journal_read_token("sixteen-letters-", out, sizeof(out), &why),
        FBY_CONFIG);
    assert_string_equal(why.text, "--resume: the token is too long");
    assert_int_equal(
        fby_journal_read_token(at, out, sizeof(out), &why), FBY_IO);
    snprintf(text, sizeof(text), "%s: No such file or directory", at + 1);
    assert_string_equal(why.text, text);
    static const char *const empty[] = {"", "\n", "\r\n", "\nsecond\n"};
    snprintf(text, sizeof(text), "%s: the file has no token", at + 1);
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        write_file(folder->file, empty[i]);
        assert_int_equal(
            fby_journal_read_token(at, out, sizeof(out), &why), FBY_CONFIG);
        assert_string_equal(why.text, text);
    }
    write_file(folder->file, "sixteen-letters-\n");
    snprintf(text, sizeof(text), "%s: the token is too long", at + 1);
    assert_int_equal(
        fby_journal_read_token(at, out, sizeof(out), &why), FBY_CONFIG);
    assert_string_equal(why.text, text);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_last_token_replaces_the_file),
        IN_FOLDER(without_a_token_the_file_is_kept),
        IN_FOLDER(a_link_stays_a_link),
        IN_FOLDER(a_file_that_cannot_be_written_is_refused_at_once),
        IN_FOLDER(a_token_is_given_or_the_first_line_of_a_file),
        IN_FOLDER(wrong_tokens_are_refused),
    };
    return cmocka_run_group_tests_name("cli.journal", tests, NULL, NULL);
}
