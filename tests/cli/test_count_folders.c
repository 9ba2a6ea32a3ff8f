/* SPDX-License-Identifier: Apache-2.0 */
/* Class folders are counted whole, and as the source would read them. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/listing.h"

static struct fby_guess guess; /* too large for a stack */

/* Write `file` after the folder `path` was read once. */
static struct {
    const struct sandbox *sandbox; /* NULL: do not */
    const char           *path;    /* beneath the root */
    const char           *file;
} appearing;

/* NOLINTBEGIN(readability-identifier-naming): what the linker calls them */
fby_err __real_fby_listing_visit(const struct fby_root *root, const char *path,
    const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why);
fby_err __wrap_fby_listing_visit(const struct fby_root *root, const char *path,
    const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why);
/* NOLINTEND(readability-identifier-naming) */

fby_err __wrap_fby_listing_visit(const struct fby_root *root, const char *path,
    const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why)
{
    fby_err err =
        __real_fby_listing_visit(root, path, glob, visit, arg, n_dangling, why);
    if (appearing.sandbox != NULL && strcmp(path, appearing.path) == 0) {
        sandbox_write(appearing.sandbox, appearing.file, "", 0);
        appearing.sandbox = NULL;
    }
    return err;
}

static const struct fby_guess_split *look(const struct sandbox *sb)
{
    struct fby_error_detail why = {0};
    if (fby_source_guess(sandbox_path(sb, "p"), 0, &guess, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(guess.n_splits, 1);
    assert_true(guess.splits[0].counted_all);
    return &guess.splits[0];
}

static void assert_refused(const struct sandbox *sb, const char *words)
{
    struct fby_error_detail why = {0};
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, "p"), 0, &guess, &why), FBY_CONFIG);
    assert_says(&why, words);
}

/* Write `n` empty files, named `stem`, a number from `first` and `end`. */
static void write_files(const struct sandbox *sb, const char *stem,
    const char *end, unsigned first, unsigned n)
{
    for (unsigned i = first; i < first + n; i++) {
        char path[64];
        snprintf(path, sizeof(path), "%s%u%s", stem, i, end);
        sandbox_write(sb, path, "", 0);
    }
}

static void assert_member(const struct fby_guess_split *split, uint32_t i,
    const char *extension, uint64_t count)
{
    assert_true(i < split->n_members);
    assert_string_equal(split->members[i].extension, extension);
    assert_int_equal(split->members[i].count, count);
}

static void assert_left_out(const struct fby_guess_split *split, uint32_t i,
    const char *extension, uint64_t count)
{
    assert_true(i < split->n_left_out);
    assert_string_equal(split->left_out[i].extension, extension);
    assert_int_equal(split->left_out[i].count, count);
}

/* No number of files ends the search: class b is behind 20,000. */
static void all_files_of_all_class_folders_are_counted(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/", ".jpg", 0, 20000);
    write_files(sb, "p/b/", ".gif", 0, 3);
    write_files(sb, "p/b/", ".png", 3, 2);
    const struct fby_guess_split *split = look(sb);
    assert_int_equal(split->samples, 20002);
    assert_int_equal(split->classes, 2);
    assert_int_equal(split->n_members, 2);
    assert_member(split, 0, "jpg", 20000);
    assert_member(split, 1, "png", 2);
    assert_true(split->members[1].header_read);
    assert_int_equal(split->n_left_out, 1);
    assert_left_out(split, 0, "gif", 3);
}

/* a/4 has no picture; a/5 and a/x/5 are two samples. */
static void files_of_one_key_in_one_folder_are_one_sample(void **state)
{
    static const char *const files[] = {"p/a/1.jpg", "p/a/1.json",
        "p/a/1.mask.png", "p/a/2.JPG", "p/a/3.jpg", "p/a/4.json", "p/a/5.jpg",
        "p/a/x/5.json", "p/a/x/5.jpg", "p/a/Thumbs.db", "p/a/README",
        "p/a/.hidden.jpg", "p/b/1.jpg", "p/b/1.txt", "p/b/2.txt"};
    const struct sandbox    *sb      = *state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        sandbox_write(sb, files[i], "", 0);
    }
    const struct fby_guess_split *split = look(sb);
    assert_int_equal(split->samples, 6);
    assert_int_equal(split->n_members, 4);
    assert_member(split, 0, "jpg", 6);
    assert_true(split->members[0].always);
    assert_member(split, 1, "json", 2);
    assert_member(split, 2, "mask.png", 1);
    assert_member(split, 3, "txt", 1);
    assert_int_equal(split->n_left_out, 2);
    assert_left_out(split, 0, "json", 1);
    assert_left_out(split, 1, "txt", 1);
}

static void without_pictures_all_files_are_samples(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/", ".dat", 0, 3);
    write_files(sb, "p/a/", ".txt", 2, 2);
    write_files(sb, "p/b/", ".txt", 0, 5);
    const struct fby_guess_split *split = look(sb);
    assert_int_equal(split->samples, 9);
    assert_int_equal(split->n_left_out, 0);
    assert_member(split, 0, "txt", 7);
    assert_member(split, 1, "dat", 3);
}

/* They are all samples, although not all types are counted one by one. */
static void more_types_than_a_split_has_members_are_counted(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/x.", ".txt", 0, FBY_GUESS_MEMBERS + 8);
    write_files(sb, "p/a/x", ".jpg", 0, 5);
    sandbox_write(sb, "p/a/x.jpg", "", 0);
    const struct fby_guess_split *split = look(sb);
    assert_int_equal(split->samples, 6);
    assert_int_equal(split->n_members, FBY_GUESS_MEMBERS);
}

/* Class a has 5 types and more files, so class b is counted before it. */
static void the_first_types_in_order_of_classes_are_kept(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/y", ".jpg", 0, 3000);
    write_files(sb, "p/a/y0.t", ".txt", 0, 5);
    sandbox_write(sb, "p/b/b.jpg", "", 0);
    write_files(sb, "p/b/b.", ".txt", 0, FBY_GUESS_MEMBERS);
    const struct fby_guess_split *split = look(sb);
    assert_int_equal(split->n_members, FBY_GUESS_MEMBERS);
    for (unsigned i = 0; i < 5; i++) {
        char     extension[16];
        uint32_t m = 0;
        snprintf(extension, sizeof(extension), "t%u.txt", i);
        while (m < split->n_members &&
               strcmp(split->members[m].extension, extension) != 0) {
            m++;
        }
        assert_true(m < split->n_members);
    }
}

/* A folder with several types is read twice. */
static void a_type_that_appears_between_two_readings_is_left_out(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/", ".jpg", 0, 2);
    write_files(sb, "p/a/", ".txt", 5, 2);
    write_files(sb, "p/b/", ".jpg", 0, 2);
    appearing.path                      = "a";
    appearing.file                      = "p/a/0.new";
    appearing.sandbox                   = sb;
    const struct fby_guess_split *split = look(sb);
    assert_null(appearing.sandbox);
    assert_int_equal(split->samples, 4);
    assert_int_equal(split->n_left_out, 1);
    assert_left_out(split, 0, "txt", 2);
}

static void what_the_source_refuses_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/", ".jpg", 0, 2);
    write_files(sb, "p/b/", ".JPG", 0, 1);
    write_files(sb, "p/b/", ".jpg", 0, 2);
    assert_refused(sb, "sample b/0 has two members named .jpg");
    write_files(sb, "p/a/x.", ".txt", 0, 300);
    assert_refused(sb, "more than 256 different extensions");
    write_files(sb, "p/a/\x01", ".jpg", 0, 1);
    assert_refused(sb, "has control characters or is not UTF-8: rename it");
}

/* They have more extensions than the source takes. */
static void numbers_between_dots_are_explained_as_such(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/x.", ".jpg", 0, 300);
    assert_refused(sb, "the key of a sample ends at the first dot of a name");
}

static void a_folder_s_name_is_refused_as_by_the_source(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/k/", ".jpg", 0, 2);
    write_files(sb, "p/b/\x1b[31m/", ".jpg", 0, 2);
    assert_refused(
        sb, "the name b/?[31m/0.jpg in data: has control characters");
    write_files(sb, "p/a\x80/k/", ".jpg", 0, 2);
    assert_refused(
        sb, "the name a?/k/0.jpg in data: has control characters or");
}

static void every_class_folder_needs_a_picture(void **state)
{
    const struct sandbox *sb = *state;
    write_files(sb, "p/a/", ".jpg", 0, 2);
    write_files(sb, "p/b/", ".txt", 0, 2);
    write_files(sb, "p/c/", ".txt", 0, 2);
    write_files(sb, "p/e/", ".jpg", 0, 2);
    assert_refused(sb,
        "the class folder b has no file that a field reads (jpg, jpeg, png, "
        "webp), only files such as b/1.txt");
    sandbox_mkdir(sb, "p/d");
    assert_refused(sb,
        "the class folder d is empty: a class has a number, so add files, or, "
        "to remove the empty folders:");
}

static void a_loop_of_links_is_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write(sb, "p/a/x/y/1.jpg", "", 0);
    sandbox_link(sb, "..", "p/a/x/y/z");
    assert_refused(sb, "a/x/y/z is a link to a folder that it lies in: remove "
                       "the link");
}

/* Progress is a number of files, of an unknown total. */
static bool note_progress(void *arg, uint64_t done, uint64_t total)
{
    assert_int_equal(total, 0);
    *(uint64_t *)arg = done;
    return true;
}

static bool give_up(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    (void)done;
    (void)total;
    return false;
}

static void progress_is_reported_and_can_end_the_search(void **state)
{
    const struct sandbox   *sb       = *state;
    struct fby_error_detail why      = {0};
    uint64_t                done     = 0;
    struct fby_progress     progress = {note_progress, &done};
    write_files(sb, "p/a/", ".jpg", 0, 300);
    write_files(sb, "p/b/", ".jpg", 0, 4);
    assert_ok(fby_source_guess_at_depth(
        sandbox_path(sb, "p"), 0, FBY_GUESS_ANY_DEPTH, progress, &guess, &why));
    assert_int_equal(done, 304);
    progress.fn = give_up;
    assert_int_equal(fby_source_guess_at_depth(sandbox_path(sb, "p"), 0,
                         FBY_GUESS_ANY_DEPTH, progress, &guess, &why),
        FBY_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(all_files_of_all_class_folders_are_counted),
        IN_SANDBOX(files_of_one_key_in_one_folder_are_one_sample),
        IN_SANDBOX(without_pictures_all_files_are_samples),
        IN_SANDBOX(more_types_than_a_split_has_members_are_counted),
        IN_SANDBOX(the_first_types_in_order_of_classes_are_kept),
        IN_SANDBOX(a_type_that_appears_between_two_readings_is_left_out),
        IN_SANDBOX(what_the_source_refuses_is_refused),
        IN_SANDBOX(numbers_between_dots_are_explained_as_such),
        IN_SANDBOX(a_folder_s_name_is_refused_as_by_the_source),
        IN_SANDBOX(every_class_folder_needs_a_picture),
        IN_SANDBOX(a_loop_of_links_is_refused),
        IN_SANDBOX(progress_is_reported_and_can_end_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
