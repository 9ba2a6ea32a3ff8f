/* SPDX-License-Identifier: Apache-2.0 */
/* guess_layouts.h - check directories whose folders may be no classes. */
#ifndef FBY_CLI_INIT_GUESS_LAYOUTS_H
#define FBY_CLI_INIT_GUESS_LAYOUTS_H

#include "cli/init/guess_search.h"

/* Check the listing of `path`, in which no lists, tables, tar or token files
 * were found, and the folders below that are alone at their level.
 * Errors: FBY_CONFIG for layouts of well-known data sets that are not read
 *         (COCO, Pascal VOC, Cityscapes), for masks whose names are not those
 *         of their pictures, and those of fby_guess_check_unused_lists: what to
 *         do. */
FBY_CHECKED fby_err fby_guess_check_layout(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Check a few folders in the listing of `path` (guess_roles.c).
 * Errors: FBY_CONFIG for folders that look like splits or hold splits, and for
 *         several of which only one has pictures: what to do. */
FBY_CHECKED fby_err fby_guess_check_roles(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Check that the masks in `mask_dir` have no other prefix than `picture`, a file
 * of `picture_dir` without a mask.
 * Errors: FBY_CONFIG for mask_1.png of img_1.jpg: what to do;  FBY_IO. */
FBY_CHECKED fby_err fby_guess_check_prefixes(struct fby_search *search,
    const char *picture_dir, const char *mask_dir, const char *picture,
    struct fby_error_detail *why);

/* Add to an error of the folders `names` in `path`, if it says that files are
 * missing, the command that moves the others away. `below` is the pattern of the
 * folders. Returns FBY_CONFIG. */
FBY_CHECKED fby_err fby_guess_explain_missing(const struct fby_search *search,
    const char *path, const char *const names[2], const char *below,
    struct fby_error_detail *why);

/* Both functions set out->command to one that writes lists.
 *
 * Check for COCO's JSON in annotations/, or beside the pictures in `path`.
 * Errors: FBY_CONFIG  there is some;  those of listing. */
FBY_CHECKED fby_err fby_guess_check_coco(
    struct fby_search *search, const char *path, struct fby_error_detail *why);

/* Check Pascal VOC's files in `path`.
 * Errors: FBY_CONFIG  there are boxes and no masks. */
FBY_CHECKED fby_err fby_guess_check_voc(
    struct fby_search *search, const char *path, struct fby_error_detail *why);

#endif
