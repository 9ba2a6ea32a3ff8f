/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_shards.h - refuse tar shards whose names or samples are no data as they
 * are. */
#ifndef FBY_CLI_INIT_REFUSE_SHARDS_H
#define FBY_CLI_INIT_REFUSE_SHARDS_H

#include "cli/init/guess_search.h"

/* Refuse some of the `n` shards of a split that were read.
 * Errors: FBY_CONFIG if the files of a sample are in two shards, or if some
 *         shards have pictures and others none. */
FBY_CHECKED fby_err fby_refuse_shards(
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why);

/* Refuse up to three samples without a picture among samples that have one, in shards
 * of `path`.
 * Errors: FBY_CONFIG: the command that writes tars without them. */
FBY_CHECKED fby_err fby_refuse_stray_samples(const struct fby_search *search,
    const char *path, const struct fby_shard *shards, uint32_t n_shards,
    struct fby_error_detail *why);

/* Refuse pictures whose keys would end within their names, such as cat.0.jpg
 * (refuse_dots.c).
 * The members of the split are those of the `n` shards in `path`, also of one
 * whose scan failed.
 * Errors: FBY_CONFIG: the command that writes tars with other names. */
FBY_CHECKED fby_err fby_refuse_shard_names(const struct fby_search *search,
    const char *path, const struct fby_guess_split *split,
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why);

/* Refuse the `n` tar files of `path`, of which the splits from `first_split` on
 * were made.
 * Errors: FBY_CONFIG if each may be a class: what to do. */
FBY_CHECKED fby_err fby_refuse_class_tars(const struct fby_search *search,
    const char *path, const struct fby_entry *tars, uint32_t n,
    uint32_t first_split, struct fby_error_detail *why);

#endif
