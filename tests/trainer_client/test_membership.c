/* SPDX-License-Identifier: Apache-2.0 */
/* The times at which a session sends messages to the server, and the lists that
 * it accepts. */
#include "tests/test.h"

#include "common/clock.h"
#include "trainer_client/receive/membership.h"

enum { HEARTBEAT_MS = 1000, LEASE_MS = 10000 };
#define S FBY_NS_PER_S

static const struct fby_instance_id home = {7};

static struct fby_membership beginner(void)
{
    struct fby_membership m;
    const struct fby_join join = {.session = {5}, .job = "job", .world = 1};
    fby_membership_init(&m, &join, S, S);
    return m;
}

static void admit(struct fby_membership *m, int64_t now_ns)
{
    fby_membership_joined(m,
        &(struct fby_joined){
            .server = home, .lease_ms = LEASE_MS, .heartbeat_ms = HEARTBEAT_MS},
        now_ns);
}

/* Joined at 1 s. */
static struct fby_membership member(void)
{
    struct fby_membership m       = beginner();
    struct fby_message    message = {0};
    assert_true(fby_membership_tick(&m, S, &message));
    admit(&m, S);
    return m;
}

static void assert_says(
    struct fby_membership *m, int64_t now_ns, enum fby_message_type type)
{
    struct fby_message message = {0};
    assert_false(fby_membership_tick(m, now_ns - 1, &message));
    assert_true(fby_membership_tick(m, now_ns, &message));
    assert_int_equal(message.type, type);
}

static bool takes(struct fby_membership *m, uint64_t server, bool full,
    uint64_t sequence, int64_t now_ns)
{
    return fby_membership_accept_list(m,
        &(struct fby_workers){
            .server = {server}, .is_complete = full, .sequence = sequence},
        now_ns);
}

static void a_session_joins_until_it_is_answered_and_then_renews(void **state)
{
    (void)state;
    struct fby_membership m = beginner();
    assert_says(&m, 1 * S, FBY_MSG_JOIN);
    assert_says(&m, 2 * S, FBY_MSG_JOIN);
    admit(&m, 2 * S);
    assert_says(&m, 3 * S, FBY_MSG_RENEW);
    assert_says(&m, 4 * S, FBY_MSG_RENEW);
}

static void a_session_joins_again_at_once_when_it_is_not_known(void **state)
{
    (void)state;
    struct fby_membership m = member();
    fby_membership_join_first(&m, S + 5);
    assert_says(&m, S + 5, FBY_MSG_JOIN);
    fby_membership_join_first(&m, S + 6); /* of a RENEW sent before */
    assert_says(&m, 2 * S + 5, FBY_MSG_JOIN);
}

static void a_refused_session_quits_and_joins_again_a_lease_later(void **state)
{
    (void)state;
    struct fby_membership m = member();
    fby_membership_refused(&m, 5 * S);
    assert_says(&m, 5 * S, FBY_MSG_QUIT);
    assert_says(&m, 15 * S, FBY_MSG_JOIN);
    assert_says(&m, 16 * S, FBY_MSG_JOIN);
    admit(&m, 16 * S);
    assert_says(&m, 17 * S, FBY_MSG_RENEW);
}

static void digests_are_sent_at_once_and_from_then_on(void **state)
{
    (void)state;
    struct fby_membership m           = member();
    struct fby_message    message     = {0};
    struct fby_digest     data        = {{1}};
    struct fby_digest     fingerprint = {{2}};
    fby_membership_pin(&m, &data, &fingerprint, S + 3);
    assert_true(fby_membership_tick(&m, S + 3, &message));
    assert_true(message.renew.data.known);
    assert_true(fby_digest_equal(&message.renew.data.digest, &data));
    assert_true(
        fby_digest_equal(&message.renew.fingerprint.digest, &fingerprint));
    fby_membership_join_first(&m, S + 4);
    assert_true(fby_membership_tick(&m, S + 4, &message));
    assert_true(message.join.data.known);
}

static void lists_are_taken_in_order_and_a_gap_asks_for_all(void **state)
{
    (void)state;
    struct fby_membership m = member();
    assert_true(takes(&m, home.value, true, 4, S));
    assert_true(takes(&m, home.value, false, 5, S));
    assert_false(takes(&m, home.value, false, 7, S + 9));
    assert_int_equal(m.sequence, 5);
    assert_says(&m, S + 9, FBY_MSG_RENEW);
    assert_true(takes(&m, home.value, true, 7, S));
}

static void lists_of_another_server_are_not_taken(void **state)
{
    (void)state;
    struct fby_membership m = member();
    assert_false(takes(&m, home.value + 1, true, 1, S));
    fby_membership_join_first(&m, S);
    assert_false(takes(&m, home.value, true, 1, S));
}

static void a_server_without_a_heartbeat_is_not_asked_without_end(void **state)
{
    (void)state;
    struct fby_membership m = beginner();
    fby_membership_joined(&m, &(struct fby_joined){.server = home}, S);
    assert_says(&m, S + FBY_NS_PER_MS, FBY_MSG_RENEW);
    fby_membership_refused(&m, 2 * S);
    assert_says(&m, 2 * S, FBY_MSG_QUIT);
    assert_says(&m, 3 * S, FBY_MSG_JOIN);
}

/* The server answers each RENEW with JOINED. */
static void an_answer_to_a_renewal_delays_no_message(void **state)
{
    (void)state;
    struct fby_membership   m      = member();
    const struct fby_digest digest = {{1}};
    fby_membership_pin(&m, &digest, &digest, S);
    admit(&m, S);
    assert_says(&m, S, FBY_MSG_RENEW);
}

static void a_renewal_names_its_list_and_its_server(void **state)
{
    (void)state;
    struct fby_membership m       = member();
    struct fby_message    message = {0};
    assert_true(takes(&m, home.value, true, 4, S));
    assert_true(fby_membership_tick(&m, 2 * S, &message));
    assert_int_equal(message.type, FBY_MSG_RENEW);
    assert_int_equal(message.renew.session.value, 5);
    assert_int_equal(message.renew.server.value, home.value);
    assert_int_equal(message.renew.sequence, 4);
    assert_false(message.renew.data.known || message.renew.fingerprint.known);
    admit(&m, 2 * S); /* the same server: its lists go on */
    assert_true(takes(&m, home.value, false, 5, 2 * S));
    fby_membership_joined(&m,
        &(struct fby_joined){.server = {8}, .lease_ms = 1, .heartbeat_ms = 2},
        2 * S);
    assert_true(fby_membership_tick(&m, 3 * S, &message));
    assert_int_equal(message.renew.server.value, 8);
    assert_int_equal(message.renew.sequence, 0);
    assert_false(takes(&m, 8, false, 6, 3 * S));
}

static void a_join_and_a_quit_name_the_session(void **state)
{
    (void)state;
    struct fby_membership m       = beginner();
    struct fby_message    message = {0};
    assert_true(fby_membership_tick(&m, S, &message));
    assert_int_equal(message.join.session.value, 5);
    assert_string_equal(message.join.job, "job");
    assert_int_equal(message.join.world, 1);
    fby_membership_refused(&m, 2 * S);
    assert_true(fby_membership_tick(&m, 2 * S, &message));
    assert_int_equal(message.type, FBY_MSG_QUIT);
    assert_int_equal(message.quit.session.value, 5);
}

/* A full list is taken whatever its number; what follows it is the next. */
static void a_full_list_begins_anew(void **state)
{
    (void)state;
    struct fby_membership m = member();
    assert_true(takes(&m, home.value, true, 9, S));
    assert_true(takes(&m, home.value, true, 3, S));
    assert_false(takes(&m, home.value, false, 3, S));
    assert_false(takes(&m, home.value, false, 5, S));
    assert_true(takes(&m, home.value, false, 4, S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_joins_until_it_is_answered_and_then_renews),
        cmocka_unit_test(a_session_joins_again_at_once_when_it_is_not_known),
        cmocka_unit_test(a_refused_session_quits_and_joins_again_a_lease_later),
        cmocka_unit_test(digests_are_sent_at_once_and_from_then_on),
        cmocka_unit_test(lists_are_taken_in_order_and_a_gap_asks_for_all),
        cmocka_unit_test(lists_of_another_server_are_not_taken),
        cmocka_unit_test(an_answer_to_a_renewal_delays_no_message),
        cmocka_unit_test(a_renewal_names_its_list_and_its_server),
        cmocka_unit_test(a_join_and_a_quit_name_the_session),
        cmocka_unit_test(a_full_list_begins_anew),
        cmocka_unit_test(a_server_without_a_heartbeat_is_not_asked_without_end),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.membership", tests, NULL, NULL);
}
