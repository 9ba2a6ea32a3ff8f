#include "bench/ready_worker.h"

#include <string.h>
#include <zmq.h>

#include "bench/bench.h"

/* ---- sending ------------------------------------------------------------- */

void ready_send_message(
    void *socket, const struct ready_route *to, const struct fby_message *m)
{
    struct fby_buffer buffer = {0};
    struct fby_why    why    = {{0}};
    if (fby_message_encode(m, &buffer, &why) != FBY_OK) {
        bench_die("%s: %s", fby_message_name(m->type), why.text);
    }
    if (to == NULL ||
        zmq_send(socket, to->id, to->size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0) {
        zmq_send(socket, buffer.data, buffer.size, ZMQ_DONTWAIT);
    }
    fby_buffer_fini(&buffer);
}

static void reply(struct ready_worker *self, const struct fby_message *m)
{
    ready_send_message(self->router, &self->route, m);
}

/* Free function of a frame; runs on a thread of ZeroMQ. */
static void release_copy(void *data, void *hint)
{
    struct ready_copy *copy = hint;
    (void)data;
    atomic_fetch_sub(&copy->frames_held, 1);
}

static struct ready_pending *first_pending(struct ready_worker *self)
{
    return self->n > 0 ? &self->pending[self->first] : NULL;
}

static struct ready_copy *take_copy(struct ready_pool *pool)
{
    for (unsigned i = 0; i < pool->n; i++) {
        struct ready_copy *copy = &pool->copies[i];
        if (!copy->taken && atomic_load(&copy->frames_held) == 0) {
            copy->taken = true;
            return copy;
        }
    }
    return NULL;
}

static void send_header(
    struct ready_worker *self, const struct ready_pending *pending)
{
    const struct fby_raw_field   *raw   = &self->plan->stock->layout.fields[0];
    const struct fby_request     *r     = &pending->request;
    const struct fby_header_field field = {
        .name      = "image",
        .encoding  = FBY_ENCODING_DENSE,
        .type      = raw->type,
        .shape     = raw->shape,
        .raw_bytes = raw->raw_bytes,
        .n_chunks  = raw->n_chunks,
    };
    reply(self, &(struct fby_message){.type = FBY_MSG_HEADER,
                    .header                 = {.session = r->session,
                                        .request        = r->request,
                                        .epoch          = r->epoch,
                                        .step           = r->step,
                                        .first_row      = r->first_row,
                                        .rows           = r->rows,
                                        .fields         = &field,
                                        .n_fields       = 1,
                                        .asked          = fby_request_sum(r)}});
}

static void send_chunk(struct ready_worker *self, struct ready_pending *pending)
{
    const struct bench_chunk *encoded =
        &self->plan->stock->chunks[pending->next];
    uint8_t               *payload = pending->copy->memory + encoded->at;
    uint8_t               *frame   = payload - FBY_CHUNK_PREFIX;
    size_t                 size    = FBY_CHUNK_PREFIX + encoded->wire_bytes;
    const struct fby_chunk chunk   = {
          .session    = pending->request.session,
          .request    = pending->request.request,
          .filter     = encoded->coding.filter,
          .codec      = encoded->coding.codec,
          .number     = pending->next,
          .raw_offset = encoded->span.raw_offset,
          .raw_bytes  = encoded->span.raw_bytes,
          .wire_bytes = encoded->wire_bytes,
          .raw_hash   = encoded->raw_hash,
    };
    zmq_msg_t message;
    fby_chunk_write(&chunk, payload, frame);
    atomic_fetch_add(&pending->copy->frames_held, 1);
    zmq_msg_init_data(&message, frame, size, release_copy, pending->copy);
    if (zmq_send(self->router, self->route.id, self->route.size,
            ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
        zmq_msg_send(&message, self->router, ZMQ_DONTWAIT) < 0) {
        zmq_msg_close(&message); /* the client has disconnected */
    }
    self->sent += size;
    pending->next++;
}

static void send_end(struct ready_worker *self, struct ready_pending *pending)
{
    struct fby_sum sum =
        fby_field_sum(&self->plan->stock->layout, 0, self->plan->stock->sent);
    reply(self, &(struct fby_message){
                    .type = FBY_MSG_END,
                    .end  = {.session = pending->request.session,
                         .request     = pending->request.request,
                         .wire_bytes  = self->plan->stock->wire_bytes,
                         .sums        = &sum,
                         .n_sums      = 1},
                });
    atomic_fetch_add(self->served, 1);
}

static void drop_first(struct ready_worker *self)
{
    struct ready_pending *pending = &self->pending[self->first];
    if (pending->copy != NULL) {
        pending->copy->taken = false;
    }
    self->first = (self->first + 1) % READY_MAX_PENDING;
    self->n--;
}

bool ready_send(struct ready_worker *self, int64_t now_ns)
{
    struct ready_pending *pending = first_pending(self);
    if (pending == NULL || pending->due_ns > now_ns) {
        return false;
    }
    if (pending->copy == NULL) {
        pending->copy = take_copy(self->pool);
        if (pending->copy == NULL) {
            return false;
        }
        send_header(self, pending);
    }
    if (pending->next < self->plan->stock->layout.n_chunks) {
        bool allowed = self->sent < self->credit + BENCH_READY_WINDOW;
        if (allowed) {
            send_chunk(self, pending);
        }
        return allowed;
    }
    send_end(self, pending);
    drop_first(self);
    return true;
}

int64_t ready_due_ns(const struct ready_worker *self)
{
    return self->n > 0 ? self->pending[self->first].due_ns : INT64_MAX;
}

/* ---- receiving ----------------------------------------------------------- */

static void on_hello(struct ready_worker *self, const struct ready_route *from,
    const struct fby_hello *hello)
{
    while (self->n > 0) {
        drop_first(self);
    }
    self->session = hello->session;
    self->route   = *from;
    self->sent    = 0;
    self->credit  = 0;
    self->free_ns = 0;
    reply(self, &(struct fby_message){.type = FBY_MSG_WELCOME,
                    .welcome                = {.session = hello->session,
                                       .route           = hello->route,
                                       .instance        = self->instance,
                                       .version         = FBY_PROTOCOL_VERSION,
                                       .features        = hello->features,
                                       .send_window     = BENCH_READY_WINDOW}});
}

static void on_ping(struct ready_worker *self, const struct fby_ping *ping)
{
    struct fby_request_id open[READY_MAX_PENDING];
    for (uint32_t i = 0; i < self->n; i++) {
        open[i] = self->pending[(self->first + i) % READY_MAX_PENDING]
                      .request.request;
    }
    reply(self, &(struct fby_message){.type = FBY_MSG_PONG,
                    .pong                   = {.session = ping->session,
                                          .instance     = self->instance,
                                          .sequence     = ping->sequence,
                                          .open         = {open, self->n}}});
}

static struct fby_digest digest_of_name(const char *name)
{
    return fby_digest_of(name, strlen(name));
}

static void on_open(struct ready_worker *self, const struct fby_open *open)
{
    const struct fby_shard_info shard = {.name = "train-0.tar",
        .digest                                = digest_of_name("shard"),
        .samples                               = self->plan->samples};
    reply(self, &(struct fby_message){
                    .type   = FBY_MSG_OPENED,
                    .opened = {.session = open->session,
                        .open           = open->open,
                        .content        = fby_digest_of(
                                   open->content.data, open->content.size),
                        .data        = digest_of_name("data"),
                        .fingerprint = digest_of_name("fingerprint"),
                        .samples     = self->plan->samples,
                        .shards      = &shard,
                        .n_shards    = 1},
                });
}

static void on_request(struct ready_worker *self,
    const struct fby_request *request, int64_t now_ns)
{
    if (self->n == READY_MAX_PENDING ||
        request->rows != self->plan->stock->layout.rows) {
        bench_die("a request does not fit the prepared batch, or there are "
                  "more than %d requests",
            READY_MAX_PENDING);
    }
    int64_t begin = self->free_ns > now_ns ? self->free_ns : now_ns;
    self->free_ns = begin + self->service_ns;
    self->pending[(self->first + self->n++) % READY_MAX_PENDING] =
        (struct ready_pending){.request = *request, .due_ns = self->free_ns};
}

/* Drop the request unless it is being sent; those behind it are due earlier. */
static void on_cancel(
    struct ready_worker *self, struct fby_request_id id, int64_t now_ns)
{
    uint32_t kept = 0;
    uint32_t n    = self->n;
    self->free_ns = now_ns;
    for (uint32_t i = 0; i < n; i++) {
        struct ready_pending pending =
            self->pending[(self->first + i) % READY_MAX_PENDING];
        if (pending.copy == NULL &&
            fby_request_equal(pending.request.request, id)) {
            continue;
        }
        if (i > 0) {
            pending.due_ns = self->free_ns + self->service_ns;
        }
        self->free_ns = pending.due_ns > now_ns ? pending.due_ns : now_ns;
        self->pending[(self->first + kept++) % READY_MAX_PENDING] = pending;
    }
    self->n = kept;
}

void ready_on_message(struct ready_worker *self, const struct ready_route *from,
    const struct fby_message *message, int64_t now_ns)
{
    if (message->type == FBY_MSG_HELLO) {
        on_hello(self, from, &message->hello);
    }
    if (!fby_session_equal(fby_message_session(message), self->session)) {
        return;
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
