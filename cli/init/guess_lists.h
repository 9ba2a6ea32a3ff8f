/* SPDX-License-Identifier: Apache-2.0 */
/* guess_lists.h - recognise lists (.csv, .jsonl) in a directory. */
#ifndef FBY_CLI_INIT_GUESS_LISTS_H
#define FBY_CLI_INIT_GUESS_LISTS_H

#include "cli/init/guess_search.h"

/* Add a split for each list (.csv, .jsonl) in the listing of `path`.
 * Errors: those of reading; FBY_CONFIG for an invalid list. */
FBY_CHECKED fby_err fby_guess_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* Free what the splits from `first` on own (guess_split_lists.c, as the next). */
void fby_guess_free_splits(struct fby_guess *out, uint32_t first);

/* The same as fby_guess_lists() if one of the lists names existing files, else
 * nothing. */
FBY_CHECKED fby_err fby_guess_lists_of_files(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

struct fby_guess_mark { /* what a guess had before some data was added */
    uint32_t n_splits;
    size_t   notes_size; /* bytes of the notes */
};

struct fby_guess_mark fby_guess_mark_of(const struct fby_guess *guess);

/* Replace the folder of train that was added after `before`, if it was refused or
 * has no classes, by the lists in `path` that name existing files, which sets
 * *is_replaced.
 * Errors: those of fby_refuse_lists_of_folders() and of fby_guess_lists(). */
FBY_CHECKED fby_err fby_guess_lists_of_train(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    const struct fby_guess_mark *before, bool *is_replaced,
    struct fby_error_detail *why);

/* Refuse a file beside the data that seems to be train in another format, or add a
 * note of one of another split: train.csv and val.tsv (guess_other_splits.c). Also
 * add a note of an archive beside lists.
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_guess_other_splits(
    struct fby_search *search, struct fby_error_detail *why);

/* Add a note of each list in `path` that has the path of a file, and of the first
 * others. */
void fby_guess_note_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing);

/* True if `text`, in a list of the directory `base` below the root, is the path
 * of an existing file. */
bool fby_guess_is_path_of_file(const struct fby_search *search,
    const char *base, const char *text, size_t size);

/* True if the column, in lower case, is in split->file_columns. */
bool fby_guess_is_file_column(
    const struct fby_guess_split *split, const char *column);

/* Refuse a list whose first row is no header, or whose columns with paths have
 * invalid names (guess_header.c). Of a list that cannot be read, nothing is said.
 * Sets *names_files if a cell of the first two rows is the path of a file.
 * Errors: FBY_CONFIG  the first row has values, or no field can have the name of
 *                     a column with paths: the command that changes the row, in
 *                     all lists beside it that need the same. */
FBY_CHECKED fby_err fby_refuse_header(struct fby_search *search,
    const char *list_path, bool *names_files, struct fby_error_detail *why);

/* Add the columns in the first row of the list that have no member yet, since
 * their names are invalid or they have no values: members with a count of 0. */
void fby_guess_add_other_columns(struct fby_search *search,
    const char *list_path, struct fby_guess_split *split);

/* The name of the list that a command makes of `list`: paths-train.csv. The words
 * are paths, found, names, utf8, commas, lines, text, dots, filled and boxes. Where such a
 * list is beside it, the other one is not read. */
void fby_guess_name_list(
    const char *list, const char *word, char out[FBY_PATH_SIZE]);

/* Write the folder of a list, relative to the root (guess_list_notes.c). */
void fby_guess_dir_of_list(const struct fby_search *search,
    const char *list_path, char out[FBY_PATH_SIZE]);

/* Write the names of the lists that are beside the first split, a list, and have
 * its ending: "train.csv val.csv". Returns false if they do not fit, or need
 * quotes. */
bool fby_guess_name_lists(
    const struct fby_guess *guess, char *out, size_t size);

/* True for a part of a list, as train-00000-of-00002.jsonl, if another part is in
 * the listing (refuse_list_parts.c). `whole` gets the name of the list: train.jsonl. */
bool fby_list_is_part(const struct fby_listing *listing, const char *list,
    char whole[FBY_PATH_SIZE]);

/* Refuse the part `list`.
 * Errors: FBY_CONFIG  always: the command that joins the parts of all splits. */
FBY_CHECKED fby_err fby_refuse_list_parts(struct fby_search *search,
    const char *path, const struct fby_listing *listing, const char *list,
    struct fby_error_detail *why);

/* True for a list that was not converted to another one in the listing, and is no
 * form of Kaggle's for results. */
bool fby_list_is_read(
    const struct fby_listing *listing, const struct fby_entry *entry);

/* Write the patterns of all splits as data:PATH if the guess has a data root.
 * Errors: FBY_CONFIG for a path that is too long. */
FBY_CHECKED fby_err fby_guess_use_data_root(
    struct fby_guess *guess, struct fby_error_detail *why);

/* Refuse a list that has no column of paths; `base` is its folder below the root,
 * and `shard` has its first rows (refuse_list_paths.c).
 * Errors: FBY_CONFIG  a column has only paths of pictures that lead to no file:
 *                     the command that changes them. */
FBY_CHECKED fby_err fby_refuse_unresolved_paths(struct fby_search *search,
    const char *list_path, const char *base, const struct fby_shard *shard,
    struct fby_error_detail *why);

/* Write how rows without their files are left out of a list to a new error of
 * `why`, which has the error for one of them (refuse_missing_files.c). Returns
 * FBY_CONFIG. */
fby_err fby_guess_explain_missing_files(struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    struct fby_error_detail *why);

/* The encoding of a file by its first bytes: "UTF-16" if it begins with a byte
 * order mark, "UTF-16LE" or "UTF-16BE" by its NUL bytes; NULL: another. */
const char *fby_guess_find_utf16(
    const struct fby_search *search, const char *path);

/* The end of a command of a shell that writes to the file `out` of $f, which is
 * only there if all was written. $$ is the number of the process, so that no file of
 * the user is removed. */
#define FBY_GUESS_INTO(out)                                      \
    "> \"$f.$$\" && [ ! -e \"" out "\" ] && mv \"$f.$$\" \"" out \
    "\" || { rm -f \"$f.$$\"; exit 1; }"

/* The end of the error of fby_refuse_header() for which there is a command. */
#define FBY_GUESS_BLANKS "has blanks around its name"

/* Explain an error of reading the list: if there is a remedy, append what it is for,
 * and set the command of the guess to the one that writes a valid list or table, if
 * the name of the list needs no quotes. Returns false, and changes nothing, if none
 * is known (guess_invalid_lists.c). */
bool fby_guess_explain_invalid_list(struct fby_search *search,
    const char *list_path, struct fby_error_detail *why);

/* Refuse a list of pictures beside texts of splits, which have their names
 * (refuse_list_splits.c).
 * Errors: FBY_CONFIG  the command that writes a list for each. */
FBY_CHECKED fby_err fby_refuse_list_splits(
    struct fby_search *search, struct fby_error_detail *why);

/* Refuse lists with a column of splits (refuse_split_column.c): the first split, or
 * any, if the name of the first one does not say that it is train. Call this after
 * train was moved there.
 * Errors: FBY_CONFIG  a column has the split of each row: the command that
 *                     writes a list for each. */
FBY_CHECKED fby_err fby_refuse_split_column(
    const struct fby_search *search, struct fby_error_detail *why);

/* Refuse a list with a column of paths whose folders are splits, unless the name
 * of the list is that of a split, or a list of train was added before.
 * Errors: as above. */
FBY_CHECKED fby_err fby_refuse_split_folders(const struct fby_search *search,
    const char *list_path, const struct fby_index *index, const char *column,
    struct fby_error_detail *why);

/* True for a column whose numbers, or true and false, may be splits by its name,
 * in lower case: partition, is_valid. */
bool fby_is_split_column(const char *column);

/* Refuse a list with columns of paths, whose first rows are in `shard`
 * (refuse_list_dots.c).
 * Errors: FBY_CONFIG  names of pictures have a dot before the extension: the
 *                     command that renames the files, in all lists beside it. */
FBY_CHECKED fby_err fby_refuse_list_dots(struct fby_search *search,
    const char *list_path, const struct fby_shard *shard,
    const struct fby_guess_split *split, struct fby_error_detail *why);

/* Refuse the first split, if it is a list of chats and nothing else, or add a note
 * of the chats (refuse_chats.c).
 * Errors: FBY_CONFIG  a column has lists of objects with texts, as messages: the
 *                     command that writes a text for each. */
FBY_CHECKED fby_err fby_refuse_chats(
    struct fby_search *search, struct fby_error_detail *why);

/* Add a note of columns of a list that no field can read, since no field can have
 * their names, or some rows lack their texts (guess_list_notes.c). */
void fby_guess_note_columns(struct fby_search *search);

/* The purpose of the command of fby_guess_set_wide_command(). Messages have it
 * after the word "to". */
#define FBY_GUESS_WIDE_PURPOSE                                               \
    "have all columns of numbers as one, x, beside the label (needs NumPy; " \
    "label = '' at its start is a guess, which it prints: write the name "   \
    "of another column there)"

/* Set the command of the guess to the one that makes tables of `list` in the folder
 * `dir` below the root and of the lists beside it. There is none if a name needs
 * quotes. */
void fby_guess_set_wide_command(
    struct fby_search *search, const char *dir, const char *list);

/* Add a note with that command, if the first split is a list in `dir` with more
 * columns of numbers than fields, and no files. Returns false if it is not. */
bool fby_guess_note_wide_list(struct fby_search *search, const char *dir);

/* If all splits are lists with the same columns, in one folder of the search or its
 * folders, set the command of the guess to one that joins them, and return what it is
 * for, which begins with "; ". Else "" (guess_join.c). */
const char *fby_guess_advise_join(struct fby_search *search);

/* Add a note of boxes in the objects of a column, with the command that writes lists
 * of boxes as numbers (guess_box_members.c). */
void fby_guess_note_box_members(struct fby_search *search);

/* Refuse a list of which no column has a picture in each row, if one has pictures
 * at all (refuse_missing_files.c).
 * Errors: FBY_CONFIG  the rows that have none, and what to do. */
FBY_CHECKED fby_err fby_refuse_missing_files(struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    struct fby_error_detail *why);

/* Add a note if the paths in the shard, the first of the list `split`, have several
 * folders beside the list that may be classes (guess_list_folders.c). */
void fby_guess_note_list_folders(struct fby_search *search,
    const struct fby_guess_split *split, const struct fby_shard *shard,
    bool is_split);

#endif
