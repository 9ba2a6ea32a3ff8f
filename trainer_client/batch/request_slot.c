#include "trainer_client/batch/request_slot.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "trainer_client/expand/segments.h"

/* True if some of a slot's memory is likely never touched. */
static bool is_sparse(const struct fby_setup *setup)
{
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        if (fby_setup_is_direct(setup, i)) {
            return true;
        }
    }
    return false;
}

static bool needs_memory(const struct fby_setup *setup)
{
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        if (!fby_setup_is_compact(setup, i)) {
            return true;
        }
    }
    return false;
}

fby_err fby_request_slot_init(struct fby_request_slot *self,
    const struct fby_setup *setup, uint8_t *arena)
{
    uint32_t n         = setup->layout.n_chunks;
    self->kept         = fby_zalloc(n * sizeof(*self->kept));
    self->arena_chunks = fby_zalloc(n * sizeof(*self->arena_chunks));
    self->arena        = arena;
    if (!needs_memory(setup)) {
        return FBY_OK;
    }
    self->memory =
        setup->device->raw_alloc(setup->layout.slot_bytes, is_sparse(setup));
    return self->memory != NULL ? FBY_OK : FBY_SYS;
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

bool fby_request_slot_keeps(
    const struct fby_setup *setup, const struct fby_chunk *chunk)
{
    bool light =
        chunk->codec == FBY_CODEC_PACK ||
        (chunk->codec == FBY_CODEC_STORE && chunk->filter == FBY_FILTER_NONE);
    return light && fby_setup_is_direct(setup, chunk->field);
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

const struct fby_arena_chunk *fby_request_slot_reserve(
    struct fby_request_slot *self, const struct fby_setup *setup,
    uint32_t index, const struct fby_chunk *chunk)
{
    struct fby_arena_chunk *reserved = &self->arena_chunks[index];
    reserved->packed =
        chunk->codec == FBY_CODEC_PACK &&
        fby_segments_accept_packed(&setup->expansions[chunk->field]);
    reserved->bytes  = reserved->packed ? chunk->wire_bytes : chunk->raw_bytes;
    reserved->offset = (self->used + FBY_SEGMENT_ALIGN - 1) /
                       FBY_SEGMENT_ALIGN * FBY_SEGMENT_ALIGN;
    self->used = reserved->offset + reserved->bytes;
    return reserved;
}

bool fby_request_slot_fill(const struct fby_codec_job *job,
    struct fby_bytes_in payload, const struct fby_chunk *chunk, bool packed,
    uint8_t *to)
{
    if (!packed) {
        return fby_codec_decode(job, payload, to, chunk->raw_bytes) == FBY_OK;
    }
    if (!fby_codec_check(job, payload, chunk->raw_bytes)) {
        return false;
    }
    memcpy(to, payload.data, payload.size);
    return true;
}

void fby_request_slot_clear(struct fby_request_slot *self)
{
    self->used = 0;
    for (uint32_t i = 0; self->n_kept > 0; i++) {
        if (self->kept[i].is_kept) {
            self->kept[i].is_kept = false;
            zmq_msg_close(&self->kept[i].frame);
            self->n_kept--;
        }
    }
}
