/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/handshake.h"

#include <string.h>

#include "tests/test.h"

static struct fby_challenges challenges;

static int clear(void **state)
{
    (void)state;
    memset(&challenges, 0, sizeof(challenges));
    return 0;
}

static struct fby_routing_id connection(unsigned number)
{
    struct fby_routing_id id = {.size = sizeof(number)};
    memcpy(id.bytes, &number, sizeof(number));
    return id;
}

static struct fby_route_nonce nonce_of(unsigned number)
{
    const struct fby_routing_id id = connection(number);
    return fby_challenges_nonce(&challenges, &id);
}

static bool take(unsigned number, struct fby_route_nonce *out)
{
    const struct fby_routing_id id = connection(number);
    return fby_challenges_take(&challenges, &id, out);
}

static bool equal(struct fby_route_nonce a, struct fby_route_nonce b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void a_nonce_is_of_one_connection_and_used_once(void **state)
{
    (void)state;
    struct fby_route_nonce taken;
    struct fby_route_nonce first = nonce_of(1);
    assert_false(equal(first, nonce_of(2)));
    assert_true(equal(first, nonce_of(1))); /* not used yet */
    assert_false(take(3, &taken));
    assert_true(take(1, &taken));
    assert_true(equal(first, taken));
    assert_false(take(1, &taken));
    assert_false(equal(first, nonce_of(1)));
}

static void the_oldest_nonce_makes_room(void **state)
{
    (void)state;
    struct fby_route_nonce taken;
    for (unsigned i = 0; i <= FBY_MAX_CHALLENGES; i++) {
        (void)nonce_of(i + 1);
    }
    assert_false(take(1, &taken));
    assert_true(take(2, &taken));
    assert_true(take(FBY_MAX_CHALLENGES + 1, &taken));
}

static struct fby_lanes begin(struct fby_client_route *route)
{
    struct fby_route_secrets secrets = {
        .cipher = FBY_CIPHER_AES, .mode = FBY_SECURE_FULL};
    assert_ok(fby_client_route_begin(route, &secrets));
    assert_true(equal(secrets.worker_nonce, route->nonce));
    return route->lanes;
}

/* The messages before HELLO are answered with the nonce that HELLO used. */
static void a_route_goes_on_if_its_own_nonce_comes_again(void **state)
{
    (void)state;
    struct fby_client_route      route = {0};
    const struct fby_route_nonce nonce = {{1}};
    const struct fby_route_nonce next  = {{2}};
    assert_true(fby_client_route_set_nonce(&route, &nonce));
    assert_true(fby_client_route_set_nonce(&route, &nonce)); /* HELLO is due */
    const struct fby_lanes lanes = begin(&route);
    assert_false(route.has_nonce);
    assert_false(fby_client_route_set_nonce(&route, &nonce));
    assert_true(route.has_lanes);
    assert_memory_equal(&route.lanes, &lanes, sizeof(lanes));
    assert_true(fby_client_route_set_nonce(&route, &next));
    assert_true(route.has_nonce);
    assert_false(route.has_lanes);
}

/* Even if a worker repeats its nonce. */
static void no_two_routes_have_the_same_keys(void **state)
{
    (void)state;
    struct fby_client_route      route = {0};
    const struct fby_route_nonce nonce = {{1}};
    assert_true(fby_client_route_set_nonce(&route, &nonce));
    const struct fby_lanes lanes = begin(&route);
    fby_client_route_end(&route);
    assert_true(fby_client_route_set_nonce(&route, &nonce));
    const struct fby_lanes other = begin(&route);
    assert_memory_not_equal(
        lanes.to_worker.key.bytes, other.to_worker.key.bytes, FBY_KEY_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(
            a_nonce_is_of_one_connection_and_used_once, clear),
        cmocka_unit_test_setup(the_oldest_nonce_makes_room, clear),
        cmocka_unit_test(a_route_goes_on_if_its_own_nonce_comes_again),
        cmocka_unit_test(no_two_routes_have_the_same_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
