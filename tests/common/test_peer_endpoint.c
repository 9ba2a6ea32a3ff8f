/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "common/peer_endpoint.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void numeric_endpoints_are_accepted(void **state)
{
    static const char *const good[] = {"tcp://127.0.0.1:1",
        "tcp://10.0.0.5:65535", "tcp://[::1]:7070", "tcp://[2001:db8::7]:7",
        "tcp://[::ffff:10.0.0.5]:7"};
    struct fby_error_detail  why    = {{0}};
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_ok(fby_peer_endpoint_check(good[i], &why));
    }
}

static void all_other_endpoints_are_refused(void **state)
{
    static const char *const evil[] = {"", "tcp://", "ipc:///tmp/socket",
        "ipc://@abstract", "inproc://x", "udp://127.0.0.1:7", "pgm://1;2:3",
        "tcp://*:7", "tcp://*", "tcp://127.0.0.1:*", "tcp://127.0.0.1:99999",
        "tcp://127.0.0.1:65536", "tcp://127.0.0.1:0", "tcp://127.0.0.1:00000",
        "tcp://127.0.0.1:-1", "tcp://127.0.0.1: 1",
        "tcp://127.0.0.1:", "tcp://127.0.0.1", "tcp://127.0.0.1\n:7",
        "tcp://127.0.0.1:7\n", "tcp://\x1b[31m:7", "tcp://:7", "tcp://[]:7",
        "tcp://localhost:7", "tcp://worker.example:7", "tcp://eth0:7",
        "tcp://127.1:7", "tcp://0x7f000001:7", "tcp://2130706433:7",
        "tcp://::1:7", "tcp://[127.0.0.1]:7", "tcp://[fe80::1%eth0]:7",
        "tcp://0.0.0.0:7", "tcp://[::]:7", "tcp://[::ffff:0.0.0.0]:7",
        "tcp://255.255.255.255:7", "tcp://224.0.0.1:7", "tcp://[ff02::1]:7",
        "tcp://1.2.3.4:5;127.0.0.1:7", "TCP://127.0.0.1:7", "127.0.0.1:7",
        " tcp://127.0.0.1:7"};
    struct fby_error_detail  why    = {{0}};
    (void)state;
    for (size_t i = 0; i < COUNT(evil); i++) {
        if (fby_peer_endpoint_check(evil[i], &why) != FBY_PROTO ||
            fby_peer_endpoint_check_sender(evil[i], "127.0.0.1", true, &why) !=
                FBY_PROTO) {
            fail_msg("'%s' was accepted", evil[i]);
        }
    }
}

static void a_refusal_names_the_endpoint_and_the_form(void **state)
{
    struct fby_error_detail why = {{0}};
    (void)state;
    assert_int_equal(fby_peer_endpoint_check("ipc:///a\nb", &why), FBY_PROTO);
    assert_string_equal(why.text,
        "endpoint 'ipc:///a?b': not a numeric TCP endpoint: write "
        "tcp://ADDRESS:PORT, IPv6 in brackets, with a PORT from 1 to 65535");
}

static void a_sender_may_name_its_own_address(void **state)
{
    static const char *const own[][2] = {{"tcp://10.0.0.5:7", "10.0.0.5"},
        {"tcp://127.0.0.1:7", "127.0.0.1"}, {"tcp://127.0.0.2:7", "127.0.0.1"},
        {"tcp://[::1]:7", "127.0.0.1"}, {"tcp://127.0.0.1:7", "::1"},
        {"tcp://10.0.0.5:7", "::ffff:10.0.0.5"},
        {"tcp://[2001:DB8:0::7]:7", "2001:db8::7"}};
    struct fby_error_detail  why      = {{0}};
    (void)state;
    for (size_t i = 0; i < COUNT(own); i++) {
        assert_ok(
            fby_peer_endpoint_check_sender(own[i][0], own[i][1], false, &why));
    }
}

static void another_address_needs_a_key(void **state)
{
    static const char *const other[][2] = {{"tcp://10.0.0.6:7", "10.0.0.5"},
        {"tcp://127.0.0.1:7", "10.0.0.5"}, {"tcp://10.0.0.5:7", "127.0.0.1"},
        {"tcp://[2001:db8::7]:7", "2001:db8::8"}, {"tcp://10.0.0.5:7", NULL},
        {"tcp://10.0.0.5:7", "nonsense"}};
    struct fby_error_detail  why        = {{0}};
    (void)state;
    for (size_t i = 0; i < COUNT(other); i++) {
        assert_int_equal(fby_peer_endpoint_check_sender(
                             other[i][0], other[i][1], false, &why),
            FBY_PROTO);
        assert_ok(fby_peer_endpoint_check_sender(
            other[i][0], other[i][1], true, &why));
    }
}

static void a_refusal_names_both_addresses_and_the_option(void **state)
{
    struct fby_error_detail why = {{0}};
    (void)state;
    assert_int_equal(fby_peer_endpoint_check_sender(
                         "tcp://127.0.0.1:7", "10.0.0.5", false, &why),
        FBY_PROTO);
    assert_string_equal(why.text,
        "endpoint 'tcp://127.0.0.1:7': the worker registers from address "
        "10.0.0.5: without keys both must be the same: start the worker with "
        "--listen tcp://10.0.0.5:*");
    assert_int_equal(fby_peer_endpoint_check_sender(
                         "tcp://127.0.0.1:7", "2001:db8::7", false, &why),
        FBY_PROTO);
    assert_string_equal(why.text,
        "endpoint 'tcp://127.0.0.1:7': the worker registers from address "
        "2001:db8::7: without keys both must be the same: start the worker "
        "with --listen tcp://[2001:db8::7]:*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numeric_endpoints_are_accepted),
        cmocka_unit_test(all_other_endpoints_are_refused),
        cmocka_unit_test(a_refusal_names_the_endpoint_and_the_form),
        cmocka_unit_test(a_sender_may_name_its_own_address),
        cmocka_unit_test(another_address_needs_a_key),
        cmocka_unit_test(a_refusal_names_both_addresses_and_the_option),
    };
    return cmocka_run_group_tests_name(
        "common.peer_endpoint", tests, NULL, NULL);
}
