/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of --http. */
#include "tests/test.h"

#include <string.h>
#include <unistd.h>

#include "http/listen.h"
#include "tests/says.h"

static void port_0_becomes_a_free_one(void **state)
{
    static const char *const addresses[] = {"127.0.0.1:0", "127.0.0.2:0"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char                    bound[FBY_HTTP_ADDRESS_SIZE];
        int                     fd  = -1;
        struct fby_error_detail why = {{0}};
        assert_ok(fby_http_listen(addresses[i], false, bound, &fd, &why));
        size_t host = strlen("127.0.0.1:");
        assert_memory_equal(bound, addresses[i], host);
        assert_string_not_equal(bound + host, "0");
        close(fd);
    }
}

static void what_is_not_numeric_is_refused(void **state)
{
    static const char *const wrong[] = {"", ":", "9464", "127.0.0.1",
        "127.0.0.1:", "localhost:9464", "tcp://127.0.0.1:9464", "::1:9464",
        "[127.0.0.1]:9464", "127.0.0.1:http", "127.0.0.1:65536", "*:9464"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char                    bound[FBY_HTTP_ADDRESS_SIZE];
        int                     fd  = -1;
        struct fby_error_detail why = {{0}};
        assert_int_equal(
            fby_http_listen(wrong[i], true, bound, &fd, &why), FBY_USAGE);
        assert_says(&why,
            ": this is not a numeric address and a port: write it as "
            "127.0.0.1:9464, or [::1]:9464; port 0 takes a free one");
        assert_int_equal(fd, -1);
    }
}

static void beyond_loopback_a_token_is_needed(void **state)
{
    char                    bound[FBY_HTTP_ADDRESS_SIZE];
    int                     fd  = -1;
    struct fby_error_detail why = {{0}};
    (void)state;
    assert_int_equal(
        fby_http_listen("0.0.0.0:0", false, bound, &fd, &why), FBY_USAGE);
    assert_string_equal(why.text,
        "--http 0.0.0.0:0: other hosts could read the pages at this address: "
        "give --http-token-file PATH, or listen on 127.0.0.1");
    assert_int_equal(
        fby_http_listen("[::]:0", false, bound, &fd, &why), FBY_USAGE);
    assert_ok(fby_http_listen("0.0.0.0:0", true, bound, &fd, &why));
    close(fd);
}

static void a_port_in_use_is_refused(void **state)
{
    char                    bound[FBY_HTTP_ADDRESS_SIZE];
    char                    again[FBY_HTTP_ADDRESS_SIZE];
    int                     fd    = -1;
    int                     other = -1;
    struct fby_error_detail why   = {{0}};
    (void)state;
    assert_ok(fby_http_listen("127.0.0.1:0", false, bound, &fd, &why));
    assert_int_equal(
        fby_http_listen(bound, false, again, &other, &why), FBY_CONFIG);
    assert_says(&why, ": cannot listen there: Address already in use: choose "
                      "another address or port");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_0_becomes_a_free_one),
        cmocka_unit_test(what_is_not_numeric_is_refused),
        cmocka_unit_test(beyond_loopback_a_token_is_needed),
        cmocka_unit_test(a_port_in_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
