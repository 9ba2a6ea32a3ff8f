#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "server/directory.h"

static const int64_t          lease_ns  = 10 * FBY_NS_PER_S;
static const struct fby_route somewhere = {.id = "here", .size = 4};

static int make_directory(void **state)
{
    const struct fby_directory_config config = {
        .lease_ns = lease_ns, .max_workers = 3, .max_sessions = 8};
    *state = fby_directory_create(&config);
    return 0;
}

static int destroy_directory(void **state)
{
    struct fby_directory *directory = *state;
    fby_directory_destroy(&directory);
    assert_null(directory);
    fby_directory_destroy(&directory);
    return 0;
}

static fby_err add_worker(
    struct fby_directory *directory, uint64_t id, int64_t now_ns)
{
    static const char *const  endpoints[] = {"tcp://127.0.0.1:1"};
    const struct fby_register told        = {
               .instance  = {id},
               .endpoints = {endpoints, 1},
               .host      = "a-host",
    };
    return fby_directory_register(directory, &told, now_ns);
}

static struct fby_join joining(uint64_t session, uint32_t rank)
{
    return (struct fby_join){
        .session = {session},
        .job     = "train",
        .rank    = rank,
        .world   = 2,
        .host    = session % 2 == 0 ? "even-host" : "odd-host",
        .pid     = (uint32_t)session,
        .seed    = 42,
    };
}

static struct fby_renew renewing(uint64_t session, uint64_t sequence)
{
    return (struct fby_renew){.session = {session}, .sequence = sequence};
}

/* The next thing due must be this for that session. */
static void expect_due(struct fby_directory *directory,
    enum fby_message_type type, uint64_t session, struct fby_message *out)
{
    struct fby_route to;
    assert_true(fby_directory_due(directory, out, &to));
    assert_memory_equal(to.id, somewhere.id, somewhere.size);
    assert_int_equal(out->type, type);
    assert_int_equal(fby_message_session(out).value, session);
}

static void expect_silence(struct fby_directory *directory)
{
    struct fby_message message;
    struct fby_route   to;
    assert_false(fby_directory_due(directory, &message, &to));
}

static void join_ok(struct fby_directory *directory, uint64_t session,
    uint32_t rank, int64_t now_ns)
{
    struct fby_message    message;
    const struct fby_join join = joining(session, rank);
    assert_ok(fby_directory_join(directory, &join, &somewhere, now_ns));
    expect_due(directory, FBY_MSG_JOINED, session, &message);
}

static void join_refused(struct fby_directory *directory,
    const struct fby_join *join, enum fby_join_refused_code code,
    const char *words)
{
    struct fby_message message;
    assert_ok(fby_directory_join(directory, join, &somewhere, 0));
    expect_due(directory, FBY_MSG_JOIN_REFUSED, join->session.value, &message);
    assert_int_equal(message.join_refused.code, code);
    assert_non_null(strstr(message.join_refused.text, words));
    assert_non_null(strstr(message.join_refused.text, "even-host"));
    assert_non_null(strstr(message.join_refused.text, "odd-host"));
}

static void a_session_is_told_the_workers_once_and_new_ones_as_they_come(
    void **state)
{
    struct fby_message message;
    assert_ok(add_worker(*state, 1, 0));
    join_ok(*state, 7, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 7, &message);
    assert_true(message.workers.full);
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.sequence, 1);
    expect_silence(*state);

    assert_ok(add_worker(*state, 2, 0));
    expect_due(*state, FBY_MSG_WORKERS, 7, &message);
    assert_false(message.workers.full);
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.added[0].instance.value, 2);
    assert_int_equal(message.workers.sequence, 2);
    expect_silence(*state);
}

static void a_worker_that_came_and_went_is_no_news(void **state)
{
    struct fby_message message;
    assert_ok(add_worker(*state, 1, 0));
    join_ok(*state, 7, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 7, &message);
    assert_ok(add_worker(*state, 2, 0));
    fby_directory_deregister(*state, (struct fby_instance_id){2});
    expect_silence(*state);
}

static void a_lost_list_is_told_again_in_full(void **state)
{
    struct fby_message message;
    assert_ok(add_worker(*state, 1, 0));
    join_ok(*state, 7, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 7, &message);
    const struct fby_renew renew = renewing(7, 0);
    assert_ok(fby_directory_renew(*state, &renew, &somewhere, 1));
    expect_due(*state, FBY_MSG_WORKERS, 7, &message);
    assert_true(message.workers.full);
}

static void a_silent_worker_is_no_longer_listed_and_must_register_again(
    void **state)
{
    struct fby_message message;
    assert_ok(add_worker(*state, 1, 0));
    fby_directory_tick(*state, lease_ns);
    assert_ok(
        fby_directory_heartbeat(*state, (struct fby_instance_id){1}, lease_ns));
    fby_directory_tick(*state, 2 * lease_ns + 1);
    assert_int_equal(fby_directory_heartbeat(
                         *state, (struct fby_instance_id){1}, 2 * lease_ns + 1),
        FBY_NOT_FOUND);
    assert_int_equal(fby_directory_counts(*state).expired_workers, 1);

    join_ok(*state, 7, 0, 2 * lease_ns + 1);
    expect_silence(*state);
    assert_ok(add_worker(*state, 1, 2 * lease_ns + 2));
    expect_due(*state, FBY_MSG_WORKERS, 7, &message);
}

static void the_time_the_server_was_away_is_nobodys_fault(void **state)
{
    assert_ok(add_worker(*state, 1, 0));
    fby_directory_shift(*state, 6 * lease_ns);
    fby_directory_tick(*state, 6 * lease_ns + lease_ns / 2);
    assert_int_equal(fby_directory_counts(*state).workers, 1);
}

static void more_workers_than_allowed_are_refused(void **state)
{
    for (uint64_t id = 1; id <= 3; id++) {
        assert_ok(add_worker(*state, id, 0));
    }
    assert_int_equal(add_worker(*state, 4, 0), FBY_FULL);
    assert_ok(add_worker(*state, 3, 0)); /* known ones are renewed */
}

static void ranks_that_differ_are_refused_with_both_values_and_hosts(
    void **state)
{
    join_ok(*state, 10, 0, 0);
    struct fby_join other = joining(11, 1);
    other.world           = 4;
    join_refused(*state, &other, FBY_JOIN_WORLD, "world size 4");
    other      = joining(13, 1);
    other.seed = 43;
    join_refused(*state, &other, FBY_JOIN_SEED, "seed 43");
    other                  = joining(15, 1);
    other.content.bytes[0] = 1;
    join_refused(*state, &other, FBY_JOIN_CONTENT, "content digest 01");
    other      = joining(17, 1);
    other.step = 5;
    join_refused(*state, &other, FBY_JOIN_START, "start step 5");
}

static void the_first_digest_told_is_the_jobs(void **state)
{
    struct fby_message message;
    join_ok(*state, 10, 0, 0);
    join_ok(*state, 11, 1, 0);
    struct fby_renew renew     = renewing(10, 0);
    renew.data.known           = true;
    renew.data.digest.bytes[0] = 9;
    assert_ok(fby_directory_renew(*state, &renew, &somewhere, 1));
    expect_silence(*state);

    renew.session.value        = 11;
    renew.data.digest.bytes[0] = 8;
    assert_ok(fby_directory_renew(*state, &renew, &somewhere, 1));
    expect_due(*state, FBY_MSG_JOIN_REFUSED, 11, &message);
    assert_int_equal(message.join_refused.code, FBY_JOIN_DATA);

    const struct fby_join late = joining(12, 1);
    fby_directory_quit(*state, (struct fby_session_id){11});
    assert_ok(fby_directory_join(*state, &late, &somewhere, 2));
    expect_due(*state, FBY_MSG_JOINED, 12, &message);
    assert_true(message.joined.data.known);
    assert_int_equal(message.joined.data.digest.bytes[0], 9);
}

static void a_second_session_of_a_rank_is_refused_when_the_first_renews(
    void **state)
{
    struct fby_message message;
    join_ok(*state, 10, 0, 0);
    const struct fby_join second = joining(11, 0);
    assert_ok(fby_directory_join(*state, &second, &somewhere, 1));
    expect_silence(*state);
    const struct fby_renew renew = renewing(10, 0);
    assert_ok(fby_directory_renew(*state, &renew, &somewhere, 2));
    expect_due(*state, FBY_MSG_JOIN_REFUSED, 11, &message);
    assert_int_equal(message.join_refused.code, FBY_JOIN_TAKEN);
    assert_non_null(strstr(message.join_refused.text, "process 10"));
}

static void a_second_session_takes_the_rank_of_a_silent_first(void **state)
{
    struct fby_message message;
    join_ok(*state, 10, 0, 0);
    struct fby_join second = joining(11, 0);
    second.seed            = 77; /* nobody is left to differ from */
    assert_ok(fby_directory_join(*state, &second, &somewhere, 1));
    fby_directory_tick(*state, lease_ns);
    expect_silence(*state);
    assert_true(fby_directory_deadline(*state) <= lease_ns + 1);
    fby_directory_tick(*state, lease_ns + 1);
    expect_due(*state, FBY_MSG_JOINED, 11, &message);
    const struct fby_renew late = renewing(10, 0);
    assert_int_equal(
        fby_directory_renew(*state, &late, &somewhere, 0), FBY_NOT_FOUND);
}

static void of_two_that_wait_for_a_rank_only_one_gets_it(void **state)
{
    struct fby_message message;
    join_ok(*state, 10, 0, 0);
    for (uint64_t id = 11; id <= 12; id++) {
        const struct fby_join join = joining(id, 0);
        assert_ok(fby_directory_join(*state, &join, &somewhere, 1));
    }
    fby_directory_tick(*state, lease_ns + 1);
    expect_due(*state, FBY_MSG_JOINED, 11, &message);
    fby_directory_tick(*state, lease_ns + 2);
    expect_silence(*state);
    const struct fby_renew renew = renewing(11, 0);
    assert_ok(fby_directory_renew(*state, &renew, &somewhere, lease_ns + 3));
    expect_due(*state, FBY_MSG_JOIN_REFUSED, 12, &message);
    assert_int_equal(message.join_refused.code, FBY_JOIN_TAKEN);
}

static void a_job_is_forgotten_with_its_last_session(void **state)
{
    join_ok(*state, 10, 0, 0);
    fby_directory_quit(*state, (struct fby_session_id){10});
    assert_int_equal(fby_directory_counts(*state).jobs, 0);
    struct fby_message message;
    struct fby_join    other = joining(12, 0);
    other.world              = 8;
    assert_ok(fby_directory_join(*state, &other, &somewhere, 0));
    expect_due(*state, FBY_MSG_JOINED, 12, &message);
}

static void an_unknown_session_must_join_first(void **state)
{
    const struct fby_renew renew = renewing(99, 0);
    assert_int_equal(
        fby_directory_renew(*state, &renew, &somewhere, 0), FBY_NOT_FOUND);
}

static void a_join_said_twice_is_answered_twice(void **state)
{
    join_ok(*state, 10, 0, 0);
    join_ok(*state, 10, 0, 1);
    assert_int_equal(fby_directory_counts(*state).sessions, 1);
}

#define DIRECTORY_TEST(test) \
    cmocka_unit_test_setup_teardown(test, make_directory, destroy_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECTORY_TEST(
            a_session_is_told_the_workers_once_and_new_ones_as_they_come),
        DIRECTORY_TEST(a_worker_that_came_and_went_is_no_news),
        DIRECTORY_TEST(a_lost_list_is_told_again_in_full),
        DIRECTORY_TEST(
            a_silent_worker_is_no_longer_listed_and_must_register_again),
        DIRECTORY_TEST(the_time_the_server_was_away_is_nobodys_fault),
        DIRECTORY_TEST(more_workers_than_allowed_are_refused),
        DIRECTORY_TEST(
            ranks_that_differ_are_refused_with_both_values_and_hosts),
        DIRECTORY_TEST(the_first_digest_told_is_the_jobs),
        DIRECTORY_TEST(
            a_second_session_of_a_rank_is_refused_when_the_first_renews),
        DIRECTORY_TEST(a_second_session_takes_the_rank_of_a_silent_first),
        DIRECTORY_TEST(of_two_that_wait_for_a_rank_only_one_gets_it),
        DIRECTORY_TEST(a_job_is_forgotten_with_its_last_session),
        DIRECTORY_TEST(an_unknown_session_must_join_first),
        DIRECTORY_TEST(a_join_said_twice_is_answered_twice),
    };
    return cmocka_run_group_tests_name("server.directory", tests, NULL, NULL);
}
