/* SPDX-License-Identifier: Apache-2.0 */
/* Words as classes: which columns, keys and members are labels with names, and
 * the text of their fields. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/splits.h"
#include "cli/init/text.h"
#include "cli/init/words.h"
#include "tests/pipeline/sample.h"
#include "tests/says.h"
#include "tests/worker/source/sandbox.h"

static struct fby_guess guess; /* too large for a stack */

static void look(const struct sandbox *sb, const char *path)
{
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    if (fby_source_guess(sandbox_path(sb, path), 0, &guess, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

/* The column or key `name` of split `split`. */
static const struct fby_init_member *member_of(uint32_t split, const char *name)
{
    for (uint32_t i = 0; i < guess.splits[split].n_members; i++) {
        const struct fby_init_member *member = &guess.splits[split].members[i];
        if (strcmp(member->extension, name) == 0 ||
            strcmp(member->key, name) == 0) {
            return member;
        }
    }
    fail_msg("no member %s", name);
    return NULL;
}

static bool are_classes(const char *name)
{
    return fby_init_are_classes(member_of(0, name));
}

/* The pipeline file for the first split; to be freed. */
static char *text_of_guess(void)
{
    const struct fby_guess_split *split   = &guess.splits[0];
    const struct fby_init_summary summary = {.kind = guess.kind,
        .path                                      = guess.splits[0].pattern,
        .members                                   = split->members,
        .n_members                                 = split->n_members};
    struct fby_buffer             out     = {0};
    struct fby_error_detail       why     = {{0}};
    if (fby_init_text(&summary, &out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    fby_put_u8(&out, 0);
    return (char *)out.data;
}

static void assert_written(const char *words)
{
    char *text = text_of_guess();
    assert_text_says(text, words);
    free(text);
}

static void columns_of_few_repeated_words_are_classes(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train.csv",
        "animal,caption,split,breed,id,note,flag\n"
        "cat,one,train,x,1,"
        "a long note that somebody wrote twice: once here and once below it,"
        "True\n"
        "dog ,two,train,y,2,"
        "a long note that somebody wrote twice: once here and once below it,"
        "False\n"
        "3,three,train,z,3,,True\ncat,four,train,w,4,,True\n"
        "dog,five,train,v,5,,True\n3,six,train,u,6,,False\n");
    look(sb, "p");
    assert_true(are_classes("animal"));
    assert_true(are_classes("breed")); /* by its name */
    assert_true(are_classes("flag"));
    assert_false(are_classes("caption")); /* all different */
    assert_false(are_classes("split"));   /* one word alone */
    assert_false(are_classes("id"));
    assert_false(are_classes("note"));
    assert_written("  animal: {from: animal, names: [\"3\", cat, dog]}\n");
    assert_written("  caption: {from: caption, decode: text, ");
    assert_written("  id: {from: id, decode: label}");
}

/* Write a list with `n` words, each twice. */
static void write_words(
    const struct sandbox *sb, const char *path, int n, const char *end)
{
    char *text = malloc((size_t)n * 160 + 16);
    int   used = sprintf(text, "animal\n");
    for (int i = 0; i < 2 * n; i++) {
        char word[64];
        snprintf(word, sizeof(word), "\"w, %d%s\"", i / 2, end);
        used += sprintf(text + used, "%s\n", word);
    }
    sandbox_write_text(sb, path, text);
    free(text);
}

static void more_than_4096_words_are_text_and_a_comment_says_why(void **state)
{
    const struct sandbox *sb = *state;
    write_words(sb, "p/train.csv", 4096, "");
    look(sb, "p");
    assert_true(are_classes("animal"));
    write_words(sb, "q/train.csv", 4097, "");
    look(sb, "q");
    assert_false(are_classes("animal"));
    assert_written("  # animal is text: a label has at most 4096 names. For "
                   "more classes, number them in the data\n"
                   "  animal: {from: animal, decode: text, ");
}

static void captions_need_no_comment(void **state)
{
    const struct sandbox *sb   = *state;
    char                 *text = malloc(80000);
    int                   used = sprintf(text, "note\n");
    for (int i = 0; i < 4200; i++) {
        used += sprintf(text + used, "n%d\n", i);
    }
    sandbox_write_text(sb, "p/train.csv", text);
    free(text);
    look(sb, "p");
    assert_written("fields:\n  note: {from: note, decode: text, ");
}

static void many_names_are_written_in_lines_that_can_be_read(void **state)
{
    const struct sandbox *sb = *state;
    write_words(sb, "p/train.csv", 300, " \xc3\xa9");
    look(sb, "p");
    char             *text  = text_of_guess();
    struct fby_split *split = split_of(text, "train");
    assert_text_says(text, "  animal:\n    from: animal\n    names: [\"w, 0 "
                           "\xc3\xa9\", \"w, 1 \xc3\xa9\", ");
    struct fby_name_range range = split->content.fields[0].as.label.names;
    assert_int_equal(range.n, 300);
    assert_string_equal(fby_class_name(&split->content.class_names, range, 2),
        "w, 10 \xc3\xa9"); /* in byte order */
    for (const char *line = text; line != NULL;) {
        const char *end = strchr(line, '\n');
        assert_true(end == NULL || end - line <= 80);
        line = end != NULL ? end + 1 : NULL;
    }
    fby_split_destroy(&split);
    free(text);
}

static void classes_are_those_of_train(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train.csv",
        "animal,site\ncat,north\ndog,north\ncat,south\ndog,south\n");
    sandbox_write_text(
        sb, "p/val.csv", "animal,site\ncat,east\ndog,east\ncow,west\n");
    look(sb, "p");
    fby_init_merge_split(&guess.splits[0], &guess.splits[1]);
    assert_true(are_classes("animal"));
    assert_false(are_classes("site")); /* val has other words altogether */
    assert_written("  # split val has 'cow', which is no class of train: it is "
                   "refused there\n"
                   "  animal: {from: animal, names: [cat, dog]}\n");
    assert_written(
        "  # site is text and no label: split val has other words\n");
    sandbox_write_text(sb, "q/train.csv",
        "breed,city\ncat,rome\ndog,rome\ncat,oslo\ndog,oslo\n");
    sandbox_write_text(
        sb, "q/val.csv", "breed,city\ncow,rome\nox,oslo\nelk,bonn\n");
    look(sb, "q");
    fby_init_merge_split(&guess.splits[0], &guess.splits[1]);
    assert_true(are_classes("breed")); /* is named like a label */
    assert_false(are_classes("city")); /* and so, this one need not be one */
}

static void cls_members_and_keys_of_json_may_be_words(void **state)
{
    const struct sandbox *sb  = *state;
    struct fby_buffer     tar = {0};
    tar_file(&tar, "0.jpg", "x");
    tar_file(&tar, "0.cls",
        "\xef\xbb\xbf" /* a byte order mark */
        "zebra\n");
    tar_file(&tar, "0.json", "{\"a\": {\"label\": \"x\"}, \"text\": \"one\"}");
    tar_file(&tar, "1.jpg", "x");
    tar_file(&tar, "1.cls", "ant\r\n");
    tar_file(&tar, "1.json", "{\"a\": {\"label\": \"w\"}, \"text\": \"two\"}");
    tar_end(&tar);
    sandbox_tar(sb, "p/train/t.tar", &tar);
    look(sb, "p");
    assert_written("  label: {from: cls, names: [ant, zebra]}\n");
    assert_written("  a_label: {from: json, key: a.label, names: [w, x]}\n");
    assert_written("  text: {from: json, decode: text, key: text, ");
}

static int fini(void **state)
{
    fby_guess_fini(&guess);
    memset(&guess, 0, sizeof(guess));
    return sandbox_close(state);
}

int main(void)
{
#define IN_SANDBOX_OF_WORDS(name) \
    cmocka_unit_test_setup_teardown(name, sandbox_open, fini)
    const struct CMUnitTest tests[] = {
        IN_SANDBOX_OF_WORDS(columns_of_few_repeated_words_are_classes),
        IN_SANDBOX_OF_WORDS(
            more_than_4096_words_are_text_and_a_comment_says_why),
        IN_SANDBOX_OF_WORDS(captions_need_no_comment),
        IN_SANDBOX_OF_WORDS(many_names_are_written_in_lines_that_can_be_read),
        IN_SANDBOX_OF_WORDS(classes_are_those_of_train),
        IN_SANDBOX_OF_WORDS(cls_members_and_keys_of_json_may_be_words),
    };
    return cmocka_run_group_tests_name("cli.words", tests, NULL, NULL);
}
