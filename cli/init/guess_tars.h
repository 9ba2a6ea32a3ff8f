/* SPDX-License-Identifier: Apache-2.0 */
/* guess_tars.h - recognise tar shards in a directory, and note what is beside
 * them. */
#ifndef FBY_CLI_INIT_GUESS_TARS_H
#define FBY_CLI_INIT_GUESS_TARS_H

#include "cli/init/guess_search.h"

/* Add a split for each group of tar files in the listing of `path` whose names
 * differ in a number. Moves the tar files to the front of the listing.
 * Errors: those of reading; FBY_CONFIG for invalid files. */
FBY_CHECKED fby_err fby_guess_tars(struct fby_search *search, const char *path,
    struct fby_listing *listing, struct fby_error_detail *why);

/* Look at the names in the `n` shards of a split that were read. If its samples
 * are pictures alone, without labels, set split->only_pictures and in_folder, and
 * add a note, which has a command if the samples are in several folders.
 * Errors: FBY_CONFIG for tar files in a tar file, and for folders such as images
 *         and masks: what to do. */
FBY_CHECKED fby_err fby_guess_tar_names(struct fby_search *search,
    struct fby_guess_split *split, const struct fby_shard *shards, uint32_t n,
    struct fby_error_detail *why);

/* Add a note of the types of the files behind the tar files of a listing, and of
 * the folders there. */
void fby_guess_note_beside_tars(struct fby_search *search,
    const struct fby_listing *listing, uint32_t n_tars);

#endif
