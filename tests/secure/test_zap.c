/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/zap.h"

#include <string.h>

#include "common/clock.h"
#include "common/socket.h"
#include "secure/key_file.h"
#include "tests/test.h"

enum { WAIT_MS = 10000 };

struct server {
    void               *zmq, *socket;
    struct fby_zap     *zap;
    struct fby_key_file key;   /* of the server */
    struct fby_key_file known; /* the only key that is admitted */
    char                endpoint[FBY_ENDPOINT_SIZE];
};

static bool knows(void *context, const struct fby_key *public_key)
{
    const struct server *self = context;
    return memcmp(public_key, &self->known.public_key, sizeof(*public_key)) ==
           0;
}

static void start(struct server *self)
{
    self->zmq = zmq_ctx_new();
    self->key = fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    self->known =
        fby_key_file_generate(FBY_ROLE_WORKER, "w", &self->key.public_key);
    const struct fby_socket_limits limits = {
        .max_message_bytes = 1000, .secret_key = self->key.secret_key.bytes};
    struct fby_error_detail why = {""};
    assert_ok(fby_zap_start(self->zmq, knows, self, &self->zap));
    assert_ok(fby_socket_bind(self->zmq, "tcp://127.0.0.1:*", &limits,
        self->endpoint, &self->socket, &why));
}

static void stop(struct server *self)
{
    zmq_close(self->socket);
    zmq_ctx_shutdown(self->zmq);
    fby_zap_join(&self->zap);
    zmq_ctx_term(self->zmq);
}

/* Send a message to the server with a key; NULL: in the clear. */
static void *send_with(struct server *self, const struct fby_key_file *key)
{
    const struct fby_socket_limits limits = {.max_message_bytes = 1000,
        .public_key = key != NULL ? key->public_key.bytes : NULL,
        .secret_key = key != NULL ? key->secret_key.bytes : NULL,
        .server_key = key != NULL ? key->server_key.bytes : NULL};
    void                          *socket = NULL;
    assert_ok(fby_socket_connect(self->zmq, self->endpoint, &limits, &socket));
    assert_int_equal(zmq_send(socket, "hello", 5, 0), 5);
    return socket;
}

static bool receive(struct server *self, zmq_msg_t *frame, int wait_ms)
{
    struct fby_routing_id from;
    zmq_pollitem_t        item = {.socket = self->socket, .events = ZMQ_POLLIN};
    return zmq_poll(&item, 1, wait_ms) == 1 &&
           fby_socket_receive(self->socket, &from, frame) == FBY_OK;
}

static void a_message_has_the_key_that_it_was_sent_with(void **state)
{
    (void)state;
    struct server  server = {0};
    struct fby_key found  = {{0}};
    zmq_msg_t      frame;
    start(&server);
    const struct fby_key_file stranger =
        fby_key_file_generate(FBY_ROLE_WORKER, "x", &server.key.public_key);
    void *sockets[2] = {send_with(&server, &server.known), NULL};
    assert_true(receive(&server, &frame, WAIT_MS));
    assert_true(fby_zap_key_of(&frame, &found));
    assert_memory_equal(&found, &server.known.public_key, sizeof(found));
    zmq_msg_close(&frame);
    sockets[1] = send_with(&server, &stranger);
    assert_true(receive(&server, &frame, WAIT_MS));
    assert_false(fby_zap_key_of(&frame, &found));
    zmq_msg_close(&frame);
    zmq_close(sockets[0]);
    zmq_close(sockets[1]);
    stop(&server);
}

/* A client that has no key, or another server's, is not heard, and does not
 * keep others from being heard. */
static void a_client_without_the_servers_key_is_not_heard(void **state)
{
    (void)state;
    struct server server = {0};
    zmq_msg_t     frame;
    start(&server);
    struct fby_key_file wrong = server.known;
    wrong.server_key          = server.known.public_key;
    void *sockets[3] = {send_with(&server, NULL), send_with(&server, &wrong),
        send_with(&server, &server.known)};
    struct fby_key found;
    assert_true(receive(&server, &frame, WAIT_MS));
    assert_true(fby_zap_key_of(&frame, &found)); /* only the third is heard */
    zmq_msg_close(&frame);
    assert_false(receive(&server, &frame, 300));
    for (int i = 0; i < 3; i++) {
        zmq_close(sockets[i]);
    }
    stop(&server);
}

static void only_so_many_unknown_keys_are_admitted_in_a_time(void **state)
{
    (void)state;
    struct fby_zap_unknown unknown = {0};
    int64_t                now_ns  = -5 * FBY_NS_PER_S;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FBY_ZAP_UNKNOWN_MAX; i++) {
            assert_true(fby_zap_admit_unknown(&unknown, now_ns));
        }
        assert_false(fby_zap_admit_unknown(&unknown, now_ns));
        now_ns += 10 * FBY_NS_PER_S;
        assert_false(fby_zap_admit_unknown(&unknown, now_ns - 1));
    }
}

/* Clients beyond the limit try again and again; each attempt counts. */
static void refused_connections_are_counted(void **state)
{
    (void)state;
    enum { CLIENTS = FBY_ZAP_UNKNOWN_MAX + 3 };
    struct server server = {0};
    void         *sockets[CLIENTS];
    zmq_msg_t     frame;
    start(&server);
    const struct fby_key_file stranger =
        fby_key_file_generate(FBY_ROLE_WORKER, "x", &server.key.public_key);
    for (int i = 0; i < CLIENTS; i++) {
        sockets[i] = send_with(&server, &stranger);
    }
    for (int i = 0; i < FBY_ZAP_UNKNOWN_MAX; i++) {
        assert_true(receive(&server, &frame, WAIT_MS));
        zmq_msg_close(&frame);
    }
    int64_t end_ns = fby_now_ns() + WAIT_MS * FBY_NS_PER_MS;
    while (fby_zap_refused(server.zap) < 3 && fby_now_ns() < end_ns) {
        assert_false(receive(&server, &frame, 1));
    }
    assert_true(fby_zap_refused(server.zap) >= 3);
    for (int i = 0; i < CLIENTS; i++) {
        zmq_close(sockets[i]);
    }
    stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_has_the_key_that_it_was_sent_with),
        cmocka_unit_test(a_client_without_the_servers_key_is_not_heard),
        cmocka_unit_test(only_so_many_unknown_keys_are_admitted_in_a_time),
        cmocka_unit_test(refused_connections_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
