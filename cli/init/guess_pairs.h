/* SPDX-License-Identifier: Apache-2.0 */
/* guess_pairs.h - the parts of the check of folders that may be pairs
 * (guess_pairs.c). */
#ifndef FBY_CLI_INIT_GUESS_PAIRS_H
#define FBY_CLI_INIT_GUESS_PAIRS_H

#include "cli/init/guess_search.h"

enum {
    FBY_FEW_FOLDERS  = 4,  /* most folders that are rather pairs than classes */
    FBY_FEW_FILES    = 5,  /* of fewer none may be missing */
    FBY_PAIRED_FILES = 4,  /* of a folder, whose pixels are looked at */
    FBY_PAIRED_PATH  = 320 /* bytes of a path of such a file, with NUL */
};

struct fby_paired_files {                              /* of a folder */
    char     paths[FBY_PAIRED_FILES][FBY_PAIRED_PATH]; /* "hr/1.png" */
    uint32_t n;
};

/* Has exactly one of the `n` folders in `path` only pictures with fewer colours than
 * those of each of the others (guess_pair_colours.c)? */
bool fby_guess_has_plain_folder(const struct fby_search *search,
    const char *path, const struct fby_paired_files *folders, uint32_t n);

/* Refuse folders in the listing of `path` with names of pairs, as GT, whose file names
 * differ only at their begin and end (refuse_pair_ends.c).
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_pair_ends(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Have the folders `names` in `path` the same file names but for the begin and end, of
 * which a few may be missing? `lone` is then the path, below `path`, of a file that has
 * no partner; "": none. */
bool fby_guess_are_pair_ends(struct fby_search *search, const char *path,
    const char *const names[2], char lone[FBY_PATH_SIZE]);

/* Set the names of the folders in a listing, which are borrowed. Returns their
 * number; 0: there are more than FBY_FEW_FOLDERS. */
uint32_t fby_guess_name_folders(
    const struct fby_listing *listing, const char *names[FBY_FEW_FOLDERS]);

/* Has one of the `n` names a word for one picture of a pair, as hr and gt, that
 * is not in all of them, as in with_mask and without_mask? */
bool fby_guess_have_role(const char *const *names, uint32_t n);

#endif
