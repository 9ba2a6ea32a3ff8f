/* dialogue.h - a receiver on real sockets; the test sends every message of the
 * server and of the workers itself, from one thread.
 *
 * Since no other message is sent, a test can wait for the effect of each. While
 * it waits, PINGs are answered. Batches have ROWS rows of two labels, `colour`
 * and `label`, each one byte a row. */
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

struct heard { /* a message that the test has not asked for yet */
    struct heard      *next;
    bool               taken;
    struct fby_message message;
};

struct party { /* the server, or a worker */
    void                  *socket;
    char                   endpoint[64];
    const char            *named[1]; /* the same, for lists */
    struct fby_instance_id instance;
    uint8_t                route[ROUTE_SIZE]; /* of the last message */
    size_t                 route_size;
    bool                   silent; /* PINGs are not answered */
    struct heard          *heard;  /* in order; kept until the end */
    struct heard         **tail;
};

struct dialogue {
    void                  *zmq;
    struct party           server;
    struct party           workers[WORKERS];
    int                    n;
    struct forebay_options options;
    struct fby_setup       setup;
    struct fby_ready_queue ready_queue;
    struct fby_batch_pool *batch_pool;
    struct fby_receiver   *receiver;
    struct fby_session_id  session;
    uint64_t               lists; /* that the server has sent */
    uint64_t asked_bytes;         /* of memory for a batch; 0: as set up */
};

/* ---- Begin and end ------------------------------------------------------- */

static inline void be_party(struct dialogue *d, struct party *party)
{
    const int zero  = 0;
    size_t    size  = sizeof(party->endpoint);
    *party          = (struct party){.instance = fby_instance_random()};
    party->tail     = &party->heard;
    party->named[0] = party->endpoint;
    party->socket   = zmq_socket(d->zmq, ZMQ_ROUTER);
    zmq_setsockopt(party->socket, ZMQ_LINGER, &zero, sizeof(zero));
    assert_int_equal(zmq_bind(party->socket, "tcp://127.0.0.1:*"), 0);
    zmq_getsockopt(party->socket, ZMQ_LAST_ENDPOINT, party->endpoint, &size);
}

/* One request at a time. */
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
    be_party(d, &d->server);
    for (int i = 0; i < n_workers; i++) {
        be_party(d, &d->workers[i]);
    }
    d->options                = forebay_options();
    d->options.server         = d->server.endpoint;
    d->options.pipeline_text  = text;
    d->options.window_batches = 1;
    d->options.job            = "the job";
}

/* The receiver speaks from now on. */
static inline void dialogue_start(struct dialogue *d)
{
    struct fby_why why = {""};
    if (fby_setup_init(&d->setup, &d->options, &why) != FBY_OK) {
        fail_msg("setup: %s", why.text);
    }
    const struct fby_batch_pool_config config = {
        .device    = d->setup.device,
        .out_bytes = d->asked_bytes != 0 ? d->asked_bytes : d->setup.out_bytes,
        .max_rows  = d->setup.max_rows,
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

static inline void party_over(struct party *party)
{
    while (party->heard != NULL) {
        struct heard *gone = party->heard;
        party->heard       = gone->next;
        fby_message_fini(&gone->message);
        free(gone);
    }
    if (party->socket != NULL) {
        zmq_close(party->socket);
    }
}

static inline void dialogue_end(struct dialogue *d)
{
    fby_receiver_destroy(&d->receiver);
    fby_ready_queue_fini(&d->ready_queue);
    fby_batch_pool_leave(&d->batch_pool);
    fby_setup_fini(&d->setup);
    party_over(&d->server);
    for (int i = 0; i < d->n; i++) {
        party_over(&d->workers[i]);
    }
    zmq_ctx_term(d->zmq);
}

/* ---- Speaking and listening ---------------------------------------------- */

static inline void say_frame(
    struct party *party, const void *frame, size_t size)
{
    zmq_send(party->socket, party->route, party->route_size, ZMQ_SNDMORE);
    zmq_send(party->socket, frame, size, 0);
}

static inline void say(struct party *party, const struct fby_message *message)
{
    struct fby_buffer buffer = {0};
    struct fby_why    why    = {""};
    if (fby_message_encode(message, &buffer, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    say_frame(party, buffer.data, buffer.size);
    fby_buffer_fini(&buffer);
}

static inline void say_pong(struct party *party, const struct fby_ping *ping,
    const struct fby_request_id *open, size_t n_open)
{
    say(party, &(struct fby_message){.type = FBY_MSG_PONG,
                   .pong                   = {
                                         .session  = ping->session,
                                         .instance = party->instance,
                                         .sequence = ping->sequence,
                                         .open     = {open, n_open},
                   }});
}

/* Take in what has come for one party. */
static inline void listen_to(struct party *party)
{
    uint8_t route[ROUTE_SIZE];
    int     n = zmq_recv(party->socket, route, sizeof(route), ZMQ_DONTWAIT);
    for (; n > 0;
         n = zmq_recv(party->socket, route, sizeof(route), ZMQ_DONTWAIT)) {
        struct heard *one = fby_zalloc(sizeof(*one));
        zmq_msg_t     frame;
        memcpy(party->route, route, (size_t)n);
        party->route_size = (size_t)n;
        zmq_msg_init(&frame);
        zmq_msg_recv(&frame, party->socket, 0);
        assert_ok(fby_message_decode(
            zmq_msg_data(&frame), zmq_msg_size(&frame), &one->message, NULL));
        zmq_msg_close(&frame);
        *party->tail = one;
        party->tail  = &one->next;
    }
}

static inline struct heard *find_heard(
    const struct party *party, enum fby_message_type type)
{
    struct heard *one = party->heard;
    while (one != NULL && (one->taken || one->message.type != type)) {
        one = one->next;
    }
    return one;
}

/* The PONG names all requests: one that it left out would count as lost. */
static inline void answer_ping(struct party *worker, struct heard *ping)
{
    struct fby_request_id open[FBY_OPEN_REQUESTS];
    size_t                n   = 0;
    struct heard         *one = worker->heard;
    for (; one != NULL && n < FBY_OPEN_REQUESTS; one = one->next) {
        if (one->message.type == FBY_MSG_REQUEST) {
            open[n++] = one->message.request.request;
        }
    }
    ping->taken = true;
    say_pong(worker, &ping->message.ping, open, n);
}

/* All that has come, or what comes within a millisecond. */
static inline void listen_all(struct dialogue *d)
{
    zmq_pollitem_t items[WORKERS + 1] = {
        {.socket = d->server.socket, .events = ZMQ_POLLIN}};
    for (int i = 0; i < d->n; i++) {
        items[1 + i] = (zmq_pollitem_t){
            .socket = d->workers[i].socket, .events = ZMQ_POLLIN};
    }
    (void)zmq_poll(items, d->n + 1, 1);
    listen_to(&d->server);
    for (int i = 0; i < d->n; i++) {
        struct party *worker = &d->workers[i];
        listen_to(worker);
        struct heard *ping = find_heard(worker, FBY_MSG_PING);
        if (ping != NULL && !worker->silent) {
            answer_ping(worker, ping);
        }
    }
}

/* The next message of a type; it stays until the end. */
static inline const struct fby_message *hear(
    struct dialogue *d, struct party *party, enum fby_message_type type)
{
    int64_t       patience = fby_now_ns() + PATIENCE;
    struct heard *one      = find_heard(party, type);
    for (; one == NULL; one = find_heard(party, type)) {
        if (fby_now_ns() > patience) {
            fail_msg("no %s came", fby_message_name(type));
        }
        listen_all(d);
    }
    one->taken = true;
    return &one->message;
}

/* The same for any of the workers. */
static inline const struct fby_message *hear_any(
    struct dialogue *d, enum fby_message_type type, struct party **out)
{
    int64_t patience = fby_now_ns() + PATIENCE;
    while (true) {
        for (int i = 0; i < d->n; i++) {
            if (find_heard(&d->workers[i], type) != NULL) {
                *out = &d->workers[i];
                return hear(d, *out, type);
            }
        }
        if (fby_now_ns() > patience) {
            fail_msg("no %s came", fby_message_name(type));
        }
        listen_all(d);
    }
}

/* Every message of this type that arrived was heard. */
static inline void assert_unheard(
    struct dialogue *d, struct party *party, enum fby_message_type type)
{
    listen_all(d);
    if (find_heard(party, type) != NULL) {
        fail_msg("%s came", fby_message_name(type));
    }
}

/* Chunks that `party` sent have been counted. */
static inline void await_credit_of(struct dialogue *d, struct party *party)
{
    (void)hear(d, party, FBY_MSG_CREDIT);
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

/* Wait until this many are counted: all earlier messages were handled. */
static inline void await_errors(struct dialogue *d, uint64_t n)
{
    int64_t patience = fby_now_ns() + PATIENCE;
    while (stats_of(d).protocol_errors < n && fby_now_ns() < patience) {
        listen_all(d);
    }
    assert_int_equal(stats_of(d).protocol_errors, n);
}

static inline void await_waiting(struct dialogue *d, const char *text)
{
    struct fby_why waiting  = {""};
    int64_t        patience = fby_now_ns() + PATIENCE;
    bool           same     = false;
    while (!same && fby_now_ns() < patience) {
        listen_all(d);
        pthread_mutex_lock(&d->ready_queue.lock);
        waiting = d->ready_queue.waiting;
        pthread_mutex_unlock(&d->ready_queue.lock);
        same = strcmp(waiting.text, text) == 0;
    }
    assert_string_equal(waiting.text, text);
}

/* The words of a failure, once there is one. */
static inline const char *await_failed(
    struct dialogue *d, enum forebay_status status)
{
    int64_t patience = fby_now_ns() + PATIENCE;
    while (phase_of(d) != FBY_PHASE_FAILED && fby_now_ns() < patience) {
        listen_all(d);
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
    if (fby_ready_queue_next(&d->ready_queue, d->batch_pool, PATIENCE, NULL,
            &batch) != FOREBAY_OK) {
        fail_msg("next: %s", d->ready_queue.last.text);
    }
    return batch;
}

static inline void assert_no_batch(struct dialogue *d)
{
    struct forebay_batch *batch = NULL;
    assert_int_equal(
        fby_ready_queue_next(&d->ready_queue, d->batch_pool, 0, NULL, &batch),
        FOREBAY_TIMEOUT);
}

/* ---- The server's part --------------------------------------------------- */

static inline void say_workers(struct dialogue *d, int first, int n, bool full)
{
    struct fby_worker_info infos[WORKERS];
    for (int i = 0; i < n; i++) {
        infos[i] = (struct fby_worker_info){
            .instance  = d->workers[first + i].instance,
            .endpoints = {d->workers[first + i].named, 1},
            .host      = "here",
        };
    }
    say(&d->server, &(struct fby_message){.type = FBY_MSG_WORKERS,
                        .workers                = {
                                           .session  = d->session,
                                           .server   = d->server.instance,
                                           .sequence = ++d->lists,
                                           .full     = full,
                                           .added    = infos,
                                           .n_added  = (size_t)n,
                        }});
}

static inline void say_joined(struct dialogue *d)
{
    say(&d->server, &(struct fby_message){.type = FBY_MSG_JOINED,
                        .joined                 = {
                                            .session      = d->session,
                                            .server       = d->server.instance,
                                            .lease_ms     = 60000,
                                            .heartbeat_ms = 20000,
                        }});
}

/* Wait until the server's messages are handled: one error is counted. */
static inline void await_server(struct dialogue *d)
{
    say(&d->server,
        &(struct fby_message){.type = FBY_MSG_PING, .ping = {{7}, 1}});
    await_errors(d, 1);
}

/* Joined, and told of all workers. */
static inline void admit(struct dialogue *d)
{
    d->session = hear(d, &d->server, FBY_MSG_JOIN)->join.session;
    say_joined(d);
    say_workers(d, 0, d->n, true);
}

/* ---- A worker's part ----------------------------------------------------- */

/* WELCOME that names the requests the worker still has. */
static inline void say_welcome_with(struct party *worker,
    const struct fby_hello *hello, const struct fby_request_id *open,
    size_t n_open)
{
    say(worker, &(struct fby_message){.type = FBY_MSG_WELCOME,
                    .welcome                = {
                                       .session     = hello->session,
                                       .route       = hello->route,
                                       .instance    = worker->instance,
                                       .version     = 1,
                                       .features    = hello->features,
                                       .send_window = 16 << 20,
                                       .open        = {open, n_open},
                    }});
}

static inline void say_welcome(
    struct party *worker, const struct fby_hello *hello)
{
    say_welcome_with(worker, hello, NULL, 0);
}

/* REFUSED in answer to HELLO. */
static inline void say_refused(struct dialogue *d, struct party *worker,
    enum fby_refused_code code, const char *text)
{
    say(worker, &(struct fby_message){.type = FBY_MSG_REFUSED,
                    .refused                = {
                                       .session     = d->session,
                                       .code        = code,
                                       .version_min = 1,
                                       .version_max = 1,
                                       .text        = text,
                    }});
}

/* Send BUSY; returns when it is the reason why the stream waits. */
static inline void say_busy(struct dialogue *d, struct party *worker,
    struct fby_request_id request, uint32_t retry_ms)
{
    char text[400];
    snprintf(text, sizeof(text),
        "worker here (%s) is busy: it has no room, memory or files for a "
        "batch now, and is asked again; if this lasts, its log says why",
        worker->endpoint);
    say(worker, &(struct fby_message){.type = FBY_MSG_BUSY,
                    .busy                   = {d->session, request, retry_ms}});
    await_waiting(d, text);
}

/* HELLO and WELCOME; returns the OPEN that follows. The client repeats HELLO
 * after a second. */
static inline struct fby_open greet(struct dialogue *d, struct party *worker)
{
    int64_t patience = fby_now_ns() + PATIENCE;
    while (
        find_heard(worker, FBY_MSG_OPEN) == NULL && fby_now_ns() < patience) {
        if (find_heard(worker, FBY_MSG_HELLO) != NULL) {
            say_welcome(worker, &hear(d, worker, FBY_MSG_HELLO)->hello);
        }
        listen_all(d);
    }
    return hear(d, worker, FBY_MSG_OPEN)->open;
}

static inline struct fby_digest digest_of(const char *text)
{
    return fby_digest_of(text, strlen(text));
}

/* Data and build have these names. */
static inline struct fby_opened opened_as(
    const struct fby_open *open, const char *data, const char *build)
{
    static const struct fby_shard_info shard = {
        .name = "train-0.tar", .samples = SAMPLES};
    return (struct fby_opened){
        .session     = open->session,
        .open        = open->open,
        .content     = fby_digest_of(open->content.data, open->content.size),
        .data        = digest_of(data),
        .fingerprint = digest_of(build),
        .samples     = SAMPLES,
        .shards      = &shard,
        .n_shards    = 1,
    };
}

static inline void say_opened(
    struct party *worker, const struct fby_opened *opened)
{
    say(worker,
        &(struct fby_message){.type = FBY_MSG_OPENED, .opened = *opened});
}

/* Every worker has opened the same; requests come from now on. */
static inline void open_all(struct dialogue *d)
{
    struct fby_open open[WORKERS];
    dialogue_start(d);
    admit(d);
    for (int i = 0; i < d->n; i++) {
        open[i] = greet(d, &d->workers[i]);
    }
    for (int i = 0; i < d->n; i++) {
        struct fby_opened opened = opened_as(&open[i], "data", "build");
        say_opened(&d->workers[i], &opened);
    }
}

/* An open stream of `n` workers. */
static inline void dialogue_open(struct dialogue *d, int n)
{
    dialogue_begin(d, n);
    open_all(d);
}

#endif
