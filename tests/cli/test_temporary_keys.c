/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/temporary_keys.h"
#include "secure/key_file.h"
#include "tests/descriptors.h"

static struct fby_key_file load(
    struct fby_temporary_key_path path, enum fby_role role)
{
    struct fby_key_file     key = {0};
    struct fby_error_detail why = {""};
    assert_ok(fby_key_file_load(path.text, role, &key, &why));
    return key;
}

static void each_file_is_read_by_path_until_it_is_closed(void **state)
{
    (void)state;
    struct fby_temporary_keys keys;
    struct fby_error_detail   why    = {""};
    unsigned                  before = open_descriptors();
    struct stat               about;
    assert_ok(fby_temporary_keys_create(&keys, &why));
    assert_int_equal(fstat(keys.server, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0400);
    struct fby_key_file server =
        load(fby_temporary_key_path(keys.server), FBY_ROLE_SERVER);
    struct fby_key_file worker =
        load(fby_temporary_key_path(keys.worker), FBY_ROLE_WORKER);
    struct fby_temporary_key_path by_pid =
        fby_temporary_key_path_by_pid(keys.trainer);
    struct fby_key_file trainer = load(by_pid, FBY_ROLE_TRAINER);
    assert_memory_equal(
        &worker.server_key, &server.public_key, sizeof(server.public_key));
    assert_memory_equal(
        &trainer.server_key, &server.public_key, sizeof(server.public_key));
    fby_temporary_keys_close(&keys);
    assert_int_equal(keys.allowed, -1);
    assert_int_equal(open_descriptors(), before);
    assert_int_not_equal(access(by_pid.text, F_OK), 0);
}

static void a_file_that_is_cut_is_an_error_and_none_stays_open(void **state)
{
    (void)state;
    struct fby_temporary_keys keys;
    struct fby_error_detail   why    = {""};
    unsigned                  before = open_descriptors();
    struct rlimit             limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit few = {16, limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    fby_err err = fby_temporary_keys_create(&keys, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(err, FBY_SYS);
    assert_string_equal(why.text,
        "cannot keep the keys of the cluster in memory: File too large");
    assert_int_equal(keys.server, -1);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_is_read_by_path_until_it_is_closed),
        cmocka_unit_test(a_file_that_is_cut_is_an_error_and_none_stays_open),
    };
    return cmocka_run_group_tests_name("cli.temporary_keys", tests, NULL, NULL);
}
