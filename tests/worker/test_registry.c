#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "tests/worker/fake_server.h"
#include "tests/worker/world.h"

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
    struct world  world;
    struct server server;
    server_open(&server);
    world_prepare(&world, state);
    world.options.server = server.endpoint;
    world_start(&world);

    const struct fby_register *enroll =
        &hear(&server, FBY_MSG_REGISTER)->enroll;
    assert_int_equal(enroll->endpoints.n, 1);
    assert_string_equal(enroll->endpoints.at[0], world.endpoint);
    assert_int_equal(enroll->roots.n, 1);
    assert_string_equal(enroll->roots.at[0], "data");
    assert_true(enroll->cores >= 1);
    say_registered(&server, enroll->instance);

    client_hello(&world.client);
    client_content(&world.client, &world.kit);
    struct fby_job_spec   spec = world_spec(&world, 0);
    struct fby_request_id id   = client_request(&world.client, &spec);
    client_take_batch(&world.client, &spec, id);
    const struct fby_heartbeat *heartbeat = NULL;
    do { /* a task is counted by its thread, maybe behind the batch */
        heartbeat = &hear(&server, FBY_MSG_HEARTBEAT)->heartbeat;
        answer(&server);
    } while (counter(heartbeat, "batches") == 0 ||
             counter(heartbeat, "transform.tasks") < KIT_BATCH);
    assert_int_equal(heartbeat->sessions, 1);
    assert_int_equal(counter(heartbeat, "requests"), 1);
    assert_int_equal(counter(heartbeat, "transform.tasks"), KIT_BATCH);
    assert_true(counter(heartbeat, "raw_bytes") > 0);
    world_finish(&world);
    server_close(&server);
}

static void a_server_that_forgot_is_told_again(void **state)
{
    struct world  world;
    struct server server;
    server_open(&server);
    world_prepare(&world, state);
    world.options.server = server.endpoint;
    world_start(&world);
    struct fby_instance_id worker =
        hear(&server, FBY_MSG_REGISTER)->enroll.instance;
    say_registered(&server, worker);
    hear(&server, FBY_MSG_HEARTBEAT);
    say(&server, &(struct fby_message){.type = FBY_MSG_REGISTER_FIRST,
                     .register_first         = {worker}});
    assert_int_equal(
        hear(&server, FBY_MSG_REGISTER)->enroll.instance.value, worker.value);
    world_finish(&world);
    server_close(&server);
}

static void a_worker_that_is_refused_asks_again(void **state)
{
    struct world  world;
    struct server server;
    server_open(&server);
    world_prepare(&world, state);
    world.options.server = server.endpoint;
    world_start(&world);
    for (int i = 0; i < 2; i++) {
        hear(&server, FBY_MSG_REGISTER);
        say(&server, &(struct fby_message){
                         .type    = FBY_MSG_REFUSED,
                         .refused = {.code = FBY_REFUSED_FULL,
                             .version_min  = FBY_PROTOCOL_VERSION,
                             .version_max  = FBY_PROTOCOL_VERSION,
                             .text         = "no room"},
                     });
    }
    say_registered(&server, hear(&server, FBY_MSG_REGISTER)->enroll.instance);
    const struct fby_heartbeat *heartbeat =
        &hear(&server, FBY_MSG_HEARTBEAT)->heartbeat;
    assert_int_equal(counter(heartbeat, "out_of_place"), 0);
    world_finish(&world);
    server_close(&server);
}

static void a_leaving_worker_says_so_to_the_server(void **state)
{
    struct world  world;
    struct server server;
    server_open(&server);
    world_prepare(&world, state);
    world.options.server = server.endpoint;
    world_start(&world);
    struct fby_instance_id worker =
        hear(&server, FBY_MSG_REGISTER)->enroll.instance;
    say_registered(&server, worker);
    world_ask_to_stop(&world);
    assert_int_equal(
        hear(&server, FBY_MSG_DEREGISTER)->deregister.instance.value,
        worker.value);
    world_finish(&world);
    server_close(&server);
}

/* It has to name an address that others can use, not a wildcard. */
static void a_wildcard_is_registered_as_the_address_of_the_route(void **state)
{
    struct world  world;
    struct server server;
    server_open(&server);
    world_prepare(&world, state);
    world.options.server = server.endpoint;
    world.options.listen = "tcp://0.0.0.0:*";
    world_start(&world);
    const struct fby_register *enroll =
        &hear(&server, FBY_MSG_REGISTER)->enroll;
    const char *port = strrchr(world.endpoint, ':');
    assert_int_equal(
        strncmp(enroll->endpoints.at[0], "tcp://127.0.0.1:", 16), 0);
    assert_string_equal(strrchr(enroll->endpoints.at[0], ':'), port);
    world_finish(&world);
    server_close(&server);
}

static void an_address_nobody_can_connect_to_is_not_advertised(void **state)
{
    (void)state;
    struct fby_worker_options options = fby_worker_defaults();
    struct fby_why            why     = {{0}};
    options.server                    = "tcp://127.0.0.1:1";
    options.advertise                 = "tcp://0.0.0.0:7000";
    assert_int_equal(fby_worker_run(&options, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "tcp://0.0.0.0:7000"));
}

#define IN_SANDBOX(test) \
    cmocka_unit_test_setup_teardown(test, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_worker_registers_and_counts_in_heartbeats),
        IN_SANDBOX(a_server_that_forgot_is_told_again),
        IN_SANDBOX(a_worker_that_is_refused_asks_again),
        IN_SANDBOX(a_leaving_worker_says_so_to_the_server),
        IN_SANDBOX(a_wildcard_is_registered_as_the_address_of_the_route),
        cmocka_unit_test(an_address_nobody_can_connect_to_is_not_advertised),
    };
    return cmocka_run_group_tests_name("worker.registry", tests, NULL, NULL);
}
