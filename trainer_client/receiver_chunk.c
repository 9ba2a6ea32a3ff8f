/* receiver_chunk.c - chunks to the decode threads, and their answers. */
#include "trainer_client/receiver_state.h"

#include "common/log.h"

/* Counted and credited, but nothing of ours. */
static void refuse(
    struct fby_receiver *r, int peer, size_t size, const struct fby_why *why)
{
    const struct fby_window_chunk nobodys = {.peer = peer, .wire_bytes = size};
    r->protocol_errors++;
    fby_debug("BAD-CHUNK", "%s: %s", r->peers[peer].who, why->text);
    (void)fby_window_chunk(r->window, r->now_ns, &nobodys);
}

static void unpack(struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    struct fby_assembly        *assembly = &r->assemblies[slot];
    const struct fby_raw_field *field = &assembly->layout.fields[chunk->field];
    struct fby_unpack_task     *task  = fby_unpack_task(r->unpack);
    fby_assembly_chunk(assembly, chunk);
    task->kind   = FBY_UNPACK_CHUNK;
    task->slot   = slot;
    task->id     = chunk->request;
    task->chunk  = *chunk;
    task->params = fby_codec_params_of(field->type, &field->shape);
    task->raw    = r->slots[slot] + field->slot_offset + chunk->raw_offset;
    zmq_msg_init(&task->frame);
    zmq_msg_move(&task->frame, frame);
    fby_unpack_put(r->unpack, task);
}

/* Of an audit: nobody needs the payload, so it is not decoded; damage is told
 * from another value all the same. */
static void check_audit(
    struct fby_receiver *r, const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    if (fby_chunk_intact(zmq_msg_data(frame), zmq_msg_size(frame))) {
        fby_assembly_chunk(fby_r_assembly(r, chunk->request), chunk);
    } else {
        r->bad_chunks++;
        fby_window_audit_damaged(r->window, r->now_ns, chunk->request);
    }
}

void fby_r_chunk(struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    struct fby_chunk chunk = {0};
    struct fby_why   why   = {""};
    size_t           size  = zmq_msg_size(frame);
    r->wire_bytes += size;
    fby_err err = fby_chunk_read(zmq_msg_data(frame), size, &chunk, &why);
    if (err != FBY_OK || !fby_session_equal(chunk.session, r->session)) {
        refuse(r, peer, size, &why);
        return;
    }
    struct fby_window_chunk told = {
        .peer = peer, .id = chunk.request, .wire_bytes = size};
    const struct fby_assembly *assembly = fby_r_assembly(r, chunk.request);
    if (assembly != NULL) {
        const struct fby_raw_layout *layout = &assembly->layout;
        if (assembly->wanted.rows == 0 ||
            fby_chunk_check(&chunk, layout, &why) != FBY_OK) {
            refuse(r, peer, size, &why);
            fby_window_proto(r->window, r->now_ns, peer);
            return;
        }
        told.chunk = fby_layout_index(layout, chunk.field, chunk.number);
    }
    enum fby_verdict verdict = fby_window_chunk(r->window, r->now_ns, &told);
    if (verdict == FBY_TAKE) {
        unpack(r, fby_window_slot(r->window, chunk.request), &chunk, frame);
    } else if (verdict == FBY_AUDIT) {
        check_audit(r, &chunk, frame);
    }
}

void fby_r_finished(struct fby_receiver *r)
{
    struct fby_unpack_task *task = fby_unpack_take(r->unpack);
    for (; task != NULL; task = fby_unpack_take(r->unpack)) {
        if (task->kind == FBY_UNPACK_CHUNK) {
            fby_window_decoded(
                r->window, r->now_ns, task->slot, task->id, task->ok);
        } else {
            fby_window_release(r->window, r->now_ns, task->slot);
        }
        fby_unpack_done(r->unpack, task);
        fby_r_act(r);
    }
}
