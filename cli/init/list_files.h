/* SPDX-License-Identifier: Apache-2.0 */
/* list_files.h - the lists of one format in a directory, and the command that
 * converts them: a loop over the files of all splits, or, if no name has a split,
 * for the first list or all texts. */
#ifndef FBY_CLI_INIT_LIST_FILES_H
#define FBY_CLI_INIT_LIST_FILES_H

#include "cli/init/guess_search.h"

enum {
    FBY_LIST_FILES     = 8,
    FBY_LIST_FILE_SIZE = 256, /* NAME_MAX + 1 */
    FBY_LIST_BODY_SIZE = 8192,
    FBY_LIST_WORD_SIZE = 4 * (FBY_LIST_FILE_SIZE + 2) + 4 /* a name in quotes */
};

struct fby_list_files { /* the files of one format in a directory */
    struct fby_search *search;
    const char        *path;   /* of the directory, below the root */
    const char        *ending; /* in any case */
    char               names[FBY_LIST_FILES][FBY_LIST_FILE_SIZE];
    uint32_t           n;
    bool               has_more;    /* files than names */
    bool               are_splits;  /* the names have words of splits */
    bool               takes_all;   /* without such words, too */
    char other[FBY_LIST_FILE_SIZE]; /* that is not among them; "": none */
};

/* Find the files of all splits with that ending.
 * Errors: those of listing. */
FBY_CHECKED fby_err fby_list_files_find(struct fby_search *search,
    const char *path, const char *ending, struct fby_list_files *out,
    struct fby_error_detail *why);

/* The same for the directory, the ending and `takes_all` that are set. */
FBY_CHECKED fby_err fby_list_files_find_again(
    struct fby_list_files *self, struct fby_error_detail *why);

/* Set the command of the search: a loop over the files as $f, with `body`. The
 * first file becomes one that ends with `converted`. */
void fby_list_files_advise(
    const struct fby_list_files *self, const char *body, const char *converted);

/* Write the name as a word of a shell, which no program takes for an option. */
void fby_list_quote_name(const char *name, char out[FBY_LIST_WORD_SIZE]);

/* True for a name with the ending, in any case. */
bool fby_list_has_ending(const char *name, const char *ending);

#endif
