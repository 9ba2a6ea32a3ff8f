/* SPDX-License-Identifier: Apache-2.0 */
/* Handle the messages of clients, and send control messages to them. ZeroMQ
 * names each connection by a routing id. A message on a connection that sent no
 * HELLO is answered by HELLO_FIRST. A message that the protocol forbids in the
 * current state is counted and dropped. */
#include "common/clock.h"
#include "common/log.h"
#include "worker/loop/loop.h"

enum { MAX_OPEN_IDS = 1024 }; /* above session_config.max_batches */

/* ---- Sending ------------------------------------------------------------- */

bool fby_loop_encode(struct fby_loop *self, const struct fby_message *message)
{
    struct fby_error_detail why = {{0}};
    self->frame.size            = 0;
    fby_err err = fby_message_encode(message, &self->frame, &why);
    if (err != FBY_OK) {
        fby_error("SEND", "%s cannot be encoded: %s",
            fby_message_name(message->type), why.text);
    }
    return err == FBY_OK;
}

/* Returns false if the connection is gone. Returns true also if the message
 * cannot be encoded and is dropped, because the connection may still exist. */
static bool encode_and_send(struct fby_loop *self,
    const struct fby_routing_id *to, const struct fby_message *message)
{
    if (!fby_loop_encode(self, message)) {
        return true;
    }
    return fby_socket_send(
        self->router, to, self->frame.data, self->frame.size);
}

void fby_loop_route_lost(struct fby_loop *self, struct fby_loop_peer *peer)
{
    self->counts.routes_lost++;
    fby_session_route_lost(peer->session);
    peer->routing_id.size = 0;
    peer->is_deferred     = false;
}

void fby_loop_send_to_peer(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    if (peer->routing_id.size > 0 &&
        !encode_and_send(self, &peer->routing_id, message)) {
        fby_loop_route_lost(self, peer);
    }
}

void fby_loop_send_busy(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_request_id id, const char *text)
{
    const int64_t retry_ns = self->session_config.retry_ns;
    self->counts.busy++;
    fby_loop_send_to_peer(self, peer,
        FBY_MESSAGE(BUSY, busy, .session = peer->id, .request = id,
            .retry_ms = (uint32_t)(retry_ns / FBY_NS_PER_MS), .text = text));
}

void fby_loop_send_lost(
    struct fby_loop *self, struct fby_loop_peer *peer, struct fby_request_id id)
{
    self->counts.lost++;
    fby_loop_send_to_peer(self, peer,
        FBY_MESSAGE(LOST, lost, .session = peer->id, .request = id));
}

/* Send `message` to a connection that may have no peer. */
static void send_to_connection(struct fby_loop *self,
    const struct fby_routing_id *to, const struct fby_message *message)
{
    if (!encode_and_send(self, to, message)) {
        self->counts.routes_lost++;
    }
}

static void send_refused(struct fby_loop *self, const struct fby_routing_id *to,
    struct fby_session_id session, enum fby_refused_code code, const char *text)
{
    self->counts.refused_clients++;
    fby_warn("CLIENT-REFUSED", "%s", text);
    send_to_connection(self, to,
        FBY_MESSAGE(REFUSED, refused, .session = session, .code = code,
            .version_min = FBY_PROTOCOL_VERSION,
            .version_max = FBY_PROTOCOL_VERSION, .text = text));
}

/* ---- HELLO --------------------------------------------------------------- */

static void send_welcome(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_hello *hello)
{
    struct fby_request_id open[MAX_OPEN_IDS];
    size_t n_open = fby_session_list_open(peer->session, open, MAX_OPEN_IDS);
    fby_loop_send_to_peer(self, peer,
        FBY_MESSAGE(WELCOME, welcome, .session = peer->id,
            .route = hello->route, .instance = self->instance,
            .version = FBY_PROTOCOL_VERSION, .features = peer->features,
            .send_window = self->options.send_window_bytes,
            .requests    = {open, n_open}));
}

/* End the session of a route that is not `kept`. A route has one session, so
 * that the number of sessions is limited by that of connections. */
static void end_other_session(struct fby_loop *self,
    const struct fby_routing_id *route, const struct fby_loop_peer *kept)
{
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        if (peer != kept && !peer->has_left &&
            fby_routing_id_equal(&peer->routing_id, route)) {
            fby_info("CLIENT-REPLACED", "%s: another session on its connection",
                peer->name);
            fby_loop_peer_end(self, peer);
        }
    }
}

/* Find or add the peer of `hello`. Returns NULL if REFUSED was sent instead. */
static struct fby_loop_peer *find_or_add_peer(struct fby_loop *self,
    const struct fby_routing_id *sender, const struct fby_hello *hello)
{
    struct fby_loop_peer *known = fby_loop_find_peer(self, hello->session);
    if (known != NULL && !known->has_left) {
        return known;
    }
    if (self->leave_until_ns != 0) {
        send_refused(self, sender, hello->session, FBY_REFUSED_LEAVING,
            "this worker is stopping");
        return NULL;
    }
    if (known != NULL) {
        send_refused(self, sender, hello->session, FBY_REFUSED_FULL,
            "the last session of this client still holds memory");
        return NULL;
    }
    return fby_loop_peer_add(self, hello);
}

static void on_hello(struct fby_loop *self, const struct fby_routing_id *sender,
    const struct fby_hello *hello)
{
    if (hello->version_min > FBY_PROTOCOL_VERSION ||
        hello->version_max < FBY_PROTOCOL_VERSION) {
        send_refused(self, sender, hello->session, FBY_REFUSED_VERSION,
            "no protocol version in common");
        return;
    }
    struct fby_loop_peer *peer = find_or_add_peer(self, sender, hello);
    if (peer == NULL) {
        return;
    }
    end_other_session(self, sender, peer);
    peer->routing_id      = *sender;
    peer->features        = hello->features & FBY_FEATURES;
    peer->is_deferred     = false;
    peer->duplicate_bytes = 0;
    fby_session_hello(peer->session, self->now_ns, hello->route.value);
    send_welcome(self, peer, hello);
}

/* ---- Messages on a known route ------------------------------------------- */

static void on_ping(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    struct fby_request_id open[MAX_OPEN_IDS];
    size_t n_open = fby_session_list_open(peer->session, open, MAX_OPEN_IDS);
    fby_loop_send_to_peer(self, peer,
        FBY_MESSAGE(PONG, pong, .session = peer->id, .instance = self->instance,
            .sequence = message->ping.sequence, .requests = {open, n_open}));
}

static void on_cancel(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    struct fby_loop_request *request =
        fby_loop_find_request(peer, message->cancel.request);
    fby_session_cancel(peer->session, self->now_ns, message->cancel.request);
    if (request != NULL) {
        fby_loop_request_end(self, request);
    }
}

static void on_credit(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    /* The session did not count the bytes that fault injection sent twice. */
    uint64_t received = message->credit.received;
    uint64_t duplicates =
        peer->duplicate_bytes < received ? peer->duplicate_bytes : received;
    if (fby_session_credit(peer->session, self->now_ns,
            message->credit.route.value, received - duplicates) != FBY_OK) {
        self->counts.out_of_place++;
    }
}

static void on_bye(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    (void)message;
    fby_info("CLIENT-BYE", "%s", peer->name);
    fby_loop_peer_end(self, peer);
}

typedef void handler(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message);

/* [message type]; NULL: a client may not send it. `dispatch` handles HELLO. */
static handler *const handlers[UINT8_MAX + 1] = {
    [FBY_MSG_PING]    = on_ping,
    [FBY_MSG_OPEN]    = fby_loop_on_open,
    [FBY_MSG_REQUEST] = fby_loop_on_request,
    [FBY_MSG_CANCEL]  = on_cancel,
    [FBY_MSG_CREDIT]  = on_credit,
    [FBY_MSG_BYE]     = on_bye,
};

/* ---- Dispatch ------------------------------------------------------------ */

static void dispatch(struct fby_loop *self, const struct fby_routing_id *sender,
    const struct fby_message *message)
{
    if (message->type == FBY_MSG_HELLO) {
        on_hello(self, sender, &message->hello);
        return;
    }
    handler              *handle  = handlers[(uint8_t)message->type];
    struct fby_session_id session = fby_message_session(message);
    if (handle == NULL) {
        self->counts.out_of_place++;
        return;
    }
    struct fby_loop_peer *peer = fby_loop_find_peer(self, session);
    if (peer != NULL && !peer->has_left &&
        fby_routing_id_equal(&peer->routing_id, sender)) {
        fby_session_heard(peer->session, self->now_ns);
        handle(self, peer, message);
        return;
    }
    if (message->type != FBY_MSG_BYE) { /* a client that left needs no answer */
        self->counts.unknown_peers++;
        send_to_connection(self, sender,
            FBY_MESSAGE(HELLO_FIRST, hello_first, .session = session));
    }
}

void fby_loop_handle_frame(struct fby_loop *self,
    const struct fby_routing_id *sender, const void *frame, size_t size)
{
    struct fby_message      message;
    struct fby_error_detail why = {{0}};
    if (fby_frame_kind(frame, size) == FBY_FRAME_OTHER_VERSION) {
        self->counts.malformed++;
        send_refused(self, sender, (struct fby_session_id){0},
            FBY_REFUSED_VERSION, "a message of another protocol version");
        return;
    }
    if (fby_message_decode(frame, size, &message, &why) != FBY_OK) {
        self->counts.malformed++;
        fby_debug("MESSAGE-REFUSED", "%s", why.text);
        return;
    }
    dispatch(self, sender, &message);
    fby_message_fini(&message);
}
