/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/init/guess.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/shards/tar_names.h"

static struct fby_guess guess; /* too large for a stack */

static void look_with(
    const struct sandbox *sb, const char *path, enum fby_type tokens)
{
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    if (fby_source_guess(sandbox_path(sb, path), tokens, &guess, &why) !=
        FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static void look(const struct sandbox *sb, const char *path)
{
    look_with(sb, path, 0);
}

/* Guessing fails, and the message contains `words`. */
static void assert_refused(const struct sandbox *sb, const char *path,
    enum fby_type tokens, const char *words)
{
    struct fby_error_detail why = {0};
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, path), tokens, &guess, &why),
        FBY_CONFIG);
    assert_says(&why, words);
}

/* Guessing fails, and the command of the message contains `words`. */
static void assert_advised(
    const struct sandbox *sb, const char *path, const char *words)
{
    assert_refused(sb, path, 0, "");
    if (strstr(guess.command, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", guess.command, words);
    }
}

/* 2,000 tokens of u16. */
static void write_tokens(const struct sandbox *sb, const char *path)
{
    static const uint8_t zeros[4000];
    sandbox_write(sb, path, zeros, sizeof(zeros));
}

static void class_folders_are_a_folder_split(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/c0/1.JPG", "x");
    sandbox_write_text(sb, "p/c0/2.jpg", "x");
    sandbox_write_text(sb, "p/c1/3.json", "{}");
    sandbox_write_text(sb, "p/c1/3.jpg", "x");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
    assert_int_equal(guess.n_splits, 1);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p"));
    assert_int_equal(guess.splits[0].classes, 2);
    assert_int_equal(guess.splits[0].samples, 3);
    assert_true(guess.splits[0].counted_all);
    assert_int_equal(guess.splits[0].n_members, 2);
    assert_string_equal(guess.splits[0].members[0].extension, "jpg");
    assert_string_equal(guess.splits[0].members[1].extension, "json");
}

static void train_and_val_folders_are_two_splits(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/val/c0/1.jpg", "x");
    sandbox_write_text(sb, "p/train/c0/1.jpg", "x");
    sandbox_write_text(sb, "p/docs/readme.txt", "x");
    look(sb, "p");
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p/train"));
    assert_string_equal(guess.splits[1].name, "val");
}

static void tar_files_make_a_brace_range_a_split(void **state)
{
    const struct sandbox *sb = *state;
    char                  path[64];
    for (unsigned i = 8; i < 12; i++) {
        snprintf(path, sizeof(path), "p/in1k-val-%03u.tar", i);
        sandbox_shard(sb, path, 0, 3);
        snprintf(path, sizeof(path), "p/in1k-train-%04u.tar", i);
        sandbox_shard(sb, path, 0, 5);
    }
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_SHARDS);
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(guess.splits[0].pattern,
        sandbox_path(sb, "p/in1k-train-{0008..0011}.tar"));
    assert_int_equal(guess.splits[0].shards, 4);
    assert_int_equal(guess.splits[0].samples, 20);
    assert_int_equal(guess.splits[0].shards_read, 4);
    assert_true(guess.splits[0].counted_all);
    assert_string_equal(guess.splits[0].members[0].extension, "jpg");
    assert_string_equal(guess.splits[1].name, "val");
}

/* The pattern of tar files of these names, in this order. */
static const char *pattern_of(const char *const *names, size_t n)
{
    static char          out[256];
    struct fby_tar_group run = fby_tar_group_begin(names[0]);
    for (size_t i = 1; i < n; i++) {
        assert_true(fby_tar_group_join(&run, names[i]));
    }
    fby_tar_group_pattern(&run, out, sizeof(out));
    return out;
}

static void gaps_and_uneven_digits_make_wildcards(void **state)
{
    (void)state;
    static const char *const gap[]    = {"t-1.tar", "t-3.tar"};
    static const char *const uneven[] = {"t-10.tar", "t-9.tar"};
    static const char *const one[]    = {"all.tar"};
    static const char *const late[]   = {"0.tar", "2.tar", "3.tar"};
    assert_string_equal(pattern_of(gap, 2), "t-?.tar");
    assert_string_equal(pattern_of(uneven, 2), "t-*.tar");
    assert_string_equal(pattern_of(one, 1), "all.tar");
    assert_string_equal(pattern_of(late, 3), "?.tar");
    struct fby_tar_group run = fby_tar_group_begin("train-0.tar");
    assert_false(fby_tar_group_join(&run, "val-0.tar"));
    assert_false(fby_tar_group_join(&run, "train-.tar"));
    assert_false(fby_is_tar_name(".tar"));
}

static void anything_else_says_what_was_expected(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    sandbox_mkdir(sb, "empty");
    assert_refused(sb, "empty", 0, "empty");
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, "none"), 0, &guess, &why),
        FBY_NOT_FOUND);
    sandbox_write_text(sb, "broken/t-0.tar", "no tar");
    assert_refused(sb, "broken", 0, "t-0.tar");
}

static void a_list_says_which_columns_are_paths(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/a/1.jpg", "x");
    sandbox_write_text(sb, "p/train.csv",
        "Photo,Kind,Words,Size\na/1.jpg,3,\"x,y\",1\na/1.jpg,4,,1.5\n");
    sandbox_write_text(sb, "p/val.csv", "Photo\nb/1.jpg\n");
    look(sb, "p");
    const struct fby_guess_split *split = &guess.splits[0];
    assert_int_equal(guess.kind, FBY_SOURCE_LIST);
    assert_int_equal(guess.n_splits, 1);
    assert_non_null(strstr(guess.notes,
        "note: val.csv: the column photo names pictures that are not there, "
        "such as b/1.jpg\nnote: to have a blank as the text where 'words' has "
        "none: "));
    assert_string_equal(split->pattern, sandbox_path(sb, "p/train.csv"));
    assert_int_equal(split->n_file_columns, 1);
    assert_string_equal(split->file_columns[0], "photo");
    assert_int_equal(split->n_members, 4);
    assert_string_equal(split->members[0].extension, "photo.jpg");
    assert_int_equal(split->members[1].value, FBY_INIT_DIGITS);
    assert_int_equal(split->members[2].value, FBY_INIT_NUMBER);
    assert_string_equal(split->members[3].extension, "words");
    assert_int_equal(split->members[3].longest, 3);
    assert_false(split->members[3].always);
    look(sb, "p/train.csv");
    assert_int_equal(guess.splits[0].samples, 2);
}

static enum fby_init_value value_of(const char *column)
{
    const struct fby_guess_split *split = &guess.splits[0];
    for (uint32_t i = 0; i < split->n_members; i++) {
        if (strcmp(split->members[i].extension, column) == 0) {
            return split->members[i].value;
        }
    }
    return FBY_INIT_NO_VALUE;
}

static void lists_and_objects_of_a_list_are_known_as_such(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/l.jsonl",
        "{\"t\": [\"a\", \"bcd\"], \"n\": [1, 2.5, 3], \"l\": [[1]], "
        "\"m\": [\"a\"], \"x\": \"a\", "
        "\"o\": {\"a b\": 1, \"car\": {\"speed\": 3}, \"id\": \"x\"}}\n"
        "{\"t\": [\"ef\"], \"n\": [], \"l\": [{}], \"m\": [], \"x\": {}, "
        "\"o\": {\"car\": {}}}\n");
    look(sb, "p");
    assert_int_equal(value_of("t"), FBY_INIT_TEXT_LISTS);
    assert_int_equal(value_of("n"), FBY_INIT_NUMBER_LISTS);
    assert_int_equal(value_of("l"), FBY_INIT_OTHER_LISTS);
    assert_int_equal(value_of("m"), FBY_INIT_MIXED);
    assert_int_equal(value_of("x"), FBY_INIT_MIXED);
    assert_int_equal(value_of("o"), FBY_INIT_OBJECT);
    for (uint32_t i = 0; i < guess.splits[0].n_members; i++) {
        const struct fby_init_member *member = &guess.splits[0].members[i];
        uint32_t                      most =
            member->value <= FBY_INIT_TEXT_LISTS ? 3 : member->max_length;
        assert_int_equal(member->max_length, most);
        assert_string_equal(member->keys,
            member->value == FBY_INIT_OBJECT ? "car.speed, id" : "");
    }
    sandbox_write_text(sb, "p/l.csv", "t,x\n\"[\"\"a\"\"]\",[1]\n[],b\n");
    look(sb, "p/l.csv");
    assert_int_equal(value_of("t"), FBY_INIT_TEXT);
    assert_int_equal(value_of("x"), FBY_INIT_TEXT);
}

static void folders_of_pictures_and_masks_are_parallel(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/images/1.jpg", "x");
    sandbox_write_text(sb, "p/labels-1/1.png", "x");
    sandbox_write_text(sb, "p/Other/1.txt", "x");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_PARALLEL);
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "p/{images,labels-1}"));
    assert_true(guess.splits[0].members[1].header_read);
    assert_false(
        guess.splits[0].members[1].may_be_ids); /* no PNG file at all */
    sandbox_write_text(sb, "p/images/notes.txt", "x");
    look(sb, "p");
    assert_int_equal(guess.splits[0].samples, 1);
    assert_non_null(strstr(guess.notes,
        "left out: 1 file in images, of a type that no sample has\n"));
    sandbox_write_text(sb, "p/images/2.jpg", "x");
    assert_refused(sb, "p", 0, "1 file missing: 2.* in labels-1");
    sandbox_mkdir(sb, "p/Masks");
    assert_refused(
        sb, "p", 0, "folder Masks seems to be one of parallel folders");
}

/* Depth and colour type; `damaged` is a byte of the head, or beyond it. */
static bool is_taken_for_ids(
    const struct sandbox *sb, uint8_t depth, uint8_t colour, size_t damaged)
{
    uint8_t head[33] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0,
        13, 'I', 'H', 'D', 'R', 0, 0, 0, 2, 0, 0, 0, 2, depth, colour};
    head[damaged] ^= 1;
    sandbox_write(sb, "ids/masks/1.png", head, sizeof(head));
    look(sb, "ids");
    assert_true(guess.splits[0].members[1].header_read);
    return guess.splits[0].members[1].may_be_ids;
}

static void masks_of_ids_are_grey_or_have_a_palette(void **state)
{
    enum { NONE = 32 };
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "ids/images/1.jpg", "x");
    for (uint8_t colour = 0; colour <= 6; colour++) {
        bool ids = colour == 0 || colour == 3;
        assert_int_equal(is_taken_for_ids(sb, 8, colour, NONE), ids);
        assert_int_equal(is_taken_for_ids(sb, 1, colour, NONE), ids);
        assert_false(is_taken_for_ids(sb, 16, colour, NONE));
    }
    for (size_t at = 0; at < 16; at++) {
        assert_false(is_taken_for_ids(sb, 8, 0, at));
    }
}

static void splits_may_be_within_parallel_folders(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/images/train/1.jpg", "x");
    sandbox_write_text(sb, "p/images/train/2.jpg", "x");
    sandbox_write_text(sb, "p/images/val/3.jpg", "x");
    sandbox_write_text(sb, "p/masks/train/1.png", "x");
    sandbox_write_text(sb, "p/masks/train/2.png", "x");
    sandbox_write_text(sb, "p/masks/val/3.png", "x");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_PARALLEL);
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "p/{images,masks}/train"));
    assert_int_equal(guess.splits[0].samples, 2);
    assert_string_equal(guess.splits[1].name, "val");
    assert_string_equal(
        guess.splits[1].pattern, sandbox_path(sb, "p/{images,masks}/val"));
    assert_int_equal(guess.splits[1].samples, 1);
}

static void files_of_tokens_that_no_wildcard_fits_are_named(void **state)
{
    const struct sandbox *sb = *state;
    write_tokens(sb, "p/a.bin");
    write_tokens(sb, "p/b.bin");
    write_tokens(sb, "p/test.bin");
    assert_refused(sb, "p", 0, "--tokens");
    look_with(sb, "p", FBY_U16);
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "p/{a.bin,b.bin}"));
    assert_int_equal(guess.splits[0].tokens.length, 16);
    assert_int_equal(guess.splits[0].samples, 2 * (1999 / 16));
    assert_string_equal(guess.splits[1].name, "test");
}

static void special_characters_matter_where_files_are_named(void **state)
{
    const struct sandbox *sb = *state;
    write_tokens(sb, "p/a.bin");
    write_tokens(sb, "p/a,b.bin");
    look_with(sb, "p", FBY_U16);
    assert_string_equal(guess.splits[0].pattern, sandbox_path(sb, "p/a*.bin"));
    write_tokens(sb, "q/a.bin");
    write_tokens(sb, "q/b,c.bin");
    write_tokens(sb, "q/test.bin");
    assert_refused(
        sb, "q", FBY_U16, "b,c.bin has a special character of patterns");
}

static void token_files_of_two_formats_are_two_splits(void **state)
{
    const struct sandbox *sb = *state;
    write_tokens(sb, "p/a.bin");
    write_tokens(sb, "p/b.mds");
    assert_refused(sb, "p", FBY_U16, "b.mds");
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(guess.splits[1].name, "b");
}

static void folders_of_splits_hold_anything(void **state)
{
    const struct sandbox *sb = *state;
    write_tokens(sb, "t/train/a.bin");
    write_tokens(sb, "t/val/a.bin");
    look_with(sb, "t", FBY_U16);
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(guess.splits[1].name, "val");
    assert_string_equal(
        guess.splits[1].pattern, sandbox_path(sb, "t/val/a.bin"));
    sandbox_write_text(sb, "l/train/x.csv", "a,b\n1,2\n");
    sandbox_write_text(sb, "l/val/x.csv", "a,b\n1,2\n");
    look(sb, "l");
    assert_int_equal(guess.n_splits, 2);
    assert_string_equal(guess.splits[1].name, "val");
}

static void lists_of_one_split_are_named_apart(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/a.csv", "x,y\n1,2\n");
    sandbox_write_text(sb, "p/b-.csv", "x,y\n3,4\n");
    sandbox_write_text(sb, "p/notes.csv", "no list, this\n\"\n");
    sandbox_write_text(sb, "p/train.csv", "x,y\n5,6\n");
    look(sb, "p");
    assert_int_equal(guess.n_splits, 3);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "p/train.csv"));
    assert_string_equal(guess.splits[1].name, "a");
    assert_string_equal(guess.splits[2].name, "b");
    char path[16];
    for (unsigned i = 0; i < FBY_GUESS_SPLITS; i++) {
        snprintf(path, sizeof(path), "p/c%u.csv", i);
        sandbox_write_text(sb, path, "x,y\n1,2\n");
    }
    look(sb, "p");
    assert_int_equal(guess.n_splits, FBY_GUESS_SPLITS);
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "p/train.csv"));
    assert_int_equal(guess.n_left_out, 4);
}

static void flat_pictures_are_a_folder_without_classes(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/1.JPG", "x");
    sandbox_write_text(sb, "p/2.txt", "x");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
    assert_int_equal(guess.splits[0].class_depth, 0);
    assert_int_equal(guess.splits[0].classes, 0);
    assert_int_equal(guess.splits[0].samples, 1);
    assert_string_equal(guess.splits[0].left_out[0].extension, "txt");
    assert_refused(sb, "p/2.txt", 0, "2.txt is a text without token ids: ");
}

static void links_name_the_directories_that_must_be_roots(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "pool/x/1.jpg", "x");
    sandbox_write_text(sb, "pool/y/2.jpg", "x");
    sandbox_write_text(sb, "more/z/z/3.jpg", "x");
    sandbox_write_text(sb, "p/c/4.jpg", "x");
    sandbox_link(sb, "../pool/x", "p/a");
    sandbox_link(sb, "../pool/y", "p/b");
    sandbox_link(sb, "../../more/z/z/3.jpg", "p/c/3.jpg");
    sandbox_link(sb, "4.jpg", "p/c/5.jpg");
    sandbox_link(sb, "nowhere", "p/d");
    look(sb, "p");
    assert_int_equal(guess.splits[0].samples, 5);
    assert_int_equal(guess.n_dangling, 1);
    assert_int_equal(guess.n_linked, 2);
    assert_string_equal(guess.linked[0], sandbox_path(sb, "pool"));
    assert_string_equal(guess.linked[1], sandbox_path(sb, "more/z/z"));
    sandbox_shard(sb, "q/t.tar", 0, 3);
    sandbox_link(sb, "/etc", "q/unrelated");
    look(sb, "q");
    assert_int_equal(guess.n_linked, 0);
}

static void a_split_with_a_class_that_train_lacks_is_named(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train/a/1.jpg", "x");
    sandbox_write_text(sb, "p/train/b/1.jpg", "x");
    sandbox_write_text(sb, "p/val/b/1.jpg", "x");
    look(sb, "p");
    assert_string_equal(guess.splits[0].mismatch, "");
    assert_string_equal(guess.splits[1].mismatch, "");
    sandbox_write_text(sb, "p/val/c/1.jpg", "x");
    look(sb, "p");
    assert_string_equal(guess.splits[1].mismatch,
        "it has the class folder 'c', which train lacks, so it has no class "
        "id; add it to train, or remove it");
    sandbox_write_text(sb, "p/train/c/1.jpg", "x");
    look(sb, "p");
    assert_string_equal(guess.splits[1].mismatch, "");
}

static void split_folders_have_other_usual_names_too(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/Testing/c0/1.jpg", "x");
    sandbox_write_text(sb, "p/Training/c0/1.jpg", "x");
    sandbox_write_text(sb, "p/VAL/1.jpg", "x");
    look(sb, "p");
    assert_int_equal(guess.n_splits, 3);
    assert_string_equal(guess.splits[0].name, "train");
    assert_string_equal(
        guess.splits[0].pattern, sandbox_path(sb, "p/Training"));
    assert_string_equal(guess.splits[1].name, "val");
    assert_int_equal(guess.splits[1].class_depth, 0);
    assert_string_equal(guess.splits[2].name, "test");
}

static void folders_of_folders_ask_for_the_depth_of_the_classes(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    sandbox_write_text(sb, "p/photos/cat/1.jpg", "x");
    sandbox_write_text(sb, "p/photos/cat/2.jpg", "x");
    sandbox_write_text(sb, "p/photos/dog/1.jpg", "x");
    sandbox_write_text(sb, "p/photos/eel/1.jpg", "x");
    sandbox_write_text(sb, "p/photos/fox/1.jpg", "x");
    assert_refused(sb, "p", 0,
        "the only folder, photos, holds no pictures but folders (cat, dog, "
        "eel, ...)");
    sandbox_write_text(sb, "p/photos/notes.txt", "no sample");
    assert_refused(sb, "p", 0, "the only folder, photos, holds no pictures");
    assert_int_equal(unlink(sandbox_path(sb, "p/photos/notes.txt")), 0);
    assert_ok(fby_source_guess_at_depth(sandbox_path(sb, "p"), 0, 2,
        (struct fby_progress){.fn = NULL}, &guess, &why));
    assert_int_equal(guess.splits[0].classes, 4);
    assert_ok(fby_source_guess_at_depth(sandbox_path(sb, "p"), 0, 0,
        (struct fby_progress){.fn = NULL}, &guess, &why));
    assert_int_equal(guess.splits[0].classes, 0);
    assert_int_equal(guess.splits[0].samples, 5);
    sandbox_write_text(sb, "p/more/cat/1.jpg", "x");
    look(sb, "p");
    assert_int_equal(guess.splits[0].classes, 2);
    assert_string_equal(guess.notes,
        "note: the class folders hold only folders (cat); if these are the "
        "classes: --class-depth 2\n");
}

/* The message is "looking at DIRECTORY: " and `words`. */
static void assert_refused_with(
    const struct sandbox *sb, const char *path, const char *words)
{
    char                    right[512];
    struct fby_error_detail why = {0};
    snprintf(right, sizeof(right), "looking at %s: %s", sandbox_path(sb, path),
        words);
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, path), 0, &guess, &why), FBY_CONFIG);
    assert_string_equal(why.text, right);
}

static void assert_split(const struct sandbox *sb, uint32_t i, const char *name,
    const char *pattern, uint64_t samples)
{
    assert_true(i < guess.n_splits);
    assert_string_equal(guess.splits[i].name, name);
    assert_string_equal(guess.splits[i].pattern, sandbox_path(sb, pattern));
    assert_int_equal(guess.splits[i].samples, samples);
}

static void tar_files_of_a_folder_of_a_split_are_named_by_it(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_shard(sb, "p/val/x-train-0.tar", 0, 2);
    sandbox_shard(sb, "p/train/b-0.tar", 0, 4);
    sandbox_shard(sb, "p/train/b-1.tar", 0, 3);
    sandbox_shard(sb, "p/train/a-0.tar", 0, 5);
    sandbox_write_text(sb, "p/train/0.txt", "x");
    sandbox_write_text(sb, "p/train/a-1.txt", "x");
    sandbox_mkdir(sb, "p/train/a-1.tar");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_SHARDS);
    assert_int_equal(guess.n_splits, 3);
    assert_split(sb, 0, "train", "p/train/a-0.tar", 5);
    assert_split(sb, 1, "b", "p/train/b-{0..1}.tar", 7);
    assert_split(sb, 2, "val", "p/val/x-train-0.tar", 2);
    assert_int_equal(guess.splits[0].shards, 1);
    assert_true(guess.splits[0].counted_all);
    assert_int_equal(guess.splits[1].shards, 2);
    assert_true(guess.splits[1].counted_all);
    assert_true(guess.splits[0].members[1].always);
    look(sb, "p/train/b-1.tar");
    assert_int_equal(guess.n_splits, 1);
    assert_split(sb, 0, "train", "p/train/b-1.tar", 3);
}

static void train_stands_first_whatever_its_files_are_called(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_shard(sb, "p/a-test-0.tar", 0, 1);
    sandbox_shard(sb, "p/b-val-0.tar", 0, 2);
    sandbox_shard(sb, "p/c-train-0.tar", 0, 3);
    look(sb, "p");
    assert_int_equal(guess.n_splits, 3);
    assert_split(sb, 0, "train", "p/c-train-0.tar", 3);
    assert_split(sb, 1, "val", "p/b-val-0.tar", 2);
    assert_split(sb, 2, "test", "p/a-test-0.tar", 1);
}

static void shards_that_cannot_be_patterns_or_read_are_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_shard(sb, "p/a,b-0.tar", 0, 1);
    assert_refused_with(sb, "p",
        "the name of a,b-0.tar has a special character of patterns; "
        "rename it");
    sandbox_shard(sb, "q*r/a.tar", 0, 1);
    assert_refused(sb, "q*r", 0, "/q*r has a special character of patterns");
    sandbox_write_text(sb, "broken/train/t-0.tar", "no tar");
    assert_refused(sb, "broken", 0, ": shard train/t-0.tar: ");
    assert_int_equal(guess.n_splits, 1);
}

/* A PNG file's head: grey, of 8 bits. */
static const uint8_t png_head[33] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a,
    '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0, 2, 0, 0, 0, 2, 8, 0};

static void png_files_in_tars_are_read_in_place(void **state)
{
    const struct sandbox *sb  = *state;
    struct fby_buffer     tar = {0};
    tar_file(&tar, "0.jpg", "x");
    tar_header(&tar, "0.seg.png", '0', sizeof(png_head));
    tar_payload(&tar, png_head, sizeof(png_head));
    tar_file(&tar, "0.z.png", "no PNG file at all, but as long as the head");
    tar_end(&tar);
    sandbox_tar(sb, "p/train/t.tar", &tar);
    look(sb, "p");
    const struct fby_init_member *members = guess.splits[0].members;
    assert_int_equal(guess.splits[0].n_members, 3);
    assert_string_equal(members[1].extension, "seg.png");
    assert_true(members[1].header_read);
    assert_true(members[1].may_be_ids);
    assert_true(members[2].header_read);
    assert_false(members[2].may_be_ids);
    assert_false(members[0].header_read);
}

static const uint8_t rgb_2x2[]  = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a,
     0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
     0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00, 0x00, 0xfd, 0xd4,
     0x9a, 0x73, 0x00, 0x00, 0x00, 0x0b, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c,
     0x63, 0x60, 0x40, 0x06, 0x00, 0x00, 0x0e, 0x00, 0x01, 0xa9, 0x91, 0x73,
     0xb1, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60,
     0x82};
static const uint8_t grey_4x4[] = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a,
    0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x04, 0x00, 0x00, 0x00, 0x04, 0x08, 0x00, 0x00, 0x00, 0x00, 0x8c, 0x9a,
    0xc1, 0xa2, 0x00, 0x00, 0x00, 0x0b, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c,
    0x63, 0x60, 0xc0, 0x04, 0x00, 0x00, 0x14, 0x00, 0x01, 0x7d, 0xfe, 0x1e,
    0xee, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60,
    0x82};

/* The first sample of the class has no mask. */
static void samples_of_the_first_class_are_measured(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write(sb, "p/c0/0.png", rgb_2x2, sizeof(rgb_2x2));
    sandbox_write(sb, "p/c0/1.png", rgb_2x2, sizeof(rgb_2x2));
    sandbox_write(sb, "p/c0/1.seg.png", grey_4x4, sizeof(grey_4x4));
    sandbox_write(sb, "p/c1/2.png", rgb_2x2, sizeof(rgb_2x2));
    look(sb, "p");
    assert_int_equal(guess.splits[0].n_members, 2);
    assert_int_equal(guess.splits[0].members[0].sizes[0].w, 2);
    assert_int_equal(guess.splits[0].members[0].sizes[1].w, 2);
    assert_int_equal(guess.splits[0].members[1].sizes[0].w, 0);
    assert_int_equal(guess.splits[0].members[1].sizes[1].w, 4);
}

static void png_headers_of_class_folders_are_read(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write(sb, "p/train/c0/a/1.seg.png", png_head, sizeof(png_head));
    sandbox_write_text(sb, "p/train/c0/a/1.png", "no PNG file");
    sandbox_write(sb, "p/train/c1/b/2.png", png_head, sizeof(png_head));
    look(sb, "p");
    const struct fby_init_member *members = guess.splits[0].members;
    assert_split(sb, 0, "train", "p/train", 2);
    assert_int_equal(guess.splits[0].n_members, 2);
    assert_string_equal(members[0].extension, "png");
    assert_true(members[0].header_read);
    assert_false(members[0].may_be_ids);
    assert_true(members[0].always);
    assert_string_equal(members[1].extension, "seg.png");
    assert_true(members[1].may_be_ids);
    assert_false(members[1].always);
}

/* They are cut into parts of 1,024 samples, which are counted together. */
static void all_files_of_class_folders_are_counted(void **state)
{
    const struct sandbox *sb = *state;
    char                  path[32];
    for (unsigned i = 0; i < 1030; i++) {
        snprintf(path, sizeof(path), "p/c/%u.jpg", i);
        sandbox_write(sb, path, "", 0);
    }
    sandbox_write_text(sb, "p/d/1.png", "x");
    look(sb, "p");
    assert_split(sb, 0, "train", "p", 1031);
    assert_int_equal(guess.splits[0].classes, 2);
    assert_int_equal(guess.splits[0].members[0].count, 1030);
    assert_int_equal(guess.splits[0].members[1].count, 1);
    assert_true(guess.splits[0].members[1].header_read);
}

/* Eight lists are as many splits as a guess has. */
static void a_split_too_many_of_any_kind_is_counted(void **state)
{
    static const char *const files[] = {"val/c/1.jpg", "val/a.npy",
        "val/images/1.jpg", "val/t-0.tar", "val/a.bin", "val/l.csv"};
    const struct sandbox    *sb      = *state;
    char                     path[32];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        for (unsigned k = 0; k < FBY_GUESS_SPLITS; k++) {
            snprintf(path, sizeof(path), "p%zu/train/%s%u.csv", i,
                k == 0 ? "train" : "l", k);
            sandbox_write_text(sb, path, "x,y\n1,2\n");
        }
        snprintf(path, sizeof(path), "p%zu/%s", i, files[i]);
        sandbox_write_text(sb, path, "x");
        snprintf(path, sizeof(path), "p%zu/val/masks", i);
        if (i == 2) {
            sandbox_mkdir(sb, path);
        }
        snprintf(path, sizeof(path), "p%zu", i);
        look_with(sb, path, i == 4 ? FBY_U16 : 0);
        assert_int_equal(guess.n_splits, FBY_GUESS_SPLITS);
        assert_int_equal(guess.n_left_out, 1);
        assert_int_equal(guess.kind, FBY_SOURCE_LIST);
    }
}

static void only_folders_called_so_are_splits(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train", "a file");
    sandbox_write_text(sb, "p/val/1.jpg", "x");
    look(sb, "p");
    assert_int_equal(guess.n_splits, 1);
    assert_split(sb, 0, "val", "p", 1);
    assert_int_equal(guess.splits[0].classes, 0);
    sandbox_write_text(sb, "q/train/c/1.jpg", "x");
    sandbox_write_text(sb, "q/training/c/1.jpg", "x");
    sandbox_write_text(sb, "q/validation/c/1.jpg", "x");
    sandbox_write_text(sb, "q/valid/c/1.jpg", "x");
    sandbox_write_text(sb, "q/val", "a file");
    sandbox_write_text(sb, "q/test/c/1.jpg", "x");
    sandbox_write_text(sb, "q/l.csv", "x,y\n1,2\n");
    look(sb, "q");
    assert_int_equal(guess.n_splits, 4);
    assert_split(sb, 0, "train", "q/train", 1);
    assert_split(sb, 1, "validation", "q/validation", 1);
    assert_split(sb, 2, "valid", "q/valid", 1);
    assert_split(sb, 3, "test", "q/test", 1);
    look(sb, "q/l.csv");
    assert_int_equal(guess.n_splits, 1);
    assert_split(sb, 0, "train", "q/l.csv", 1);
}

static void a_path_that_is_not_there_is_named(void **state)
{
    const struct sandbox   *sb = *state;
    char                    right[256];
    struct fby_error_detail why = {0};
    snprintf(right, sizeof(right),
        "cannot look at %s: No such file or directory",
        sandbox_path(sb, "none"));
    fby_guess_fini(&guess);
    assert_int_equal(
        fby_source_guess(sandbox_path(sb, "none"), 0, &guess, &why),
        FBY_NOT_FOUND);
    assert_string_equal(why.text, right);
    assert_int_equal(guess.n_splits, 0);
}

static void unknown_data_is_refused_with_the_known_kinds(void **state)
{
    static const char known[] =
        "; known are class folders (CLASS/0001.jpg), tar files, columns (.npy, "
        ".npz), lists (.csv, .jsonl), parallel folders (images and masks) and "
        "token files (.mds; .bin with .idx; .bin with --tokens TYPE)";
    const struct sandbox *sb = *state;
    char                  words[400];
    sandbox_mkdir(sb, "p");
    snprintf(words, sizeof(words), "the directory is empty%s", known);
    assert_refused_with(sb, "p", words);
    sandbox_write_text(sb, "p/jpg", "x");
    sandbox_write_text(sb, "p/1.jpg.txt", "x");
    snprintf(words, sizeof(words),
        "the directory has no files of a known kind%s", known);
    assert_refused_with(sb, "p", words);
    sandbox_write_text(sb, "p/2.jpeg", "x");
    snprintf(words, sizeof(words), "the file is of no known kind%s", known);
    assert_refused_with(sb, "p/2.jpeg", words);
}

/* ---- lists --------------------------------------------------------------- */

static void paths_of_files_make_a_column_of_paths(void **state)
{
    const struct sandbox *sb = *state;
    char                  text[512];
    sandbox_write_text(sb, "p/d.1/1.jpg", "x");
    sandbox_write_text(sb, "p/plain", "x");
    snprintf(text, sizeof(text),
        "whole,plain,dir,none,n,here,later,up\n"
        "%s,plain,d.1,d.1/2.jpg,1,d.1/1.jpg,,../p/d.1/1.jpg\n"
        "%s,plain,d.1,d.1/2.jpg,1,d.1/1.jpg,d.1/1.jpg,\n",
        sandbox_path(sb, "p/d.1/1.jpg"), sandbox_path(sb, "p/d.1/1.jpg"));
    sandbox_write_text(sb, "p/l.csv", text);
    look(sb, "p/l.csv");
    const struct fby_guess_split *split = &guess.splits[0];
    assert_int_equal(guess.kind, FBY_SOURCE_LIST);
    assert_int_equal(split->samples, 2);
    assert_int_equal(split->n_file_columns, 3);
    assert_string_equal(split->file_columns[0], "whole");
    assert_string_equal(split->file_columns[1], "here");
    assert_string_equal(split->file_columns[2], "later");
    assert_true(split->counted_all);
}

static void files_outside_of_the_list_s_directory_need_a_root(void **state)
{
    const struct sandbox *sb = *state;
    char                  text[512];
    sandbox_write_text(sb, "p/x/1.jpg", "x");
    sandbox_write_text(sb, "p/a/b/l.csv", "up\n../../x/1.jpg\n");
    look(sb, "p/a/b/l.csv");
    assert_string_equal(guess.data_root, sandbox_path(sb, "p"));
    assert_string_equal(guess.splits[0].pattern, "data:a/b/l.csv");
    assert_int_equal(guess.splits[0].n_file_columns, 1);
    snprintf(text, sizeof(text), "up,n\n%s,3\n", sandbox_path(sb, "p/x/1.jpg"));
    sandbox_write_text(sb, "p/a/m.csv", text);
    look(sb, "p/a/m.csv");
    assert_string_equal(guess.splits[0].pattern, "data:a/m.csv");
    sandbox_write_text(sb, "p/a/m.csv", "up,n\n/etc/hostname.d/x.dat,3\n");
    look(sb, "p/a/m.csv"); /* there is no such file */
    assert_string_equal(guess.data_root, "");
}

/* Labels are numbers, as the names of pictures may be. */
static void paths_of_another_machine_are_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/img/0.jpg", "x");
    sandbox_write_text(sb, "p/img/1.jpg", "x");
    sandbox_write_text(sb, "p/a.csv", "y,image\n0,/home/al/img/0.jpg\n");
    assert_refused(sb, "p", 0,
        "a.csv: the column image has paths that lead to no file, such as "
        "/home/al/img/0.jpg (img/0.jpg): write a list of paths:");
    assert_advised(sb, "p", "S = {'a.csv': '/'}; K = {'image': ('/home/al/");
    assert_advised(sb, "p/a.csv", "/p/paths-a.csv");
    sandbox_write_text(sb, "p/a.csv", "image\nC:\\d\\img\\0.jpg\n");
    assert_advised(sb, "p", "K = {'image': ('C:/d/', '', '/', 2, 0)}");
    sandbox_write_text(sb, "p/a.csv", "image\nimg\\1.jpg\n");
    assert_advised(sb, "p", "K = {'image': ('', '', '/', 2, 0)}");
    sandbox_write_text(sb, "p/a.csv", "y,image\n0,0.jpg\n");
    assert_refused(sb, "p/a.csv", 0,
        "a.csv: the column image names files without their path (img/0.jpg)");
    sandbox_write_text(sb, "p/a.csv", "y,image\n0,x/7.jpg\n");
    assert_refused(sb, "p", 0,
        "a.csv: the column image names pictures, but x/7.jpg is not there: put "
        "the pictures beside the list");
}

static void assert_evaluation(
    const struct sandbox *sb, const char *path, const char *split)
{
    look(sb, path);
    assert_int_equal(guess.n_splits, 1);
    assert_string_equal(guess.splits[0].name, split);
}

static void a_split_for_evaluation_that_is_alone_keeps_its_name(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/val.csv", "x,y\n1,2\n");
    assert_evaluation(sb, "p", "val");
    assert_string_equal(guess.notes,
        "note: the split is called val, so it is neither shuffled nor "
        "augmented; to train on it, rename it, as to train.csv, and run init "
        "again\n");
    assert_evaluation(sb, "p/val.csv", "val");
    sandbox_write_text(sb, "q/test2017/a.jpg", "x");
    assert_evaluation(sb, "q", "test");
    assert_evaluation(sb, "q/test2017", "test");
    sandbox_write_text(sb, "r/Valid/a/1.jpg", "x");
    sandbox_write_text(sb, "r/Valid/b/1.jpg", "x");
    assert_evaluation(sb, "r/Valid", "valid");
    assert_int_equal(guess.splits[0].classes, 2);
    assert_string_equal(guess.splits[0].mismatch, "");
    assert_string_equal(guess.notes,
        "note: the split is called valid, so it is neither shuffled nor "
        "augmented; to train on it, rename it, as to train, and run init "
        "again\nnote: classes are numbered by their names in valid alone, and "
        "train may have others: write the names of its classes into the file "
        "(names: [...])\n");
    sandbox_write_text(sb, "val/rows.csv", "x,y\n1,2\n");
    assert_evaluation(sb, "val", "val");
    sandbox_write_text(sb, "test/train/a/1.jpg", "x");
    sandbox_write_text(sb, "test/train/b/1.jpg", "x");
    assert_evaluation(sb, "test", "train");
    sandbox_write_text(sb, "s/train/val.csv", "x,y\n1,2\n");
    assert_evaluation(sb, "s", "train");
}

static void evaluation_splits_without_train_are_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/val.csv", "x,y\n1,2\n");
    sandbox_write_text(sb, "p/test.csv", "x,y\n1,2\n");
    assert_refused(sb, "p", 0,
        "found the lists test, val, and none is called train: rename the one "
        "for training, as in train.csv; to stream one by itself: forebay init "
        "/");
    sandbox_write_text(sb, "q/val/a/1.jpg", "x");
    sandbox_write_text(sb, "q/test/a/1.jpg", "x");
    assert_refused(sb, "q", 0,
        "the folders test, val are splits, and none is called train: rename "
        "the one for training to train; to stream one by itself: forebay init "
        "/");
}

static void of_many_columns_of_paths_as_many_as_may_be_are_taken(void **state)
{
    const struct sandbox *sb   = *state;
    struct fby_buffer     list = {0};
    for (int i = 0; i < FBY_MAX_FILES + 1; i++) {
        char name[8];
        snprintf(name, sizeof(name), "%sc%02d", i > 0 ? "," : "", i);
        fby_put_bytes(&list, name, strlen(name));
    }
    for (int i = 0; i < FBY_MAX_FILES + 1; i++) {
        fby_put_bytes(&list, i > 0 ? ",1.t" : "\n1.t", 4);
    }
    sandbox_write(sb, "p/l.csv", list.data, list.size);
    fby_buffer_fini(&list);
    sandbox_write_text(sb, "p/1.t", "x");
    look(sb, "p/l.csv");
    assert_int_equal(guess.splits[0].n_file_columns, FBY_MAX_FILES);
    assert_string_equal(guess.splits[0].file_columns[0], "c00");
    assert_string_equal(guess.splits[0].file_columns[FBY_MAX_FILES - 1], "c15");
}

static void a_first_row_of_values_is_no_header(void **state)
{
    const struct sandbox *sb     = *state;
    static const char     rule[] = " where the names of the columns must be: ";
    static const struct {
        const char *text, *shown, *what, *script;
    } rows[] = {
        {"x.jpg,3\n", "x.jpg", "one more", "'1i image,label'"},
        {"3,x.png\n", "3", "one more", "'1i label,image'"},
        {"\xef\xbb\xbf"
         "1.t,3,3\n",
            "1.t", "one more", "\"1i $(seq -s, -f c%g 3)\""},
        {"-1.5,,a b\n", "-1.5", "one more", "\"1i $(seq -s, -f c%g 3)\""},
        {"0,1\n", "0", "another", "\"1c $(seq -s, -f c%g 2)\""},
    };
    sandbox_write_text(sb, "p/1.t", "x");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char words[320];
        sandbox_write_text(sb, "p/a b.csv", rows[i].text);
        snprintf(words, sizeof(words),
            "a b.csv: line 1 has values (%s)%swrite a list with %s line:",
            rows[i].shown, rule, rows[i].what);
        assert_refused_with(sb, "p/a b.csv", words);
        snprintf(words, sizeof(words),
            "for f in 'a b.csv'; do sed %s < \"$f\" > \"names-$f\" || exit; "
            "done) && forebay init '%s'",
            rows[i].script, sandbox_path(sb, "p/names-a b.csv"));
        assert_advised(sb, "p/a b.csv", words);
    }
    sandbox_write_text(sb, "p/a b.csv", "country,2019\nx,3\n");
    look(sb, "p/a b.csv");
    assert_int_equal(guess.splits[0].samples, 1);
}

static void lists_of_values_beside_folders_are_skipped(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/c/1.jpg", "x");
    sandbox_write_text(sb, "p/a.csv", "x,y\n1,2\n");
    sandbox_write_text(sb, "p/b.csv", "no list, this\n\"\n");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
    assert_int_equal(guess.n_splits, 1);
    assert_int_equal(guess.n_left_out, 0);
    sandbox_write_text(sb, "p/c.csv", "x,y\nc/1.jpg,2\n");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_LIST);
    assert_int_equal(guess.n_splits, 1);
    assert_split(sb, 0, "train", "p/c.csv", 1);
}

static void a_list_that_cannot_be_read_is_refused_unless_another_can(
    void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/a.csv", "no list, this\n\"\n");
    assert_refused(sb, "p", 0, ": a.csv: line 2: a quote that is not closed");
    sandbox_write_text(sb, "p/b.csv", "x,y\n1,2\n");
    assert_refused(sb, "p", 0, ": a.csv: line 2: a quote that is not closed");
    sandbox_remove(sb, "p/a.csv");
    sandbox_write_text(sb, "p/c.csv", "no list, this\n\"\n");
    look(sb, "p");
    assert_int_equal(guess.n_splits, 1);
    assert_split(sb, 0, "train", "p/b.csv", 1);
}

/* ---- commands in errors -------------------------------------------------- */

/* A name that a shell would run is not in a command. */
static void a_command_has_only_plain_whole_names(void **state)
{
    static const char *const masks[] = {
        "1_$(id).png", "1_a b.png", "1_;id;.png"};
    const struct sandbox *sb = *state;
    char                  path[100];
    sandbox_write_text(sb, "p/images/1.png", "x");
    sandbox_write_text(sb, "p/masks/1_mask.png", "x");
    assert_advised(sb, "p",
        "-renamed/masks && for f in ./*_mask.png; do mv -n \"$f\" "
        "\"${f%_mask.png}.png\"; done)");
    sandbox_remove(sb, "p/masks/1_mask.png");
    sandbox_write_text(sb, "p/masks/1_2.png", "x");
    sandbox_write_text(
        sb, "p/images/1_2.png", "x"); /* it is the mask of this */
    assert_refused(sb, "p", 0, "1 file missing: 1.* in masks");
    sandbox_remove(sb, "p/masks/1_2.png");
    sandbox_remove(sb, "p/images/1_2.png");
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        snprintf(path, sizeof(path), "p/masks/%s", masks[i]);
        sandbox_write_text(sb, path, "x");
        assert_refused(sb, "p", 0, "first dot: rename the masks");
        assert_string_equal(guess.command, "");
        sandbox_remove(sb, path);
    }
}

static void a_command_has_no_list_that_needs_quotes(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train/1.jpg", "x");
    sandbox_write_text(sb, "p/a.csv", "id,y\n1.jpg,0\n");
    assert_advised(sb, "p", "K = {'id': ('', '', '/train/', 1, 0)}");
    sandbox_remove(sb, "p/a.csv");
    sandbox_write_text(sb, "p/a'b.csv", "id,y\n1.jpg,0\n");
    assert_refused(sb, "p", 0, "(train/1.jpg): write paths that begin at");
    assert_string_equal(guess.command, "");
}

/* ---- parallel folders ---------------------------------------------------- */

static void pictures_or_partners_alone_are_class_folders(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/images/1.jpg", "x");
    sandbox_write_text(sb, "p/photos/1.jpg", "x");
    sandbox_write_text(sb, "p/masks", "a file");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
    sandbox_write_text(sb, "q/labels/1.png", "x");
    sandbox_write_text(sb, "q/masks/2.png", "x");
    look(sb, "q");
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
}

static void parallel_folders_may_be_in_the_folder_of_a_split(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train/images/1.jpg", "x");
    sandbox_write_text(sb, "p/train/depth/1.png", "x");
    sandbox_write_text(sb, "p/train/masks/1.png", "x");
    sandbox_write_text(sb, "p/val/images/1.jpg", "x");
    sandbox_write_text(sb, "p/val/images/2.jpg", "x");
    sandbox_write_text(sb, "p/val/masks/1.png", "x");
    sandbox_write_text(sb, "p/val/masks/2.png", "x");
    look(sb, "p");
    assert_int_equal(guess.n_splits, 2);
    assert_split(sb, 0, "train", "p/train/{depth,images,masks}", 1);
    assert_split(sb, 1, "val", "p/val/{images,masks}", 2);
    assert_int_equal(guess.splits[0].n_members, 3);
    sandbox_write_text(sb, "p/val/seg.1/1.png", "x");
    assert_refused(sb, "p", 0,
        "in val: the folder seg.1 seems to be one of parallel folders, whose "
        "names are lower-case letters, digits, _ and -: rename it:");
    assert_advised(sb, "p", " && mv -n seg.1 ");
}

static void assert_note(
    const struct sandbox *sb, const char *words, const char *path)
{
    char right[512];
    snprintf(right, sizeof(right), "%s%s\n", words, sandbox_path(sb, path));
    assert_string_equal(guess.notes, right);
}

static void folders_that_no_split_has_are_noted(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train/a/1.jpg", "x");
    sandbox_write_text(sb, "p/val/a/1.jpg", "x");
    sandbox_write_text(sb, "p/test 1/1.jpg", "x");
    sandbox_write_text(sb, "p/__MACOSX/1.jpg", "x");
    sandbox_write_text(sb, "p/notes.md", "x");
    look(sb, "p");
    char word[256];
    snprintf(word, sizeof(word), "'%s'", sandbox_path(sb, "p/test 1"));
    assert_non_null(strstr(guess.notes, word));
    sandbox_write_text(sb, "p/a/1.jpg", "x");
    sandbox_write_text(sb, "p/b/1.jpg", "x");
    sandbox_write_text(sb, "p/c/1.jpg", "x");
    look(sb, "p");
    assert_note(sb,
        "note: the only folder, a, is read without classes; if it is a class: "
        "--class-depth 1\nleft out: folders a, b, c, ...: a split is called "
        "train, val, valid, "
        "validation, dev or test; to stream it by itself: forebay init ",
        "p/a");
    sandbox_write_text(sb, "q/images/1.jpg", "x");
    sandbox_write_text(sb, "q/masks/1.png", "x");
    sandbox_write_text(sb, "q/other/1.png", "x");
    look(sb, "q");
    assert_note(sb,
        "left out: folder other: parallel folders are called images, masks, "
        "labels and so on; to stream it by itself: forebay init ",
        "q/other");
}

static void long_names_in_notes_end_with_a_whole_character(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/train/a/1.jpg", "x");
    sandbox_write_text(
        sb, "p/0123456789012345678901234567890123456789\xc3\xa9/1.jpg", "x");
    sandbox_write_text(
        sb, "p/x12345678901234567890123456789012345678\xc3\xa9/1.jpg", "x");
    look(sb, "p");
    assert_non_null(strstr(guess.notes,
        "left out: folders 0123456789012345678901234567890123456789, "
        "x12345678901234567890123456789012345678: a split is called"));
}

static void inner_folders_that_no_split_has_are_noted(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/images/train/1.jpg", "x");
    sandbox_write_text(sb, "p/masks/train/1.png", "x");
    sandbox_write_text(sb, "p/images/more/1.jpg", "x");
    look(sb, "p");
    assert_note(sb,
        "left out: folder more: a split is called train, val, valid, "
        "validation, dev or test; to stream it by itself: forebay init ",
        "p/images/more");
}

/* Five numbers in the first line of the first file that is not empty. */
static void folders_of_boxes_are_no_partners(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/images/1.jpg", "x");
    sandbox_write_text(sb, "p/images/2.jpg", "x");
    sandbox_write_text(sb, "p/labels/classes.txt", "cat");
    sandbox_write_text(sb, "p/labels/1.txt", "");
    sandbox_write_text(sb, "p/labels/2.txt", "0 0.5 .5 1e-1 0.1\r\n1 x");
    look(sb, "p");
    assert_int_equal(guess.kind, FBY_SOURCE_FOLDER);
    assert_split(sb, 0, "train", "p/images", 2);
    assert_int_equal(guess.splits[0].class_depth, 0);
    assert_int_equal(
        strncmp(guess.notes, "left out: labels: its text files are boxes", 42),
        0);
    static const char *const others[] = {
        "a cat", "0 1 2 3", "0 1 2 3 4 5", "0 1 2 3 4 x", "\n0 1 2 3 4"};
    sandbox_write_text(sb, "q/images/1.jpg", "x");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        sandbox_write_text(sb, "q/labels/1.txt", others[i]);
        look(sb, "q");
        assert_int_equal(guess.kind, FBY_SOURCE_PARALLEL);
        assert_string_equal(guess.notes, "");
    }
}

static void a_picture_without_decoder_is_refused_unless_it_was_converted(
    void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/images/1.jpg", "x");
    sandbox_write_text(sb, "p/images/2.tif", "x");
    sandbox_write_text(sb, "p/masks/1.png", "x");
    sandbox_write_text(sb, "p/masks/2.png", "x");
    assert_refused_with(sb, "p",
        "TIFF pictures (images/*.tif) are not decoded; convert them with "
        "ImageMagick:");
    assert_advised(
        sb, "p", " && find . -iname '*.tif' -exec sh -c 'for f; do ");
    sandbox_write_text(sb, "p/images/2.png", "x");
    look(sb, "p");
    assert_split(sb, 0, "train", "p/{images,masks}", 2);
}

static void only_words_for_splits_are_splits_within_parallel_folders(
    void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p/images/trained/1.jpg", "x");
    sandbox_write_text(sb, "p/images/other/2.jpg", "x");
    sandbox_write_text(sb, "p/masks/trained/1.png", "x");
    sandbox_write_text(sb, "p/masks/other/2.png", "x");
    look(sb, "p");
    assert_int_equal(guess.n_splits, 1);
    assert_split(sb, 0, "train", "p/{images,masks}", 2);
    sandbox_write_text(sb, "q/train/images/val/1.jpg", "x");
    sandbox_write_text(sb, "q/train/masks/val/1.png", "x");
    sandbox_write_text(sb, "q/train/images/test/1.jpg", "x");
    sandbox_write_text(sb, "q/train/masks/test/1.png", "x");
    assert_refused(sb, "q", 0,
        "found the splits test, val, and none is called train: rename the one "
        "for training, as in images/train");
    sandbox_write_text(sb, "q/train/images/train/1.jpg", "x");
    sandbox_write_text(sb, "q/train/masks/train/1.png", "x");
    look(sb, "q");
    assert_int_equal(guess.n_splits, 3);
    assert_split(sb, 1, "test", "q/train/{images,masks}/test", 1);
    assert_split(sb, 2, "val", "q/train/{images,masks}/val", 1);
    sandbox_write_text(sb, "q/train/images/val/2.jpg", "x");
    assert_refused(sb, "q", 0, "1 file missing: 2.* in masks/val");
}

static void a_directory_with_letters_of_patterns_has_no_parallel_folders(
    void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "p?/images/1.jpg", "x");
    sandbox_write_text(sb, "p?/masks/1.png", "x");
    assert_refused(sb, "p?", 0, "/p? has a special character of patterns");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(class_folders_are_a_folder_split),
        IN_SANDBOX(train_and_val_folders_are_two_splits),
        IN_SANDBOX(tar_files_make_a_brace_range_a_split),
        IN_SANDBOX(gaps_and_uneven_digits_make_wildcards),
        IN_SANDBOX(a_list_says_which_columns_are_paths),
        IN_SANDBOX(lists_and_objects_of_a_list_are_known_as_such),
        IN_SANDBOX(folders_of_pictures_and_masks_are_parallel),
        IN_SANDBOX(masks_of_ids_are_grey_or_have_a_palette),
        IN_SANDBOX(splits_may_be_within_parallel_folders),
        IN_SANDBOX(files_of_tokens_that_no_wildcard_fits_are_named),
        IN_SANDBOX(special_characters_matter_where_files_are_named),
        IN_SANDBOX(token_files_of_two_formats_are_two_splits),
        IN_SANDBOX(folders_of_splits_hold_anything),
        IN_SANDBOX(lists_of_one_split_are_named_apart),
        IN_SANDBOX(flat_pictures_are_a_folder_without_classes),
        IN_SANDBOX(links_name_the_directories_that_must_be_roots),
        IN_SANDBOX(a_split_with_a_class_that_train_lacks_is_named),
        IN_SANDBOX(split_folders_have_other_usual_names_too),
        IN_SANDBOX(folders_of_folders_ask_for_the_depth_of_the_classes),
        IN_SANDBOX(anything_else_says_what_was_expected),
        IN_SANDBOX(tar_files_of_a_folder_of_a_split_are_named_by_it),
        IN_SANDBOX(train_stands_first_whatever_its_files_are_called),
        IN_SANDBOX(shards_that_cannot_be_patterns_or_read_are_refused),
        IN_SANDBOX(png_files_in_tars_are_read_in_place),
        IN_SANDBOX(samples_of_the_first_class_are_measured),
        IN_SANDBOX(png_headers_of_class_folders_are_read),
        IN_SANDBOX(all_files_of_class_folders_are_counted),
        IN_SANDBOX(a_split_too_many_of_any_kind_is_counted),
        IN_SANDBOX(only_folders_called_so_are_splits),
        IN_SANDBOX(a_path_that_is_not_there_is_named),
        IN_SANDBOX(unknown_data_is_refused_with_the_known_kinds),
        IN_SANDBOX(paths_of_files_make_a_column_of_paths),
        IN_SANDBOX(files_outside_of_the_list_s_directory_need_a_root),
        IN_SANDBOX(paths_of_another_machine_are_refused),
        IN_SANDBOX(a_split_for_evaluation_that_is_alone_keeps_its_name),
        IN_SANDBOX(evaluation_splits_without_train_are_refused),
        IN_SANDBOX(of_many_columns_of_paths_as_many_as_may_be_are_taken),
        IN_SANDBOX(a_first_row_of_values_is_no_header),
        IN_SANDBOX(lists_of_values_beside_folders_are_skipped),
        IN_SANDBOX(a_list_that_cannot_be_read_is_refused_unless_another_can),
        IN_SANDBOX(a_command_has_only_plain_whole_names),
        IN_SANDBOX(a_command_has_no_list_that_needs_quotes),
        IN_SANDBOX(pictures_or_partners_alone_are_class_folders),
        IN_SANDBOX(parallel_folders_may_be_in_the_folder_of_a_split),
        IN_SANDBOX(folders_that_no_split_has_are_noted),
        IN_SANDBOX(long_names_in_notes_end_with_a_whole_character),
        IN_SANDBOX(inner_folders_that_no_split_has_are_noted),
        IN_SANDBOX(folders_of_boxes_are_no_partners),
        IN_SANDBOX(
            a_picture_without_decoder_is_refused_unless_it_was_converted),
        IN_SANDBOX(only_words_for_splits_are_splits_within_parallel_folders),
        IN_SANDBOX(
            a_directory_with_letters_of_patterns_has_no_parallel_folders),
    };
    return cmocka_run_group_tests_name(
        "worker.source.guess", tests, NULL, NULL);
}
