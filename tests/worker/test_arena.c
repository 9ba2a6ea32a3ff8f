/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <poll.h>
#include <string.h>
#include <zmq.h>

#include "worker/stages/arena.h"

enum { SIZE = 1 << 20 };

struct world { /* a pool for one arena, and a pair of sockets */
    struct fby_memory *memory;
    struct fby_arenas *arenas;
    void              *zmq;
    void              *near_end;
    void              *far_end;
};

static int open_world(void **state)
{
    static struct world world;
    char                endpoint[64];
    size_t              size = sizeof(endpoint);
    world.memory             = fby_memory_create(SIZE);
    world.zmq                = zmq_ctx_new();
    world.near_end           = zmq_socket(world.zmq, ZMQ_PAIR);
    world.far_end            = zmq_socket(world.zmq, ZMQ_PAIR);
    *state                   = &world;
    return fby_arenas_create(world.memory, &world.arenas) != FBY_OK ||
           zmq_bind(world.near_end, "tcp://127.0.0.1:*") != 0 ||
           zmq_getsockopt(world.near_end, ZMQ_LAST_ENDPOINT, endpoint, &size) !=
               0 ||
           zmq_connect(world.far_end, endpoint) != 0;
}

static int close_world(void **state)
{
    struct world *world = *state;
    zmq_close(world->near_end);
    zmq_close(world->far_end);
    zmq_ctx_term(world->zmq);
    fby_arenas_destroy(&world->arenas);
    fby_memory_destroy(&world->memory);
    return 0;
}

static int last_tag; /* tag of the arena collected last */

static void count_tag(void *context, void *tag)
{
    (void)context;
    last_tag = *(int *)tag;
}

static fby_err take(struct world *world, uint32_t slots, struct fby_arena **out)
{
    static int                  tag  = 17;
    const struct fby_arena_spec spec = {SIZE, slots, &tag};
    fby_err err = fby_arena_create(world->arenas, &spec, out);
    return err == FBY_OK ? fby_arena_commit(*out) : err;
}

/* Collect until `n` arenas came back; bounded by CTest's time-out. */
static void wait_for_freed(struct world *world, size_t n)
{
    struct pollfd ready = {fby_arenas_fd(world->arenas), POLLIN, 0};
    while (n > 0) {
        poll(&ready, 1, -1);
        n -= fby_arenas_free_released(world->arenas, count_tag, NULL);
    }
}

static void a_released_arena_is_free_after_collecting(void **state)
{
    struct world     *world = *state;
    struct fby_arena *arena = NULL;
    struct fby_arena *other = NULL;
    assert_ok(take(world, 1, &arena));
    assert_int_equal(take(world, 1, &other), FBY_FULL);
    fby_arena_release(&arena);
    assert_null(arena);
    assert_int_equal(fby_memory_counts(world->memory).used, SIZE);
    wait_for_freed(world, 1);
    assert_int_equal(fby_memory_counts(world->memory).used, 0);
    assert_int_equal(last_tag, 17);
    assert_int_equal(
        fby_arenas_free_released(world->arenas, count_tag, NULL), 0);
}

static void an_arena_is_charged_before_it_is_committed(void **state)
{
    struct world               *world = *state;
    struct fby_arena           *arena = NULL;
    const struct fby_arena_spec spec  = {SIZE, 1, NULL};
    assert_ok(fby_arena_create(world->arenas, &spec, &arena));
    assert_null(fby_arena_data(arena));
    assert_int_equal(fby_memory_counts(world->memory).reserved, SIZE);
    assert_ok(fby_arena_commit(arena));
    assert_non_null(fby_arena_data(arena));
    assert_int_equal(fby_memory_counts(world->memory).reserved, 0);
    fby_arena_release(&arena);
    wait_for_freed(world, 1);
}

static void a_message_holds_the_arena_until_it_is_gone(void **state)
{
    struct world     *world = *state;
    struct fby_arena *arena = NULL;
    zmq_msg_t         message;
    assert_ok(take(world, 2, &arena));
    assert_ok(fby_arena_lend(arena, 1, fby_arena_data(arena), 64, &message));
    assert_true(fby_arena_is_lent(arena, 1));
    assert_false(fby_arena_is_lent(arena, 0));
    fby_arena_release(&arena);
    assert_int_equal(
        fby_arenas_free_released(world->arenas, count_tag, NULL), 0);
    zmq_msg_close(&message);
    assert_int_equal(
        fby_arenas_free_released(world->arenas, count_tag, NULL), 1);
}

static void bytes_sent_in_place_arrive_and_come_back(void **state)
{
    struct world     *world = *state;
    static uint8_t    got[SIZE / 2];
    struct fby_arena *arena = NULL;
    for (uint8_t round = 1; round <= 50; round++) {
        zmq_msg_t message;
        assert_ok(take(world, 1, &arena));
        uint8_t *data = fby_arena_data(arena);
        memset(data, round, sizeof(got));
        assert_ok(fby_arena_lend(arena, 0, data, sizeof(got), &message));
        assert_true(zmq_msg_send(&message, world->near_end, 0) > 0);
        fby_arena_release(&arena);
        assert_int_equal(
            zmq_recv(world->far_end, got, sizeof(got), 0), sizeof(got));
        assert_int_equal(got[0], round);
        assert_int_equal(got[sizeof(got) - 1], round);
        wait_for_freed(world, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_released_arena_is_free_after_collecting),
        cmocka_unit_test(an_arena_is_charged_before_it_is_committed),
        cmocka_unit_test(a_message_holds_the_arena_until_it_is_gone),
        cmocka_unit_test(bytes_sent_in_place_arrive_and_come_back),
    };
    return cmocka_run_group_tests_name(
        "worker.arena", tests, open_world, close_world);
}
