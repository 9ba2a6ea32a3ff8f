/* SPDX-License-Identifier: Apache-2.0 */
/* Send clients the items that their sessions choose: HEADER, chunks and END.
 *
 * The frame of a chunk is a prefix and the payload. The prefix names session
 * and request, and is in room that the arena (the memory of the batch) has
 * before each payload. For the first request of the batch it was written by the
 * thread that encoded the chunk, and the chunk is sent in place. For another
 * request, and on a route that seals chunks, an encode thread writes the frame
 * (outbox.c). If there is no memory for it, that send is deferred. */
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "common/mem.h"
#include "pipeline/derived.h"
#include "pipeline/device_ops.h"
#include "worker/loop/loop.h"

/* ---- HEADER and END ------------------------------------------------------ */

/* Make the recipe of a field: how the client expands raw values to tensors. The
 * recipe borrows `device_ops`, an empty buffer, for its encoded ops. */
static struct fby_recipe make_recipe(const struct fby_field_content *field,
    const struct fby_raw_field *raw, struct fby_buffer *device_ops)
{
    struct fby_recipe recipe = {.maps = fby_field_packed_bits(field)};
    if (fby_field_values(field) == FBY_VALUES_CLASSES) {
        recipe.one_hot   = field->as.label.one_hot;
        recipe.classes   = field->as.label.classes;
        recipe.smoothing = field->as.label.smoothing;
    }
    if (fby_field_is_normalized(field) && raw->shape.n_dims > 0) {
        recipe.n_channels = raw->shape.dims[raw->shape.n_dims - 1];
        memcpy(recipe.mean, field->as.rgb8.mean, sizeof(recipe.mean));
        memcpy(recipe.std, field->as.rgb8.std, sizeof(recipe.std));
    }
    if (field->n_device > 0) {
        fby_device_list_encode(field, device_ops);
        recipe.device = (struct fby_blob){device_ops->data, device_ops->size};
        recipe.behaviour =
            (struct fby_maybe_digest){true, fby_device_list_hash(field)};
    }
    return recipe;
}

/* The name of the image field that field `i` is mixed with, or "". */
static const char *mixer_name(const struct fby_content *content, uint32_t i)
{
    const struct fby_field_content *image =
        fby_mixing_field_of_label(content, i);
    return image != NULL ? image->name : "";
}

static void send_header(
    struct fby_loop *self, const struct fby_loop_request *request)
{
    struct fby_header_field   fields[FBY_MAX_FIELDS];
    struct fby_buffer         device_ops[FBY_MAX_FIELDS] = {{0}};
    const struct fby_job     *job                        = request->work->job;
    const struct fby_content *content = &job->spec.dataset_plan->content;
    for (uint32_t i = 0; i < job->layout.n_fields; i++) {
        const struct fby_field_content *field =
            &content->fields[job->content_field[i]];
        const struct fby_raw_field *raw = &job->layout.fields[i];

        fields[i] = (struct fby_header_field){
            .name       = field->name,
            .encoding   = fby_encoding_of(field),
            .type       = raw->type,
            .shape      = raw->shape,
            .raw_bytes  = raw->raw_bytes,
            .n_chunks   = raw->n_chunks,
            .max_length = raw->max_length,
            .recipe     = make_recipe(field, raw, &device_ops[i]),
        };
        fields[i].recipe.mixed_by = mixer_name(content, job->content_field[i]);
    }
    fby_loop_send_to_peer(self, request->peer,
        FBY_MESSAGE(HEADER, header, .session = request->peer->id,
            .request = request->id, .epoch = job->spec.epoch,
            .step = job->spec.step, .first_row = job->spec.first_row,
            .rows = job->spec.rows, .fields = fields,
            .n_fields         = job->layout.n_fields,
            .request_checksum = request->request_checksum));
    for (uint32_t i = 0; i < job->layout.n_fields; i++) {
        fby_buffer_fini(&device_ops[i]);
    }
}

static void checksum_fields(
    const struct fby_job *job, struct fby_checksum sums[FBY_MAX_FIELDS])
{
    uint32_t               n_chunks = job->layout.n_chunks;
    struct fby_chunk_sent *sent     = fby_zalloc(n_chunks * sizeof(*sent));
    for (uint32_t i = 0; i < n_chunks; i++) {
        const struct fby_job_chunk *chunk = &job->chunks[i];
        sent[i] = (struct fby_chunk_sent){chunk->raw_hash, chunk->raw_bytes};
    }
    for (uint32_t field = 0; field < job->layout.n_fields; field++) {
        sums[field] = fby_field_checksum(
            &job->layout, field, sent + job->layout.fields[field].first_chunk);
    }
    free(sent);
}

/* List the rows whose sample was replaced, because it could not be decoded. The
 * caller frees the list: one allocation for its entries and their keys. */
static struct fby_substituted *list_substituted(const struct fby_job *job)
{
    const struct fby_dataset *dataset = job->spec.dataset_plan->dataset;
    size_t                    n       = job->n_substituted;
    struct fby_substituted   *list =
        fby_zalloc(n * (sizeof(*list) + sizeof(struct fby_row_key)));
    struct fby_row_key *keys = (struct fby_row_key *)(list + n);
    for (size_t i = 0; i < n; i++) {
        const struct fby_job_substituted *row = &job->substituted[i];

        list[i] = (struct fby_substituted){
            .row        = row->row,
            .original   = row->original,
            .substitute = row->substitute,
            .shard      = fby_dataset_shard_name(
                     dataset, fby_dataset_shard_of(dataset, row->original)),
            .key  = fby_dataset_key(dataset, row->original, &keys[i]),
            .text = row->text,
        };
    }
    return list;
}

static struct fby_stage_times stage_times(
    const struct fby_job *job, int64_t now_ns)
{
    struct fby_stage_times times = {
        .fetch     = atomic_load(&job->fetch_ns),
        .transform = atomic_load(&job->transform_ns),
        .encode    = atomic_load(&job->encode_ns),
        .cpu       = atomic_load(&job->cpu_ns),
    };
    uint64_t busy_ns    = times.fetch + times.transform + times.encode;
    uint64_t elapsed_ns = (uint64_t)(now_ns - job->begun_ns);
    /* Threads work in parallel, so busy_ns may exceed the elapsed time. */
    times.wait = elapsed_ns > busy_ns ? elapsed_ns - busy_ns : 0;
    return times;
}

/* With buckets END lists the samples, which the client cannot compute. */
static bool is_bucketed(const struct fby_job *job)
{
    return job->spec.dataset_plan->content.bucket_by.n_bounds > 0;
}

static void send_end(struct fby_loop *self, struct fby_loop_request *request)
{
    struct fby_checksum     sums[FBY_MAX_FIELDS];
    const struct fby_job   *job         = request->work->job;
    struct fby_substituted *substituted = list_substituted(job);
    uint64_t                wire_bytes  = 0;
    for (uint32_t i = 0; i < job->layout.n_chunks; i++) {
        wire_bytes += FBY_CHUNK_PREFIX + job->chunks[i].wire_bytes;
    }
    checksum_fields(job, sums);
    fby_loop_send_to_peer(self, request->peer,
        FBY_MESSAGE(END, end, .session = request->peer->id,
            .request = request->id, .wire_bytes = wire_bytes, .sums = sums,
            .n_sums = job->layout.n_fields, .substituted = substituted,
            .n_substituted = job->n_substituted, .samples = job->samples,
            .n_samples = is_bucketed(job) ? job->spec.rows : 0,
            .times     = stage_times(job, self->now_ns)));
    free(substituted);
    self->counts.batches++;
}

/* ---- Chunks -------------------------------------------------------------- */

/* True if the chunk's prefix was not written for `request`. */
static bool needs_new_prefix(
    const struct fby_job_chunk *chunk, const struct fby_loop_request *request)
{
    return !fby_session_equal(chunk->session, request->peer->id) ||
           !fby_request_equal(chunk->request, request->id);
}

void fby_loop_send_frame(
    struct fby_loop *self, struct fby_loop_peer *peer, zmq_msg_t *message)
{
    const struct fby_routing_id *to = &peer->routing_id;
    if (zmq_send(self->router, to->bytes, to->size,
            ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
        zmq_msg_send(message, self->router, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(message);
        fby_loop_route_lost(self, peer);
    }
}

/* Send a chunk whose prefix was written for its request. */
static fby_err send_in_place(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_job_chunk *chunk)
{
    zmq_msg_t message;
    uint8_t  *frame = chunk->payload - FBY_CHUNK_PREFIX;
    if (fby_fault_takes_effect("worker.corrupt_chunk", "chunk")) {
        frame[FBY_CHUNK_PREFIX - 1] ^= 1U; /* a bit of the frame's hash */
        /* The next use of the chunk needs a new prefix. */
        chunk->request = (struct fby_request_id){0};
    }
    FBY_TRY(fby_arena_lend(chunk->job->arena, chunk->index, frame,
        FBY_CHUNK_PREFIX + chunk->wire_bytes, &message));
    fby_loop_outbox_add_frame(self, peer, &message);
    return FBY_OK;
}

static fby_err let_thread_write(struct fby_loop *self,
    const struct fby_loop_request *request, struct fby_job_chunk *chunk)
{
    const struct fby_chunk head =
        fby_job_chunk_head(chunk, request->peer->id, request->id);
    return fby_loop_outbox_add_chunk(self, request->peer, &head, chunk);
}

/* Send a chunk. A chunk whose route is lost counts as sent.
 * Errors: FBY_FULL, FBY_AGAIN  there is no memory for a copy now
 *         FBY_SYS              there is no memory for a message. */
static fby_err send_chunk(struct fby_loop *self,
    const struct fby_loop_request *request, struct fby_job_chunk *chunk)
{
    fby_err err =
        fby_loop_seals_chunks(request->peer) || needs_new_prefix(chunk, request)
            ? let_thread_write(self, request, chunk)
            : send_in_place(self, request->peer, chunk);
    if (err != FBY_OK) {
        return err;
    }
    self->counts.chunks++;
    self->counts.raw_bytes += chunk->raw_bytes;
    self->counts.wire_bytes += FBY_CHUNK_PREFIX + chunk->wire_bytes;
    return FBY_OK;
}

static fby_err send_chunk_item(
    struct fby_loop *self, struct fby_loop_request *request, uint32_t index)
{
    struct fby_job_chunk *chunk = &request->work->job->chunks[index];
    struct fby_loop_peer *peer  = request->peer;
    fby_err               err   = send_chunk(self, request, chunk);
    if (err != FBY_OK) {
        return err;
    }
    if (peer->routing_id.size > 0 &&
        fby_fault_takes_effect("worker.duplicate_chunk", "chunk") &&
        send_chunk(self, request, chunk) == FBY_OK) {
        peer->duplicate_bytes += FBY_CHUNK_PREFIX + chunk->wire_bytes;
    }
    fby_fault_kill_or_stop("worker.exit", "worker.stop", "chunk");
    return FBY_OK;
}

/* ---- Items of sessions --------------------------------------------------- */

/* Fault injection for tests: everything but HEADER stays unsent, and the
 * request stays open until the client drops it. */
static bool is_mute(const struct fby_session_item *item)
{
    return item->kind != FBY_SEND_HEADER &&
           fby_fault_takes_effect("worker.mute", "item");
}

/* Errors: those of send_chunk; the caller tries again once memory is free. */
static fby_err send_item(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_session_item *item)
{
    struct fby_loop_request *request = fby_loop_find_request(peer, item->id);
    if (is_mute(item)) {
        return FBY_OK;
    }
    if (item->kind == FBY_SEND_LOST) {
        fby_loop_send_lost(self, peer, item->id);
    }
    if (request == NULL) {
        return FBY_OK; /* the request has ended: only LOST is sent */
    }
    switch (item->kind) {
    case FBY_SEND_HEADER:
        send_header(self, request);
        return FBY_OK;
    case FBY_SEND_CHUNK:
        return send_chunk_item(self, request, item->chunk);
    case FBY_SEND_END:
        send_end(self, request);
        break;
    case FBY_SEND_LOST:
    default:
        break;
    }
    fby_loop_request_end(self, request);
    return FBY_OK;
}

/* Send the deferred item, or else the next item of the session. Returns false
 * when no item can be sent now. */
static bool send_next(struct fby_loop *self, struct fby_loop_peer *peer)
{
    if (!peer->is_deferred &&
        !fby_session_next(peer->session, self->now_ns, &peer->deferred)) {
        return false;
    }
    peer->is_deferred = send_item(self, peer, &peer->deferred) != FBY_OK;
    return !peer->is_deferred;
}

/* Send the frames that threads wrote meanwhile. Then send one item of each peer
 * in turn until none is left, so that a long batch does not delay the short
 * batches of other peers. */
void fby_loop_send_ready(struct fby_loop *self)
{
    bool any_sent = true;
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        fby_loop_outbox_send(self, peer);
    }
    while (any_sent) {
        any_sent = false;
        for (struct fby_loop_peer *peer = self->peers; peer != NULL;
             peer                       = peer->next) {
            any_sent |= !peer->has_left && send_next(self, peer);
        }
    }
}
