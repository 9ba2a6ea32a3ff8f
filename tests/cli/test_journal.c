/* The token that a run leaves on disk, and how it is read again. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/journal.h"

enum { SIZE = 16 };

struct place { /* a directory of the test's own */
    char dir[64], file[80], part[96];
};

static int open_place(void **state)
{
    static struct place place;
    strcpy(place.dir, "/tmp/fby-journal-XXXXXX");
    assert_non_null(mkdtemp(place.dir));
    snprintf(place.file, sizeof(place.file), "%s/token", place.dir);
    snprintf(place.part, sizeof(place.part), "%s.part", place.file);
    *state = &place;
    return 0;
}

static int close_place(void **state)
{
    const struct place *place = *state;
    unlink(place->part);
    unlink(place->file);
    return rmdir(place->dir);
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

static void keep(const struct place *place, const char *token)
{
    struct fby_journal journal;
    struct fby_why     why = {{0}};
    assert_ok(fby_journal_open(&journal, NULL, place->file, 10, &why));
    assert_false(is_there(place->part));
    snprintf(journal.token, sizeof(journal.token), "%s", token);
    assert_ok(fby_journal_close(&journal, &why));
    assert_false(is_there(place->part));
}

/* ---- Writing ------------------------------------------------------------- */

static void the_last_token_replaces_the_file(void **state)
{
    const struct place *place = *state;
    struct stat         before;
    struct stat         after;
    write_file(place->file, "an older token, which is longer\n");
    assert_int_equal(stat(place->file, &before), 0);
    keep(place, "new");
    assert_holds(place->file, "new\n");
    assert_int_equal(stat(place->file, &after), 0);
    assert_true(before.st_ino != after.st_ino); /* not written over */
}

static void without_a_token_the_file_stays(void **state)
{
    const struct place *place = *state;
    write_file(place->file, "old\n");
    keep(place, "");
    assert_holds(place->file, "old\n");
    unlink(place->file);
    keep(place, "");
    assert_false(is_there(place->file));
}

/* The target of a link is written to, and the link stays. */
static void a_link_stays_a_link(void **state)
{
    const struct place *place = *state;
    char                other[96];
    struct stat         st;
    snprintf(other, sizeof(other), "%s/other", place->dir);
    write_file(other, "old\n");
    assert_int_equal(symlink(other, place->file), 0);
    keep(place, "new");
    assert_holds(other, "new\n");
    assert_int_equal(lstat(place->file, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(other);
}

static void a_place_that_cannot_be_written_is_refused_at_once(void **state)
{
    const struct place *place = *state;
    struct fby_journal  journal;
    struct fby_why      why = {{0}};
    char                path[128];
    char                text[256];
    assert_int_equal(
        fby_journal_open(&journal, NULL, place->dir, 1, &why), FBY_IO);
    snprintf(text, sizeof(text), "%s: Is a directory", place->dir);
    assert_string_equal(why.text, text);
    assert_int_equal(
        fby_journal_open(&journal, place->file, place->dir, 1, &why), FBY_IO);
    assert_false(is_there(place->file));
    snprintf(path, sizeof(path), "%s/no/token", place->dir);
    assert_int_equal(fby_journal_open(&journal, NULL, path, 1, &why), FBY_IO);
    snprintf(text, sizeof(text), "%s.part: No such file or directory", path);
    assert_string_equal(why.text, text);
    assert_int_equal(
        fby_journal_open(&journal, path, place->file, 1, &why), FBY_IO);
    snprintf(text, sizeof(text), "%s: No such file or directory", path);
    assert_string_equal(why.text, text);
    assert_null(journal.digests);
    assert_ok(fby_journal_close(&journal, &why));
    assert_false(is_there(place->file));
}

/* ---- Reading ------------------------------------------------------------- */

static void reads(const char *text, const char *token)
{
    char           out[SIZE];
    struct fby_why why = {{0}};
    assert_ok(fby_journal_read_token(text, out, sizeof(out), &why));
    assert_string_equal(out, token);
}

static void a_token_is_given_or_the_first_line_of_a_file(void **state)
{
    const struct place *place = *state;
    char                at[96];
    snprintf(at, sizeof(at), "@%s", place->file);
    reads("a-token", "a-token");
    reads("fifteen-letters", "fifteen-letters");
    keep(place, "kept");
    reads(at, "kept");
    write_file(place->file, "one\r\ntwo\n");
    reads(at, "one");
    write_file(place->file, "bare");
    reads(at, "bare");
}

static void what_is_no_token_is_refused(void **state)
{
    const struct place *place = *state;
    char                out[SIZE];
    char                at[96];
    char                text[128];
    struct fby_why      why = {{0}};
    snprintf(at, sizeof(at), "@%s", place->file);
    assert_int_equal(
        fby_journal_read_token("sixteen-letters-", out, sizeof(out), &why),
        FBY_CONFIG);
    assert_string_equal(why.text, "--resume: no token is that long");
    assert_int_equal(
        fby_journal_read_token(at, out, sizeof(out), &why), FBY_IO);
    snprintf(text, sizeof(text), "%s: No such file or directory", at + 1);
    assert_string_equal(why.text, text);
    static const char *const empty[] = {"", "\n", "\r\n", "\nsecond\n"};
    snprintf(text, sizeof(text), "%s: holds no token", at + 1);
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        write_file(place->file, empty[i]);
        assert_int_equal(
            fby_journal_read_token(at, out, sizeof(out), &why), FBY_CONFIG);
        assert_string_equal(why.text, text);
    }
}

#define IN_PLACE(test) \
    cmocka_unit_test_setup_teardown(test, open_place, close_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_last_token_replaces_the_file),
        IN_PLACE(without_a_token_the_file_stays),
        IN_PLACE(a_link_stays_a_link),
        IN_PLACE(a_place_that_cannot_be_written_is_refused_at_once),
        IN_PLACE(a_token_is_given_or_the_first_line_of_a_file),
        IN_PLACE(what_is_no_token_is_refused),
    };
    return cmocka_run_group_tests_name("cli.journal", tests, NULL, NULL);
}
