/* SPDX-License-Identifier: Apache-2.0 */
/* dialogue_answers.h - answers of the dialogue's workers to requests. */
#ifndef FBY_TESTS_DIALOGUE_ANSWERS_H
#define FBY_TESTS_DIALOGUE_ANSWERS_H

#include "tests/trainer_client/dialogue.h"

/* A worker's answer to a request; a test may change any part of it. */
struct answer {
    struct peer            *worker;
    struct fby_header_field fields[FIELDS];
    struct fby_message      header;
    struct fby_chunk        chunks[FIELDS];
    uint8_t                 values[FIELDS][ROWS];
    struct fby_checksum     sums[FIELDS];
    struct fby_substituted  bad;
    struct fby_message      end;
};

static inline uint8_t value_of(uint64_t step, uint32_t field, uint32_t row)
{
    return (uint8_t)(step * 16 + UINT64_C(8) * field + row);
}

static inline void fill_header(const struct dialogue *d, struct answer *a,
    const struct fby_request *request)
{
    for (uint32_t f = 0; f < FIELDS; f++) {
        const struct fby_field_content *c = &d->setup.split->content.fields[f];
        a->fields[f]                      = (struct fby_header_field){
                                 .name      = c->name,
                                 .encoding  = fby_encoding_of(c),
                                 .type      = c->wire_type,
                                 .shape     = c->shape,
                                 .raw_bytes = ROWS,
                                 .n_chunks  = 1,
                                 .recipe    = {.classes = c->as.label.classes, .mixed_by = ""},
        };
    }
    a->header.type   = FBY_MSG_HEADER;
    a->header.header = (struct fby_header){
        .session          = request->session,
        .request          = request->request,
        .epoch            = request->epoch,
        .step             = request->step,
        .first_row        = request->first_row,
        .rows             = request->rows,
        .fields           = a->fields,
        .n_fields         = FIELDS,
        .request_checksum = fby_request_checksum(request),
    };
}

static inline void fill_sums(const struct dialogue *d, struct answer *a)
{
    for (uint32_t f = 0; f < FIELDS; f++) {
        const struct fby_chunk_sent sent = {
            a->chunks[f].raw_hash, a->chunks[f].raw_bytes};
        a->sums[f] = fby_field_checksum(&d->setup.layout, f, &sent);
    }
}

static inline void make_answer(const struct dialogue *d, struct answer *a,
    struct peer *worker, const struct fby_request *request)
{
    *a = (struct answer){.worker = worker};
    fill_header(d, a, request);
    for (uint32_t f = 0; f < FIELDS; f++) {
        for (uint32_t row = 0; row < ROWS; row++) {
            a->values[f][row] = value_of(request->step, f, row);
        }
        a->chunks[f] = (struct fby_chunk){
            .session    = request->session,
            .request    = request->request,
            .filter     = FBY_FILTER_NONE,
            .codec      = FBY_CODEC_STORE,
            .field      = (uint16_t)f,
            .raw_bytes  = ROWS,
            .wire_bytes = ROWS,
            .raw_hash   = fby_xxh3_64(a->values[f], ROWS),
        };
    }
    fill_sums(d, a);
    a->end.type = FBY_MSG_END;
    a->end.end  = (struct fby_end){
         .session     = request->session,
         .request     = request->request,
         .wire_bytes  = UINT64_C(2) * (FBY_CHUNK_PREFIX + ROWS),
         .sums        = a->sums,
         .n_sums      = FIELDS,
         .substituted = &a->bad,
         .times       = {.fetch = 1, .transform = 20, .encode = 300, .wait = 4},
    };
}

static inline void send_chunk(const struct answer *a, uint32_t field)
{
    uint8_t frame[FBY_CHUNK_PREFIX + ROWS];
    memcpy(frame + FBY_CHUNK_PREFIX, a->values[field], ROWS);
    fby_chunk_write_prefix(&a->chunks[field], a->values[field], frame);
    send_frame(a->worker, frame, sizeof(frame));
}

/* The same, with one bit of the payload flipped after hashing. */
static inline void send_damaged_chunk(const struct answer *a, uint32_t field)
{
    uint8_t frame[FBY_CHUNK_PREFIX + ROWS];
    memcpy(frame + FBY_CHUNK_PREFIX, a->values[field], ROWS);
    fby_chunk_write_prefix(&a->chunks[field], a->values[field], frame);
    frame[FBY_CHUNK_PREFIX + 2] ^= 1;
    send_frame(a->worker, frame, sizeof(frame));
}

static inline void send_answer(const struct answer *a)
{
    send_message(a->worker, &a->header);
    for (uint32_t f = 0; f < FIELDS; f++) {
        send_chunk(a, f);
    }
    send_message(a->worker, &a->end);
}

/* Wait for the next request of `worker`, and make the answer. */
static inline void await_request(
    struct dialogue *d, struct answer *a, struct peer *worker)
{
    make_answer(
        d, a, worker, &await_message(d, worker, FBY_MSG_REQUEST)->request);
}

/* The same from either of two workers; returns the other worker. */
static inline struct peer *await_either_request(
    struct dialogue *d, struct answer *a)
{
    struct peer              *worker = NULL;
    const struct fby_request *request =
        &await_any_message(d, FBY_MSG_REQUEST, &worker)->request;
    make_answer(d, a, worker, request);
    return worker == &d->workers[0] ? &d->workers[1] : &d->workers[0];
}

static inline void send_lost(const struct answer *a)
{
    send_message(
        a->worker, &(struct fby_message){.type = FBY_MSG_LOST,
                       .lost = {a->end.end.session, a->end.end.request}});
}

/* Wait for the next request, and send the correct answer. */
static inline struct fby_request answer_next(struct dialogue *d)
{
    struct answer             a;
    struct peer              *worker = NULL;
    const struct fby_request *request =
        &await_any_message(d, FBY_MSG_REQUEST, &worker)->request;
    make_answer(d, &a, worker, request);
    send_answer(&a);
    return *request;
}

/* Assert that the next batch is that of `step`, with make_answer's values. */
static inline void assert_delivers(struct dialogue *d, uint64_t step)
{
    struct forebay_batch *batch = next_batch(d);
    assert_int_equal(batch->epoch, step / (SAMPLES / ROWS));
    assert_int_equal(batch->step, step % (SAMPLES / ROWS));
    assert_int_equal(batch->rows, ROWS);
    for (uint32_t f = 0; f < FIELDS; f++) {
        const int64_t *ids = batch->tensors[f].view.data;
        for (uint32_t row = 0; row < ROWS; row++) {
            assert_int_equal(ids[row], value_of(batch->step, f, row));
        }
    }
    fby_batch_unref(batch);
}

#endif
