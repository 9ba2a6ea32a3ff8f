/* SPDX-License-Identifier: Apache-2.0 */
/* shard_list_store.h - the lists of shards of datasets that were used before, in
 * files below the user's cache directory. If a state does not fit the data any
 * more, they tell what changed (shard_list_diff.h).
 *
 * A file is the frame of a message OPENED, without what depends on the session.
 * It is named by the data digest, and lies in a folder of its own. It is written
 * under another name and renamed, so any number of processes may write it. The
 * FBY_MAX_SHARD_LISTS files that were used last are kept. Files with other names
 * are not touched. Nothing depends on these files: every failure is ignored,
 * and a damaged file is treated as missing. */
#ifndef FBY_CLIENT_RECEIVE_SHARD_LIST_STORE_H
#define FBY_CLIENT_RECEIVE_SHARD_LIST_STORE_H

#include <stdbool.h>

#include "proto/wire.h"
#include "trainer_client/receive/shard_list_diff.h"

enum { FBY_MAX_SHARD_LISTS = 64 };

/* Keep the list of the dataset with the digest `data`. `dir` is the user's
 * cache directory; "": there is none. Blocks: for file I/O. */
void fby_shard_list_store(const char *dir, const struct fby_digest *data,
    const struct fby_shard_list *list);

/* Load the list of the dataset with the digest `data`. After true, *out is an
 * OPENED, which the caller releases with fby_message_fini(). */
bool fby_shard_list_load(
    const char *dir, const struct fby_digest *data, struct fby_message *out);

/* Describe what changed from the dataset with the digest `then` to `now`; only
 * `now` if the list of `then` was not kept (shard_list_diff.h). */
void fby_shard_list_describe(const char *dir, const struct fby_digest *then,
    const struct fby_shard_list *now, struct fby_error_detail *out);

/* Decode the bytes of a file. As fby_shard_list_load(). */
bool fby_shard_list_decode(const void *bytes, size_t size,
    const struct fby_digest *data, struct fby_message *out);

#endif
