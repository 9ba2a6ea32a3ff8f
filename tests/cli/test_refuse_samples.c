/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess.h"
#include "tests/worker/source/sandbox.h"

static struct fby_guess guess; /* too large for a stack */

/* Make `n` folders with the files `names`, separated by blanks; a * at their begin is
 * the name of the folder. That has a number between `before` and `after`. */
static void make_folders(const struct sandbox *sb, const char *before,
    unsigned n, const char *after, const char *names)
{
    for (unsigned i = 0; i < n; i++) {
        char  list[200];
        char *state = NULL;
        snprintf(list, sizeof(list), "%s", names);
        for (const char *name = strtok_r(list, " ", &state); name != NULL;
             name             = strtok_r(NULL, " ", &state)) {
            char folder[80];
            char path[200];
            snprintf(folder, sizeof(folder), "%s%u%s", before, i, after);
            const char *last = strrchr(folder, '/') + 1;
            bool        star = name[0] == '*';
            snprintf(path, sizeof(path), "%s/%s%s", folder, star ? last : "",
                name + (star ? 1 : 0));
            sandbox_write_text(sb, path, "x");
        }
    }
}

/* Are the folders in p samples? Else they are read, or refused in other words. */
static bool are_samples(const struct sandbox *sb)
{
    struct fby_error_detail why = {{0}};
    fby_guess_fini(&guess);
    fby_err err = fby_source_guess(sandbox_path(sb, "p"), 0, &guess, &why);
    return err == FBY_CONFIG &&
           strstr(why.text, "so they look like samples, not classes") != NULL;
}

static void assert_command(const char *words)
{
    if (strstr(guess.command, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", guess.command, words);
    }
}

struct layout {
    const char *before, *after; /* the name of a folder, around its number */
    unsigned    n;
    const char *files;
};

static void check(const struct layout *layouts, size_t n, bool wanted)
{
    for (size_t i = 0; i < n; i++) {
        struct sandbox *sb;
        void           *state        = NULL;
        char            message[300] = "";
        assert_int_equal(sandbox_open(&state), 0);
        sb = state;
        make_folders(sb, layouts[i].before, layouts[i].n, layouts[i].after,
            layouts[i].files);
        snprintf(message, sizeof(message), "%s0%s: %s", layouts[i].before,
            layouts[i].after, layouts[i].files);
        bool found = are_samples(sb);
        assert_int_equal(sandbox_close(&state), 0);
        if (found != wanted) {
            fail_msg("%s", message);
        }
    }
}

static void folders_with_the_same_files_for_each_role_are_samples(void **state)
{
    static const struct layout layouts[] = {
        {"p/case_", "", 4, "flair.png t1.png seg.png"},
        {"p/case_", "", 100, "flair.png t1.png seg.png"},
        {"p/BraTS_", "_1", 5, "*_flair.png *_t1.png *_t2.png"},
        {"p/", "", 4, "*.png *_mask.png"},
        {"p/", "", 4, "*.png *.mask.png"},
        {"p/a", "z", 4, "left.jpg right.jpg"},
        {"p/case", "", 4, "a1.png a2.png b.png ct.png d.png e.png"},
        {"p/img_", "", 4, "image.png mask.png"},
        {"p/s", "", 4, "image.png caption.txt depth.npy"},
        {"p/train/x", "", 4, "image.png mask.png"},
    };
    (void)state;
    check(layouts, sizeof(layouts) / sizeof(layouts[0]), true);
}

static void other_folders_are_classes(void **state)
{
    static const struct layout layouts[] = {
        {"p/case_", "", 3, "flair.png t1.png seg.png"}, /* too few */
        {"p/c", "", 6, "0.png 1.png 2.png"},
        {"p/c", "", 6, "0001.png 0002.png"},
        {"p/c", "", 6, "img_1.png img_2.png"},
        {"p/c", "", 6, "img_00891_00.png img_00893_00.png"},
        {"p/c", "", 6, "a.png b.png"}, /* no words */
        {"p/n0", "", 6, "*_1.png *_20.png"},
        {"p/c", "", 6, "photo.png"},           /* one file */
        {"p/c", "", 6, "notes.md readme.txt"}, /* no picture */
        {"p/c", "", 6,
            "aa.png ab.png ac.png ad.png ae.png af.png ag.png ah.png ai.png"},
        {"p/k", "z", 4, "aa.png ab.png ac.png ad.png ae.png"}, /* pairs */
    };
    (void)state;
    check(layouts, sizeof(layouts) / sizeof(layouts[0]), false);
}

static void a_quarter_of_the_folders_may_have_other_files(void **state)
{
    const struct sandbox *sb = *state;
    make_folders(sb, "p/a", 1, "", "flair.png");
    make_folders(sb, "p/b", 1, "", "1.png 2.png");
    make_folders(sb, "p/c", 6, "", "flair.png t1.png");
    assert_true(are_samples(sb));
    make_folders(sb, "p/d", 1, "", "1.png 2.png");
    assert_false(are_samples(sb));
}

static void groups_of_samples_have_the_same_files(void **state)
{
    const struct sandbox *sb = *state;
    make_folders(sb, "p/HGG/c", 4, "", "flair.png t1.png");
    make_folders(sb, "p/LGG/d", 4, "", "flair.png t1.png");
    assert_true(are_samples(sb));
    assert_command("P = '*/*/'; N = {'flair': 'flair.png', 't1': 't1.png'}");
    make_folders(sb, "p/XGG/d", 4, "", "flair.png t2.png");
    assert_false(are_samples(sb));
}

static void the_columns_are_names_of_fields_and_pictures_come_first(
    void **state)
{
    const struct sandbox *sb = *state;
    make_folders(sb, "p/c", 4, "",
        "*_1.png *_T1+c.png *_gt_mask.png *_rgb.jpg *_rgb.txt *_valid.png");
    assert_true(are_samples(sb));
    assert_command(
        "N = {'rgb': '*_rgb.jpg', 'c_1': '*_1.png', 't1_c': '*_T1+c.png', "
        "'c_valid': '*_valid.png', 'gt_mask': '*_gt_mask.png', 'rgb_txt': "
        "'*_rgb.txt'}");
}

static void names_that_a_shell_would_change_have_no_command(void **state)
{
    const struct sandbox *sb = *state;
    make_folders(sb, "p/c", 4, "", "image.png it's$(x).png");
    assert_true(are_samples(sb));
    assert_string_equal(guess.command, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_with_the_same_files_for_each_role_are_samples),
        cmocka_unit_test(other_folders_are_classes),
        IN_SANDBOX(a_quarter_of_the_folders_may_have_other_files),
        IN_SANDBOX(groups_of_samples_have_the_same_files),
        IN_SANDBOX(the_columns_are_names_of_fields_and_pictures_come_first),
        IN_SANDBOX(names_that_a_shell_would_change_have_no_command),
    };
    return cmocka_run_group_tests_name("cli.refuse_samples", tests, NULL, NULL);
}
