/* SPDX-License-Identifier: Apache-2.0 */
/* The test sets the clock, and what a lookup finds. */
#include "common/locator.h"

#include "tests/fake_files.h"

#include <poll.h>
#include <stdatomic.h>

#include "common/clock.h"
#include "common/log.h"

#define S FBY_NS_PER_S

/* ---- DNS of the test ----------------------------------------------------- */

static const char *addresses[4]; /* of the host; NULL: the end */
static atomic_int  n_lookups;

static fby_err look_up(
    const char *text, struct fby_endpoints *out, struct fby_error_detail *why)
{
    atomic_fetch_add(&n_lookups, 1);
    for (out->n = 0; addresses[out->n] != NULL; out->n++) {
        strcpy(out->text[out->n], addresses[out->n]);
    }
    return out->n > 0 ? FBY_OK
                      : fby_error_set(why, FBY_NOT_FOUND, "no '%s'", text);
}

static void name_has(const char *first, const char *second)
{
    addresses[0] = first;
    addresses[1] = second;
    addresses[2] = NULL;
}

static unsigned n_logged; /* lines SERVER-UNKNOWN */
static char     logged[256];

static void note(void *arg, enum fby_log_level level, const char *line)
{
    (void)arg;
    (void)level;
    snprintf(logged, sizeof(logged), "%s", line);
    n_logged += strncmp(line, "SERVER-UNKNOWN ", 15) == 0;
}

static struct fby_locator *locator_of(const char *text)
{
    const struct fby_resolver_source source = {
        .text = text, .resolve = look_up};
    struct fby_locator     *out = NULL;
    struct fby_error_detail why = {""};
    n_lookups                   = 0;
    n_logged                    = 0;
    fby_log_redirect(FBY_LOG_WARN, note, NULL);
    assert_ok(fby_locator_create(&source, &out, &why));
    return out;
}

static void finish(struct fby_locator **locator)
{
    fby_locator_destroy(locator);
    assert_null(*locator);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
}

static void await_lookup(const struct fby_locator *locator)
{
    struct pollfd item = {.fd = fby_locator_fd(locator), .events = POLLIN};
    assert_int_equal(poll(&item, 1, 20000), 1);
}

/* At `now_ns` a lookup begins; then it ends. Returns the result of the tick
 * after it. */
static bool looks_up_first(struct fby_locator *locator, int64_t now_ns)
{
    int before = n_lookups;
    assert_false(fby_locator_tick(locator, now_ns));
    await_lookup(locator);
    assert_int_equal(n_lookups, before + 1);
    return fby_locator_tick(locator, now_ns);
}

/* The same, and not 1 ns earlier. */
static bool looks_up(struct fby_locator *locator, int64_t now_ns)
{
    assert_false(fby_locator_tick(locator, now_ns - 1));
    assert_int_equal(fby_locator_deadline(locator), now_ns);
    return looks_up_first(locator, now_ns);
}

static void assert_connects(
    struct fby_locator *locator, int64_t now_ns, const char *endpoint)
{
    assert_false(fby_locator_tick(locator, now_ns - 1));
    assert_int_equal(fby_locator_deadline(locator), now_ns);
    assert_true(fby_locator_tick(locator, now_ns));
    assert_string_equal(fby_locator_endpoint(locator), endpoint);
    assert_false(fby_locator_tick(locator, now_ns));
}

#define A "tcp://10.0.0.1:7070"
#define B "tcp://10.0.0.2:7070"
#define C "tcp://10.0.0.3:7070"

/* ---- Tests --------------------------------------------------------------- */

static void a_numeric_address_is_never_looked_up(void **state)
{
    (void)state;
    struct fby_locator *locator = locator_of("10.0.0.1:7070");
    assert_int_equal(fby_locator_fd(locator), -1);
    assert_true(fby_locator_tick(locator, 1 * S));
    assert_string_equal(fby_locator_endpoint(locator), A);
    assert_connects(locator, 11 * S, A); /* silent for a lease: connect again */
    fby_locator_heard(locator, 15 * S);
    fby_locator_set_lease(locator, 4 * S);
    assert_connects(locator, 19 * S, A);
    assert_int_equal(n_lookups, 0);
    finish(&locator);
}

static void a_server_that_moves_is_found_after_a_lease(void **state)
{
    (void)state;
    struct fby_locator *locator = locator_of("tcp://head:7070");
    name_has(A, NULL);
    assert_string_equal(fby_locator_endpoint(locator), "");
    assert_true(looks_up_first(locator, 1 * S));
    assert_string_equal(fby_locator_endpoint(locator), A);
    fby_locator_set_lease(locator, 4 * S);
    fby_locator_heard(locator, 2 * S);
    name_has(B, NULL);
    assert_true(looks_up(locator, 6 * S));
    assert_string_equal(fby_locator_endpoint(locator), B);
    finish(&locator);
}

static void lookups_back_off_until_the_server_answers(void **state)
{
    (void)state;
    struct fby_locator *locator = locator_of("head:7070");
    name_has(A, NULL);
    assert_true(looks_up_first(locator, 100 * S));
    int64_t at = 103 * S; /* the address had 3 s */
    for (int64_t delay = 2; delay <= 16; delay *= 2) {
        bool connects = looks_up(locator, at);
        assert_int_equal(connects, at >= 117 * S); /* kept for a lease */
        at += delay * S;
    }
    looks_up(locator, at);
    looks_up(locator, at + 30 * S);
    looks_up(locator, at + 60 * S);
    fby_locator_heard(locator, at + 61 * S);
    looks_up(locator, at + 71 * S);
    looks_up(locator, at + 74 * S);
    finish(&locator);
}

static void all_addresses_are_tried_in_turn(void **state)
{
    (void)state;
    struct fby_locator *locator = locator_of("head:7070");
    name_has(A, B);
    assert_true(looks_up_first(locator, 1 * S));
    assert_string_equal(fby_locator_endpoint(locator), A);
    assert_connects(locator, 4 * S, B);
    assert_true(looks_up(locator, 7 * S)); /* the same addresses: once more */
    assert_string_equal(fby_locator_endpoint(locator), A);
    assert_connects(locator, 10 * S, B);
    fby_locator_heard(locator, 11 * S);
    assert_connects(locator, 21 * S, A); /* silent for a lease */
    name_has(C, B);
    assert_true(looks_up(locator, 24 * S));
    assert_string_equal(fby_locator_endpoint(locator), C);
    finish(&locator);
}

static void an_unknown_name_is_waited_for_and_logged_seldom(void **state)
{
    (void)state;
    struct fby_locator *locator = locator_of("head:7070");
    name_has(NULL, NULL);
    assert_false(looks_up_first(locator, 1 * S));
    assert_string_equal(fby_locator_problem(locator), "no 'head:7070'");
    assert_string_equal(
        logged, "SERVER-UNKNOWN no 'head:7070'; waiting for it");
    assert_string_equal(fby_locator_endpoint(locator), "");
    assert_false(looks_up(locator, 2 * S));
    assert_false(looks_up(locator, 4 * S));
    assert_false(looks_up(locator, 8 * S));
    assert_false(looks_up(locator, 16 * S));
    assert_int_equal(n_logged, 1);
    assert_false(looks_up(locator, 32 * S));
    assert_int_equal(n_logged, 2);
    name_has(A, NULL);
    assert_true(looks_up(locator, 62 * S));
    assert_string_equal(fby_locator_endpoint(locator), A);
    assert_string_equal(fby_locator_problem(locator), "");
    finish(&locator);
}

static void a_name_that_is_gone_leaves_its_last_address(void **state)
{
    (void)state;
    struct fby_locator *locator = locator_of("head:7070");
    name_has(A, NULL);
    assert_true(looks_up_first(locator, 1 * S));
    fby_locator_heard(locator, 1 * S);
    name_has(NULL, NULL);
    assert_true(looks_up(locator, 11 * S));
    assert_string_equal(fby_locator_endpoint(locator), A);
    assert_string_equal(fby_locator_problem(locator), "no 'head:7070'");
    fby_locator_heard(locator, 12 * S);
    assert_string_equal(fby_locator_problem(locator), "");
    finish(&locator);
}

static void an_answer_during_a_lookup_keeps_the_connection(void **state)
{
    (void)state;
    struct fby_locator *locator = locator_of("head:7070");
    name_has(A, NULL);
    assert_true(looks_up_first(locator, 1 * S));
    fby_locator_heard(locator, 1 * S);
    name_has(B, NULL);
    assert_false(fby_locator_tick(locator, 11 * S)); /* starts the lookup */
    await_lookup(locator);
    fby_locator_heard(locator, 11 * S);
    assert_false(fby_locator_tick(locator, 11 * S));
    assert_string_equal(fby_locator_endpoint(locator), A);
    finish(&locator);
}

static void what_is_no_address_is_refused(void **state)
{
    (void)state;
    const struct fby_resolver_source source = {.text = "head"};
    struct fby_locator              *out    = NULL;
    struct fby_error_detail          why    = {""};
    assert_int_equal(fby_locator_create(&source, &out, &why), FBY_USAGE);
    assert_string_equal(why.text,
        "'head' is not an address; write tcp://HOST:PORT, with a PORT up to "
        "65535, IPv6 in brackets");
    fby_locator_destroy(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_numeric_address_is_never_looked_up),
        cmocka_unit_test(a_server_that_moves_is_found_after_a_lease),
        cmocka_unit_test(lookups_back_off_until_the_server_answers),
        cmocka_unit_test(all_addresses_are_tried_in_turn),
        cmocka_unit_test(an_unknown_name_is_waited_for_and_logged_seldom),
        cmocka_unit_test(a_name_that_is_gone_leaves_its_last_address),
        cmocka_unit_test(an_answer_during_a_lookup_keeps_the_connection),
        cmocka_unit_test(what_is_no_address_is_refused),
    };
    return cmocka_run_group_tests_name("common.locator", tests, NULL, NULL);
}
