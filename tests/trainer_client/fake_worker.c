/* SPDX-License-Identifier: Apache-2.0 */
/* fake_worker.c - the worker of fake_worker.h, on a thread of its own. It
 * shares only atomics with the test. */
#include "tests/trainer_client/fake_worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "common/mem.h"
#include "pipeline/canon.h"
#include "pipeline/device_ops.h"
#include "pipeline/plan/order.h"
#include "proto/frame.h"
#include "tests/trainer_client/fake_sockets.h"

/* ---- Worker -------------------------------------------------------------- */

struct fake_worker {
    struct fake_behaviour  behaviour;
    void                  *zmq;
    void                  *socket;
    char                   endpoint[64];
    struct fby_instance_id instance;
    pthread_t              thread;
    atomic_bool            stop;
    atomic_uint            effects;
    atomic_uint            requests;
    uint32_t               chunks;
    struct fby_content    *content; /* of the last OPEN */
    struct fby_open_id     last_open;
    struct route           route; /* of the current message */
};

static bool is_due(struct fake_worker *w, uint32_t every, uint32_t count)
{
    if (every == 0 || count % every != 0) {
        return false;
    }
    atomic_fetch_add(&w->effects, 1);
    return true;
}

static void answer(struct fake_worker *w, const struct fby_message *message)
{
    send_message(w->socket, &w->route, message);
}

static void on_hello(struct fake_worker *w, const struct fby_hello *hello)
{
    const struct fby_message welcome = {.type = FBY_MSG_WELCOME,
        .welcome                              = {
                                         .session     = hello->session,
                                         .route       = hello->route,
                                         .instance    = w->instance,
                                         .version     = 1,
                                         .features    = hello->features,
                                         .send_window = 16 << 20,
        }};
    answer(w, &welcome);
}

static void on_ping(struct fake_worker *w, const struct fby_ping *ping)
{
    const struct fby_message pong = {.type = FBY_MSG_PONG,
        .pong                              = {
                                         .session  = ping->session,
                                         .instance = w->instance,
                                         .sequence = ping->sequence,
        }};
    answer(w, &pong);
}

static void send_scanning(struct fake_worker *w, const struct fby_open *open)
{
    for (uint32_t i = 1; i <= w->behaviour.scans; i++) {
        const struct fby_message scanning = {.type = FBY_MSG_SCANNING,
            .scanning                              = {
                                             .session      = open->session,
                                             .open_id      = open->open_id,
                                             .shards_done  = i,
                                             .shards_total = w->behaviour.scans,
            }};
        answer(w, &scanning);
    }
}

static void send_opened(
    struct fake_worker *w, const struct fby_open *open, struct fby_open_id id)
{
    const struct fby_shard_info shard = {
        .name    = w->behaviour.data_salt == 0 ? "train-0.tar" : "train-x.tar",
        .digest  = digest_with_salt("shard", w->behaviour.data_salt),
        .samples = w->behaviour.samples,
    };
    const struct fby_message opened = {
        .type = FBY_MSG_OPENED,
        .opened =
            {
                .session = open->session,
                .open_id = id,
                .content =
                    fby_digest_of(open->content.data, open->content.size),
                .data = digest_with_salt("data", w->behaviour.data_salt),
                .fingerprint =
                    digest_with_salt("print", w->behaviour.print_salt),
                .samples  = w->behaviour.samples,
                .shards   = &shard,
                .n_shards = 1,
                .classes  = {(const uint8_t *)w->behaviour.classes,
                     w->behaviour.classes_size},
            },
    };
    answer(w, &opened);
}

static void on_open(struct fake_worker *w, const struct fby_open *open)
{
    const struct fby_message failed = {.type = FBY_MSG_OPEN_FAILED,
        .open_failed                         = {
                                    .session = open->session,
                                    .open_id = open->open_id,
                                    .code    = FBY_OPEN_NOT_FOUND,
                                    .text    = "nothing lies at in1k:train",
        }};
    if (w->behaviour.mute) {
        atomic_fetch_add(&w->effects, 1);
        return;
    }
    if (w->behaviour.no_source) {
        atomic_fetch_add(&w->effects, 1);
        answer(w, &failed);
        return;
    }
    if (fby_content_decode(open->content.data, open->content.size, w->content,
            NULL) != FBY_OK) {
        abort(); /* the client's bytes must be canonical */
    }
    send_scanning(w, open);
    if (w->behaviour.late && w->last_open.value != 0) {
        atomic_fetch_add(&w->effects, 1);
        send_opened(w, open, w->last_open);
    }
    send_opened(w, open, open->open_id);
    w->last_open = open->open_id;
}

/* ---- Batches ------------------------------------------------------------- */

struct batch {
    const struct fby_request *request;
    struct fby_raw_layout     layout;
    uint32_t                  field[FBY_MAX_FIELDS]; /* index in the content */
    uint64_t                 *samples;
    uint8_t                  *raw[FBY_MAX_FIELDS];
    uint32_t                 *raw_bytes; /* by index */
    struct fby_chunk_sent    *sent;      /* by index */
};

static void choose_fields(struct batch *b, const struct fby_content *content)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < content->n_fields; i++) {
        if (b->request->fields == 0 || (b->request->fields >> i & 1) != 0) {
            b->field[n++] = i;
        }
    }
}

static void find_samples(struct fake_worker *w, struct batch *b)
{
    const struct fby_content   *c    = w->content;
    const struct fby_order_spec spec = {
        .samples       = w->behaviour.samples,
        .shard_samples = &w->behaviour.samples,
        .n_shards      = 1,
        .shuffle       = c->shuffle,
        .block         = c->block,
        .lanes         = c->lanes,
        .slices        = c->slices,
        .last          = c->last,
        .global_batch  = c->global_batch,
        .seed          = b->request->seed,
        .epoch         = b->request->epoch,
    };
    struct fby_order *order = NULL;
    if (fby_order_create(&spec, &order, NULL) != FBY_OK ||
        !fby_order_has_rows(
            order, b->request->step, b->request->first_row, b->request->rows)) {
        abort(); /* the client asked for rows that do not exist */
    }
    b->samples = fby_zalloc(b->request->rows * sizeof(*b->samples));
    fby_order_fill_samples(order, b->request->step, b->request->first_row,
        b->request->rows, b->samples);
    fby_order_destroy(&order);
}

static uint64_t shown_sample(
    const struct fake_worker *w, const struct batch *b, uint32_t row)
{
    return w->behaviour.bad_row == row + 1 ? 0 : b->samples[row];
}

static void fill_row(const struct fake_worker *w, const struct batch *b,
    uint32_t f, uint32_t row)
{
    const struct fby_field_content *field  = &w->content->fields[b->field[f]];
    uint64_t                        sample = shown_sample(w, b, row);
    uint64_t                        bytes  = b->layout.fields[f].row_bytes;
    uint8_t                        *at     = b->raw[f] + row * bytes;
    bool                            wrong  = w->behaviour.wrong_row == row + 1;
    for (uint64_t i = 0; i < bytes; i++) {
        if (field->decode == FBY_DECODE_RGB8) {
            at[i] = (uint8_t)(sample * 31 + i + w->behaviour.value_salt);
        } else if (field->decode == FBY_DECODE_LABEL) {
            at[i] = i > 0 ? 0 : (uint8_t)(sample % 10);
            at[i] = (uint8_t)(at[i] + (wrong ? 200 : 0));
        } else {
            at[i] = (uint8_t)(sample + i);
        }
    }
}

/* Write the lengths of a chunk's rows, and ascending indices if they are
 * sparse; return the address of their entries. */
static uint8_t *fill_lengths(const struct fake_worker *w, const struct batch *b,
    uint32_t f, struct fby_raw_span span)
{
    const struct fby_raw_field *field = &b->layout.fields[f];
    uint8_t                    *raw   = b->raw[f] + span.raw_offset;
    uint8_t *indices = raw + fby_ragged_lengths_end(field, span.rows);
    uint64_t every   = fby_dense_values(&field->shape) / field->max_length;
    uint64_t total   = 0;
    for (uint32_t i = 0; i < span.rows; i++) {
        uint64_t sample = shown_sample(w, b, span.first_row + i);
        uint32_t length = fake_worker_length(sample, field->max_length);
        fby_store_le(
            raw + (size_t)i * field->length_bytes, length, field->length_bytes);
        for (uint32_t k = 0; k < length && field->index_bytes > 0; k++) {
            fby_store_le(indices, every * k, field->index_bytes);
            indices += field->index_bytes;
        }
        total += length;
    }
    return raw + fby_sparse_values_offset(field, span.rows, total);
}

/* Write a row of a chunk: sample bytes, or documents that fill most of it. */
static uint8_t *fill_entries(const struct fake_worker *w, const struct batch *b,
    uint32_t f, uint32_t row, uint8_t *to)
{
    const struct fby_raw_field     *field  = &b->layout.fields[f];
    const struct fby_field_content *of     = &w->content->fields[b->field[f]];
    uint64_t                        sample = shown_sample(w, b, row);
    uint32_t length = fake_worker_length(sample, field->max_length);
    for (uint32_t k = 0; k < length && of->decode == FBY_DECODE_DOCUMENTS;
         k++) {
        fby_store_le(to, field->max_length / length, field->entry_bytes);
        to += field->entry_bytes;
    }
    for (uint32_t k = 0;
         k < length * field->entry_bytes && of->decode != FBY_DECODE_DOCUMENTS;
         k++) {
        *to++ = (uint8_t)(sample + k + w->behaviour.value_salt);
    }
    return to;
}

/* Write the ragged rows of one chunk: lengths, zeros up to a multiple of 16,
 * for sparse rows indices and zeros likewise, entries without gaps. Return the
 * size of the chunk in bytes. */
static uint32_t fill_rows(
    struct fake_worker *w, const struct batch *b, uint32_t f, uint32_t number)
{
    const struct fby_raw_field *field = &b->layout.fields[f];
    struct fby_raw_span span   = fby_layout_chunk_span(&b->layout, f, number);
    uint8_t            *raw    = b->raw[f] + span.raw_offset;
    uint8_t            *values = fill_lengths(w, b, f, span);
    for (uint32_t i = 0; i < span.rows; i++) {
        values = fill_entries(w, b, f, span.first_row + i, values);
    }
    if (is_due(w, w->behaviour.long_every, number + 1)) {
        memset(raw, 0xff, field->length_bytes);
    }
    if (is_due(w, w->behaviour.torn_every, number + 1)) {
        raw[0] ^= 1;
    }
    return (uint32_t)(values - raw);
}

static void fill_field(struct fake_worker *w, struct batch *b, uint32_t f)
{
    const struct fby_raw_field *field = &b->layout.fields[f];
    bool                        dense = field->form == FBY_FORM_DENSE;
    b->raw[f]                         = fby_zalloc(field->raw_bytes);
    for (uint32_t row = 0; row < b->request->rows && dense; row++) {
        fill_row(w, b, f, row);
    }
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        b->raw_bytes[field->first_chunk + i] =
            dense ? fby_layout_chunk_span(&b->layout, f, i).raw_bytes
                  : fill_rows(w, b, f, i);
    }
}

static void make_batch(struct fake_worker *w, struct batch *b)
{
    if (fby_layout_of_content(w->content, b->request->fields, b->request->rows,
            &b->layout, NULL) != FBY_OK) {
        abort();
    }
    choose_fields(b, w->content);
    find_samples(w, b);
    b->sent      = fby_zalloc(b->layout.n_chunks * sizeof(*b->sent));
    b->raw_bytes = fby_zalloc(b->layout.n_chunks * sizeof(*b->raw_bytes));
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        fill_field(w, b, f);
    }
}

static void free_batch(struct batch *b)
{
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        free(b->raw[f]);
    }
    free(b->samples);
    free(b->raw_bytes);
    free(b->sent);
}

static void put_recipe(
    struct fby_recipe *recipe, const struct fby_field_content *field)
{
    recipe->n_channels =
        fby_field_is_normalized(field) ? field->shape.dims[2] : 0;
    for (uint32_t c = 0; c < recipe->n_channels; c++) {
        recipe->mean[c] = field->as.rgb8.mean[c];
        recipe->std[c]  = field->as.rgb8.std[c];
    }
    if (field->decode == FBY_DECODE_LABEL) {
        recipe->one_hot   = field->as.label.one_hot;
        recipe->classes   = field->as.label.classes;
        recipe->smoothing = field->as.label.smoothing;
    }
    recipe->maps = fby_field_packed_bits(field);
}

static void put_device(struct fby_recipe *recipe,
    const struct fby_content *content, uint32_t i, struct fby_buffer *list)
{
    const struct fby_field_content *field = &content->fields[i];
    const struct fby_field_content *image =
        fby_mixing_field_of_label(content, i);
    recipe->mixed_by = image != NULL ? image->name : "";
    if (field->n_device > 0) {
        fby_device_list_encode(field, list);
        recipe->device = (struct fby_blob){list->data, list->size};
        recipe->behaviour =
            (struct fby_maybe_digest){true, fby_device_list_hash(field)};
    }
}

static void put_field(struct fby_header_field *field, struct fake_worker *w,
    const struct batch *b, uint32_t f, struct fby_buffer *list)
{
    const struct fby_field_content *c = &w->content->fields[b->field[f]];
    field->name                       = c->name;
    field->encoding                   = fby_encoding_of(c);
    field->type                       = c->wire_type;
    field->shape                      = c->shape;
    field->max_length                 = c->max_length;
    field->raw_bytes                  = b->layout.fields[f].raw_bytes;
    field->n_chunks                   = b->layout.fields[f].n_chunks;
    put_recipe(&field->recipe, c);
    put_device(&field->recipe, w->content, b->field[f], list);
}

static void send_header(struct fake_worker *w, const struct batch *b)
{
    struct fby_header_field fields[FBY_MAX_FIELDS] = {{0}};
    struct fby_buffer       lists[FBY_MAX_FIELDS]  = {{0}};
    uint32_t                requests               = atomic_load(&w->requests);
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        put_field(&fields[f], w, b, f, &lists[f]);
    }
    bool wrong   = is_due(w, w->behaviour.header_every, requests);
    bool damaged = is_due(w, w->behaviour.asked_every, requests);
    if (is_due(w, w->behaviour.draws_every, requests)) {
        fields[0].recipe.behaviour.digest.bytes[0] ^= 1;
    }
    const struct fby_message header = {
        .type = FBY_MSG_HEADER,
        .header =
            {
                .session   = b->request->session,
                .request   = b->request->request,
                .epoch     = b->request->epoch,
                .step      = b->request->step + (wrong ? 1 : 0),
                .first_row = b->request->first_row,
                .rows      = b->request->rows,
                .fields    = fields,
                .n_fields  = b->layout.n_fields,
                .request_checksum =
                    fby_request_checksum(b->request) ^ (damaged ? 1U : 0U),
            },
    };
    answer(w, &header);
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        fby_buffer_fini(&lists[f]);
    }
}

/* Encode the payload; false if it would exceed the codec's bound. */
static bool encode_payload(const struct fby_codec_job *job,
    struct fby_bytes_in raw, struct fby_bytes_out out, struct fby_chunk *chunk)
{
    size_t written = 0;
    if (!fby_coding_suits(job->coding, job->params)) {
        return false;
    }
    if (fby_codec_encode(job, raw, out, &written) != FBY_OK) {
        abort();
    }
    chunk->filter     = job->coding.filter;
    chunk->codec      = job->coding.codec;
    chunk->wire_bytes = (uint32_t)written;
    return written <= fby_codec_bound(chunk->codec, raw.size);
}

/* Return a chunk as a frame; the caller frees it. */
static uint8_t *encode_chunk(struct fake_worker *w, const struct batch *b,
    struct fby_chunk *chunk, size_t *size)
{
    const struct fby_raw_field *field   = &b->layout.fields[chunk->field];
    struct fby_codec_scratch   *scratch = fby_zalloc(sizeof(*scratch) + 64);
    struct fby_codec_job        job     = {
                   .coding  = {w->behaviour.filter, w->behaviour.codec},
                   .params  = fby_layout_codec_params(field),
                   .scratch = scratch,
    };
    const struct fby_bytes_in raw = {
        b->raw[chunk->field] + chunk->raw_offset, chunk->raw_bytes};
    size_t                     room = fby_codec_encode_capacity(&job, raw.size);
    uint8_t                   *frame = fby_zalloc(FBY_CHUNK_PREFIX + room);
    const struct fby_bytes_out out   = {frame + FBY_CHUNK_PREFIX, room};
    if (!encode_payload(&job, raw, out, chunk)) {
        job.coding = (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE};
        encode_payload(&job, raw, out, chunk);
    }
    chunk->raw_hash = fby_xxh3_64(raw.data, raw.size);
    out.data[0] ^=
        is_due(w, w->behaviour.spoil_every, w->chunks + 1) ? 0x10 : 0;
    chunk->wire_bytes -=
        is_due(w, w->behaviour.cut_every, w->chunks + 1) ? 1 : 0;
    fby_chunk_write_prefix(chunk, out.data, frame);
    free(scratch);
    *size = FBY_CHUNK_PREFIX + chunk->wire_bytes;
    return frame;
}

static void send_garbage(struct fake_worker *w, const uint8_t *frame)
{
    uint8_t junk[100];
    memset(junk, 0xa5, sizeof(junk));
    send_frame(w->socket, &w->route, junk, sizeof(junk));
    send_frame(w->socket, &w->route, junk, 0);
    memcpy(junk, frame, FBY_CHUNK_PREFIX); /* a cut chunk */
    send_frame(w->socket, &w->route, junk, 70);
    static const uint8_t head[5] = {'F', 'B', 'Y', 'M', 1};
    memcpy(junk, head, sizeof(head)); /* an invalid message */
    send_frame(w->socket, &w->route, junk, sizeof(junk));
}

/* Flip a bit that depends on `number`. */
static void flip_a_bit(uint8_t *bytes, uint32_t size, uint32_t number)
{
    uint64_t drawn = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    bytes[(drawn >> 32) % size] ^= (uint8_t)(1U << (drawn >> 29 & 7));
}

static void send_chunk(
    struct fake_worker *w, const struct batch *b, struct fby_chunk *chunk)
{
    size_t   size  = 0;
    uint8_t *frame = encode_chunk(w, b, chunk, &size);
    uint32_t i     = ++w->chunks;
    b->sent[fby_layout_chunk_index(&b->layout, chunk->field, chunk->number)] =
        (struct fby_chunk_sent){chunk->raw_hash, chunk->raw_bytes};
    if (is_due(w, w->behaviour.garbage_every, i)) {
        send_garbage(w, frame);
    }
    if (is_due(w, w->behaviour.corrupt_every, i)) {
        flip_a_bit(frame + FBY_CHUNK_PREFIX, chunk->wire_bytes, i);
    }
    if (!is_due(w, w->behaviour.skip_every, i)) {
        send_frame(w->socket, &w->route, frame, size);
    }
    if (is_due(w, w->behaviour.twice_every, i)) {
        send_frame(w->socket, &w->route, frame, size);
    }
    free(frame);
}

static void send_chunks(struct fake_worker *w, const struct batch *b)
{
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        uint32_t n = b->layout.fields[f].n_chunks;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t            number = w->behaviour.backwards ? n - 1 - i : i;
            struct fby_raw_span span =
                fby_layout_chunk_span(&b->layout, f, number);
            struct fby_chunk chunk = {
                .session    = b->request->session,
                .request    = b->request->request,
                .filter     = w->behaviour.filter,
                .codec      = w->behaviour.codec,
                .field      = (uint16_t)f,
                .number     = number,
                .raw_offset = span.raw_offset,
                .raw_bytes =
                    b->raw_bytes[fby_layout_chunk_index(&b->layout, f, number)],
            };
            send_chunk(w, b, &chunk);
        }
    }
}

static void send_end(struct fake_worker *w, const struct batch *b)
{
    struct fby_checksum sums[FBY_MAX_FIELDS] = {{{0}}};
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        sums[f] = fby_field_checksum(
            &b->layout, f, b->sent + b->layout.fields[f].first_chunk);
    }
    if (is_due(w, w->behaviour.sum_every, atomic_load(&w->requests))) {
        sums[0].bytes[3] ^= 1;
    }
    uint32_t                     bad = w->behaviour.bad_row;
    const struct fby_substituted one = {
        .row        = bad - 1,
        .original   = bad > 0 ? b->samples[bad - 1] : 0,
        .substitute = 0,
        .shard      = "train-0.tar",
        .key        = "0007",
        .text       = "the JPEG is cut short",
    };
    const struct fby_message end = {
        .type = FBY_MSG_END,
        .end =
            {
                .session       = b->request->session,
                .request       = b->request->request,
                .wire_bytes    = 1,
                .sums          = sums,
                .n_sums        = b->layout.n_fields,
                .substituted   = &one,
                .n_substituted = bad > 0 && bad <= b->request->rows ? 1 : 0,
                .times         = {.fetch = 1, .transform = 2, .encode = 3},
            },
    };
    answer(w, &end);
}

/* ---- Answers to REQUEST -------------------------------------------------- */

static bool refuse_always(
    struct fake_worker *w, const struct fby_request *request)
{
    const struct fby_message cannot = {
        .type = FBY_MSG_CANNOT,
        .cannot =
            {
                .session = request->session,
                .request = request->request,
                .code    = FBY_CANNOT_SAMPLE,
                .shard   = "train-0.tar",
                .key     = "0007",
                .sample  = 7,
                .offset  = 512,
                .text = "shard train-0.tar, sample 7 (key 0007), offset 512: "
                        "the JPEG is cut short",
            },
    };
    const struct fby_message stale = {
        .type = FBY_MSG_STALE_DATA,
        .stale_data =
            {
                .session = request->session,
                .request = request->request,
                .shard   = w->behaviour.unnamed ? "" : "train-0.tar",
                .text    = w->behaviour.unnamed
                               ? "it has another size"
                               : "shard train-0.tar: it has another size",
            },
    };
    if (w->behaviour.cannot || w->behaviour.stale) {
        atomic_fetch_add(&w->effects, 1);
        answer(w, w->behaviour.cannot ? &cannot : &stale);
    }
    return w->behaviour.cannot || w->behaviour.stale;
}

static bool refuse_now(struct fake_worker *w, const struct fby_request *request)
{
    uint32_t n = atomic_load(&w->requests);
    if (is_due(w, w->behaviour.busy_every, n)) {
        const struct fby_message busy = {.type = FBY_MSG_BUSY,
            .busy                              = {
                                             .session  = request->session,
                                             .request  = request->request,
                                             .retry_ms = 1,
            }};
        answer(w, &busy);
        return true;
    }
    if (is_due(w, w->behaviour.lost_every, n)) {
        const struct fby_message lost = {.type = FBY_MSG_LOST,
            .lost = {.session = request->session, .request = request->request}};
        answer(w, &lost);
        return true;
    }
    if (is_due(w, w->behaviour.forget_every, n)) {
        const struct fby_message first = {.type = FBY_MSG_HELLO_FIRST,
            .hello_first = {.session = request->session}};
        answer(w, &first);
        return true;
    }
    if (is_due(w, w->behaviour.content_every, n)) {
        const struct fby_message content = {.type = FBY_MSG_SEND_CONTENT,
            .send_content                         = {
                                        .session = request->session,
                                        .request = request->request,
                                        .content = request->content,
            }};
        answer(w, &content);
        return true;
    }
    return false;
}

static void on_request(struct fake_worker *w, const struct fby_request *request)
{
    struct batch batch = {.request = request};
    uint32_t     n     = atomic_fetch_add(&w->requests, 1) + 1;
    if (w->behaviour.vanish_after != 0 && n > w->behaviour.vanish_after) {
        atomic_fetch_add(&w->effects, 1);
        atomic_store(&w->stop, true);
        return;
    }
    if (refuse_always(w, request) || refuse_now(w, request)) {
        return;
    }
    make_batch(w, &batch);
    send_header(w, &batch);
    if (!w->behaviour.withheld) {
        send_chunks(w, &batch);
        send_end(w, &batch);
    }
    free_batch(&batch);
}

static void *worker_main(void *opaque)
{
    struct fake_worker *w = opaque;
    while (!atomic_load(&w->stop)) {
        struct fby_message m;
        if (!receive(w->socket, &w->route, &m)) {
            continue;
        }
        if (m.type == FBY_MSG_HELLO) {
            on_hello(w, &m.hello);
        } else if (m.type == FBY_MSG_PING) {
            on_ping(w, &m.ping);
        } else if (m.type == FBY_MSG_OPEN) {
            on_open(w, &m.open);
        } else if (m.type == FBY_MSG_REQUEST) {
            on_request(w, &m.request);
        }
        fby_message_fini(&m);
    }
    zmq_close(w->socket);
    return NULL;
}

struct fake_worker *fake_worker_start(const struct fake_behaviour *behaviour)
{
    struct fake_worker *w = fby_zalloc(sizeof(*w));
    w->behaviour          = *behaviour;
    w->zmq                = zmq_ctx_new();
    w->content            = fby_zalloc(sizeof(*w->content));
    w->instance           = fby_instance_random();
    snprintf(w->endpoint, sizeof(w->endpoint), "tcp://127.0.0.1:*");
    w->socket = bind_router(w->zmq, w->endpoint, sizeof(w->endpoint));
    if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
        abort();
    }
    return w;
}

void fake_worker_stop(struct fake_worker **self_p)
{
    struct fake_worker *w = *self_p;
    *self_p               = NULL;
    if (w == NULL) {
        return;
    }
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
    zmq_ctx_term(w->zmq);
    free(w->content);
    free(w);
}

const char *fake_worker_endpoint(const struct fake_worker *self)
{
    return self->endpoint;
}

uint64_t fake_worker_instance(const struct fake_worker *self)
{
    return self->instance.value;
}

uint32_t fake_worker_effects(struct fake_worker *self)
{
    return atomic_load(&self->effects);
}

uint32_t fake_worker_length(uint64_t sample, uint32_t most)
{
    return (uint32_t)(sample * 7919 % (most + 1));
}

uint32_t fake_worker_requests(struct fake_worker *self)
{
    return atomic_load(&self->requests);
}
