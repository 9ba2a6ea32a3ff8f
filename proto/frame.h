/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the frame of a chunk: 64 bytes of prefix, then the payload.
 *
 * A chunk is a part of the raw bytes of one field of a batch. The prefix says
 * which part it is, and with which filter and codec the payload encodes it. The
 * prefix has two hashes: `raw_hash` of the raw bytes, and one of the whole
 * frame, which is checked before decoding. PROTOCOL.md, "Frames", has the byte
 * table. */
#ifndef FBY_PROTO_FRAME_H
#define FBY_PROTO_FRAME_H

#include "proto/ids.h"
#include "proto/layout.h"

enum { FBY_CHUNK_PREFIX = 64 }; /* bytes of the prefix */

struct fby_chunk {
    struct fby_session_id session;
    struct fby_request_id request;
    uint8_t               filter; /* enum fby_filter */
    uint8_t               codec;  /* enum fby_codec */
    uint16_t              field;  /* index of the field in the message HEADER */
    uint32_t              number; /* number of the chunk in its field, from 0 */
    uint64_t              raw_offset; /* offset in the field's raw bytes */
    uint32_t              raw_bytes;  /* size of the decoded chunk */
    uint32_t              wire_bytes; /* size of the payload */
    uint64_t              raw_hash;   /* XXH3-64 of the decoded chunk */
};

/* Write the prefix of a frame. The hash of the frame covers the payload too,
 * which has chunk->wire_bytes bytes. Any thread. */
void fby_chunk_write_prefix(const struct fby_chunk *chunk, const void *payload,
    uint8_t prefix[FBY_CHUNK_PREFIX]);

/* Read and check the prefix of a frame of `size` bytes: magic, version, ids,
 * filter, codec, sizes and reserved bytes. The payload is not read.
 *
 * Thread: any.   Blocks: never.
 * Errors: FBY_PROTO  `why` says what is wrong. */
FBY_CHECKED fby_err fby_chunk_read_prefix(const void *frame, size_t size,
    struct fby_chunk *out, struct fby_error_detail *why);

/* True if the hash in the prefix is that of the frame. Call it after
 * fby_chunk_read_prefix has accepted the prefix. Any thread. */
bool fby_chunk_is_intact(const void *frame, size_t size);

/* Check that `chunk` belongs to `layout`: its field and number exist, its
 * filter and codec suit the field, and its offset and raw bytes are those of
 * the layout. A chunk of ragged or sparse rows may have fewer raw bytes, but
 * holds at least the lengths of its rows.
 * Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_chunk_check_layout(const struct fby_chunk *chunk,
    const struct fby_raw_layout *layout, struct fby_error_detail *why);

#endif
