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
    fby_loop_outbox_clear(peer);
}

void fby_loop_send_to_peer(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    if (peer->routing_id.size > 0 && fby_loop_encode(self, message)) {
        fby_loop_outbox_add_message(self, peer);
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

/* Handle HELLO. `seal` (NULL: in the clear) is then the peer's, or freed. */
static void on_hello(struct fby_loop *self, const struct fby_routing_id *sender,
    const struct fby_hello *hello, struct fby_loop_seal *seal)
{
    if (hello->version_min > FBY_PROTOCOL_VERSION ||
        hello->version_max < FBY_PROTOCOL_VERSION) {
        send_refused(self, sender, hello->session, FBY_REFUSED_VERSION,
            "no protocol version in common");
        fby_loop_seal_free(&seal);
        return;
    }
    struct fby_loop_peer *peer = find_or_add_peer(self, sender, hello);
    if (peer == NULL) {
        fby_loop_seal_free(&seal);
        return;
    }
    fby_loop_outbox_clear(peer); /* of its last route */
    fby_loop_peer_set_seal(peer, seal);
    fby_loop_outbox_share_room(self);
    end_other_session(self, sender, peer);
    peer->routing_id      = *sender;
    peer->features        = hello->features & FBY_FEATURES;
    peer->is_deferred     = false;
    peer->duplicate_bytes = 0;
    fby_session_hello(peer->session, self->now_ns, hello->route.value);
    send_welcome(self, peer, hello);
}

/* Answer a message of a connection without a route. */
static void send_hello_first(struct fby_loop *self,
    const struct fby_routing_id *to, struct fby_session_id session)
{
    struct fby_message *message =
        FBY_MESSAGE(HELLO_FIRST, hello_first, .session = session);
    self->counts.unknown_peers++;
    fby_loop_keys_challenge(self, to, &message->hello_first);
    send_to_connection(self, to, message);
}

static void on_sealed_hello(struct fby_loop *self,
    const struct fby_routing_id *sender, const struct fby_sealed_hello *message)
{
    struct fby_message      hello;
    struct fby_loop_seal   *seal = NULL;
    struct fby_error_detail why  = {{0}};
    fby_err                 err =
        fby_loop_keys_begin(self, sender, message, &hello, &seal, &why);
    if (err == FBY_NOT_FOUND) {
        send_hello_first(self, sender, message->session);
    } else if (err != FBY_OK) {
        send_refused(self, sender, message->session, FBY_REFUSED_KEY, why.text);
    } else {
        on_hello(self, sender, &hello.hello, seal);
        fby_message_fini(&hello);
    }
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
    [FBY_MSG_TICKET]  = fby_loop_on_ticket,
};

/* ---- Dispatch ------------------------------------------------------------ */

/* The peer whose route is this connection; NULL: it has none. */
static struct fby_loop_peer *find_on_route(const struct fby_loop *self,
    const struct fby_routing_id *sender, struct fby_session_id session)
{
    struct fby_loop_peer *peer        = fby_loop_find_peer(self, session);
    bool                  is_on_route = peer != NULL && !peer->has_left &&
                       fby_routing_id_equal(&peer->routing_id, sender);
    return is_on_route ? peer : NULL;
}

/* Handle a message of a peer on its route. */
static void handle_message(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    handler *handle = handlers[(uint8_t)message->type];
    if (handle == NULL) {
        self->counts.out_of_place++;
        return;
    }
    fby_session_heard(peer->session, self->now_ns);
    handle(self, peer, message);
}

/* Handle a message that came in the clear. A worker with keys reads only
 * SEALED_HELLO, and challenges the sender of any other message. */
static void dispatch(struct fby_loop *self, const struct fby_routing_id *sender,
    const struct fby_message *message)
{
    struct fby_session_id session = fby_message_session(message);
    if (message->type == FBY_MSG_HELLO && self->keys == NULL) {
        on_hello(self, sender, &message->hello, NULL);
        return;
    }
    if (message->type == FBY_MSG_SEALED_HELLO && self->keys != NULL) {
        on_sealed_hello(self, sender, &message->sealed_hello);
        return;
    }
    if (message->type != FBY_MSG_HELLO &&
        handlers[(uint8_t)message->type] == NULL) {
        self->counts.out_of_place++;
        return;
    }
    struct fby_loop_peer *peer =
        self->keys == NULL ? find_on_route(self, sender, session) : NULL;
    if (peer != NULL) {
        handle_message(self, peer, message);
    } else if (message->type != FBY_MSG_BYE) { /* who left needs no answer */
        send_hello_first(self, sender, session);
    }
}

/* Handle a sealed frame, which is opened in place. A frame that is not genuine
 * ends the route: the client begins a new one when its PINGs are not answered. */
static void handle_sealed_frame(struct fby_loop *self,
    const struct fby_routing_id *sender, uint8_t *frame, size_t size)
{
    struct fby_message    message;
    struct fby_session_id session = fby_sealed_session(frame);
    struct fby_loop_peer *peer    = find_on_route(self, sender, session);
    if (peer == NULL && session.value != 0) {
        send_hello_first(self, sender, session);
    } else if (peer == NULL || fby_loop_open_message(self, peer, frame, size,
                                   &message) != FBY_OK) {
        self->counts.malformed++;
        if (peer != NULL) {
            fby_warn("BAD-FRAME",
                "%s: a frame is forged, repeated or lost; its route ends",
                peer->name);
            fby_loop_route_lost(self, peer);
        }
    } else {
        handle_message(self, peer, &message);
        fby_message_fini(&message);
    }
}

void fby_loop_handle_frame(struct fby_loop *self,
    const struct fby_routing_id *sender, void *frame, size_t size)
{
    struct fby_message      message;
    struct fby_error_detail why = {{0}};
    if (self->keys != NULL && fby_is_sealed_frame(frame, size)) {
        handle_sealed_frame(self, sender, frame, size);
        return;
    }
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
