/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cores.h"
#include "tests/worker/fake_server.h"
#include "tests/worker/worker_thread.h"
#include "worker/stages/stages.h"

static uint64_t counter(const struct fby_heartbeat *heartbeat, const char *name)
{
    for (size_t i = 0; i < heartbeat->n_counters; i++) {
        if (strcmp(heartbeat->counters[i].name, name) == 0) {
            return heartbeat->counters[i].value;
        }
    }
    fail_msg("no counter %s", name);
    return 0;
}

static void a_worker_registers_and_counts_in_heartbeats(void **state)
{
    struct worker_thread rig;
    struct server        server;
    server_open(&server);
    worker_thread_prepare(&rig, state);
    rig.options.server = server.endpoint;
    worker_thread_start(&rig);

    const struct fby_registration *registration =
        &expect_message(&server, FBY_MSG_REGISTER)->registration;
    assert_int_equal(registration->endpoints.n, 1);
    assert_string_equal(registration->endpoints.at[0], rig.endpoint);
    assert_int_equal(registration->roots.n, 1);
    assert_string_equal(registration->roots.at[0], "data");
    assert_true(registration->cores >= 1);
    send_registered(&server, registration->instance);

    client_hello(&rig.client);
    client_content(&rig.client, &rig.kit);
    struct fby_job_spec   spec = worker_thread_spec(&rig, 0);
    struct fby_request_id id   = client_request(&rig.client, &spec);
    client_take_batch(&rig.client, &spec, id);
    const struct fby_heartbeat *heartbeat = NULL;
    do { /* a thread may count its task after the batch was sent */
        heartbeat = &expect_message(&server, FBY_MSG_HEARTBEAT)->heartbeat;
        send_reply(&server);
    } while (counter(heartbeat, "batches") == 0 ||
             counter(heartbeat, "transform.tasks") < KIT_BATCH);
    assert_int_equal(heartbeat->sessions, 1);
    assert_int_equal(counter(heartbeat, "requests"), 1);
    assert_int_equal(counter(heartbeat, "transform.tasks"), KIT_BATCH);
    assert_true(counter(heartbeat, "raw_bytes") > 0);
    worker_thread_finish(&rig);
    server_close(&server);
}

static void a_leaving_worker_deregisters(void **state)
{
    struct worker_thread rig;
    struct server        server;
    server_open(&server);
    worker_thread_prepare(&rig, state);
    rig.options.server = server.endpoint;
    worker_thread_start(&rig);
    struct fby_instance_id worker =
        expect_message(&server, FBY_MSG_REGISTER)->registration.instance;
    send_registered(&server, worker);
    worker_thread_ask_to_stop(&rig);
    assert_int_equal(
        expect_message(&server, FBY_MSG_DEREGISTER)->deregister.instance.value,
        worker.value);
    worker_thread_finish(&rig);
    server_close(&server);
}

/* The worker must register an address that others can use, not a wildcard. */
static void a_wildcard_is_registered_as_the_address_of_the_route(void **state)
{
    struct worker_thread rig;
    struct server        server;
    server_open(&server);
    worker_thread_prepare(&rig, state);
    rig.options.server      = server.endpoint;
    rig.options.listen      = "tcp://0.0.0.0:*";
    rig.options.is_insecure = true;
    worker_thread_start(&rig);
    const struct fby_registration *registration =
        &expect_message(&server, FBY_MSG_REGISTER)->registration;
    const char *port = strrchr(rig.endpoint, ':');
    assert_int_equal(
        strncmp(registration->endpoints.at[0], "tcp://127.0.0.1:", 16), 0);
    assert_string_equal(strrchr(registration->endpoints.at[0], ':'), port);
    worker_thread_finish(&rig);
    server_close(&server);
}

/* REGISTER of a worker with default options. */
static void check_parts(void **state, uint32_t encode_threads, uint64_t encode)
{
    struct worker_thread rig;
    struct server        server;
    uint32_t             cores = fby_usable_cores();
    const uint64_t memory      = UINT64_C(4) << 30; /* a limit, not allocated */
    server_open(&server);
    worker_thread_prepare(&rig, state);
    rig.options.server            = server.endpoint;
    rig.options.memory_bytes      = memory;
    rig.options.transform_threads = 0;
    rig.options.fetch_threads     = 0;
    rig.options.encode_threads    = encode_threads;
    worker_thread_start(&rig);
    send_registered(&server,
        expect_message(&server, FBY_MSG_REGISTER)->registration.instance);
    const struct fby_heartbeat *heartbeat =
        &expect_message(&server, FBY_MSG_HEARTBEAT)->heartbeat;
    assert_int_equal(counter(heartbeat, "memory.limit"),
        memory - memory / 8 - memory / 4 - encode);
    assert_int_equal(counter(heartbeat, "transform.threads"), cores);
    assert_int_equal(
        counter(heartbeat, "fetch.threads"), cores > 2 ? 2 * cores : 4);
    assert_int_equal(counter(heartbeat, "encode.threads"),
        encode_threads > 0 ? encode_threads : (cores + 1) / 2);
    worker_thread_finish(&rig);
    server_close(&server);
}

/* An eighth to read into, a quarter to decode in, up to a sixteenth to compress
 * in, the rest for batches. */
static void memory_and_threads_are_divided_as_the_manual_says(void **state)
{
    uint64_t each = fby_stages_max_encode_bytes(1);
    uint64_t all  = (fby_usable_cores() + 1) / 2 * each;
    uint64_t most = 256 << 20;
    check_parts(state, 0, all < most ? all : most);
    check_parts(state, 1, each);
    check_parts(state, 64, most);
}

static void a_wildcard_is_not_advertised(void **state)
{
    (void)state;
    struct fby_worker_options options      = fby_worker_defaults();
    struct fby_error_detail   why          = {{0}};
    options.server                         = "tcp://127.0.0.1:1";
    static const char *const unreachable[] = {
        "tcp://0.0.0.0:7000", "tcp://[::]:7000", "tcp://*:7000"};
    options.stop_fd =
        eventfd(1, 0); /* if the worker started, it would end at once */
    for (size_t i = 0; i < sizeof(unreachable) / sizeof(unreachable[0]); i++) {
        options.advertise = unreachable[i];
        assert_int_equal(fby_worker_run(&options, &why), FBY_USAGE);
        assert_non_null(strstr(why.text, unreachable[i]));
        assert_non_null(strstr(why.text, "--advertise"));
    }
    close(options.stop_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_worker_registers_and_counts_in_heartbeats),
        IN_SANDBOX(a_leaving_worker_deregisters),
        IN_SANDBOX(a_wildcard_is_registered_as_the_address_of_the_route),
        IN_SANDBOX(memory_and_threads_are_divided_as_the_manual_says),
        cmocka_unit_test(a_wildcard_is_not_advertised),
    };
    return cmocka_run_group_tests_name("worker.registry", tests, NULL, NULL);
}
