/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zmq.h>

#include "common/socket.h"

static void resolves(const char *text, const char *wanted)
{
    char                    endpoint[FBY_ENDPOINT_SIZE];
    struct fby_error_detail why = {{0}};
    if (fby_endpoint_resolve(text, endpoint, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_string_equal(endpoint, wanted);
}

static void addresses_become_numeric_endpoints(void **state)
{
    (void)state;
    resolves("127.0.0.1:7000", "tcp://127.0.0.1:7000");
    resolves("tcp://127.0.0.1:7000", "tcp://127.0.0.1:7000");
    resolves("[::1]:65535", "tcp://[::1]:65535");
}

/* NOLINTBEGIN(readability-identifier-naming): names that the linker needs */
int __real_getaddrinfo(const char *host, const char *port,
    const struct addrinfo *hints, struct addrinfo **out);
int __wrap_getaddrinfo(const char *host, const char *port,
    const struct addrinfo *hints, struct addrinfo **out);

/* Resolve the name `both` to an IPv6 and an IPv4 address. */
int __wrap_getaddrinfo(const char *host, const char *port,
    const struct addrinfo *hints, struct addrinfo **out)
{
    if (strcmp(host, "both") != 0) {
        return __real_getaddrinfo(host, port, hints, out);
    }
    assert_int_equal(__real_getaddrinfo("::1", port, hints, out), 0);
    assert_null((*out)->ai_next);
    return __real_getaddrinfo("127.0.0.1", port, hints, &(*out)->ai_next);
}
/* NOLINTEND(readability-identifier-naming) */

static void of_both_addresses_of_a_name_it_takes_ipv4(void **state)
{
    (void)state;
    resolves("both:7000", "tcp://127.0.0.1:7000");
}

static void what_is_no_address_is_refused_with_the_right_form(void **state)
{
    (void)state;
    static const char *const wrong[] = {"tcp://127.0.0.1:65536", "[::1]:99999",
        "", ":", "host", ":7000", "host:", "host:x", "host:123456", "::1:7000",
        "[]:7000", "tcp://"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char                    endpoint[FBY_ENDPOINT_SIZE];
        struct fby_error_detail why = {{0}};
        assert_int_equal(
            fby_endpoint_resolve(wrong[i], endpoint, &why), FBY_USAGE);
        assert_non_null(strstr(why.text, "write tcp://HOST:PORT"));
    }
}

static void only_this_machine_is_loopback(void **state)
{
    (void)state;
    assert_true(fby_endpoint_is_loopback("tcp://127.0.0.1:1"));
    assert_true(fby_endpoint_is_loopback("tcp://127.9.9.9:1"));
    assert_true(fby_endpoint_is_loopback("tcp://[::1]:1"));
    assert_false(fby_endpoint_is_loopback("tcp://0.0.0.0:1"));
    assert_false(fby_endpoint_is_loopback("tcp://*:1"));
    assert_false(fby_endpoint_is_loopback("tcp://[::]:1"));
    assert_false(fby_endpoint_is_loopback("tcp://12.7.0.0:1"));
}

static const struct fby_socket_limits limits = {.max_message_bytes = 1 << 20};

static fby_err binds(
    void *zmq, const char *endpoint, struct fby_error_detail *why)
{
    char    bound[FBY_ENDPOINT_SIZE];
    void   *router = NULL;
    fby_err err = fby_socket_bind(zmq, endpoint, &limits, bound, &router, why);
    if (err == FBY_OK) {
        zmq_close(router);
    }
    return err;
}

/* libzmq would take 70000 modulo 65536. */
static void a_port_that_is_none_is_not_listened_on(void **state)
{
    (void)state;
    static const char *const wrong[] = {"tcp://127.0.0.1:65536",
        "tcp://127.0.0.1:70000", "tcp://127.0.0.1:", "tcp://:7000",
        "tcp://127.0.0.1:-1", "127.0.0.1:7000", "ipc://x:1"};
    void                    *zmq     = zmq_ctx_new();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fby_error_detail why = {{0}};
        assert_int_equal(binds(zmq, wrong[i], &why), FBY_USAGE);
        assert_non_null(strstr(why.text, "PORT up to 65535"));
    }
    zmq_ctx_term(zmq);
}

/* A socket that stayed open would keep the context from ending. */
static void a_refused_endpoint_leaves_no_socket_open(void **state)
{
    (void)state;
    void                   *zmq    = zmq_ctx_new();
    void                   *dealer = NULL;
    struct fby_error_detail why    = {{0}};
    assert_int_equal(
        fby_socket_connect(zmq, "nothing", &limits, &dealer), FBY_CONFIG);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(binds(zmq, "tcp://192.0.2.1:*", &why), FBY_CONFIG);
    assert_null(dealer);
    zmq_ctx_term(zmq);
}

static int last_backlog;

/* Takes the place of the function of libc, also for libzmq. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int listen(int fd, int backlog)
{
    last_backlog = backlog;
    return (int)syscall(SYS_listen, fd, backlog);
}

/* After a restart of a server all its peers connect in the same moment. */
static void thousands_of_peers_can_connect_at_once(void **state)
{
    (void)state;
    char                    bound[FBY_ENDPOINT_SIZE];
    struct fby_error_detail why    = {{0}};
    void                   *zmq    = zmq_ctx_new();
    void                   *router = NULL;
    assert_ok(fby_socket_bind(
        zmq, "tcp://127.0.0.1:*", &limits, bound, &router, &why));
    assert_int_equal(last_backlog, 4096);
    zmq_close(router);
    zmq_ctx_term(zmq);
}

static void a_port_in_use_is_named_with_the_cause(void **state)
{
    (void)state;
    char                    bound[FBY_ENDPOINT_SIZE];
    struct fby_error_detail why    = {{0}};
    void                   *zmq    = zmq_ctx_new();
    void                   *router = NULL;
    assert_ok(fby_socket_bind(
        zmq, "tcp://127.0.0.1:*", &limits, bound, &router, &why));
    assert_int_equal(binds(zmq, bound, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, bound));
    assert_non_null(strstr(why.text,
        "Address already in use; choose another address or port with "
        "--listen"));
    zmq_close(router);
    zmq_ctx_term(zmq);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_become_numeric_endpoints),
        cmocka_unit_test(of_both_addresses_of_a_name_it_takes_ipv4),
        cmocka_unit_test(what_is_no_address_is_refused_with_the_right_form),
        cmocka_unit_test(only_this_machine_is_loopback),
        cmocka_unit_test(a_port_that_is_none_is_not_listened_on),
        cmocka_unit_test(a_refused_endpoint_leaves_no_socket_open),
        cmocka_unit_test(thousands_of_peers_can_connect_at_once),
        cmocka_unit_test(a_port_in_use_is_named_with_the_cause),
    };
    return cmocka_run_group_tests_name("common.socket", tests, NULL, NULL);
}
