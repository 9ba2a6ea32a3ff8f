/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer_client/receive/sockets.h"

#include <zmq.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/socket.h"
#include "common/timer.h"

enum {
    LINGER_MS          = 200,
    MAX_RECEIVE_QUEUE  = 100000, /* messages */
    DEAD_PEER_S        = 30,
    SERVER_RECONNECT_S = 1 /* first pause before connecting again */
};

static int scaled_ms(int64_t normal_s)
{
    int64_t scaled_ns = fby_scaled_timeout_ns(normal_s * FBY_NS_PER_S);
    return (int)(scaled_ns / FBY_NS_PER_MS);
}

/* The client sends at least one message a second. If TCP gets no
 * acknowledgement for dead_peer_ms, it closes the connection. */
static void *open_dealer(void *zmq, const char *endpoint, int64_t max_frame,
    struct fby_socket_limits *limits)
{
    void *socket              = NULL;
    limits->max_message_bytes = max_frame;
    limits->receive_messages  = MAX_RECEIVE_QUEUE;
    limits->dead_peer_ms      = scaled_ms(DEAD_PEER_S);
    if (fby_socket_connect(zmq, endpoint, limits, &socket) != FBY_OK) {
        fby_warn("NO-SOCKET", "%s: %s", endpoint, zmq_strerror(zmq_errno()));
        return NULL;
    }
    return socket;
}

void *fby_dealer_open(void *zmq, const char *endpoint, int64_t max_frame)
{
    struct fby_socket_limits limits = {0};
    return open_dealer(zmq, endpoint, max_frame, &limits);
}

void *fby_dealer_open_server(void *zmq, const char *endpoint, int64_t max_frame,
    const struct fby_key_file *key)
{
    struct fby_socket_limits limits = {
        .reconnect_ms = scaled_ms(SERVER_RECONNECT_S)};
    if (key != NULL) {
        limits.secret_key = key->secret_key.bytes;
        limits.public_key = key->public_key.bytes;
        limits.server_key = key->server_key.bytes;
    }
    return open_dealer(zmq, endpoint, max_frame, &limits);
}

void fby_dealer_close(void **socket_p)
{
    const int linger_ms = LINGER_MS;
    if (*socket_p != NULL) {
        zmq_setsockopt(*socket_p, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
        zmq_close(*socket_p);
        *socket_p = NULL;
    }
}

void fby_dealer_send(
    void *socket, const struct fby_message *message, struct fby_buffer *scratch)
{
    struct fby_error_detail why = {""};
    scratch->size               = 0;
    if (fby_message_encode(message, scratch, &why) != FBY_OK) {
        fby_error(
            "CANNOT-SAY", "%s: %s", fby_message_name(message->type), why.text);
        return;
    }
    if (zmq_send(socket, scratch->data, scratch->size, ZMQ_DONTWAIT) < 0) {
        fby_debug("NOT-SENT", "%s: %s", fby_message_name(message->type),
            zmq_strerror(zmq_errno()));
    }
}
