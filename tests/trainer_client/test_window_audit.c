/* SPDX-License-Identifier: Apache-2.0 */
/* Second answers, requested only to be compared. */
#include "tests/trainer_client/window_words.h"

static void every_nth_step_is_asked_of_two_workers(void **state)
{
    (void)state;
    struct driver d = audited(5, 2, 3);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 7);
    for (int i = 0; i < 7; i++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, i);
        if (r.slot != FBY_NO_SLOT) {
            continue;
        }
        struct fby_action main = nth_action(&d, FBY_DO_REQUEST, i - 1);
        assert_int_equal(r.step % 3, 0);
        assert_int_equal(r.step, main.step);
        assert_int_not_equal(r.peer, main.peer);
        assert_true(r.id.value > main.id.value);
    }
    assert_int_equal(fby_window_used_bytes(d.w), 5 * BATCH);
    fby_window_destroy(&d.w);
}

static void equal_answers_pass_and_the_second_is_dropped(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    take_and_release(&d, 0); /* which did not wait for the second */
    answer_audit(&d, &second, 1);
    assert_null(fby_window_failure(d.w));
    assert_int_equal(counters(&d).audits, 1);
    assert_int_equal(counters(&d).audits_skipped, 0);
    assert_int_equal(counters(&d).late + counters(&d).late_hedge, 0);
    fby_window_destroy(&d.w);
}

static void a_second_answer_counts_for_credit(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    assert_int_equal(header(&d, &second, 1), FBY_AUDIT);
    assert_int_equal(chunk(&d, &second, 0), FBY_AUDIT);
    wait(&d, 50 * MS);
    assert_int_equal(nth_action(&d, FBY_DO_CREDIT, 0).peer, second.peer);
    assert_int_equal(nth_action(&d, FBY_DO_CREDIT, 0).number, 10);
    fby_window_destroy(&d.w);
}

static void assert_differ(
    const struct driver *d, const struct fby_action *main, int peer, int other)
{
    const struct fby_window_failure *f = fby_window_failure(d->w);
    assert_non_null(f);
    assert_int_equal(f->cause, FBY_CAUSE_DIFFERENT);
    assert_int_equal(f->peer, peer);
    assert_int_equal(f->other, other);
    assert_int_equal(f->step, main->step);
    assert_int_equal(counters(d).audits, 1);
}

static void an_audit_that_differs_names_both_workers(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    answer_audit(&d, &second, 2);
    assert_differ(&d, &main, main.peer, second.peer);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_FAIL, FBY_NO_PEER), 1);
    fby_window_destroy(&d.w);
}

static void a_second_answer_that_came_first_is_compared_too(void **state)
{
    (void)state;
    struct driver           d      = audited(1, 2, 1);
    struct fby_action       main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action       second = nth_action(&d, FBY_DO_REQUEST, 1);
    struct fby_window_batch batch;
    answer_audit(&d, &second, 2);
    assert_null(fby_window_failure(d.w));
    answer(&d, &main);
    assert_differ(&d, &main, main.peer, second.peer);
    assert_int_equal(take(&d, &batch), FBY_IO); /* not delivered */
    fby_window_destroy(&d.w);
}

/* ---- Damaged second answers ---------------------------------------------- */

static void end_that_does_not_match(
    struct driver *d, const struct fby_action *r)
{
    assert_false(fby_window_has_all_chunks(d->w, r->peer, r->id));
    assert_int_equal(header(d, r, 1), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 0), FBY_AUDIT);
    assert_true(fby_window_has_all_chunks(d->w, r->peer, r->id));
    assert_false(fby_window_has_all_chunks(d->w, 1 - r->peer, r->id));
    assert_int_equal(
        fby_window_end(d->w, d->now,
            &(struct fby_window_end){
                .peer = r->peer, .id = r->id, .content_hash = {{2}}}),
        FBY_AUDIT);
}

static void end_before_all_chunks(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 1), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 1), FBY_DUPLICATE);
    assert_false(fby_window_has_all_chunks(d->w, r->peer, r->id));
    assert_int_equal(end(d, r, 2), FBY_AUDIT);
}

static void chunk_that_is_damaged(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 0), FBY_AUDIT);
    assert_int_equal(fby_window_audit_index(d->w, r->id), 0);
    fby_window_audit_damaged(d->w, d->now, r->id);
    assert_int_equal(fby_window_audit_index(d->w, r->id), FBY_NO_SLOT);
    assert_int_equal(chunk(d, r, 1), FBY_LATE);
    assert_int_equal(end(d, r, 2), FBY_LATE);
}

static void a_damaged_second_answer_is_not_compared(void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        end_that_does_not_match, end_before_all_chunks, chunk_that_is_damaged};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d      = audited(1, 2, 1);
        struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
        struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
        ways[i](&d, &second);
        turn(&d);
        assert_int_equal(
            nth_action(&d, FBY_DO_CANCEL, 0).id.value, second.id.value);
        assert_int_equal(nth_action(&d, FBY_DO_CANCEL, 0).peer, second.peer);
        answer(&d, &main);
        take_and_release(&d, 0);
        assert_null(fby_window_failure(d.w));
        assert_int_equal(counters(&d).corrupt, 1);
        assert_int_equal(counters(&d).audits_skipped, 1);
        assert_int_equal(counters(&d).audits + counters(&d).rerequests, 0);
        fby_window_destroy(&d.w);
    }
}

static void chunk_before_header(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(chunk(d, r, 0), FBY_BREACH);
}

static void end_before_header(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(end(d, r, 1), FBY_BREACH);
}

static void another_number_of_chunks(
    struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(header(d, r, 3), FBY_BREACH);
}

static void too_many_chunks(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 9), FBY_BREACH);
}

static void chunk_beyond_the_last(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(chunk(d, r, 2), FBY_BREACH);
}

static void chunk_far_beyond(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 2), FBY_AUDIT);
    assert_int_equal(chunk(d, r, UINT32_MAX), FBY_BREACH);
}

static void a_second_answer_that_breaks_the_protocol_closes_its_peer(
    void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        chunk_before_header, end_before_header, another_number_of_chunks,
        too_many_chunks, chunk_beyond_the_last, chunk_far_beyond};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d      = audited(1, 2, 1);
        struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
        ways[i](&d, &second);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_CLOSE, second.peer), 1);
        assert_int_equal(counters(&d).breaches, 1);
        assert_int_equal(counters(&d).audits_skipped, 1);
        assert_null(fby_window_failure(d.w));
        fby_window_destroy(&d.w);
    }
}

static void a_worker_that_is_gone_is_not_named_as_another(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    fby_window_peer_unlist(d.w, d.now, main.peer);
    fby_window_unreachable(d.w, d.now, main.peer);
    turn(&d);
    assert_int_equal(add(&d, 77), main.peer); /* the number's next owner */
    answer_audit(&d, &second, 2);
    assert_differ(&d, &main, FBY_NO_PEER, second.peer);
    fby_window_destroy(&d.w);
}

static void a_lone_worker_is_not_audited(void **state)
{
    (void)state;
    struct driver     d    = audited(1, 1, 1);
    struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    assert_int_equal(counters(&d).audits_skipped, 1);
    answer(&d, &main);
    take_and_release(&d, 0);
    assert_int_equal(counters(&d).audits, 0);
    fby_window_destroy(&d.w);
}

static void answer_busy(struct driver *d, const struct fby_action *r)
{
    fby_window_busy(d->w, d->now, r->peer, r->id, 40 * MS);
}

static void answer_lost(struct driver *d, const struct fby_action *r)
{
    fby_window_lost(d->w, d->now, r->peer, r->id);
}

static void begin_and_lose(struct driver *d, const struct fby_action *r)
{
    assert_int_equal(header(d, r, 1), FBY_AUDIT);
    fby_window_lost(d->w, d->now, r->peer, r->id);
}

static void answer_cannot(struct driver *d, const struct fby_action *r)
{
    fby_window_cannot(d->w, d->now, r->peer, r->id, 7);
}

static void ask_for_content(struct driver *d, const struct fby_action *r)
{
    fby_window_send_content(d->w, d->now, r->peer, r->id);
}

static void die(struct driver *d, const struct fby_action *r)
{
    fby_window_unreachable(d->w, d->now, r->peer);
}

static void come_again_without_it(struct driver *d, const struct fby_action *r)
{
    fby_window_hello_first(d->w, d->now, r->peer);
    turn(d);
    welcome(d, r->peer, (uint64_t)r->peer + 1, NULL, 0);
}

static void an_audit_that_is_not_answered_is_skipped(void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        answer_busy, answer_lost, begin_and_lose, answer_cannot,
        ask_for_content, die, come_again_without_it};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d      = audited(1, 2, 1);
        struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
        struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
        ways[i](&d, &second);
        assert_int_equal(counters(&d).audits_skipped, 1);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 0);
        answer(&d, &main);
        take_and_release(&d, 0);
        assert_int_equal(counters(&d).audits + counters(&d).rerequests, 0);
        fby_window_destroy(&d.w);
    }
}

static void an_audit_goes_on_after_a_reconnect(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    fby_window_hello_first(d.w, d.now, second.peer);
    turn(&d);
    welcome(&d, second.peer, (uint64_t)second.peer + 1, &second.id, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_CANCEL, FBY_NO_PEER), 0);
    answer_audit(&d, &second, 1);
    assert_int_equal(counters(&d).audits, 1);
    fby_window_destroy(&d.w);
}

static void a_step_is_not_audited_by_the_worker_that_made_it(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_lost(d.w, d.now, main.peer, main.id);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
    struct fby_action again = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(again.peer, second.peer);
    answer(&d, &again);
    answer_audit(&d, &second, 1);
    assert_int_equal(counters(&d).audits, 0);
    assert_int_equal(counters(&d).audits_skipped, 1);
    fby_window_destroy(&d.w);
}

static void an_audit_is_no_hedge(void **state)
{
    (void)state;
    struct driver           d    = audited(1, 2, 1);
    struct fby_action       main = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_window_batch batch;
    answer(&d, &main);
    take_and_release(&d, 0);
    assert_int_equal(take(&d, &batch), FBY_AGAIN);
    wait(&d, 900 * MS); /* without its answer */
    assert_int_equal(counters(&d).hedges + counters(&d).suspects, 0);
    assert_int_equal(count(&d, FBY_DO_PING, FBY_NO_PEER), 0);
    fby_window_destroy(&d.w);
}

static void audits_do_not_buy_hedges(void **state)
{
    (void)state;
    struct fby_window_batch batch;
    struct driver           d = audited(1, 2, 1);
    for (uint64_t step = 0; step < 70; step++) {
        struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
        struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
        assert_int_equal(take(&d, &batch), FBY_AGAIN);
        bool slow = step >= 30 && step < 40;
        wait(&d, slow ? 50 * MS : 10 * MS);
        fby_window_heard(d.w, d.now, 0);
        fby_window_heard(d.w, d.now, 1);
        answer(&d, &main);
        answer_audit(&d, &second, 1);
        take_and_release(&d, step);
        turn(&d);
    }
    assert_in_range(counters(&d).hedges, 1, 2);
    assert_int_equal(counters(&d).audits, 70);
    fby_window_destroy(&d.w);
}

static void more_audits_than_are_remembered_are_skipped(void **state)
{
    (void)state;
    struct driver d = audited(FBY_MAX_AUDITS + 4, 2, 1);
    assert_int_equal(
        count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 2 * FBY_MAX_AUDITS + 4);
    assert_int_equal(counters(&d).audits_skipped, 4);
    for (int i = 0; i < 2 * FBY_MAX_AUDITS; i++) {
        struct fby_action r = nth_action(&d, FBY_DO_REQUEST, i);
        if (r.slot == FBY_NO_SLOT) {
            answer_audit(&d, &r, 1);
        } else {
            answer(&d, &r);
        }
    }
    assert_int_equal(counters(&d).audits, FBY_MAX_AUDITS);
    fby_window_destroy(&d.w);
}

/* ---- Which steps, and which workers -------------------------------------- */

static void audited_steps_are_counted_from_the_first_epoch_on(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(4);
    c.audit                    = 3;
    struct driver           d  = driver_of(&c);
    struct fby_error_detail why;
    (void)join(&d, 1);
    (void)join(&d, 2);
    assert_ok(fby_window_start(d.w, d.now,
        &(struct fby_window_plan){
            .steps_per_epoch = 5, .epoch = 1, .total = 100},
        &why));
    turn(&d); /* 5 to 8, of which 6 is audited */
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 5);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 2);
    assert_int_equal(second.slot, FBY_NO_SLOT);
    assert_int_equal(second.epoch, 1);
    assert_int_equal(second.step, 1);
    assert_int_equal(second.bytes, BATCH);
    assert_false(second.hedge);
    struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 1);
    answer(&d, &main);
    answer_audit(&d, &second, 2);
    assert_failed(&d, main.peer == 0
                          ? "DIFFERENT 0, peers 0 and 1, step 1.1 #3"
                          : "DIFFERENT 0, peers 1 and 0, step 1.1 #3");
    fby_window_destroy(&d.w);
}

static void a_step_is_audited_once_however_often_it_is_asked_for(void **state)
{
    (void)state;
    struct driver     d    = audited(3, 3, 1);
    struct fby_action main = nth_action(&d, FBY_DO_REQUEST, 4);
    assert_int_equal(main.slot, 2);
    for (int i = 0; i < 3; i++) {
        fby_window_lost(d.w, d.now, main.peer, main.id);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 1);
        main = nth_action(&d, FBY_DO_REQUEST, 0);
        assert_int_equal(main.slot, 2);
    }
    assert_counters(&d, "requests 9, rerequests 3, lost 3");
    fby_window_destroy(&d.w);
}

/* An idle peer is connected for the next audit. */
static void an_idle_worker_is_connected_to_audit_what_follows(void **state)
{
    (void)state;
    struct fby_window_config c = config_of(1);
    c.audit                    = 1;
    c.max_peers_before_start   = 1;
    struct driver d            = driver_of(&c);
    (void)join(&d, 1); /* which is preferred for steps 0 and 1 */
    (void)add(&d, 2);
    start_at(&d, 1000, 1000);
    assert_actions(&d, "REQUEST 0 #1 step 0 slot 0; CONNECT 1; HELLO 1");
    struct driver     greeting = d;
    struct fby_action main     = nth_action(&d, FBY_DO_REQUEST, 0);
    answer(&d, &main);
    take_and_release(&d, 0);
    assert_turn(&d, "REQUEST 0 #2 step 1 slot 0"); /* once is enough */
    assert_counters(&d, "delivered 1, requests 2, audits_skipped 2");
    welcome(&greeting, 1, 2, NULL, 0);
    fby_window_opened(d.w, d.now, 1);
    main = nth_action(&d, FBY_DO_REQUEST, 0);
    answer(&d, &main);
    take_and_release(&d, 1);
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_REQUEST, FBY_NO_PEER), 2);
    fby_window_destroy(&d.w);
}

static void each_audit_has_a_number_until_it_is_answered(void **state)
{
    (void)state;
    struct driver     d      = audited(2, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action first  = nth_action(&d, FBY_DO_REQUEST, 1);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 3);
    assert_int_equal(fby_window_audit_index(d.w, main.id), FBY_NO_SLOT);
    assert_int_equal(fby_window_audit_index(d.w, first.id), 0);
    assert_int_equal(fby_window_audit_index(d.w, second.id), 1);
    answer_audit(&d, &first, 1);
    assert_int_equal(fby_window_audit_index(d.w, first.id), FBY_NO_SLOT);
    answer(&d, &main);
    take_and_release(&d, 0);
    turn(&d);
    assert_int_equal(
        fby_window_audit_index(d.w, nth_action(&d, FBY_DO_REQUEST, 1).id), 0);
    assert_counters(&d, "delivered 1, requests 6, audits 1");
    fby_window_destroy(&d.w);
}

/* ---- Answers ------------------------------------------------------------- */

static void an_audit_that_ended_needs_nothing_more(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    fby_window_audit_damaged(d.w, d.now, main.id); /* which is no audit */
    answer_audit(&d, &second, 1);
    assert_int_equal(end(&d, &second, 2), FBY_DUPLICATE);
    fby_window_audit_damaged(d.w, d.now, second.id);
    fby_window_lost(d.w, d.now, second.peer, second.id);
    fby_window_busy(d.w, d.now, second.peer, second.id, S);
    fby_window_send_content(d.w, d.now, second.peer, second.id);
    fby_window_peer_unlist(d.w, d.now, second.peer);
    fby_window_unreachable(d.w, d.now, second.peer);
    turn(&d);
    answer(&d, &main);
    assert_counters(&d, "requests 2, unreachable 1, audits 1");
    assert_failed(&d, "");
    fby_window_destroy(&d.w);
}

static void a_second_answer_that_has_begun_is_compared_at_its_end(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    assert_int_equal(header(&d, &second, 1), FBY_AUDIT);
    assert_int_equal(chunk(&d, &second, 0), FBY_AUDIT);
    answer(&d, &main);
    assert_counters(&d, "requests 2");
    assert_int_equal(end(&d, &second, 1), FBY_AUDIT);
    assert_counters(&d, "requests 2, audits 1");
    assert_failed(&d, "");
    fby_window_destroy(&d.w);
}

static void a_second_answer_of_a_worker_that_is_gone_is_compared(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    answer_audit(&d, &second, 2);
    fby_window_peer_unlist(d.w, d.now, second.peer);
    fby_window_unreachable(d.w, d.now, second.peer);
    assert_int_equal(add(&d, 77), second.peer);
    answer(&d, &main);
    assert_differ(&d, &main, main.peer, FBY_NO_PEER);
    fby_window_destroy(&d.w);
}

/* Two audits at a time: an answer is compared with its own step's. */
static void audits_of_two_steps_are_kept_apart(void **state)
{
    (void)state;
    for (uint8_t content = 1; content <= 2; content++) {
        struct driver     d = audited(2, 2, 1);
        struct fby_action r[4];
        for (int i = 0; i < 4; i++) {
            r[i] = nth_action(&d, FBY_DO_REQUEST, i);
        }
        answer_audit(&d, &r[3], content);
        answer(&d, &r[0]);
        answer_audit(&d, &r[1], 1);
        assert_failed(&d, "");
        answer(&d, &r[2]);
        assert_int_equal(fby_window_failure(d.w) != NULL, content == 2);
        assert_int_equal(content == 2 ? fby_window_failure(d.w)->step : 1, 1);
        assert_counters(&d, "requests 4, audits 2");
        fby_window_destroy(&d.w);
    }
}

/* The audit was complete when its step had to be asked of the same worker: no
 * answer of another worker is left to compare it with. */
static void an_audit_that_is_skipped_after_its_end_is_owed_no_more(void **state)
{
    (void)state;
    struct driver     d      = audited(1, 2, 1);
    struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
    struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
    answer_audit(&d, &second, 1);
    fby_window_lost(d.w, d.now, main.peer, main.id);
    turn(&d);
    struct fby_action again = nth_action(&d, FBY_DO_REQUEST, 0);
    assert_int_equal(again.peer, second.peer);
    answer(&d, &again);
    assert_counters(&d, "requests 3, rerequests 1, lost 1, audits_skipped 1");
    fby_window_leave(d.w, d.now, second.peer); /* and has nothing to answer */
    turn(&d);
    assert_int_equal(count(&d, FBY_DO_BYE, second.peer), 1);
    assert_int_equal(count(&d, FBY_DO_GONE, second.peer), 1);
    fby_window_destroy(&d.w);
}

static void leave_and_answer(struct driver *d, const struct fby_action *r)
{
    answer_audit(d, r, 1);
}

/* It then has nothing left to answer. */
static void a_leaving_worker_parts_when_its_audit_is_over(void **state)
{
    (void)state;
    void (*const ways[])(struct driver *, const struct fby_action *) = {
        leave_and_answer, answer_lost, end_before_all_chunks};
    for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(ways[0]); i++) {
        struct driver     d      = audited(1, 2, 1);
        struct fby_action main   = nth_action(&d, FBY_DO_REQUEST, 0);
        struct fby_action second = nth_action(&d, FBY_DO_REQUEST, 1);
        if (i % 2 == 1) {
            answer(&d, &main);
        }
        fby_window_leave(d.w, d.now, second.peer);
        assert_turn(&d, "");
        ways[i / 2](&d, &second);
        turn(&d);
        assert_int_equal(count(&d, FBY_DO_BYE, second.peer), 1);
        assert_int_equal(count(&d, FBY_DO_GONE, second.peer), 1);
        fby_window_destroy(&d.w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_nth_step_is_asked_of_two_workers),
        cmocka_unit_test(equal_answers_pass_and_the_second_is_dropped),
        cmocka_unit_test(a_second_answer_counts_for_credit),
        cmocka_unit_test(an_audit_that_differs_names_both_workers),
        cmocka_unit_test(a_second_answer_that_came_first_is_compared_too),
        cmocka_unit_test(a_damaged_second_answer_is_not_compared),
        cmocka_unit_test(
            a_second_answer_that_breaks_the_protocol_closes_its_peer),
        cmocka_unit_test(a_worker_that_is_gone_is_not_named_as_another),
        cmocka_unit_test(a_lone_worker_is_not_audited),
        cmocka_unit_test(an_audit_that_is_not_answered_is_skipped),
        cmocka_unit_test(an_audit_goes_on_after_a_reconnect),
        cmocka_unit_test(a_step_is_not_audited_by_the_worker_that_made_it),
        cmocka_unit_test(an_audit_is_no_hedge),
        cmocka_unit_test(audits_do_not_buy_hedges),
        cmocka_unit_test(more_audits_than_are_remembered_are_skipped),
        cmocka_unit_test(audited_steps_are_counted_from_the_first_epoch_on),
        cmocka_unit_test(a_step_is_audited_once_however_often_it_is_asked_for),
        cmocka_unit_test(an_idle_worker_is_connected_to_audit_what_follows),
        cmocka_unit_test(each_audit_has_a_number_until_it_is_answered),
        cmocka_unit_test(an_audit_that_ended_needs_nothing_more),
        cmocka_unit_test(a_second_answer_that_has_begun_is_compared_at_its_end),
        cmocka_unit_test(a_second_answer_of_a_worker_that_is_gone_is_compared),
        cmocka_unit_test(audits_of_two_steps_are_kept_apart),
        cmocka_unit_test(
            an_audit_that_is_skipped_after_its_end_is_owed_no_more),
        cmocka_unit_test(a_leaving_worker_parts_when_its_audit_is_over),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.window_audit", tests, NULL, NULL);
}
