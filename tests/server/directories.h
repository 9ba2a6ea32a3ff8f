/* SPDX-License-Identifier: Apache-2.0 */
/* directories.h - a directory without a server: helpers that register workers,
 * join sessions and take the due messages one by one. */
#ifndef FBY_TESTS_SERVER_DIRECTORIES_H
#define FBY_TESTS_SERVER_DIRECTORIES_H

#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "server/directory.h"

enum { MAX_WORKERS = 1030, MAX_SESSIONS = 4 };

static const int64_t lease_ns     = 10 * FBY_NS_PER_S;
static const int64_t heartbeat_ns = FBY_NS_PER_S;

static inline int make_directory(void **state)
{
    const struct fby_directory_config config = {.lease_ns = lease_ns,
        .heartbeat_ns                                     = heartbeat_ns,
        .max_workers                                      = MAX_WORKERS,
        .max_sessions                                     = MAX_SESSIONS};
    *state                                   = fby_directory_create(&config);
    return 0;
}

static inline int destroy_directory(void **state)
{
    struct fby_directory *directory = *state;
    fby_directory_destroy(&directory);
    assert_null(directory);
    fby_directory_destroy(&directory);
    return 0;
}

#define DIRECTORY_TEST(test) \
    cmocka_unit_test_setup_teardown(test, make_directory, destroy_directory)

/* The connection of all workers. */
static const struct fby_routing_id worker_route = {.bytes = {200}, .size = 2};

static inline fby_err register_as(
    struct fby_directory *d, uint64_t id, int64_t now_ns)
{
    static const char *const      endpoints[] = {"tcp://a:1", "tcp://b:2"};
    const struct fby_registration worker      = {
             .instance  = {id},
             .endpoints = {endpoints, 2},
             .host      = "a-host",
    };
    return fby_directory_register(d, &worker, &worker_route, now_ns);
}

static inline fby_err heartbeat_of(
    struct fby_directory *d, uint64_t id, int64_t now_ns)
{
    const struct fby_heartbeat message = {.instance = {id}};
    return fby_directory_heartbeat(d, &message, &worker_route, now_ns);
}

static inline void deregister(struct fby_directory *d, uint64_t id)
{
    fby_directory_deregister(d, (struct fby_instance_id){id}, &worker_route);
}

static inline void add_worker(
    struct fby_directory *d, uint64_t id, int64_t now_ns)
{
    assert_ok(register_as(d, id, now_ns));
}

/* Each session has its own route. */
static inline struct fby_routing_id route_of(uint64_t session)
{
    return (struct fby_routing_id){.bytes = {(uint8_t)session, 7}, .size = 2};
}

static inline struct fby_join joining(uint64_t session, uint32_t rank)
{
    return (struct fby_join){.session = {session},
        .job                          = "train",
        .rank                         = rank,
        .world                        = 2,
        .host                         = session % 2 == 0 ? "even" : "odd",
        .pid                          = (uint32_t)session + 1000,
        .seed                         = 42,
        .epoch                        = 3,
        .step                         = 4};
}

static inline fby_err join_as(
    struct fby_directory *d, const struct fby_join *join, int64_t now_ns)
{
    struct fby_routing_id from = route_of(join->session.value);
    return fby_directory_join(d, join, &from, now_ns);
}

static inline fby_err renew_as(
    struct fby_directory *d, const struct fby_renew *renew, int64_t now_ns)
{
    struct fby_routing_id from = route_of(renew->session.value);
    return fby_directory_renew(d, renew, &from, now_ns);
}

static inline fby_err renew(
    struct fby_directory *d, uint64_t session, int64_t now_ns)
{
    return renew_as(d, &(struct fby_renew){.session = {session}}, now_ns);
}

/* Assert that the next due message has this type, session and route. */
static inline struct fby_message expect_due(
    struct fby_directory *d, enum fby_message_type type, uint64_t session)
{
    struct fby_message    message;
    struct fby_routing_id to;
    struct fby_routing_id expected = route_of(session);
    assert_true(fby_directory_take_due(d, &message, &to));
    assert_string_equal(fby_message_name(message.type), fby_message_name(type));
    assert_int_equal(fby_message_session(&message).value, session);
    assert_int_equal(to.size, expected.size);
    assert_memory_equal(to.bytes, expected.bytes, expected.size);
    return message;
}

static inline void expect_nothing_due(struct fby_directory *d)
{
    struct fby_message    message;
    struct fby_routing_id to;
    assert_false(fby_directory_take_due(d, &message, &to));
}

static inline void join_ok(
    struct fby_directory *d, uint64_t session, uint32_t rank, int64_t now_ns)
{
    const struct fby_join join = joining(session, rank);
    assert_ok(join_as(d, &join, now_ns));
    expect_due(d, FBY_MSG_JOINED, session);
}

static inline struct fby_maybe_digest digest_of(uint8_t first)
{
    return (struct fby_maybe_digest){true, {{first}}};
}

#endif
