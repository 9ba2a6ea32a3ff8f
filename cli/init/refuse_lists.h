/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_lists.h - refuse lists that were not used, beside a folder of their
 * pictures. */
#ifndef FBY_CLI_INIT_REFUSE_LISTS_H
#define FBY_CLI_INIT_REFUSE_LISTS_H

#include "cli/init/guess_search.h"

/* Refuse lists in the listing of `path`, if nothing else there can be data than
 * folders of their pictures.
 * Errors: FBY_CONFIG for an invalid list, for one that names files without
 *         their paths, and for one in another format (.json, .tsv). */
FBY_CHECKED fby_err fby_refuse_unused_lists(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* If the first split, the folder `dir`, has no classes: refuse lists beside it,
 * in the listing of the root.
 * Errors: FBY_CONFIG for a list that names files of `dir` without a path. */
FBY_CHECKED fby_err fby_refuse_lists_of_train(struct fby_search *search,
    const struct fby_listing *listing, const char *dir,
    struct fby_error_detail *why);

/* A value of a list that is the name of a file. */
struct fby_named_file {
    const char *column;
    char        folder[FBY_PATH_SIZE];
    char        name[FBY_NAME_SIZE];   /* the value */
    char        ending[FBY_NAME_SIZE]; /* what the value lacks: ".jpg", or "" */
};

/* Refuse a list in `dir` that names files without their path.
 * Errors: FBY_CONFIG  always: the command that writes a list of paths. */
fby_err fby_refuse_names(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_named_file *file,
    struct fby_error_detail *why);

enum { FBY_JQ_SIZE = 160 /* bytes of a program of jq, with NUL */ };

/* Write the folder that has the file of that name, as "images/", or "". */
typedef void fby_guess_find_folder_fn(
    const void *arg, const char *name, char out[FBY_NAME_SIZE]);

/* Write the program of jq that makes lines of the .json file at `path`
 * (guess_json_lists.c). Returns false if the file has none of the known forms, or
 * cannot be read. */
bool fby_guess_write_jq(const struct fby_search *search, const char *path,
    fby_guess_find_folder_fn *find, const void *arg, char out[FBY_JQ_SIZE]);

#endif
