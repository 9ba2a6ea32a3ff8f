/* frame.h - a chunk of a batch: 64 bytes of prefix, then the payload.
 *
 * The prefix says which bytes of which field the payload holds and how they
 * are filtered and compressed. Two hashes guard it: `raw_hash` of the bytes
 * before encoding, and one of the frame itself, which is checked before
 * anything is decoded. PROTOCOL.md, "Frames", has the byte table. */
#ifndef FBY_PROTO_FRAME_H
#define FBY_PROTO_FRAME_H

#include "proto/ids.h"
#include "proto/layout.h"

enum { FBY_CHUNK_PREFIX = 64 }; /* bytes */

struct fby_chunk {
    struct fby_session_id session;
    struct fby_request_id request;
    uint8_t               filter;     /* enum fby_filter */
    uint8_t               codec;      /* enum fby_codec */
    uint16_t              field;      /* position in HEADER */
    uint32_t              number;     /* of the chunk in its field */
    uint64_t              raw_offset; /* in the field */
    uint32_t              raw_bytes;
    uint32_t              wire_bytes; /* of the payload */
    uint64_t              raw_hash;   /* XXH3-64 of the raw bytes */
};

/* Write the prefix of a frame whose payload (chunk->wire_bytes of it) is
 * complete; hashes the payload. Any thread. */
void fby_chunk_write(const struct fby_chunk *chunk, const void *payload,
    uint8_t prefix[FBY_CHUNK_PREFIX]);

/* Read and check a frame's prefix by itself: magic, version, zeros, ids,
 * known filter and codec, sizes against `size` and the codec's bound. Does
 * not touch the payload. Any thread; never blocks.
 * Errors: FBY_PROTO, `why` names the field. */
FBY_CHECKED fby_err fby_chunk_read(
    const void *frame, size_t size, struct fby_chunk *out, struct fby_why *why);

/* Whether a frame that fby_chunk_read took arrived as it was sent: hashes
 * prefix and payload. Any thread. */
bool fby_chunk_intact(const void *frame, size_t size);

/* Whether `chunk` is one of `layout`: field and number exist, filter and codec
 * are for such arrays, offset and raw bytes are what the layout gives them;
 * where rows vary in length, raw bytes at most so many and at least the
 * lengths.
 * Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_chunk_check(const struct fby_chunk *chunk,
    const struct fby_raw_layout *layout, struct fby_why *why);

#endif
