/* SPDX-License-Identifier: Apache-2.0 */
/* The window's verdict on every message of an answer, and what it counts. */
#include "tests/trainer_client/window_words.h"

static int slot_of(const struct driver *d, const struct fby_action *r)
{
    return fby_window_find_slot(d->w, r->id);
}

static bool has_all(const struct driver *d, const struct fby_action *r)
{
    return fby_window_has_all_chunks(d->w, r->peer, r->id);
}

/* ---- Answers and their senders ------------------------------------------- */

static void assert_verdicts(
    struct driver *d, const struct fby_action *r, enum fby_verdict expected)
{
    assert_int_equal(header(d, r, 1), expected);
    assert_int_equal(chunk(d, r, 0), expected);
    assert_int_equal(end(d, r, 1), expected);
}

static void an_id_is_known_once_it_was_asked_for(void **state)
{
    (void)state;
    struct driver     d      = started(2, 1);
    struct fby_action newest = nth_action(&d, FBY_DO_REQUEST, 1);
    wait(&d, 1 * S); /* a PING has no id */
    assert_actions(&d, "PING 0");
    struct fby_action beyond = newest;
    struct fby_action none   = newest;
    beyond.id.value += 1;
    none.id.value = 0;
    assert_verdicts(&d, &beyond, FBY_UNKNOWN);
    assert_verdicts(&d, &none, FBY_UNKNOWN);
    assert_counters(&d, "requests 2, unknown 6");
    assert_int_equal(slot_of(&d, &none), FBY_NO_SLOT);
    assert_int_equal(fby_window_audit_index(d.w, none.id), FBY_NO_SLOT);
    assert_verdicts(&d, &newest, FBY_TAKE);
    fby_window_destroy(&d.w);
}

static void an_answer_counts_only_from_the_peer_that_was_asked(void **state)
{
    (void)state;
    struct driver     d     = started(1, 2);
    struct fby_action asked = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action other = asked;
    other.peer              = 1 - asked.peer;
    assert_verdicts(&d, &other, FBY_UNKNOWN);
    fby_window_busy(d.w, d.now, other.peer, other.id, S);
    fby_window_lost(d.w, d.now, other.peer, other.id);
    fby_window_cannot(d.w, d.now, other.peer, other.id, 1);
    assert_counters(&d, "requests 1, unknown 6");
    assert_turn(&d, "");
    assert_int_equal(header(&d, &asked, 1), FBY_TAKE);
    assert_verdicts(&d, &other, FBY_UNKNOWN);
    assert_int_equal(chunk(&d, &asked, 0), FBY_TAKE);
    assert_int_equal(end(&d, &asked, 1), FBY_TAKE);
    fby_window_destroy(&d.w);
}

static void an_audit_is_answered_only_by_the_peer_that_was_asked(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    struct fby_action other  = second;
    other.peer               = 1 - second.peer;
    assert_verdicts(&d, &other, FBY_UNKNOWN);
    fby_window_busy(d.w, d.now, other.peer, other.id, S);
    fby_window_lost(d.w, d.now, other.peer, other.id);
    fby_window_cannot(d.w, d.now, other.peer, other.id, 1);
    fby_window_send_content(d.w, d.now, other.peer, other.id);
    assert_counters(&d, "requests 2, unknown 6");
    assert_verdicts(&d, &second, FBY_AUDIT);
    fby_window_destroy(&d.w);
}

static void an_answer_to_an_old_request_is_late_and_changes_nothing(
    void **state)
{
    (void)state;
    struct driver     d   = started(1, 1);
    struct fby_action old = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_lost(d.w, d.now, old.peer, old.id);
    assert_int_equal(slot_of(&d, &old), FBY_NO_SLOT);
    assert_turn(&d, "REQUEST 0 #2 step 0 slot 0");
    assert_verdicts(&d, &old, FBY_LATE);
    fby_window_lost(d.w, d.now, old.peer, old.id);
    fby_window_busy(d.w, d.now, old.peer, old.id, S);
    fby_window_cannot(d.w, d.now, old.peer, old.id, 1);
    assert_turn(&d, "");
    assert_counters(&d, "requests 2, rerequests 1, late 1, lost 1");
    fby_window_destroy(&d.w);
}

static void a_peer_that_is_not_connected_has_nothing_to_say(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    fby_window_unreachable(d.w, d.now, 0);
    assert_turn(&d, "UNREACHABLE 0; CLOSE 0");
    assert_verdicts(&d, &r, FBY_LATE);
    fby_window_refused_full(d.w, d.now, 0);
    fby_window_breach(d.w, d.now, 0);
    fby_window_leave(d.w, d.now, 0);
    fby_window_opened(d.w, d.now, 0);
    fby_window_hello_first(d.w, d.now, 0);
    fby_window_unreachable(d.w, d.now, 0);
    fby_window_send_content(d.w, d.now, 0, r.id);
    assert_turn(&d, "");
    assert_counters(&d, "requests 1, lost 1, unreachable 1");
    fby_window_destroy(&d.w);
}

static void calls_about_a_number_that_is_no_peer_are_ignored(void **state)
{
    (void)state;
    struct driver d         = started(1, 2);
    const int     numbers[] = {-1, 2, PEERS, 1000000};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct fby_action r = {.peer = numbers[i], .id = {1}};
        assert_verdicts(&d, &r, FBY_LATE);
        fby_window_heard(d.w, d.now, r.peer);
        fby_window_welcome(d.w, d.now, r.peer, &(struct fby_window_welcome){0});
        fby_window_pong(d.w, d.now, r.peer, &(struct fby_window_pong){0});
        fby_window_busy(d.w, d.now, r.peer, r.id, S);
        fby_window_lost(d.w, d.now, r.peer, r.id);
        fby_window_cannot(d.w, d.now, r.peer, r.id, 1);
        fby_window_send_content(d.w, d.now, r.peer, r.id);
        fby_window_opened(d.w, d.now, r.peer);
        fby_window_hello_first(d.w, d.now, r.peer);
        fby_window_refused_full(d.w, d.now, r.peer);
        fby_window_leave(d.w, d.now, r.peer);
        fby_window_breach(d.w, d.now, r.peer);
        fby_window_set_aside(d.w, d.now, r.peer, 1);
        fby_window_peer_unlist(d.w, d.now, r.peer);
        fby_window_unreachable(d.w, d.now, r.peer);
    }
    assert_turn(&d, "");
    assert_counters(&d, "requests 1");
    fby_window_destroy(&d.w);
}

/* ---- HEADER -------------------------------------------------------------- */

static void a_header_that_comes_again_must_say_the_same(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_action       r = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(header(&d, &r, 1), FBY_DUPLICATE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_int_equal(header(&d, &r, 1), FBY_DUPLICATE);
    decoded(&d, &r, true);
    assert_int_equal(header(&d, &r, 1), FBY_DUPLICATE);
    assert_ok(take(&d, &batch));
    assert_int_equal(header(&d, &r, 1), FBY_DUPLICATE);
    assert_int_equal(header(&d, &r, 2), FBY_BREACH);
    assert_turn(&d, "CLOSE 0");
    assert_counters(&d, "delivered 1, requests 1, breaches 1");
    fby_window_destroy(&d.w);
}

static void a_batch_may_have_as_many_chunks_as_were_planned(void **state)
{
    (void)state;
    struct driver     d = started(2, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 8), FBY_TAKE);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(chunk(&d, &r, i), FBY_TAKE);
    }
    assert_true(has_all(&d, &r));
    r = nth_action(&d, FBY_DO_REQUEST, 1);
    assert_int_equal(header(&d, &r, 9), FBY_BREACH);
    fby_window_destroy(&d.w);
}

/* ---- Chunks -------------------------------------------------------------- */

static void a_chunk_beyond_those_of_its_header_is_a_breach(void **state)
{
    (void)state;
    const uint32_t beyond[] = {2, 3, 8, UINT32_MAX};
    for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
        struct driver     d = started(1, 1);
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(header(&d, &r, 2), FBY_TAKE);
        assert_int_equal(chunk(&d, &r, 1), FBY_TAKE);
        assert_int_equal(chunk(&d, &r, beyond[i]), FBY_BREACH);
        assert_turn(&d, "CLOSE 0");
        assert_counters(&d, "requests 1, lost 1, breaches 1");
        fby_window_destroy(&d.w);
    }
}

static void chunk_first(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(chunk(d, r, 0), FBY_BREACH);
}

static void end_first(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(end(d, r, 0), FBY_BREACH);
}

/* A slot remembers the chunks of the answer that it held before. */
static void no_chunk_and_no_end_may_come_before_the_header(void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        chunk_first, end_first};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d = started(1, 1);
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        answer(&d, &r);
        take_and_release(&d, 0);
        assert_turn(&d, "REQUEST 0 #2 step 1 slot 0");
        struct fby_action next = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_false(has_all(&d, &next));
        ways[i](&d, &next);
        assert_turn(&d, "CLOSE 0");
        assert_counters(&d, "delivered 1, requests 2, lost 1, breaches 1");
        fby_window_destroy(&d.w);
    }
}

static void a_chunk_that_comes_twice_is_taken_once(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 1), FBY_DUPLICATE);
    assert_false(has_all(&d, &r));
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_true(has_all(&d, &r));
    assert_false(fby_window_has_all_chunks(d.w, 1, r.id));
    assert_counters(&d, "requests 1, duplicates 1");
    fby_window_destroy(&d.w);
}

/* More chunks than fit into one word of the sets that remember them. */
static struct driver of_many_chunks(uint32_t chunks)
{
    struct fby_window_config c = config_of(2);
    c.max_chunks               = chunks;
    c.audit                    = 1;
    return started_with(&c, 2);
}

static void take_all(struct driver *d, const struct fby_action *r, uint32_t n,
    enum fby_verdict expected)
{
    assert_int_equal(header(d, r, n), expected);
    for (uint32_t i = 0; i < n; i++) {
        assert_false(has_all(d, r));
        assert_int_equal(chunk(d, r, i), expected);
    }
    assert_true(has_all(d, r));
}

static void the_chunks_of_one_answer_are_not_those_of_another(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 63, 64, 65, 128, 129};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct driver d = of_many_chunks(sizes[i]);
        for (int nth = 0; nth < 4; nth++) {
            struct fby_action r     = nth_action(&d, FBY_DO_REQUEST, nth);
            bool              audit = r.slot == FBY_NO_SLOT;
            take_all(&d, &r, sizes[i], audit ? FBY_AUDIT : FBY_TAKE);
        }
        fby_window_destroy(&d.w);
    }
}

static void the_next_answer_in_a_slot_begins_without_chunks(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.max_chunks               = 65;
    struct driver d            = started_with(&c, 1);
    for (uint64_t step = 0; step < 2; step++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
        take_all(&d, &r, 65, FBY_TAKE);
        for (int i = 0; i < 65; i++) {
            decoded(&d, &r, true);
        }
        assert_int_equal(end(&d, &r, 1), FBY_TAKE);
        take_and_release(&d, step);
        turn(&d);
    }
    fby_window_destroy(&d.w);
}

/* ---- END ----------------------------------------------------------------- */

static enum fby_verdict end_that_does_not_match(
    struct driver *d, const struct fby_action *r)
{
    return fby_window_end(d->w, d->now,
        &(struct fby_window_end){
            .peer = r->peer, .id = r->id, .matches = false});
}

static void an_end_that_does_not_match_is_a_corrupt_answer(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    decoded(&d, &r, true);
    assert_int_equal(end_that_does_not_match(&d, &r), FBY_TAKE);
    assert_turn(&d, "CANCEL 0 #1; REQUEST 0 #2 step 0 slot 0");
    assert_counters(&d, "requests 2, rerequests 1, corrupt 1");
    fby_window_destroy(&d.w);
}

static void an_end_before_the_last_chunk_is_a_corrupt_answer(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    decoded(&d, &r, true);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_turn(&d, "CANCEL 0 #1; REQUEST 0 #2 step 0 slot 0");
    assert_counters(&d, "requests 2, rerequests 1, corrupt 1");
    fby_window_destroy(&d.w);
}

static void an_end_that_comes_again_is_a_duplicate(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_action       r = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_DUPLICATE);
    assert_int_equal(fby_window_n_ready(d.w), 0);
    decoded(&d, &r, true);
    assert_int_equal(fby_window_n_ready(d.w), 1);
    assert_int_equal(end(&d, &r, 1), FBY_DUPLICATE);
    assert_ok(take(&d, &batch));
    assert_int_equal(end_that_does_not_match(&d, &r), FBY_DUPLICATE);
    assert_turn(&d, "");
    assert_counters(&d, "delivered 1, requests 1");
    fby_window_destroy(&d.w);
}

static void a_batch_refused_after_its_end_is_delivered(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    answer(&d, &r);
    fby_window_busy(d.w, d.now, 0, r.id, S);
    fby_window_lost(d.w, d.now, 0, r.id);
    fby_window_cannot(d.w, d.now, 0, r.id, 1);
    assert_turn(&d, "");
    take_and_release(&d, 0);
    assert_turn(&d, "REQUEST 0 #2 step 1 slot 0");
    assert_counters(&d, "delivered 1, requests 2");
    fby_window_destroy(&d.w);
}

/* ---- Decoding ------------------------------------------------------------ */

static void a_batch_is_ready_when_all_its_chunks_are_decoded(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 3), FBY_TAKE);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(chunk(&d, &r, i), FBY_TAKE);
    }
    decoded(&d, &r, true);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_int_equal(fby_window_n_ready(d.w), 0);
    decoded(&d, &r, true);
    assert_int_equal(fby_window_n_ready(d.w), 0);
    decoded(&d, &r, true);
    assert_int_equal(fby_window_n_ready(d.w), 1);
    fby_window_destroy(&d.w);
}

static void a_chunk_is_found_bad_after_the_end(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    decoded(&d, &r, false);
    assert_turn(&d, "REQUEST 0 #2 step 0 slot 0"); /* nothing to CANCEL */
    assert_counters(&d, "requests 2, rerequests 1, corrupt 1");
    fby_window_destroy(&d.w);
}

static void a_bad_chunk_of_a_lost_answer_says_nothing(void **state)
{
    (void)state;
    struct driver     d = started(1, 1);
    struct fby_action r = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(header(&d, &r, 2), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 1), FBY_TAKE);
    fby_window_lost(d.w, d.now, 0, r.id);
    decoded(&d, &r, false);
    assert_turn(&d, ""); /* the other chunk is still being decoded */
    decoded(&d, &r, true);
    assert_turn(&d, "REQUEST 0 #2 step 0 slot 0");
    assert_counters(&d, "requests 2, rerequests 1, lost 1");
    fby_window_destroy(&d.w);
}

static void a_report_about_no_chunk_is_ignored(void **state)
{
    (void)state;
    struct driver     d     = started(1, 1);
    struct fby_action r     = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action other = r;
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    decoded(&d, &r, false); /* before there is one */
    other.slot = -1;
    decoded(&d, &other, false);
    other.slot = 2;
    decoded(&d, &other, false);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    decoded(&d, &r, true);
    decoded(&d, &r, false); /* once more */
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_int_equal(fby_window_n_ready(d.w), 1);
    assert_counters(&d, "requests 1");
    fby_window_destroy(&d.w);
}

static void a_report_under_another_id_completes_nothing(void **state)
{
    (void)state;
    struct driver     d     = started(1, 1);
    struct fby_action r     = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action other = r;
    other.id.value += 1;
    assert_int_equal(header(&d, &r, 1), FBY_TAKE);
    assert_int_equal(chunk(&d, &r, 0), FBY_TAKE);
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    decoded(&d, &other, true);
    assert_int_equal(fby_window_n_ready(d.w), 0);
    fby_window_destroy(&d.w);
}

/* ---- The slot of an id --------------------------------------------------- */

static void an_id_has_its_slot_until_the_batch_is_given_back(void **state)
{
    (void)state;
    struct driver           d = started(1, 1);
    struct fby_action       r = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    assert_int_equal(slot_of(&d, &r), r.slot);
    assert_int_equal(header(&d, &r, 0), FBY_TAKE);
    assert_int_equal(slot_of(&d, &r), r.slot);
    assert_true(has_all(&d, &r));
    assert_int_equal(end(&d, &r, 1), FBY_TAKE);
    assert_int_equal(slot_of(&d, &r), r.slot);
    assert_ok(take(&d, &batch));
    assert_int_equal(slot_of(&d, &r), r.slot);
    fby_window_release(d.w, d.now, batch.slot);
    assert_int_equal(slot_of(&d, &r), FBY_NO_SLOT);
    assert_false(has_all(&d, &r));
    fby_window_destroy(&d.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_known_once_it_was_asked_for),
        cmocka_unit_test(an_answer_counts_only_from_the_peer_that_was_asked),
        cmocka_unit_test(an_audit_is_answered_only_by_the_peer_that_was_asked),
        cmocka_unit_test(
            an_answer_to_an_old_request_is_late_and_changes_nothing),
        cmocka_unit_test(a_peer_that_is_not_connected_has_nothing_to_say),
        cmocka_unit_test(calls_about_a_number_that_is_no_peer_are_ignored),
        cmocka_unit_test(a_header_that_comes_again_must_say_the_same),
        cmocka_unit_test(a_batch_may_have_as_many_chunks_as_were_planned),
        cmocka_unit_test(a_chunk_beyond_those_of_its_header_is_a_breach),
        cmocka_unit_test(no_chunk_and_no_end_may_come_before_the_header),
        cmocka_unit_test(a_chunk_that_comes_twice_is_taken_once),
        cmocka_unit_test(the_chunks_of_one_answer_are_not_those_of_another),
        cmocka_unit_test(the_next_answer_in_a_slot_begins_without_chunks),
        cmocka_unit_test(an_end_that_does_not_match_is_a_corrupt_answer),
        cmocka_unit_test(an_end_before_the_last_chunk_is_a_corrupt_answer),
        cmocka_unit_test(an_end_that_comes_again_is_a_duplicate),
        cmocka_unit_test(a_batch_refused_after_its_end_is_delivered),
        cmocka_unit_test(a_batch_is_ready_when_all_its_chunks_are_decoded),
        cmocka_unit_test(a_chunk_is_found_bad_after_the_end),
        cmocka_unit_test(a_bad_chunk_of_a_lost_answer_says_nothing),
        cmocka_unit_test(a_report_about_no_chunk_is_ignored),
        cmocka_unit_test(a_report_under_another_id_completes_nothing),
        cmocka_unit_test(an_id_has_its_slot_until_the_batch_is_given_back),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_verdicts", tests, NULL, NULL);
}
