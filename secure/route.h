/* SPDX-License-Identifier: Apache-2.0 */
/* route.h - sealed frames between a trainer client and a worker.
 *
 * A route is one connection of a client to a worker. Both sides derive two keys
 * for it, one for each direction, from the session key that the server gave the
 * client and from a nonce of each side. So no two routes have the same keys,
 * even if a HELLO is replayed. The frames of a direction are counted from 0,
 * and the count is the nonce of each frame: a frame that is repeated, left out
 * or out of order is refused. After 64 GiB the next key is derived from the
 * last.
 *
 * A sealed frame is a head of 24 bytes, the frame, of which all but the first
 * bytes is encrypted, and a tag of 16; docs/security.md has the byte table. The
 * bytes in the clear, the prefix of a chunk, are authenticated: so the receiver
 * can pass a chunk to another thread, which opens it. All state is in these
 * structs, so a frame may be sealed by any thread once its place in the order is
 * taken. */
#ifndef FBY_SECURE_ROUTE_H
#define FBY_SECURE_ROUTE_H

#include <stdbool.h>

#include "common/id.h"
#include "secure/aead.h"

enum {
    FBY_SEAL_HEAD   = 24, /* bytes before the frame */
    FBY_SEAL_CLEAR  = 64, /* bytes of a chunk that stay in the clear */
    FBY_SEAL_BYTES  = FBY_SEAL_HEAD + FBY_TAG_BYTES, /* added to a frame */
    FBY_ROUTE_NONCE = 32 /* bytes of the nonce of each side */
};

struct fby_route_nonce {
    uint8_t bytes[FBY_ROUTE_NONCE];
};

/* What is sealed on a route beside the messages. */
enum fby_secure_mode {   /* the numbers are part of the protocol */
    FBY_SECURE_FULL = 1, /* chunks too */
    FBY_SECURE_AUTH = 2  /* chunks are sent in the clear */
};

/* All that the keys of a route depend on. */
struct fby_route_secrets {
    struct fby_key         session_key;
    struct fby_route_nonce worker_nonce, client_nonce;
    enum fby_cipher        cipher;
    enum fby_secure_mode   mode;
    struct fby_session_id  session;
    struct fby_instance_id worker;
};

struct fby_lane { /* one direction of a route */
    struct fby_session_id session;
    struct fby_key        key;
    enum fby_cipher       cipher;
    uint16_t              generation; /* of the key, from 0 */
    uint64_t              count;      /* frames so far */
    uint64_t              key_bytes;  /* sealed with this key so far */
};

struct fby_lanes {
    struct fby_lane to_worker, to_client;
};

/* Errors: FBY_SYS  libcrypto failed. */
FBY_CHECKED fby_err fby_lanes_derive(
    const struct fby_route_secrets *secrets, struct fby_lanes *out);

/* The place of a frame in its lane, with all that seals or opens it. */
struct fby_seal {
    struct fby_session_id session;
    struct fby_key        key;
    enum fby_cipher       cipher;
    uint16_t              generation;
    uint64_t              count;
};

/* Take the next place of the lane, for a frame of `size` bytes. Frames must be
 * sent in the order of their places.
 * Errors: FBY_SYS   libcrypto failed
 *         FBY_GONE  the lane has had its last key: begin a new route. */
FBY_CHECKED fby_err fby_lane_next(
    struct fby_lane *self, size_t size, struct fby_seal *out);

/* Seal the frame that consists of `clear` (0 or FBY_SEAL_CLEAR bytes), which
 * stays in the clear, and of `text`. Writes clear.size + text.size +
 * FBY_SEAL_BYTES bytes to `out`, which must overlap neither.
 * Errors: FBY_SYS  libcrypto failed. */
FBY_CHECKED fby_err fby_seal_frame(struct fby_aead *aead,
    const struct fby_seal *seal, struct fby_span clear, struct fby_span text,
    uint8_t *out);

/* True if `frame` begins like a sealed frame of a version that is read here. */
bool fby_is_sealed_frame(const void *frame, size_t size);
/* The session that a sealed frame names; it may be forged. */
struct fby_session_id fby_sealed_session(const void *frame);

/* Check that a received frame of `size` bytes has the next place of the lane,
 * and take that place. The frame is not yet known to be genuine.
 * Errors: FBY_PROTO  it is no sealed frame, is out of order, or has another
 *                    session or generation of the key than its place; the
 *                    lane is as before
 *         FBY_SYS    libcrypto failed. */
FBY_CHECKED fby_err fby_lane_accept(struct fby_lane *self, const void *frame,
    size_t size, struct fby_seal *out);

/* Open a frame that fby_lane_accept() accepted, in place: its size -
 * FBY_SEAL_BYTES bytes then begin at frame + FBY_SEAL_HEAD.
 * Errors: FBY_PROTO  the frame is not genuine: end the route. */
FBY_CHECKED fby_err fby_open_frame(struct fby_aead *aead,
    const struct fby_seal *seal, uint8_t *frame, size_t size);

#endif
