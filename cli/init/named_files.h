/* SPDX-License-Identifier: Apache-2.0 */
/* named_files.h - find the files that a list names without their path, or with
 * one of another folder or machine. They are looked for anywhere below the folder
 * of the list. */
#ifndef FBY_CLI_INIT_NAMED_FILES_H
#define FBY_CLI_INIT_NAMED_FILES_H

#include "cli/init/guess_search.h"

/* The folders below one, some levels deep: a search has a limit. */
struct fby_folders_below {
    char   **paths; /* below that folder; the first is "", itself */
    uint32_t n;
};

void fby_folders_below_find(
    struct fby_search *search, const char *path, struct fby_folders_below *out);
void fby_folders_below_fini(struct fby_folders_below *self);

/* Is one of the folders that of the split train? */
bool fby_has_folder_of_train(const struct fby_folders_below *folders);

/* Is the folder of this name one of another split than train? */
bool fby_is_evaluation_folder(const char *name);

enum { FBY_NAMED_COLUMNS = 4, FBY_VALUE_SIZE = 256 };

struct fby_named_file { /* a value of a list, and its file */
    char
        column[FBY_NAME_SIZE]; /* lower case; other characters as in the list */
    char value[FBY_VALUE_SIZE];
    char prefix[FBY_VALUE_SIZE]; /* of the value with slashes: not in `path` */
    char ending[8];              /* what the value lacks: ".jpg", or "" */
    char path[FBY_VALUE_SIZE];   /* of the file, below the list's folder */
    /* The bytes of `path` that are a folder of the list's split; 0: none is. */
    size_t   split_size;
    size_t   folder_size; /* bytes of `path` before those of the value */
    unsigned n_parts;     /* of the value after `prefix`: 2 for a/1.jpg */
};

struct fby_named_files { /* of one list, by column */
    struct fby_named_file files[FBY_NAMED_COLUMNS];
    uint32_t              n;
};

/* Which columns of numbers without zeros in front may be names of pictures: none,
 * those called so (id, file), or all. */
enum fby_named_numbers {
    FBY_NUMBERS_NONE,
    FBY_NUMBERS_BY_COLUMN,
    FBY_NUMBERS_ANY
};

/* Find the files of a row of `list` in `dir`; `folders` are those below `dir`. A
 * value may lack the extension of a picture.
 * Returns false if there are none, or all values are paths as they should be. */
bool fby_named_files_find(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_folders_below *folders,
    enum fby_named_numbers numbers, struct fby_named_files *out);

/* The same for one name in `list`, with its extension. If there is a folder of the
 * list's split, a file in one of another split is none of its files. */
bool fby_named_file_find(const struct fby_search *search, const char *dir,
    const char *list, const char *name, const struct fby_folders_below *folders,
    struct fby_named_file *out);

#endif
