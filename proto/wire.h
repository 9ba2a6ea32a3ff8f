/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - encode control messages (messages.h) to bytes, and decode them.
 *
 * A message is one ZeroMQ frame: a head of 16 bytes with a hash, and a
 * protobuf body. Decoding checks the hash and every length, count, number, id
 * and text. Encoding checks the same and makes texts valid, so that no peer
 * refuses our messages. */
#ifndef FBY_PROTO_WIRE_H
#define FBY_PROTO_WIRE_H

#include "proto/messages.h"

/* Returns the name of a type: "HELLO", "HELLO_FIRST", ...; "?" if unknown. */
const char *fby_message_name(enum fby_message_type type);

/* Returns the session; 0 for messages between worker and server. */
struct fby_session_id fby_message_session(const struct fby_message *message);

/* Append `message` as a frame to `out`, which is unchanged on an error.
 *
 * Thread: any.
 * Errors: FBY_USAGE  a value is not allowed; `why` names the value. */
FBY_CHECKED fby_err fby_message_encode(const struct fby_message *message,
    struct fby_buffer *out, struct fby_error_detail *why);

/* Parse and check `frame`, and copy its values to `out`, which need not be
 * initialised. After FBY_OK, release `out` with fby_message_fini.
 *
 * Thread: any.
 * Errors: FBY_PROTO  no valid message of this version; `why` has the cause */
FBY_CHECKED fby_err fby_message_decode(const void *frame, size_t size,
    struct fby_message *out, struct fby_error_detail *why);

/* Free the memory of a decoded message. */
void fby_message_fini(struct fby_message *message);

/* Returns the XXH3-64 of these members of a REQUEST: content, data, fingerprint
 * (32 bytes each), seed, epoch, step (u64), first_row, rows (u32) and fields
 * (u64). The worker's HEADER repeats this checksum, so that the client detects
 * an answer to a different request. */
uint64_t fby_request_checksum(const struct fby_request *request);

enum fby_frame_kind {
    FBY_FRAME_GARBAGE,      /* not a frame of Forebay */
    FBY_FRAME_MESSAGE,      /* decoded by fby_message_decode */
    FBY_FRAME_CHUNK,        /* read by fby_chunk_read_prefix */
    FBY_FRAME_OTHER_VERSION /* its version is not FBY_PROTOCOL_VERSION */
};

/* Returns the kind of a frame, from its magic and version only. */
enum fby_frame_kind fby_frame_kind(const void *frame, size_t size);

#endif
