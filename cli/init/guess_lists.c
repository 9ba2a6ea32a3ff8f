/* SPDX-License-Identifier: Apache-2.0 */
/* guess_lists.c - recognise lists (.csv, .jsonl) in a directory.
 *
 * A list is read twice. The first reading finds the columns of paths: those
 * whose first value is the path of a file. The second reading counts the values
 * of each column, and finds their kinds.
 * In the index of a list (struct fby_shard), a member is a value; its suffix is
 * the name of its column. In a guess, a struct fby_init_member is a column. */
#include "cli/init/guess_lists.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_values.h"
#include "cli/init/list_begin.h"
#include "cli/init/names.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"
#include "worker/source/list/path.h"

static bool is_list(const struct fby_entry *entry)
{
    return !entry->is_dir && !fby_init_is_colour_table(entry->name) &&
           (fby_text_ends_with(entry->name, ".csv") ||
               fby_text_ends_with(entry->name, ".jsonl"));
}

void fby_guess_name_list(
    const char *list, const char *word, char out[FBY_PATH_SIZE])
{
    snprintf(out, FBY_PATH_SIZE, "%s-%s", word, list);
}

/* The list in the listing that a command of init converted this one to; NULL: there
 * is none. */
static const char *find_converted(
    const struct fby_listing *listing, const char *list)
{
    static const char *const words[] = {"paths", "found", "names", "utf8",
        "commas", "lines", "text", "dots", "filled", "boxes", "labels"};
    const struct fby_entry  *found   = NULL;
    for (size_t i = 0; found == NULL && i < sizeof(words) / sizeof(words[0]);
         i++) {
        char converted[FBY_PATH_SIZE];
        fby_guess_name_list(list, words[i], converted);
        found = fby_listing_find(listing, converted);
    }
    return found != NULL ? found->name : NULL;
}

bool fby_guess_name_lists(const struct fby_guess *guess, char *out, size_t size)
{
    const char *first  = guess->splits[0].pattern;
    const char *ending = strrchr(first, '.');
    size_t      dir    = (size_t)(strrchr(first, '/') + 1 - first);
    size_t      used   = 0;
    for (uint32_t i = 0; i < guess->n_splits && used < size; i++) {
        const char *list = guess->splits[i].pattern;
        if (strncmp(list, first, dir) != 0 ||
            !fby_text_ends_with(list, ending)) {
            continue;
        }
        if (!fby_shell_is_plain(list + dir) || strchr(list + dir, '/')) {
            return false;
        }
        used += (size_t)snprintf(
            out + used, size - used, "%s%s", used > 0 ? " " : "", list + dir);
    }
    return used > 0 && used < size;
}

/* Is it Kaggle's form for the results, as sample_submission.csv? */
static bool is_form(const char *list)
{
    return strcasestr(list, "submission") != NULL;
}

bool fby_list_is_read(
    const struct fby_listing *listing, const struct fby_entry *entry)
{
    return is_list(entry) && find_converted(listing, entry->name) == NULL &&
           !is_form(entry->name);
}

/* Write the absolute path that `text`, a path with `..` or an absolute one, has
 * for a list in the directory `base`. Returns false for other paths. */
static bool make_outside_path(const struct fby_search *search, const char *base,
    const char *text, size_t size, char out[FBY_PATH_SIZE])
{
    char resolved[FBY_PATH_SIZE];
    char dir[FBY_PATH_SIZE];
    /* The list's directory as seen from "/", whose paths are all below it. */
    const char *root = fby_root_dir(search->root);
    if (size == 0 || memchr(text, '.', size) == NULL ||
        fby_path_join(root, base, dir, NULL) != FBY_OK ||
        fby_list_resolve_path(dir + 1, "/", text, size, resolved) != NULL ||
        resolved[0] != '/') {
        return false;
    }
    memcpy(out, resolved, sizeof(resolved));
    return true;
}

static bool is_outside_file(const struct fby_search *search, const char *base,
    const char *text, size_t size)
{
    char        path[FBY_PATH_SIZE];
    struct stat st;
    return make_outside_path(search, base, text, size, path) &&
           stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Cut `dir` down to a directory that `path` is below, too. */
static void raise_dir(char dir[FBY_PATH_SIZE], const char *path)
{
    size_t n = strlen(dir);
    while (n > 0 && !(strncmp(dir, path, n) == 0 && path[n] == '/')) {
        do {
            n--;
        } while (n > 0 && dir[n] != '/');
    }
    snprintf(dir + n, FBY_PATH_SIZE - n, "%s", n == 0 ? "/" : "");
}

bool fby_guess_is_file_column(
    const struct fby_guess_split *split, const char *column)
{
    for (uint32_t i = 0; i < split->n_file_columns; i++) {
        if (strcmp(split->file_columns[i], column) == 0) {
            return true;
        }
    }
    return false;
}

/* If files of the list are outside of its directory, raise the data root of the
 * guess so that it has them all, and the list. */
static void find_data_root(const struct fby_search *search,
    const struct fby_index *index, const struct fby_guess_split *split)
{
    char *dir = search->out->data_root;
    for (uint32_t i = 0; i < index->n_shards; i++) {
        const struct fby_shard *shard = &index->shards[i];
        for (uint32_t m = 0; m < shard->n_members; m++) {
            char path[FBY_PATH_SIZE];
            if (fby_guess_is_file_column(split, fby_shard_suffix(shard, m)) &&
                make_outside_path(search, index->location.base,
                    (const char *)shard->texts.data + shard->text_offset[m],
                    shard->text_size[m], path)) {
                if (dir[0] == '\0') {
                    snprintf(
                        dir, FBY_PATH_SIZE, "%s", fby_root_dir(search->root));
                }
                raise_dir(dir, path);
            }
        }
    }
}

/* True if `text` is the path of a file in `base`, the list's directory. */
static bool is_file_path(const struct fby_search *search, const char *base,
    const char *text, size_t size)
{
    char file[FBY_PATH_SIZE]; /* relative to `base`, or "/" and to the root */
    char path[FBY_PATH_SIZE]; /* relative to the root */
    if (size == 0 || memchr(text, '.', size) == NULL ||
        fby_list_resolve_path(
            base, fby_root_dir(search->root), text, size, file) != NULL) {
        return false;
    }
    bool from_root = file[0] == '/';
    return fby_path_join(from_root ? "" : base, file + from_root, path, NULL) ==
               FBY_OK &&
           fby_object_exists(search->root, path);
}

bool fby_guess_is_path_of_file(const struct fby_search *search,
    const char *base, const char *text, size_t size)
{
    return is_file_path(search, base, text, size) ||
           is_outside_file(search, base, text, size);
}

enum { LOOKED_AT = 100 /* values of a column */ };

/* True if one of the first values of the column is the path of a file. */
static bool has_paths(const struct fby_search *search,
    const struct fby_index *index, uint32_t column)
{
    const struct fby_shard *shard = &index->shards[0];
    uint32_t                n     = 0;
    bool                    found = false;
    for (uint32_t m = 0; m < shard->n_members && n < LOOKED_AT && !found; m++) {
        if (shard->suffix_index[m] == column) {
            n++;
            found = fby_guess_is_path_of_file(search, index->location.base,
                (const char *)shard->texts.data + shard->text_offset[m],
                shard->text_size[m]);
        }
    }
    return found;
}

/* Set split->file_columns to the columns of paths. */
static void find_path_columns(const struct fby_search *search,
    const struct fby_index *index, struct fby_guess_split *split)
{
    const struct fby_shard *shard = &index->shards[0];
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        if (split->n_file_columns < FBY_MAX_FILES &&
            has_paths(search, index, i)) {
            memcpy(split->file_columns[split->n_file_columns++],
                shard->suffixes[i], FBY_NAME_SIZE);
        }
    }
}

/* `n_before`: the rows of the shards before this one. */
static void add_values(struct fby_guess_split *split,
    const struct fby_shard *shard, uint64_t n_before)
{
    for (uint32_t value = 0; value < shard->n_members; value++) {
        const char             *name   = fby_shard_suffix(shard, value);
        struct fby_init_member *column = fby_guess_find_member(split, name);
        if (column != NULL && fby_shard_is_value(shard, value)) {
            const char *text =
                (const char *)shard->texts.data + shard->text_offset[value];
            if (column->gap_row == 0 &&
                n_before + fby_shard_sample_of(shard, value) >
                    column->n_values) {
                column->gap_row = column->n_values + 1;
            }
            fby_guess_add_value(column, text, shard->text_size[value]);
            fby_init_add_word(column, text, shard->text_size[value]);
        }
    }
}

/* A CSV column with several kinds of values is a column of texts. */
static void change_mixed_to_text(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *column = &split->members[i];
        if (column->value == FBY_INIT_MIXED) {
            column->value = FBY_INIT_TEXT;
        }
    }
}

/* Are the numbers of a column, which is called label or the like, all whole? Then
 * 'nan' may be the name of a class. */
static bool are_ids(const struct fby_init_member *column)
{
    return fby_init_is_class_name(column->extension) && !column->has_real &&
           !column->has_point && !column->has_decimal_comma;
}

/* Only words are the names of classes, not numbers, lists or objects. Numbers may
 * be splits. */
static void keep_words_of_texts(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *column  = &split->members[i];
        bool                    is_kept = column->value == FBY_INIT_DIGITS &&
                       fby_is_split_column(column->extension);
        bool is_number =
            fby_guess_are_written_numbers(column) && !are_ids(column);
        if ((column->value != FBY_INIT_TEXT && !is_kept) || is_number) {
            fby_init_free_words(column);
            column->no_classes = column->no_classes || is_number;
        }
    }
}

/* Say of volumes (.nii.gz) in a column of paths what they are: the ending alone, .gz,
 * is that of any compressed file. */
static void explain_volumes(
    struct fby_guess_split *split, const struct fby_shard *shard)
{
    static const char       ending[] = ".nii.gz";
    struct fby_init_member *member   = NULL;
    struct fby_unread       unread;
    for (uint32_t m = 0; m < shard->n_members; m++) {
        const char *suffix = fby_shard_suffix(shard, m);
        const char *text =
            (const char *)shard->texts.data + shard->text_offset[m];
        size_t n = shard->text_size[m];
        if (n > strlen(ending) && fby_text_ends_with(suffix, ".gz") &&
            memcmp(text + n - strlen(ending), ending, strlen(ending)) == 0 &&
            (member = fby_guess_find_member(split, suffix)) != NULL &&
            member->invalid_reason[0] == '\0' &&
            fby_unread_file("*.nii.gz", &unread)) {
            snprintf(member->invalid_reason, sizeof(member->invalid_reason),
                "%s", unread.text);
        }
    }
}

/* Is the value of the first row a text in JSON? */
static bool is_json_text(json_t *row, const char *column)
{
    const char *key   = NULL;
    json_t     *value = NULL;
    bool        found = false;
    json_object_foreach(row, key, value)
    {
        found = found ||
                (fby_equal_ignoring_case(key, column) && json_is_string(value));
    }
    return found;
}

/* Numbers that JSON has as texts stay texts in columns with names of these: answers
 * and plates may be "10". Others are numbers, as in a .csv. */
static void keep_texts_of_json(const struct fby_search *search,
    const char *list_path, struct fby_guess_split *split)
{
    struct fby_list_begin begin;
    bool    is_read = fby_list_begin_read(search, list_path, &begin);
    json_t *row = is_read ? json_loadb(begin.text, strcspn(begin.text, "\n"),
                                JSON_DECODE_INT_AS_REAL, NULL)
                          : NULL;
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *column = &split->members[i];
        if ((column->value == FBY_INIT_DIGITS ||
                column->value == FBY_INIT_NUMBER) &&
            fby_init_is_text_name(column->extension) &&
            is_json_text(row, column->extension)) {
            column->value      = FBY_INIT_TEXT;
            column->no_classes = true;
        }
    }
    json_decref(row);
    fby_list_begin_fini(&begin);
}

/* Second reading: count the values of each column, and find their kinds. */
static fby_err read_values(struct fby_search *search, const char *list_path,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST,
         .file_columns   = (const char(*)[FBY_NAME_SIZE])split->file_columns,
         .n_file_columns = split->n_file_columns};
    fby_err err = fby_guess_index(search, &spec, list_path, &index, why);
    if (err == FBY_OK) {
        err = fby_guess_count_index(split, &index, why);
    }
    uint64_t n_rows = 0;
    for (uint32_t i = 0; err == FBY_OK && i < index.n_shards; i++) {
        add_values(split, &index.shards[i], n_rows);
        explain_volumes(split, &index.shards[i]);
        n_rows += index.shards[i].n_samples;
    }
    if (fby_text_ends_with(list_path, ".csv")) {
        change_mixed_to_text(split);
    } else {
        keep_texts_of_json(search, list_path, split);
    }
    keep_words_of_texts(split);
    const char *slash = strrchr(list_path, '/');
    bool        is_split =
        fby_split_word(slash != NULL ? slash + 1 : list_path) != NULL;
    if (err == FBY_OK && split->n_file_columns == 1 && index.n_shards > 0) {
        fby_guess_note_list_folders(search, split, &index.shards[0], is_split);
    }
    fby_index_fini(&index);
    return err;
}

/* The bytes of a path before the part that is relative to the directory `dir`. */
static size_t length_of_root(const char *dir)
{
    return strcmp(dir, "/") == 0 ? 1 : strlen(dir) + 1;
}

/* The second reading of a list, with the data root of the guess, if any. */
static fby_err read_for_values(struct fby_search *search, const char *list_path,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    const char       *dir   = search->out->data_root;
    struct fby_search outer = *search;
    char              option[FBY_PATH_SIZE + 8];
    char              path[FBY_PATH_SIZE];
    if (dir[0] == '\0') {
        return read_values(search, list_path, split, why);
    }
    snprintf(option, sizeof(option), "data=%s", dir);
    outer.roots = fby_roots_create();
    fby_err err = fby_roots_add(outer.roots, option, why);
    if (err == FBY_OK) {
        err = fby_roots_find(outer.roots, "data", &outer.root, why);
    }
    if (err == FBY_OK) {
        err = fby_path_join(fby_root_dir(search->root), list_path, path, why);
    }
    if (err == FBY_OK) {
        err = read_values(&outer, path + length_of_root(dir), split, why);
    }
    if (err != FBY_OK && why != NULL) {
        fby_guess_replace_root(dir, false, why);
    }
    fby_roots_destroy(&outer.roots);
    return err;
}

fby_err fby_guess_use_data_root(
    struct fby_guess *guess, struct fby_error_detail *why)
{
    bool    has_root = guess->data_root[0] != '\0';
    size_t  n        = length_of_root(guess->data_root);
    fby_err err      = FBY_OK;
    for (uint32_t i = 0; has_root && err == FBY_OK && i < guess->n_splits;
         i++) {
        char below[FBY_PATH_SIZE];
        snprintf(below, sizeof(below), "%s", guess->splits[i].pattern + n);
        err = fby_path_format(guess->splits[i].pattern, why, "data:%s", below);
    }
    return err;
}

/* First reading: find the columns of paths, if any. Sets *is_refused if there
 * should be some. */
static fby_err read_for_paths(struct fby_search *search, const char *list_path,
    struct fby_guess_split *split, bool *is_refused,
    struct fby_error_detail *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST};
    fby_err err = fby_guess_index(search, &spec, list_path, &index, why);
    if (err == FBY_OK) {
        find_path_columns(search, &index, split);
        find_data_root(search, &index, split);
    }
    if (err == FBY_OK && split->n_file_columns == 0) {
        err = fby_refuse_unresolved_paths(
            search, list_path, index.location.base, &index.shards[0], why);
        *is_refused = err == FBY_CONFIG;
    } else if (err == FBY_OK) {
        err = fby_refuse_list_dots(
            search, list_path, &index.shards[0], split, why);
        if (err == FBY_OK) {
            err = fby_refuse_split_folders(
                search, list_path, &index, split->file_columns[0], why);
        }
        *is_refused = err == FBY_CONFIG;
    }
    fby_index_fini(&index);
    return err;
}

/* True for a list to skip; `err` is the result of its first reading. In a
 * directory with folders, the folders are probably the data, so a list that is
 * invalid or has no paths is skipped. In other directories, an invalid list is
 * skipped if others were added before. */
static bool is_skipped(fby_err err, const struct fby_guess_split *split,
    bool has_dirs, uint32_t n_lists)
{
    bool is_invalid   = err == FBY_CONFIG;
    bool has_no_paths = err == FBY_OK && split->n_file_columns == 0;
    return has_dirs ? is_invalid || has_no_paths : is_invalid && n_lists > 0;
}

/* Add a note of a list that is skipped since it is invalid: one of a split, or
 * one beside no folders. It has the command that makes a valid one, if any. */
static void note_skipped(struct fby_search *search, const char *list_path,
    bool has_dirs, fby_err err, struct fby_error_detail *why)
{
    const char *slash   = strrchr(list_path, '/');
    const char *list    = slash != NULL ? slash + 1 : list_path;
    char       *command = search->out->command;
    if (err != FBY_CONFIG || why == NULL ||
        (has_dirs && fby_split_word(list) == NULL)) {
        return;
    }
    (void)fby_guess_explain_invalid_list(search, list_path, why);
    fby_guess_note(search, "left out: %s%s%s", why->text,
        command[0] != '\0' ? " " : "", command);
    command[0] = '\0';
}

static fby_err add_list_split(struct fby_search *search, const char *list_path,
    bool has_dirs, uint32_t *n_lists, struct fby_error_detail *why)
{
    char        name[FBY_NAME_SIZE];
    char        stem[FBY_PATH_SIZE];
    const char *slash = strrchr(list_path, '/');
    snprintf(stem, sizeof(stem), "%s", slash != NULL ? slash + 1 : list_path);
    *strrchr(stem, '.') = '\0'; /* each list has an extension */
    fby_guess_name_of_split(search, stem, name);
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    bool    names_files = false;
    fby_err err = fby_refuse_header(search, list_path, &names_files, why);
    if (err == FBY_OK) {
        err = read_for_paths(search, list_path, split, &names_files, why);
    }
    if (!names_files && is_skipped(err, split, has_dirs, *n_lists)) {
        search->out->n_splits--; /* remove the split */
        search->out->command[0] = '\0';
        note_skipped(search, list_path, has_dirs, err, why);
        return FBY_OK;
    }
    if (err == FBY_CONFIG) {
        (void)fby_guess_explain_invalid_list(search, list_path, why);
    }
    (*n_lists)++;
    search->out->kind = FBY_SOURCE_LIST;
    if (err == FBY_OK) {
        err = read_for_values(search, list_path, split, why);
    }
    if (err == FBY_NOT_FOUND) {
        err = fby_guess_explain_missing_files(search, list_path, split, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_missing_files(search, list_path, split, why);
    }
    if (err == FBY_OK) {
        fby_guess_add_other_columns(search, list_path, split);
    }
    return err == FBY_OK ? fby_guess_set_pattern(search, list_path, split, why)
                         : err;
}

static void note_form(struct fby_search *search, const char *list_path)
{
    char operand[FBY_OPERAND_SIZE];
    fby_guess_write_operand(search, list_path, operand);
    fby_guess_note(search,
        "left out: %s, which seems to be a form for results; to stream it by "
        "itself: forebay init %s",
        fby_text_show(list_path).text, operand);
}

/* How surely the name of a list is that of a split: val.csv is before one with
 * such a word, as list_eval_partition.csv, and others are last. */
enum name_rank { SPLIT_NAME, SPLIT_WORD, OTHER_NAME, N_RANKS };

static enum name_rank rank_of(const char *list)
{
    return fby_split_of_file(list) != NULL ? SPLIT_NAME
           : fby_split_word(list) != NULL  ? SPLIT_WORD
                                           : OTHER_NAME;
}

/* Sets *is_read if the list is a part of another one that is read in its place.
 * Errors: those of fby_refuse_list_parts(). */
static fby_err check_part(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const char *list, bool *is_read,
    struct fby_error_detail *why)
{
    char whole[FBY_PATH_SIZE];
    bool is_part =
        search->only_file[0] == '\0' && fby_list_is_part(listing, list, whole);
    *is_read = is_part && fby_listing_find(listing, whole) != NULL;
    if (*is_read) {
        fby_guess_note(search, "note: %s is read in place of its parts", whole);
    }
    return is_part && !*is_read
               ? fby_refuse_list_parts(search, path, listing, list, why)
               : FBY_OK;
}

/* Add the lists of which the names have that rank. */
static fby_err add_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, enum name_rank rank, uint32_t *n_lists,
    struct fby_error_detail *why)
{
    bool has_dirs = fby_listing_has_dirs(listing);
    for (uint32_t i = 0; i < listing->count; i++) {
        const char *list = listing->entries[i].name;
        char        list_path[FBY_PATH_SIZE];
        if (!is_list(&listing->entries[i]) || rank_of(list) != rank) {
            continue;
        }
        const char *converted = find_converted(listing, list);
        if (converted != NULL) {
            fby_guess_note(
                search, "note: %s is read in place of %s", converted, list);
            continue;
        }
        FBY_TRY(fby_path_join(path, list, list_path, why));
        bool is_read_whole = false;
        FBY_TRY(check_part(search, path, listing, list, &is_read_whole, why));
        if (is_read_whole) {
            continue;
        }
        if (is_form(list) && listing->count > 1) {
            note_form(search, list_path);
            continue;
        }
        FBY_TRY(add_list_split(search, list_path, has_dirs, n_lists, why));
    }
    return FBY_OK;
}

fby_err fby_guess_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    uint32_t n_lists = 0;
    FBY_TRY(fby_refuse_list_labels(search, path, listing, why));
    /* Lists of splits come first: train must not be one split too many. */
    for (enum name_rank rank = 0; rank < N_RANKS; rank++) {
        FBY_TRY(add_lists(search, path, listing, rank, &n_lists, why));
    }
    return FBY_OK;
}
