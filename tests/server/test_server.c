/* A whole server in a thread, and the test as its peer. */
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/socket.h"
#include "proto/wire.h"
#include "server/server.h"

enum { MAX_WORKERS = 8192, PATIENCE_MS = 20000 };

struct world {
    pthread_t                 thread;
    struct fby_server_options options;
    fby_err                   ended;
    struct fby_why            why;
    void                     *zmq;
    void                     *peer; /* DEALER */
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

static int start_server(void **state)
{
    static struct world            world;
    const struct fby_socket_limits limits      = {.max_message_bytes = 1 << 20};
    const int                      patience_ms = PATIENCE_MS;
    char                           endpoint[FBY_ENDPOINT_SIZE];
    int                            ends[2];
    assert_int_equal(pipe(ends), 0);
    world                  = (struct world){.options = fby_server_defaults()};
    world.options.listen   = "tcp://127.0.0.1:*";
    world.options.ready_fd = ends[1];
    world.options.lease_ns =
        600 * FBY_NS_PER_S; /* registering all takes time */
    assert_int_equal(pthread_create(&world.thread, NULL, serve, &world), 0);
    read_endpoint(ends[0], endpoint);
    world.zmq = zmq_ctx_new();
    assert_ok(fby_socket_connect(world.zmq, endpoint, &limits, &world.peer));
    zmq_setsockopt(world.peer, ZMQ_RCVTIMEO, &patience_ms, sizeof(patience_ms));
    *state = &world;
    return 0;
}

static int stop_server(void **state)
{
    struct world *world = *state;
    zmq_close(world->peer);
    zmq_ctx_term(world->zmq);
    pthread_kill(world->thread, SIGINT);
    pthread_join(world->thread, NULL);
    assert_ok(world->ended);
    return 0;
}

static void say(struct world *world, const struct fby_message *message)
{
    struct fby_buffer frame = {0};
    struct fby_why    why   = {{0}};
    assert_ok(fby_message_encode(message, &frame, &why));
    assert_true(zmq_send(world->peer, frame.data, frame.size, 0) > 0);
    fby_buffer_fini(&frame);
}

static void say_register(struct world *world, uint64_t worker)
{
    static const char *const endpoints[] = {"tcp://127.0.0.1:1"};
    say(world, &(struct fby_message){.type = FBY_MSG_REGISTER,
                   .enroll                 = {.instance = {worker},
                                       .endpoints       = {endpoints, 1},
                                       .host            = "a-host",
                                       .cores           = 1}});
}

/* The next message, of this type; fby_message_fini() is the caller's. */
static struct fby_message hear(
    const struct world *world, enum fby_message_type type)
{
    uint8_t            frame[4096];
    struct fby_message message;
    struct fby_why     why = {{0}};
    int                n   = zmq_recv(world->peer, frame, sizeof(frame), 0);
    assert_true(n > 0 && (size_t)n <= sizeof(frame));
    assert_ok(fby_message_decode(frame, (size_t)n, &message, &why));
    assert_int_equal(message.type, type);
    return message;
}

static void expect(const struct world *world, enum fby_message_type type)
{
    struct fby_message message = hear(world, type);
    fby_message_fini(&message);
}

static void one_worker_too_many_is_told_so_until_there_is_room(void **state)
{
    struct world *world = *state;
    for (uint64_t i = 1; i <= MAX_WORKERS; i++) {
        say_register(world, i);
        expect(world, FBY_MSG_REGISTERED);
    }
    say_register(world, MAX_WORKERS + 1);
    struct fby_message message = hear(world, FBY_MSG_REFUSED);
    assert_int_equal(message.refused.code, FBY_REFUSED_FULL);
    assert_non_null(strstr(message.refused.text, "8192 workers"));
    fby_message_fini(&message);

    say(world,
        &(struct fby_message){.type = FBY_MSG_DEREGISTER, .deregister = {{7}}});
    say_register(world, MAX_WORKERS + 1);
    expect(world, FBY_MSG_REGISTERED);
}

static void whoever_is_not_known_has_to_register_or_join(void **state)
{
    struct world *world = *state;
    say(world, &(struct fby_message){
                   .type = FBY_MSG_HEARTBEAT, .heartbeat = {.instance = {5}}});
    struct fby_message message = hear(world, FBY_MSG_REGISTER_FIRST);
    assert_int_equal(message.register_first.instance.value, 5);
    fby_message_fini(&message);
    say(world, &(struct fby_message){.type = FBY_MSG_RENEW,
                   .renew                  = {.session = {6}, .server = {7}}});
    message = hear(world, FBY_MSG_JOIN_FIRST);
    assert_int_equal(message.join_first.session.value, 6);
    fby_message_fini(&message);
}

static void garbage_is_not_answered_and_disturbs_nobody(void **state)
{
    struct world *world = *state;
    for (size_t size = 0; size < 100; size++) {
        char garbage[100];
        memset(garbage, 'F', sizeof(garbage));
        assert_int_equal(zmq_send(world->peer, garbage, size, 0), (int)size);
    }
    say_register(world, 1);
    expect(world, FBY_MSG_REGISTERED);
}

#define WITH_SERVER(test) \
    cmocka_unit_test_setup_teardown(test, start_server, stop_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(one_worker_too_many_is_told_so_until_there_is_room),
        WITH_SERVER(whoever_is_not_known_has_to_register_or_join),
        WITH_SERVER(garbage_is_not_answered_and_disturbs_nobody),
    };
    return cmocka_run_group_tests_name("server.server", tests, NULL, NULL);
}
