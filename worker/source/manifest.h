/* manifest.h - a dataset's manifest: canonical bytes and digests of shards.
 *
 * Two copies of a dataset, wherever they lie, have one manifest; its digest is
 * the data digest. proto/PROTOCOL.md, "Manifest" and "Data digest", define the
 * bytes. Stamps are local, and no part of it. */
#ifndef FBY_WORKER_SOURCE_MANIFEST_H
#define FBY_WORKER_SOURCE_MANIFEST_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "worker/source/shard.h"

/* Append the canonical bytes of a finished shard. */
void fby_shard_encode(const struct fby_shard *shard, struct fby_buffer *out);

/* Read them back into `out`, finished, its stamps zeroed (one of a tar, one a
 * member of a folder); release `out` with fini, also after an error. What it
 * takes encodes to the same bytes.
 * Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_shard_decode(const uint8_t *data, size_t size,
    struct fby_shard *out, struct fby_why *why);

/* BLAKE2b-256 of the canonical bytes. */
struct fby_digest fby_shard_digest(const struct fby_shard *shard);

/* BLAKE2b-256 over the shards' digests, in order. */
struct fby_digest fby_data_digest(
    const struct fby_digest *shards, uint32_t n_shards);

#endif
