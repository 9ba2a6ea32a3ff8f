/* SPDX-License-Identifier: Apache-2.0 */
/* How the receiver handles each message that answers a request. */
#include "tests/trainer_client/dialogue_answers.h"

#include "common/log.h"

/* ---- Whole answers ------------------------------------------------------- */

static void times_and_counts_are_those_of_the_answers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t     ns;
    } times[] = {{"worker.fetch", 2}, {"worker.transform", 40},
        {"worker.encode", 600}, {"worker.wait", 8}};
    struct dialogue d;
    dialogue_open(&d, 1);
    for (uint64_t step = 0; step < 2; step++) {
        answer_next(&d);
        assert_delivers(&d, step);
    }
    struct forebay_stats s = stats_of(&d);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(s.stages[i].name, times[i].name);
        assert_int_equal(s.stages[i].busy_ns, times[i].ns);
    }
    assert_string_equal(s.stages[4].name, "client.decode");
    assert_true(s.stages[4].busy_ns > 0);
    assert_string_equal(s.stages[5].name, "client.expand");
    assert_int_equal(s.n_stages, 6);
    assert_int_equal(s.steps, 2);
    assert_int_equal(s.images, 2 * ROWS);
    assert_int_equal(s.raw_bytes, 2 * FIELDS * ROWS);
    assert_int_equal(s.wire_bytes, 2 * FIELDS * (FBY_CHUNK_PREFIX + ROWS));
    assert_int_equal(s.workers_known, 1);
    assert_int_equal(s.workers_in_use, 1);
    assert_int_equal(s.rerequests + s.hedges + s.lost + s.busy + s.suspects +
                         s.reconnects + s.workers_left_aside + s.audits +
                         s.audits_skipped + s.substituted + s.late_chunks +
                         s.protocol_errors + s.checksum_failures,
        0);
    dialogue_end(&d);
}

static void a_token_names_the_step_behind_its_batch(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_digest data  = digest_of("data");
    struct fby_digest build = digest_of("build");
    dialogue_open(&d, 1);
    for (uint64_t step = 0; step < 6; step++) {
        struct fby_token token;
        answer_next(&d);
        struct forebay_batch *batch = next_batch(&d);
        assert_ok(fby_token_decode(batch->token, &token, NULL));
        assert_int_equal(token.epoch, (step + 1) / 5);
        assert_int_equal(token.step, (step + 1) % 5);
        assert_int_equal(token.seed, 7);
        assert_true(fby_digest_equal(&token.content, &d.setup.content_digest));
        assert_true(fby_digest_equal(&token.data, &data));
        assert_true(fby_digest_equal(&token.fingerprint, &build));
        fby_batch_unref(batch);
    }
    dialogue_end(&d);
}

/* Sample 13 replaces the one of the plan. */
static void make_bad_row(struct answer *a, uint32_t row)
{
    a->bad = (struct fby_substituted){
        .row        = row,
        .original   = 5,
        .substitute = 13,
        .shard      = "train-0.tar",
        .key        = "0005",
        .text       = "sample 5 is cut short",
    };
    a->end.end.n_substituted = 1;
}

static void substitutes_are_listed_with_their_batch_up_to_the_limit(
    void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 1);
    for (uint32_t step = 0; step < 4; step++) {
        await_request(&d, &a, &d.workers[0]);
        make_bad_row(&a, 3 - step);
        send_answer(&a);
        if (step == 3) {
            break; /* that is one too many */
        }
        struct forebay_batch *batch = next_batch(&d);
        assert_int_equal(batch->n_substituted, 1);
        const struct forebay_substitution *one = &batch->substituted[0];
        assert_int_equal(one->row, 3 - step);
        assert_int_equal(one->sample, 5);
        assert_int_equal(one->substitute, 13);
        assert_string_equal(
            one->cause, "in in1k:train-{0..0}.tar: sample 5 is cut short");
        assert_int_equal(batch->samples[3 - step], 13);
        assert_int_equal(stats_of(&d).substituted, step + 1);
        fby_batch_unref(batch);
    }
    await_failure(&d, FOREBAY_DATA,
        "more than 3 bad samples (limit of on_bad_sample), the last one in "
        "in1k:train-{0..0}.tar: sample 5 is cut short");
    dialogue_end(&d);
}

static void a_batch_without_substitutes_has_none_of_the_one_before(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_begin(&d, 1);
    d.options.max_held_bytes = 200; /* one batch that goes round */
    open_all(&d);
    await_request(&d, &a, &d.workers[0]);
    make_bad_row(&a, 0);
    send_answer(&a);
    assert_delivers(&d, 0);
    answer_next(&d);
    struct forebay_batch *batch = next_batch(&d);
    assert_int_equal(batch->n_substituted, 0);
    fby_batch_unref(batch);
    dialogue_end(&d);
}

/* ---- Incomplete and wrong answers ---------------------------------------- */

static void skip_a_chunk(struct answer *a)
{
    send_message(a->worker, &a->header);
    send_chunk(a, 0);
    send_message(a->worker, &a->end);
}

static void damage_a_chunk(struct answer *a)
{
    send_message(a->worker, &a->header);
    send_damaged_chunk(a, 1);
    send_chunk(a, 0);
    send_message(a->worker, &a->end);
}

static void send_a_wrong_sum(struct answer *a)
{
    a->sums[1].bytes[15] ^= 1;
    send_answer(a);
}

static void send_a_sum_too_few(struct answer *a)
{
    a->end.end.n_sums = 1;
    send_answer(a);
}

static void substitute_a_row_beyond(struct answer *a)
{
    make_bad_row(a, ROWS);
    send_answer(a);
}

static void name_samples(struct answer *a)
{
    static const uint64_t samples[ROWS] = {1, 2, 3, 4};
    a->end.end.samples                  = samples;
    a->end.end.n_samples                = ROWS;
    send_answer(a);
}

static void answers_that_are_not_right_are_asked_for_again(void **state)
{
    (void)state;
    static void (*const wrong[])(struct answer * a) = {skip_a_chunk,
        damage_a_chunk, send_a_wrong_sum, send_a_sum_too_few,
        substitute_a_row_beyond, name_samples};
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 1);
    for (uint64_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        await_request(&d, &a, &d.workers[0]);
        uint64_t id = a.end.end.request.value;
        wrong[i](&a);
        assert_no_batch(&d);
        await_request(&d, &a, &d.workers[0]);
        assert_int_equal(a.header.header.step, i % 5);
        assert_true(a.end.end.request.value > id);
        send_answer(&a);
        assert_delivers(&d, i);
        assert_int_equal(stats_of(&d).rerequests, i + 1);
        assert_int_equal(stats_of(&d).substituted, 0);
    }
    assert_int_equal(stats_of(&d).checksum_failures, 1);
    assert_int_equal(stats_of(&d).protocol_errors, 0);
    dialogue_end(&d);
}

/* The END of another worker would name substitutes and a service time. */
static void only_the_worker_that_was_asked_is_listened_to(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 2);
    struct peer  *other    = await_either_request(&d, &a);
    struct answer b        = a;
    b.worker               = other;
    b.header.header.fields = b.fields;
    b.end.end.sums         = b.sums;
    b.end.end.substituted  = &b.bad;
    b.end.end.times = (struct fby_stage_times){1000, 1000, 1000, 1000, 1000};
    memset(b.values[0], 99, ROWS);
    b.chunks[0].raw_hash = fby_xxh3_64(b.values[0], ROWS);
    send_message(other, &b.header);
    send_chunk(&b, 0);
    await_credit_of(&d, other);
    send_message(a.worker, &a.header);
    send_chunk(&a, 0);
    send_chunk(&a, 1);
    await_credit_of(&d, a.worker);
    make_bad_row(&b, 1);
    send_message(other, &b.end);
    send_chunk(&b, 1);
    await_credit_of(&d, other); /* END was taken in before */
    send_message(a.worker, &a.end);
    struct forebay_batch *batch = next_batch(&d);
    assert_int_equal(batch->n_substituted, 0);
    assert_int_equal(
        ((const int64_t *)batch->tensors[0].view.data)[1], value_of(0, 0, 1));
    fby_batch_unref(batch);
    assert_int_equal(stats_of(&d).stages[0].busy_ns, 1);
    assert_int_equal(stats_of(&d).rerequests, 0);
    dialogue_end(&d);
}

static void repeated_messages_count_once(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 1);
    for (uint64_t step = 0; step < 3; step++) {
        await_request(&d, &a, &d.workers[0]);
        send_message(a.worker, &a.header);
        send_message(a.worker, &a.header);
        send_chunk(&a, 1);
        send_chunk(&a, 1);
        send_chunk(&a, 0);
        send_message(a.worker, &a.end);
        send_message(a.worker, &a.end);
        assert_delivers(&d, step);
    }
    assert_int_equal(stats_of(&d).rerequests, 0);
    assert_int_equal(stats_of(&d).protocol_errors, 0);
    dialogue_end(&d);
}

/* ---- Breaches ------------------------------------------------------------ */

static void send_another_step(struct answer *a)
{
    a->header.header.step++;
    send_message(a->worker, &a->header);
}

static void send_a_field_beyond(struct answer *a)
{
    send_message(a->worker, &a->header);
    a->chunks[0].field = FIELDS;
    send_chunk(a, 0);
}

static void send_a_chunk_too_short(struct answer *a)
{
    send_message(a->worker, &a->header);
    a->chunks[0].raw_bytes  = ROWS - 1;
    a->chunks[0].wire_bytes = ROWS - 1;
    uint8_t frame[FBY_CHUNK_PREFIX + ROWS - 1];
    memcpy(frame + FBY_CHUNK_PREFIX, a->values[0], ROWS - 1);
    fby_chunk_write_prefix(&a->chunks[0], a->values[0], frame);
    send_frame(a->worker, frame, sizeof(frame));
}

/* Its requests go to the other worker, and it is greeted again later. */
static void a_worker_that_breaks_the_protocol_is_cut_off(void **state)
{
    (void)state;
    static const struct {
        void (*send_message)(struct answer *a);
        uint64_t errors; /* of the message, and the breach */
    } all[] = {{send_another_step, 2}, {send_a_field_beyond, 2},
        {send_a_chunk_too_short, 2}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct dialogue d;
        struct answer   a;
        struct answer   b;
        dialogue_open(&d, 2);
        struct peer *other = await_either_request(&d, &a);
        all[i].send_message(&a);
        await_request(&d, &b, other);
        assert_int_equal(b.header.header.step, 0);
        send_answer(&b);
        assert_delivers(&d, 0);
        assert_int_equal(stats_of(&d).protocol_errors, all[i].errors);
        assert_int_equal(stats_of(&d).workers_in_use, 1);
        assert_int_equal(stats_of(&d).workers_known, 2);
        assert_int_equal(stats_of(&d).workers_left_aside, 0);
        dialogue_end(&d);
    }
}

static void messages_of_another_session_do_nothing(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    struct answer b         = a;
    b.header.header.session = (struct fby_session_id){77};
    b.end.end.session       = (struct fby_session_id){77};
    b.header.header.fields  = b.fields;
    b.end.end.sums          = b.sums;
    b.header.header.step++;
    send_message(b.worker, &b.header);
    send_lost(&b);
    send_message(b.worker, &b.end);
    await_errors(&d, 3);
    send_message(a.worker, &a.header);
    memset(b.values[0], 99, ROWS);
    b.chunks[0].raw_hash = fby_xxh3_64(b.values[0], ROWS);
    b.chunks[0].session  = (struct fby_session_id){77};
    send_chunk(&b, 0);
    send_chunk(&a, 0);
    send_chunk(&a, 1);
    send_message(a.worker, &a.end);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).protocol_errors, 4);
    assert_int_equal(stats_of(&d).rerequests + stats_of(&d).lost, 0);
    dialogue_end(&d);
}

static void invalid_messages_from_a_worker_are_counted(void **state)
{
    (void)state;
    struct dialogue          d;
    struct answer            a;
    static const char        garbage[] = "no message of ours, of any length";
    const struct fby_message quit      = {
             .type = FBY_MSG_QUIT, .quit = {.session = {5}}};
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    struct fby_message own = quit;
    own.quit.session       = d.session;
    send_frame(a.worker, garbage, sizeof(garbage));
    await_errors(&d, 1);
    send_frame(a.worker, garbage, 0);
    await_errors(&d, 2);
    send_message(a.worker, &quit);
    await_errors(&d, 3);
    send_message(a.worker, &own);
    await_errors(&d, 4);
    send_answer(&a);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).protocol_errors, 4);
    dialogue_end(&d);
}

/* ---- Hedges -------------------------------------------------------------- */

/* A second later the other worker is asked, and is faster. */
static void deliver_hedged(
    struct dialogue *d, struct answer *slow, struct answer *fast)
{
    dialogue_open(d, 2);
    struct peer *other = await_either_request(d, slow);
    assert_no_batch(d); /* the trainer waits */
    await_request(d, fast, other);
    assert_int_equal(fast->header.header.step, 0);
    send_answer(fast);
    assert_delivers(d, 0);
    assert_int_equal(stats_of(d).hedges, 1);
}

static void the_slower_answer_is_dropped(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   slow;
    struct answer   fast;
    deliver_hedged(&d, &slow, &fast);
    send_answer(&slow);
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (stats_of(&d).late_hedge_chunks < FIELDS && fby_now_ns() < deadline) {
        receive_all(&d);
    }
    answer_next(&d);
    assert_delivers(&d, 1);
    assert_int_equal(stats_of(&d).late_hedge_chunks, FIELDS);
    assert_int_equal(stats_of(&d).late_chunks, 0);
    assert_int_equal(stats_of(&d).rerequests, 0);
    dialogue_end(&d);
}

/* Its chunks are dropped unchecked, so its END says nothing about values. */
static void the_slower_answer_may_end_with_wrong_sums(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   slow;
    struct answer   fast;
    deliver_hedged(&d, &slow, &fast);
    slow.sums[0].bytes[0]++;
    send_answer(&slow);
    answer_next(&d);
    assert_delivers(&d, 1);
    dialogue_end(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_counts_are_those_of_the_answers),
        cmocka_unit_test(a_token_names_the_step_behind_its_batch),
        cmocka_unit_test(
            substitutes_are_listed_with_their_batch_up_to_the_limit),
        cmocka_unit_test(
            a_batch_without_substitutes_has_none_of_the_one_before),
        cmocka_unit_test(answers_that_are_not_right_are_asked_for_again),
        cmocka_unit_test(only_the_worker_that_was_asked_is_listened_to),
        cmocka_unit_test(repeated_messages_count_once),
        cmocka_unit_test(a_worker_that_breaks_the_protocol_is_cut_off),
        cmocka_unit_test(messages_of_another_session_do_nothing),
        cmocka_unit_test(invalid_messages_from_a_worker_are_counted),
        cmocka_unit_test(the_slower_answer_is_dropped),
        cmocka_unit_test(the_slower_answer_may_end_with_wrong_sums),
    };
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver_answers", tests, NULL, NULL);
}
