/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the search of `forebay init` in zip archives. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/init/guess.h"
#include "tests/says.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/source/zip_writer.h"

static struct fby_guess guess; /* too large for a stack */

/* Look at `path` in the sandbox. */
static void look(const struct sandbox *sb, const char *path)
{
    struct fby_error_detail why = {0};
    if (fby_source_guess(sandbox_path(sb, path), 0, &guess, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static void assert_refused(
    const struct sandbox *sb, const char *path, const char *words)
{
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, path), 0, &guess, &why), FBY_CONFIG);
    assert_says(&why, words);
}

/* Write an archive of empty files below `top`; the last name is NULL. */
static void write_zip(const struct sandbox *sb, const char *path,
    const char *top, const char *const *names)
{
    struct zip_writer zip = {.bytes = {0}};
    for (; *names != NULL; names++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", top, *names);
        zip_add_text(&zip, name, "x");
    }
    zip_write(&zip, sb, path);
}

static const char *const classes[] = {
    "cat/1.jpg", "cat/2.jpg", "dog/3.jpg", "dog/read.txt", NULL};
static const char *const pictures[] = {"1.jpg", "2.jpg", NULL};

static void assert_split(const struct sandbox *sb, uint32_t i, const char *name,
    const char *path, uint32_t n_classes, uint64_t samples)
{
    const struct fby_guess_split *split = &guess.splits[i];
    assert_string_equal(split->name, name);
    assert_string_equal(split->pattern, sandbox_path(sb, path));
    assert_int_equal(split->classes, n_classes);
    assert_int_equal(split->samples, samples);
    assert_int_equal(split->class_depth, n_classes > 0 ? 1 : 0);
}

static void an_archive_is_a_folder(void **state)
{
    write_zip(*state, "d/x.zip", "", classes);
    look(*state, "d/x.zip");
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
    assert_int_equal(guess.n_splits, 1);
    assert_split(*state, 0, "train", "d/x.zip", 2, 3);
    assert_int_equal(guess.splits[0].n_left_out, 1);
    look(*state, "d"); /* the only archive in a folder */
    assert_split(*state, 0, "train", "d/x.zip", 2, 3);
    look(*state, "d/x.zip/cat");
    assert_split(*state, 0, "train", "d/x.zip/cat", 0, 2);
}

static void the_only_folder_is_entered(void **state)
{
    write_zip(*state, "x.zip", "photos/all/", classes);
    look(*state, "x.zip");
    assert_split(*state, 0, "train", "x.zip/photos/all", 2, 3);
    write_zip(*state, "y.zip", "photos/", pictures);
    look(*state, "y.zip");
    assert_split(*state, 0, "train", "y.zip/photos", 0, 2);
}

static void folders_of_splits_are_splits(void **state)
{
    static const char *const names[] = {"Train/cat/1.jpg", "Train/dog/2.jpg",
        "val/cat/3.jpg", "val/dog/4.jpg", NULL};
    write_zip(*state, "x.zip", "photos/", names);
    look(*state, "x.zip");
    assert_int_equal(guess.n_splits, 2);
    assert_split(*state, 0, "train", "x.zip/photos/Train", 2, 2);
    assert_split(*state, 1, "val", "x.zip/photos/val", 2, 2);
}

static void archives_of_splits_are_splits(void **state)
{
    write_zip(*state, "d/train.zip", "", classes);
    write_zip(*state, "d/val_2.zip", "val/", classes);
    look(*state, "d");
    assert_int_equal(guess.n_splits, 2);
    assert_split(*state, 0, "train", "d/train.zip", 2, 3);
    assert_split(*state, 1, "val", "d/val_2.zip/val", 2, 3);
    write_zip(*state, "e/a.zip", "", classes);
    write_zip(*state, "e/b.zip", "", classes);
    assert_refused(*state, "e",
        "several zip archives are read only as splits, of which one is called "
        "train.zip (found: a.zip, b.zip)");
}

static void parallel_folders_in_an_archive(void **state)
{
    static const char *const names[] = {
        "images/1.jpg", "images/2.jpg", "masks/1.png", "masks/2.png", NULL};
    write_zip(*state, "x.zip", "", names);
    look(*state, "x.zip");
    assert_int_equal(guess.kind, FBY_SOURCE_PARALLEL);
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(*state, "x.zip/{images,masks}"));
    assert_int_equal(guess.splits[0].samples, 2);
}

static void other_archives_are_refused(void **state)
{
    static const char *const table[] = {"a.csv", NULL};
    write_zip(*state, "x.zip", "", table);
    assert_refused(*state, "x.zip", "the archive has no pictures");
    sandbox_write_text(*state, "y.zip", "no archive");
    assert_refused(*state, "y.zip", "does not end as a zip file");
}

static void what_cannot_be_unpacked_has_no_such_advice(void **state)
{
    static const char *const names[] = {
        "cat/1.jpg", "cat/1.jpg/2.jpg", "dog/1.jpg", NULL};
    struct fby_error_detail why = {0};
    write_zip(*state, "d/x.zip", "", names);
    assert_int_not_equal(
        fby_source_guess(sandbox_path(*state, "d/x.zip"), 0, &guess, &why),
        FBY_OK);
    assert_says(&why, "x.zip: x.zip has a file and a folder named "
                      "cat/1.jpg; pack it again without one of them");
}

static void a_pipe_is_no_archive(void **state)
{
    sandbox_write_text(*state, "p/a.txt", "x"); /* makes the folder */
    assert_int_equal(mkfifo(sandbox_path(*state, "p/f.zip"), 0600), 0);
    assert_refused(*state, "p/f.zip", "it is neither a file nor a directory");
}

static void a_name_of_300_bytes_is_refused(void **state)
{
    struct zip_writer zip       = {.bytes = {0}};
    char              name[310] = "cat/";
    memset(name + 4, 'n', 300);
    memcpy(name + 304, ".jpg", 5);
    zip_add_text(&zip, "cat/1.jpg", "x");
    zip_add_text(&zip, name, "x");
    zip_write(&zip, *state, "x.zip");
    assert_refused(*state, "x.zip", "a component of more than 255 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(an_archive_is_a_folder),
        IN_SANDBOX(the_only_folder_is_entered),
        IN_SANDBOX(folders_of_splits_are_splits),
        IN_SANDBOX(archives_of_splits_are_splits),
        IN_SANDBOX(parallel_folders_in_an_archive),
        IN_SANDBOX(other_archives_are_refused),
        IN_SANDBOX(what_cannot_be_unpacked_has_no_such_advice),
        IN_SANDBOX(a_pipe_is_no_archive),
        IN_SANDBOX(a_name_of_300_bytes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
