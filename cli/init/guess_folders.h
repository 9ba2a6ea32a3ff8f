/* SPDX-License-Identifier: Apache-2.0 */
/* guess_folders.h - recognise folders of pictures: class folders, a folder
 * without classes, and parallel folders such as images and masks. */
#ifndef FBY_CLI_INIT_GUESS_FOLDERS_H
#define FBY_CLI_INIT_GUESS_FOLDERS_H

#include "cli/init/guess_search.h"

/* Add a split for the class folders `depth` levels below `path`, or, with depth
 * 0, for the files in `path` without classes.
 * Errors: those of reading the folders; FBY_CONFIG for a folder whose files are
 *         no samples, and for `path` one level too high. */
FBY_CHECKED fby_err fby_guess_class_folders(struct fby_search *search,
    const char *path, uint32_t depth, const char *name,
    struct fby_error_detail *why);

/* Add a split for each set of parallel folders, such as images and masks.
 * Errors: those of listing; FBY_CONFIG for an invalid folder name. */
FBY_CHECKED fby_err fby_guess_parallel(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Write to `out` the path, below `path`, of a folder of pictures that is alone
 * in the listing; "": it is not alone, has no pictures, or is a class of split
 * train (guess_only.c).
 * Errors: those of listing; FBY_CONFIG for pictures beside it, and for folders
 *         several levels below. */
FBY_CHECKED fby_err fby_guess_only_folder(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why);

/* Add the note that the folder is read without classes. */
void fby_guess_note_only_folder(struct fby_search *search, const char *folder);

/* Refuse class folders in the listing of `path` whose files have the same names,
 * so that they are pairs; add a note if they may be classes (guess_pairs.c). The
 * listing of the first split decides for all.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_pairs(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Write why `folder`, the only one of the split at `path`, is no class of train,
 * and what to do (guess_lone_class.c). */
void fby_guess_explain_lone_folder(struct fby_search *search, const char *path,
    const char *folder, char *out, size_t size);

/* Has the folder, or one in it, text files of boxes, as YOLO's? */
bool fby_guess_has_boxes(struct fby_search *search, const char *path);

/* Add a note on the folder `boxes` beside the folder `pictures`. */
void fby_guess_note_boxes(
    struct fby_search *search, const char *pictures, const char *boxes);

/* True if the folders in the listing of `path` are shards of img2dataset, no
 * classes: 00000 with 000000001.jpg. Then a note is added. */
bool fby_guess_are_img2dataset(struct fby_search *search, const char *path,
    const struct fby_listing *listing);

/* Add a note of files beside the folder that may have labels of its pictures. */
void fby_guess_note_files_beside(
    struct fby_search *search, const struct fby_listing *listing);

/* Add a note with fields for the first keys of the JSON file at `path`, if it has
 * keys that a field can read. */
void fby_guess_note_json(struct fby_search *search, const char *path);

/* Is one of the first files with that extension grey of 16 bits, in the folder of
 * `file`? */
bool fby_guess_has_grey16(
    struct fby_search *search, const char *file, const char *extension);

#endif
