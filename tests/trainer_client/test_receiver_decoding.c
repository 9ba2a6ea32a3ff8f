/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks that decode threads check, in a receiver on real sockets.
 *
 * A batch has a chunk for each row. It is larger than those that the receiver
 * checks itself although other messages wait, and the receiver is told that some
 * wait. A gate holds the decode thread before each check, so the test decides
 * how many chunks are with the thread, and when it goes on. */
#include "tests/trainer_client/dialogue.h"

#include <stdatomic.h>

#include "common/log.h"
#include "trainer_client/batch/decode_pool.h"

enum {
    ROW_BYTES   = 1052672, /* more than MAX_CHECKED_BYTES in chunk.c */
    FRAME_BYTES = FBY_CHUNK_PREFIX + ROW_BYTES,
    STEPS       = SAMPLES / ROWS,      /* of an epoch */
    FULL        = FBY_DECODE_QUEUE + 1 /* most tasks of a pool of one thread */
};

/* ---- Hooks --------------------------------------------------------------- */

static struct gate {
    pthread_mutex_t lock;
    pthread_cond_t  opened;
    bool            is_closed;
    int             n_held; /* threads that wait for it to be opened */
} gate = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};

static atomic_uint n_released; /* frames of chunks that the client released */
static atomic_uint n_polls;    /* turns of the receiver */
static atomic_uint n_coming;   /* messages that the receiver waits for */
static atomic_int  n_together; /* sockets that a poll waits for at least */
static atomic_bool none_waits; /* the receiver is not told that some wait */
static atomic_uint n_by_receiver; /* chunks that it checked itself */
static const char *coming_from;   /* endpoint of the worker that sends them */

static void set_gate(bool is_closed)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_closed = is_closed;
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
}

static void pass_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.n_held++;
    while (gate.is_closed) {
        pthread_cond_wait(&gate.opened, &gate.lock);
    }
    gate.n_held--;
    pthread_mutex_unlock(&gate.lock);
}

static bool is_held(void)
{
    pthread_mutex_lock(&gate.lock);
    bool held = gate.n_held > 0;
    pthread_mutex_unlock(&gate.lock);
    return held;
}

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
bool __real_fby_chunk_job_check(const struct fby_chunk_job *job,
    zmq_msg_t *frame, struct fby_codec_scratch *scratch, bool verify_decoded);
bool __wrap_fby_chunk_job_check(const struct fby_chunk_job *job,
    zmq_msg_t *frame, struct fby_codec_scratch *scratch, bool verify_decoded);
int  __real_zmq_msg_close(zmq_msg_t *message);
int  __wrap_zmq_msg_close(zmq_msg_t *message);
int  __real_zmq_msg_recv(zmq_msg_t *message, void *socket, int flags);
int  __wrap_zmq_msg_recv(zmq_msg_t *message, void *socket, int flags);
int  __real_zmq_getsockopt(void *socket, int option, void *value, size_t *size);
int  __wrap_zmq_getsockopt(void *socket, int option, void *value, size_t *size);
int  __real_zmq_poll(zmq_pollitem_t *items, int n_items, long timeout_ms);
int  __wrap_zmq_poll(zmq_pollitem_t *items, int n_items, long timeout_ms);

bool __wrap_fby_chunk_job_check(const struct fby_chunk_job *job,
    zmq_msg_t *frame, struct fby_codec_scratch *scratch, bool verify_decoded)
{
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof(name));
    if (strcmp(name, "fby-receive") == 0) {
        atomic_fetch_add(&n_by_receiver, 1);
    }
    pass_gate();
    return __real_fby_chunk_job_check(job, frame, scratch, verify_decoded);
}

int __wrap_zmq_msg_close(zmq_msg_t *message)
{
    if (zmq_msg_size(message) == FRAME_BYTES) {
        atomic_fetch_add(&n_released, 1);
    }
    return __real_zmq_msg_close(message);
}

/* The receiver reads what is coming as if it had arrived already. */
int __wrap_zmq_msg_recv(zmq_msg_t *message, void *socket, int flags)
{
    char   endpoint[64] = "";
    size_t size         = sizeof(endpoint);
    if (flags == ZMQ_DONTWAIT && atomic_load(&n_coming) > 0 &&
        __real_zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size) ==
            0 &&
        strcmp(endpoint, coming_from) == 0) {
        atomic_fetch_sub(&n_coming, 1);
        flags = 0;
    }
    return __real_zmq_msg_recv(message, socket, flags);
}

int __wrap_zmq_getsockopt(void *socket, int option, void *value, size_t *size)
{
    int result = __real_zmq_getsockopt(socket, option, value, size);
    if (result == 0 && option == ZMQ_EVENTS) {
        *(int *)value = atomic_load(&none_waits) ? 0 : ZMQ_POLLIN;
    }
    return result;
}

static int count_readable(const zmq_pollitem_t *items, int n_items)
{
    int n = 0;
    for (int i = 0; i < n_items; i++) {
        n += items[i].socket != NULL && (items[i].revents & ZMQ_POLLIN) != 0;
    }
    return n;
}

int __wrap_zmq_poll(zmq_pollitem_t *items, int n_items, long timeout_ms)
{
    if (items[0].socket != NULL) { /* the receiver's first item is a wakeup */
        return __real_zmq_poll(items, n_items, timeout_ms);
    }
    int result = 0;
    atomic_fetch_add(&n_polls, 1);
    do {
        result = __real_zmq_poll(items, n_items, timeout_ms);
    } while (count_readable(items, n_items) < atomic_load(&n_together));
    return result;
}
/* NOLINTEND(readability-identifier-naming) */

/* ---- The stream ---------------------------------------------------------- */

static bool verifies; /* streams hash each chunk once it is decoded, too */

/* Open a stream with one decode thread, behind a closed gate. */
static void open_gated(
    struct dialogue *d, int n_workers, uint32_t window, uint64_t epochs)
{
    static char text[400];
    snprintf(text, sizeof(text),
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:train-{0..0}.tar\", shuffle: full,"
        " last: drop}}\n"
        "global_batch: %d\n"
        "seed: 7\n"
        "fields:\n"
        "  values: {from: npy, decode: array, shape: [%d], wire: u8}\n",
        ROWS, ROW_BYTES);
    dialogue_begin(d, n_workers);
    d->options.pipeline_text  = text;
    d->options.window_batches = window;
    d->options.decode_threads = 1;
    d->options.epochs         = epochs;
    d->options.verify_decoded = verifies;
    atomic_store(&n_released, 0);
    atomic_store(&n_coming, 0);
    atomic_store(&n_together, 0);
    atomic_store(&none_waits, false);
    atomic_store(&n_by_receiver, 0);
    set_gate(/*is_closed=*/true);
    open_all(d);
}

struct answer { /* of a worker, sent in parts */
    struct peer          *worker;
    struct fby_request    request;
    struct fby_chunk_sent sent[ROWS];
};

static void await_request_of(
    struct dialogue *d, struct peer *worker, struct answer *a)
{
    *a = (struct answer){.worker = worker,
        .request = await_message(d, worker, FBY_MSG_REQUEST)->request};
}

static void await_request(struct dialogue *d, struct answer *a)
{
    await_request_of(d, &d->workers[0], a);
}

/* The value of all bytes of a row; none is 0. */
static uint8_t value_of(uint64_t epoch, uint64_t step, uint32_t row)
{
    return (uint8_t)(1 + (epoch * STEPS + step) * ROWS + row);
}

static void send_header(struct dialogue *d, const struct answer *a)
{
    const struct fby_field_content *field = &d->setup.split->content.fields[0];
    const struct fby_header_field   described = {
          .name      = field->name,
          .encoding  = fby_encoding_of(field),
          .type      = field->wire_type,
          .shape     = field->shape,
          .raw_bytes = (uint64_t)ROWS * ROW_BYTES,
          .n_chunks  = ROWS,
          .recipe    = {.mixed_by = ""},
    };
    send_message(a->worker,
        &(struct fby_message){.type = FBY_MSG_HEADER,
            .header                 = {
                                .session          = a->request.session,
                                .request          = a->request.request,
                                .epoch            = a->request.epoch,
                                .step             = a->request.step,
                                .first_row        = a->request.first_row,
                                .rows             = a->request.rows,
                                .fields           = &described,
                                .n_fields         = 1,
                                .request_checksum = fby_request_checksum(&a->request),
            }});
}

/* Send the chunk of a row, all bytes of which are `value`. */
static void send_row_of(struct answer *a, uint32_t row, uint8_t value)
{
    uint8_t *frame   = fby_zalloc(FRAME_BYTES);
    uint8_t *payload = frame + FBY_CHUNK_PREFIX;
    memset(payload, value, ROW_BYTES);
    const struct fby_chunk chunk = {
        .session    = a->request.session,
        .request    = a->request.request,
        .filter     = FBY_FILTER_NONE,
        .codec      = FBY_CODEC_STORE,
        .number     = row,
        .raw_offset = (uint64_t)row * ROW_BYTES,
        .raw_bytes  = ROW_BYTES,
        .wire_bytes = ROW_BYTES,
        .raw_hash   = fby_xxh3_64(payload, ROW_BYTES),
    };
    a->sent[row] = (struct fby_chunk_sent){chunk.raw_hash, chunk.raw_bytes};
    fby_chunk_write_prefix(&chunk, payload, frame);
    send_frame(a->worker, frame, FRAME_BYTES);
    free(frame);
}

static void send_row(struct answer *a, uint32_t row)
{
    send_row_of(a, row, value_of(a->request.epoch, a->request.step, row));
}

static void send_end(struct dialogue *d, const struct answer *a)
{
    struct fby_checksum sum = fby_field_checksum(&d->setup.layout, 0, a->sent);
    send_message(a->worker, &(struct fby_message){.type = FBY_MSG_END,
                                .end                    = {
                                                       .session    = a->request.session,
                                                       .request    = a->request.request,
                                                       .wire_bytes = (uint64_t)ROWS * FRAME_BYTES,
                                                       .sums       = &sum,
                                                       .n_sums     = 1,
                                }});
}

enum { ANSWER_MESSAGES = ROWS + 2 }; /* with HEADER and END */

static void send_answer(struct dialogue *d, struct answer *a)
{
    send_header(d, a);
    for (uint32_t row = 0; row < ROWS; row++) {
        send_row(a, row);
    }
    send_end(d, a);
}

/* Wait for the next request, and send the correct answer. */
static struct fby_request answer_next(struct dialogue *d)
{
    struct answer a;
    await_request(d, &a);
    send_answer(d, &a);
    return a.request;
}

/* Assert that the next batch is that of this step, with its values. */
static void assert_delivers(struct dialogue *d, uint64_t epoch, uint64_t step)
{
    struct forebay_batch *batch = next_batch(d);
    assert_int_equal(batch->epoch, epoch);
    assert_int_equal(batch->step, step);
    const uint8_t *values = batch->tensors[0].view.data;
    for (uint32_t row = 0; row < ROWS; row++, values += ROW_BYTES) {
        assert_int_equal(values[0], value_of(epoch, step, row));
        assert_int_equal(memcmp(values, values + 1, ROW_BYTES - 1), 0);
    }
    fby_batch_unref(batch);
}

/* ---- Waiting ------------------------------------------------------------- */

static void await_held(struct dialogue *d)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (!is_held() && fby_now_ns() < deadline) {
        receive_all(d);
    }
    assert_true(is_held());
}

static void await_released(struct dialogue *d, unsigned n)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (atomic_load(&n_released) < n && fby_now_ns() < deadline) {
        receive_all(d);
    }
    assert_int_equal(atomic_load(&n_released), n);
}

static void await_lost(struct dialogue *d, uint64_t n)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (stats_of(d).lost < n && fby_now_ns() < deadline) {
        receive_all(d);
    }
    assert_int_equal(stats_of(d).lost, n);
}

static void await_wire_bytes(struct dialogue *d, uint64_t bytes)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (stats_of(d).wire_bytes < bytes && fby_now_ns() < deadline) {
        receive_all(d);
    }
    assert_int_equal(stats_of(d).wire_bytes, bytes);
}

/* Let the receiver join again, and then send RENEW every 100 ms. It answers in a
 * later turn of its loop than the one that it is in now. */
static void join_again(struct dialogue *d)
{
    send_message(&d->server, &(struct fby_message){.type = FBY_MSG_JOIN_FIRST,
                                 .join_first             = {d->session}});
    (void)await_message(d, &d->server, FBY_MSG_JOIN);
    send_message(&d->server, &(struct fby_message){.type = FBY_MSG_JOINED,
                                 .joined                 = {
                                                     .session      = d->session,
                                                     .server       = d->server.instance,
                                                     .lease_ms     = 60000,
                                                     .heartbeat_ms = 100,
                                 }});
}

/* ---- The thread ---------------------------------------------------------- */

static void the_receiver_checks_a_chunk_if_no_message_waits(void **state)
{
    (void)state;
    struct dialogue d;
    open_gated(&d, /*n_workers=*/1, /*window=*/1, /*epochs=*/1);
    set_gate(/*is_closed=*/false);
    (void)answer_next(&d);
    assert_delivers(&d, 0, 0);
    assert_int_equal(atomic_load(&n_by_receiver), 0);
    atomic_store(&none_waits, true);
    (void)answer_next(&d);
    assert_delivers(&d, 0, 1);
    assert_int_equal(atomic_load(&n_by_receiver), ROWS);
    dialogue_end(&d);
}

static void a_chunk_that_is_verified_goes_to_the_decode_thread(void **state)
{
    (void)state;
    struct dialogue d;
    verifies = true;
    open_gated(&d, /*n_workers=*/1, /*window=*/1, /*epochs=*/1);
    verifies = false;
    set_gate(/*is_closed=*/false);
    atomic_store(&none_waits, true);
    (void)answer_next(&d);
    assert_delivers(&d, 0, 0);
    assert_int_equal(atomic_load(&n_by_receiver), 0);
    dialogue_end(&d);
}

/* The first of two chunks that have arrived goes to the decode thread. */
static void the_message_of_another_worker_waits_too(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   answers[2];
    open_gated(&d, /*n_workers=*/2, /*window=*/2, /*epochs=*/1);
    set_gate(/*is_closed=*/false);
    atomic_store(&none_waits, true);
    for (int i = 0; i < 2; i++) {
        await_request_of(&d, &d.workers[i], &answers[i]);
        send_header(&d, &answers[i]);
        send_row(&answers[i], 0);
    }
    await_wire_bytes(&d, UINT64_C(2) * FRAME_BYTES);
    unsigned n_before = atomic_load(&n_by_receiver);
    atomic_store(&n_together, 2);
    for (int i = 0; i < 2; i++) {
        send_row(&answers[i], 1);
    }
    await_wire_bytes(&d, UINT64_C(4) * FRAME_BYTES);
    atomic_store(&n_together, 0);
    assert_int_equal(atomic_load(&n_by_receiver), n_before + 1);
    dialogue_end(&d);
}

/* ---- Dropped requests ---------------------------------------------------- */

/* The seek drops a request while its chunk is with the decode thread. The new
 * step is the last one, so no later request clears the slot of the chunk. */
static void a_chunk_of_a_dropped_request_is_not_kept(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   dropped;
    open_gated(&d, /*n_workers=*/1, /*window=*/2, /*epochs=*/1);
    await_request(&d, &dropped);
    send_header(&d, &dropped);
    send_row(&dropped, 0);
    await_held(&d);
    const struct fby_stream_position last = {.epoch = 0, .step = STEPS - 1};
    assert_int_equal(fby_ready_queue_seek(&d.ready_queue, last), FOREBAY_OK);
    const struct fby_message *cancel =
        await_message(&d, &d.workers[0], FBY_MSG_CANCEL);
    assert_int_equal(
        cancel->cancel.request.value, dropped.request.request.value);
    assert_int_equal(atomic_load(&n_released), 0);
    set_gate(/*is_closed=*/false);
    await_released(&d, 1); /* before the other request is answered */
    while (answer_next(&d).step != STEPS - 1) {
    }
    assert_delivers(&d, 0, STEPS - 1);
    assert_int_equal(stats_of(&d).checksum_failures, 0);
    dialogue_end(&d);
}

/* A chunk in work counts as a batch of the window, which has a slot more than it
 * has batches. */
static void a_seek_waits_for_the_chunk_of_a_dropped_request(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   dropped;
    open_gated(&d, /*n_workers=*/1, /*window=*/1, /*epochs=*/1);
    await_request(&d, &dropped);
    send_header(&d, &dropped);
    send_row_of(&dropped, 0, 0); /* other values than the correct ones */
    await_held(&d);
    const struct fby_stream_position next = {.epoch = 0, .step = 1};
    assert_int_equal(fby_ready_queue_seek(&d.ready_queue, next), FOREBAY_OK);
    (void)await_message(&d, &d.workers[0], FBY_MSG_CANCEL);
    join_again(&d);
    assert_no_message(&d, &d.workers[0], FBY_MSG_REQUEST);
    set_gate(/*is_closed=*/false);
    assert_int_equal(answer_next(&d).step, 1);
    assert_delivers(&d, 0, 1);
    dialogue_end(&d);
}

/* The repeated request gets the same slot, in which the chunk of the first one
 * must not count. */
static void a_repeated_request_takes_no_chunk_of_the_first(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    open_gated(&d, /*n_workers=*/1, /*window=*/1, /*epochs=*/1);
    await_request(&d, &a);
    send_header(&d, &a);
    send_row_of(&a, 0, 0); /* other values than the correct ones */
    await_held(&d);
    send_message(&d.workers[0], &(struct fby_message){.type = FBY_MSG_LOST,
                                    .lost = {d.session, a.request.request}});
    await_lost(&d, 1);
    join_again(&d);
    assert_no_message(&d, &d.workers[0], FBY_MSG_REQUEST);
    set_gate(/*is_closed=*/false);
    struct fby_chunk_sent first = a.sent[0];
    await_request(&d, &a);
    assert_int_equal(atomic_load(&n_released), 1);
    a.sent[0] = first;
    send_header(&d, &a);
    for (uint32_t row = 1; row < ROWS; row++) {
        send_row(&a, row);
    }
    send_end(&d, &a);                          /* a chunk is missing */
    assert_int_equal(answer_next(&d).step, 0); /* so it is asked for again */
    assert_delivers(&d, 0, 0);
    assert_int_equal(stats_of(&d).rerequests, 2);
    dialogue_end(&d);
}

/* ---- No room ------------------------------------------------------------- */

enum { BATCHES = FULL / ROWS + 1 }; /* more chunks than there is room for */

static const uint64_t full_bytes = (uint64_t)FULL * FRAME_BYTES;

/* Answer all requests of a window. Return when the decode thread has all tasks
 * that it has room for, and the other messages wait in the worker's socket. */
static void fill_decode_thread(struct dialogue *d)
{
    struct answer answers[BATCHES];
    open_gated(d, /*n_workers=*/1, BATCHES, /*epochs=*/100);
    for (int i = 0; i < BATCHES; i++) {
        await_request(d, &answers[i]);
    }
    coming_from = d->workers[0].endpoint;
    atomic_store(&n_coming, BATCHES * ANSWER_MESSAGES);
    for (int i = 0; i < BATCHES; i++) {
        send_answer(d, &answers[i]);
    }
    await_wire_bytes(d, full_bytes);
}

static void await_renews(struct dialogue *d, int n)
{
    for (int i = 0; i < n; i++) {
        (void)await_message(d, &d->server, FBY_MSG_RENEW);
    }
}

static int count_received(const struct peer *peer, enum fby_message_type type)
{
    int n = 0;
    for (const struct received *r = peer->received; r != NULL; r = r->next) {
        n += r->message.type == type;
    }
    return n;
}

/* Wait for longer than the 1 s between two PINGs. None is sent, because the
 * answers would remain unread. The receiver sleeps between its timers. */
static void assert_worker_is_left_alone(struct dialogue *d)
{
    const struct forebay_stats before = stats_of(d);
    await_renews(d, 2); /* earlier messages to the worker have arrived */
    int      pings = count_received(&d->workers[0], FBY_MSG_PING);
    unsigned polls = atomic_load(&n_polls);
    await_renews(d, 12);
    const struct forebay_stats after = stats_of(d);
    assert_int_equal(count_received(&d->workers[0], FBY_MSG_PING), pings);
    assert_true(atomic_load(&n_polls) - polls < 200);
    assert_int_equal(after.wire_bytes, full_bytes);
    assert_int_equal(after.suspects, before.suspects);
    assert_int_equal(after.workers_in_use, before.workers_in_use);
    assert_int_equal(after.lost + after.rerequests + after.reconnects, 0);
    assert_int_equal(count_received(&d->server, FBY_MSG_UNREACHABLE), 0);
}

static void without_room_only_the_messages_of_workers_wait(void **state)
{
    (void)state;
    struct dialogue d;
    fill_decode_thread(&d);
    join_again(&d);
    assert_worker_is_left_alone(&d);
    assert_no_batch(&d);
    set_gate(/*is_closed=*/false);
    for (uint64_t i = 0; i < BATCHES; i++) {
        assert_delivers(&d, i / STEPS, i % STEPS);
    }
    const struct forebay_stats stats = stats_of(&d);
    assert_int_equal(stats.lost + stats.rerequests + stats.reconnects, 0);
    assert_int_equal(stats.protocol_errors + stats.checksum_failures, 0);
    dialogue_end(&d);
}

static void without_room_a_seek_is_done_at_once(void **state)
{
    (void)state;
    struct dialogue                  d;
    const struct fby_stream_position far = {.epoch = 9, .step = 2};
    fill_decode_thread(&d);
    assert_int_equal(fby_ready_queue_seek(&d.ready_queue, far), FOREBAY_OK);
    (void)await_message(&d, &d.workers[0], FBY_MSG_CANCEL);
    assert_true(is_held());
    set_gate(/*is_closed=*/false);
    assert_int_equal(answer_next(&d).epoch, 9);
    assert_delivers(&d, 9, 2);
    dialogue_end(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_receiver_checks_a_chunk_if_no_message_waits),
        cmocka_unit_test(a_chunk_that_is_verified_goes_to_the_decode_thread),
        cmocka_unit_test(the_message_of_another_worker_waits_too),
        cmocka_unit_test(a_chunk_of_a_dropped_request_is_not_kept),
        cmocka_unit_test(a_seek_waits_for_the_chunk_of_a_dropped_request),
        cmocka_unit_test(a_repeated_request_takes_no_chunk_of_the_first),
        cmocka_unit_test(without_room_only_the_messages_of_workers_wait),
        cmocka_unit_test(without_room_a_seek_is_done_at_once),
    };
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver_decoding", tests, NULL, NULL);
}
