/* fake_worker.c - see fake_worker.h. One thread each; a test talks to it only
 * through atomics and one lock. */
#include "tests/trainer_client/fake_worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/codec/codec.h"
#include "common/mem.h"
#include "common/pipeline/canon.h"
#include "common/pipeline/device_ops.h"
#include "common/plan/order.h"
#include "proto/frame.h"
#include "proto/wire.h"

enum { MAX_SESSIONS = 16, MAX_WORKERS = 16, POLL_MS = 10, ID_SIZE = 32 };

struct route {
    uint8_t id[ID_SIZE];
    size_t  size;
};

/* ---- sockets ------------------------------------------------------------- */

static void *bind_router(void *zmq, char *endpoint, size_t size)
{
    void     *socket = zmq_socket(zmq, ZMQ_ROUTER);
    const int zero   = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &zero, sizeof(zero));
    zmq_setsockopt(socket, ZMQ_SNDHWM, &zero, sizeof(zero));
    if (zmq_bind(socket, endpoint) != 0) {
        abort(); /* loopback without a free port */
    }
    zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size);
    return socket;
}

static void send_frame(
    void *socket, const struct route *to, const void *data, size_t size)
{
    if (zmq_send(socket, to->id, to->size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0) {
        zmq_send(socket, data, size, ZMQ_DONTWAIT);
    }
}

static void send_message(
    void *socket, const struct route *to, const struct fby_message *message)
{
    struct fby_buffer buffer = {0};
    struct fby_why    why    = {""};
    if (fby_message_encode(message, &buffer, &why) != FBY_OK) {
        fprintf(stderr, "fake: %s\n", why.text);
        abort();
    }
    send_frame(socket, to, buffer.data, buffer.size);
    fby_buffer_fini(&buffer);
}

/* True when a message came within POLL_MS; *out needs fini. */
static bool receive(void *socket, struct route *from, struct fby_message *out)
{
    zmq_pollitem_t item = {.socket = socket, .events = ZMQ_POLLIN};
    zmq_msg_t      frame;
    if (zmq_poll(&item, 1, POLL_MS) <= 0) {
        return false;
    }
    int n = zmq_recv(socket, from->id, sizeof(from->id), 0);
    if (n <= 0 || n > (int)sizeof(from->id)) {
        return false;
    }
    from->size = (size_t)n;
    zmq_msg_init(&frame);
    bool good = zmq_msg_recv(&frame, socket, 0) >= 0 &&
                fby_message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame),
                    out, NULL) == FBY_OK;
    zmq_msg_close(&frame);
    return good;
}

static struct fby_digest salted(const char *what, uint8_t salt)
{
    char text[32];
    int  n = snprintf(text, sizeof(text), "%s %u", what, salt);
    return fby_digest_of(text, (size_t)n);
}

/* ---- worker -------------------------------------------------------------- */

struct fake_worker {
    struct fake_behaviour  does;
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
    struct fby_open_id     before;  /* likewise */
    struct route           route;   /* of the message in hand */
};

static bool due(struct fake_worker *w, uint32_t every, uint32_t count)
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

static void say_scanning(struct fake_worker *w, const struct fby_open *open)
{
    for (uint32_t i = 1; i <= w->does.scans; i++) {
        const struct fby_message scanning = {.type = FBY_MSG_SCANNING,
            .scanning                              = {
                                             .session      = open->session,
                                             .open         = open->open,
                                             .shards_done  = i,
                                             .shards_total = w->does.scans,
            }};
        answer(w, &scanning);
    }
}

static void say_opened(
    struct fake_worker *w, const struct fby_open *open, struct fby_open_id id)
{
    const struct fby_shard_info shard = {
        .name    = w->does.data_salt == 0 ? "train-0.tar" : "train-x.tar",
        .digest  = salted("shard", w->does.data_salt),
        .samples = w->does.samples,
    };
    const struct fby_message opened = {
        .type = FBY_MSG_OPENED,
        .opened =
            {
                .session = open->session,
                .open    = id,
                .content =
                    fby_digest_of(open->content.data, open->content.size),
                .data        = salted("data", w->does.data_salt),
                .fingerprint = salted("print", w->does.print_salt),
                .samples     = w->does.samples,
                .shards      = &shard,
                .n_shards    = 1,
            },
    };
    answer(w, &opened);
}

static void on_open(struct fake_worker *w, const struct fby_open *open)
{
    const struct fby_message failed = {.type = FBY_MSG_OPEN_FAILED,
        .open_failed                         = {
                                    .session = open->session,
                                    .open    = open->open,
                                    .code    = FBY_OPEN_NOTHING,
                                    .text    = "nothing lies at in1k:train",
        }};
    if (w->does.mute) {
        atomic_fetch_add(&w->effects, 1);
        return;
    }
    if (w->does.no_source) {
        atomic_fetch_add(&w->effects, 1);
        answer(w, &failed);
        return;
    }
    if (fby_content_decode(open->content.data, open->content.size, w->content,
            NULL) != FBY_OK) {
        abort(); /* the client's bytes must be canonical */
    }
    say_scanning(w, open);
    if (w->does.late && w->before.value != 0) {
        atomic_fetch_add(&w->effects, 1);
        say_opened(w, open, w->before);
    }
    say_opened(w, open, open->open);
    w->before = open->open;
}

/* ---- batches ------------------------------------------------------------- */

struct batch {
    const struct fby_request *request;
    struct fby_raw_layout     layout;
    uint32_t                  field[FBY_MAX_FIELDS]; /* in the content */
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
        .samples       = w->does.samples,
        .shard_samples = &w->does.samples,
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
        !fby_order_has(
            order, b->request->step, b->request->first_row, b->request->rows)) {
        abort(); /* the client asked for rows that are not there */
    }
    b->samples = fby_zalloc(b->request->rows * sizeof(*b->samples));
    fby_order_fill(order, b->request->step, b->request->first_row,
        b->request->rows, b->samples);
    fby_order_destroy(&order);
}

static uint64_t shown_sample(
    const struct fake_worker *w, const struct batch *b, uint32_t row)
{
    return w->does.bad_row == row + 1 ? 0 : b->samples[row];
}

static void fill_row(const struct fake_worker *w, const struct batch *b,
    uint32_t f, uint32_t row)
{
    const struct fby_field_content *field  = &w->content->fields[b->field[f]];
    uint64_t                        sample = shown_sample(w, b, row);
    uint64_t                        bytes  = b->layout.fields[f].row_bytes;
    uint8_t                        *at     = b->raw[f] + row * bytes;
    bool wrong = w->does.wrong_label || w->does.wrong_row == row + 1;
    for (uint64_t i = 0; i < bytes; i++) {
        if (field->decode == FBY_DECODE_RGB8) {
            at[i] = (uint8_t)(sample * 31 + i + w->does.value_salt);
        } else if (field->decode == FBY_DECODE_LABEL) {
            at[i] = i > 0 ? 0 : (uint8_t)(sample % 10);
            at[i] = (uint8_t)(at[i] + (wrong ? 200 : 0));
        } else {
            at[i] = (uint8_t)(sample + i);
        }
    }
}

/* The lengths of a chunk's rows, and ascending indices of sparse ones; returns
 * where their entries begin. */
static uint8_t *fill_lengths(const struct fake_worker *w, const struct batch *b,
    uint32_t f, struct fby_raw_span span)
{
    const struct fby_raw_field *field = &b->layout.fields[f];
    uint8_t                    *raw   = b->raw[f] + span.raw_offset;
    uint8_t *indices = raw + fby_varying_values(field, span.rows);
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
    return raw + fby_sparse_values(field, span.rows, total);
}

/* A row of a chunk: any bytes, or documents that fill most of it. */
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
        *to++ = (uint8_t)(sample + k + w->does.value_salt);
    }
    return to;
}

/* The rows of one chunk that vary in length: their lengths, zeros up to a
 * multiple of 16, of sparse ones indices and zeros likewise, their entries
 * without gaps. Returns its bytes. */
static uint32_t fill_rows(
    struct fake_worker *w, const struct batch *b, uint32_t f, uint32_t number)
{
    const struct fby_raw_field *field = &b->layout.fields[f];
    struct fby_raw_span         span  = fby_layout_chunk(&b->layout, f, number);
    uint8_t                    *raw   = b->raw[f] + span.raw_offset;
    uint8_t                    *values = fill_lengths(w, b, f, span);
    for (uint32_t i = 0; i < span.rows; i++) {
        values = fill_entries(w, b, f, span.first_row + i, values);
    }
    if (due(w, w->does.long_every, number + 1)) {
        memset(raw, 0xff, field->length_bytes);
    }
    if (due(w, w->does.torn_every, number + 1)) {
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
            dense ? fby_layout_chunk(&b->layout, f, i).raw_bytes
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
    recipe->n_channels = field->normalize ? field->shape.dims[2] : 0;
    for (uint32_t c = 0; c < recipe->n_channels; c++) {
        recipe->mean[c] = field->mean[c];
        recipe->std[c]  = field->std[c];
    }
    recipe->one_hot   = field->one_hot;
    recipe->classes   = field->classes;
    recipe->smoothing = field->smoothing;
    recipe->maps      = field->maps;
}

static void put_device(struct fby_recipe *recipe,
    const struct fby_content *content, uint32_t i, struct fby_buffer *list)
{
    const struct fby_field_content *field = &content->fields[i];
    const struct fby_field_content *image = fby_mixed_by(content, i);
    recipe->mixed_by                      = image != NULL ? image->name : "";
    if (field->n_device > 0) {
        fby_device_list_encode(field, list);
        recipe->device = (struct fby_blob){list->data, list->size};
        recipe->behaviour =
            (struct fby_maybe_digest){true, fby_device_list_behaviour(field)};
    }
}

static void send_header(struct fake_worker *w, const struct batch *b)
{
    struct fby_header_field fields[FBY_MAX_FIELDS] = {{0}};
    struct fby_buffer       lists[FBY_MAX_FIELDS]  = {{0}};
    uint32_t                requests               = atomic_load(&w->requests);
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        const struct fby_field_content *c = &w->content->fields[b->field[f]];
        fields[f].name                    = c->name;
        fields[f].encoding                = fby_encoding_of(c);
        fields[f].type                    = c->wire_type;
        fields[f].shape                   = c->shape;
        fields[f].max_length              = c->max_length;
        fields[f].raw_bytes               = b->layout.fields[f].raw_bytes;
        fields[f].n_chunks                = b->layout.fields[f].n_chunks;
        put_recipe(&fields[f].recipe, c);
        put_device(&fields[f].recipe, w->content, b->field[f], &lists[f]);
    }
    bool wrong   = due(w, w->does.header_every, requests);
    bool damaged = due(w, w->does.asked_every, requests);
    if (due(w, w->does.draws_every, requests)) {
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
                .asked     = fby_request_sum(b->request) ^ (damaged ? 1U : 0U),
            },
    };
    answer(w, &header);
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        fby_buffer_fini(&lists[f]);
    }
}

/* The payload at `out`; false when it would be longer than what may travel. */
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

/* A chunk as a frame in fresh memory. */
static uint8_t *encode_chunk(struct fake_worker *w, const struct batch *b,
    struct fby_chunk *chunk, size_t *size)
{
    const struct fby_raw_field *field   = &b->layout.fields[chunk->field];
    struct fby_codec_scratch   *scratch = fby_zalloc(sizeof(*scratch) + 64);
    struct fby_codec_job        job     = {
                   .coding  = {w->does.filter, w->does.codec},
                   .params  = fby_layout_params(field),
                   .scratch = scratch,
    };
    const struct fby_bytes_in raw = {
        b->raw[chunk->field] + chunk->raw_offset, chunk->raw_bytes};
    size_t                     room  = fby_codec_room(&job, raw.size);
    uint8_t                   *frame = fby_zalloc(FBY_CHUNK_PREFIX + room);
    const struct fby_bytes_out out   = {frame + FBY_CHUNK_PREFIX, room};
    if (!encode_payload(&job, raw, out, chunk)) {
        job.coding = (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE};
        encode_payload(&job, raw, out, chunk);
    }
    chunk->raw_hash = fby_xxh64(raw.data, raw.size);
    out.data[0] ^= due(w, w->does.spoil_every, w->chunks + 1) ? 0x10 : 0;
    chunk->wire_bytes -= due(w, w->does.cut_every, w->chunks + 1) ? 1 : 0;
    fby_chunk_write(chunk, out.data, frame);
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
    memcpy(junk, head, sizeof(head)); /* a message that is none */
    send_frame(w->socket, &w->route, junk, sizeof(junk));
}

/* Another one for each `number`. */
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
    b->sent[fby_layout_index(&b->layout, chunk->field, chunk->number)] =
        (struct fby_chunk_sent){chunk->raw_hash, chunk->raw_bytes};
    if (due(w, w->does.garbage_every, i)) {
        send_garbage(w, frame);
    }
    if (due(w, w->does.corrupt_every, i)) {
        flip_a_bit(frame + FBY_CHUNK_PREFIX, chunk->wire_bytes, i);
    }
    if (!due(w, w->does.skip_every, i)) {
        send_frame(w->socket, &w->route, frame, size);
    }
    if (due(w, w->does.twice_every, i)) {
        send_frame(w->socket, &w->route, frame, size);
    }
    free(frame);
}

static void send_chunks(struct fake_worker *w, const struct batch *b)
{
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        uint32_t n = b->layout.fields[f].n_chunks;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t            number = w->does.backwards ? n - 1 - i : i;
            struct fby_raw_span span  = fby_layout_chunk(&b->layout, f, number);
            struct fby_chunk    chunk = {
                   .session    = b->request->session,
                   .request    = b->request->request,
                   .filter     = w->does.filter,
                   .codec      = w->does.codec,
                   .field      = (uint16_t)f,
                   .number     = number,
                   .raw_offset = span.raw_offset,
                   .raw_bytes =
                       b->raw_bytes[fby_layout_index(&b->layout, f, number)],
            };
            send_chunk(w, b, &chunk);
        }
    }
}

static void send_end(struct fake_worker *w, const struct batch *b)
{
    struct fby_sum sums[FBY_MAX_FIELDS] = {{{0}}};
    for (uint32_t f = 0; f < b->layout.n_fields; f++) {
        sums[f] = fby_field_sum(
            &b->layout, f, b->sent + b->layout.fields[f].first_chunk);
    }
    if (due(w, w->does.sum_every, atomic_load(&w->requests))) {
        sums[0].bytes[3] ^= 1;
    }
    uint32_t                     bad = w->does.bad_row;
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

/* ---- what a worker answers to REQUEST ------------------------------------ */

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
                .shard   = w->does.unnamed ? "" : "train-0.tar",
                .text    = w->does.unnamed
                               ? "it has another size"
                               : "shard train-0.tar: it has another size",
            },
    };
    if (w->does.cannot || w->does.stale) {
        atomic_fetch_add(&w->effects, 1);
        answer(w, w->does.cannot ? &cannot : &stale);
    }
    return w->does.cannot || w->does.stale;
}

static bool refuse_now(struct fake_worker *w, const struct fby_request *request)
{
    uint32_t n = atomic_load(&w->requests);
    if (due(w, w->does.busy_every, n)) {
        const struct fby_message busy = {.type = FBY_MSG_BUSY,
            .busy                              = {
                                             .session  = request->session,
                                             .request  = request->request,
                                             .retry_ms = 1,
            }};
        answer(w, &busy);
        return true;
    }
    if (due(w, w->does.lost_every, n)) {
        const struct fby_message lost = {.type = FBY_MSG_LOST,
            .lost = {.session = request->session, .request = request->request}};
        answer(w, &lost);
        return true;
    }
    if (due(w, w->does.forget_every, n)) {
        const struct fby_message first = {.type = FBY_MSG_HELLO_FIRST,
            .hello_first = {.session = request->session}};
        answer(w, &first);
        return true;
    }
    if (due(w, w->does.content_every, n)) {
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
    if (w->does.vanish_after != 0 && n > w->does.vanish_after) {
        atomic_fetch_add(&w->effects, 1);
        atomic_store(&w->stop, true);
        return;
    }
    if (refuse_always(w, request) || refuse_now(w, request)) {
        return;
    }
    make_batch(w, &batch);
    send_header(w, &batch);
    send_chunks(w, &batch);
    send_end(w, &batch);
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
    w->does               = *behaviour;
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

/* ---- server -------------------------------------------------------------- */

struct fake_server {
    void           *zmq;
    void           *socket;
    char            endpoint[64];
    pthread_t       thread;
    atomic_bool     stop;
    atomic_uint     joins;
    atomic_uint     quits;
    pthread_mutex_t lock; /* guards all below */
    uint64_t        instance;
    uint64_t        session; /* the one that joined; 0: none */
    uint64_t        sequence;
    char            endpoints[MAX_WORKERS][64];
    uint64_t        instances[MAX_WORKERS];
    uint32_t        n;
    int             code; /* of the refusal */
    char            refusal[256];
    bool            pinned;
    uint8_t         data_salt;
};

static void say_workers(struct fake_server *s, const struct route *to)
{
    struct fby_worker_info infos[MAX_WORKERS];
    const char            *names[MAX_WORKERS];
    for (uint32_t i = 0; i < s->n; i++) {
        names[i] = s->endpoints[i];
        infos[i] = (struct fby_worker_info){
            .instance  = {s->instances[i]},
            .endpoints = {&names[i], 1},
            .host      = "here",
        };
    }
    const struct fby_message workers = {.type = FBY_MSG_WORKERS,
        .workers                              = {
                                         .session  = {s->session},
                                         .server   = {s->instance},
                                         .sequence = s->sequence,
                                         .full     = true,
                                         .added    = infos,
                                         .n_added  = s->n,
        }};
    send_message(s->socket, to, &workers);
}

static void say_joined(struct fake_server *s, const struct route *to)
{
    struct fby_message joined = {.type = FBY_MSG_JOINED,
        .joined                        = {
                                   .session      = {s->session},
                                   .server       = {s->instance},
                                   .lease_ms     = 200,
                                   .heartbeat_ms = 20,
        }};
    if (s->pinned) {
        joined.joined.data = (struct fby_maybe_digest){
            .known = true, .digest = salted("data", s->data_salt)};
    }
    send_message(s->socket, to, &joined);
    say_workers(s, to);
}

static void on_join(struct fake_server *s, const struct route *from,
    const struct fby_join *join)
{
    atomic_fetch_add(&s->joins, 1);
    s->session = join->session.value;
    if (s->refusal[0] == '\0') {
        say_joined(s, from);
        return;
    }
    const struct fby_message refused = {
        .type = FBY_MSG_JOIN_REFUSED,
        .join_refused =
            {
                .session = join->session,
                .code    = (enum fby_join_refused_code)s->code,
                .text    = s->refusal,
            },
    };
    send_message(s->socket, from, &refused);
}

static void on_renew(struct fake_server *s, const struct route *from,
    const struct fby_renew *renew)
{
    const struct fby_message first = {
        .type = FBY_MSG_JOIN_FIRST, .join_first = {.session = renew->session}};
    if (renew->session.value != s->session) {
        send_message(s->socket, from, &first);
    } else if (renew->sequence != s->sequence) {
        say_workers(s, from);
    }
}

static void *server_main(void *opaque)
{
    struct fake_server *s = opaque;
    while (!atomic_load(&s->stop)) {
        struct fby_message m;
        struct route       from;
        if (!receive(s->socket, &from, &m)) {
            continue;
        }
        pthread_mutex_lock(&s->lock);
        if (m.type == FBY_MSG_JOIN) {
            on_join(s, &from, &m.join);
        } else if (m.type == FBY_MSG_RENEW) {
            on_renew(s, &from, &m.renew);
        } else if (m.type == FBY_MSG_QUIT) {
            atomic_fetch_add(&s->quits, 1);
        }
        pthread_mutex_unlock(&s->lock);
        fby_message_fini(&m);
    }
    zmq_close(s->socket);
    return NULL;
}

static void start_server(struct fake_server *s)
{
    s->zmq      = zmq_ctx_new();
    s->instance = fby_id_random();
    s->session  = 0;
    s->socket   = bind_router(s->zmq, s->endpoint, sizeof(s->endpoint));
    atomic_store(&s->stop, false);
    if (pthread_create(&s->thread, NULL, server_main, s) != 0) {
        abort();
    }
}

static void end_server(struct fake_server *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    zmq_ctx_term(s->zmq);
}

struct fake_server *fake_server_start(void)
{
    struct fake_server *s = fby_zalloc(sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    s->sequence = 1;
    snprintf(s->endpoint, sizeof(s->endpoint), "tcp://127.0.0.1:*");
    start_server(s);
    return s;
}

void fake_server_restart(struct fake_server *self)
{
    end_server(self);
    start_server(self);
}

void fake_server_stop(struct fake_server **self_p)
{
    struct fake_server *s = *self_p;
    *self_p               = NULL;
    end_server(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const char *fake_server_endpoint(const struct fake_server *self)
{
    return self->endpoint;
}

void fake_server_add(struct fake_server *self, const struct fake_worker *worker)
{
    pthread_mutex_lock(&self->lock);
    snprintf(self->endpoints[self->n], sizeof(self->endpoints[0]), "%s",
        worker->endpoint);
    self->instances[self->n] = worker->instance.value;
    self->n++;
    self->sequence++;
    pthread_mutex_unlock(&self->lock);
}

void fake_server_refuse(struct fake_server *self, int code, const char *text)
{
    pthread_mutex_lock(&self->lock);
    self->code = code;
    snprintf(self->refusal, sizeof(self->refusal), "%s", text);
    pthread_mutex_unlock(&self->lock);
}

void fake_server_pin(struct fake_server *self, uint8_t data_salt)
{
    pthread_mutex_lock(&self->lock);
    self->pinned    = true;
    self->data_salt = data_salt;
    pthread_mutex_unlock(&self->lock);
}

uint32_t fake_server_joins(struct fake_server *self)
{
    return atomic_load(&self->joins);
}

uint32_t fake_server_quits(struct fake_server *self)
{
    return atomic_load(&self->quits);
}
