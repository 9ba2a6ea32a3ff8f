/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/descriptors.h"
#include "tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/worker/source/sandbox.h"

static const struct fby_root *root_of(const struct sandbox *sb)
{
    const struct fby_root *root = NULL;
    assert_ok(fby_roots_find(sb->roots, "data", &root, NULL));
    return root;
}

static fby_err try_open(
    const struct sandbox *sb, const char *path, struct fby_error_detail *why)
{
    int     fd  = -1;
    fby_err err = fby_root_open(root_of(sb), path, FBY_WANT_FILE, &fd, why);
    if (fd >= 0) {
        close(fd);
    }
    return err;
}

static void a_file_below_the_root_opens(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/a/b.txt", "hello");
    int  fd      = -1;
    char text[8] = "";
    assert_ok(fby_root_open(root_of(sb), "a/b.txt", FBY_WANT_FILE, &fd, NULL));
    assert_int_equal(read(fd, text, sizeof(text)), 5);
    assert_string_equal(text, "hello");
    close(fd);
}

static void paths_that_climb_are_refused_by_name(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    sandbox_write_text(sb, "secret.txt", "x");
    sandbox_write_text(sb, "data/a/b.txt", "x");
    assert_int_equal(try_open(sb, "../secret.txt", &why), FBY_USAGE);
    assert_says(&why, "data:../secret.txt");
    assert_int_equal(try_open(sb, "a/../a/b.txt", &why), FBY_USAGE);
    assert_int_equal(try_open(sb, "/etc/passwd", &why), FBY_USAGE);
    assert_says(&why, "/etc/passwd");
}

static void a_link_out_of_the_root_is_refused_by_name(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    sandbox_write_text(sb, "secret.txt", "x");
    sandbox_link(sb, "../secret.txt", "data/relative.txt");
    sandbox_link(sb, "/etc/passwd", "data/absolute.txt");
    sandbox_link(sb, "..", "data/up");
    assert_int_equal(try_open(sb, "relative.txt", &why), FBY_USAGE);
    assert_says(&why, "data:relative.txt is outside the root");
    assert_int_equal(try_open(sb, "absolute.txt", &why), FBY_USAGE);
    assert_says(&why, "data:absolute.txt is outside the root");
    assert_int_equal(try_open(sb, "up/secret.txt", &why), FBY_USAGE);
}

static void a_sibling_whose_name_begins_alike_is_outside(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    sandbox_write_text(sb, "data-other/x.txt", "x");
    sandbox_link(sb, sandbox_path(sb, "data-other/x.txt"), "data/x.txt");
    assert_int_equal(try_open(sb, "x.txt", &why), FBY_USAGE);
}

static void links_that_stay_beneath_the_root_are_followed(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/a/b.txt", "x");
    sandbox_link(sb, "a/b.txt", "data/relative.txt");
    sandbox_link(sb, sandbox_path(sb, "data/a/b.txt"), "data/absolute.txt");
    sandbox_link(sb, "a", "data/folder");
    assert_ok(try_open(sb, "relative.txt", NULL));
    assert_ok(try_open(sb, "absolute.txt", NULL));
    assert_ok(try_open(sb, "folder/b.txt", NULL));
}

static void a_link_may_lead_beneath_another_root(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    char                    option[128];
    sandbox_write_text(sb, "pool/deep/x.txt", "x");
    sandbox_write_text(sb, "pool-2/x.txt", "x");
    sandbox_link(sb, "../pool/deep/x.txt", "data/relative.txt");
    sandbox_link(sb, sandbox_path(sb, "pool/deep"), "data/folder");
    sandbox_link(sb, "../pool-2/x.txt", "data/other.txt");
    assert_int_equal(try_open(sb, "folder/x.txt", &why), FBY_USAGE);
    snprintf(option, sizeof(option), "--data links0=%s/pool/deep", sb->dir);
    assert_says(&why, option);
    snprintf(option, sizeof(option), "pool=%s/pool", sb->dir);
    assert_ok(fby_roots_add(sb->roots, option, &why));
    assert_ok(try_open(sb, "relative.txt", NULL));
    assert_ok(try_open(sb, "folder/x.txt", NULL));
    assert_int_equal(try_open(sb, "other.txt", &why), FBY_USAGE);
    assert_int_equal(try_open(sb, "../pool/deep/x.txt", &why), FBY_USAGE);
}

static void note_target(void *arg, const char *target)
{
    snprintf(arg, 128, "%s", target);
}

static void links_to_anywhere_are_followed_and_noted_if_asked_for(void **state)
{
    const struct sandbox *sb = *state;
    char                  target[128];
    sandbox_write_text(sb, "pool/x.txt", "x");
    sandbox_write_text(sb, "data/a/b.txt", "x");
    sandbox_link(sb, "../pool", "data/folder");
    sandbox_link(sb, sandbox_path(sb, "data/a/b.txt"), "data/absolute.txt");
    fby_roots_follow_outside(sb->roots, note_target, target);
    target[0] = '\0';
    assert_ok(try_open(sb, "absolute.txt", NULL));
    assert_string_equal(target, "");
    assert_ok(try_open(sb, "folder/x.txt", NULL));
    assert_string_equal(target, sandbox_path(sb, "pool/x.txt"));
}

static void a_loop_of_links_is_an_error(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    sandbox_link(sb, "b", "data/a");
    sandbox_link(sb, "a", "data/b");
    assert_int_equal(try_open(sb, "a", &why), FBY_USAGE);
    assert_says(&why, "loop");
}

static void a_pipe_or_a_folder_is_no_file_and_nothing_waits(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    assert_int_equal(mkfifo(sandbox_path(sb, "data/pipe.tar"), 0666), 0);
    assert_int_equal(try_open(sb, "pipe.tar", &why), FBY_NOT_FOUND);
    assert_says(&why, "not a plain file");
    sandbox_mkdir(sb, "data/folder.tar");
    assert_int_equal(try_open(sb, "folder.tar", &why), FBY_NOT_FOUND);
    assert_int_equal(try_open(sb, "missing.tar", &why), FBY_NOT_FOUND);
    assert_says(&why, "data:missing.tar is not there");
}

static void files_without_permission_are_refused_for_good(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    char                    name[300];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(try_open(sb, name, &why), FBY_CONFIG);
    assert_says(&why, "File name too long");
    sandbox_write_text(sb, "data/a.txt", "");
    assert_int_equal(chmod(sandbox_path(sb, "data/a.txt"), 0), 0);
    setfsuid(65534); /* root may read all */
    assert_int_equal(try_open(sb, "a.txt", &why), FBY_CONFIG);
    setfsuid(geteuid());
    assert_says(&why, "cannot open data:a.txt: Permission denied");
}

static void an_unknown_root_is_told_what_there_is(void **state)
{
    const struct sandbox   *sb   = *state;
    struct fby_error_detail why  = {0};
    const struct fby_root  *root = NULL;
    assert_int_equal(
        fby_roots_find(sb->roots, "other", &root, &why), FBY_USAGE);
    assert_says(&why, "other");
    assert_says(&why, "data");
    assert_int_equal(fby_roots_count(sb->roots), 1);
    assert_string_equal(fby_roots_name(sb->roots, 0), "data");

    char option[128];
    for (int i = 0; i < 3; i++) {
        snprintf(option, sizeof(option), "more%d=%s", i, sb->dir);
        assert_ok(fby_roots_add(sb->roots, option, NULL));
    }
    assert_int_equal(
        fby_roots_find(sb->roots, "other", &root, &why), FBY_USAGE);
    assert_says(&why, "started with: data, more0, more1, more2");
}

static void a_root_must_be_a_directory_with_a_name_of_its_own(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    char                    option[128];
    sandbox_write_text(sb, "file", "x");
    snprintf(option, sizeof(option), "more=%s/file", sb->dir);
    assert_int_equal(fby_roots_add(sb->roots, option, &why), FBY_CONFIG);
    snprintf(option, sizeof(option), "more=%s/nothing", sb->dir);
    assert_int_equal(fby_roots_add(sb->roots, option, &why), FBY_CONFIG);
    snprintf(option, sizeof(option), "data=%s", sb->dir);
    assert_int_equal(fby_roots_add(sb->roots, option, &why), FBY_USAGE);
    assert_says(&why, "two roots");
    assert_int_equal(fby_roots_add(sb->roots, "nonsense", &why), FBY_USAGE);
    assert_int_equal(fby_roots_count(sb->roots), 1);
}

static void a_path_holds_no_descriptor_but_the_one_it_gives(void **state)
{
    const struct sandbox *sb     = *state;
    unsigned              before = open_descriptors();
    int                   fd     = -1;
    sandbox_write_text(sb, "data/a/b.txt", "x");
    sandbox_link(sb, sandbox_path(sb, "data/a/b.txt"), "data/absolute.txt");
    sandbox_link(sb, "/etc/passwd", "data/out.txt");
    for (int want = FBY_WANT_FILE; want <= FBY_WANT_EITHER; want++) {
        static const char *const paths[] = {
            "a", "a/b.txt", "absolute.txt", "out.txt", "none", ""};
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
            bool    dir  = i == 0 || i == 5;
            bool    file = i == 1 || i == 2;
            fby_err err  = fby_root_open(
                 root_of(sb), paths[i], (enum fby_root_want)want, &fd, NULL);
            bool fits = (dir && want != FBY_WANT_FILE) ||
                        (file && want != FBY_WANT_DIR);
            assert_int_equal(err == FBY_OK, fits);
            assert_int_equal(open_descriptors(), before + (fits ? 1 : 0));
            if (fits) {
                assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
                close(fd);
            }
        }
    }
}

static void roots_are_closed_with_all_of_them(void **state)
{
    const struct sandbox  *sb     = *state;
    unsigned               before = open_descriptors();
    struct fby_roots      *roots  = fby_roots_create();
    const struct fby_root *root   = NULL;
    for (int i = 0; i < 3; i++) {
        char option[128];
        snprintf(option, sizeof(option), "r%d=%s", i, sb->dir);
        assert_ok(fby_roots_add(roots, option, NULL));
        assert_int_equal(
            fby_roots_add(roots, option, NULL), FBY_USAGE); /* twice */
        option[2] = '\0';
        assert_string_equal(fby_roots_name(roots, (uint32_t)i), option);
    }
    assert_ok(fby_roots_find(roots, "r1", &root, NULL));
    assert_string_equal(fby_root_name(root), "r1");
    assert_string_equal(fby_root_dir(root), sb->dir);
    assert_int_equal(open_descriptors(), before + 3);
    fby_roots_destroy(&roots);
    assert_null(roots);
    assert_int_equal(open_descriptors(), before);
}

static void only_a_whole_component_of_two_dots_climbs(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/..a/.b/c../...", "x");
    assert_ok(try_open(sb, "..a/.b/c../...", NULL));
    assert_ok(try_open(sb, "./..a//./.b/c../...", NULL));
    assert_int_equal(try_open(sb, "..a/..", NULL), FBY_USAGE);
    assert_int_equal(try_open(sb, "..a//../x", NULL), FBY_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_file_below_the_root_opens),
        IN_SANDBOX(paths_that_climb_are_refused_by_name),
        IN_SANDBOX(a_link_out_of_the_root_is_refused_by_name),
        IN_SANDBOX(a_sibling_whose_name_begins_alike_is_outside),
        IN_SANDBOX(links_that_stay_beneath_the_root_are_followed),
        IN_SANDBOX(a_link_may_lead_beneath_another_root),
        IN_SANDBOX(links_to_anywhere_are_followed_and_noted_if_asked_for),
        IN_SANDBOX(a_loop_of_links_is_an_error),
        IN_SANDBOX(a_pipe_or_a_folder_is_no_file_and_nothing_waits),
        IN_SANDBOX(files_without_permission_are_refused_for_good),
        IN_SANDBOX(an_unknown_root_is_told_what_there_is),
        IN_SANDBOX(a_root_must_be_a_directory_with_a_name_of_its_own),
        IN_SANDBOX(a_path_holds_no_descriptor_but_the_one_it_gives),
        IN_SANDBOX(roots_are_closed_with_all_of_them),
        IN_SANDBOX(only_a_whole_component_of_two_dots_climbs),
    };
    return cmocka_run_group_tests_name(
        "worker.source.roots", tests, NULL, NULL);
}
