/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "trainer_client/receive/dataset_agreement.h"

static struct fby_digest named(char letter)
{
    return fby_digest_of(&letter, 1);
}

static struct fby_maybe_digest pinned(char letter)
{
    return (struct fby_maybe_digest){.known = true, .digest = named(letter)};
}

/* Worker `who` has the data and fingerprint of these letters. */
static void vote(struct fby_dataset_agreement *agreement, const char *worker,
    char data, char print)
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
    fby_dataset_agreement_vote(agreement, worker, &opened);
}

static void the_majority_decides_once_all_have_answered(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    const struct fby_candidate  *winner    = NULL;
    vote(&agreement, "first", 'x', 'f');
    vote(&agreement, "second", 'y', 'f');
    vote(&agreement, "third", 'y', 'f');
    assert_int_equal(
        fby_dataset_agreement_decide(&agreement, false, &winner, NULL),
        FBY_AGAIN);
    assert_ok(fby_dataset_agreement_decide(&agreement, true, &winner, NULL));
    assert_string_equal(winner->worker, "second");
    assert_int_equal(winner->samples, 12);
    assert_string_equal(winner->shards[1].name, "b.tar");
    assert_int_equal(winner->shards[1].samples, 7);
    fby_dataset_agreement_fini(&agreement);
}

/* The digest of the data covers the names, so a correct worker sends those of
 * the first one, or none where they do not fit. */
static void the_names_of_classes_are_those_of_the_first_worker(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    const struct fby_candidate  *winner    = NULL;
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const names[] = {"ant\0bee", "cow\0dog", ""};
        const struct fby_opened  opened  = {
              .data        = named('x'),
              .fingerprint = named('f'),
              .classes     = {(const uint8_t *)names[i], i < 2 ? 8 : 0},
        };
        fby_dataset_agreement_vote(&agreement, "worker", &opened);
    }
    assert_ok(fby_dataset_agreement_decide(&agreement, true, &winner, NULL));
    assert_int_equal(winner->votes, 3);
    assert_int_equal(winner->classes_size, 8);
    assert_memory_equal(winner->classes, "ant\0bee", 8);
    fby_dataset_agreement_fini(&agreement);
}

static void without_an_answer_there_is_no_winner(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    const struct fby_candidate  *winner    = NULL;
    assert_int_equal(
        fby_dataset_agreement_decide(&agreement, true, &winner, NULL),
        FBY_AGAIN);
}

static void a_pin_is_met_by_its_first_match_or_not_at_all(void **state)
{
    (void)state;
    struct fby_dataset_agreement  agreement = {0};
    const struct fby_candidate   *winner    = NULL;
    struct fby_error_detail       why       = {""};
    const struct fby_maybe_digest data      = pinned('y');
    const struct fby_maybe_digest print     = pinned('f');
    assert_ok(fby_dataset_agreement_pin(
        &agreement, &data, &print, "the token", &why));
    vote(&agreement, "first", 'x', 'f');
    vote(&agreement, "second", 'x', 'f');
    assert_int_equal(
        fby_dataset_agreement_decide(&agreement, false, &winner, &why),
        FBY_AGAIN);
    assert_int_equal(
        fby_dataset_agreement_decide(&agreement, true, &winner, &why),
        FBY_CONFIG);
    assert_non_null(strstr(why.text, "the token"));
    vote(&agreement, "third", 'y', 'f');
    assert_ok(fby_dataset_agreement_decide(&agreement, false, &winner, &why));
    assert_string_equal(winner->worker, "third");
    fby_dataset_agreement_fini(&agreement);
}

static void answers_that_cannot_win_do_not_displace_the_right_one(void **state)
{
    (void)state;
    struct fby_dataset_agreement  agreement = {0};
    const struct fby_candidate   *winner    = NULL;
    struct fby_error_detail       why       = {""};
    const struct fby_maybe_digest data      = pinned('Y');
    const struct fby_maybe_digest print     = pinned('f');
    assert_ok(fby_dataset_agreement_pin(
        &agreement, &data, &print, "the token", &why));
    assert_null(fby_dataset_agreement_mismatch(&agreement));
    for (int i = 0; i <= FBY_MAX_CANDIDATES; i++) {
        vote(&agreement, i == 0 ? "first" : "later", (char)('a' + i), 'f');
    }
    assert_string_equal(
        fby_dataset_agreement_mismatch(&agreement)->worker, "first");
    vote(&agreement, "right", 'Y', 'f');
    assert_ok(fby_dataset_agreement_decide(&agreement, false, &winner, &why));
    assert_string_equal(winner->worker, "right");
    fby_dataset_agreement_fini(&agreement);
}

static void token_and_job_must_not_disagree(void **state)
{
    (void)state;
    struct fby_dataset_agreement  agreement = {0};
    struct fby_error_detail       why       = {""};
    const struct fby_maybe_digest data      = pinned('y');
    const struct fby_maybe_digest other     = pinned('x');
    const struct fby_maybe_digest nothing   = {.known = false};
    assert_ok(fby_dataset_agreement_pin(
        &agreement, &data, &nothing, "the token", &why));
    assert_ok(fby_dataset_agreement_pin(
        &agreement, &nothing, &nothing, "the job", &why));
    assert_int_equal(fby_dataset_agreement_pin(
                         &agreement, &other, &nothing, "the job", &why),
        FBY_CONFIG);
    assert_non_null(strstr(why.text, "the token and the job disagree"));
}

/* ---- Messages ------------------------------------------------------------ */

/* The first bytes of named(). */
static const char *hex(char letter, char text[17])
{
    struct fby_digest digest = named(letter);
    return fby_hex(digest.bytes, 8, text);
}

static void assert_words(
    struct fby_dataset_agreement *agreement, const char *want)
{
    const struct fby_candidate *winner = NULL;
    struct fby_error_detail     why    = {""};
    assert_int_equal(
        fby_dataset_agreement_decide(agreement, true, &winner, &why),
        FBY_CONFIG);
    assert_string_equal(why.text, want);
    assert_null(winner);
    fby_dataset_agreement_fini(agreement);
    assert_int_equal(agreement->n_candidates, 0);
}

static void a_tie_is_reported_with_both_values_and_their_workers(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    char                         want[500];
    char                         a[17];
    char                         b[17];
    vote(&agreement, "first", 'x', 'f');
    vote(&agreement, "second", 'y', 'f');
    snprintf(want, sizeof(want),
        "workers differ in data: %s at first, %s at second; the first shard "
        "that differs: b.tar",
        hex('x', a), hex('y', b));
    assert_words(&agreement, want);
    vote(&agreement, "first", 'x', 'f');
    vote(&agreement, "second", 'x', 'g');
    snprintf(want, sizeof(want),
        "workers differ in arithmetic: fingerprint %s at first, %s at second; "
        "run one build on all",
        hex('f', a), hex('g', b));
    assert_words(&agreement, want);
}

/* One shard of a name and a digest. */
static void vote_shards(struct fby_dataset_agreement *agreement, char data,
    const char *name, size_t n)
{
    const struct fby_shard_info shards[2] = {
        {.name = name, .digest = named('s')},
        {.name = "z.tar", .digest = named('s')},
    };
    const struct fby_opened opened = {
        .data = named(data), .shards = shards, .n_shards = n};
    char worker[2] = {data, '\0'};
    fby_dataset_agreement_vote(agreement, worker, &opened);
}

static void shards_with_other_names_or_missing_are_reported(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    char                         want[500];
    char                         a[17];
    char                         b[17];
    vote_shards(&agreement, 'x', "a.tar", 2);
    vote_shards(&agreement, 'y', "b.tar", 2);
    snprintf(want, sizeof(want),
        "workers differ in data: %s at x, %s at y; the first shard that "
        "differs: a.tar and b.tar",
        hex('x', a), hex('y', b));
    assert_words(&agreement, want);
    vote_shards(&agreement, 'x', "a.tar", 2);
    vote_shards(&agreement, 'y', "a.tar", 1);
    snprintf(want, sizeof(want),
        "workers differ in data: %s at x, %s at y; 2 and 1 shards", hex('x', a),
        hex('y', b));
    assert_words(&agreement, want);
}

static void class_folders_that_differ_are_reported(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    char                         want[500];
    char                         a[17];
    char                         b[17];
    for (int i = 0; i < 2; i++) {
        const struct fby_opened opened = {.data = named(i == 0 ? 'x' : 'y'),
            .classes = {(const uint8_t *)(i == 0 ? "ant" : "bee"), 4}};
        fby_dataset_agreement_vote(&agreement, i == 0 ? "x" : "y", &opened);
    }
    snprintf(want, sizeof(want),
        "workers differ in data: %s at x, %s at y; the class folders that "
        "number the classes differ: give all workers the same ones (and run "
        "one version)",
        hex('x', a), hex('y', b));
    assert_words(&agreement, want);
}

static void a_pin_that_no_worker_has_is_reported_with_both_values(void **state)
{
    (void)state;
    static const char *const words[] = {"data digest", "fingerprint"};
    for (int i = 0; i < 2; i++) {
        struct fby_dataset_agreement  agreement = {0};
        const struct fby_maybe_digest data      = pinned(i == 0 ? 'y' : 'x');
        const struct fby_maybe_digest print     = pinned(i == 0 ? 'f' : 'g');
        char                          want[500];
        char                          a[17];
        char                          b[17];
        assert_ok(fby_dataset_agreement_pin(
            &agreement, &data, &print, "the token", NULL));
        vote(&agreement, "first", 'x', 'f');
        snprintf(want, sizeof(want),
            "%s %s is pinned by the token, but first has %s%s", words[i],
            hex(i == 0 ? 'y' : 'g', a), hex(i == 0 ? 'x' : 'f', b),
            i == 0 ? ""
                   : ": start workers of the build that began the run, or "
                     "begin a new run");
        assert_words(&agreement, want);
    }
}

static void two_pins_that_differ_are_reported(void **state)
{
    (void)state;
    struct fby_dataset_agreement  agreement = {0};
    struct fby_error_detail       why       = {""};
    const struct fby_maybe_digest nothing   = {.known = false};
    const struct fby_maybe_digest f         = pinned('f');
    const struct fby_maybe_digest g         = pinned('g');
    char                          want[300];
    char                          a[17];
    char                          b[17];
    assert_ok(fby_dataset_agreement_pin(
        &agreement, &nothing, &nothing, "no pin", &why));
    assert_null(agreement.pinned_by);
    assert_ok(
        fby_dataset_agreement_pin(&agreement, &nothing, &f, "the token", &why));
    assert_ok(
        fby_dataset_agreement_pin(&agreement, &nothing, &f, "the job", &why));
    assert_string_equal(agreement.pinned_by, "the token");
    assert_int_equal(
        fby_dataset_agreement_pin(&agreement, &nothing, &g, "the job", &why),
        FBY_CONFIG);
    snprintf(want, sizeof(want),
        "the token and the job disagree: fingerprint %s, but it must be %s",
        hex('g', a), hex('f', b));
    assert_string_equal(why.text, want);
    struct fby_digest kept = named('f');
    assert_true(fby_digest_equal(&agreement.fingerprint.digest, &kept));
    assert_false(agreement.data.known);
}

/* ---- Votes --------------------------------------------------------------- */

/* Workers 'a', 'b', ... say these; the winner, or NULL where it is a tie. */
static const struct fby_candidate *winner_of(
    struct fby_dataset_agreement *agreement, const char *votes)
{
    const struct fby_candidate *winner = NULL;
    struct fby_error_detail     why;
    *agreement = (struct fby_dataset_agreement){0};
    for (; *votes != '\0'; votes++) {
        vote(agreement, "who", *votes, 'f');
    }
    fby_err err = fby_dataset_agreement_decide(agreement, true, &winner, &why);
    assert_int_equal(err, winner != NULL ? FBY_OK : FBY_CONFIG);
    return winner;
}

static void most_votes_win_in_any_order(void **state)
{
    (void)state;
    static const struct {
        const char *votes;
        char        winner; /* '-': a tie */
        uint32_t    n;
    } all[] = {
        {"x", 'x', 1},
        {"xy", '-', 0},
        {"xyx", 'x', 2},
        {"yxx", 'x', 2},
        {"xxyyz", '-', 0},
        {"zxxyy", '-', 0},
        {"xyyzzz", 'z', 3},
        {"zzzyyx", 'z', 3},
        {"yyzzzx", 'z', 3},
        {"xyzxyzz", 'z', 3},
        {"zyxzyxz", 'z', 3},
        {"xxxyyyzz", '-', 0},
        {"xxyyyzzz", '-', 0},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct fby_dataset_agreement agreement;
        const struct fby_candidate  *winner =
            winner_of(&agreement, all[i].votes);
        assert_int_equal(winner == NULL, all[i].winner == '-');
        if (winner != NULL) {
            struct fby_digest want = named(all[i].winner);
            assert_true(fby_digest_equal(&winner->data, &want));
            assert_int_equal(winner->votes, all[i].n);
        }
        fby_dataset_agreement_fini(&agreement);
    }
}

/* A fingerprint apart makes another candidate. */
static void data_and_build_are_elected_together(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    const struct fby_candidate  *winner    = NULL;
    struct fby_digest            g         = named('g');
    vote(&agreement, "a", 'x', 'f');
    vote(&agreement, "b", 'x', 'g');
    vote(&agreement, "c", 'y', 'g');
    vote(&agreement, "d", 'x', 'g');
    assert_int_equal(agreement.n_candidates, 3);
    assert_ok(fby_dataset_agreement_decide(&agreement, true, &winner, NULL));
    assert_true(fby_digest_equal(&winner->fingerprint, &g));
    assert_string_equal(winner->worker, "b");
    assert_int_equal(winner->votes, 2);
    fby_dataset_agreement_fini(&agreement);
}

/* With one of two pinned a majority is needed of those that fit it. */
static void half_a_pin_leaves_the_rest_to_a_majority(void **state)
{
    (void)state;
    struct fby_dataset_agreement  agreement = {0};
    const struct fby_candidate   *winner    = NULL;
    const struct fby_maybe_digest data      = pinned('y');
    const struct fby_maybe_digest nothing   = {.known = false};
    struct fby_digest             f         = named('f');
    assert_ok(fby_dataset_agreement_pin(
        &agreement, &data, &nothing, "the job", NULL));
    vote(&agreement, "a", 'x', 'g');
    vote(&agreement, "b", 'x', 'g');
    vote(&agreement, "c", 'y', 'f');
    assert_int_equal(
        fby_dataset_agreement_decide(&agreement, false, &winner, NULL),
        FBY_AGAIN);
    assert_ok(fby_dataset_agreement_decide(&agreement, true, &winner, NULL));
    assert_string_equal(winner->worker, "c");
    assert_true(fby_digest_equal(&winner->fingerprint, &f));
    fby_dataset_agreement_fini(&agreement);
}

static void opinions_beyond_the_table_are_not_counted(void **state)
{
    (void)state;
    struct fby_dataset_agreement agreement = {0};
    for (int i = 0; i < FBY_MAX_CANDIDATES + 2; i++) {
        vote(&agreement, "who", (char)('A' + i), 'f');
        assert_int_equal(agreement.n_candidates,
            i < FBY_MAX_CANDIDATES ? i + 1 : FBY_MAX_CANDIDATES);
    }
    vote(&agreement, "who", 'A' + FBY_MAX_CANDIDATES - 1, 'f');
    assert_int_equal(agreement.candidates[FBY_MAX_CANDIDATES - 1].votes, 2);
    fby_dataset_agreement_fini(&agreement);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_majority_decides_once_all_have_answered),
        cmocka_unit_test(the_names_of_classes_are_those_of_the_first_worker),
        cmocka_unit_test(without_an_answer_there_is_no_winner),
        cmocka_unit_test(a_pin_is_met_by_its_first_match_or_not_at_all),
        cmocka_unit_test(answers_that_cannot_win_do_not_displace_the_right_one),
        cmocka_unit_test(token_and_job_must_not_disagree),
        cmocka_unit_test(a_tie_is_reported_with_both_values_and_their_workers),
        cmocka_unit_test(shards_with_other_names_or_missing_are_reported),
        cmocka_unit_test(class_folders_that_differ_are_reported),
        cmocka_unit_test(a_pin_that_no_worker_has_is_reported_with_both_values),
        cmocka_unit_test(two_pins_that_differ_are_reported),
        cmocka_unit_test(most_votes_win_in_any_order),
        cmocka_unit_test(data_and_build_are_elected_together),
        cmocka_unit_test(half_a_pin_leaves_the_rest_to_a_majority),
        cmocka_unit_test(opinions_beyond_the_table_are_not_counted),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.election", tests, NULL, NULL);
}
