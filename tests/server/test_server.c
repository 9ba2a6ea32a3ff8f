/* SPDX-License-Identifier: Apache-2.0 */
/* A complete server in a thread; the test is its peer. */
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/socket.h"
#include "proto/wire.h"
#include "server/server.h"

enum { MAX_WORKERS = 8192, PATIENCE_MS = 20000 };

struct world {
    pthread_t                 thread;
    struct fby_server_options options;
    fby_err                   ended;
    struct fby_error_detail   why;
    void                     *zmq;
    char                      endpoint[FBY_ENDPOINT_SIZE];
    void                     *peer; /* DEALER */
    bool                      stopped;
    char                      counts[256]; /* of the line SERVER-ENDED */
};

static void *serve(void *opaque)
{
    struct world *world = opaque;
    world->ended        = fby_server_run(&world->options, &world->why);
    return NULL;
}

static void read_endpoint(int fd, char out[FBY_ENDPOINT_SIZE])
{
    ssize_t n = read(fd, out, FBY_ENDPOINT_SIZE - 1);
    assert_true(n > 0);
    out[n - 1] = '\0'; /* its newline */
    close(fd);
}

static void *open_peer(const struct world *world)
{
    const struct fby_socket_limits limits      = {.max_message_bytes = 1 << 20};
    const int                      patience_ms = PATIENCE_MS;
    void                          *peer        = NULL;
    assert_ok(fby_socket_connect(world->zmq, world->endpoint, &limits, &peer));
    zmq_setsockopt(peer, ZMQ_RCVTIMEO, &patience_ms, sizeof(patience_ms));
    return peer;
}

static int start_server(void **state)
{
    static struct world world;
    int                 ends[2];
    assert_int_equal(pipe(ends), 0);
    world                  = (struct world){.options = fby_server_defaults()};
    world.options.listen   = "tcp://127.0.0.1:*";
    world.options.ready_fd = ends[1];
    world.options.lease_ns =
        600 * FBY_NS_PER_S; /* registering all takes time */
    assert_int_equal(pthread_create(&world.thread, NULL, serve, &world), 0);
    read_endpoint(ends[0], world.endpoint);
    world.zmq  = zmq_ctx_new();
    world.peer = open_peer(&world);
    *state     = &world;
    return 0;
}

static void note_counts(void *arg, enum fby_log_level level, const char *line)
{
    struct world *world = arg;
    (void)level;
    if (strncmp(line, "SERVER-ENDED ", 13) == 0) {
        snprintf(world->counts, sizeof(world->counts), "%s", line + 13);
    }
}

static int stop_server(void **state)
{
    struct world *world = *state;
    if (world->stopped) {
        return 0;
    }
    world->stopped = true;
    fby_log_redirect(FBY_LOG_INFO, note_counts, world);
    zmq_close(world->peer);
    zmq_ctx_term(world->zmq);
    pthread_kill(world->thread, SIGINT);
    pthread_join(world->thread, NULL);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    assert_ok(world->ended);
    return 0;
}

static void send_message(struct world *world, const struct fby_message *message)
{
    struct fby_buffer       frame = {0};
    struct fby_error_detail why   = {{0}};
    assert_ok(fby_message_encode(message, &frame, &why));
    assert_true(zmq_send(world->peer, frame.data, frame.size, 0) > 0);
    fby_buffer_fini(&frame);
}

static struct fby_message registering_at(
    uint64_t worker, const char *const *endpoints, size_t n_endpoints)
{
    return (struct fby_message){.type = FBY_MSG_REGISTER,
        .registration                 = {.instance = {worker},
                            .endpoints             = {endpoints, n_endpoints},
                            .host                  = "a-host",
                            .cores                 = 1}};
}

static struct fby_message registering(uint64_t worker)
{
    static const char *const endpoints[] = {"tcp://127.0.0.1:1"};
    return registering_at(worker, endpoints, 1);
}

static void send_register(struct world *world, uint64_t worker)
{
    const struct fby_message message = registering(worker);
    send_message(world, &message);
}

/* Receive the next message, of this type; the caller calls fby_message_fini().
 */
static struct fby_message receive_message(
    const struct world *world, enum fby_message_type type)
{
    uint8_t                 frame[4096];
    struct fby_message      message;
    struct fby_error_detail why = {{0}};
    int                     n = zmq_recv(world->peer, frame, sizeof(frame), 0);
    assert_true(n > 0 && (size_t)n <= sizeof(frame));
    assert_ok(fby_message_decode(frame, (size_t)n, &message, &why));
    assert_int_equal(message.type, type);
    return message;
}

static void expect(const struct world *world, enum fby_message_type type)
{
    struct fby_message message = receive_message(world, type);
    fby_message_fini(&message);
}

static void a_worker_too_many_is_refused_until_another_leaves(void **state)
{
    struct world *world = *state;
    for (uint64_t i = 1; i <= MAX_WORKERS; i++) {
        send_register(world, i);
        expect(world, FBY_MSG_REGISTERED);
    }
    send_register(world, MAX_WORKERS + 1);
    struct fby_message message = receive_message(world, FBY_MSG_REFUSED);
    assert_int_equal(message.refused.code, FBY_REFUSED_FULL);
    assert_non_null(strstr(message.refused.text, "8192 workers"));
    fby_message_fini(&message);

    send_message(world,
        &(struct fby_message){.type = FBY_MSG_DEREGISTER, .deregister = {{7}}});
    send_register(world, MAX_WORKERS + 1);
    expect(world, FBY_MSG_REGISTERED);
}

static void a_message_of_another_version_is_answered(void **state)
{
    struct world *world   = *state;
    const uint8_t frame[] = {
        'F', 'B', 'Y', 'M', FBY_PROTOCOL_VERSION + 1, FBY_MSG_REGISTER, 0, 0};
    assert_int_equal(
        zmq_send(world->peer, frame, sizeof(frame), 0), sizeof(frame));
    struct fby_message answer = receive_message(world, FBY_MSG_REFUSED);
    assert_int_equal(answer.refused.code, FBY_REFUSED_VERSION);
    assert_int_equal(answer.refused.version_min, FBY_PROTOCOL_VERSION);
    assert_int_equal(answer.refused.version_max, FBY_PROTOCOL_VERSION);
    fby_message_fini(&answer);
    send_register(world, 1);
    expect(world, FBY_MSG_REGISTERED);
}

static void expect_endpoint_refused(struct world *world,
    const char *const *endpoints, size_t n_endpoints, const char *words)
{
    const struct fby_message sent = registering_at(5, endpoints, n_endpoints);
    send_message(world, &sent);
    struct fby_message answer = receive_message(world, FBY_MSG_REFUSED);
    assert_int_equal(answer.refused.code, FBY_REFUSED_FULL);
    assert_non_null(strstr(answer.refused.text, words));
    fby_message_fini(&answer);
}

/* The same connection may then register its own address. */
static void a_worker_with_another_endpoint_than_its_own_is_refused(void **state)
{
    static const char *const local[] = {"ipc:///tmp/x"};
    static const char *const other[] = {
        "tcp://127.0.0.1:1", "tcp://10.0.0.9:1"};
    struct world *world = *state;
    expect_endpoint_refused(world, local, 1,
        "endpoint 'ipc:///tmp/x': not a numeric TCP endpoint: ");
    expect_endpoint_refused(world, other, 2,
        "endpoint 'tcp://10.0.0.9:1': the worker registers from address "
        "127.0.0.1: ");
    send_message(world, &(struct fby_message){.type = FBY_MSG_HEARTBEAT,
                            .heartbeat              = {.instance = {5}}});
    expect(world, FBY_MSG_REGISTER_FIRST);
    send_register(world, 5);
    expect(world, FBY_MSG_REGISTERED);
}

static void an_unknown_peer_must_register_or_join(void **state)
{
    struct world *world = *state;
    send_message(world, &(struct fby_message){.type = FBY_MSG_HEARTBEAT,
                            .heartbeat              = {.instance = {5}}});
    struct fby_message message = receive_message(world, FBY_MSG_REGISTER_FIRST);
    assert_int_equal(message.register_first.instance.value, 5);
    fby_message_fini(&message);
    send_message(world, &(struct fby_message){.type = FBY_MSG_RENEW,
                            .renew = {.session = {6}, .server = {7}}});
    message = receive_message(world, FBY_MSG_JOIN_FIRST);
    assert_int_equal(message.join_first.session.value, 6);
    fby_message_fini(&message);
}

static void garbage_is_not_answered(void **state)
{
    struct world *world = *state;
    for (size_t size = 0; size < 100; size++) {
        char garbage[100];
        memset(garbage, 'F', sizeof(garbage));
        assert_int_equal(zmq_send(world->peer, garbage, size, 0), (int)size);
    }
    send_register(world, 1);
    expect(world, FBY_MSG_REGISTERED);
}

/* Send two REGISTER messages as the parts of one ZeroMQ message. */
static void send_in_parts(struct world *world, uint64_t first, uint64_t second)
{
    const struct fby_message parts[] = {
        registering(first), registering(second)};
    for (int i = 0; i < 2; i++) {
        struct fby_buffer       frame = {0};
        struct fby_error_detail why   = {{0}};
        assert_ok(fby_message_encode(&parts[i], &frame, &why));
        assert_true(zmq_send(world->peer, frame.data, frame.size,
                        i == 0 ? ZMQ_SNDMORE : 0) > 0);
        fby_buffer_fini(&frame);
    }
}

/* The server accepts neither part, and then accepts the next message. */
static void a_message_of_several_parts_is_dropped_whole(void **state)
{
    struct world *world = *state;
    send_in_parts(world, 1, 2);
    for (uint64_t id = 1; id <= 2; id++) {
        send_message(world, &(struct fby_message){.type = FBY_MSG_HEARTBEAT,
                                .heartbeat              = {.instance = {id}}});
        struct fby_message message =
            receive_message(world, FBY_MSG_REGISTER_FIRST);
        assert_int_equal(message.register_first.instance.value, id);
        fby_message_fini(&message);
    }
    send_message(world, &(struct fby_message){/* only servers send it */
                            .type           = FBY_MSG_REGISTER_FIRST,
                            .register_first = {{1}}});
    assert_int_equal(zmq_send(world->peer, "garbage", 7, 0), 7);
    send_register(world, 3);
    expect(world, FBY_MSG_REGISTERED);
    stop_server(state);
    assert_string_equal(world->counts,
        "messages refused 3, joins refused 0, late workers 0, late sessions "
        "0, reported unreachable 0");
}

static void send_join(struct world *world, uint64_t session, const char *job)
{
    send_message(world, &(struct fby_message){.type = FBY_MSG_JOIN,
                            .join                   = {.session = {session},
                                                  .job          = job,
                                                  .world        = 1,
                                                  .host         = "a-host",
                                                  .pid          = 1}});
}

static void a_session_is_told_the_servers_times_and_workers(void **state)
{
    struct world *world = *state;
    send_register(world, 5);
    struct fby_message message = receive_message(world, FBY_MSG_REGISTERED);
    uint64_t           server  = message.registered.server.value;
    assert_true(server != 0);
    assert_int_equal(message.registered.instance.value, 5);
    assert_int_equal(message.registered.lease_ms, 600000);
    assert_int_equal(message.registered.heartbeat_ms, 1000);
    fby_message_fini(&message);
    send_message(world, &(struct fby_message){.type = FBY_MSG_HEARTBEAT,
                            .heartbeat              = {.instance = {5}}});
    message = receive_message(world, FBY_MSG_HEARTBEAT_OK);
    assert_int_equal(message.heartbeat_ok.instance.value, 5);
    assert_int_equal(message.heartbeat_ok.server.value, server);
    fby_message_fini(&message);
    send_join(world, 9, "a-job");
    message = receive_message(world, FBY_MSG_JOINED);
    assert_int_equal(message.joined.session.value, 9);
    assert_int_equal(message.joined.server.value, server);
    assert_int_equal(message.joined.lease_ms, 600000);
    assert_int_equal(message.joined.heartbeat_ms, 1000);
    fby_message_fini(&message);
    message = receive_message(world, FBY_MSG_WORKERS);
    assert_int_equal(message.workers.server.value, server);
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.added[0].instance.value, 5);
    fby_message_fini(&message);
}

/* A second session on the connection replaces the first one. */
static void a_connection_has_one_session(void **state)
{
    struct world *world = *state;
    send_join(world, 1, "a-job");
    expect(world, FBY_MSG_JOINED);
    send_join(world, 2, "a-job");
    expect(world, FBY_MSG_JOINED);
    send_message(world, &(struct fby_message){.type = FBY_MSG_RENEW,
                            .renew = {.session = {1}, .server = {7}}});
    expect(world, FBY_MSG_JOIN_FIRST);
}

static void the_last_log_line_counts_what_happened(void **state)
{
    struct world *world = *state;
    send_register(world, 2);
    expect(world, FBY_MSG_REGISTERED);
    send_join(world, 1, "a-job");
    expect(world, FBY_MSG_JOINED);
    expect(world, FBY_MSG_WORKERS);
    send_message(world, &(struct fby_message){.type = FBY_MSG_UNREACHABLE,
                            .unreachable            = {{1}, {2}, "refused"}});
    void *first = world->peer;
    world->peer = open_peer(world);
    send_message(world, &(struct fby_message){.type = FBY_MSG_JOIN,
                            .join                   = {.session = {2},
                                                  .job          = "a-job",
                                                  .rank         = 1,
                                                  .world        = 2,
                                                  .host         = "a-host",
                                                  .pid          = 1}});
    expect(world, FBY_MSG_JOIN_REFUSED);
    zmq_close(world->peer);
    world->peer = first;
    send_message(
        world, &(struct fby_message){.type = FBY_MSG_QUIT, .quit = {{1}}});
    send_message(world, &(struct fby_message){.type = FBY_MSG_RENEW,
                            .renew = {.session = {1}, .server = {7}}});
    expect(world, FBY_MSG_JOIN_FIRST);
    stop_server(state);
    assert_string_equal(world->counts,
        "messages refused 0, joins refused 1, late workers 0, late sessions "
        "0, reported unreachable 1");
}

static void the_defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    struct fby_server_options o = fby_server_defaults();
    assert_string_equal(o.listen, "tcp://127.0.0.1:7070");
    assert_int_equal(o.ready_fd, -1);
    assert_int_equal(o.lease_ns, 10 * FBY_NS_PER_S);
    assert_null(o.ready_file);
}

#define WITH_SERVER(test) \
    cmocka_unit_test_setup_teardown(test, start_server, stop_server)

/* Make standard input never readable: if the server polled it instead of the
 * socket, each answer would take as long as the longest wait. */
static int silence_input(void **state)
{
    int ends[2];
    (void)state;
    return pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) >= 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_manual),
        WITH_SERVER(a_message_of_another_version_is_answered),
        WITH_SERVER(a_worker_too_many_is_refused_until_another_leaves),
        WITH_SERVER(a_worker_with_another_endpoint_than_its_own_is_refused),
        WITH_SERVER(an_unknown_peer_must_register_or_join),
        WITH_SERVER(garbage_is_not_answered),
        WITH_SERVER(a_message_of_several_parts_is_dropped_whole),
        WITH_SERVER(a_session_is_told_the_servers_times_and_workers),
        WITH_SERVER(a_connection_has_one_session),
        WITH_SERVER(the_last_log_line_counts_what_happened),
    };
    return cmocka_run_group_tests_name(
        "server.server", tests, silence_input, NULL);
}
