/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/prepared_worker.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <zmq.h>

#include "bench/bench.h"
#include "common/clock.h"
#include "common/socket.h"
#include "proto/wire.h"

enum { MAX_REQUESTS = 1024, ROUTE_SIZE = 32, RETRY_MS = 1 };

struct zmq_route { /* ZeroMQ routing id of a connection */
    uint8_t id[ROUTE_SIZE];
    size_t  size;
};

struct payload_copy { /* a copy of all payloads of the batch */
    uint8_t    *memory;
    bool        is_taken;    /* by a request that is not answered completely */
    atomic_uint frames_held; /* frames not yet released by ZeroMQ */
};

struct pending_request { /* a request that is not answered completely */
    struct fby_request   request;
    struct payload_copy *copy; /* source of its chunks; NULL before HEADER */
    uint32_t             next_chunk; /* number of the next chunk to send */
    int64_t              due_ns;     /* end of its service time */
};

struct prepared_worker {
    void                     *router; /* to clients */
    void                     *dealer; /* to the server */
    char                      endpoint[256];
    struct fby_instance_id    instance;
    const struct bench_batch *batch;
    struct payload_copy       copies[BENCH_MAX_COPIES];
    size_t                    n_copies;
    int64_t                   service_ns;
    int64_t idle_from_ns; /* end of the service time of the last request */
    int64_t next_heartbeat_ns;
    int     ready_fd; /* gets a byte after the registration; then -1 */
    struct fby_session_id session; /* of the last HELLO */
    struct zmq_route      route;   /* to the session's client */
    uint64_t              sent;    /* bytes of chunks, on this route */
    uint64_t credit; /* bytes that the client has received, by CREDIT */
    struct pending_request pending[MAX_REQUESTS]; /* ring buffer */
    uint32_t               oldest;                /* its index in pending[] */
    uint32_t               n_pending; /* number of entries in pending[] */
};

/* Pending request i, the oldest first. */
static struct pending_request *pending_at(
    struct prepared_worker *self, uint32_t i)
{
    return &self->pending[(self->oldest + i) % MAX_REQUESTS];
}

/* ---- sending ------------------------------------------------------------- */

/* Send a message on a ROUTER to the peer `to`, or on a DEALER (`to` is NULL).
 * Drops the message if the peer has disconnected. */
static void send_message(
    void *socket, const struct zmq_route *to, const struct fby_message *message)
{
    struct fby_buffer       buffer = {0};
    struct fby_error_detail why    = {{0}};
    if (fby_message_encode(message, &buffer, &why) != FBY_OK) {
        bench_die("%s: %s", fby_message_name(message->type), why.text);
    }
    if (to == NULL ||
        zmq_send(socket, to->id, to->size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0) {
        zmq_send(socket, buffer.data, buffer.size, ZMQ_DONTWAIT);
    }
    fby_buffer_fini(&buffer);
}

static void reply(struct prepared_worker *self, const struct fby_message *out)
{
    send_message(self->router, &self->route, out);
}

/* ZeroMQ calls this on one of its threads when it has sent a frame. */
static void release_frame(void *data, void *hint)
{
    struct payload_copy *copy = hint;
    (void)data;
    atomic_fetch_sub(&copy->frames_held, 1);
}

/* Returns NULL if all copies are in use. */
static struct payload_copy *take_free_copy(struct prepared_worker *self)
{
    for (size_t i = 0; i < self->n_copies; i++) {
        struct payload_copy *copy = &self->copies[i];
        if (!copy->is_taken && atomic_load(&copy->frames_held) == 0) {
            copy->is_taken = true;
            return copy;
        }
    }
    return NULL;
}

static void send_header(
    struct prepared_worker *self, const struct pending_request *pending)
{
    const struct fby_raw_field   *raw     = &self->batch->layout.fields[0];
    const struct fby_request     *request = &pending->request;
    const struct fby_header_field field   = {
          .name      = "image",
          .encoding  = FBY_ENCODING_DENSE,
          .type      = raw->type,
          .shape     = raw->shape,
          .raw_bytes = raw->raw_bytes,
          .n_chunks  = raw->n_chunks,
    };
    const struct fby_header header = {
        .session          = request->session,
        .request          = request->request,
        .epoch            = request->epoch,
        .step             = request->step,
        .first_row        = request->first_row,
        .rows             = request->rows,
        .fields           = &field,
        .n_fields         = 1,
        .request_checksum = fby_request_checksum(request),
    };
    reply(
        self, &(struct fby_message){.type = FBY_MSG_HEADER, .header = header});
}

static void send_chunk(
    struct prepared_worker *self, struct pending_request *pending)
{
    const struct bench_chunk *source =
        &self->batch->chunks[pending->next_chunk];
    uint8_t *payload = pending->copy->memory + source->offset;
    uint8_t *frame = payload - FBY_CHUNK_PREFIX; /* bench/batch.h leaves room */
    size_t   size  = FBY_CHUNK_PREFIX + source->wire_bytes;
    const struct fby_chunk chunk = {
        .session    = pending->request.session,
        .request    = pending->request.request,
        .filter     = source->coding.filter,
        .codec      = source->coding.codec,
        .number     = pending->next_chunk,
        .raw_offset = source->span.raw_offset,
        .raw_bytes  = source->span.raw_bytes,
        .wire_bytes = source->wire_bytes,
        .raw_hash   = source->raw_hash,
    };
    zmq_msg_t message;
    fby_chunk_write_prefix(&chunk, payload, frame);
    atomic_fetch_add(&pending->copy->frames_held, 1);
    zmq_msg_init_data(&message, frame, size, release_frame, pending->copy);
    if (zmq_send(self->router, self->route.id, self->route.size,
            ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
        zmq_msg_send(&message, self->router, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&message); /* the client has disconnected */
    }
    self->sent += size;
    pending->next_chunk++;
}

static void send_end(
    struct prepared_worker *self, struct pending_request *pending)
{
    struct fby_checksum sum =
        fby_field_checksum(&self->batch->layout, 0, self->batch->checksummed);
    reply(self, &(struct fby_message){
                    .type = FBY_MSG_END,
                    .end  = {.session = pending->request.session,
                         .request     = pending->request.request,
                         .wire_bytes  = self->batch->wire_bytes,
                         .sums        = &sum,
                         .n_sums      = 1},
                });
}

static void drop_oldest(struct prepared_worker *self)
{
    struct payload_copy *copy = pending_at(self, 0)->copy;
    if (copy != NULL) {
        copy->is_taken = false;
    }
    self->oldest = (self->oldest + 1) % MAX_REQUESTS;
    self->n_pending--;
}

/* Send the next message of the oldest request: HEADER and a chunk, a chunk, or
 * END. Returns false if nothing was sent, because the request is not due or
 * waits for a free copy or for credit. */
static bool send_next(struct prepared_worker *self, int64_t now_ns)
{
    struct pending_request *pending = pending_at(self, 0);
    if (self->n_pending == 0 || pending->due_ns > now_ns) {
        return false;
    }
    if (pending->copy == NULL) {
        pending->copy = take_free_copy(self);
        if (pending->copy == NULL) {
            return false;
        }
        send_header(self, pending);
    }
    if (pending->next_chunk < self->batch->layout.n_chunks) {
        bool has_credit = self->sent < self->credit + BENCH_SEND_WINDOW;
        if (has_credit) {
            send_chunk(self, pending);
        }
        return has_credit;
    }
    send_end(self, pending);
    drop_oldest(self);
    return true;
}

/* ---- receiving ----------------------------------------------------------- */

static void on_hello(struct prepared_worker *self, const struct zmq_route *from,
    const struct fby_hello *hello)
{
    while (self->n_pending > 0) {
        drop_oldest(self);
    }
    self->session      = hello->session;
    self->route        = *from;
    self->sent         = 0;
    self->credit       = 0;
    self->idle_from_ns = 0;
    reply(self, &(struct fby_message){.type = FBY_MSG_WELCOME,
                    .welcome                = {.session = hello->session,
                                       .route           = hello->route,
                                       .instance        = self->instance,
                                       .version         = FBY_PROTOCOL_VERSION,
                                       .features        = hello->features,
                                       .send_window     = BENCH_SEND_WINDOW}});
}

static void on_ping(struct prepared_worker *self, const struct fby_ping *ping)
{
    struct fby_request_id open[MAX_REQUESTS];
    uint32_t              n = self->n_pending;
    for (uint32_t i = 0; i < n; i++) {
        open[i] = pending_at(self, i)->request.request;
    }
    reply(self, &(struct fby_message){.type = FBY_MSG_PONG,
                    .pong                   = {.session = ping->session,
                                          .instance     = self->instance,
                                          .sequence     = ping->sequence,
                                          .requests     = {open, n}}});
}

static void on_open(struct prepared_worker *self, const struct fby_open *open)
{
    const uint32_t              samples = 1000 * self->batch->layout.rows;
    const struct fby_shard_info shard   = {.name = "train-0.tar",
          .digest                                = fby_digest_of("shard", 5),
          .samples                               = samples};
    reply(self, &(struct fby_message){
                    .type   = FBY_MSG_OPENED,
                    .opened = {.session = open->session,
                        .open_id        = open->open_id,
                        .content        = fby_digest_of(
                                   open->content.data, open->content.size),
                        .data        = fby_digest_of("data", 4),
                        .fingerprint = fby_digest_of("fingerprint", 11),
                        .samples     = samples,
                        .shards      = &shard,
                        .n_shards    = 1},
                });
}

static void on_request(struct prepared_worker *self,
    const struct fby_request *request, int64_t now_ns)
{
    if (self->n_pending == MAX_REQUESTS ||
        request->rows != self->batch->layout.rows) {
        bench_die("a request does not fit the prepared batch, or there are "
                  "more than %d requests",
            MAX_REQUESTS);
    }
    /* Requests are served one after the other. */
    int64_t begin = self->idle_from_ns > now_ns ? self->idle_from_ns : now_ns;
    self->idle_from_ns                   = begin + self->service_ns;
    *pending_at(self, self->n_pending++) = (struct pending_request){
        .request = *request, .due_ns = self->idle_from_ns};
}

/* Drop request `id` unless its chunks are being sent. Then update the due times
 * of the other requests. */
static void on_cancel(
    struct prepared_worker *self, struct fby_request_id id, int64_t now_ns)
{
    uint32_t kept      = 0;
    self->idle_from_ns = now_ns;
    for (uint32_t i = 0; i < self->n_pending; i++) {
        struct pending_request pending = *pending_at(self, i);
        if (pending.copy == NULL &&
            fby_request_equal(pending.request.request, id)) {
            continue;
        }
        if (i > 0) { /* entry 0 is served now and keeps its due time */
            pending.due_ns = self->idle_from_ns + self->service_ns;
        }
        self->idle_from_ns = pending.due_ns > now_ns ? pending.due_ns : now_ns;
        *pending_at(self, kept++) = pending;
    }
    self->n_pending = kept;
}

static void on_message(struct prepared_worker *self,
    const struct zmq_route *from, const struct fby_message *message,
    int64_t now_ns)
{
    if (message->type == FBY_MSG_HELLO) {
        on_hello(self, from, &message->hello);
    }
    if (!fby_session_equal(fby_message_session(message), self->session)) {
        return; /* of an earlier session */
    }
    if (message->type == FBY_MSG_PING) {
        on_ping(self, &message->ping);
    } else if (message->type == FBY_MSG_OPEN) {
        on_open(self, &message->open);
    } else if (message->type == FBY_MSG_REQUEST) {
        on_request(self, &message->request, now_ns);
    } else if (message->type == FBY_MSG_CANCEL) {
        on_cancel(self, message->cancel.request, now_ns);
    } else if (message->type == FBY_MSG_CREDIT) {
        self->credit = message->credit.received;
    }
}

/* Receive the next valid message; the caller ends it with fby_message_fini().
 * Returns false if no message is left. `from` is NULL on a DEALER. */
static bool receive_message(
    void *socket, struct zmq_route *from, struct fby_message *out)
{
    bool received = true;
    bool valid    = false;
    while (received && !valid) { /* skip invalid messages */
        zmq_msg_t frame;
        int       size = 0;
        if (from != NULL) { /* a ROUTER puts the id of the peer first */
            size = zmq_recv(socket, from->id, sizeof(from->id), ZMQ_DONTWAIT);
            from->size = size > 0 ? (size_t)size : 0;
        }
        zmq_msg_init(&frame);
        received = size >= 0 && zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) >= 0;
        valid    = received && fby_message_decode(zmq_msg_data(&frame),
                                   zmq_msg_size(&frame), out, NULL) == FBY_OK;
        zmq_msg_close(&frame);
    }
    return valid;
}

static void read_messages(struct prepared_worker *self, int64_t now_ns)
{
    struct zmq_route   from;
    struct fby_message message;
    while (receive_message(self->router, &from, &message)) {
        on_message(self, &from, &message, now_ns);
        fby_message_fini(&message);
    }
    while (receive_message(self->dealer, NULL, &message)) {
        if (message.type == FBY_MSG_REGISTERED && self->ready_fd >= 0 &&
            write(self->ready_fd, "", 1) == 1) {
            close(self->ready_fd);
            self->ready_fd = -1;
        }
        fby_message_fini(&message);
    }
}

static void connect_to_server(struct prepared_worker *self, const char *server)
{
    static const struct fby_socket_limits limits = {
        .max_message_bytes = FBY_MESSAGE_MAX};
    const char             *endpoint = self->endpoint;
    const char             *root     = "d";
    struct fby_error_detail why      = {{0}};
    void                   *zmq      = zmq_ctx_new();
    if (fby_socket_bind(zmq, "tcp://127.0.0.1:*", &limits, self->endpoint,
            &self->router, &why) != FBY_OK ||
        fby_socket_connect(zmq, server, &limits, &self->dealer) != FBY_OK) {
        bench_die("a socket cannot be opened: %s", why.text);
    }
    self->instance = fby_instance_random();
    send_message(self->dealer, NULL,
        &(struct fby_message){.type = FBY_MSG_REGISTER,
            .registration           = {.instance = self->instance,
                          .endpoints             = {&endpoint, 1},
                          .host                  = "here",
                          .pid                   = (uint32_t)getpid(),
                          .cores                 = 1,
                          .roots                 = {&root, 1}}});
}

/* Returns the time until the next heartbeat or the next due request. */
static long wait_ms(struct prepared_worker *self, int64_t now_ns)
{
    int64_t due_ns = self->next_heartbeat_ns;
    if (self->n_pending > 0 && pending_at(self, 0)->due_ns < due_ns) {
        due_ns = pending_at(self, 0)->due_ns;
    }
    if (due_ns <= now_ns) {
        return RETRY_MS; /* the request waits for credit or for a free copy */
    }
    return (long)((due_ns - now_ns + FBY_NS_PER_MS - 1) / FBY_NS_PER_MS);
}

/* One turn of the loop: wait, send a heartbeat if due, receive and send. */
static void run_turn(struct prepared_worker *self)
{
    zmq_pollitem_t items[] = {
        {.socket = self->router, .events = ZMQ_POLLIN},
        {.socket = self->dealer, .events = ZMQ_POLLIN},
    };
    zmq_poll(items, 2, wait_ms(self, fby_now_ns()));
    int64_t now_ns = fby_now_ns();
    if (now_ns >= self->next_heartbeat_ns) {
        self->next_heartbeat_ns = now_ns + FBY_NS_PER_S;
        send_message(self->dealer, NULL,
            &(struct fby_message){.type = FBY_MSG_HEARTBEAT,
                .heartbeat              = {.instance = self->instance}});
    }
    do {
        read_messages(self, now_ns);
    } while (send_next(self, now_ns));
}

_Noreturn void bench_prepared_worker_run(const char *server,
    const struct bench_batch *batch, int64_t service_ns, int ready_fd)
{
    static struct prepared_worker self;
    struct bench_copies           copies = bench_batch_copies(batch);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    self.batch      = batch;
    self.n_copies   = copies.n;
    self.service_ns = service_ns;
    self.ready_fd   = ready_fd;
    for (size_t i = 0; i < copies.n; i++) {
        self.copies[i].memory = copies.memory + i * batch->payloads_bytes;
    }
    connect_to_server(&self, server);
    for (;;) {
        run_turn(&self);
    }
}
