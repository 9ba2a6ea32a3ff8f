/* SPDX-License-Identifier: Apache-2.0 */
/* request_slot.c - store the chunks of a batch: in memory, kept, or in an
 * arena. A field is direct if its tensor holds its raw bytes unchanged. */
#include "trainer_client/batch/request_slot.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "trainer_client/expand/segments.h"

fby_err fby_request_slot_init(struct fby_request_slot *self,
    const struct fby_setup *setup, uint8_t *arena)
{
    uint32_t n_chunks      = setup->layout.n_chunks;
    bool     needs_memory  = false;
    bool     mostly_unused = false; /* kept chunks leave memory untouched */
    self->kept             = fby_zalloc(n_chunks * sizeof(*self->kept));
    self->arena_chunks     = fby_zalloc(n_chunks * sizeof(*self->arena_chunks));
    self->arena            = arena;
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        needs_memory = needs_memory || !fby_setup_uploads_as_received(setup, i);
        mostly_unused = mostly_unused || fby_setup_is_direct(setup, i) ||
                        fby_setup_expands_by_chunk(setup, i);
    }
    if (needs_memory) {
        self->memory =
            setup->device->raw_alloc(setup->layout.slot_bytes, mostly_unused);
    }
    return needs_memory && self->memory == NULL ? FBY_SYS : FBY_OK;
}

void fby_request_slot_fini(
    struct fby_request_slot *self, const struct fby_setup *setup)
{
    fby_request_slot_clear(self);
    free(self->kept);
    free(self->arena_chunks);
    setup->device->raw_free(self->memory, setup->layout.slot_bytes);
    *self = (struct fby_request_slot){0};
}

bool fby_request_slot_must_keep(
    const struct fby_setup *setup, const struct fby_chunk *chunk)
{
    bool fast_to_decode =
        chunk->codec == FBY_CODEC_PACK ||
        (chunk->codec == FBY_CODEC_STORE && chunk->filter == FBY_FILTER_NONE);
    return fast_to_decode &&
           (fby_setup_is_direct(setup, chunk->field) ||
               fby_setup_expands_by_chunk(setup, chunk->field));
}

void fby_request_slot_keep(struct fby_request_slot *self, uint32_t index,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    struct fby_kept_chunk *kept = &self->kept[index];
    kept->is_kept               = true;
    kept->chunk                 = *chunk;
    zmq_msg_init(&kept->frame);
    zmq_msg_move(&kept->frame, frame);
    self->n_kept++;
}

uint64_t fby_request_slot_reserve_bytes(
    struct fby_request_slot *self, uint64_t bytes)
{
    uint64_t offset = (self->used + FBY_SEGMENT_ALIGN - 1) / FBY_SEGMENT_ALIGN *
                      FBY_SEGMENT_ALIGN;
    self->used = offset + bytes;
    return offset;
}

const struct fby_arena_chunk *fby_request_slot_reserve_chunk(
    struct fby_request_slot *self, const struct fby_setup *setup,
    uint32_t index, const struct fby_chunk *chunk)
{
    struct fby_arena_chunk *reserved = &self->arena_chunks[index];
    reserved->packed =
        chunk->codec == FBY_CODEC_PACK &&
        fby_segments_accept_packed(&setup->expansions[chunk->field]);
    reserved->bytes  = reserved->packed ? chunk->wire_bytes : chunk->raw_bytes;
    reserved->offset = fby_request_slot_reserve_bytes(self, reserved->bytes);
    return reserved;
}

static struct fby_codec_job codec_job_of(
    const struct fby_chunk_job *job, struct fby_codec_scratch *scratch)
{
    return (struct fby_codec_job){
        .coding  = {.filter = job->chunk.filter, .codec = job->chunk.codec},
        .params  = job->params,
        .scratch = scratch,
    };
}

static struct fby_bytes_in payload_of(
    const struct fby_chunk_job *job, zmq_msg_t *frame)
{
    const uint8_t *bytes = zmq_msg_data(frame);
    return (struct fby_bytes_in){
        .data = bytes + FBY_CHUNK_PREFIX, .size = job->chunk.wire_bytes};
}

static bool is_intact(const struct fby_chunk_job *job, zmq_msg_t *frame)
{
    return job->is_checked ||
           fby_chunk_is_intact(zmq_msg_data(frame), zmq_msg_size(frame));
}

static bool write_chunk(const struct fby_chunk_job *job, zmq_msg_t *frame,
    struct fby_codec_scratch *scratch, bool verify_decoded)
{
    const struct fby_codec_job codec_job = codec_job_of(job, scratch);
    struct fby_bytes_in        payload   = payload_of(job, frame);
    if (job->packed) {
        if (!fby_codec_can_decode(&codec_job, payload, job->chunk.raw_bytes)) {
            return false;
        }
        memcpy(job->to, payload.data, payload.size);
    } else if (fby_codec_decode(&codec_job, payload, job->to,
                   job->chunk.raw_bytes) != FBY_OK) {
        return false;
    }
    return !verify_decoded ||
           fby_xxh3_64(job->to, job->chunk.raw_bytes) == job->chunk.raw_hash;
}

bool fby_chunk_job_check(const struct fby_chunk_job *job, zmq_msg_t *frame,
    struct fby_codec_scratch *scratch, bool verify_decoded)
{
    const struct fby_codec_job codec_job = codec_job_of(job, scratch);
    return is_intact(job, frame) &&
           fby_codec_can_decode(
               &codec_job, payload_of(job, frame), job->chunk.raw_bytes) &&
           (!verify_decoded || write_chunk(job, frame, scratch, true));
}

bool fby_chunk_job_decode(const struct fby_chunk_job *job, zmq_msg_t *frame,
    struct fby_codec_scratch *scratch, bool verify_decoded)
{
    return is_intact(job, frame) &&
           write_chunk(job, frame, scratch, verify_decoded);
}

void fby_request_slot_clear(struct fby_request_slot *self)
{
    self->used = 0;
    for (uint32_t i = 0; self->n_kept > 0; i++) { /* until none is kept */
        if (self->kept[i].is_kept) {
            self->kept[i].is_kept = false;
            zmq_msg_close(&self->kept[i].frame);
            self->n_kept--;
        }
    }
}
