/* SPDX-License-Identifier: Apache-2.0 */
/* When a worker sends each message to its server; the test sets the clock. */
#include "tests/test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "tests/worker/fake_server.h"
#include "tests/worker/loop_rig.h"

#define S  FBY_NS_PER_S
#define MS FBY_NS_PER_MS

struct pair { /* a worker's loop and its server */
    struct rig    rig;
    struct server server;
};

static void pair_open(struct pair *pair, void **state)
{
    struct fby_error_detail why  = {{0}};
    struct fby_loop        *loop = &pair->rig.loop;
    rig_open(&pair->rig, state);
    server_open(&pair->server);
    loop->roots               = ((struct sandbox *)*state)->roots;
    loop->zmq                 = zmq_ctx_new();
    loop->options.server      = pair->server.endpoint;
    loop->options.advertise   = "tcp://127.0.0.1:7777";
    loop->options.register_ns = 2 * S;
    assert_ok(fby_loop_registry_open(loop, &why));
}

static void pair_close(struct pair *pair)
{
    fby_loop_registry_close(&pair->rig.loop);
    fby_loop_registry_close(&pair->rig.loop);
    zmq_ctx_term(pair->rig.loop.zmq);
    server_close(&pair->server);
    rig_close(&pair->rig);
}

/* Let `ns` pass; the worker must send so many messages. */
static void tick(struct pair *pair, int64_t ns, uint32_t messages)
{
    struct fby_loop_registry *registry = &pair->rig.loop.registry;
    uint32_t                  before   = registry->unanswered;
    pair->rig.loop.now_ns += ns;
    fby_loop_registry_tick(&pair->rig.loop);
    assert_int_equal(registry->unanswered, before + messages);
}

/* Wait until the server's message has arrived and was handled. */
static void take(struct pair *pair)
{
    zmq_pollitem_t item = {
        .socket = pair->rig.loop.registry.socket, .events = ZMQ_POLLIN};
    assert_int_equal(zmq_poll(&item, 1, SERVER_PATIENCE_MS), 1);
    fby_loop_registry_receive(&pair->rig.loop);
}

static void become_registered(struct pair *pair)
{
    tick(pair, 0, 1);
    send_registered(&pair->server,
        expect_message(&pair->server, FBY_MSG_REGISTER)->registration.instance);
    take(pair);
}

static bool connect_fails;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int __real_zmq_connect(void *socket, const char *endpoint);
int __wrap_zmq_connect(void *socket, const char *endpoint);

int __wrap_zmq_connect(void *socket, const char *endpoint)
{
    errno = EMFILE;
    return connect_fails ? -1 : __real_zmq_connect(socket, endpoint);
}
/* NOLINTEND(readability-identifier-naming) */

static void ignore(void *arg, enum fby_log_level level, const char *line)
{
    (void)arg;
    (void)level;
    (void)line;
}

static void a_worker_without_a_server_sends_nothing(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    for (int i = 0; i < 8; i++) {
        rig.loop.now_ns += 10 * S;
        fby_loop_registry_tick(&rig.loop);
    }
    assert_int_equal(rig.loop.registry.unanswered, 0);
    assert_int_equal(rig.loop.registry.due_ns, 0);
    assert_false(rig.loop.registry.silence_logged);
    rig_close(&rig);
}

static void a_worker_registers_until_it_is_answered(void **state)
{
    struct pair pair;
    pair_open(&pair, state);
    tick(&pair, 0, 1);
    const struct fby_registration *sent =
        &expect_message(&pair.server, FBY_MSG_REGISTER)->registration;
    assert_int_equal(sent->instance.value, 4711);
    assert_int_equal(sent->endpoints.n, 1);
    assert_string_equal(sent->endpoints.at[0], "tcp://127.0.0.1:7777");
    assert_int_equal(sent->roots.n, 1);
    assert_string_equal(sent->roots.at[0], "data");
    assert_true(sent->cores > 0 && sent->pid > 1);
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    assert_string_equal(sent->host, host);
    tick(&pair, 2 * S - 1, 0);
    tick(&pair, 1, 1);
    expect_message(&pair.server, FBY_MSG_REGISTER);
    tick(&pair, S, 0);
    tick(&pair, S, 1);
    expect_message(&pair.server, FBY_MSG_REGISTER);
    send_registered(&pair.server, (struct fby_instance_id){4711});
    take(&pair);
    assert_int_equal(pair.rig.loop.registry.unanswered, 0);
    assert_int_equal(pair.rig.loop.registry.server.value, 77);
    pair_close(&pair);
}

/* The heartbeat interval of send_registered is 5 ms. */
static void heartbeats_come_as_often_as_the_server_wants(void **state)
{
    struct pair pair;
    pair_open(&pair, state);
    become_registered(&pair);
    struct party a = party_of(&pair.rig, 1);
    struct party b = party_of(&pair.rig, 2);
    party_hello(&a);
    party_hello(&b);
    party_bye(&b);
    tick(&pair, 5 * MS - 1, 0);
    tick(&pair, 1, 1);
    const struct fby_heartbeat *heartbeat =
        &expect_message(&pair.server, FBY_MSG_HEARTBEAT)->heartbeat;
    assert_int_equal(heartbeat->instance.value, 4711);
    assert_int_equal(heartbeat->sessions, 1);
    assert_true(heartbeat->load_permille <= 1000);
    assert_true(heartbeat->n_counters > 40);
    send_reply(&pair.server);
    take(&pair);
    assert_int_equal(pair.rig.loop.registry.unanswered, 0);
    tick(&pair, 5 * MS - 1, 0);
    tick(&pair, 1, 1);
    send_message(&pair.server, &(struct fby_message){.type = FBY_MSG_REGISTERED,
                                   .registered = {.instance = {4711},
                                       .server              = {77},
                                       .lease_ms            = 1000,
                                       .heartbeat_ms        = 70}});
    take(&pair);
    tick(&pair, 70 * MS - 1, 0);
    tick(&pair, 1, 1);
    wire_expect(&a, FBY_MSG_WELCOME);
    wire_expect(&b, FBY_MSG_WELCOME);
    pair_close(&pair);
}

static void use_two_transform_threads(struct fby_loop *loop)
{
    const struct fby_stages_config config = {.fetch_threads = 1,
        .transform_threads                                  = 2,
        .encode_threads                                     = 1,
        .fetch_bytes                                        = 1 << 20,
        .scratch_bytes                                      = 4 << 20,
        .encode_bytes                                       = 8 << 20};
    fby_stages_destroy(&loop->stages);
    assert_ok(fby_stages_create(&config, &loop->stages));
}

/* The load in the next heartbeat after `busy_ns` of work since the last. */
static uint32_t load_after(struct pair *pair, int64_t busy_ns)
{
    pair->rig.loop.registry.heartbeat_busy_ns -= busy_ns;
    tick(pair, 5 * MS, 1);
    const struct fby_heartbeat *heartbeat =
        &expect_message(&pair->server, FBY_MSG_HEARTBEAT)->heartbeat;
    return heartbeat->load_permille;
}

/* As a fraction of the time of all transform threads since the last one. */
static void the_load_is_the_share_of_time_spent_transforming(void **state)
{
    struct pair pair;
    pair_open(&pair, state);
    use_two_transform_threads(&pair.rig.loop);
    become_registered(&pair);
    load_after(&pair, 0);
    assert_int_equal(load_after(&pair, 0), 0);
    assert_int_equal(load_after(&pair, MS), 100);
    assert_int_equal(load_after(&pair, 9 * MS), 900);
    assert_int_equal(load_after(&pair, 10 * MS), 1000);
    assert_int_equal(load_after(&pair, 11 * MS),
        1000); /* a measurement may exceed the whole */
    assert_int_equal(load_after(&pair, 0), 0);
    pair_close(&pair);
}

static void a_server_that_forgot_the_worker_gets_register_at_once(void **state)
{
    struct pair pair;
    pair_open(&pair, state);
    become_registered(&pair);
    send_message(
        &pair.server, &(struct fby_message){.type = FBY_MSG_REGISTER_FIRST,
                          .register_first         = {{4711}}});
    take(&pair);
    tick(&pair, 0, 1);
    expect_message(&pair.server, FBY_MSG_REGISTER);
    tick(&pair, 2 * S - 1, 0);
    tick(&pair, 1, 1);
    expect_message(&pair.server, FBY_MSG_REGISTER);
    pair_close(&pair);
}

/* Let the lease of send_registered (10 s) end without an answer, but for 1 ns. */
static void be_silent_for_a_lease(struct pair *pair)
{
    for (int i = 0; i < 10; i++) {
        tick(pair, 5 * MS, 1);
        expect_message(&pair->server, FBY_MSG_HEARTBEAT);
    }
    tick(pair, 10 * S - 50 * MS - 1, 1);
    expect_message(&pair->server, FBY_MSG_HEARTBEAT);
}

/* After a lease without an answer it connects again, and REGISTER is the first
 * message there. */
static void the_worker_connects_again_to_a_silent_server(void **state)
{
    struct pair pair;
    uint8_t     before[sizeof(pair.server.worker)];
    pair_open(&pair, state);
    become_registered(&pair);
    size_t size = pair.server.worker_size;
    memcpy(before, pair.server.worker, size);
    be_silent_for_a_lease(&pair);
    assert_memory_equal(pair.server.worker, before, size);
    assert_false(pair.rig.loop.registry.silence_logged);
    pair.rig.loop.now_ns += 1;
    fby_loop_registry_tick(&pair.rig.loop);
    assert_true(pair.rig.loop.registry.silence_logged);
    assert_int_equal(pair.rig.loop.registry.unanswered, 1);
    assert_int_equal(pair.rig.loop.registry.server.value, 0);
    receive(&pair.server);
    assert_int_equal(pair.server.message.type, FBY_MSG_REGISTER);
    assert_true(pair.server.worker_size != size ||
                memcmp(pair.server.worker, before, size) != 0);
    send_reply(&pair.server);
    take(&pair);
    assert_false(pair.rig.loop.registry.silence_logged);
    tick(&pair, 5 * MS, 1);
    expect_message(&pair.server, FBY_MSG_HEARTBEAT);
    pair_close(&pair);
}

static void a_worker_that_cannot_connect_again_tries_later(void **state)
{
    struct pair pair;
    pair_open(&pair, state);
    become_registered(&pair);
    be_silent_for_a_lease(&pair);
    fby_log_redirect(FBY_LOG_ERROR, ignore, NULL);
    connect_fails = true;
    tick(&pair, 1, 0);
    tick(&pair, 2 * S, 0);
    connect_fails = false;
    tick(&pair, 2 * S - 1, 0);
    pair.rig.loop.now_ns += 1;
    fby_loop_registry_tick(&pair.rig.loop);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    assert_int_equal(pair.rig.loop.registry.unanswered, 1);
    receive(&pair.server);
    assert_int_equal(pair.server.message.type, FBY_MSG_REGISTER);
    pair_close(&pair);
}

struct log_lines { /* counts of log lines, by their first word */
    unsigned refused, registered, silent;
};

static void note(void *arg, enum fby_log_level level, const char *line)
{
    struct log_lines *lines = arg;
    (void)level;
    lines->refused += strncmp(line, "REGISTER-REFUSED ", 17) == 0;
    lines->registered += strncmp(line, "REGISTERED ", 11) == 0;
    lines->silent += strncmp(line, "SERVER-SILENT ", 14) == 0;
}

static void send_refused(struct pair *pair)
{
    expect_message(&pair->server, FBY_MSG_REGISTER);
    send_message(&pair->server, &(struct fby_message){.type = FBY_MSG_REFUSED,
                                    .refused = {.code = FBY_REFUSED_FULL,
                                        .version_min  = 1,
                                        .version_max  = 1,
                                        .text         = "no room"}});
    take(pair);
}

static void each_event_is_logged_once(void **state)
{
    struct pair      pair;
    struct log_lines lines = {0};
    pair_open(&pair, state);
    fby_log_redirect(FBY_LOG_INFO, note, &lines);
    tick(&pair, 0, 1);
    for (int i = 0; i < 3; i++) {
        send_refused(&pair);
        assert_int_equal(lines.refused, 1);
        tick(&pair, 2 * S, 1);
    }
    for (int i = 0; i < 2; i++) {
        send_registered(&pair.server, (struct fby_instance_id){4711});
        take(&pair);
        assert_int_equal(lines.registered, 1);
    }
    send_message(
        &pair.server, &(struct fby_message){.type = FBY_MSG_REGISTER_FIRST,
                          .register_first         = {{4711}}});
    take(&pair);
    tick(&pair, 0, 1);
    send_refused(&pair);
    assert_int_equal(lines.refused, 2);
    assert_int_equal(pair.rig.loop.counts.out_of_place, 0);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    assert_int_equal(lines.silent, 0);
    pair_close(&pair);
}

static void keep(void *arg, enum fby_log_level level, const char *line)
{
    char *text = arg;
    (void)level;
    snprintf(text, 512, "%s", line);
}

/* A worker sends REGISTER every second, here every 2 s. */
static void four_registers_without_an_answer_are_logged(void **state)
{
    struct pair pair;
    char        line[512] = "";
    char        right[512];
    pair_open(&pair, state);
    fby_log_redirect(FBY_LOG_WARN, keep, line);
    tick(&pair, 0, 1);
    for (int i = 1; i < 4; i++) {
        tick(&pair, 2 * S, 1);
        assert_string_equal(line, "");
    }
    tick(&pair, 2 * S, 1);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    snprintf(right, sizeof(right),
        "SERVER-SILENT no answer from %s; check that it runs and listens at "
        "this address, and whether it demands keys (--keys, FOREBAY_KEYS); "
        "this worker keeps trying",
        pair.server.endpoint);
    assert_string_equal(line, right);
    pair_close(&pair);
}

static void invalid_messages_from_the_server_are_counted(void **state)
{
    struct pair pair;
    pair_open(&pair, state);
    become_registered(&pair);
    tick(&pair, 5 * MS, 1);
    send_message(&pair.server,
        &(struct fby_message){.type = FBY_MSG_JOIN_FIRST, .join_first = {{1}}});
    take(&pair);
    assert_int_equal(pair.rig.loop.counts.out_of_place, 1);
    assert_int_equal(pair.rig.loop.counts.malformed, 0);
    tick(&pair, 5 * MS, 1);
    zmq_send(pair.server.router, pair.server.worker, pair.server.worker_size,
        ZMQ_SNDMORE);
    zmq_send(pair.server.router, "garbage", 7, 0);
    take(&pair);
    assert_int_equal(pair.rig.loop.counts.malformed, 1);
    assert_int_equal(pair.rig.loop.registry.unanswered, 1);
    pair_close(&pair);
}

static void a_leaving_worker_deregisters_and_sends_no_more(void **state)
{
    struct pair pair;
    pair_open(&pair, state);
    become_registered(&pair);
    fby_loop_start_leaving(&pair.rig.loop);
    assert_int_equal(expect_message(&pair.server, FBY_MSG_DEREGISTER)
                         ->deregister.instance.value,
        4711);
    tick(&pair, 100 * S, 0);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_worker_registers_until_it_is_answered),
        IN_SANDBOX(a_worker_without_a_server_sends_nothing),
        IN_SANDBOX(heartbeats_come_as_often_as_the_server_wants),
        IN_SANDBOX(the_load_is_the_share_of_time_spent_transforming),
        IN_SANDBOX(a_server_that_forgot_the_worker_gets_register_at_once),
        IN_SANDBOX(the_worker_connects_again_to_a_silent_server),
        IN_SANDBOX(a_worker_that_cannot_connect_again_tries_later),
        IN_SANDBOX(each_event_is_logged_once),
        IN_SANDBOX(four_registers_without_an_answer_are_logged),
        IN_SANDBOX(invalid_messages_from_the_server_are_counted),
        IN_SANDBOX(a_leaving_worker_deregisters_and_sends_no_more),
    };
    return cmocka_run_group_tests_name("worker.register", tests, NULL, NULL);
}
