/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/fake_files.h"
#include "tests/says.h"

static char last_line[512];

/* As `forebay keys` does, by rename. */
static void replace_file(const char *name, const struct fby_buffer *text)
{
    char path[256];
    char part[270];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    snprintf(part, sizeof(part), "%s.part", path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, text->data, text->size), (ssize_t)text->size);
    close(fd);
    assert_int_equal(rename(part, path), 0);
}

static void write_list(
    const struct fby_key_file *a, const struct fby_key_file *b)
{
    struct fby_buffer text = {0};
    fby_allowed_put_line(&text, a, NULL, NULL);
    if (b != NULL) {
        fby_allowed_put_line(&text, b, "in1k", NULL);
    }
    replace_file("allowed", &text);
    fby_buffer_fini(&text);
}

static void note_line(void *arg, enum fby_log_level level, const char *line)
{
    (void)arg;
    (void)level;
    snprintf(last_line, sizeof(last_line), "%s", line);
}

static void the_list_is_read_again_when_it_changes(void **state)
{
    (void)state;
    const struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    const struct fby_key_file worker =
        fby_key_file_generate(FBY_ROLE_WORKER, "w", &server.public_key);
    const struct fby_key_file trainer =
        fby_key_file_generate(FBY_ROLE_TRAINER, "t", &server.public_key);
    struct fby_buffer       text   = {0};
    struct fby_buffer       broken = {0};
    struct fby_access      *access = NULL;
    struct fby_error_detail why    = {""};
    fby_key_file_format(&server, &text);
    replace_file("server.key", &text);
    assert_int_equal(fby_access_open(root, NULL, &access, &why), FBY_CONFIG);
    assert_says(&why, "/allowed: there is no list of admitted keys; copy");
    write_list(&worker, NULL);
    assert_ok(fby_access_open(root, NULL, &access, &why));
    assert_memory_equal(
        fby_access_secret(access), server.secret_key.bytes, FBY_KEY_BYTES);
    assert_true(fby_access_knows(access, &worker.public_key));
    assert_false(fby_access_knows(access, &trainer.public_key));

    write_list(&worker, &trainer);
    fby_access_refresh(access);
    const struct fby_allowed_key *key =
        fby_access_find(access, &trainer.public_key);
    assert_non_null(key);
    assert_string_equal(key->roots, "in1k");

    fby_put_bytes(&broken, "12 worker w\n", 12);
    fby_log_redirect(FBY_LOG_INFO, note_line, NULL);
    replace_file("allowed", &broken);
    fby_access_refresh(access);
    assert_text_says(last_line, "line 1: the public key is not 64");
    assert_text_says(last_line, "the keys read before stay admitted");
    assert_true(fby_access_knows(access, &trainer.public_key));
    last_line[0] = '\0';
    fby_access_refresh(access);
    assert_string_equal(last_line, ""); /* said once */

    write_list(&worker, NULL);
    fby_access_refresh(access);
    assert_text_says(last_line, "1 admitted");
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    assert_false(fby_access_knows(access, &trainer.public_key));
    fby_access_close(&access);
    fby_buffer_fini(&broken);
    fby_buffer_fini(&text);
}

static void the_list_is_beside_a_key_file(void **state)
{
    (void)state;
    const struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    struct fby_buffer       text   = {0};
    struct fby_access      *access = NULL;
    struct fby_error_detail why    = {""};
    char                    path[256];
    snprintf(path, sizeof(path), "%s/server.key", root);
    fby_key_file_format(&server, &text);
    replace_file("server.key", &text);
    fby_buffer_fini(&text);
    assert_int_equal(fby_access_open(path, NULL, &access, &why), FBY_CONFIG);
    snprintf(path, sizeof(path), "%s/allowed: there is no list", root);
    assert_says(&why, path);
    write_list(&server, NULL);
    snprintf(path, sizeof(path), "%s/server.key", root);
    assert_int_equal(fby_access_open(path, NULL, &access, &why), FBY_CONFIG);
    assert_says(&why, "/allowed: line 1");
}

static void each_role_has_its_messages(void **state)
{
    (void)state;
    assert_true(fby_access_permits(FBY_ROLE_WORKER, FBY_MSG_REGISTER));
    assert_true(fby_access_permits(FBY_ROLE_WORKER, FBY_MSG_DEREGISTER));
    assert_false(fby_access_permits(FBY_ROLE_WORKER, FBY_MSG_JOIN));
    assert_true(fby_access_permits(FBY_ROLE_TRAINER, FBY_MSG_JOIN));
    assert_true(fby_access_permits(FBY_ROLE_TRAINER, FBY_MSG_QUIT));
    assert_false(fby_access_permits(FBY_ROLE_TRAINER, FBY_MSG_HEARTBEAT));
    assert_true(fby_access_permits(FBY_ROLE_TRAINER, FBY_MSG_SCALE));
    assert_true(fby_access_permits(FBY_ROLE_WORKER, FBY_MSG_SCALE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_list_is_read_again_when_it_changes, make_root, remove_root),
        cmocka_unit_test_setup_teardown(
            the_list_is_beside_a_key_file, make_root, remove_root),
        cmocka_unit_test(each_role_has_its_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
