#include "tests/test.h"

#include <string.h>

#include "trainer_client/election.h"

static struct fby_digest named(char letter)
{
    return fby_digest_of(&letter, 1);
}

static struct fby_maybe_digest pinned(char letter)
{
    return (struct fby_maybe_digest){.known = true, .digest = named(letter)};
}

/* Worker `who` has the data and fingerprint of these letters. */
static void vote(
    struct fby_election *election, const char *who, char data, char print)
{
    const struct fby_shard_info shards[2] = {
        {.name = "a.tar", .digest = named('s'), .samples = 5},
        {.name = "b.tar", .digest = named(data), .samples = 7},
    };
    const struct fby_opened opened = {
        .data        = named(data),
        .fingerprint = named(print),
        .samples     = 12,
        .shards      = shards,
        .n_shards    = 2,
    };
    fby_election_vote(election, who, &opened);
}

static void the_majority_decides_once_all_have_answered(void **state)
{
    (void)state;
    struct fby_election         election = {0};
    const struct fby_candidate *winner   = NULL;
    vote(&election, "first", 'x', 'f');
    vote(&election, "second", 'y', 'f');
    vote(&election, "third", 'y', 'f');
    assert_int_equal(
        fby_election_decide(&election, false, &winner, NULL), FBY_AGAIN);
    assert_ok(fby_election_decide(&election, true, &winner, NULL));
    assert_string_equal(winner->who, "second");
    assert_int_equal(winner->samples, 12);
    assert_string_equal(winner->shards[1].name, "b.tar");
    assert_int_equal(winner->shards[1].samples, 7);
    fby_election_fini(&election);
}

static void nobody_wins_without_an_answer(void **state)
{
    (void)state;
    struct fby_election         election = {0};
    const struct fby_candidate *winner   = NULL;
    assert_int_equal(
        fby_election_decide(&election, true, &winner, NULL), FBY_AGAIN);
}

static void a_tie_of_data_names_workers_and_the_first_shard(void **state)
{
    (void)state;
    struct fby_election         election = {0};
    const struct fby_candidate *winner   = NULL;
    struct fby_why              why      = {""};
    vote(&election, "first", 'x', 'f');
    vote(&election, "second", 'y', 'f');
    assert_int_equal(
        fby_election_decide(&election, true, &winner, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "first"));
    assert_non_null(strstr(why.text, "second"));
    assert_non_null(strstr(why.text, "b.tar"));
    fby_election_fini(&election);
}

static void a_tie_of_builds_says_so(void **state)
{
    (void)state;
    struct fby_election         election = {0};
    const struct fby_candidate *winner   = NULL;
    struct fby_why              why      = {""};
    vote(&election, "first", 'x', 'f');
    vote(&election, "second", 'x', 'g');
    assert_int_equal(
        fby_election_decide(&election, true, &winner, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "fingerprint"));
    fby_election_fini(&election);
}

static void a_pin_is_met_by_its_first_match_or_not_at_all(void **state)
{
    (void)state;
    struct fby_election           election = {0};
    const struct fby_candidate   *winner   = NULL;
    struct fby_why                why      = {""};
    const struct fby_maybe_digest data     = pinned('y');
    const struct fby_maybe_digest print    = pinned('f');
    assert_ok(fby_election_pin(&election, &data, &print, "the token", &why));
    vote(&election, "first", 'x', 'f');
    vote(&election, "second", 'x', 'f');
    assert_int_equal(
        fby_election_decide(&election, false, &winner, &why), FBY_AGAIN);
    assert_int_equal(
        fby_election_decide(&election, true, &winner, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "the token"));
    vote(&election, "third", 'y', 'f');
    assert_ok(fby_election_decide(&election, false, &winner, &why));
    assert_string_equal(winner->who, "third");
    fby_election_fini(&election);
}

static void token_and_job_must_not_disagree(void **state)
{
    (void)state;
    struct fby_election           election = {0};
    struct fby_why                why      = {""};
    const struct fby_maybe_digest data     = pinned('y');
    const struct fby_maybe_digest other    = pinned('x');
    const struct fby_maybe_digest nothing  = {.known = false};
    assert_ok(fby_election_pin(&election, &data, &nothing, "the token", &why));
    assert_ok(fby_election_pin(&election, &nothing, &nothing, "the job", &why));
    assert_int_equal(
        fby_election_pin(&election, &other, &nothing, "the job", &why),
        FBY_CONFIG);
    assert_non_null(strstr(why.text, "the token and the job disagree"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_majority_decides_once_all_have_answered),
        cmocka_unit_test(nobody_wins_without_an_answer),
        cmocka_unit_test(a_tie_of_data_names_workers_and_the_first_shard),
        cmocka_unit_test(a_tie_of_builds_says_so),
        cmocka_unit_test(a_pin_is_met_by_its_first_match_or_not_at_all),
        cmocka_unit_test(token_and_job_must_not_disagree),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.election", tests, NULL, NULL);
}
