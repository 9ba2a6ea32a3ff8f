/* SPDX-License-Identifier: Apache-2.0 */
#include "common/exposure.h"

#include "tests/test.h"

#include <string.h>

static void without_keys_only_loopback_is_listened_on(void **state)
{
    (void)state;
    struct fby_error_detail why = {""};
    assert_ok(fby_exposure_check("tcp://127.0.0.1:7070", false, false, &why));
    assert_ok(fby_exposure_check("tcp://127.0.0.9:7070", false, false, &why));
    assert_ok(fby_exposure_check("tcp://[::1]:7070", false, false, &why));
    assert_int_equal(
        fby_exposure_check("tcp://10.0.0.1:7070", false, false, &why),
        FBY_USAGE);
    assert_string_equal(why.text,
        "--listen tcp://10.0.0.1:7070: without keys, any host that reaches "
        "this port could use it: add --keys (forebay keys init writes them), "
        "listen on loopback (tcp://127.0.0.1:*), or "
        "add --insecure in a trusted network");
    assert_int_equal(
        fby_exposure_check("tcp://0.0.0.0:7070", false, false, NULL),
        FBY_USAGE);
    assert_int_equal(
        fby_exposure_check("tcp://[::]:7070", false, false, NULL), FBY_USAGE);
}

static void keys_or_the_users_word_allow_any_address(void **state)
{
    (void)state;
    struct fby_error_detail why = {""};
    assert_ok(fby_exposure_check("tcp://0.0.0.0:7070", true, false, &why));
    assert_ok(fby_exposure_check("tcp://0.0.0.0:7070", false, true, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_keys_only_loopback_is_listened_on),
        cmocka_unit_test(keys_or_the_users_word_allow_any_address),
    };
    return cmocka_run_group_tests_name("common.exposure", tests, NULL, NULL);
}
