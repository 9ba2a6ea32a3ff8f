/* SPDX-License-Identifier: Apache-2.0 */
/* guess_arrays.c - NumPy files that are no table as they lie: the arrays of
 * several splits in one folder or .npz, shards, and texts as labels. The errors have
 * the command that makes tables of them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_columns.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "worker/source/zip/file.h"

enum { MANY_ROWS = 1024, PROGRAM_SIZE = 3072 };

/* The directory of the table, or of the tables, of which `first` is one. */
static void find_dir(
    const char *first, bool is_in_folder, char out[FBY_PATH_SIZE])
{
    const char *slash = strrchr(first, '/');
    size_t      n     = slash != NULL ? (size_t)(slash - first) : 0;
    snprintf(out, FBY_PATH_SIZE, "%.*s",
        (int)(is_in_folder ? n : strlen(first)), first);
}

static bool are_of_splits(const struct fby_column *columns, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !fby_is_split_name(columns[i].name)) {
        i++;
    }
    return i < n;
}

static bool is_split(const char *name, const char *split)
{
    const char *word = fby_split_word(name);
    return word != NULL && strcmp(word, split) == 0;
}

/* True if the names are of two splits: two differ only in that, or one is of train,
 * and another of an evaluation. The rows of one array are not those of the other,
 * even if there are as many. */
static bool has_arrays_of_two_splits(
    const struct fby_column *columns, uint32_t n)
{
    bool has_train      = false;
    bool has_evaluation = false;
    for (uint32_t i = 0; i < n; i++) {
        bool is_train  = is_split(columns[i].name, "train");
        has_train      = has_train || is_train;
        has_evaluation = has_evaluation ||
                         (!is_train && fby_split_word(columns[i].name) != NULL);
        for (uint32_t k = 0; k < i; k++) {
            if (fby_differ_in_split(columns[k].name, columns[i].name)) {
                return true;
            }
        }
    }
    return has_train && has_evaluation;
}

/* The end of the name that is a number, as 01 of tokens_01; "": none. */
static const char *find_number(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && isdigit((unsigned char)name[n - 1])) {
        n--;
    }
    return name + n;
}

/* True if the names are equal before their numbers. */
static bool are_numbered(const struct fby_column *a, const struct fby_column *b)
{
    const char *of_a  = find_number(a->name);
    const char *of_b  = find_number(b->name);
    size_t      begin = (size_t)(of_a - a->name);
    return *of_a != '\0' && *of_b != '\0' &&
           begin == (size_t)(of_b - b->name) &&
           strncmp(a->name, b->name, begin) == 0;
}

static bool has_fold(const struct fby_column *column)
{
    const char *number = find_number(column->name);
    const char *fold   = strcasestr(column->name, "fold");
    return *number != '\0' && fold != NULL &&
           fold + strlen("fold") + strspn(fold + strlen("fold"), "_-") ==
               number;
}

/* Is it a number that follows a split word: x_train_0? */
static bool is_numbered_split(const char *name)
{
    char   word[FBY_NAME_SIZE];
    size_t n = (size_t)(find_number(name) - name);
    while (n > 0 && strchr("_-. ", name[n - 1]) != NULL) {
        n--;
    }
    size_t begin = n;
    while (begin > 0 && strchr("_-. ", name[begin - 1]) == NULL) {
        begin--;
    }
    snprintf(word, sizeof(word), "%.*s", (int)(n - begin), name + begin);
    return fby_split_of_folder(word) != NULL && *find_number(name) != '\0';
}

/* Is it a number with zeros in front, as those of columns have not? */
static bool is_padded(const char *number)
{
    return number[0] == '0' && strlen(number) > 2;
}

/* True for arrays of folds, as X_fold0 and X_fold1, and for shards of one array,
 * as tokens_000001 and tokens_000002. */
static bool are_shards(
    const struct fby_column *columns, uint32_t n, fby_err err, bool *folds)
{
    uint32_t n_padded = 0;
    uint32_t n_splits = 0;
    bool     differ   = err == FBY_CONFIG; /* in their rows, probably */
    *folds            = false;
    for (uint32_t i = 0; i < n; i++) {
        n_padded += is_padded(find_number(columns[i].name)) ? 1 : 0;
        n_splits += is_numbered_split(columns[i].name) ? 1 : 0;
        *folds = *folds || (differ && has_fold(&columns[i]));
        for (uint32_t k = 0; k < i; k++) {
            *folds = *folds || (are_numbered(&columns[k], &columns[i]) &&
                                   has_fold(&columns[i]));
        }
    }
    bool are_padded = n_padded == n && columns[0].rows > MANY_ROWS &&
                      (n > 1 ? are_numbered(&columns[0], &columns[1]) : differ);
    return *folds || are_padded || (n > 1 && n_splits == n);
}

/* Refuse an .npz file: alone in a folder, that gets the splits; else one called
 * after the file does. */
static fby_err refuse_npz_splits(struct fby_search *search,
    const struct fby_guess_tables *found, struct fby_error_detail *why)
{
    bool        is_alone = found->shards == 1 && search->only_file[0] == '\0';
    const char *slash    = strrchr(found->first, '/');
    const char *file     = slash != NULL ? slash + 1 : found->first;
    char        dir[FBY_PATH_SIZE];
    char        stem[FBY_PATH_SIZE];
    char        below[FBY_PATH_SIZE];
    char        operand[FBY_OPERAND_SIZE];
    char        word[FBY_WORD_SIZE];
    snprintf(
        stem, sizeof(stem), "%.*s", (int)(strlen(file) - strlen(".npz")), file);
    find_dir(found->first, true, dir);
    FBY_TRY(fby_path_join(dir, stem, below, why));
    fby_guess_write_operand(search, is_alone ? dir : below, operand);
    if (fby_shell_quote(stem, word, sizeof(word))) {
        fby_guess_set_command(search, dir,
            FBY_PYTHON "f = sys.argv[1]; d = %s; %s; %s\" %s",
            is_alone ? "''" : "f + '/'", fby_program_split_of_name,
            fby_program_sort_npz, word);
    }
    return fby_error_set(why, FBY_CONFIG,
        "the arrays are of several splits: write each split into a folder, "
        "then: forebay init %s:",
        operand);
}

/* Set the command to the one that moves the arrays of the table. `split` is that of
 * names without a word that end with a number; "": these stay. */
static void advise_sorting(struct fby_search *search,
    const struct fby_guess_tables *found, const char *split)
{
    char dir[FBY_PATH_SIZE];
    char program[PROGRAM_SIZE];
    find_dir(found->first, false, dir);
    snprintf(program, sizeof(program), "D = '%s'; %s; %s", split,
        fby_program_split_of_name, fby_program_sort_arrays);
    fby_guess_set_renames(search, dir, FBY_PYTHON "%s\"", program);
}

/* Advice for an array that may be token ids; "" for others. */
static const char *say_tokens(const struct fby_column *columns)
{
    bool is_whole = columns[0].n_dims == 0 && columns[0].type >= FBY_NPY_I1 &&
                    columns[0].type <= FBY_NPY_U8 &&
                    columns[0].rows > MANY_ROWS;
    return is_whole ? " (for token ids instead: --tokens TYPE)" : "";
}

static fby_err refuse_splits(struct fby_search *search,
    const struct fby_guess_tables *found, const struct fby_column *columns,
    struct fby_error_detail *why)
{
    if (fby_text_ends_with(found->first, ".npz")) {
        return refuse_npz_splits(search, found, why);
    }
    advise_sorting(search, found, "");
    return fby_error_set(why, FBY_CONFIG,
        "the arrays are of several splits%s: move each split into a folder:",
        say_tokens(columns));
}

static fby_err refuse_shards(struct fby_search *search,
    const struct fby_guess_tables *found, const struct fby_column *columns,
    bool are_folds, struct fby_error_detail *why)
{
    advise_sorting(search, found, found->first[0] == '\0' ? "train" : ".");
    return are_folds
               ? fby_error_set(why, FBY_CONFIG,
                     "the arrays are of several folds, as %s: move each fold "
                     "into a folder, with the first one as val:",
                     fby_text_show_begin(columns[0].name, 40).text)
               : fby_error_set(why, FBY_CONFIG,
                     "the arrays seem to be shards of one, as %s%s: move each "
                     "shard into a folder:",
                     fby_text_show_begin(columns[0].name, 40).text,
                     say_tokens(columns));
}

/* Refuse tables of which one is of another split than the first. */
static fby_err refuse_split_tables(struct fby_search *search,
    const struct fby_guess_tables *found, struct fby_error_detail *why)
{
    char dir[FBY_PATH_SIZE];
    char program[PROGRAM_SIZE];
    find_dir(found->first, true, dir);
    snprintf(program, sizeof(program), "%s; %s", fby_program_split_of_name,
        fby_program_sort_tables);
    fby_guess_set_renames(search, dir, FBY_PYTHON "%s\"", program);
    return fby_error_set(why, FBY_CONFIG,
        "the tables are of several splits, as %s: move each split into a "
        "folder:",
        fby_text_show_begin(found->other_split, 60).text);
}

/* Are they called part-00000, part-00001 and so on? */
static bool are_parts(const struct fby_column *columns, uint32_t n, fby_err err)
{
    static const char *const words[] = {"part", "shard", "chunk", "batch"};
    const char              *name    = columns[0].name;
    const char              *number  = find_number(name);
    size_t                   i       = 0;
    while (i < 4 && strncasecmp(name, words[i], strlen(words[i])) != 0) {
        i++;
    }
    const char *end = name + (i < 4 ? strlen(words[i]) : 0);
    return i < 4 && *number != '\0' && end + strspn(end, "_-. ") == number &&
           (n > 1 ? are_numbered(&columns[0], &columns[1]) : err == FBY_CONFIG);
}

/* Writes the numbers of names for the texts in all files %s. */
#define NUMBER_TEXTS                                                        \
    "import glob, os, numpy as n; F = glob.glob('**/%s', recursive=True); " \
    "assert not any(os.path.exists(f + '.texts') for f in F); A = "         \
    "[n.load(f).astype(str) for f in F]; v = n.unique(n.concatenate("       \
    "[a.ravel() for a in A])); [(os.rename(f, f + '.texts'), n.save(f, "    \
    "n.searchsorted(v, a))) for f, a in zip(F, A)]; "                       \
    "print(dict(enumerate(v.tolist())))"

/* Explain the error of a file of texts: "y.npy: its dtype is '<U3'; ...". Returns
 * FBY_CONFIG, also if it is another. */
static fby_err explain_texts(
    struct fby_search *search, struct fby_error_detail *why)
{
    static const char text[] = ".npy: its dtype is '";
    const char       *dtype  = strstr(why->text, text);
    char              program[640];
    char              file[FBY_NAME_SIZE];
    if (dtype == NULL || strchr("US", dtype[strlen(text) + 1]) == NULL) {
        return FBY_CONFIG;
    }
    const char *begin = dtype;
    while (begin > why->text && strchr(" /", begin[-1]) == NULL) {
        begin--;
    }
    snprintf(file, sizeof(file), "%.*s.npy", (int)(dtype - begin), begin);
    if (!fby_shell_is_plain(file) || dtype - begin > 50) {
        return FBY_CONFIG;
    }
    snprintf(program, sizeof(program), NUMBER_TEXTS, file);
    fby_guess_set_renames(search, "", FBY_PYTHON "%s\"", program);
    return fby_error_set(why, FBY_CONFIG,
        "%s has texts, and an array of labels has numbers: write those of the "
        "sorted names, which the command prints (the texts stay in %s.texts):",
        file, file);
}

/* Add a note if arrays differ only in their numbers: each may be a sample. */
static void note_numbered(
    struct fby_search *search, const struct fby_column *columns, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && !are_numbered(&columns[i - 1], &columns[i])) {
        i++;
    }
    if (i < n) {
        fby_guess_note(search,
            "note: row i of %s, of %s and so on is sample i; if each file is a "
            "sample, or has other samples, make one array of them with "
            "numpy.stack, or with numpy.concatenate",
            fby_text_show_begin(columns[i - 1].name, 40).text,
            fby_text_show_begin(columns[i].name, 40).text);
    }
}

fby_err fby_guess_explain_arrays(struct fby_search *search,
    const struct fby_guess_tables *found, const struct fby_column *columns,
    uint32_t n, fby_err err, struct fby_error_detail *why)
{
    char dir[FBY_PATH_SIZE];
    bool are_folds = false;
    if (found->other_split[0] != '\0') {
        return refuse_split_tables(search, found, why);
    }
    if (err == FBY_OK ? has_arrays_of_two_splits(columns, n)
                      : err == FBY_CONFIG && are_of_splits(columns, n)) {
        return refuse_splits(search, found, columns, why);
    }
    if (err == FBY_CONFIG && strstr(why->text, FBY_ZIP_COMPRESSED) != NULL) {
        return fby_refuse_compressed_npz(search, why);
    }
    if (fby_text_ends_with(found->first, ".npz")) {
        return err;
    }
    find_dir(found->first, !found->is_table, dir);
    if (n > 0 && (are_shards(columns, n, err, &are_folds) ||
                     are_parts(columns, n, err) ||
                     fby_guess_are_numbered_arrays(search, dir))) {
        return refuse_shards(search, found, columns, are_folds, why);
    }
    if (!fby_guess_are_array_samples(columns, n)) {
        if (err == FBY_OK) {
            note_numbered(search, columns, n);
        }
        return err == FBY_CONFIG ? explain_texts(search, why) : err;
    }
    return fby_refuse_array_samples(search, found, dir, why);
}
