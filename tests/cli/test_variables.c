/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/variables.h"

#include "tests/test.h"

#include <string.h>

static void a_variable_has_the_name_of_its_option(void **state)
{
    (void)state;
    char name[FBY_VARIABLE_SIZE];
    fby_variable_name("listen", name);
    assert_string_equal(name, "FOREBAY_LISTEN");
    fby_variable_name("fetch-threads", name);
    assert_string_equal(name, "FOREBAY_FETCH_THREADS");
}

static void known_variables_and_those_of_others_are_no_mistakes(void **state)
{
    (void)state;
    static const char *const known[] = {"FOREBAY_LISTEN=x",
        "FOREBAY_DATA=", "FOREBAY_READY_FD=3", "FOREBAY_LOG=warn",
        "FOREBAY_SIMD=avx2", "FOREBAY_CACHE_DIR=/c", "FOREBAY_CACHE=/c",
        "FOREBAY_FAULT=", "FOREBAY_TIME_DIVISOR=10", "FOREBAY_BIN=/b",
        "FOREBAY_TEST_SLOW=4", "FOREBAYS=1", "PATH=/bin", "forebay_listen=x",
        "FOREBAY"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct fby_error_detail out = {""};
        assert_false(fby_variable_is_unknown(known[i], &out));
        assert_string_equal(out.text, "");
    }
}

/* Kubernetes gives a container the addresses of the services of its namespace,
 * such as those named forebay and forebay-server. */
static void addresses_of_kubernetes_services_are_no_mistakes(void **state)
{
    (void)state;
    static const char *const set[] = {"FOREBAY_SERVICE_HOST=10.0.0.1",
        "FOREBAY_SERVICE_PORT=7070", "FOREBAY_SERVICE_PORT_HTTP=80",
        "FOREBAY_PORT=tcp://10.0.0.1:7070",
        "FOREBAY_PORT_7070_TCP=tcp://10.0.0.1:7070",
        "FOREBAY_PORT_7070_TCP_ADDR=10.0.0.1",
        "FOREBAY_SERVER_SERVICE_HOST=10.0.0.1",
        "FOREBAY_SERVER_PORT=tcp://10.0.0.1:7070"};
    for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
        assert_false(fby_variable_is_unknown(set[i], NULL));
    }
}

static void assert_warning(const char *entry, const char *text)
{
    struct fby_error_detail out = {""};
    assert_true(fby_variable_is_unknown(entry, &out));
    assert_string_equal(out.text, text);
}

static void a_wrong_name_is_named_with_the_nearest(void **state)
{
    (void)state;
    assert_warning("FOREBAY_LISTN=x",
        "FOREBAY_LISTN is no setting of Forebay; did you mean FOREBAY_LISTEN?");
    assert_warning("FOREBAY_THREAD=4",
        "FOREBAY_THREAD is no setting of Forebay; did you mean "
        "FOREBAY_THREADS?");
    assert_warning("FOREBAY_LGO=warn",
        "FOREBAY_LGO is no setting of Forebay; did you mean FOREBAY_LOG?");
    assert_warning("FOREBAY_PORT=7070",
        "FOREBAY_PORT is no setting of Forebay: see --help of server and "
        "worker");
    assert_warning("FOREBAY_PARENT=1",
        "FOREBAY_PARENT is no setting of Forebay: see --help of server and "
        "worker");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_has_the_name_of_its_option),
        cmocka_unit_test(known_variables_and_those_of_others_are_no_mistakes),
        cmocka_unit_test(addresses_of_kubernetes_services_are_no_mistakes),
        cmocka_unit_test(a_wrong_name_is_named_with_the_nearest),
    };
    return cmocka_run_group_tests_name("cli.variables", tests, NULL, NULL);
}
