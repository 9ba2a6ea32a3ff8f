/* SPDX-License-Identifier: Apache-2.0 */
/* The receiver's record of a worker: its name in messages, its addresses. */
#include "trainer_client/receive/peers.h"

#include "tests/test.h"

#include <string.h>

static const char *const both[] = {"tcp://10.0.0.1:7", "tcp://10.1.0.1:7"};

static struct fby_worker_info worker_at(const char *const *at, size_t n)
{
    return (struct fby_worker_info){
        .instance = {9}, .endpoints = {at, n}, .host = "node7"};
}

static void a_worker_is_named_by_its_host_and_first_address(void **state)
{
    (void)state;
    struct fby_peer        peer = {0};
    struct fby_worker_info info = worker_at(both, 2);
    fby_peer_assign(&peer, &info);
    assert_true(peer.used);
    assert_int_equal(peer.instance.value, 9);
    assert_string_equal(peer.label, "worker node7 (tcp://10.0.0.1:7)");
    info = worker_at(NULL, 0);
    fby_peer_assign(&peer, &info); /* another under the same number */
    assert_string_equal(peer.label, "worker node7 (nowhere)");
    assert_null(fby_peer_next_endpoint(&peer));
    fby_peer_clear(&peer);
    assert_false(peer.used);
    assert_null(fby_peer_next_endpoint(&peer));
}

static void addresses_are_tried_in_turn(void **state)
{
    (void)state;
    struct fby_peer        peer    = {0};
    char                   first[] = "tcp://10.0.0.1:7";
    const char *const      at[]    = {first, both[1]};
    struct fby_worker_info info    = worker_at(at, 2);
    fby_peer_assign(&peer, &info);
    first[0] = 'x'; /* it has a copy */
    for (int i = 0; i < 3; i++) {
        assert_string_equal(fby_peer_next_endpoint(&peer), both[0]);
        assert_string_equal(fby_peer_next_endpoint(&peer), both[1]);
    }
    fby_peer_clear(&peer);
}

static uint64_t key_of(const char *const *at, size_t n)
{
    struct fby_worker_info info = worker_at(at, n);
    return fby_peer_endpoints_hash(&info);
}

static void a_key_is_of_all_addresses_and_of_nothing_else(void **state)
{
    (void)state;
    const char *const      turned[] = {both[1], both[0]};
    const char *const      cut[]    = {"a", "bc"};
    const char *const      other[]  = {"ab", "c"};
    struct fby_worker_info again    = worker_at(both, 2);
    again.instance.value            = 10; /* it was restarted */
    again.host                      = "node8";
    assert_true(fby_peer_endpoints_hash(&again) == key_of(both, 2));
    assert_true(key_of(turned, 2) != key_of(both, 2));
    assert_true(key_of(both, 1) != key_of(both, 2));
    assert_true(key_of(both + 1, 1) != key_of(both, 1));
    assert_true(key_of(cut, 2) != key_of(other, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_is_named_by_its_host_and_first_address),
        cmocka_unit_test(addresses_are_tried_in_turn),
        cmocka_unit_test(a_key_is_of_all_addresses_and_of_nothing_else),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.peers", tests, NULL, NULL);
}
