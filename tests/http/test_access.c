/* SPDX-License-Identifier: Apache-2.0 */
/* Token files, and which request may read which page. */
#include "tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/access.h"
#include "tests/says.h"

#define TOKEN "0123456789abcdef"

static const struct fby_http_page pages[] = {
    {"/open", "", "", true, NULL},
    {"/shut", "", "", false, NULL},
};

static fby_err read_file(const char *text, mode_t mode,
    struct fby_http_token *out, struct fby_error_detail *why)
{
    char path[] = "/tmp/forebay-token-XXXXXX";
    int  fd     = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    fby_err err = fby_http_token_read(path, out, why);
    unlink(path);
    return err;
}

static struct fby_http_token the_token(void)
{
    struct fby_http_token   token;
    struct fby_error_detail why = {{0}};
    assert_ok(read_file(TOKEN "\n", 0600, &token, &why));
    return token;
}

static unsigned ask(const struct fby_http_token *token, const char *method,
    const char *path, const char *authorization)
{
    const struct fby_http_page   *page    = NULL;
    const struct fby_http_request request = {method, path, authorization};
    unsigned status = fby_http_check(&request, token, pages, 2, &page);
    if (status == 200) {
        assert_string_equal(page->path, path);
    }
    return status;
}

static void without_a_token_every_page_is_open(void **state)
{
    const struct fby_http_token none = {0};
    (void)state;
    assert_int_equal(ask(&none, "GET", "/open", NULL), 200);
    assert_int_equal(ask(&none, "HEAD", "/shut", "Basic x"), 200);
    assert_int_equal(ask(&none, "POST", "/open", NULL), 405);
    assert_int_equal(ask(&none, "get", "/open", NULL), 405);
    assert_int_equal(ask(&none, "GET", "/shut/", NULL), 404);
    assert_int_equal(ask(&none, "GET", "", NULL), 404);
}

static void a_page_needs_exactly_the_token(void **state)
{
    const struct fby_http_token token = the_token();
    (void)state;
    assert_int_equal(ask(&token, "GET", "/open", NULL), 200);
    assert_int_equal(ask(&token, "GET", "/shut", NULL), 401);
    assert_int_equal(ask(&token, "GET", "/shut", "Bearer " TOKEN), 200);
    assert_int_equal(ask(&token, "GET", "/shut", "bearer  " TOKEN), 200);
    assert_int_equal(ask(&token, "GET", "/shut", "Bearer"), 401);
    assert_int_equal(ask(&token, "GET", "/shut", "Bearer "), 401);
    assert_int_equal(ask(&token, "GET", "/shut", "Bearer " TOKEN "0"), 401);
    assert_int_equal(
        ask(&token, "GET", "/shut", "Bearer 0123456789abcde"), 401);
    assert_int_equal(ask(&token, "GET", "/shut", TOKEN), 401);
    assert_int_equal(ask(&token, "GET", "/none", "Bearer " TOKEN), 404);
}

static void a_token_that_all_may_read_is_refused(void **state)
{
    struct fby_http_token   token;
    struct fby_error_detail why = {{0}};
    (void)state;
    assert_int_equal(read_file(TOKEN, 0604, &token, &why), FBY_USAGE);
    assert_says(&why, ": all users may read the token: run chmod o-rwx on the "
                      "file, and change the token");
    assert_ok(read_file(TOKEN, 0640, &token, &why));
}

static void a_token_is_one_line_of_some_length(void **state)
{
    struct fby_http_token   token;
    struct fby_error_detail why = {{0}};
    char                    longest[FBY_HTTP_TOKEN_MAX + 2];
    static const char *wrong[] = {"", "\n0123456789abcdef", "0123456789abcde",
        "0123456789 abcdef", "0123456789\xc3\xa9 abcdef"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(read_file(wrong[i], 0600, &token, &why), FBY_USAGE);
        assert_says(&why, ": the first line must be 16 to 512 printable "
                          "characters without blanks, as 'openssl rand -hex "
                          "32' makes them");
    }
    memset(longest, 'x', sizeof(longest));
    longest[FBY_HTTP_TOKEN_MAX + 1] = '\0';
    assert_int_equal(read_file(longest, 0600, &token, &why), FBY_USAGE);
    longest[FBY_HTTP_TOKEN_MAX] = '\0';
    assert_ok(read_file(longest, 0600, &token, &why));
}

static void a_token_file_that_cannot_be_read_is_named(void **state)
{
    struct fby_http_token   token;
    struct fby_error_detail why = {{0}};
    (void)state;
    assert_int_equal(
        fby_http_token_read("/none/token", &token, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "--http-token-file /none/token: cannot open the file: No such file or "
        "directory");
    assert_int_equal(fby_http_token_read("/tmp", &token, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "--http-token-file /tmp: this is no ordinary file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_token_every_page_is_open),
        cmocka_unit_test(a_page_needs_exactly_the_token),
        cmocka_unit_test(a_token_that_all_may_read_is_refused),
        cmocka_unit_test(a_token_is_one_line_of_some_length),
        cmocka_unit_test(a_token_file_that_cannot_be_read_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
