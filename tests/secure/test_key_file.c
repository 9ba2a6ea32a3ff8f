/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/key_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "tests/fake_files.h"
#include "tests/says.h"

/* Write `size` bytes to a file of the root, and return its path. */
static const char *write_with_mode(
    const char *name, const void *bytes, size_t size, mode_t mode)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT, mode);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    return path;
}

static struct fby_buffer format(const struct fby_key_file *file)
{
    struct fby_buffer text = {0};
    fby_key_file_format(file, &text);
    return text;
}

static void a_key_file_comes_back_as_it_was_written(void **state)
{
    (void)state;
    const struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    for (int role = 0; role < FBY_N_ROLES; role++) {
        struct fby_key_file file =
            role == FBY_ROLE_SERVER ? server
                                    : fby_key_file_generate((enum fby_role)role,
                                          "a-1", &server.public_key);
        struct fby_key_file     found = {0};
        struct fby_error_detail why   = {""};
        struct fby_buffer       text  = format(&file);
        assert_ok(fby_key_file_parse(
            (const char *)text.data, text.size, &found, &why));
        assert_int_equal(found.role, role);
        assert_string_equal(found.name, file.name);
        assert_memory_equal(&found.public_key, &file.public_key, FBY_KEY_BYTES);
        assert_memory_equal(&found.secret_key, &file.secret_key, FBY_KEY_BYTES);
        assert_memory_equal(
            &found.server_key, &server.public_key, FBY_KEY_BYTES);
        fby_buffer_fini(&text);
    }
}

/* Our pairs are those that libzmq's CURVE uses. */
static void libzmq_makes_the_same_public_key(void **state)
{
    (void)state;
    const struct fby_key_file file =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    char    secret[41];
    char    public_text[41];
    uint8_t public_key[FBY_KEY_BYTES];
    assert_non_null(zmq_z85_encode(secret, file.secret_key.bytes, 32));
    assert_int_equal(zmq_curve_public(public_text, secret), 0);
    assert_non_null(zmq_z85_decode(public_key, public_text));
    assert_memory_equal(public_key, file.public_key.bytes, FBY_KEY_BYTES);
}

static void refuse(const char *text, size_t size, const char *words)
{
    struct fby_key_file     file;
    struct fby_error_detail why = {""};
    assert_int_equal(fby_key_file_parse(text, size, &file, &why), FBY_CONFIG);
    assert_says(&why, words);
}

static void a_cut_file_is_refused(void **state)
{
    (void)state;
    const struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    const struct fby_key_file file =
        fby_key_file_generate(FBY_ROLE_WORKER, "worker", &server.public_key);
    struct fby_buffer text = format(&file);
    for (size_t size = 0; size < text.size - 1 /* the last newline */; size++) {
        refuse((const char *)text.data, size,
            size < strlen("forebay-key 1") ? "not a key file"
                                           : "is the file cut?");
    }
    fby_buffer_fini(&text);
}

static void a_wrong_line_is_named(void **state)
{
    (void)state;
    static const char lines[][2][64] = {
        {"role nurse\n", "line 2: the value of 'role'"},
        {"role worker\nrole worker\n", "line 3: a second 'role'"},
        {"name a b\n", "line 2: the value of 'name'"},
        {"name -a\n", "line 2: the value of 'name'"},
        {"public 12\n", "line 2: the value of 'public'"},
        {"colour red\n", "line 2: 'colour' is unknown"},
        {"\n", "line 2: not a name and a value"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[128];
        int  n = snprintf(text, sizeof(text), "forebay-key 1\n%s", lines[i][0]);
        refuse(text, (size_t)n, lines[i][1]);
    }
    refuse("forebay-key 2\n", 14, "not a key file");
}

static void keys_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    struct fby_key_file file =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    file.public_key.bytes[3] ^= 1;
    struct fby_buffer text = format(&file);
    refuse((const char *)text.data, text.size,
        "'public' is not the key of 'secret'");
    fby_buffer_fini(&text);
}

static void refuse_load(const char *path, enum fby_role role, const char *words)
{
    struct fby_key_file     file;
    struct fby_error_detail why = {""};
    assert_int_equal(fby_key_file_load(path, role, &file, &why), FBY_CONFIG);
    assert_says(&why, words);
}

static void a_key_is_found_by_file_or_folder(void **state)
{
    (void)state;
    const struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    const struct fby_key_file trainer =
        fby_key_file_generate(FBY_ROLE_TRAINER, "t", &server.public_key);
    struct fby_key_file     found = {0};
    struct fby_error_detail why   = {""};
    struct fby_buffer       text  = format(&server);
    const char             *path =
        write_with_mode("server.key", text.data, text.size, 0600);
    assert_ok(fby_key_file_load(path, FBY_ROLE_SERVER, &found, &why));
    assert_ok(fby_key_file_load(root, FBY_ROLE_SERVER, &found, &why));
    assert_memory_equal(&found, &server, sizeof(found.role));
    refuse_load(path, FBY_ROLE_WORKER, "the key of a server; a worker needs");
    refuse_load(root, FBY_ROLE_WORKER,
        "worker.key: no such key file; write it with: forebay keys add DIR "
        "worker");
    refuse_load(root, FBY_ROLE_TRAINER, "no trainer-NAME.key in this folder");
    fby_buffer_fini(&text);

    text = format(&trainer);
    path = write_with_mode("trainer-a.key", text.data, text.size, 0640);
    assert_ok(fby_key_file_load(root, FBY_ROLE_TRAINER, &found, &why));
    write_with_mode("trainer-b.key", text.data, text.size, 0600);
    refuse_load(root, FBY_ROLE_TRAINER, "the keys of 2 trainers; name the");
    fby_buffer_fini(&text);
}

static void a_file_that_others_can_read_is_refused(void **state)
{
    (void)state;
    const struct fby_key_file file =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    struct fby_buffer text = format(&file);
    refuse_load(write_with_mode("open.key", text.data, text.size, 0604),
        FBY_ROLE_SERVER, "all users of this machine can read or change it");
    fby_buffer_fini(&text);
    char many[FBY_KEY_FILE_MAX + 1] = {0};
    refuse_load(write_with_mode("long.key", many, sizeof(many), 0600),
        FBY_ROLE_SERVER, "longer than 4096 bytes");
    refuse_load("/dev/null", FBY_ROLE_SERVER, "/dev/null: not a file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_file_comes_back_as_it_was_written),
        cmocka_unit_test(libzmq_makes_the_same_public_key),
        cmocka_unit_test(a_cut_file_is_refused),
        cmocka_unit_test(a_wrong_line_is_named),
        cmocka_unit_test(keys_that_do_not_belong_together_are_refused),
        cmocka_unit_test_setup_teardown(
            a_key_is_found_by_file_or_folder, make_root, remove_root),
        cmocka_unit_test_setup_teardown(
            a_file_that_others_can_read_is_refused, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
