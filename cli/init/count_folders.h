/* SPDX-License-Identifier: Apache-2.0 */
/* count_folders.h - count the files and samples of class folders.
 *
 * All files are looked at, but only counts and the first file of each type are
 * kept, so the memory needed hardly depends on the number of files. In a folder
 * with files of several types 16 bytes are needed for each of its files, while
 * it is read, to find the files of one sample. */
#ifndef FBY_CLI_INIT_COUNT_FOLDERS_H
#define FBY_CLI_INIT_COUNT_FOLDERS_H

#include "cli/init/guess_search.h"
#include "worker/source/folder/folder.h"

struct fby_file_type { /* the files with one extension, in any case */
    char     extension[FBY_NAME_SIZE]; /* as in `first` */
    uint64_t n_files;
    uint64_t n_with_picture; /* number of those in samples with a picture */
    uint32_t class_id;       /* the class folder of `first` */
    char    *first; /* path of the first in order of class, key, suffix */
};

struct fby_folder_counts {
    /* Further types are not counted here, but in the numbers of samples. */
    struct fby_file_type types[FBY_GUESS_MEMBERS];
    uint32_t             n_types;
    uint64_t             n_samples;
    uint64_t             n_with_picture; /* number of samples with a picture */
    uint32_t             n_dangling;     /* skipped links */
    uint64_t n_unnamed;     /* pictures without an extension: no samples */
    char    *first_unnamed; /* the path of one in the first class with such */
    uint32_t no_picture;    /* the first class without one; n_classes: none */
    bool     has_direct_files; /* a file is directly in a class folder */
    bool has_direct_pictures;  /* and one that is a picture, decoded or not */
    bool has_dots;             /* the error is that of fby_refuse_dots() */
};

/* Count the files of the class folders below `path`, on a thread for each core.
 * Release `out` with fini, also after an error.
 * Errors: those of fby_folder_find_class_files() and fby_folders_to_shards();
 *         before the latter those of fby_refuse_dots(). */
FBY_CHECKED fby_err fby_count_folders(struct fby_search *search,
    const char *path, const struct fby_folder *classes, uint32_t n_classes,
    struct fby_folder_counts *out, struct fby_error_detail *why);
void                fby_folder_counts_fini(struct fby_folder_counts *self);

/* Refuse pictures whose keys would end within their names, such as cat.0.jpg.
 * The message names a file, and has the command that renames them below `path`, or moves
 * those of a flat folder into class folders called after their first words.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_dots(struct fby_search *search, const char *path,
    const struct fby_folder_counts *counts, struct fby_error_detail *why);

/* Add to the error of an extension that is too long, which is part of a name with
 * dots, the command that renames such files below `path`. Returns true for such an
 * error (refuse_dots.c). */
bool fby_explain_long_extension(
    struct fby_search *search, const char *path, struct fby_error_detail *why);

#endif
