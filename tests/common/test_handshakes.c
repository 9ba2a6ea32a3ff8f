/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/handshakes.h"
#include "common/socket.h"

enum { DEADLINE_S = 30 };

struct fixture {
    void                 *zmq, *router;
    char                  bound[FBY_ENDPOINT_SIZE];
    struct fby_handshakes handshakes;
    uint8_t               public_key[32], secret_key[32];
};

static void make_keys(uint8_t public_key[32], uint8_t secret_key[32])
{
    char public_text[41];
    char secret_text[41];
    assert_int_equal(zmq_curve_keypair(public_text, secret_text), 0);
    zmq_z85_decode(public_key, public_text);
    zmq_z85_decode(secret_key, secret_text);
}

static int set_up(void **state)
{
    struct fixture *self = calloc(1, sizeof(*self));
    assert_non_null(self);
    make_keys(self->public_key, self->secret_key);
    const struct fby_socket_limits limits = {
        .max_message_bytes = 1000, .secret_key = self->secret_key};
    struct fby_error_detail why = {""};
    self->zmq                   = zmq_ctx_new();
    assert_int_equal(fby_socket_bind(self->zmq, "tcp://127.0.0.1:*", &limits,
                         self->bound, &self->router, &why),
        FBY_OK);
    assert_int_equal(
        fby_handshakes_watch(&self->handshakes, self->zmq, self->router, &why),
        FBY_OK);
    *state = self;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *self = *state;
    zmq_close(self->router);
    fby_handshakes_fini(&self->handshakes);
    zmq_ctx_term(self->zmq);
    free(self);
    return 0;
}

/* Wait until a connection has failed for this reason. */
static void await(struct fixture *self, enum fby_handshake_reason reason)
{
    int64_t until_ns             = fby_now_ns() + DEADLINE_S * FBY_NS_PER_S;
    self->handshakes.line_due_ns = INT64_MAX; /* keeps `unlogged` */
    while (self->handshakes.unlogged[reason] == 0) {
        zmq_pollitem_t item = {
            .socket = self->handshakes.monitor, .events = ZMQ_POLLIN};
        assert_true(fby_now_ns() < until_ns);
        (void)zmq_poll(&item, 1, 100);
        fby_handshakes_tick(&self->handshakes, 0);
    }
    assert_true(self->handshakes.failed > 0);
}

static int connect_plainly(const struct fixture *self)
{
    const char        *port    = strrchr(self->bound, ':') + 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
        .sin_port        = htons((uint16_t)strtoul(port, NULL, 10)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int                fd      = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(
        connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void a_silent_connection_is_counted(void **state)
{
    int fd = connect_plainly(*state);
    await(*state, FBY_HANDSHAKE_SILENT);
    close(fd);
}

static void a_connection_that_closes_at_once_is_counted(void **state)
{
    close(connect_plainly(*state));
    await(*state, FBY_HANDSHAKE_SILENT);
}

static void a_connection_that_breaks_the_protocol_is_counted(void **state)
{
    /* A greeting of ZeroMQ 3.0 for CURVE, and a command that is none. */
    static const char greeting[] = "\xff\0\0\0\0\0\0\0\0\x7f\3\0CURVE";
    static const char command[]  = "\4\4\3ABC";
    char              bytes[64 + sizeof(command) - 1] = "";
    int               fd                              = connect_plainly(*state);
    memcpy(bytes, greeting, sizeof(greeting));
    memcpy(bytes + 64, command, sizeof(command) - 1);
    assert_int_equal(
        send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
    await(*state, FBY_HANDSHAKE_FOREIGN);
    close(fd);
}

/* Connect with these limits until the connection has failed for this reason. */
static void fails_with(struct fixture *self,
    const struct fby_socket_limits *limits, enum fby_handshake_reason reason)
{
    void *dealer = NULL;
    assert_int_equal(
        fby_socket_connect(self->zmq, self->bound, limits, &dealer), FBY_OK);
    await(self, reason);
    zmq_close(dealer);
}

static void a_peer_without_a_key_is_counted(void **state)
{
    const struct fby_socket_limits limits = {.max_message_bytes = 1000};
    fails_with(*state, &limits, FBY_HANDSHAKE_KEYS);
}

static void a_peer_with_the_key_of_another_server_is_counted(void **state)
{
    uint8_t public_key[32];
    uint8_t secret_key[32];
    make_keys(public_key, secret_key);
    const struct fby_socket_limits limits = {.max_message_bytes = 1000,
        .secret_key                                             = secret_key,
        .public_key                                             = public_key,
        .server_key                                             = public_key};
    fails_with(*state, &limits, FBY_HANDSHAKE_KEYS);
}

/* Answer one request of the ZeroMQ Authentication Protocol with 400. */
static void refuse_one(void *handler)
{
    char id[64];
    int  more = 1;
    int  size = 0;
    for (int i = 0; more != 0; i++) {
        char   bytes[256];
        size_t option = sizeof(more);
        int    n      = zmq_recv(handler, bytes, sizeof(bytes), 0);
        assert_true(n >= 0);
        if (i == 1 && n <= (int)sizeof(id)) {
            size = n;
            memcpy(id, bytes, (size_t)n);
        }
        zmq_getsockopt(handler, ZMQ_RCVMORE, &more, &option);
    }
    zmq_send(handler, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(handler, id, (size_t)size, ZMQ_SNDMORE);
    zmq_send(handler, "400", 3, ZMQ_SNDMORE);
    zmq_send(handler, "", 0, ZMQ_SNDMORE);
    zmq_send(handler, "", 0, ZMQ_SNDMORE);
    zmq_send(handler, "", 0, 0);
}

static void a_socket_is_known_to_demand_keys(void **state)
{
    struct fixture *self = *state;
    assert_true(self->handshakes.has_keys);
}

static void a_peer_whose_key_is_refused_is_counted(void **state)
{
    struct fixture *self = *state;
    uint8_t         public_key[32];
    uint8_t         secret_key[32];
    void           *dealer  = NULL;
    void           *handler = zmq_socket(self->zmq, ZMQ_REP);
    assert_int_equal(zmq_bind(handler, "inproc://zeromq.zap.01"), 0);
    make_keys(public_key, secret_key);
    const struct fby_socket_limits limits = {.max_message_bytes = 1000,
        .secret_key                                             = secret_key,
        .public_key                                             = public_key,
        .server_key = self->public_key};
    assert_int_equal(
        fby_socket_connect(self->zmq, self->bound, &limits, &dealer), FBY_OK);
    refuse_one(handler);
    await(self, FBY_HANDSHAKE_REFUSED);
    zmq_close(dealer);
    zmq_close(handler);
}

static void lines_are_ten_seconds_apart(void **state)
{
    struct fixture *self                            = *state;
    int64_t         now                             = 1000 * FBY_NS_PER_S;
    self->handshakes.unlogged[FBY_HANDSHAKE_SILENT] = 3;
    fby_handshakes_tick(&self->handshakes, now);
    assert_int_equal(self->handshakes.unlogged[FBY_HANDSHAKE_SILENT], 0);
    self->handshakes.unlogged[FBY_HANDSHAKE_KEYS] = 2;
    fby_handshakes_tick(&self->handshakes, now + 9 * FBY_NS_PER_S);
    assert_int_equal(self->handshakes.unlogged[FBY_HANDSHAKE_KEYS], 2);
    fby_handshakes_tick(&self->handshakes, now + 10 * FBY_NS_PER_S);
    assert_int_equal(self->handshakes.unlogged[FBY_HANDSHAKE_KEYS], 0);
}

int main(void)
{
#define WITH_FIXTURE(test) \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(a_silent_connection_is_counted),
        WITH_FIXTURE(a_connection_that_closes_at_once_is_counted),
        WITH_FIXTURE(a_connection_that_breaks_the_protocol_is_counted),
        WITH_FIXTURE(a_peer_without_a_key_is_counted),
        WITH_FIXTURE(a_peer_with_the_key_of_another_server_is_counted),
        WITH_FIXTURE(a_socket_is_known_to_demand_keys),
        WITH_FIXTURE(a_peer_whose_key_is_refused_is_counted),
        WITH_FIXTURE(lines_are_ten_seconds_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
