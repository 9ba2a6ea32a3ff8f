/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of workers, and the ranks of a job. */
#include "tests/server/directories.h"

static void a_session_is_told_the_workers_once_and_new_ones_as_they_come(
    void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 7, 0, 0);
    struct fby_message message = expect_due(*state, FBY_MSG_WORKERS, 7);
    assert_true(message.workers.is_complete);
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.sequence, 1);
    expect_nothing_due(*state);

    add_worker(*state, 2, FBY_NS_PER_S);
    message = expect_due(*state, FBY_MSG_WORKERS, 7);
    assert_false(message.workers.is_complete);
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.added[0].instance.value, 2);
    assert_int_equal(message.workers.sequence, 2);
    expect_nothing_due(*state);
}

static void a_worker_that_came_and_went_is_no_news(void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 7, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 7);
    add_worker(*state, 2, 0);
    deregister(*state, 2);
    expect_nothing_due(*state);
}

/* RENEW with the number of a list. Returns true if a full list is sent then. */
static bool draws_list(
    struct fby_directory *d, uint64_t sequence, int64_t now_ns)
{
    struct fby_message    message;
    struct fby_routing_id to;
    assert_ok(renew_as(
        d, &(struct fby_renew){.session = {7}, .sequence = sequence}, now_ns));
    expect_due(d, FBY_MSG_JOINED, 7);
    bool sent = fby_directory_take_due(d, &message, &to);
    assert_true(!sent || message.workers.is_complete);
    return sent;
}

static void a_lost_list_is_told_again_in_full(void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 7, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 7);
    assert_false(draws_list(*state, 0, lease_ns / 4 - 1));
    assert_true(draws_list(*state, 0, lease_ns / 4));
}

/* Else a connection on which a list takes a second would get one each second
 * that it had too few, and never come to the end of them. */
static void a_list_that_is_on_its_way_is_not_sent_again_and_again(void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 7, 0, 0);
    unsigned n = 1;
    expect_due(*state, FBY_MSG_WORKERS, 7);
    for (int64_t at_ns = FBY_NS_PER_S; at_ns < 3 * lease_ns;
         at_ns += FBY_NS_PER_S) {
        n += draws_list(*state, 0, at_ns);
    }
    assert_int_equal(n, 5); /* after 3, 8, 18 and 28 s */
    assert_false(draws_list(*state, 2, 3 * lease_ns)); /* some arrive */
    assert_false(draws_list(*state, 3, 5 * lease_ns));
    assert_false(draws_list(*state, 5, 6 * lease_ns)); /* and all */
    add_worker(*state, 2, 7 * lease_ns);
    expect_due(*state, FBY_MSG_WORKERS, 7);
    assert_false(draws_list(*state, 5, 7 * lease_ns + 1));
    assert_true(draws_list(*state, 5, 7 * lease_ns + lease_ns / 4));
}

static void a_lost_list_is_told_again_although_later_ones_are_sent(void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 7, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 7);
    assert_false(draws_list(*state, 1, 1));
    for (uint64_t i = 1; i <= 4; i++) {
        add_worker(*state, 1 + i, (int64_t)i * lease_ns / 16);
        expect_due(*state, FBY_MSG_WORKERS, 7);
    }
    assert_true(draws_list(*state, 1, lease_ns / 16 + lease_ns / 4));
}

static void a_list_that_went_to_another_route_is_told_again_at_once(
    void **state)
{
    const struct fby_routing_id other = {.bytes = {99}, .size = 1};
    struct fby_message          message;
    struct fby_routing_id       to;
    add_worker(*state, 1, 0);
    join_ok(*state, 7, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 7);
    assert_ok(fby_directory_renew(
        *state, &(struct fby_renew){.session = {7}}, &other, FBY_NS_PER_S));
    assert_true(fby_directory_take_due(*state, &message, &to));
    assert_int_equal(message.type, FBY_MSG_JOINED);
    assert_true(fby_directory_take_due(*state, &message, &to));
    assert_true(message.workers.is_complete);
    assert_true(fby_routing_id_equal(&to, &other));
}

static void a_silent_worker_is_no_longer_listed_and_must_register_again(
    void **state)
{
    add_worker(*state, 1, 0);
    fby_directory_tick(*state, lease_ns);
    assert_ok(heartbeat_of(*state, 1, lease_ns));
    fby_directory_tick(*state, 2 * lease_ns + 1);
    assert_int_equal(heartbeat_of(*state, 1, 2 * lease_ns + 1), FBY_NOT_FOUND);
    assert_int_equal(fby_directory_counts(*state).expired_workers, 1);

    join_ok(*state, 7, 0, 2 * lease_ns + 1);
    expect_nothing_due(*state);
    add_worker(*state, 1, 2 * lease_ns + 2);
    expect_due(*state, FBY_MSG_WORKERS, 7);
}

static void more_workers_than_allowed_are_refused(void **state)
{
    for (uint64_t id = 1; id <= MAX_WORKERS; id++) {
        add_worker(*state, id, 0);
    }
    assert_int_equal(register_as(*state, MAX_WORKERS + 1, 0), FBY_FULL);
    add_worker(*state, 3, 0); /* known ones are renewed */
}

static void the_first_digest_that_is_renewed_with_is_pinned(void **state)
{
    join_ok(*state, 10, 0, 0);
    join_ok(*state, 11, 1, 0);
    struct fby_renew renew = {.session = {10}, .data = digest_of(9)};
    assert_ok(renew_as(*state, &renew, 1));
    expect_due(*state, FBY_MSG_JOINED, 10);
    expect_nothing_due(*state);
    renew = (struct fby_renew){.session = {11}, .data = digest_of(8)};
    assert_ok(renew_as(*state, &renew, 1));
    struct fby_message message = expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    assert_int_equal(message.join_refused.code, FBY_JOIN_DATA);

    const struct fby_join late = joining(12, 1);
    fby_directory_quit(*state, (struct fby_session_id){11});
    assert_ok(join_as(*state, &late, 2));
    message = expect_due(*state, FBY_MSG_JOINED, 12);
    assert_true(message.joined.data.known);
    assert_int_equal(message.joined.data.digest.bytes[0], 9);
}

static void only_one_of_two_waiting_sessions_gets_the_rank(void **state)
{
    join_ok(*state, 10, 0, 0);
    for (uint64_t id = 11; id <= 12; id++) {
        const struct fby_join join = joining(id, 0);
        assert_ok(join_as(*state, &join, 1));
    }
    fby_directory_tick(*state, lease_ns + 1);
    expect_due(*state, FBY_MSG_JOINED, 11);
    fby_directory_tick(*state, lease_ns + 2);
    expect_nothing_due(*state);
    assert_ok(renew(*state, 11, lease_ns + 3));
    expect_due(*state, FBY_MSG_JOINED, 11);
    struct fby_message message = expect_due(*state, FBY_MSG_JOIN_REFUSED, 12);
    assert_int_equal(message.join_refused.code, FBY_JOIN_TAKEN);
}

static void a_job_is_forgotten_with_its_last_session(void **state)
{
    join_ok(*state, 10, 0, 0);
    fby_directory_quit(*state, (struct fby_session_id){10});
    assert_int_equal(fby_directory_counts(*state).jobs, 0);
    struct fby_join other = joining(12, 0);
    other.world           = 8;
    assert_ok(join_as(*state, &other, 0));
    expect_due(*state, FBY_MSG_JOINED, 12);
}

static void an_unknown_session_must_join_first(void **state)
{
    assert_int_equal(renew(*state, 99, 0), FBY_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECTORY_TEST(
            a_session_is_told_the_workers_once_and_new_ones_as_they_come),
        DIRECTORY_TEST(a_worker_that_came_and_went_is_no_news),
        DIRECTORY_TEST(a_lost_list_is_told_again_in_full),
        DIRECTORY_TEST(a_list_that_is_on_its_way_is_not_sent_again_and_again),
        DIRECTORY_TEST(a_lost_list_is_told_again_although_later_ones_are_sent),
        DIRECTORY_TEST(a_list_that_went_to_another_route_is_told_again_at_once),
        DIRECTORY_TEST(
            a_silent_worker_is_no_longer_listed_and_must_register_again),
        DIRECTORY_TEST(more_workers_than_allowed_are_refused),
        DIRECTORY_TEST(the_first_digest_that_is_renewed_with_is_pinned),
        DIRECTORY_TEST(only_one_of_two_waiting_sessions_gets_the_rank),
        DIRECTORY_TEST(a_job_is_forgotten_with_its_last_session),
        DIRECTORY_TEST(an_unknown_session_must_join_first),
    };
    return cmocka_run_group_tests_name("server.directory", tests, NULL, NULL);
}
