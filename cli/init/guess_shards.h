/* SPDX-License-Identifier: Apache-2.0 */
/* guess_shards.h - check tar shards, before they are used, for what is wrong with
 * their names and samples. */
#ifndef FBY_CLI_INIT_GUESS_SHARDS_H
#define FBY_CLI_INIT_GUESS_SHARDS_H

#include "cli/init/guess_search.h"

/* Check the `n` shards of a split that were read.
 * Errors: FBY_CONFIG if the files of a sample are in two shards, or if some
 *         shards have pictures and others none. */
FBY_CHECKED fby_err fby_guess_check_shards(
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why);

/* Refuse pictures whose keys would end within their names, such as cat.0.jpg.
 * The members of the split are those of the `n` shards in `path`, also of one
 * whose scan failed.
 * Errors: FBY_CONFIG: the command that writes tars with other names. */
FBY_CHECKED fby_err fby_guess_check_shard_names(const struct fby_search *search,
    const char *path, const struct fby_guess_split *split,
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why);

/* Look at the names in the `n` shards of a split that were read. If its samples
 * are pictures alone, without labels, set split->only_pictures and in_folder, and
 * add a note, which has a command if the samples are in several folders.
 * Errors: FBY_CONFIG for tar files in a tar file, and for folders such as images
 *         and masks: what to do. */
FBY_CHECKED fby_err fby_guess_check_tar_names(struct fby_search *search,
    struct fby_guess_split *split, const struct fby_shard *shards, uint32_t n,
    struct fby_error_detail *why);

/* Check the `n` tar files of `path`, of which the splits from `first_split` on
 * were made.
 * Errors: FBY_CONFIG if each may be a class: what to do. */
FBY_CHECKED fby_err fby_guess_check_class_tars(const struct fby_search *search,
    const char *path, const struct fby_entry *tars, uint32_t n,
    uint32_t first_split, struct fby_error_detail *why);

#endif
