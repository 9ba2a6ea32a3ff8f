/* request_slot.h - where the chunks of one answer lie until its batch is made.
 *
 * A chunk is decoded into the slot's memory, or its frame is kept as ZeroMQ
 * received it: what is stored or packed, of a field whose tensor holds the raw
 * bytes, goes from the frame to the tensor in one step. So such chunks are
 * copied nowhere in between, and the slot's memory for them is never touched.
 * A slot belongs to one thread at a time: the receiver's, or the one that makes
 * its batch. */
#ifndef FBY_CLIENT_BATCH_REQUEST_SLOT_H
#define FBY_CLIENT_BATCH_REQUEST_SLOT_H

#include <zmq.h>

#include "proto/frame.h"
#include "trainer_client/setup/setup.h"

struct fby_kept_chunk {
    bool             is_kept; /* else the chunk is in the slot's memory */
    struct fby_chunk chunk;
    zmq_msg_t        frame;
};

struct fby_request_slot {
    uint8_t *memory; /* layout.slot_bytes; NULL: none goes there */
    uint8_t *arena;  /* setup's arena_bytes, borrowed; NULL: no GPU */
    uint64_t used;   /* of the arena */
    struct fby_arena_chunk *arena_chunks; /* in the arena, as many as `kept` */
    bool                    copying;
    struct fby_kept_chunk  *kept; /* layout.n_chunks, by index */
    uint32_t                n_kept;
};

/* Pass a zeroed one; fini copes with a half-made one. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_request_slot_init(struct fby_request_slot *self,
    const struct fby_setup *setup, uint8_t *arena);
void                fby_request_slot_fini(
                   struct fby_request_slot *self, const struct fby_setup *setup);

/* Whether a chunk is one to keep. */
bool fby_request_slot_keeps(
    const struct fby_setup *setup, const struct fby_chunk *chunk);

/* Keep a checked chunk, the batch's `index`-th, once; moves the frame. */
void fby_request_slot_keep(struct fby_request_slot *self, uint32_t index,
    const struct fby_chunk *chunk, zmq_msg_t *frame);

/* The next place in the arena for a chunk of a compact field. */
const struct fby_arena_chunk *fby_request_slot_reserve(
    struct fby_request_slot *self, const struct fby_setup *setup,
    uint32_t index, const struct fby_chunk *chunk);

/* A chunk's payload to its place: decoded, or checked and copied. False: it is
 * no such payload. */
bool fby_request_slot_fill(const struct fby_codec_job *job,
    struct fby_bytes_in payload, const struct fby_chunk *chunk, bool packed,
    uint8_t *to);

/* Let go of what is kept or placed. */
void fby_request_slot_clear(struct fby_request_slot *self);

#endif
