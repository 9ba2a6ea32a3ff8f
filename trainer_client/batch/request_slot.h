/* request_slot.h - the chunks of one answer, until its batch is made.
 *
 * A chunk is stored in one of three ways:
 *     decoded   into the slot's memory
 *     kept      as the frame that ZeroMQ received, if it is stored or packed
 *               and its field's tensor holds the raw bytes: it goes from the
 *               frame to the tensor in one step, and the slot's memory for it
 *               is never touched
 *     arena     on its way to a GPU, packed or decoded
 * One thread owns a slot at a time: the receiver, or the one that makes its
 * batch. */
#ifndef FBY_CLIENT_BATCH_REQUEST_SLOT_H
#define FBY_CLIENT_BATCH_REQUEST_SLOT_H

#include <zmq.h>

#include "proto/frame.h"
#include "trainer_client/setup/setup.h"

struct fby_kept_chunk {
    bool             is_kept; /* else the chunk is elsewhere */
    struct fby_chunk chunk;
    zmq_msg_t        frame;
};

struct fby_request_slot {
    uint8_t *memory; /* layout.slot_bytes; NULL: not needed */
    uint8_t *arena;  /* setup's arena_bytes, borrowed; NULL: no GPU */
    uint64_t used;   /* of the arena */
    struct fby_arena_chunk *arena_chunks; /* by index, as `kept` */
    bool                    copying;      /* the arena is still being copied */
    struct fby_kept_chunk  *kept;         /* layout.n_chunks, by index */
    uint32_t                n_kept;
};

/* Initialize a zeroed slot; `arena` is NULL without a GPU. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_request_slot_init(struct fby_request_slot *self,
    const struct fby_setup *setup, uint8_t *arena);
/* Free what the slot holds; copes with a half-made one. */
void fby_request_slot_fini(
    struct fby_request_slot *self, const struct fby_setup *setup);

/* True if the frame of such a chunk is kept. */
bool fby_request_slot_keeps(
    const struct fby_setup *setup, const struct fby_chunk *chunk);

/* Keep a checked chunk, the batch's `index`-th. Call once per chunk.
 * Ownership: of the frame moves to the slot. */
void fby_request_slot_keep(struct fby_request_slot *self, uint32_t index,
    const struct fby_chunk *chunk, zmq_msg_t *frame);

/* Reserve arena memory for a chunk of a compact field. Call once per chunk. */
const struct fby_arena_chunk *fby_request_slot_reserve(
    struct fby_request_slot *self, const struct fby_setup *setup,
    uint32_t index, const struct fby_chunk *chunk);

/* Decode a chunk's payload to `to`; with `packed`, check and copy it. False:
 * the payload is invalid. */
bool fby_request_slot_fill(const struct fby_codec_job *job,
    struct fby_bytes_in payload, const struct fby_chunk *chunk, bool packed,
    uint8_t *to);

/* Release the kept frames and the reserved arena memory. */
void fby_request_slot_clear(struct fby_request_slot *self);

#endif
