/* SPDX-License-Identifier: Apache-2.0 */
#include "common/resolver.h"

#include "tests/fake_files.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- A lookup that the test ends ----------------------------------------- */

static int gate[2]; /* a lookup reads a byte of this pipe before it ends */

static fby_err look_up(
    const char *text, struct fby_endpoints *out, struct fby_error_detail *why)
{
    char byte;
    assert_int_equal(read(gate[0], &byte, 1), 1);
    if (byte == 'n') {
        return fby_error_set(why, FBY_NOT_FOUND, "no host '%s'", text);
    }
    out->n = 1;
    snprintf(out->text[0], sizeof(out->text[0]), "found %s", text);
    return FBY_OK;
}

static void open_gate(const char *byte)
{
    assert_int_equal(write(gate[1], byte, 1), 1);
}

static struct fby_resolver *resolver_of(const char *text, const char *file)
{
    const struct fby_resolver_source source = {text, file, look_up};
    struct fby_resolver             *out    = NULL;
    struct fby_error_detail          why    = {""};
    assert_int_equal(pipe(gate), 0);
    assert_ok(fby_resolver_create(&source, &out, &why));
    return out;
}

static void await(const struct fby_resolver *resolver)
{
    struct pollfd item = {.fd = fby_resolver_fd(resolver), .events = POLLIN};
    assert_int_equal(poll(&item, 1, 20000), 1);
}

static void finish(struct fby_resolver **resolver)
{
    fby_resolver_destroy(resolver);
    assert_null(*resolver);
    close(gate[0]);
    close(gate[1]);
}

static void a_lookup_runs_beside_the_caller(void **state)
{
    (void)state;
    struct fby_resolver    *resolver = resolver_of("host:1", NULL);
    struct fby_endpoints    found    = {.n = 0};
    struct fby_error_detail why      = {""};
    assert_int_equal(fby_resolver_take(resolver, &found, &why), FBY_AGAIN);
    assert_false(fby_resolver_is_running(resolver));
    assert_ok(fby_resolver_start(resolver, &why));
    assert_ok(fby_resolver_start(resolver, &why)); /* one is enough */
    assert_true(fby_resolver_is_running(resolver));
    assert_int_equal(fby_resolver_take(resolver, &found, &why), FBY_AGAIN);
    open_gate("y");
    await(resolver);
    assert_ok(fby_resolver_take(resolver, &found, &why));
    assert_string_equal(found.text[0], "found host:1");
    struct pollfd item = {.fd = fby_resolver_fd(resolver), .events = POLLIN};
    assert_int_equal(poll(&item, 1, 0), 0);
    assert_false(fby_resolver_is_running(resolver));
    finish(&resolver);
}

static void a_name_without_an_address_is_an_error(void **state)
{
    (void)state;
    struct fby_resolver    *resolver = resolver_of("host:1", NULL);
    struct fby_endpoints    found    = {.n = 0};
    struct fby_error_detail why      = {""};
    assert_ok(fby_resolver_start(resolver, &why));
    open_gate("n");
    await(resolver);
    assert_int_equal(fby_resolver_take(resolver, &found, &why), FBY_NOT_FOUND);
    assert_string_equal(why.text, "no host 'host:1'");
    finish(&resolver);
}

/* Its thread ends later, and frees what it has: memory checkers tell. */
static void a_lookup_that_runs_delays_no_end(void **state)
{
    (void)state;
    struct fby_resolver    *resolver = resolver_of("host:1", NULL);
    struct fby_error_detail why      = {""};
    assert_ok(fby_resolver_start(resolver, &why));
    fby_resolver_destroy(&resolver);
    open_gate("y");
    fby_resolver_destroy(&resolver); /* NULL is allowed */
    /* The thread must not read the byte of the next test. */
    int unread = 1;
    while (unread > 0) {
        assert_int_equal(ioctl(gate[0], FIONREAD, &unread), 0);
        sched_yield();
    }
}

static void a_lookup_that_has_ended_is_freed(void **state)
{
    (void)state;
    struct fby_resolver    *resolver = resolver_of("host:1", NULL);
    struct fby_error_detail why      = {""};
    assert_ok(fby_resolver_start(resolver, &why));
    open_gate("y");
    await(resolver);
    finish(&resolver);
}

/* ---- Files --------------------------------------------------------------- */

static fby_err take_of_file(struct fby_resolver *resolver,
    struct fby_endpoints *found, struct fby_error_detail *why)
{
    assert_ok(fby_resolver_start(resolver, why));
    await(resolver);
    return fby_resolver_take(resolver, found, why);
}

static void a_file_is_read_at_each_lookup(void **state)
{
    (void)state;
    char path[256];
    path_of(path, "server");
    struct fby_resolver    *resolver = resolver_of(NULL, path);
    struct fby_endpoints    found    = {.n = 0};
    struct fby_error_detail why      = {""};
    char                    text[600];
    assert_int_equal(take_of_file(resolver, &found, &why), FBY_NOT_FOUND);
    snprintf(
        text, sizeof(text), "server file %s: No such file or directory", path);
    assert_string_equal(why.text, text);
    write_file("server", "");
    assert_int_equal(take_of_file(resolver, &found, &why), FBY_NOT_FOUND);
    snprintf(text, sizeof(text), "server file %s: it is empty", path);
    assert_string_equal(why.text, text);
    write_file("server", " tcp://a:1 \nsecond\n");
    open_gate("y");
    assert_ok(take_of_file(resolver, &found, &why));
    assert_string_equal(found.text[0], "found tcp://a:1");
    write_file("server", "tcp://b:2");
    open_gate("n");
    assert_int_equal(take_of_file(resolver, &found, &why), FBY_NOT_FOUND);
    snprintf(text, sizeof(text), "server file %s: no host 'tcp://b:2'", path);
    assert_string_equal(why.text, text);
    finish(&resolver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lookup_runs_beside_the_caller),
        cmocka_unit_test(a_name_without_an_address_is_an_error),
        cmocka_unit_test(a_lookup_that_runs_delays_no_end),
        cmocka_unit_test(a_lookup_that_has_ended_is_freed),
        cmocka_unit_test_setup_teardown(
            a_file_is_read_at_each_lookup, make_root, remove_root),
    };
    return cmocka_run_group_tests_name("common.resolver", tests, NULL, NULL);
}
