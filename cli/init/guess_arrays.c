/* SPDX-License-Identifier: Apache-2.0 */
/* guess_arrays.c - NumPy files that are no table as they lie: the arrays of
 * several splits in one folder or .npz, a file for each sample, and texts as
 * labels. The errors have the command that makes tables of them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_columns.h"
#include "cli/init/guess_notes.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MANY_ROWS = 1024 };

/* Moves X_train.npy, or train.npy, to train/x.npy, and so on. */
#define SORT_FILES                                                         \
    "(cd %s && for s in train valid val test; do for f in *$s*.npy; do [ " \
    "-e \"$f\" ] || continue; mkdir -p $s && mv -n \"$f\" \"$s/$(echo "    \
    "\"$f\" | sed 's/_*'$s'_*//;s/^[.]/x./' | tr A-Z a-z)\"; done; done)"

/* Writes train/data.npz and so on into the folder d, which may be "". */
#define SORT_ARRAYS                                                  \
    "import os, numpy as n; d = '%s%s'; a = n.load('%s.npz'); "      \
    "[(os.makedirs(d + "                                             \
    "s), n.savez(d + s + '/data.npz', **{k.replace(s, "              \
    "'').strip('_').lower(): a[k] for k in a if s in k})) for s in " \
    "('train', 'val', 'test') if any(s in k for k in a)]"

/* Writes x.npy, and the number of the folder into label.npy, into train/ or, if
 * the folder is a split with class folders, into that. */
#define STACK_FILES                                                          \
    "(cd %s && python3 -c \"import glob, os, numpy as n; d = "               \
    "sorted(glob.glob('*/')) or ['']; f = [(p, i) for i, c in enumerate(d) " \
    "for p in sorted(glob.glob(c + '*.npy'))]; %s"                           \
    "n.save(open('%sx.npy', 'xb'), n.stack([n.load(p) for p, i in f])); "    \
    "n.save(open('%slabel.npy', 'xb'), [i for p, i in f])\")"

/* The directory of the table, or of the tables, of which `first` is one. */
static void write_dir(const struct fby_search *search, const char *first,
    bool is_in_folder, char out[FBY_OPERAND_SIZE])
{
    char        dir[FBY_PATH_SIZE];
    const char *slash = strrchr(first, '/');
    size_t      n     = slash != NULL ? (size_t)(slash - first) : 0;
    snprintf(dir, sizeof(dir), "%.*s", (int)(is_in_folder ? n : strlen(first)),
        first);
    fby_guess_write_operand(search, dir, out);
}

static bool are_of_splits(const struct fby_column *columns, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !fby_is_split_name(columns[i].name)) {
        i++;
    }
    return i < n;
}

/* True if two names differ only in their split: the rows of one array are not
 * those of the other, even if there are as many. */
static bool has_arrays_of_two_splits(
    const struct fby_column *columns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (fby_differ_in_split(columns[k].name, columns[i].name)) {
                return true;
            }
        }
    }
    return false;
}

/* Refuse an .npz file: alone in a folder, that gets the splits; else one called
 * after the file does. */
static fby_err refuse_npz_splits(struct fby_search *search,
    const struct fby_guess_tables *found, struct fby_error_detail *why)
{
    bool        is_alone = found->shards == 1 && search->only_file[0] == '\0';
    const char *slash    = strrchr(found->first, '/');
    const char *file     = slash != NULL ? slash + 1 : found->first;
    int         dir_size = slash != NULL ? (int)(slash - found->first) : 0;
    char        dir[FBY_PATH_SIZE];
    char        stem[FBY_NAME_SIZE] = "FILE";
    char        below[FBY_PATH_SIZE];
    char        operand[FBY_OPERAND_SIZE];
    char        program[640];
    if (fby_shell_is_plain(file) && strlen(file) < sizeof(stem)) {
        snprintf(stem, sizeof(stem), "%.*s",
            (int)(strlen(file) - strlen(".npz")), file);
    }
    snprintf(dir, sizeof(dir), "%.*s", dir_size, found->first);
    FBY_TRY(fby_path_join(dir, stem, below, why));
    fby_guess_write_operand(search, is_alone ? dir : below, operand);
    snprintf(program, sizeof(program), SORT_ARRAYS, is_alone ? "" : stem,
        is_alone ? "" : "/", stem);
    fby_guess_advise(search, dir, "", program);
    return fby_error_set(why, FBY_CONFIG,
        "the arrays are of several splits: write each split into a folder, "
        "then: forebay init %s:",
        operand);
}

static fby_err refuse_splits(struct fby_search *search,
    const struct fby_guess_tables *found, struct fby_error_detail *why)
{
    char dir[FBY_OPERAND_SIZE];
    if (fby_text_ends_with(found->first, ".npz")) {
        return refuse_npz_splits(search, found, why);
    }
    write_dir(search, found->first, false, dir);
    return fby_error_set(why, FBY_CONFIG,
        "the arrays are of several splits: move each split into a folder, and "
        "run init again: " SORT_FILES,
        dir);
}

static bool are_numbers(const struct fby_column *columns, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && isdigit((unsigned char)columns[i].name[0])) {
        i++;
    }
    return n > 1 && i == n;
}

/* Does `column` have the name of `first`, but for the number at its end, and the
 * same shape? */
static bool is_numbered_like(
    const struct fby_column *column, const struct fby_column *first)
{
    size_t n = strlen(first->name);
    while (n > 0 && isdigit((unsigned char)first->name[n - 1])) {
        n--;
    }
    const char *number = column->name + n;
    return strncmp(column->name, first->name, n) == 0 && number[0] != '\0' &&
           number[strspn(number, "0123456789")] == '\0' &&
           column->type == first->type && column->rows == first->rows &&
           column->n_dims == first->n_dims &&
           memcmp(column->dims, first->dims,
               first->n_dims * sizeof(first->dims[0])) == 0;
}

/* Are the columns s0, s1, s2 and so on, arrays of one shape with two dimensions
 * or more? Two alone, and arrays of many rows, may be fields. */
static bool are_alike(const struct fby_column *columns, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && is_numbered_like(&columns[i], &columns[0])) {
        i++;
    }
    return n > 2 && i == n && columns[0].n_dims > 0 &&
           columns[0].rows <= MANY_ROWS;
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
    fby_guess_advise(search, "", "", program);
    return fby_error_set(why, FBY_CONFIG,
        "%s has texts, and an array of labels has numbers: write those of the "
        "sorted names, which the command prints (the texts stay in %s.texts), "
        "and run init again:",
        file, file);
}

fby_err fby_guess_explain_arrays(struct fby_search *search,
    const struct fby_guess_tables *found, const struct fby_column *columns,
    uint32_t n, fby_err err, struct fby_error_detail *why)
{
    char dir[FBY_OPERAND_SIZE];
    if (err == FBY_OK ? has_arrays_of_two_splits(columns, n)
                      : err == FBY_CONFIG && are_of_splits(columns, n)) {
        return refuse_splits(search, found, why);
    }
    if (fby_text_ends_with(found->first, ".npz")) {
        return err;
    }
    if (!are_numbers(columns, n) && !are_alike(columns, n)) {
        return err == FBY_CONFIG ? explain_texts(search, why) : err;
    }
    write_dir(search, found->first, !found->is_table, dir);
    bool is_split  = !found->is_table && strchr(found->first, '/') != NULL;
    const char *to = is_split ? "" : "train/";
    return fby_error_set(why, FBY_CONFIG,
        "each .npy file seems to be a sample, and a table has them as rows "
        "(all "
        "of one shape): write one, and run init again: " STACK_FILES,
        dir, is_split ? "" : "os.mkdir('train'); ", to, to);
}
