/* SPDX-License-Identifier: Apache-2.0 */
/* request_slot.h - the chunks of one batch, until its values are made.
 *
 * A chunk is stored in one of three ways:
 *     memory    It is decoded into the slot's memory.
 *     kept      It stays in the frame that ZeroMQ received, if it decodes fast,
 *               and its field's tensor holds the raw bytes or is made from them
 *               chunk by chunk. It is decoded when its batch is made, so its
 *               part of the slot's memory is not used, but by `verify_decoded`.
 *     arena     It is decoded, or copied undecoded, into the arena, the memory
 *               that is copied to a GPU.
 * One thread owns a slot at a time: the receiver, or the decode thread that
 * makes the slot's batch. */
#ifndef FBY_CLIENT_BATCH_REQUEST_SLOT_H
#define FBY_CLIENT_BATCH_REQUEST_SLOT_H

#include <zmq.h>

#include "proto/frame.h"
#include "trainer_client/setup/setup.h"

struct fby_kept_chunk {
    bool             is_kept; /* else the entry is unused */
    struct fby_chunk chunk;
    zmq_msg_t        frame;
};

struct fby_request_slot {
    uint8_t                *memory; /* of layout.slot_bytes; NULL: not needed */
    uint8_t                *arena;  /* of arena_bytes, borrowed; NULL: no GPU */
    uint64_t                used;   /* reserved bytes of the arena */
    struct fby_arena_chunk *arena_chunks; /* one per chunk of the batch */
    bool                    copying; /* the arena is being copied to a GPU */
    struct fby_kept_chunk  *kept;    /* one per chunk of the batch */
    uint32_t                n_kept;  /* entries of `kept` in use */
};

/* Initialize a zeroed slot; `arena` is NULL without a GPU. Errors: FBY_SYS. */
FBY_CHECKED fby_err fby_request_slot_init(struct fby_request_slot *self,
    const struct fby_setup *setup, uint8_t *arena);
/* Free all memory of the slot, even if init has failed. */
void fby_request_slot_fini(
    struct fby_request_slot *self, const struct fby_setup *setup);

/* True if the caller must keep this chunk's frame (fby_request_slot_keep). */
bool fby_request_slot_must_keep(
    const struct fby_setup *setup, const struct fby_chunk *chunk);

/* Keep the frame of a checked chunk; `index` is its index in the batch. Call
 * once per chunk. Ownership: the slot takes ownership of the frame. */
void fby_request_slot_keep(struct fby_request_slot *self, uint32_t index,
    const struct fby_chunk *chunk, zmq_msg_t *frame);

/* Reserve `bytes` of the arena; returns their offset, which is a multiple of
 * FBY_SEGMENT_ALIGN. */
uint64_t fby_request_slot_reserve_bytes(
    struct fby_request_slot *self, uint64_t bytes);
/* Reserve arena memory for a chunk of a field whose chunks go to the GPU as
 * received (fby_setup_uploads_as_received). Call once per chunk. */
const struct fby_arena_chunk *fby_request_slot_reserve_chunk(
    struct fby_request_slot *self, const struct fby_setup *setup,
    uint32_t index, const struct fby_chunk *chunk);

struct fby_chunk_job { /* how to write a chunk to its destination */
    struct fby_chunk        chunk;
    struct fby_codec_params params;
    uint8_t                *to;     /* destination, in memory or arena */
    bool                    packed; /* copy the payload without decoding */
    bool is_checked; /* its sealed frame was genuine: skip the frame's hash */
};

/* Check the hash of the frame, and that its payload can be decoded. Writes only
 * with `verify_decoded`: it decodes to job->to, to check the hash of the decoded
 * bytes. Returns false if the chunk is invalid. */
bool fby_chunk_job_check(const struct fby_chunk_job *job, zmq_msg_t *frame,
    struct fby_codec_scratch *scratch, bool verify_decoded);
/* Check the hash of the frame, and decode its payload to job->to, or copy it if
 * job->packed. With `verify_decoded`, which must be false if job->packed, also
 * check the hash of the decoded bytes. Returns false if the chunk is invalid. */
bool fby_chunk_job_decode(const struct fby_chunk_job *job, zmq_msg_t *frame,
    struct fby_codec_scratch *scratch, bool verify_decoded);

/* Release the kept frames and the reserved arena memory. */
void fby_request_slot_clear(struct fby_request_slot *self);

#endif
