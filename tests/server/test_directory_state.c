/* SPDX-License-Identifier: Apache-2.0 */
/* Leases, lists, refusals and waiting, with every count and deadline. */
#include "tests/server/directories.h"

#include "common/log.h"
#include "server/directory_state.h"

enum { LIST = 256 };
static const int64_t pace_ns = 50 * FBY_NS_PER_MS;

static void check_counts(
    const struct fby_directory *d, const struct fby_directory_counts *expected)
{
    struct fby_directory_counts got = fby_directory_counts(d);
    assert_int_equal(got.workers, expected->workers);
    assert_int_equal(got.sessions, expected->sessions);
    assert_int_equal(got.jobs, expected->jobs);
    assert_int_equal(got.expired_workers, expected->expired_workers);
    assert_int_equal(got.expired_sessions, expected->expired_sessions);
    assert_int_equal(got.refused, expected->refused);
    assert_int_equal(got.unreachable, expected->unreachable);
}

static void expect_refused(struct fby_directory *d, uint64_t session,
    enum fby_join_refused_code code, const char *text)
{
    struct fby_message message = expect_due(d, FBY_MSG_JOIN_REFUSED, session);
    assert_int_equal(message.join_refused.code, code);
    assert_string_equal(message.join_refused.text, text);
}

static void check_waiting(const struct fby_directory *d, int n)
{
    const struct fby_dir_session *session   = NULL;
    int                           n_waiting = 0;
    DL_COUNT(d->waits, session, n_waiting);
    assert_int_equal(n_waiting, n);
}

/* ---- Time ---------------------------------------------------------------- */

static void a_worker_is_late_after_its_lease(void **state)
{
    assert_true(fby_directory_deadline(*state) == INT64_MAX);
    add_worker(*state, 1, 5);
    add_worker(*state, 2, 9);
    assert_int_equal(fby_directory_deadline(*state), 5 + lease_ns + 1);
    fby_directory_tick(*state, 5 + lease_ns);
    check_counts(*state, &(struct fby_directory_counts){.workers = 2});
    fby_directory_tick(*state, 5 + lease_ns + 1);
    const struct fby_directory_counts late = {
        .workers = 1, .expired_workers = 1};
    check_counts(*state, &late);
    assert_int_equal(fby_directory_deadline(*state), 9 + lease_ns + 1);
    assert_ok(heartbeat_of(*state, 2, 100 + lease_ns));
    assert_int_equal(heartbeat_of(*state, 1, 100 + lease_ns), FBY_NOT_FOUND);
    assert_int_equal(fby_directory_deadline(*state), 100 + 2 * lease_ns + 1);
    add_worker(*state, 2, 200 + lease_ns); /* renewed */
    assert_int_equal(fby_directory_deadline(*state), 200 + 2 * lease_ns + 1);
    add_worker(*state, 3, 250 + lease_ns);
    assert_int_equal(fby_directory_deadline(*state), 200 + 2 * lease_ns + 1);
}

static void all_late_peers_are_forgotten_in_one_turn(void **state)
{
    for (uint64_t i = 0; i < 3; i++) {
        join_ok(*state, 10 + i, (uint32_t)i, 0);
    }
    for (uint64_t i = 0; i < 3; i++) {
        add_worker(*state, 1 + i, 0);
    }
    fby_directory_tick(*state, lease_ns + 1);
    const struct fby_directory_counts none = {
        .expired_workers = 3, .expired_sessions = 3};
    check_counts(*state, &none);
}

static void a_session_is_late_after_its_lease(void **state)
{
    join_ok(*state, 10, 0, 3);
    assert_int_equal(fby_directory_deadline(*state), 3 + lease_ns + 1);
    assert_ok(renew(*state, 10, 8));
    expect_due(*state, FBY_MSG_JOINED, 10);
    assert_int_equal(fby_directory_deadline(*state), 8 + lease_ns + 1);
    fby_directory_tick(*state, 8 + lease_ns);
    const struct fby_directory_counts there = {.sessions = 1, .jobs = 1};
    check_counts(*state, &there);
    fby_directory_tick(*state, 8 + lease_ns + 1);
    const struct fby_directory_counts gone = {.expired_sessions = 1};
    check_counts(*state, &gone);
    assert_true(fby_directory_deadline(*state) == INT64_MAX);
    assert_int_equal(renew(*state, 10, 9 + lease_ns), FBY_NOT_FOUND);
}

/* A paused server received no messages: the leases of workers and sessions, and
 * waits for a rank, are extended by the pause. */
static void no_lease_counts_the_time_the_server_was_paused(void **state)
{
    const int64_t gap_ns = 6 * lease_ns;
    join_ok(*state, 10, 0, 1);
    const struct fby_join second = joining(11, 0);
    assert_ok(join_as(*state, &second, 2));
    join_ok(*state, 13, 1, 30);
    add_worker(*state, 1, 40);
    expect_due(*state, FBY_MSG_WORKERS, 10);
    expect_due(*state, FBY_MSG_WORKERS, 13);
    fby_directory_extend_leases(*state, gap_ns);
    assert_int_equal(fby_directory_deadline(*state), gap_ns + 1 + lease_ns + 1);
    fby_directory_tick(*state, gap_ns + 1 + lease_ns);
    const struct fby_directory_counts all = {
        .workers = 1, .sessions = 3, .jobs = 1};
    check_counts(*state, &all);
    expect_nothing_due(*state);
    assert_ok(
        renew_as(*state, &(struct fby_renew){.session = {10}, .sequence = 1},
            gap_ns + 1 + lease_ns));
    expect_due(*state, FBY_MSG_JOINED, 10);
    expect_refused(*state, 11, FBY_JOIN_TAKEN,
        "job 'train': rank 0 is held by process 1010 on even; stop that one, "
        "or use another --job");
    expect_nothing_due(*state);
    fby_directory_tick(*state, gap_ns + 30 + lease_ns);
    assert_int_equal(fby_directory_counts(*state).sessions, 3);
    fby_directory_tick(*state, gap_ns + 30 + lease_ns + 1);
    assert_int_equal(fby_directory_counts(*state).sessions, 2);
    fby_directory_tick(*state, gap_ns + 40 + lease_ns);
    assert_int_equal(fby_directory_counts(*state).workers, 1);
    fby_directory_tick(*state, gap_ns + 40 + lease_ns + 1);
    assert_int_equal(fby_directory_counts(*state).workers, 0);
}

static void a_session_waits_for_a_rank_as_long_after_a_pause(void **state)
{
    const int64_t gap_ns = 6 * lease_ns;
    join_ok(*state, 10, 0, 90);
    const struct fby_join second = joining(11, 0);
    assert_ok(join_as(*state, &second, 100));
    fby_directory_extend_leases(*state, gap_ns);
    fby_directory_tick(*state, gap_ns + 90 + lease_ns);
    expect_nothing_due(*state);
    fby_directory_tick(*state, gap_ns + 90 + lease_ns + 1);
    expect_due(*state, FBY_MSG_JOINED, 11); /* the first is late */
    const struct fby_directory_counts one = {
        .sessions = 1, .jobs = 1, .expired_sessions = 1};
    check_counts(*state, &one);
}

/* ---- Workers ------------------------------------------------------------- */

static void a_list_names_endpoints_and_host_of_each_worker(void **state)
{
    add_worker(*state, 5, 0);
    join_ok(*state, 10, 0, 0);
    struct fby_message message        = expect_due(*state, FBY_MSG_WORKERS, 10);
    const struct fby_worker_info *one = &message.workers.added[0];
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.removed.n, 0);
    assert_int_equal(one->instance.value, 5);
    assert_string_equal(one->host, "a-host");
    assert_int_equal(one->endpoints.n, 2);
    assert_string_equal(one->endpoints.at[0], "tcp://a:1");
    assert_string_equal(one->endpoints.at[1], "tcp://b:2");
}

static void a_long_list_is_told_in_parts(void **state)
{
    for (uint64_t id = 1; id <= LIST + 1; id++) {
        add_worker(*state, id, 0);
    }
    join_ok(*state, 10, 0, 0);
    struct fby_message first = expect_due(*state, FBY_MSG_WORKERS, 10);
    assert_true(first.workers.is_complete);
    assert_int_equal(first.workers.sequence, 1);
    assert_int_equal(first.workers.n_added, LIST);
    assert_int_equal(first.workers.added[0].instance.value, 1);
    assert_int_equal(first.workers.added[LIST - 1].instance.value, LIST);
    expect_nothing_due(*state);
    assert_int_equal(fby_directory_deadline(*state), pace_ns);
    fby_directory_tick(*state, pace_ns - 1);
    expect_nothing_due(*state);
    fby_directory_tick(*state, pace_ns);
    struct fby_message rest = expect_due(*state, FBY_MSG_WORKERS, 10);
    assert_false(rest.workers.is_complete);
    assert_int_equal(rest.workers.sequence, 2);
    assert_int_equal(rest.workers.n_added, 1);
    assert_int_equal(rest.workers.added[0].instance.value, LIST + 1);
    expect_nothing_due(*state);
    assert_ok(renew_as(*state,
        &(struct fby_renew){.session = {10}, .sequence = 2}, 3 * pace_ns));
    expect_due(*state, FBY_MSG_JOINED, 10);
    expect_nothing_due(*state);
}

/* Every JOIN is answered, but the list is not sent again each time. */
static void repeated_joins_draw_one_list_in_its_pace(void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 10, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 10);
    for (int64_t i = 1; i < 100; i++) {
        join_ok(*state, 10, 0, i * lease_ns / 400);
        expect_nothing_due(*state);
    }
    join_ok(*state, 10, 0, lease_ns / 4);
    expect_due(*state, FBY_MSG_WORKERS, 10);
    expect_nothing_due(*state);
}

/* Sessions that had all workers, and one that gets a long list in parts. */
static void a_new_worker_is_listed_for_all_in_their_pace(void **state)
{
    for (uint64_t id = 1; id <= LIST + 1; id++) {
        add_worker(*state, id, 0);
    }
    join_ok(*state, 10, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 10);
    fby_directory_tick(*state, pace_ns);
    expect_due(*state, FBY_MSG_WORKERS, 10); /* now it has all */
    join_ok(*state, 11, 1, pace_ns + 1);
    expect_due(*state, FBY_MSG_WORKERS, 11); /* the first part */
    add_worker(*state, LIST + 2, pace_ns + 2);
    expect_nothing_due(*state);
    fby_directory_tick(*state, 2 * pace_ns);
    assert_int_equal(
        expect_due(*state, FBY_MSG_WORKERS, 10).workers.n_added, 1);
    expect_nothing_due(*state);
    fby_directory_tick(*state, 2 * pace_ns + 1);
    assert_int_equal(
        expect_due(*state, FBY_MSG_WORKERS, 11).workers.n_added, 2);
    fby_directory_tick(*state, 9 * pace_ns);
    expect_nothing_due(*state);
}

/* More than the entries of removed workers that are kept. */
static void workers_that_come_and_go_leave_no_entry(void **state)
{
    const struct fby_directory *d = *state;
    add_worker(*state, 1, 0);
    for (uint64_t id = 2; id < 1000; id++) {
        add_worker(*state, id, 0);
        if (id > 2) {
            deregister(*state, id - 1);
        }
    }
    assert_true(d->n_added_order <= 6);
    join_ok(*state, 10, 0, 0);
    struct fby_message list = expect_due(*state, FBY_MSG_WORKERS, 10);
    assert_int_equal(list.workers.n_added, 2);
    assert_int_equal(list.workers.added[0].instance.value, 1);
    assert_int_equal(list.workers.added[1].instance.value, 999);
}

static void a_worker_that_leaves_is_no_longer_listed(void **state)
{
    add_worker(*state, 1, 0);
    add_worker(*state, 2, 0);
    deregister(*state, 1);
    deregister(*state, 3);
    check_counts(*state, &(struct fby_directory_counts){.workers = 1});
    join_ok(*state, 10, 0, 0);
    struct fby_message message = expect_due(*state, FBY_MSG_WORKERS, 10);
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.added[0].instance.value, 2);
}

/* The lists tell every client the ids of all instances. */
static void only_the_route_of_a_worker_renews_or_removes_it(void **state)
{
    const struct fby_routing_id  other   = {.bytes = {201}, .size = 2};
    const struct fby_instance_id worker  = {1};
    const struct fby_heartbeat   message = {.instance = worker};
    add_worker(*state, 1, 0);
    assert_int_equal(
        fby_directory_heartbeat(*state, &message, &other, 1), FBY_NOT_FOUND);
    fby_directory_deregister(*state, worker, &other);
    assert_int_equal(fby_directory_deadline(*state), lease_ns + 1);
    assert_ok(heartbeat_of(*state, 1, 2));
    deregister(*state, 1);
    assert_int_equal(fby_directory_counts(*state).workers, 0);
}

static const char *const endpoints_of_all[]  = {"tcp://a:1", "tcp://b:2"};
static const struct fby_routing_id new_route = {.bytes = {201}, .size = 2};

static struct fby_registration registration_of(
    const char *const *endpoints, struct fby_maybe_digest secret)
{
    return (struct fby_registration){.instance = {1},
        .endpoints                             = {endpoints, 2},
        .host                                  = "a-host",
        .secret                                = secret};
}

/* Assert that the worker 1 is still registered from its first route. */
static void keeps_its_route(struct fby_directory *d, int64_t now_ns)
{
    const struct fby_heartbeat message = {.instance = {1}};
    assert_int_equal(fby_directory_heartbeat(d, &message, &new_route, now_ns),
        FBY_NOT_FOUND);
    fby_directory_deregister(d, (struct fby_instance_id){1}, &new_route);
    assert_ok(heartbeat_of(d, 1, now_ns));
}

static void a_registration_moves_to_a_new_route(void **state)
{
    const struct fby_registration again =
        registration_of(endpoints_of_all, (struct fby_maybe_digest){0});
    const struct fby_heartbeat message = {.instance = {1}};
    const int64_t              late_ns = 2 * heartbeat_ns;
    add_worker(*state, 1, 0);
    assert_ok(fby_directory_register(*state, &again, &new_route, late_ns));
    assert_int_equal(heartbeat_of(*state, 1, late_ns + 1), FBY_NOT_FOUND);
    assert_ok(
        fby_directory_heartbeat(*state, &message, &new_route, late_ns + 1));
    assert_int_equal(fby_directory_counts(*state).workers, 1);
}

static void other_endpoints_do_not_move_a_registration(void **state)
{
    static const char *const false_one[] = {"tcp://a:1", "tcp://b:3"};
    struct fby_registration  again =
        registration_of(false_one, (struct fby_maybe_digest){0});
    add_worker(*state, 1, 0);
    assert_int_equal(
        fby_directory_register(*state, &again, &new_route, lease_ns), FBY_GONE);
    again.endpoints = (struct fby_name_list){endpoints_of_all, 1};
    assert_int_equal(
        fby_directory_register(*state, &again, &new_route, lease_ns), FBY_GONE);
    keeps_its_route(*state, lease_ns);
}

/* Without secrets a worker in use keeps its route: each client knows its id. */
static void a_route_in_use_keeps_its_registration(void **state)
{
    const struct fby_registration again =
        registration_of(endpoints_of_all, (struct fby_maybe_digest){0});
    add_worker(*state, 1, 0);
    assert_int_equal(fby_directory_register(
                         *state, &again, &new_route, 2 * heartbeat_ns - 1),
        FBY_AGAIN);
    keeps_its_route(*state, 2 * heartbeat_ns - 1);
    fby_directory_extend_leases(*state, lease_ns); /* the server was paused */
    assert_int_equal(fby_directory_register(*state, &again, &new_route,
                         lease_ns + 3 * heartbeat_ns),
        FBY_AGAIN);
}

/* With its secret a worker that reconnects gets its registration at once. */
static void only_the_secret_moves_a_registration_that_has_one(void **state)
{
    struct fby_registration own =
        registration_of(endpoints_of_all, digest_of(7));
    struct fby_registration other =
        registration_of(endpoints_of_all, digest_of(8));
    struct fby_dir_secret secret = {0};
    assert_ok(fby_directory_register(*state, &own, &worker_route, 0));
    assert_int_equal(
        fby_directory_register(*state, &other, &new_route, lease_ns), FBY_GONE);
    other.secret.known = false;
    assert_int_equal(
        fby_directory_register(*state, &other, &new_route, lease_ns), FBY_GONE);
    assert_true(fby_directory_find_secret(*state, own.instance, &secret));
    assert_int_equal(secret.secret.bytes[0], 7);
    keeps_its_route(*state, lease_ns);
    assert_ok(fby_directory_register(*state, &own, &new_route, lease_ns));
    assert_int_equal(heartbeat_of(*state, 1, lease_ns), FBY_NOT_FOUND);
}

static void count_line(void *arg, enum fby_log_level level, const char *line)
{
    (void)level;
    *(int *)arg += strncmp(line, "WORKER-UNREACHABLE ", 19) == 0;
}

static void an_unreachable_worker_is_logged_once_in_a_lease(void **state)
{
    struct fby_unreachable report  = {.session = {10}, .instance = {1}};
    int                    n_lines = 0;
    fby_log_redirect(FBY_LOG_WARN, count_line, &n_lines);
    add_worker(*state, 1, 0);
    fby_directory_report_unreachable(*state, &report, 1); /* of no session */
    assert_int_equal(n_lines, 0);
    join_ok(*state, 10, 0, 0);
    for (int64_t i = 0; i < 5; i++) {
        fby_directory_report_unreachable(*state, &report, 5 + i);
    }
    assert_int_equal(n_lines, 1);
    fby_directory_report_unreachable(*state, &report, 6 + lease_ns);
    assert_int_equal(n_lines, 2);
    report.instance.value = 3; /* no such worker */
    fby_directory_report_unreachable(*state, &report, 7 + lease_ns);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    assert_int_equal(n_lines, 2);
    assert_int_equal(fby_directory_counts(*state).unreachable, 6);
}

/* ---- Ranks of a job ------------------------------------------------------ */

static void another_job_may_have_the_same_rank_and_other_facts(void **state)
{
    join_ok(*state, 10, 0, 0);
    struct fby_join other = joining(11, 0);
    other.job             = "other";
    other.world           = 9;
    other.seed            = 1;
    assert_ok(join_as(*state, &other, 0));
    expect_due(*state, FBY_MSG_JOINED, 11);
    const struct fby_directory_counts two = {.sessions = 2, .jobs = 2};
    check_counts(*state, &two);
    fby_directory_quit(*state, (struct fby_session_id){10});
    fby_directory_quit(*state, (struct fby_session_id){10});
    const struct fby_directory_counts one = {.sessions = 1, .jobs = 1};
    check_counts(*state, &one);
    assert_ok(renew(*state, 11, 1));
    expect_due(*state, FBY_MSG_JOINED, 11);
    expect_nothing_due(*state);
}

static void refused(struct fby_directory *d, const struct fby_join *join,
    enum fby_join_refused_code code, const char *text)
{
    assert_ok(join_as(d, join, 0));
    expect_refused(d, join->session.value, code, text);
    expect_nothing_due(d); /* and no list of workers */
    fby_directory_quit(d, join->session);
}

static void each_difference_is_told_with_both_values_and_hosts(void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 10, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 10);
    struct fby_join join = joining(11, 1);
    join.world           = 3;
    refused(*state, &join, FBY_JOIN_WORLD,
        "job 'train': world size 3 on odd (rank 1) is not 2 as on even; all "
        "ranks of a job must agree");
    join      = joining(11, 1);
    join.seed = UINT64_MAX;
    refused(*state, &join, FBY_JOIN_SEED,
        "job 'train': seed 18446744073709551615 on odd (rank 1) is not 42 as "
        "on even; all ranks of a job must agree");
    join       = joining(11, 1);
    join.epoch = 4;
    refused(*state, &join, FBY_JOIN_START,
        "job 'train': start epoch 4 on odd (rank 1) is not 3 as on even; all "
        "ranks of a job must agree");
    join      = joining(11, 1);
    join.step = 3;
    refused(*state, &join, FBY_JOIN_START,
        "job 'train': start step 3 on odd (rank 1) is not 4 as on even; all "
        "ranks of a job must agree");
    join                   = joining(11, 1);
    join.content.bytes[31] = 1;
    refused(*state, &join, FBY_JOIN_CONTENT,
        "job 'train': content digest 000000000000000000000000000000000000000"
        "0000000000000000000000001 on odd (rank 1) is not 00000000000000000000"
        "00000000000000000000000000000000000000000000 as on even; all ranks of "
        "a job must agree");
    assert_int_equal(fby_directory_counts(*state).refused, 5);
}

static void a_digest_is_pinned_by_the_first_session_to_send_it(void **state)
{
    struct fby_join join = joining(10, 0);
    join.data            = digest_of(1);
    assert_ok(join_as(*state, &join, 0));
    struct fby_message joined = expect_due(*state, FBY_MSG_JOINED, 10);
    assert_true(joined.joined.data.known);
    assert_false(joined.joined.fingerprint.known);
    join             = joining(11, 1);
    join.fingerprint = digest_of(2);
    assert_ok(join_as(*state, &join, 0));
    joined = expect_due(*state, FBY_MSG_JOINED, 11);
    assert_int_equal(joined.joined.data.digest.bytes[0], 1);
    assert_int_equal(joined.joined.fingerprint.digest.bytes[0], 2);

    struct fby_renew renew = {.session = {10}, .fingerprint = digest_of(2)};
    assert_ok(renew_as(*state, &renew, 1));
    expect_due(*state, FBY_MSG_JOINED, 10);
    expect_nothing_due(*state);
    renew.fingerprint = digest_of(3);
    assert_ok(renew_as(*state, &renew, 1));
    struct fby_message message = expect_due(*state, FBY_MSG_JOIN_REFUSED, 10);
    assert_int_equal(message.join_refused.code, FBY_JOIN_FINGERPRINT);
    assert_non_null(strstr(message.join_refused.text, "fingerprint 03"));
    renew = (struct fby_renew){.session = {11}, .data = digest_of(4)};
    assert_ok(renew_as(*state, &renew, 1));
    message = expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    assert_int_equal(message.join_refused.code, FBY_JOIN_DATA);
    assert_non_null(strstr(message.join_refused.text, "data digest 04"));
}

static void digests_of_joins_must_agree_too(void **state)
{
    struct fby_join join = joining(10, 0);
    join.data            = digest_of(1);
    join.fingerprint     = digest_of(2);
    assert_ok(join_as(*state, &join, 0));
    expect_due(*state, FBY_MSG_JOINED, 10);
    join      = joining(11, 1);
    join.data = digest_of(9);
    assert_ok(join_as(*state, &join, 0));
    struct fby_message message = expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    assert_int_equal(message.join_refused.code, FBY_JOIN_DATA);
    fby_directory_quit(*state, join.session);
    join.data        = digest_of(1);
    join.fingerprint = digest_of(9);
    assert_ok(join_as(*state, &join, 0));
    message = expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    assert_int_equal(message.join_refused.code, FBY_JOIN_FINGERPRINT);
}

/* A refused session may ask again; its record expires when it does not. */
static void a_refusal_is_told_again_until_it_is_forgotten(void **state)
{
    join_ok(*state, 10, 0, 0);
    struct fby_join join = joining(11, 1);
    join.world           = 3;
    assert_ok(join_as(*state, &join, 5));
    expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    assert_ok(join_as(*state, &join, 6));
    expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    assert_ok(renew(*state, 11, 7)); /* alive, and still refused */
    expect_nothing_due(*state);
    assert_ok(renew(*state, 10, 7));
    fby_directory_tick(*state, 7 + lease_ns);
    const struct fby_directory_counts both = {
        .sessions = 2, .jobs = 1, .refused = 1};
    check_counts(*state, &both);
    fby_directory_tick(*state, 7 + lease_ns + 1);
    const struct fby_directory_counts none = {
        .refused = 1, .expired_sessions = 2};
    check_counts(*state, &none);
}

static void one_session_too_many_is_not_kept(void **state)
{
    for (uint32_t i = 0; i < MAX_SESSIONS; i++) {
        struct fby_join join = joining(10 + i, i);
        join.world           = MAX_SESSIONS + 1;
        assert_ok(join_as(*state, &join, 0));
        expect_due(*state, FBY_MSG_JOINED, 10 + i);
    }
    struct fby_join join = joining(20, MAX_SESSIONS);
    join.world           = MAX_SESSIONS + 1;
    assert_int_equal(join_as(*state, &join, 0), FBY_FULL);
    expect_nothing_due(*state);
    const struct fby_directory_counts full = {
        .sessions = MAX_SESSIONS, .jobs = 1};
    check_counts(*state, &full);
    fby_directory_quit(*state, (struct fby_session_id){12});
    assert_ok(join_as(*state, &join, 0));
    expect_due(*state, FBY_MSG_JOINED, 20);
}

/* ---- Waiting for a rank -------------------------------------------------- */

static void a_rank_that_becomes_free_is_given_at_once(void **state)
{
    join_ok(*state, 10, 0, 0);
    join_ok(*state, 13, 1, 0);
    const struct fby_join second = joining(11, 0);
    assert_ok(join_as(*state, &second, 1));
    assert_ok(join_as(*state, &second, 2)); /* asks again: still waits */
    check_waiting(*state, 1);
    fby_directory_tick(*state, 3);
    expect_nothing_due(*state);
    fby_directory_quit(*state, (struct fby_session_id){10});
    fby_directory_tick(*state, 4);
    expect_due(*state, FBY_MSG_JOINED, 11);
    expect_nothing_due(*state);
    check_waiting(*state, 0);
    const struct fby_directory_counts two = {.sessions = 2, .jobs = 1};
    check_counts(*state, &two);
    fby_directory_tick(*state, lease_ns);
    assert_ok(renew(*state, 13, lease_ns));
    fby_directory_tick(*state, 4 + lease_ns);
    assert_ok(
        renew(*state, 11, 4 + lease_ns)); /* it counts as seen when admitted */
}

/* Only a renewal of the rank's holder refuses a session that waits for it. */
static void a_session_waits_only_for_the_holder_of_its_rank(void **state)
{
    join_ok(*state, 10, 0, 0);
    join_ok(*state, 13, 1, 0);
    const struct fby_join second = joining(11, 0);
    assert_ok(join_as(*state, &second, 1));
    assert_ok(renew(*state, 13, 2));
    expect_due(*state, FBY_MSG_JOINED, 13);
    expect_nothing_due(*state);
    assert_ok(renew(*state, 10, 2));
    expect_due(*state, FBY_MSG_JOINED, 10);
    struct fby_message message = expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    assert_int_equal(message.join_refused.code, FBY_JOIN_TAKEN);
    check_waiting(*state, 0);
}

/* The new holder of the rank has a whole lease to renew. */
static void the_next_session_waits_for_the_new_holder(void **state)
{
    join_ok(*state, 10, 0, 0);
    for (uint64_t id = 11; id <= 12; id++) {
        const struct fby_join join = joining(id, 0);
        assert_ok(join_as(*state, &join, (int64_t)id));
    }
    check_waiting(*state, 2);
    fby_directory_tick(*state, lease_ns + 1);
    check_waiting(*state, 1);
    expect_due(*state, FBY_MSG_JOINED, 11);
    assert_int_equal(fby_directory_deadline(*state), 2 * lease_ns + 1);
    fby_directory_tick(*state, 2 * lease_ns);
    expect_nothing_due(*state);
    fby_directory_tick(*state, 2 * lease_ns + 1);
    expect_due(*state, FBY_MSG_JOINED, 12);
    assert_int_equal(fby_directory_counts(*state).sessions, 1);
    const struct fby_join join = joining(14, 0);
    assert_ok(join_as(*state, &join, 2 * lease_ns + 2));
    check_waiting(*state, 1);
    fby_directory_quit(*state, join.session);
    check_waiting(*state, 0);
}

/* A JOIN does not renew the rank of a session for which another one waits. */
static void each_session_waits_for_its_own_rank(void **state)
{
    struct fby_join join = joining(12, 0);
    join.job             = "other";
    join_ok(*state, 10, 0, 0);
    const struct fby_join second = joining(11, 0);
    assert_ok(join_as(*state, &second, 11));
    assert_ok(join_as(*state, &join, 15));
    expect_due(*state, FBY_MSG_JOINED, 12);
    struct fby_join fourth = join;
    fourth.session.value   = 13;
    assert_ok(join_as(*state, &fourth, 20));
    assert_ok(join_as(*state, &join, 50));
    expect_due(*state, FBY_MSG_JOINED, 12);
    fby_directory_tick(*state, lease_ns + 1);
    expect_due(*state, FBY_MSG_JOINED, 11);
    assert_int_equal(fby_directory_deadline(*state), 20 + lease_ns);
    fby_directory_tick(*state, 20 + lease_ns - 1);
    expect_nothing_due(*state);
    fby_directory_tick(*state, 20 + lease_ns);
    expect_due(*state, FBY_MSG_JOINED, 13);
    assert_int_equal(fby_directory_counts(*state).sessions, 2);
}

static void answers_go_where_a_session_spoke_from_last(void **state)
{
    const struct fby_routing_id other = {.bytes = "new", .size = 3};
    const struct fby_renew      renew = {.session = {10}};
    struct fby_message          message;
    struct fby_routing_id       to;
    join_ok(*state, 10, 0, 0);
    assert_ok(fby_directory_renew(*state, &renew, &other, 1));
    add_worker(*state, 1, 1);
    assert_true(fby_directory_take_due(*state, &message, &to));
    assert_int_equal(to.size, 3);
    assert_memory_equal(to.bytes, "new", 3);
    const struct fby_join join = joining(10, 0);
    assert_ok(join_as(*state, &join, 2));
    expect_due(*state, FBY_MSG_JOINED, 10);
}

static void a_refused_session_pins_nothing(void **state)
{
    join_ok(*state, 10, 0, 0);
    struct fby_join join = joining(11, 1);
    join.world           = 3;
    assert_ok(join_as(*state, &join, 0));
    expect_due(*state, FBY_MSG_JOIN_REFUSED, 11);
    struct fby_renew renew = {.session = {11}, .data = digest_of(1)};
    assert_ok(renew_as(*state, &renew, 1));
    renew = (struct fby_renew){.session = {10}, .data = digest_of(2)};
    assert_ok(renew_as(*state, &renew, 1));
    expect_due(*state, FBY_MSG_JOINED, 10);
    expect_nothing_due(*state);
}

/* Afterwards no session is left with which another must agree. */
static void what_an_expired_session_pinned_is_forgotten(void **state)
{
    struct fby_join join = joining(10, 0);
    join.data            = digest_of(1);
    join.fingerprint     = digest_of(2);
    assert_ok(join_as(*state, &join, 0));
    expect_due(*state, FBY_MSG_JOINED, 10);
    join             = joining(11, 0);
    join.world       = 5;
    join.seed        = 77;
    join.fingerprint = digest_of(3);
    assert_ok(join_as(*state, &join, 1));
    fby_directory_tick(*state, lease_ns);
    expect_nothing_due(*state);
    assert_int_equal(fby_directory_deadline(*state), lease_ns + 1);
    fby_directory_tick(*state, lease_ns + 1);
    struct fby_message message = expect_due(*state, FBY_MSG_JOINED, 11);
    assert_false(message.joined.data.known);
    assert_int_equal(message.joined.fingerprint.digest.bytes[0], 3);
    assert_int_equal(fby_directory_counts(*state).refused, 0);
    assert_int_equal(renew(*state, 10, lease_ns + 1), FBY_NOT_FOUND);
}

static void a_session_that_joins_from_another_route_gets_the_whole_list(
    void **state)
{
    add_worker(*state, 1, 0);
    join_ok(*state, 10, 0, 0);
    expect_due(*state, FBY_MSG_WORKERS, 10);
    const struct fby_join       join  = joining(10, 0);
    const struct fby_routing_id other = {.bytes = {99}, .size = 1};
    assert_ok(fby_directory_join(*state, &join, &other, 2));
    struct fby_message    joined;
    struct fby_routing_id to;
    assert_true(fby_directory_take_due(*state, &joined, &to));
    join_ok(*state, 10, 0, 3);
    assert_int_equal(fby_directory_counts(*state).sessions, 1);
    expect_nothing_due(*state); /* before its time */
    fby_directory_tick(*state, pace_ns);
    struct fby_message message = expect_due(*state, FBY_MSG_WORKERS, 10);
    assert_true(message.workers.is_complete);
    assert_int_equal(message.workers.n_added, 1);
    assert_int_equal(message.workers.sequence, 2);
    assert_int_equal(fby_directory_deadline(*state), lease_ns + 1);
    deregister(*state, 1);
    assert_int_equal(fby_directory_deadline(*state), 3 + lease_ns + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECTORY_TEST(a_worker_is_late_after_its_lease),
        DIRECTORY_TEST(all_late_peers_are_forgotten_in_one_turn),
        DIRECTORY_TEST(a_session_is_late_after_its_lease),
        DIRECTORY_TEST(no_lease_counts_the_time_the_server_was_paused),
        DIRECTORY_TEST(a_session_waits_for_a_rank_as_long_after_a_pause),
        DIRECTORY_TEST(a_list_names_endpoints_and_host_of_each_worker),
        DIRECTORY_TEST(a_long_list_is_told_in_parts),
        DIRECTORY_TEST(repeated_joins_draw_one_list_in_its_pace),
        DIRECTORY_TEST(a_new_worker_is_listed_for_all_in_their_pace),
        DIRECTORY_TEST(workers_that_come_and_go_leave_no_entry),
        DIRECTORY_TEST(a_worker_that_leaves_is_no_longer_listed),
        DIRECTORY_TEST(only_the_route_of_a_worker_renews_or_removes_it),
        DIRECTORY_TEST(a_registration_moves_to_a_new_route),
        DIRECTORY_TEST(other_endpoints_do_not_move_a_registration),
        DIRECTORY_TEST(a_route_in_use_keeps_its_registration),
        DIRECTORY_TEST(only_the_secret_moves_a_registration_that_has_one),
        DIRECTORY_TEST(an_unreachable_worker_is_logged_once_in_a_lease),
        DIRECTORY_TEST(another_job_may_have_the_same_rank_and_other_facts),
        DIRECTORY_TEST(each_difference_is_told_with_both_values_and_hosts),
        DIRECTORY_TEST(a_digest_is_pinned_by_the_first_session_to_send_it),
        DIRECTORY_TEST(digests_of_joins_must_agree_too),
        DIRECTORY_TEST(a_refusal_is_told_again_until_it_is_forgotten),
        DIRECTORY_TEST(one_session_too_many_is_not_kept),
        DIRECTORY_TEST(a_rank_that_becomes_free_is_given_at_once),
        DIRECTORY_TEST(a_session_waits_only_for_the_holder_of_its_rank),
        DIRECTORY_TEST(the_next_session_waits_for_the_new_holder),
        DIRECTORY_TEST(each_session_waits_for_its_own_rank),
        DIRECTORY_TEST(answers_go_where_a_session_spoke_from_last),
        DIRECTORY_TEST(a_refused_session_pins_nothing),
        DIRECTORY_TEST(what_an_expired_session_pinned_is_forgotten),
        DIRECTORY_TEST(
            a_session_that_joins_from_another_route_gets_the_whole_list),
    };
    return cmocka_run_group_tests_name(
        "server.directory_state", tests, NULL, NULL);
}
