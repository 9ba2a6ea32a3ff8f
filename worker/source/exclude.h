/* SPDX-License-Identifier: Apache-2.0 */
/* exclude.h - leave samples out of an index by name.
 *
 * A sample has these names, of which one is enough:
 *   tar        SHARD/KEY, as in train-0003.tar/0001
 *   folder     KEY, and the path of each of its files below the folder:
 *              cats/7 and cats/7.jpg
 *   parallel   the same, with the path of each file: 7, images/7.jpg
 *   list       the path of each of its files, as the list has it, and "line 7"
 * Rows of columns and sequences of tokens have no names. */
#ifndef FBY_WORKER_SOURCE_EXCLUDE_H
#define FBY_WORKER_SOURCE_EXCLUDE_H

#include "worker/source/index.h"

/* Remove the samples that have an excluded name. Shards that become empty are
 * removed. The rest is as if the samples had never been there, so the digest of
 * the data tells workers apart that leave out different samples.
 * Errors: FBY_CONFIG  no sample is left. */
FBY_CHECKED fby_err fby_index_exclude(struct fby_index *self,
    const struct fby_excluded *excluded, struct fby_error_detail *why);

/* Write a name of the sample for a list of names to exclude: the path of its
 * first file, or another of its names. False: it has no name. */
bool fby_sample_write_name(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t sample, char out[FBY_PATH_SIZE]);

/* Write the path of member `member` of a shard, as in a list of names to
 * exclude. False: the member is not a file of its own. */
bool fby_member_write_name(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t member, char out[FBY_PATH_SIZE]);

#endif
