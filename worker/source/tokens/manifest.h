/* manifest.h - the entries of a shard of tokens in the manifest.
 *
 * proto/PROTOCOL.md, "Manifest", defines the bytes. */
#ifndef FBY_WORKER_SOURCE_TOKENS_MANIFEST_H
#define FBY_WORKER_SOURCE_TOKENS_MANIFEST_H

#include "common/bytes.h"
#include "pipeline/record.h"
#include "worker/source/shard.h"

/* Append them, after those that all shards have. */
void fby_tokens_encode(const struct fby_shard *shard, struct fby_buffer *out);

/* Read them to the end of the record. Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_tokens_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_why *why);

#endif
