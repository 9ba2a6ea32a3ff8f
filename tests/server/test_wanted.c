/* SPDX-License-Identifier: Apache-2.0 */
/* The wanted number of workers, from a directory. */
#include "server/wanted.h"

#include "tests/says.h"
#include "tests/server/directories.h"

#define S FBY_NS_PER_S

/* A worker of 4 cores with so many threads for each stage; 0: not told. */
static void add_worker_of(
    struct fby_directory *directory, uint64_t id, uint64_t threads)
{
    static const char *const      endpoints[] = {"tcp://a:1"};
    const struct fby_registration worker      = {.instance = {id},
             .endpoints                                    = {endpoints, 1},
             .host                                         = "a-host",
             .cores                                        = 4};
    const struct fby_counter      counters[]  = {{"fetch.threads", threads},
              {"transform.threads", threads}, {"encode.threads", threads}};
    const struct fby_heartbeat    heartbeat   = {
             .instance = {id}, .counters = counters, .n_counters = 3};
    assert_ok(fby_directory_register(directory, &worker, &worker_route, S));
    if (threads > 0) {
        assert_ok(
            fby_directory_heartbeat(directory, &heartbeat, &worker_route, S));
    }
}

/* Session 7 takes 1,000 rows a second and waits for half of the time. A row
 * costs 4 ms of CPU, and 6 ms of a fetch thread. */
static void join_and_renew(
    struct fby_directory *directory, struct fby_instance_ids unusable)
{
    const struct fby_renew renew = {.session = {7},
        .pace                                = {.span_ms = 1000,
                                           .rows         = 1000,
                                           .wait_ms      = 500,
                                           .fetch_ms     = 6000,
                                           .transform_ms = 3500,
                                           .encode_ms    = 500,
                                           .cpu_ms       = 4000},
        .unusable                            = unusable};
    join_ok(directory, 7, 0, S);
    assert_ok(renew_as(directory, &renew, 2 * S));
}

static void assert_wanted(struct fby_wanted *wanted,
    struct fby_directory *directory, uint32_t expected, uint32_t workers)
{
    fby_wanted_start(wanted, 0, 2 * S);
    fby_wanted_tick(wanted, directory, 2 * S);
    assert_true(wanted->is_known);
    assert_int_equal(wanted->wanted, expected);
    assert_int_equal(wanted->workers, workers);
}

static void a_job_wants_workers_for_its_demand(void **state)
{
    struct fby_wanted wanted;
    add_worker_of(*state, 1, 8);
    add_worker_of(*state, 2, 8);
    join_and_renew(*state, (struct fby_instance_ids){NULL, 0});
    /* 2,000 rows a second keep 8 cores and 12 fetch threads busy: 80 % of 10
     * cores, and of 15 threads. */
    assert_wanted(&wanted, *state, 3, 2);
    assert_int_equal(wanted.jobs, 1);
    assert_text_says((const char *)wanted.reasons.data, "job train: 1 rank, ");
    fby_wanted_fini(&wanted);
}

static void threads_that_are_not_told_do_not_count(void **state)
{
    struct fby_wanted wanted;
    add_worker_of(*state, 1, 2);
    join_and_renew(*state, (struct fby_instance_ids){NULL, 0});
    assert_wanted(&wanted, *state, 4, 1); /* at most 4 times */
    fby_wanted_fini(&wanted);
    add_worker_of(*state, 2, 2);
    assert_wanted(&wanted, *state, 8, 2); /* 15 threads, 2 each */
    fby_wanted_fini(&wanted);
    add_worker_of(*state, 3, 0);
    assert_wanted(&wanted, *state, 3, 3); /* 10 cores, 4 each */
    fby_wanted_fini(&wanted);
}

static void workers_that_all_jobs_set_aside_do_not_count(void **state)
{
    static const struct fby_instance_id unusable[] = {{2}, {99}};
    struct fby_wanted                   wanted;
    add_worker_of(*state, 1, 8);
    add_worker_of(*state, 2, 8);
    join_and_renew(*state, (struct fby_instance_ids){unusable, 2});
    assert_wanted(&wanted, *state, 3, 1);
    fby_wanted_fini(&wanted);
    /* The next RENEW replaces the list. */
    const struct fby_renew renew = {
        .session = {7}, .unusable = {unusable + 1, 1}};
    assert_ok(renew_as(*state, &renew, 2 * S));
    assert_wanted(&wanted, *state, 2, 2);
    fby_wanted_fini(&wanted);
}

static void what_a_trainer_says_of_itself_is_limited(void **state)
{
    const struct fby_renew renew = {.session = {7},
        .pace                                = {.span_ms = 1,
                                           .rows         = UINT64_MAX,
                                           .wait_ms      = UINT32_MAX,
                                           .fetch_ms     = UINT64_MAX,
                                           .transform_ms = UINT64_MAX,
                                           .encode_ms    = UINT64_MAX,
                                           .cpu_ms       = UINT64_MAX}};
    struct fby_wanted      wanted;
    add_worker_of(*state, 1, 0);
    join_ok(*state, 7, 0, S);
    assert_ok(renew_as(*state, &renew, 2 * S));
    assert_wanted(&wanted, *state, 4, 1);
    fby_wanted_fini(&wanted);
}

static void a_worker_that_has_not_told_its_threads_may_be_the_first(
    void **state)
{
    struct fby_wanted wanted;
    add_worker_of(*state, 1, 0);
    add_worker_of(*state, 2, 2);
    join_and_renew(*state, (struct fby_instance_ids){NULL, 0});
    assert_wanted(&wanted, *state, 3, 2); /* 10 cores, 4 each */
    fby_wanted_fini(&wanted);
}

static void decisions_have_a_period(void **state)
{
    struct fby_wanted wanted;
    fby_wanted_start(&wanted, 10 * S, 0);
    fby_wanted_tick(&wanted, *state, 9 * S);
    assert_false(wanted.is_known);
    fby_wanted_tick(&wanted, *state, 10 * S);
    assert_true(wanted.is_known);
    add_worker_of(*state, 1, 8);
    fby_wanted_tick(&wanted, *state, 12 * S - 1);
    assert_int_equal(wanted.workers, 0);
    fby_wanted_tick(&wanted, *state, 12 * S);
    assert_int_equal(wanted.workers, 1);
    fby_wanted_fini(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECTORY_TEST(a_job_wants_workers_for_its_demand),
        DIRECTORY_TEST(threads_that_are_not_told_do_not_count),
        DIRECTORY_TEST(workers_that_all_jobs_set_aside_do_not_count),
        DIRECTORY_TEST(what_a_trainer_says_of_itself_is_limited),
        DIRECTORY_TEST(a_worker_that_has_not_told_its_threads_may_be_the_first),
        DIRECTORY_TEST(decisions_have_a_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
