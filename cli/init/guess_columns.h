/* SPDX-License-Identifier: Apache-2.0 */
/* guess_columns.h - recognise tables, which are shards of columns, and .npy
 * files beside pictures. */
#ifndef FBY_CLI_INIT_GUESS_COLUMNS_H
#define FBY_CLI_INIT_GUESS_COLUMNS_H

#include "cli/init/guess_search.h"

/* The tables (shards of columns) of a directory. A table is a folder of .npy
 * files or of sparse matrices of SciPy, or an .npz file of NumPy. */
struct fby_guess_tables {
    uint32_t shards;   /* number of tables */
    bool     is_table; /* the directory is a table: it has .npy files */
    char     first[FBY_PATH_SIZE];     /* path of the first, below the root */
    char     pattern[FBY_PATH_SIZE];   /* pattern of all, below the root */
    char     misplaced[FBY_PATH_SIZE]; /* a matrix beside tables; "": none */
    char other_split[FBY_PATH_SIZE];   /* a table of another split; "": none */
};

/* Find the tables in the listing of `path`.
 * Errors: those of listing and reading them. */
FBY_CHECKED fby_err fby_guess_find_tables(const struct fby_root *root,
    const char *path, const struct fby_listing *listing,
    struct fby_guess_tables *out, struct fby_error_detail *why);

/* Read the headers of the first table into `split`.
 * Errors: those of fby_columns_scan, with the path; FBY_CONFIG if a matrix is
 *         misplaced. */
FBY_CHECKED fby_err fby_guess_scan_columns(struct fby_search *search,
    const struct fby_guess_tables *found, struct fby_guess_split *split,
    struct fby_error_detail *why);

/* Give the only split the name of the one for evaluation that its tables, or the
 * columns of the table in the searched folder, are called after, if there is one. */
void fby_guess_name_tables(
    const struct fby_guess_tables *found, struct fby_guess_split *split);

/* Has a picture in `path` the name of the first .npy file in its listing? */
bool fby_guess_is_npy_paired(const struct fby_root *root, const char *path,
    const struct fby_listing *listing);

/* Add a note of each list beside the .npy files of `path`, which are the split, with
 * the command that writes its columns as arrays. One whose first column is among
 * them was written before. */
void fby_guess_note_lists_beside_npy(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    const struct fby_guess_split *split);

/* Add a note of other files beside the .npy files of `path`, which are a split. */
void fby_guess_note_files_beside_npy(
    struct fby_search *search, const char *path);

/* Add notes of the columns of 64-bit numbers, in files in `path`, that f32 rounds, by the
 * first of their values. */
void fby_guess_note_rounded_arrays(struct fby_search *search, const char *path,
    const struct fby_guess_split *split);

/* Add a note on how a field reads the .npy files of a split of folders, if any. */
void fby_guess_note_npy(
    struct fby_search *search, const struct fby_guess_split *split);

/* The same for the .npy file at `path` of parallel folders: with the field that reads
 * it. The extension begins with the folder. */
void fby_guess_note_npy_in(
    struct fby_search *search, const char *path, const char *extension);

/* Are the arrays of the folder those of several shards, as x_0.npy, y_0.npy, x_1.npy and
 * y_1.npy? */
bool fby_guess_are_numbered_arrays(struct fby_search *search, const char *path);

/* Seem the .npy files of the columns to be a sample each, as 000.npy and s1.npy? */
bool fby_guess_are_array_samples(const struct fby_column *columns, uint32_t n);

/* Refuse such files, of which `dir` has some. Those in one folder may be parts of one
 * array as well.
 * Errors: FBY_CONFIG  always: the command that makes a table of them. */
fby_err fby_refuse_array_samples(struct fby_search *search,
    const struct fby_guess_tables *found, const char *dir,
    struct fby_error_detail *why);

/* Check the columns of the first table. `err` and `why` are the result of the
 * scan; after an error, `columns` are those before it.
 * Errors: `err`; FBY_CONFIG for arrays or tables of several splits, for shards and
 *         folds, for a file for each sample, and for texts: what to do. */
FBY_CHECKED fby_err fby_guess_explain_arrays(struct fby_search *search,
    const struct fby_guess_tables *found, const struct fby_column *columns,
    uint32_t n, fby_err err, struct fby_error_detail *why);

#endif
