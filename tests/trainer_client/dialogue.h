/* SPDX-License-Identifier: Apache-2.0 */
/* dialogue.h - a receiver on real sockets; the test acts as its server and its
 * workers.
 *
 * The test sends every message itself, from one thread, so that it can wait for
 * the effect of each. While it waits, it answers PINGs. Batches have ROWS rows
 * of two labels, `colour` and `label`, of one byte a row. */
#ifndef FBY_TESTS_DIALOGUE_H
#define FBY_TESTS_DIALOGUE_H

#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/mem.h"
#include "proto/frame.h"
#include "proto/wire.h"
#include "trainer_client/batch/batch_pool.h"
#include "trainer_client/batch/ready_queue.h"
#include "trainer_client/receive/receiver.h"
#include "trainer_client/setup/setup.h"

enum { ROWS = 4, SAMPLES = 20, FIELDS = 2, WORKERS = 3, ROUTE_SIZE = 32 };
#define PATIENCE (20 * FBY_NS_PER_S)

static const struct fby_consumer on_host = {.stream = NULL};

struct received { /* a message in the peer's queue */
    struct received   *next;
    bool               taken;
    struct fby_message message;
};

struct peer { /* the server, or a worker */
    void                  *socket;
    char                   endpoint[64];
    const char            *named[1]; /* the endpoint as a list */
    struct fby_instance_id instance;
    uint8_t                route[ROUTE_SIZE]; /* of the last message */
    size_t                 route_size;
    bool                   silent;   /* does not answer PINGs */
    struct received       *received; /* in order; freed by peer_end() */
    struct received      **tail;
};

struct dialogue {
    void                  *zmq;
    struct peer            server;
    struct peer            workers[WORKERS];
    int                    n;
    struct forebay_options options;
    struct fby_setup       setup;
    struct fby_ready_queue ready_queue;
    struct fby_batch_pool *batch_pool;
    struct fby_receiver   *receiver;
    struct fby_session_id  session;
    uint64_t               lists; /* that the server has sent */
    uint64_t pool_out_bytes;      /* of the batch pool; 0: the setup's */
};

/* ---- Begin and end ------------------------------------------------------- */

static inline void peer_begin(struct dialogue *d, struct peer *peer)
{
    const int zero = 0;
    size_t    size = sizeof(peer->endpoint);
    *peer          = (struct peer){.instance = fby_instance_random()};
    peer->tail     = &peer->received;
    peer->named[0] = peer->endpoint;
    peer->socket   = zmq_socket(d->zmq, ZMQ_ROUTER);
    zmq_setsockopt(peer->socket, ZMQ_LINGER, &zero, sizeof(zero));
    assert_int_equal(zmq_bind(peer->socket, "tcp://127.0.0.1:*"), 0);
    zmq_getsockopt(peer->socket, ZMQ_LAST_ENDPOINT, peer->endpoint, &size);
}

/* Start the peers, and choose options with a window of one batch. */
static inline void dialogue_begin(struct dialogue *d, int n_workers)
{
    static const char text[] =
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:train-{0..0}.tar\", shuffle: full,"
        " last: drop}}\n"
        "global_batch: 4\n"
        "seed: 7\n"
        "on_bad_sample: {do: substitute, limit: 3}\n"
        "fields:\n"
        "  colour: {from: col, decode: label, classes: 200}\n"
        "  label: {from: cls, classes: 200}\n";
    *d = (struct dialogue){.zmq = zmq_ctx_new(), .n = n_workers};
    peer_begin(d, &d->server);
    for (int i = 0; i < n_workers; i++) {
        peer_begin(d, &d->workers[i]);
    }
    d->options                = forebay_options();
    d->options.server         = d->server.endpoint;
    d->options.pipeline_text  = text;
    d->options.window_batches = 1;
    d->options.job            = "the job";
}

/* Create the receiver, which sends messages from now on. */
static inline void dialogue_start(struct dialogue *d)
{
    struct fby_error_detail why = {""};
    if (fby_setup_init(&d->setup, &d->options, &why) != FBY_OK) {
        fail_msg("setup: %s", why.text);
    }
    const struct fby_batch_pool_config config = {
        .device = d->setup.device,
        .out_bytes =
            d->pool_out_bytes != 0 ? d->pool_out_bytes : d->setup.out_bytes,
        .max_rows       = d->setup.max_rows,
        .max_held_bytes = d->setup.max_held_bytes,
    };
    assert_ok(fby_ready_queue_init(&d->ready_queue));
    assert_ok(fby_batch_pool_create(&config, &d->batch_pool));
    const struct fby_receiver_parts parts = {.setup = &d->setup,
        .ready_queue                                = &d->ready_queue,
        .batch_pool                                 = d->batch_pool};
    if (fby_receiver_create(&parts, &d->receiver, &why) != FBY_OK) {
        fail_msg("receiver: %s", why.text);
    }
}

static inline void peer_end(struct peer *peer)
{
    while (peer->received != NULL) {
        struct received *gone = peer->received;
        peer->received        = gone->next;
        fby_message_fini(&gone->message);
        free(gone);
    }
    if (peer->socket != NULL) {
        zmq_close(peer->socket);
    }
}

static inline void dialogue_end(struct dialogue *d)
{
    fby_receiver_destroy(&d->receiver);
    fby_ready_queue_fini(&d->ready_queue);
    fby_batch_pool_release(&d->batch_pool);
    fby_setup_fini(&d->setup);
    peer_end(&d->server);
    for (int i = 0; i < d->n; i++) {
        peer_end(&d->workers[i]);
    }
    zmq_ctx_term(d->zmq);
}

/* ---- Sending and receiving ----------------------------------------------- */

static inline void send_frame(struct peer *peer, const void *frame, size_t size)
{
    zmq_send(peer->socket, peer->route, peer->route_size, ZMQ_SNDMORE);
    zmq_send(peer->socket, frame, size, 0);
}

static inline void send_message(
    struct peer *peer, const struct fby_message *message)
{
    struct fby_buffer       buffer = {0};
    struct fby_error_detail why    = {""};
    if (fby_message_encode(message, &buffer, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    send_frame(peer, buffer.data, buffer.size);
    fby_buffer_fini(&buffer);
}

static inline void send_pong(struct peer *peer, const struct fby_ping *ping,
    const struct fby_request_id *open, size_t n_open)
{
    send_message(peer, &(struct fby_message){.type = FBY_MSG_PONG,
                           .pong                   = {
                                                 .session  = ping->session,
                                                 .instance = peer->instance,
                                                 .sequence = ping->sequence,
                                                 .requests = {open, n_open},
                           }});
}

/* Append all messages that have arrived at a peer to its queue. */
static inline void receive_from(struct peer *peer)
{
    uint8_t route[ROUTE_SIZE];
    int     n = zmq_recv(peer->socket, route, sizeof(route), ZMQ_DONTWAIT);
    for (; n > 0;
         n = zmq_recv(peer->socket, route, sizeof(route), ZMQ_DONTWAIT)) {
        struct received *one = fby_zalloc(sizeof(*one));
        zmq_msg_t        frame;
        memcpy(peer->route, route, (size_t)n);
        peer->route_size = (size_t)n;
        zmq_msg_init(&frame);
        zmq_msg_recv(&frame, peer->socket, 0);
        assert_ok(fby_message_decode(
            zmq_msg_data(&frame), zmq_msg_size(&frame), &one->message, NULL));
        zmq_msg_close(&frame);
        *peer->tail = one;
        peer->tail  = &one->next;
    }
}

static inline struct received *find_received(
    const struct peer *peer, enum fby_message_type type)
{
    struct received *one = peer->received;
    while (one != NULL && (one->taken || one->message.type != type)) {
        one = one->next;
    }
    return one;
}

/* The PONG names all requests, since the client counts other requests as lost.
 */
static inline void answer_ping(struct peer *worker, struct received *ping)
{
    struct fby_request_id open[FBY_OPEN_REQUESTS_MAX];
    size_t                n   = 0;
    struct received      *one = worker->received;
    for (; one != NULL && n < FBY_OPEN_REQUESTS_MAX; one = one->next) {
        if (one->message.type == FBY_MSG_REQUEST) {
            open[n++] = one->message.request.request;
        }
    }
    ping->taken = true;
    send_pong(worker, &ping->message.ping, open, n);
}

/* Receive what has arrived or arrives within a millisecond; answer PINGs. */
static inline void receive_all(struct dialogue *d)
{
    zmq_pollitem_t items[WORKERS + 1] = {
        {.socket = d->server.socket, .events = ZMQ_POLLIN}};
    for (int i = 0; i < d->n; i++) {
        items[1 + i] = (zmq_pollitem_t){
            .socket = d->workers[i].socket, .events = ZMQ_POLLIN};
    }
    (void)zmq_poll(items, d->n + 1, 1);
    receive_from(&d->server);
    for (int i = 0; i < d->n; i++) {
        struct peer *worker = &d->workers[i];
        receive_from(worker);
        struct received *ping = find_received(worker, FBY_MSG_PING);
        if (ping != NULL && !worker->silent) {
            answer_ping(worker, ping);
        }
    }
}

/* Wait for the next message of a type. It is valid until peer_end(). */
static inline const struct fby_message *await_message(
    struct dialogue *d, struct peer *peer, enum fby_message_type type)
{
    int64_t          deadline = fby_now_ns() + PATIENCE;
    struct received *one      = find_received(peer, type);
    for (; one == NULL; one = find_received(peer, type)) {
        if (fby_now_ns() > deadline) {
            fail_msg("no %s came", fby_message_name(type));
        }
        receive_all(d);
    }
    one->taken = true;
    return &one->message;
}

/* The same from any worker; *out is that worker. */
static inline const struct fby_message *await_any_message(
    struct dialogue *d, enum fby_message_type type, struct peer **out)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (true) {
        for (int i = 0; i < d->n; i++) {
            if (find_received(&d->workers[i], type) != NULL) {
                *out = &d->workers[i];
                return await_message(d, *out, type);
            }
        }
        if (fby_now_ns() > deadline) {
            fail_msg("no %s came", fby_message_name(type));
        }
        receive_all(d);
    }
}

/* Assert that no further message of this type has arrived. */
static inline void assert_no_message(
    struct dialogue *d, struct peer *peer, enum fby_message_type type)
{
    receive_all(d);
    if (find_received(peer, type) != NULL) {
        fail_msg("%s came", fby_message_name(type));
    }
}

/* Wait until the receiver has counted the chunks that `peer` sent. */
static inline void await_credit_of(struct dialogue *d, struct peer *peer)
{
    (void)await_message(d, peer, FBY_MSG_CREDIT);
}

/* ---- The trainer's view -------------------------------------------------- */

static inline struct forebay_stats stats_of(struct dialogue *d)
{
    pthread_mutex_lock(&d->ready_queue.lock);
    struct forebay_stats stats = d->ready_queue.stats;
    pthread_mutex_unlock(&d->ready_queue.lock);
    return stats;
}

static inline enum fby_phase phase_of(struct dialogue *d)
{
    pthread_mutex_lock(&d->ready_queue.lock);
    enum fby_phase phase = d->ready_queue.phase;
    pthread_mutex_unlock(&d->ready_queue.lock);
    return phase;
}

static inline struct forebay_info info_of(struct dialogue *d)
{
    pthread_mutex_lock(&d->ready_queue.lock);
    struct forebay_info info = d->ready_queue.info;
    pthread_mutex_unlock(&d->ready_queue.lock);
    return info;
}

/* Wait for `n` protocol errors; all earlier messages are then handled. */
static inline void await_errors(struct dialogue *d, uint64_t n)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (stats_of(d).protocol_errors < n && fby_now_ns() < deadline) {
        receive_all(d);
    }
    assert_int_equal(stats_of(d).protocol_errors, n);
}

static inline void await_waiting(struct dialogue *d, const char *text)
{
    struct fby_error_detail waiting  = {""};
    int64_t                 deadline = fby_now_ns() + PATIENCE;
    bool                    same     = false;
    while (!same && fby_now_ns() < deadline) {
        receive_all(d);
        pthread_mutex_lock(&d->ready_queue.lock);
        waiting = d->ready_queue.wait_reason;
        pthread_mutex_unlock(&d->ready_queue.lock);
        same = strcmp(waiting.text, text) == 0;
    }
    assert_string_equal(waiting.text, text);
}

/* Wait for the stream to fail with `status`; return the error text. */
static inline const char *await_failed(
    struct dialogue *d, enum forebay_status status)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (phase_of(d) != FBY_PHASE_FAILED && fby_now_ns() < deadline) {
        receive_all(d);
    }
    assert_int_equal(phase_of(d), FBY_PHASE_FAILED);
    assert_int_equal(d->ready_queue.failure, status);
    return d->ready_queue.why.text;
}

static inline void await_failure(
    struct dialogue *d, enum forebay_status status, const char *text)
{
    assert_string_equal(await_failed(d, status), text);
}

static inline struct forebay_batch *next_batch(struct dialogue *d)
{
    struct forebay_batch *batch = NULL;
    if (fby_ready_queue_next(&d->ready_queue, d->batch_pool, PATIENCE, &on_host,
            &batch) != FOREBAY_OK) {
        fail_msg("next: %s", d->ready_queue.last_error.why.text);
    }
    return batch;
}

static inline void assert_no_batch(struct dialogue *d)
{
    struct forebay_batch *batch = NULL;
    assert_int_equal(fby_ready_queue_next(
                         &d->ready_queue, d->batch_pool, 0, &on_host, &batch),
        FOREBAY_TIMEOUT);
}

/* ---- Messages of the server ---------------------------------------------- */

static inline void send_workers(struct dialogue *d, int first, int n, bool full)
{
    struct fby_worker_info infos[WORKERS];
    for (int i = 0; i < n; i++) {
        infos[i] = (struct fby_worker_info){
            .instance  = d->workers[first + i].instance,
            .endpoints = {d->workers[first + i].named, 1},
            .host      = "here",
        };
    }
    const struct fby_message message = {.type = FBY_MSG_WORKERS,
        .workers                              = {
                                         .session     = d->session,
                                         .server      = d->server.instance,
                                         .sequence    = ++d->lists,
                                         .is_complete = full,
                                         .added       = infos,
                                         .n_added     = (size_t)n,
        }};
    send_message(&d->server, &message);
}

static inline void send_joined(struct dialogue *d)
{
    const struct fby_message message = {.type = FBY_MSG_JOINED,
        .joined                               = {
                                          .session      = d->session,
                                          .server       = d->server.instance,
                                          .lease_ms     = 60000,
                                          .heartbeat_ms = 20000,
        }};
    send_message(&d->server, &message);
}

/* Wait until the server's messages are handled. Sends an invalid message, so
 * that one protocol error is counted. */
static inline void await_server(struct dialogue *d)
{
    send_message(&d->server,
        &(struct fby_message){.type = FBY_MSG_PING, .ping = {{7}, 1}});
    await_errors(d, 1);
}

/* Answer JOIN with JOINED and the list of all workers. */
static inline void join_session(struct dialogue *d)
{
    d->session = await_message(d, &d->server, FBY_MSG_JOIN)->join.session;
    send_joined(d);
    send_workers(d, 0, d->n, true);
}

/* ---- Messages of a worker ------------------------------------------------ */

/* Send WELCOME with the requests that the worker still has. */
static inline void send_welcome_with(struct peer *worker,
    const struct fby_hello *hello, const struct fby_request_id *open,
    size_t n_open)
{
    send_message(worker, &(struct fby_message){.type = FBY_MSG_WELCOME,
                             .welcome                = {
                                                .session     = hello->session,
                                                .route       = hello->route,
                                                .instance    = worker->instance,
                                                .version     = 1,
                                                .features    = hello->features,
                                                .send_window = 16 << 20,
                                                .requests    = {open, n_open},
                             }});
}

static inline void send_welcome(
    struct peer *worker, const struct fby_hello *hello)
{
    send_welcome_with(worker, hello, NULL, 0);
}

/* Send REFUSED in answer to HELLO. */
static inline void send_refused(struct dialogue *d, struct peer *worker,
    enum fby_refused_code code, const char *text)
{
    send_message(worker, &(struct fby_message){.type = FBY_MSG_REFUSED,
                             .refused                = {
                                                .session     = d->session,
                                                .code        = code,
                                                .version_min = 1,
                                                .version_max = 1,
                                                .text        = text,
                             }});
}

/* Send BUSY with `lacks` (NULL: as an older worker), and wait until it is the
 * reason why the stream waits. */
static inline void send_busy_for(struct dialogue *d, struct peer *worker,
    struct fby_request_id request, uint32_t retry_ms, const char *lacks)
{
    char text[400];
    snprintf(text, sizeof(text), "worker here (%s) is busy: %s%s",
        worker->endpoint,
        lacks != NULL
            ? lacks
            : "it lacks memory, open files or queue space for a batch",
        lacks != NULL
            ? "; the request is repeated"
            : "; the request is repeated; if this continues, see its log");
    send_message(worker, &(struct fby_message){.type = FBY_MSG_BUSY,
                             .busy = {d->session, request, retry_ms, lacks}});
    await_waiting(d, text);
}

static inline void send_busy(struct dialogue *d, struct peer *worker,
    struct fby_request_id request, uint32_t retry_ms)
{
    send_busy_for(d, worker, request, retry_ms, NULL);
}

/* Answer HELLO with WELCOME; return the OPEN that follows. The client repeats
 * HELLO after a second. */
static inline struct fby_open handshake(struct dialogue *d, struct peer *worker)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (find_received(worker, FBY_MSG_OPEN) == NULL &&
           fby_now_ns() < deadline) {
        if (find_received(worker, FBY_MSG_HELLO) != NULL) {
            send_welcome(
                worker, &await_message(d, worker, FBY_MSG_HELLO)->hello);
        }
        receive_all(d);
    }
    return await_message(d, worker, FBY_MSG_OPEN)->open;
}

static inline struct fby_digest digest_of(const char *text)
{
    return fby_digest_of(text, strlen(text));
}

/* An OPENED whose digests of data and build are those of these texts. */
static inline struct fby_opened opened_as(
    const struct fby_open *open, const char *data, const char *build)
{
    static const struct fby_shard_info shard = {
        .name = "train-0.tar", .samples = SAMPLES};
    return (struct fby_opened){
        .session     = open->session,
        .open_id     = open->open_id,
        .content     = fby_digest_of(open->content.data, open->content.size),
        .data        = digest_of(data),
        .fingerprint = digest_of(build),
        .samples     = SAMPLES,
        .shards      = &shard,
        .n_shards    = 1,
    };
}

static inline void send_opened(
    struct peer *worker, const struct fby_opened *opened)
{
    send_message(worker,
        &(struct fby_message){.type = FBY_MSG_OPENED, .opened = *opened});
}

/* Open the same dataset on every worker; the client sends requests then. */
static inline void open_all(struct dialogue *d)
{
    struct fby_open open[WORKERS];
    dialogue_start(d);
    join_session(d);
    for (int i = 0; i < d->n; i++) {
        open[i] = handshake(d, &d->workers[i]);
    }
    for (int i = 0; i < d->n; i++) {
        struct fby_opened opened = opened_as(&open[i], "data", "build");
        send_opened(&d->workers[i], &opened);
    }
}

/* Begin with an open stream of `n` workers. */
static inline void dialogue_open(struct dialogue *d, int n)
{
    dialogue_begin(d, n);
    open_all(d);
}

#endif
