#include "trainer_client/slot.h"

#include <stdlib.h>

#include "common/mem.h"

/* Whether some of the slots' memory is likely never to be used. */
static bool is_sparse(const struct fby_setup *setup)
{
    for (uint32_t i = 0; i < setup->n_fields; i++) {
        if (fby_setup_is_direct(setup, i)) {
            return true;
        }
    }
    return false;
}

fby_err fby_slot_init(struct fby_slot *self, const struct fby_setup *setup)
{
    self->kept = fby_zalloc(setup->layout.n_chunks * sizeof(*self->kept));
    self->memory =
        setup->device->raw_alloc(setup->layout.slot_bytes, is_sparse(setup));
    return self->memory != NULL ? FBY_OK : FBY_SYS;
}

void fby_slot_fini(struct fby_slot *self, const struct fby_setup *setup)
{
    fby_slot_clear(self);
    free(self->kept);
    setup->device->raw_free(self->memory, setup->layout.slot_bytes);
    *self = (struct fby_slot){0};
}

bool fby_slot_keeps(
    const struct fby_setup *setup, const struct fby_chunk *chunk)
{
    bool light =
        chunk->codec == FBY_CODEC_PACK ||
        (chunk->codec == FBY_CODEC_STORE && chunk->filter == FBY_FILTER_NONE);
    return light && fby_setup_is_direct(setup, chunk->field);
}

void fby_slot_keep(struct fby_slot *self, uint32_t index,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    struct fby_kept *kept = &self->kept[index];
    kept->there           = true;
    kept->chunk           = *chunk;
    zmq_msg_init(&kept->frame);
    zmq_msg_move(&kept->frame, frame);
    self->n_kept++;
}

void fby_slot_clear(struct fby_slot *self)
{
    for (uint32_t i = 0; self->n_kept > 0; i++) {
        if (self->kept[i].there) {
            self->kept[i].there = false;
            zmq_msg_close(&self->kept[i].frame);
            self->n_kept--;
        }
    }
}
