/* manifest_lengths.h - the entry of a shard's record that says how long its
 * samples are, where a content has buckets of them. */
#ifndef FBY_WORKER_SOURCE_MANIFEST_LENGTHS_H
#define FBY_WORKER_SOURCE_MANIFEST_LENGTHS_H

#include "common/bytes.h"
#include "pipeline/record.h"
#include "worker/source/shard.h"

/* Write the entry, if the shard has lengths. */
void fby_lengths_encode(const struct fby_shard *shard, struct fby_buffer *out);

/* The bytes of the entry that comes next; no data when it is another one. */
struct fby_span fby_lengths_next(struct fby_record *r);

/* Set the lengths of a shard, whose samples are counted, to those bytes; there
 * may be none. False when they are not 4 a sample. */
FBY_CHECKED bool fby_lengths_decode(
    struct fby_span bytes, struct fby_shard *out);

#endif
