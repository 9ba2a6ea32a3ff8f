/* SPDX-License-Identifier: Apache-2.0 */
/* class_folders.h - what guess_folders.c and the files it calls know of the class
 * folders, or the one folder of pictures, of a split. */
#ifndef FBY_CLI_INIT_CLASS_FOLDERS_H
#define FBY_CLI_INIT_CLASS_FOLDERS_H

#include "cli/init/count_folders.h"
#include "cli/init/guess_search.h"
#include "worker/source/folder/folder.h"

struct fby_class_folders {
    struct fby_search       *search;
    const char              *path; /* their parent folder */
    struct fby_folder       *classes;
    uint32_t                 n; /* number of classes */
    struct fby_folder_counts counts;
};

/* Set what the samples of the split are from the counts of its class folders, and
 * add notes on files of them that are not read (class_folder_samples.c).
 * Errors: those of reading files; FBY_CONFIG for a class without a picture. */
FBY_CHECKED fby_err fby_guess_set_folder_samples(
    struct fby_class_folders *folders, struct fby_guess_split *split,
    struct fby_error_detail *why);

/* Add notes if the names of the class folders are numbers in another order than
 * theirs, or those of recordings (class_folder_names.c). */
void fby_guess_note_folder_names(const struct fby_class_folders *folders);

/* Is the name of one class folder that of a left side, and another's of a right
 * (class_folder_names.c)? */
bool fby_guess_have_sides(const struct fby_class_folders *folders);

#endif
