/* SPDX-License-Identifier: Apache-2.0 */
/* shard_builder.h - build virtual shards, for a source without shard files such
 * as a folder.
 *
 * Each virtual shard has 1,024 samples, the last one perhaps fewer. Begin with
 * {.kind = ...}, add each sample and then its members, and finish. The caller
 * owns the shards, also after an error. */
#ifndef FBY_WORKER_SOURCE_SHARD_BUILDER_H
#define FBY_WORKER_SOURCE_SHARD_BUILDER_H

#include "worker/source/shard.h"

enum { FBY_VIRTUAL_SHARD_SAMPLES = 1024, FBY_MAX_VIRTUAL_SHARDS = 10000000 };

struct fby_shard_builder { /* the shards of a source while they are built */
    enum fby_source_kind kind;
    struct fby_shard    *shards; /* all but the last are finished */
    uint32_t             count;  /* number of shards */
};

/* Add a sample, to which the next members belong.
 * Errors: FBY_CONFIG  a limit, or a repeated key. */
FBY_CHECKED fby_err fby_shard_builder_begin_sample(
    struct fby_shard_builder *self, const char *key, size_t key_size,
    int64_t class_id, struct fby_error_detail *why);

/* Add a file as a member of the last sample. `stamp` has its size and identity
 * (object.h). Its path is not stored: the source can derive it from the member.
 * Errors: those of fby_shard_add_member. */
FBY_CHECKED fby_err fby_shard_builder_add_file(struct fby_shard_builder *self,
    const char *suffix, const struct fby_stamp *stamp,
    struct fby_error_detail *why);

/* Returns the shard of the last sample; there must be a sample. */
struct fby_shard *fby_shard_builder_last_shard(
    const struct fby_shard_builder *self);

/* Finish the last shard. Errors: those of fby_shard_finish. */
FBY_CHECKED fby_err fby_shard_builder_finish(
    struct fby_shard_builder *self, struct fby_error_detail *why);

#endif
