/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP thread, asked through sockets. The test is the process's loop. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "http/connections.h"
#include "http/http.h"
#include "http/metrics.h"
#include "tests/says.h"

#define TOKEN "0123456789abcdef"

static atomic_int n_made;      /* pages that were written */
static atomic_int n_destroyed; /* snapshots */

struct world {
    struct fby_http *http;
    uint16_t         port;
    char             answer[4096];
};

/* A snapshot is a number. */
static unsigned write_number(const void *snapshot, struct fby_buffer *out)
{
    const int *number = snapshot;
    n_made++;
    fby_put_format(out, "number %d\n", *number);
    return *number < 0 ? 503 : 200;
}

static void destroy(void *snapshot)
{
    n_destroyed++;
    free(snapshot);
}

static const struct fby_http_page pages[] = {
    {"/number", "the number", "text/number", false, write_number},
    {"/readyz", "the number, for all", "text/plain", true, write_number},
};

static void note_port(void *arg, enum fby_log_level level, const char *line)
{
    struct world *world = arg;
    const char   *port  = strrchr(line, ':');
    (void)level;
    assert_text_says(line, "HTTP-READY http://127.0.0.1:");
    world->port = (uint16_t)strtoul(port + 1, NULL, 10);
}

static fby_err start_with(
    struct world *world, const char *token_file, struct fby_error_detail *why)
{
    const struct fby_http_config config = {
        .options = {.listen = "127.0.0.1:0", .token_file = token_file},
        .pages   = pages,
        .n_pages = 2,
        .destroy = destroy,
    };
    fby_log_redirect(FBY_LOG_INFO, note_port, world);
    fby_err err = fby_http_start(&config, &world->http, why);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    return err;
}

static int start(void **state)
{
    static struct world     world;
    struct fby_error_detail why = {{0}};
    world                       = (struct world){0};
    n_made = n_destroyed = 0;
    assert_ok(start_with(&world, NULL, &why));
    *state = &world;
    return 0;
}

static int stop(void **state)
{
    struct world *world = *state;
    fby_http_stop(&world->http);
    assert_null(world->http);
    return 0;
}

static int connect_to(const struct world *world)
{
    struct sockaddr_in   address  = {.sin_family = AF_INET,
           .sin_port                             = htons(world->port),
           .sin_addr                             = {htonl(INADDR_LOOPBACK)}};
    const struct timeval patience = {.tv_sec = 30};
    int                  fd       = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    assert_int_equal(
        connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Read until the other side closes. */
static const char *read_answer(struct world *world, int fd)
{
    size_t  size = 0;
    ssize_t n    = 0;
    while (size < sizeof(world->answer) - 1 &&
           (n = recv(fd, world->answer + size, sizeof(world->answer) - 1 - size,
                0)) > 0) {
        size += (size_t)n;
    }
    world->answer[size] = '\0';
    close(fd);
    return world->answer;
}

static const char *ask(struct world *world, const char *request)
{
    int fd = connect_to(world);
    assert_int_equal(
        send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    return read_answer(world, fd);
}

#define REQUEST(line) line " HTTP/1.1\r\nHost: a\r\n\r\n"

static void publish(struct world *world, int number)
{
    fby_http_publish(world->http, fby_memdup(&number, sizeof(number)));
}

static void expect(const char *answer, const char *status, const char *end)
{
    assert_text_says(answer, status);
    assert_text_says(answer, "\r\nConnection: close\r\n");
    size_t length = strlen(answer);
    assert_true(length >= strlen(end));
    assert_string_equal(answer + length - strlen(end), end);
}

static void a_page_shows_the_newest_snapshot(void **state)
{
    struct world *world = *state;
    expect(ask(world, REQUEST("GET /number")),
        "HTTP/1.1 503 Service Unavailable\r\n",
        "\r\n\r\nThe process is starting: ask again in a second.\n");
    publish(world, 1);
    publish(world, 2);
    expect(ask(world, REQUEST("GET /number?x=1")), "HTTP/1.1 200 OK\r\n",
        "\r\n\r\nnumber 2\n");
    assert_text_says(world->answer, "\r\nContent-Type: text/number\r\n");
    publish(world, -3);
    expect(ask(world, REQUEST("GET /readyz")), "HTTP/1.1 503 ",
        "\r\n\r\nnumber -3\n");
    assert_int_equal(n_destroyed, 2);
    fby_http_stop(&world->http);
    assert_int_equal(n_destroyed, 3);
}

static void a_page_is_made_once_per_snapshot(void **state)
{
    struct world *world = *state;
    publish(world, 1);
    for (int i = 0; i < 20; i++) {
        ask(world, REQUEST("GET /number"));
    }
    assert_int_equal(n_made, 1);
    publish(world, 2);
    ask(world, REQUEST("GET /number"));
    assert_int_equal(n_made, 2);
}

static void head_is_a_page_without_its_text(void **state)
{
    struct world *world = *state;
    publish(world, 1);
    expect(
        ask(world, REQUEST("HEAD /number")), "HTTP/1.1 200 OK\r\n", "\r\n\r\n");
    assert_text_says(world->answer, "\r\nContent-Length: 9\r\n");
}

static void other_requests_get_a_sentence(void **state)
{
    struct world *world = *state;
    expect(ask(world, REQUEST("GET /numbe")), "HTTP/1.1 404 Not Found\r\n",
        "\r\n\r\nThere is no page at this path; the page / lists all.\n");
    expect(ask(world, "POST /number HTTP/1.1\r\nHost: a\r\n"
                      "Content-Length: 3\r\n\r\nabc"),
        "HTTP/1.1 405 Method Not Allowed\r\n",
        "\r\n\r\nOnly GET and HEAD are answered here.\n");
    assert_text_says(world->answer, "\r\nAllow: GET, HEAD\r\n");
    expect(ask(world, REQUEST("GET /")), "HTTP/1.1 200 OK\r\n",
        "\r\n\r\n/              this list\n"
        "/healthz       200 if the loop turned within the last 5 s\n"
        "/number        the number\n"
        "/readyz        the number, for all\n");
}

static void health_is_that_the_loop_turned(void **state)
{
    struct world *world = *state;
    fby_http_turn(world->http, fby_now_ns());
    expect(ask(world, REQUEST("GET /healthz")), "HTTP/1.1 200 OK\r\n",
        "\r\n\r\nok\n");
    fby_http_turn(world->http, fby_now_ns() - 7 * FBY_NS_PER_S);
    ask(world, REQUEST("GET /healthz"));
    assert_text_says(world->answer, "HTTP/1.1 503 Service Unavailable\r\n");
    assert_text_says(world->answer, "\r\n\r\nThe loop has not turned for 7.");
}

static void a_snapshot_is_due_twice_a_second_and_after_a_change(void **state)
{
    struct world *world = *state;
    assert_true(fby_http_turn(world->http, FBY_NS_PER_S));
    assert_false(fby_http_turn(world->http, FBY_NS_PER_S * 14 / 10));
    fby_http_refresh(world->http);
    assert_true(fby_http_turn(world->http, FBY_NS_PER_S * 14 / 10));
    assert_false(fby_http_turn(world->http, FBY_NS_PER_S * 18 / 10));
    assert_true(fby_http_turn(world->http, FBY_NS_PER_S * 19 / 10));
}

static void silent_connections_do_not_block_others(void **state)
{
    struct world *world = *state;
    int           silent[3 * FBY_HTTP_CONNECTIONS];
    publish(world, 1);
    for (int i = 0; i < 3 * FBY_HTTP_CONNECTIONS; i++) {
        silent[i] = connect_to(world);
        send(silent[i], "GET /num", 8, MSG_NOSIGNAL);
    }
    expect(ask(world, REQUEST("GET /number")), "HTTP/1.1 200 OK\r\n",
        "\r\n\r\nnumber 1\n");
    for (int i = 0; i < 3 * FBY_HTTP_CONNECTIONS; i++) {
        close(silent[i]);
    }
}

static void a_silent_connection_ends_at_its_deadline(void **state)
{
    struct world *world    = *state;
    int64_t       since_ns = fby_now_ns();
    int           fd       = connect_to(world);
    send(fd, "GET", 3, MSG_NOSIGNAL);
    assert_string_equal(read_answer(world, fd), "");
    assert_true(fby_now_ns() - since_ns > FBY_NS_PER_S / 2);
}

static void garbage_is_refused_and_the_next_is_answered(void **state)
{
    static const char *const garbage[] = {"\r\n\r\n", "GET\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\r\n\r\n", "GET /number HTTP/9\r\n\r\n",
        "GET  /number  HTTP/1.1 x\r\n:\r\n\r\n", "GET /\x01%00%zz \r\n\r\n"};
    struct world            *world     = *state;
    publish(world, 1);
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        int fd = connect_to(world);
        send(fd, garbage[i], strlen(garbage[i]), MSG_NOSIGNAL);
        close(fd);
    }
    expect(ask(world, REQUEST("GET /number")), "HTTP/1.1 200 OK\r\n",
        "\r\n\r\nnumber 1\n");
}

static void a_long_request_is_refused(void **state)
{
    struct world *world = *state;
    char          request[32 << 10];
    int           fd = connect_to(world);
    memset(request, 'a', sizeof(request));
    send(fd, "GET /", strlen("GET /"), MSG_NOSIGNAL);
    send(fd, request, sizeof(request), MSG_NOSIGNAL);
    assert_text_says(read_answer(world, fd), "HTTP/1.1 414 ");
}

static void with_a_token_only_two_pages_are_open(void **state)
{
    struct world           *open   = *state;
    struct world            world  = {0};
    struct fby_error_detail why    = {{0}};
    char                    path[] = "/tmp/forebay-token-XXXXXX";
    int                     fd     = mkstemp(path);
    assert_int_equal(write(fd, TOKEN "\n", 17), 17);
    close(fd);
    fby_http_stop(&open->http);
    assert_ok(start_with(&world, path, &why));
    unlink(path);
    publish(&world, 1);
    expect(ask(&world, REQUEST("GET /number")), "HTTP/1.1 401 Unauthorized\r\n",
        "\r\n\r\nThis page needs the token of --http-token-file: send the "
        "header 'Authorization: Bearer TOKEN'.\n");
    assert_text_says(world.answer, "\r\nWWW-Authenticate: Bearer\r\n");
    expect(ask(&world, "GET /number HTTP/1.1\r\nHost: a\r\n"
                       "Authorization: Bearer " TOKEN "\r\n\r\n"),
        "HTTP/1.1 200 OK\r\n", "\r\n\r\nnumber 1\n");
    expect(ask(&world, REQUEST("GET /readyz")), "HTTP/1.1 200 OK\r\n",
        "\r\n\r\nnumber 1\n");
    expect(ask(&world, REQUEST("GET /healthz")), "HTTP/1.1 200 OK\r\n",
        "\r\n\r\nok\n");
    fby_http_stop(&world.http);
}

static void without_an_address_there_is_no_http(void **state)
{
    const struct fby_http_config config = {{NULL, NULL}, pages, 2, destroy};
    struct fby_http             *http   = NULL;
    struct fby_error_detail      why    = {{0}};
    (void)state;
    assert_ok(fby_http_start(&config, &http, &why));
    assert_null(http);
    assert_false(fby_http_turn(http, 0));
    fby_http_refresh(http);
    fby_http_stop(&http);
}

static void a_token_without_an_address_is_refused(void **state)
{
    const struct fby_http_config config = {{NULL, "t"}, pages, 2, destroy};
    struct fby_http             *http   = NULL;
    struct fby_error_detail      why    = {{0}};
    (void)state;
    assert_int_equal(fby_http_start(&config, &http, &why), FBY_USAGE);
    assert_string_equal(
        why.text, "--http-token-file t: this needs --http ADDR:PORT");
}

#define HTTP_TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    setenv("FOREBAY_TIME_DIVISOR", "20", 1); /* the deadline is half a second */
    const struct CMUnitTest tests[] = {
        HTTP_TEST(a_page_shows_the_newest_snapshot),
        HTTP_TEST(a_page_is_made_once_per_snapshot),
        HTTP_TEST(head_is_a_page_without_its_text),
        HTTP_TEST(other_requests_get_a_sentence),
        HTTP_TEST(health_is_that_the_loop_turned),
        HTTP_TEST(a_snapshot_is_due_twice_a_second_and_after_a_change),
        HTTP_TEST(silent_connections_do_not_block_others),
        HTTP_TEST(a_silent_connection_ends_at_its_deadline),
        HTTP_TEST(garbage_is_refused_and_the_next_is_answered),
        HTTP_TEST(a_long_request_is_refused),
        HTTP_TEST(with_a_token_only_two_pages_are_open),
        cmocka_unit_test(without_an_address_there_is_no_http),
        cmocka_unit_test(a_token_without_an_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
