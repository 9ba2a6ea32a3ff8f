/* frame.h - a chunk of a batch: 64 bytes of prefix, then the payload.
 *
 * The prefix says which bytes of which field the payload holds, and how they
 * are filtered and compressed. It has two hashes: `raw_hash` of the bytes
 * before encoding, and a hash of the frame, which is checked before decoding.
 * PROTOCOL.md, "Frames", has the byte table. */
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

/* Write the prefix of a frame. `payload` is complete, chunk->wire_bytes long,
 * and is hashed. Any thread. */
void fby_chunk_write(const struct fby_chunk *chunk, const void *payload,
    uint8_t prefix[FBY_CHUNK_PREFIX]);

/* Read and check the prefix of a frame: magic, version, zeros, ids, filter and
 * codec, sizes against `size` and the codec's bound. Does not read the payload.
 *
 * Thread: any.   Blocks: never.
 * Errors: FBY_PROTO  `why` names what is wrong. */
FBY_CHECKED fby_err fby_chunk_read(
    const void *frame, size_t size, struct fby_chunk *out, struct fby_why *why);

/* Whether a frame that fby_chunk_read accepted arrived undamaged: hashes prefix
 * and payload. Any thread. */
bool fby_chunk_intact(const void *frame, size_t size);

/* Check that `chunk` belongs to `layout`: field and number exist, filter and
 * codec suit the field, offset and raw bytes are those of the layout. For rows
 * that vary in length the raw bytes of the layout are the maximum; the minimum
 * is the size of the lengths.
 * Errors: FBY_PROTO. */
FBY_CHECKED fby_err fby_chunk_check(const struct fby_chunk *chunk,
    const struct fby_raw_layout *layout, struct fby_why *why);

#endif
