/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.h - canonical bytes and digests of the shards of a dataset.
 *
 * All copies of a dataset have the same manifest. Its digest, the data digest,
 * identifies the data. proto/PROTOCOL.md, "Manifest" and "Data digest", define
 * the bytes. Stamps (identity and times of files) differ between machines, so
 * they are not in the manifest. */
#ifndef FBY_WORKER_SOURCE_MANIFEST_H
#define FBY_WORKER_SOURCE_MANIFEST_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/record.h"
#include "worker/source/shard.h"

/* Append the canonical bytes of a finished shard. */
void fby_shard_encode(const struct fby_shard *shard, struct fby_buffer *out);

/* Decode the canonical bytes of one shard into `out`, a finished shard. Its
 * stamps are zeros. Encoding `out` gives the same bytes again. Release `out`
 * with fby_shard_fini(), also after an error. Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_shard_decode(const uint8_t *data, size_t size,
    struct fby_shard *out, struct fby_error_detail *why);

/* BLAKE2b-256 of the canonical bytes of a shard. */
struct fby_digest fby_shard_digest(const struct fby_shard *shard);

/* BLAKE2b-256 over the shards' digests, in order. */
struct fby_digest fby_data_digest(
    const struct fby_digest *shards, uint32_t n_shards);

/* Write and read the entries that only shards of columns or of tokens have, as
 * `encode` and `decode` of fby_source_ops. The caller has written or read the
 * entries that all shards have, which come first.
 * Errors: FBY_PROTO, also if the caller read a damaged entry. */
void fby_columns_encode(const struct fby_shard *shard, struct fby_buffer *out);
FBY_CHECKED fby_err fby_columns_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_error_detail *why);
void fby_tokens_encode(const struct fby_shard *shard, struct fby_buffer *out);
FBY_CHECKED fby_err fby_tokens_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_error_detail *why);

/* Append the entry of shard->lengths, unless that is NULL. */
void fby_lengths_encode(const struct fby_shard *shard, struct fby_buffer *out);
/* Returns the bytes of this entry if it is the next one of `r`; else NULL. */
struct fby_span fby_lengths_read_entry(struct fby_record *r);
/* Set out->lengths from these bytes, unless NULL; out->n_samples must be set.
 * Errors: FBY_PROTO  not 4 bytes a sample. */
FBY_CHECKED fby_err fby_lengths_decode(
    struct fby_span bytes, struct fby_shard *out, struct fby_error_detail *why);

/* Returns a reader of the bytes of the next entry of `r`, which must have this
 * key. */
struct fby_reader fby_manifest_array(struct fby_record *r, uint16_t key);

/* Set `why` to "manifest of a shard: FAULT". Returns FBY_PROTO. */
fby_err fby_manifest_refuse(struct fby_error_detail *why, const char *fault);

#endif
