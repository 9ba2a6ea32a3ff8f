/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_lists.h - refuse lists that were not used, beside a folder of their
 * pictures. */
#ifndef FBY_CLI_INIT_REFUSE_LISTS_H
#define FBY_CLI_INIT_REFUSE_LISTS_H

#include "cli/init/named_files.h"

/* Refuse lists in the listing of `path`, if nothing else there can be data than
 * folders of their pictures.
 * Errors: FBY_CONFIG for an invalid list, for one that names files without
 *         their paths, and for one in another format (.json, .tsv). */
FBY_CHECKED fby_err fby_refuse_unused_lists(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse lists in `path` that are not read: .json, .tsv and others
 * (refuse_other_lists.c).
 * Errors: FBY_CONFIG  there is one: the command that writes lists. */
FBY_CHECKED fby_err fby_refuse_other_lists(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

struct fby_list_files;

/* Refuse the lists `files` in JSON, of which one is called `name`, with the command
 * that writes JSON lines if their form is known (refuse_json_list.c).
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_json_list(struct fby_list_files *files,
    const char *name, struct fby_error_detail *why);

/* Refuse the file `name` in `path`, if it is such a list by its ending; the command
 * is for all such files that are called after splits. */
FBY_CHECKED fby_err fby_refuse_other_list(struct fby_search *search,
    const char *path, const char *name, struct fby_error_detail *why);

/* Refuse texts in `path` if there is nothing else (refuse_other_lists.c).
 * Errors: FBY_CONFIG  there are some: the command that makes bytes of them. */
FBY_CHECKED fby_err fby_refuse_texts(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse texts in `path` with rows of columns, as iris.data, whose names end so; NULL:
 * any that are of no other type (refuse_text_tables.c).
 * Errors: FBY_CONFIG  there are some: the command that writes lists;  those of
 *                     listing. */
FBY_CHECKED fby_err fby_refuse_text_tables(struct fby_search *search,
    const char *path, const char *ending, struct fby_error_detail *why);

/* Refuse lists in `path` of which one has the labels of another, as X.csv and y.csv
 * (refuse_list_labels.c).
 * Errors: FBY_CONFIG  with the command that joins them. */
FBY_CHECKED fby_err fby_refuse_list_labels(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse lists in `path` whose folders are no classes, as flat folders of splits.
 * Errors: FBY_CONFIG  a list names files of the folders without their path, or
 *         with a wrong one. */
FBY_CHECKED fby_err fby_refuse_lists_of_folders(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

struct fby_unresolved_list { /* a list whose values lead to no file */
    struct fby_search              *search;
    const char                     *dir;     /* of the list, below the root */
    const char                     *list;    /* its name */
    const struct fby_folders_below *folders; /* below `dir` */
    const struct fby_named_files   *files;
};

/* Refuse the list (refuse_list_paths.c).
 * Errors: FBY_CONFIG  always: the command that writes lists of paths. */
fby_err fby_refuse_unresolved_list(
    const struct fby_unresolved_list *self, struct fby_error_detail *why);

/* In place of a program: COCO's boxes, which boxes_coco.py reads. */
#define FBY_COCO_BOXES "boxes of COCO"

enum { FBY_JQ_SIZE = 512 /* bytes of a program of jq, with NUL */ };

/* Write the program of jq that makes lines of the .json file at `path`; it reads
 * the folder of the pictures in $p (guess_json_lists.c). `picture` gets the name of
 * the first picture, if $p is needed; else "".
 * For COCO's boxes it is FBY_COCO_BOXES.
 * Returns false if the file has none of the known forms, for which the program is "",
 * or cannot be read. True without a program: it is one of VQA's. */
bool fby_guess_write_jq(const struct fby_search *search, const char *path,
    char out[FBY_JQ_SIZE], char picture[FBY_VALUE_SIZE]);

#endif
