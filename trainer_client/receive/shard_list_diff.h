/* SPDX-License-Identifier: Apache-2.0 */
/* shard_list_diff.h - say how a dataset changed since a state (a token, from which
 * a stream resumes) was saved, or how that of a worker differs. Pure. */
#ifndef FBY_CLIENT_RECEIVE_SHARD_LIST_DIFF_H
#define FBY_CLIENT_RECEIVE_SHARD_LIST_DIFF_H

#include "common/err.h"
#include "proto/messages.h"

struct fby_shard_list { /* the shards of a dataset; borrowed */
    uint64_t                     samples;
    const struct fby_shard_info *shards; /* in byte order of names */
    size_t                       n_shards;
};

struct fby_shard_list_words { /* after a number: "then" and "now" */
    const char *first, *second;
};

/* Write the first shard that differs, as "shard a.tar (3 samples then, 2 now)".
 * If none does, the names of classes do, which the data digest has, too
 * (proto/PROTOCOL.md). */
void fby_shard_list_first_difference(const struct fby_shard_list *first,
    const struct fby_shard_list                                  *second,
    const struct fby_shard_list_words *words, struct fby_error_detail *out);

/* Write a clause with the numbers of samples and shards before and now, and the
 * first shard that differs. `then` is NULL if the earlier list is not known. */
void fby_shard_list_diff(const struct fby_shard_list *then,
    const struct fby_shard_list *now, struct fby_error_detail *out);

#endif
