/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.c - the frames of a route, until they can be sent.
 *
 * Encode threads write the frames of chunks that cannot be sent as they are:
 * sealed ones, each for its route, and those with the prefix of a later request
 * of the batch. A thread copies the chunk, unless it is in the clear and not in
 * flight: then it writes the prefix in place. The frames of a route are sent in
 * the order in which they were added, so a frame waits in the outbox of its peer
 * until those before it are written. A client accepts sealed frames only in the
 * order of their places, which the loop takes. A frame that a thread writes has
 * two holders, the outbox and the thread, and the last one frees it: a route
 * that ends does not wait for the threads. */
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/loop/loop.h"

struct fby_loop_frame {
    struct fby_encode_item  item;    /* first, see fby_stages_run */
    struct fby_loop_frame  *next;    /* in the outbox; loop only */
    atomic_uint             holders; /* 1 or 2 */
    atomic_bool             is_done; /* written, or failed */
    fby_err                 err;     /* valid if is_done */
    zmq_msg_t               message; /* the frame's bytes */
    struct fby_chunk        head;    /* this and below: for the thread */
    struct fby_job         *job;     /* holds the chunk; NULL: no thread */
    const uint8_t          *payload;
    struct fby_aead *const *aeads; /* [encode thread]; NULL: in the clear */
    struct fby_seal         place;
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

static void write_clear(struct fby_loop_frame *frame)
{
    uint8_t *prefix  = zmq_msg_data(&frame->message);
    uint8_t *payload = prefix + FBY_CHUNK_PREFIX;
    if (payload != frame->payload) { /* not in place */
        memcpy(payload, frame->payload, frame->head.wire_bytes);
    }
    fby_chunk_write_prefix(&frame->head, payload, prefix);
}

static void run_frame(struct fby_encode_item *item, uint32_t thread)
{
    struct fby_loop_frame *frame     = (struct fby_loop_frame *)item;
    bool                   has_route = atomic_load(&frame->holders) > 1;
    if (has_route && frame->aeads != NULL) {
        frame->err = seal_chunk(frame, frame->aeads[thread]);
    } else if (has_route) {
        write_clear(frame);
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

void fby_loop_outbox_add_frame(
    struct fby_loop *self, struct fby_loop_peer *peer, zmq_msg_t *message)
{
    if (peer->outbox == NULL) {
        fby_loop_send_frame(self, peer, message);
        return;
    }
    struct fby_loop_frame *frame = create_frame();
    zmq_msg_move(&frame->message, message);
    atomic_store(&frame->is_done, true);
    append(peer, frame);
}

/* Write self->frame into `message`, sealed if the peer has keys. */
static fby_err write_message(
    struct fby_loop *self, struct fby_loop_peer *peer, zmq_msg_t *message)
{
    const struct fby_span text = {self->frame.data, self->frame.size};
    const size_t          more = peer->seal != NULL ? FBY_SEAL_BYTES : 0;
    if (zmq_msg_init_size(message, text.size + more) != 0) {
        return FBY_SYS;
    }
    if (peer->seal == NULL) {
        memcpy(zmq_msg_data(message), text.data, text.size);
        return FBY_OK;
    }
    fby_err err = fby_loop_keys_seal(self, peer, text, zmq_msg_data(message));
    if (err != FBY_OK) {
        zmq_msg_close(message);
    }
    return err;
}

void fby_loop_outbox_add_message(
    struct fby_loop *self, struct fby_loop_peer *peer)
{
    zmq_msg_t message;
    if (write_message(self, peer, &message) == FBY_OK) {
        fby_loop_outbox_add_frame(self, peer, &message);
    } else {
        fby_loop_route_lost(self, peer);
    }
}

/* Set the frame's message to new memory of `size` bytes. */
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

/* Set the frame's message to memory for `size` bytes in the clear: to that of
 * the chunk, in which the thread then writes the prefix, or to new memory while
 * the chunk is in flight, since its bytes must not change. */
static fby_err allocate_clear(struct fby_loop *self,
    struct fby_job_chunk *chunk, size_t size, struct fby_loop_frame *frame)
{
    struct fby_arena *arena = chunk->job->arena;
    if (!fby_arena_is_lent(arena, chunk->index)) {
        chunk->request = (struct fby_request_id){0}; /* its prefix changes */
        return fby_arena_lend(arena, chunk->index,
            chunk->payload - FBY_CHUNK_PREFIX, size, &frame->message);
    }
    FBY_TRY(allocate(self, size, frame));
    self->counts.copied_chunks++;
    return FBY_OK;
}

fby_err fby_loop_outbox_add_chunk(struct fby_loop *self,
    struct fby_loop_peer *peer, const struct fby_chunk *head,
    struct fby_job_chunk *chunk)
{
    const bool             seals = fby_loop_seals_chunks(peer);
    const size_t           size  = FBY_CHUNK_PREFIX + chunk->wire_bytes;
    struct fby_loop_frame *frame = create_frame();
    fby_err err = seals ? allocate(self, size + FBY_SEAL_BYTES, frame)
                        : allocate_clear(self, chunk, size, frame);
    if (err != FBY_OK) {
        drop(frame);
        return err;
    }
    if (seals &&
        fby_loop_keys_take_place(peer, size, &frame->place) != FBY_OK) {
        drop(frame);
        fby_loop_route_lost(self, peer);
        return FBY_OK;
    }
    frame->item.run = run_frame;
    frame->head     = *head;
    frame->job      = fby_job_hold(chunk->job);
    frame->payload  = chunk->payload;
    frame->aeads    = seals ? fby_loop_keys_aeads(self) : NULL;
    append(peer, frame);
    atomic_fetch_add(&frame->holders, 1);
    fby_stages_run(self->stages, &frame->item);
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
