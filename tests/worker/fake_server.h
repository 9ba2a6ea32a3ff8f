/* SPDX-License-Identifier: Apache-2.0 */
/* fake_server.h - a socket of the test that workers register at, in place of a
 * server, and the messages that they send to it. */
#ifndef FBY_TESTS_WORKER_FAKE_SERVER_H
#define FBY_TESTS_WORKER_FAKE_SERVER_H

#include "tests/test.h"

#include <string.h>
#include <zmq.h>

#include "proto/wire.h"

enum { SERVER_PATIENCE_MS = 20000 };

struct server {
    void              *zmq;
    void              *router;
    char               endpoint[64];
    uint8_t            worker[256]; /* routing id of the last sender */
    size_t             worker_size;
    struct fby_message message;
};

static inline void server_open(struct server *server)
{
    const int patience_ms = SERVER_PATIENCE_MS;
    size_t    size        = sizeof(server->endpoint);
    *server               = (struct server){.zmq = zmq_ctx_new()};
    server->router        = zmq_socket(server->zmq, ZMQ_ROUTER);
    zmq_setsockopt(
        server->router, ZMQ_RCVTIMEO, &patience_ms, sizeof(patience_ms));
    assert_int_equal(zmq_bind(server->router, "tcp://127.0.0.1:*"), 0);
    zmq_getsockopt(server->router, ZMQ_LAST_ENDPOINT, server->endpoint, &size);
}

static inline void free_message(struct server *server)
{
    if (server->message.type != 0) {
        fby_message_fini(&server->message);
        server->message.type = 0;
    }
}

static inline void server_close(struct server *server)
{
    free_message(server);
    zmq_close(server->router);
    zmq_ctx_term(server->zmq);
}

static inline void send_message(
    struct server *server, const struct fby_message *message)
{
    struct fby_buffer       frame = {0};
    struct fby_error_detail why   = {{0}};
    assert_ok(fby_message_encode(message, &frame, &why));
    zmq_send(server->router, server->worker, server->worker_size, ZMQ_SNDMORE);
    zmq_send(server->router, frame.data, frame.size, 0);
    fby_buffer_fini(&frame);
}

static inline void send_registered(
    struct server *server, struct fby_instance_id worker)
{
    send_message(server, &(struct fby_message){.type = FBY_MSG_REGISTERED,
                             .registered             = {.instance = worker,
                                             .server              = {77},
                                             .lease_ms            = 10000,
                                             .heartbeat_ms        = 5}});
}

/* Reply to a message that the test does not wait for. Without replies a worker
 * would connect and register again, and send no more heartbeats. */
static inline void send_reply(struct server *server)
{
    struct fby_message *got = &server->message;
    if (got->type == FBY_MSG_REGISTER) {
        send_registered(server, got->registration.instance);
    } else if (got->type == FBY_MSG_HEARTBEAT) {
        send_message(
            server, &(struct fby_message){.type = FBY_MSG_HEARTBEAT_OK,
                        .heartbeat_ok = {.instance = got->heartbeat.instance,
                            .server                = {77}}});
    }
}

static inline void receive(struct server *server)
{
    static uint8_t          frame[FBY_MESSAGE_SMALL];
    struct fby_error_detail why = {{0}};
    int n = zmq_recv(server->router, server->worker, sizeof(server->worker), 0);
    assert_true(n > 0);
    server->worker_size = (size_t)n;
    n                   = zmq_recv(server->router, frame, sizeof(frame), 0);
    assert_true(n > 0 && (size_t)n <= sizeof(frame));
    free_message(server);
    assert_ok(fby_message_decode(frame, (size_t)n, &server->message, &why));
}

/* Wait for a message of this type; reply to all messages before it. */
static inline const struct fby_message *expect_message(
    struct server *server, enum fby_message_type type)
{
    receive(server);
    while (server->message.type != type) {
        send_reply(server);
        receive(server);
    }
    return &server->message;
}

#endif
