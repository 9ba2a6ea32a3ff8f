/* parts.h - samples of loose files and rows, cut into shards of 1,024.
 *
 * Begin with {.kind = ...}, add samples and their members in their order, then
 * finish; the shards are the caller's, also after an error. */
#ifndef FBY_WORKER_SOURCE_PARTS_H
#define FBY_WORKER_SOURCE_PARTS_H

#include "worker/source/shard.h"

enum { FBY_PART_SAMPLES = 1024, FBY_MAX_PARTS = 10000000 };

struct fby_parts {
    enum fby_source_kind kind;
    struct fby_shard    *shards;
    uint32_t             count;
};

/* Is that the key of the sample in work? */
bool fby_parts_goes_on(
    const struct fby_parts *self, const char *key, size_t key_size);

/* The next sample; its members follow.
 * Errors: FBY_CONFIG beyond the limits, or for a key that is there twice. */
FBY_CHECKED fby_err fby_parts_begin_sample(struct fby_parts *self,
    const char *key, size_t key_size, int64_t class_id, struct fby_why *why);

/* A member of it that is a file. Errors: as fby_shard_add_member. */
FBY_CHECKED fby_err fby_parts_add_file(struct fby_parts *self,
    const char *suffix, const struct fby_stamp *stamp, struct fby_why *why);

/* The shard in work. */
struct fby_shard *fby_parts_last(const struct fby_parts *self);

FBY_CHECKED fby_err fby_parts_finish(
    struct fby_parts *self, struct fby_why *why);

#endif
