/* chunk.c - passes chunks to the decode threads, and takes their results. */
#include "trainer_client/receive/state.h"

#include "common/clock.h"
#include "common/log.h"

/* Raw bytes of a small chunk: twice what ZeroMQ reads at once. */
enum { SMALL_BYTES = 16 << 10 };

/* Count a chunk that belongs to no request of ours, and report its bytes for
 * CREDIT. */
static void reject(
    struct fby_receiver *r, int peer, size_t size, const struct fby_why *why)
{
    const struct fby_window_chunk unknown = {.peer = peer, .wire_bytes = size};
    r->protocol_errors++;
    fby_debug("BAD-CHUNK", "%s: %s", r->peers[peer].label, why->text);
    (void)fby_window_chunk(r->window, r->now_ns, &unknown);
}

struct chunk_target { /* where a chunk is stored in its slot */
    uint8_t *data;
    bool     packed; /* stored as received, not decoded */
};

/* Reserve the target of `chunk` in its slot. */
static struct chunk_target target_of(
    const struct fby_receiver *r, int slot, const struct fby_chunk *chunk)
{
    const struct fby_raw_layout *layout = &r->assemblies[slot].layout;
    struct fby_request_slot     *to     = &r->slots[slot];
    if (fby_setup_is_compact(r->setup, chunk->field)) {
        uint32_t index = fby_layout_index(layout, chunk->field, chunk->number);
        const struct fby_arena_chunk *reserved =
            fby_request_slot_reserve(to, r->setup, index, chunk);
        return (struct chunk_target){
            to->arena + reserved->offset, reserved->packed};
    }
    return (struct chunk_target){
        .data = to->memory + layout->fields[chunk->field].slot_offset +
                chunk->raw_offset};
}

static struct fby_codec_job codec_job_of(
    const struct fby_receiver *r, int slot, const struct fby_chunk *chunk)
{
    const struct fby_raw_field *field =
        &r->assemblies[slot].layout.fields[chunk->field];
    return (struct fby_codec_job){
        .coding  = {.filter = chunk->filter, .codec = chunk->codec},
        .params  = fby_layout_params(field),
        .scratch = r->codec_scratch,
    };
}

static void unpack(struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    struct fby_unpack_task *task = fby_unpack_task(r->unpack);
    struct chunk_target     to   = target_of(r, slot, chunk);
    task->kind                   = FBY_UNPACK_CHUNK;
    task->slot                   = slot;
    task->id                     = chunk->request;
    task->chunk                  = *chunk;
    task->params                 = codec_job_of(r, slot, chunk).params;
    task->raw                    = to.data;
    task->packed                 = to.packed;
    zmq_msg_init(&task->frame);
    zmq_msg_move(&task->frame, frame);
    fby_unpack_put(r->unpack, task);
}

static struct fby_bytes_in payload_of(
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    const uint8_t *bytes = zmq_msg_data(frame);
    return (struct fby_bytes_in){
        .data = bytes + FBY_CHUNK_PREFIX, .size = chunk->wire_bytes};
}

/* Decode a chunk into its slot. False: it is bad. */
static bool decode_into_slot(const struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    const struct fby_codec_job job = codec_job_of(r, slot, chunk);
    const struct chunk_target  to  = target_of(r, slot, chunk);
    return fby_request_slot_fill(
               &job, payload_of(chunk, frame), chunk, to.packed, to.data) &&
           (!r->setup->verify_decoded ||
               fby_xxh64(to.data, chunk->raw_bytes) == chunk->raw_hash);
}

/* Whether a chunk to be kept packed is good. */
static bool check_kept(const struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    const struct fby_codec_job job = codec_job_of(r, slot, chunk);
    return fby_codec_check(&job, payload_of(chunk, frame), chunk->raw_bytes) &&
           (!r->setup->verify_decoded ||
               decode_into_slot(r, slot, chunk, frame));
}

/* Keep a checked chunk as received, without decoding it. False: it is bad. */
static bool keep_packed(struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    if (!fby_chunk_intact(zmq_msg_data(frame), zmq_msg_size(frame)) ||
        !check_kept(r, slot, chunk, frame)) {
        return false;
    }
    uint32_t index = fby_layout_index(
        &r->assemblies[slot].layout, chunk->field, chunk->number);
    fby_request_slot_keep(&r->slots[slot], index, chunk, frame);
    return true;
}

static bool decode_small(struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    return fby_chunk_intact(zmq_msg_data(frame), zmq_msg_size(frame)) &&
           decode_into_slot(r, slot, chunk, frame);
}

/* Handle a chunk on this thread if that costs less than passing it to another.
 * Small frames are copied, because each may keep a whole buffer of ZeroMQ
 * allocated. False: a decode thread must handle the chunk. */
static bool handle_here(struct fby_receiver *r, int slot,
    const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    bool    small    = chunk->raw_bytes <= SMALL_BYTES;
    int64_t start_ns = fby_now_ns();
    if (!small && !fby_request_slot_keeps(r->setup, chunk)) {
        return false;
    }
    bool good = small ? decode_small(r, slot, chunk, frame)
                      : keep_packed(r, slot, chunk, frame);
    r->bad_chunks += good ? 0 : 1;
    r->check_ns += fby_now_ns() - start_ns;
    fby_r_run_actions(r);
    fby_window_decoded(r->window, r->now_ns, slot, chunk->request, good);
    return true;
}

static void store(
    struct fby_receiver *r, const struct fby_chunk *chunk, zmq_msg_t *frame)
{
    int slot = fby_window_slot(r->window, chunk->request);
    fby_assembly_chunk(&r->assemblies[slot], chunk);
    if (!handle_here(r, slot, chunk, frame)) {
        unpack(r, slot, chunk, frame);
    }
}

/* A chunk of an audit is not decoded, because its payload is not needed. Its
 * hash still tells a damaged chunk from a different value. */
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
        reject(r, peer, size, &why);
        return;
    }
    struct fby_window_chunk report = {
        .peer = peer, .id = chunk.request, .wire_bytes = size};
    const struct fby_assembly *assembly = fby_r_assembly(r, chunk.request);
    if (assembly != NULL) {
        const struct fby_raw_layout *layout = &assembly->layout;
        if (assembly->expected.rows == 0 ||
            fby_chunk_check(&chunk, layout, &why) != FBY_OK) {
            reject(r, peer, size, &why);
            fby_window_proto(r->window, r->now_ns, peer);
            return;
        }
        report.chunk = fby_layout_index(layout, chunk.field, chunk.number);
    }
    enum fby_verdict verdict = fby_window_chunk(r->window, r->now_ns, &report);
    if (verdict == FBY_TAKE) {
        store(r, &chunk, frame);
    } else if (verdict == FBY_AUDIT) {
        check_audit(r, &chunk, frame);
    }
}

/* Release a slot; for a GPU only when its copy has finished. */
static void release(struct fby_receiver *r, int slot)
{
    if (r->upload == NULL) {
        fby_window_release(r->window, r->now_ns, slot);
        return;
    }
    r->slots[slot].copying = true;
    r->n_copying++;
}

static void release_copied(struct fby_receiver *r)
{
    struct fby_why why = {""};
    for (uint32_t i = 0; i < r->n_slots && r->n_copying > 0; i++) {
        fby_err err = FBY_AGAIN;
        if (r->slots[i].copying) {
            err = fby_gpu_upload_copied(r->upload, i, &why);
        }
        if (err != FBY_OK && err != FBY_AGAIN) {
            fby_r_fail(r, FOREBAY_SYSTEM, &why);
        }
        if (err != FBY_AGAIN) {
            r->slots[i].copying = false;
            r->n_copying--;
            fby_window_release(r->window, r->now_ns, (int)i);
            fby_r_run_actions(r);
        }
    }
}

void fby_r_take_results(struct fby_receiver *r)
{
    struct fby_unpack_task *task = fby_unpack_take(r->unpack);
    for (; task != NULL; task = fby_unpack_take(r->unpack)) {
        if (task->kind == FBY_UNPACK_CHUNK) {
            fby_window_decoded(
                r->window, r->now_ns, task->slot, task->id, task->ok);
        } else {
            release(r, task->slot);
        }
        fby_unpack_done(r->unpack, task);
        fby_r_run_actions(r);
    }
    release_copied(r);
}
