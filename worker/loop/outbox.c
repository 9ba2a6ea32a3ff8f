/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.c - the frames of a route with keys, until they can be sent.
 *
 * A client accepts sealed frames only in the order of their places. The loop
 * takes the place of each frame and seals messages; encode threads seal chunks,
 * each for its route, into memory of its own. So a frame waits in the outbox of
 * its peer until the frames before it are sealed. A frame that a thread seals
 * has two holders, the outbox and the thread, and the last one frees it: a
 * route that ends does not wait for the threads. */
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/mem.h"
#include "worker/loop/loop.h"

struct fby_loop_frame {
    struct fby_encode_item  item;    /* first, see fby_stages_run */
    struct fby_loop_frame  *next;    /* in the outbox; loop only */
    atomic_uint             holders; /* 1 or 2 */
    atomic_bool             is_done; /* sealed, or failed */
    fby_err                 err;     /* valid if is_done */
    zmq_msg_t               message; /* sealed bytes, in memory of the worker */
    struct fby_seal         place;
    struct fby_chunk        head; /* this and below: of a chunk */
    struct fby_job         *job;  /* holds the chunk; NULL: a message */
    const uint8_t          *payload;
    struct fby_aead *const *aeads; /* [encode thread] */
};

static void drop(struct fby_loop_frame *frame)
{
    if (atomic_fetch_sub(&frame->holders, 1) != 1) {
        return;
    }
    zmq_msg_close(&frame->message);
    fby_job_release(&frame->job);
    sodium_memzero(&frame->place, sizeof(frame->place));
    free(frame);
}

/* ---- the encode threads -------------------------------------------------- */

static fby_err seal_chunk(struct fby_loop_frame *frame, struct fby_aead *aead)
{
    uint8_t prefix[FBY_CHUNK_PREFIX];
    fby_chunk_write_prefix(&frame->head, frame->payload, prefix);
    return fby_seal_frame(aead, &frame->place,
        (struct fby_span){prefix, sizeof(prefix)},
        (struct fby_span){frame->payload, frame->head.wire_bytes},
        zmq_msg_data(&frame->message));
}

static void run_seal(struct fby_encode_item *item, uint32_t thread)
{
    struct fby_loop_frame *frame = (struct fby_loop_frame *)item;
    if (atomic_load(&frame->holders) > 1) { /* the route has not ended */
        frame->err = seal_chunk(frame, frame->aeads[thread]);
    }
    atomic_store(&frame->is_done, true);
    drop(frame);
}

/* ---- the loop ------------------------------------------------------------ */

static struct fby_loop_frame *create_frame(void)
{
    struct fby_loop_frame *frame = fby_zalloc(sizeof(*frame));
    atomic_init(&frame->holders, 1);
    zmq_msg_init(&frame->message);
    return frame;
}

static void append(struct fby_loop_peer *peer, struct fby_loop_frame *frame)
{
    *peer->outbox_end = frame;
    peer->outbox_end  = &frame->next;
}

static struct fby_loop_frame *take_first(struct fby_loop_peer *peer)
{
    struct fby_loop_frame *frame = peer->outbox;
    peer->outbox                 = frame->next;
    if (peer->outbox == NULL) {
        peer->outbox_end = &peer->outbox;
    }
    return frame;
}

void fby_loop_outbox_send(struct fby_loop *self, struct fby_loop_peer *peer)
{
    while (peer->outbox != NULL && atomic_load(&peer->outbox->is_done)) {
        struct fby_loop_frame *frame = take_first(peer);
        if (frame->err != FBY_OK) {
            fby_loop_route_lost(self, peer); /* its frames have a gap */
        } else {
            fby_loop_send_frame(self, peer, &frame->message);
        }
        drop(frame);
    }
}

void fby_loop_outbox_clear(struct fby_loop_peer *peer)
{
    while (peer->outbox != NULL) {
        drop(take_first(peer));
    }
}

void fby_loop_outbox_add_message(
    struct fby_loop *self, struct fby_loop_peer *peer)
{
    const struct fby_span  text  = {self->frame.data, self->frame.size};
    struct fby_loop_frame *frame = create_frame();
    zmq_msg_close(&frame->message);
    frame->err =
        zmq_msg_init_size(&frame->message, text.size + FBY_SEAL_BYTES) == 0
            ? fby_loop_keys_seal(
                  self, peer, text, zmq_msg_data(&frame->message))
            : FBY_SYS;
    atomic_store(&frame->is_done, true);
    append(peer, frame);
    fby_loop_outbox_send(self, peer);
}

/* Set the frame's message to memory for a sealed frame of `size` bytes. */
static fby_err allocate(
    struct fby_loop *self, size_t size, struct fby_loop_frame *frame)
{
    struct fby_arena           *arena = NULL;
    const struct fby_arena_spec spec  = {.size = size, .slots = 1};
    FBY_TRY(fby_arena_create(self->arenas, &spec, &arena));
    fby_err err = fby_arena_commit(arena);
    if (err == FBY_OK) {
        err = fby_arena_lend(arena, 0 /* the only slot */,
            fby_arena_data(arena), size, &frame->message);
    }
    fby_arena_release(&arena); /* the message holds it */
    return err;
}

fby_err fby_loop_outbox_add_chunk(struct fby_loop *self,
    struct fby_loop_peer *peer, const struct fby_chunk *head,
    struct fby_job_chunk *chunk)
{
    size_t                 size  = FBY_CHUNK_PREFIX + chunk->wire_bytes;
    struct fby_loop_frame *frame = create_frame();
    fby_err                err   = allocate(self, size + FBY_SEAL_BYTES, frame);
    if (err != FBY_OK) {
        drop(frame);
        return err;
    }
    frame->item.run = run_seal;
    frame->head     = *head;
    frame->job      = fby_job_hold(chunk->job);
    frame->payload  = chunk->payload;
    frame->aeads    = fby_loop_keys_aeads(self);
    frame->err      = fby_loop_keys_take_place(peer, size, &frame->place);
    append(peer, frame);
    if (frame->err == FBY_OK) {
        atomic_fetch_add(&frame->holders, 1);
        fby_stages_run(self->stages, &frame->item);
    } else {
        atomic_store(&frame->is_done, true);
        fby_loop_outbox_send(self, peer);
    }
    return FBY_OK;
}

/* ---- room for sealed chunks ---------------------------------------------- */

static uint32_t count_sealing(const struct fby_loop *self)
{
    uint32_t n = 0;
    for (const struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                             = peer->next) {
        n += fby_loop_seals_chunks(peer) ? 1 : 0;
    }
    return n;
}

void fby_loop_outbox_share_room(struct fby_loop *self)
{
    const uint64_t most   = self->options.send_window_bytes;
    const uint32_t n      = count_sealing(self);
    const uint64_t share  = n > 0 ? self->copy_bytes / n : 0;
    const uint64_t window = share < most ? share : most;
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        fby_session_set_window(
            peer->session, fby_loop_seals_chunks(peer) ? window : most);
    }
}
