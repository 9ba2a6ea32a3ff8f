/* SPDX-License-Identifier: Apache-2.0 */
/* chunk.c - stores chunks in their slots, or passes them to decode threads. */
#include "trainer_client/receive/receiver_state.h"

#include "common/clock.h"
#include "common/log.h"

/* A chunk is small if it has at most so many decoded bytes: twice the 8 KiB
 * that ZeroMQ reads at a time. */
enum { MAX_SMALL_BYTES = 16 * 1024 };

/* Checking a payload of at most so many bytes takes no more CPU time than passing
 * it to a decode thread and back, about 50 us (client_cpu, chunks of 730 KB). One
 * of up to FBY_CHUNK_RAW is passed on only if other messages would have to wait.
 */
enum { MAX_CHECKED_BYTES = 1024 * 1024 };

/* Count an invalid chunk as a protocol error. Report it to the window without a
 * request id, because CREDIT counts all received bytes. */
static void reject_chunk(struct fby_receiver *r, int peer, size_t size,
    const struct fby_error_detail *why)
{
    const struct fby_window_chunk report = {.peer = peer, .wire_bytes = size};
    r->protocol_errors++;
    fby_debug("BAD-CHUNK", "%s: %s", r->peers[peer].label, why->text);
    (void)fby_window_chunk(r->window, r->now_ns, &report);
}

/* Make the job that writes `chunk` to its slot. Call once per chunk, because
 * this may reserve memory in the arena, which is copied to a GPU. */
static struct fby_chunk_job prepare_job(const struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, bool is_checked)
{
    struct fby_request_slot     *request_slot = &r->answers[slot].slot;
    const struct fby_raw_layout *layout = &r->answers[slot].assembly.layout;
    const struct fby_raw_field  *field  = &layout->fields[chunk->field];
    struct fby_chunk_job         job    = {.chunk = *chunk};
    job.params                          = fby_layout_codec_params(field);
    job.is_checked                      = is_checked;
    if (fby_setup_uploads_as_received(r->setup, chunk->field)) {
        uint32_t index =
            fby_layout_chunk_index(layout, chunk->field, chunk->number);
        const struct fby_arena_chunk *reserved = fby_request_slot_reserve_chunk(
            request_slot, r->setup, index, chunk);
        job.to     = request_slot->arena + reserved->offset;
        job.packed = reserved->packed;
    } else {
        job.to = request_slot->memory + field->slot_offset + chunk->raw_offset;
    }
    return job;
}

/* Let a decode thread check the chunk, and decode it unless it is kept. */
static void queue_job(struct fby_receiver *r, int slot,
    const struct fby_chunk_job *job, bool keeps, zmq_msg_t *frame)
{
    struct fby_decode_task *task = fby_decode_pool_new_task(r->decode_pool);
    task->kind                   = FBY_TASK_DECODE_CHUNK;
    task->slot                   = slot;
    task->job                    = *job;
    task->keeps                  = keeps;
    zmq_msg_init(&task->frame);
    zmq_msg_move(&task->frame, frame);
    fby_decode_pool_submit(r->decode_pool, task);
}

/* Keep the frame of a checked chunk, which is decoded when its batch is made. */
static void keep_frame(struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    struct fby_r_answer *answer = &r->answers[slot];
    uint32_t             index  = fby_layout_chunk_index(
                     &answer->assembly.layout, chunk->field, chunk->number);
    fby_request_slot_keep(&answer->slot, index, chunk, frame);
}

/* Decode a small chunk into its slot, or keep its frame. */
static void store_on_this_thread(struct fby_receiver *r, int slot,
    const struct fby_chunk_job *job, bool keeps, zmq_msg_t *frame)
{
    int64_t start_ns = fby_now_ns();
    bool    verify   = r->setup->verify_decoded;
    bool    good =
        keeps ? fby_chunk_job_check(job, frame, r->codec_scratch, verify)
                 : fby_chunk_job_decode(job, frame, r->codec_scratch, verify);
    if (good && keeps) {
        keep_frame(r, slot, &job->chunk, frame);
    }
    r->bad_chunks += !good;
    r->chunk_ns += fby_now_ns() - start_ns;
    fby_r_run_actions(r); /* those of the event before fby_window_decoded */
    fby_window_decoded(r->window, r->now_ns, slot, job->chunk.request, good);
}

/* True if one more message waits in the socket of `peer`, or in one that is read
 * after it in this turn. */
static bool is_message_waiting(const struct fby_receiver *r, int peer)
{
    int    events = 0;
    size_t size   = sizeof(events);
    if (r->n_unread > 0) {
        return true;
    }
    return zmq_getsockopt(r->peers[peer].socket, ZMQ_EVENTS, &events, &size) ==
               0 &&
           (events & ZMQ_POLLIN) != 0;
}

/* True if this thread should check a chunk that is kept. With `verify` that
 * decodes it. */
static bool should_check_here(
    const struct fby_receiver *r, int peer, const struct fby_chunk_job *job)
{
    uint32_t bytes = job->chunk.wire_bytes;
    return !r->setup->verify_decoded &&
           (job->is_checked || bytes <= MAX_CHECKED_BYTES ||
               (bytes <= FBY_CHUNK_RAW && !is_message_waiting(r, peer)));
}

/* Store a chunk on this thread if that costs less than passing it to another
 * thread. The frame of a small chunk is never kept, because a frame may keep a
 * whole receive buffer of ZeroMQ allocated. */
static void store_chunk(struct fby_receiver *r, int peer,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    int  slot     = fby_window_find_slot(r->window, chunk->request);
    bool is_small = chunk->raw_bytes <= MAX_SMALL_BYTES;
    bool keeps    = !is_small && fby_request_slot_must_keep(r->setup, chunk);
    const struct fby_chunk_job job =
        prepare_job(r, slot, chunk, fby_r_keys_seal_chunks(r, peer));
    fby_assembly_add_chunk(&r->answers[slot].assembly, chunk);
    if (is_small || (keeps && should_check_here(r, peer, &job))) {
        store_on_this_thread(r, slot, &job, keeps, frame);
    } else {
        queue_job(r, slot, &job, keeps, frame);
    }
}

/* Check a chunk of an audit (a second answer, which is only compared). If its
 * payload is damaged, skip the audit, so as not to report a difference. */
static void check_audit_chunk(
    struct fby_receiver *r, const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    if (fby_chunk_is_intact(zmq_msg_data(frame), zmq_msg_size(frame))) {
        fby_assembly_add_chunk(
            &fby_r_find_answer(r, chunk->request)->assembly, chunk);
    } else {
        r->bad_chunks++;
        fby_window_audit_damaged(r->window, r->now_ns, chunk->request);
    }
}

void fby_r_on_chunk(struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    struct fby_chunk        chunk = {0};
    struct fby_error_detail why   = {""};
    size_t                  size  = zmq_msg_size(frame);
    r->wire_bytes += size;
    fby_err err =
        fby_chunk_read_prefix(zmq_msg_data(frame), size, &chunk, &why);
    if (err != FBY_OK || !fby_session_equal(chunk.session, r->session)) {
        reject_chunk(r, peer, size, &why);
        return;
    }
    struct fby_window_chunk report = {
        .peer = peer, .id = chunk.request, .wire_bytes = size};
    const struct fby_r_answer *answer = fby_r_find_answer(r, chunk.request);
    if (answer != NULL) {
        const struct fby_raw_layout *layout = &answer->assembly.layout;
        /* a request for zero rows is not sent (act.c), so it has no answer */
        if (answer->assembly.expected.rows == 0 ||
            fby_chunk_check_layout(&chunk, layout, &why) != FBY_OK) {
            reject_chunk(r, peer, size, &why);
            fby_window_breach(r->window, r->now_ns, peer);
            return;
        }
        report.chunk =
            fby_layout_chunk_index(layout, chunk.field, chunk.number);
    }
    enum fby_verdict verdict = fby_window_chunk(r->window, r->now_ns, &report);
    if (verdict == FBY_TAKE) {
        store_chunk(r, peer, &chunk, frame);
    } else if (verdict == FBY_AUDIT) {
        check_audit_chunk(r, &chunk, frame);
    }
}

static void release_copied_slots(struct fby_receiver *r)
{
    struct fby_error_detail why = {""};
    for (uint32_t i = 0; i < r->n_slots && r->n_copying > 0; i++) {
        if (!r->answers[i].slot.copying) {
            continue;
        }
        fby_err err = fby_gpu_upload_poll_copied(r->upload, i, &why);
        if (err == FBY_AGAIN) {
            continue;
        }
        if (err != FBY_OK) {
            fby_r_fail_stream(r, FOREBAY_SYSTEM, &why);
        }
        r->answers[i].slot.copying = false;
        r->n_copying--;
        fby_window_release(r->window, r->now_ns, (int)i);
        fby_r_run_actions(r);
    }
}

/* A chunk was checked. Its request may have been dropped meanwhile. */
static void take_chunk(struct fby_receiver *r, struct fby_decode_task *task)
{
    const struct fby_chunk *chunk = &task->job.chunk;
    if (task->ok && task->keeps &&
        fby_window_find_slot(r->window, chunk->request) == task->slot) {
        keep_frame(r, task->slot, chunk, &task->frame);
    }
    fby_window_decoded(
        r->window, r->now_ns, task->slot, chunk->request, task->ok);
}

void fby_r_take_results(struct fby_receiver *r)
{
    struct fby_decode_task *task =
        fby_decode_pool_take_finished(r->decode_pool);
    for (; task != NULL; task = fby_decode_pool_take_finished(r->decode_pool)) {
        if (task->kind == FBY_TASK_DECODE_CHUNK) {
            take_chunk(r, task);
        } else if (r->upload == NULL) {
            fby_window_release(r->window, r->now_ns, task->slot);
        } else { /* released when its copy to the GPU has finished */
            r->answers[task->slot].slot.copying = true;
            r->n_copying++;
        }
        fby_decode_pool_recycle(r->decode_pool, task);
        fby_r_run_actions(r);
    }
    release_copied_slots(r);
}
