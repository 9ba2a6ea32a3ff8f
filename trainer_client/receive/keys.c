/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - the keys of a stream: tickets of the server, the keys of routes to
 * workers, and sealed frames. docs/security.md describes all of them.
 *
 * A worker with keys answers the first message on a connection with a nonce.
 * Then SEALED_HELLO shows the ticket. Until then nothing but PING is sent, and
 * nothing but HELLO_FIRST and REFUSED is read in the clear. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "secure/handshake.h"
#include "trainer_client/receive/receiver_state.h"
#include "trainer_client/receive/sockets.h"

struct fby_r_route_keys { /* of one worker */
    struct fby_buffer       ticket;
    struct fby_key          session_key;
    enum fby_secure_mode    mode;
    enum fby_cipher         cipher;
    struct fby_client_route route;
    struct fby_buffer       hello; /* encoded, until WELCOME; empty: none */
    uint64_t                hello_route; /* that it names */
};

/* ---- tickets ------------------------------------------------------------- */

void fby_r_keys_clear(struct fby_peer *peer)
{
    if (peer->keys != NULL) {
        fby_buffer_fini(&peer->keys->ticket);
        fby_buffer_fini(&peer->keys->hello);
        sodium_memzero(peer->keys, sizeof(*peer->keys));
        free(peer->keys);
        peer->keys = NULL;
    }
}

static void send_ticket(struct fby_receiver *r, int peer)
{
    const struct fby_buffer *ticket  = &r->peers[peer].keys->ticket;
    const struct fby_message message = {.type = FBY_MSG_TICKET,
        .ticket_renewal = {r->session, {ticket->data, ticket->size}}};
    fby_r_send_to_peer(r, peer, &message);
}

void fby_r_keys_set_ticket(
    struct fby_receiver *r, int peer, const struct fby_worker_info *info)
{
    struct fby_peer *p = &r->peers[peer];
    if (r->aead == NULL || info->ticket.size == 0 || !info->session_key.known ||
        info->secure == 0) {
        return;
    }
    if (p->keys == NULL) {
        p->keys = fby_zalloc(sizeof(*p->keys));
    }
    struct fby_r_route_keys *keys = p->keys;
    keys->ticket.size             = 0;
    fby_put_bytes(&keys->ticket, info->ticket.data, info->ticket.size);
    memcpy(
        keys->session_key.bytes, info->session_key.digest.bytes, FBY_KEY_BYTES);
    keys->mode = (enum fby_secure_mode)info->secure;
    if (keys->route.has_lanes) { /* the route goes on with its own keys */
        send_ticket(r, peer);
    }
}

/* ---- HELLO --------------------------------------------------------------- */

/* A message in the clear is not from the worker that the server admitted. */
static void close_false_worker(struct fby_receiver *r, int peer)
{
    struct fby_peer *p = &r->peers[peer];
    r->protocol_errors++;
    snprintf(p->refusal, sizeof(p->refusal),
        "it answers in the clear, though it registered with keys: another "
        "process listens at its address, or the message is forged");
    fby_warn("WORKER-FALSE", "%s: %s", p->label, p->refusal);
    fby_window_breach(r->window, r->now_ns, peer);
}

/* Begin a route: derive its keys. */
static fby_err begin_route(const struct fby_receiver *r, int peer,
    struct fby_route_nonce *client_nonce)
{
    struct fby_r_route_keys *keys    = r->peers[peer].keys;
    struct fby_route_secrets secrets = {
        .session_key = keys->session_key,
        .cipher      = keys->cipher,
        .mode        = keys->mode,
        .session     = r->session,
        .worker      = r->peers[peer].instance,
    };
    fby_err err   = fby_client_route_begin(&keys->route, &secrets);
    *client_nonce = secrets.client_nonce;
    sodium_memzero(&secrets, sizeof(secrets));
    return err;
}

/* Seal the encoded message in r->scratch as the next frame of the route. */
static fby_err seal_scratch(struct fby_receiver *r, int peer)
{
    struct fby_seal place;
    r->sealed.size = 0;
    FBY_TRY(fby_lane_next(
        &r->peers[peer].keys->route.lanes.to_worker, r->scratch.size, &place));
    fby_err err = fby_seal_frame(r->aead, &place, (struct fby_span){0},
        (struct fby_span){r->scratch.data, r->scratch.size},
        fby_put_room(&r->sealed, r->scratch.size + FBY_SEAL_BYTES));
    sodium_memzero(&place, sizeof(place));
    return err;
}

static void send_sealed_hello(struct fby_receiver *r, int peer)
{
    struct fby_r_route_keys *keys = r->peers[peer].keys;
    struct fby_route_nonce   nonce;
    r->scratch.size = 0;
    fby_put_bytes(&r->scratch, keys->hello.data, keys->hello.size);
    if (begin_route(r, peer, &nonce) != FBY_OK ||
        seal_scratch(r, peer) != FBY_OK) {
        fby_error("CANNOT-SEAL", "%s: HELLO", r->peers[peer].label);
        return;
    }
    struct fby_message message = {.type = FBY_MSG_SEALED_HELLO,
        .sealed_hello                   = {.session = r->session,
                              .ticket               = {keys->ticket.data, keys->ticket.size},
                              .nonce                = {.known = true},
                              .cipher               = (uint32_t)keys->cipher,
                              .hello                = {r->sealed.data, r->sealed.size}}};
    memcpy(
        message.sealed_hello.nonce.digest.bytes, nonce.bytes, FBY_ROUTE_NONCE);
    fby_dealer_send(r->peers[peer].socket, &message, &r->scratch);
}

/* Keep HELLO until WELCOME: it is sent once there is a nonce. */
static void keep_hello(
    struct fby_r_route_keys *keys, const struct fby_message *hello)
{
    struct fby_error_detail why = {""};
    keys->hello.size            = 0;
    keys->hello_route           = hello->hello.route.value;
    if (fby_message_encode(hello, &keys->hello, &why) != FBY_OK) {
        fby_error("SEND", "HELLO cannot be encoded: %s", why.text);
    }
}

void fby_r_keys_send_hello(
    struct fby_receiver *r, int peer, const struct fby_message *hello)
{
    struct fby_r_route_keys *keys = r->peers[peer].keys;
    const struct fby_message ping = {
        .type = FBY_MSG_PING, .ping = {.session = r->session}};
    if (keys == NULL) {
        fby_r_set_aside(r, peer, FBY_R_KEY,
            "it has no keys, but this trainer and the server have: start it "
            "with --keys");
        return;
    }
    keep_hello(keys, hello);
    if (keys->route.has_nonce) {
        send_sealed_hello(r, peer);
    } else if (r->peers[peer].socket != NULL) { /* answered by HELLO_FIRST */
        fby_dealer_send(r->peers[peer].socket, &ping, &r->scratch);
    }
}

void fby_r_keys_on_welcome(
    struct fby_peer *peer, const struct fby_welcome *message)
{
    if (peer->keys != NULL && peer->keys->hello_route == message->route.value) {
        peer->keys->hello.size = 0;
    }
}

bool fby_r_keys_on_hello_first(
    struct fby_receiver *r, int peer, const struct fby_hello_first *message)
{
    struct fby_r_route_keys *keys = r->peers[peer].keys;
    struct fby_route_nonce   nonce;
    if (keys == NULL) {
        return true;
    }
    if (!message->nonce.known) {
        close_false_worker(r, peer);
        return false;
    }
    memcpy(nonce.bytes, message->nonce.digest.bytes, FBY_ROUTE_NONCE);
    if (!fby_client_route_set_nonce(&keys->route, &nonce)) {
        return false; /* it answers a message that was sent before HELLO */
    }
    bool both_have_aes = (message->features & FBY_FEATURE_AES) != 0 &&
                         fby_cipher_preferred() == FBY_CIPHER_AES;
    keys->cipher = both_have_aes ? FBY_CIPHER_AES : FBY_CIPHER_CHACHA;
    if (keys->hello.size > 0) { /* it waits for the nonce */
        send_sealed_hello(r, peer);
    }
    return true;
}

void fby_r_keys_forget_route(struct fby_peer *peer)
{
    if (peer->keys != NULL) {
        fby_client_route_end(&peer->keys->route);
        peer->keys->hello.size = 0;
    }
}

/* ---- sealed frames ------------------------------------------------------- */

void fby_r_keys_send(
    struct fby_receiver *r, int peer, const struct fby_message *message)
{
    const struct fby_peer  *p   = &r->peers[peer];
    struct fby_error_detail why = {""};
    if (p->keys == NULL || !p->keys->route.has_lanes) {
        return; /* nothing but HELLO is sent before the route has keys */
    }
    r->scratch.size = 0;
    if (fby_message_encode(message, &r->scratch, &why) != FBY_OK ||
        seal_scratch(r, peer) != FBY_OK) {
        fby_error("CANNOT-SEAL", "%s: %s %s", p->label,
            fby_message_name(message->type), why.text);
    } else if (zmq_send(p->socket, r->sealed.data, r->sealed.size,
                   ZMQ_DONTWAIT) < 0) {
        fby_debug("NOT-SENT", "%s: %s", fby_message_name(message->type),
            zmq_strerror(zmq_errno()));
    }
}

static void close_message(void *data, void *hint)
{
    zmq_msg_t *whole = hint;
    (void)data;
    zmq_msg_close(whole);
    free(whole);
}

/* Replace a sealed frame, opened in place, by the frame inside it, which keeps
 * the memory. */
static void unwrap(zmq_msg_t *frame)
{
    zmq_msg_t *whole = fby_zalloc(sizeof(*whole));
    size_t     size  = zmq_msg_size(frame) - FBY_SEAL_BYTES;
    zmq_msg_init(whole);
    zmq_msg_move(whole, frame);
    uint8_t *inner = (uint8_t *)zmq_msg_data(whole) + FBY_SEAL_HEAD;
    zmq_msg_close(frame);
    if (zmq_msg_init_data(frame, inner, size, close_message, whole) != 0) {
        fby_error("OUT-OF-MEMORY", "no memory for a message");
        abort();
    }
}

static fby_err open_sealed(struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    struct fby_r_route_keys *keys = r->peers[peer].keys;
    struct fby_seal          place;
    size_t                   size  = zmq_msg_size(frame);
    uint8_t                 *bytes = zmq_msg_data(frame);
    if (keys == NULL || !keys->route.has_lanes) {
        return FBY_AGAIN; /* of an earlier route */
    }
    FBY_TRY(fby_lane_accept(&keys->route.lanes.to_client, bytes, size, &place));
    fby_err err = fby_open_frame(r->aead, &place, bytes, size);
    sodium_memzero(&place, sizeof(place));
    if (err == FBY_OK) {
        unwrap(frame);
    }
    return err;
}

/* True if a worker with keys may send this frame in the clear. It refuses
 * only a HELLO, so it refuses nothing after its first sealed answer. */
static bool may_be_clear(
    const struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    const struct fby_r_route_keys *keys  = r->peers[peer].keys;
    const uint8_t                 *bytes = zmq_msg_data(frame);
    if (zmq_msg_size(frame) < FBY_MESSAGE_HEAD) {
        return false;
    }
    bool is_answered = keys != NULL && keys->route.has_lanes &&
                       keys->route.lanes.to_client.count > 0;
    return bytes[5] == FBY_MSG_HELLO_FIRST ||
           (bytes[5] == FBY_MSG_REFUSED && !is_answered);
}

/* False: drop this frame, which was sent in the clear. */
static bool open_clear(struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    const struct fby_r_route_keys *keys = r->peers[peer].keys;
    if (fby_frame_kind(zmq_msg_data(frame), zmq_msg_size(frame)) ==
        FBY_FRAME_CHUNK) {
        bool may = keys != NULL && keys->route.has_lanes &&
                   keys->mode == FBY_SECURE_AUTH;
        r->protocol_errors += may ? 0 : 1;
        return may;
    }
    bool may = may_be_clear(r, peer, frame);
    if (!may) {
        close_false_worker(r, peer);
    }
    return may;
}

bool fby_r_keys_open(struct fby_receiver *r, int peer, zmq_msg_t *frame)
{
    if (r->aead == NULL) {
        return true;
    }
    if (!fby_is_sealed_frame(zmq_msg_data(frame), zmq_msg_size(frame))) {
        return open_clear(r, peer, frame);
    }
    fby_err err = open_sealed(r, peer, frame);
    if (err == FBY_OK) {
        return true;
    }
    if (err != FBY_AGAIN) {
        r->protocol_errors++;
        fby_warn("BAD-FRAME",
            "%s: a frame is forged, repeated or lost; a new route begins",
            r->peers[peer].label);
        fby_r_keys_forget_route(&r->peers[peer]);
        fby_window_hello_first(r->window, r->now_ns, peer);
    }
    return false;
}

bool fby_r_keys_seal_chunks(const struct fby_receiver *r, int peer)
{
    const struct fby_r_route_keys *keys = r->peers[peer].keys;
    return keys != NULL && keys->mode == FBY_SECURE_FULL;
}
