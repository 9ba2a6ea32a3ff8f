/* SPDX-License-Identifier: Apache-2.0 */
/* Second answers: compared with the first, or skipped. Every step is requested
 * from both workers. */
#include "tests/trainer_client/dialogue_answers.h"

#include "common/log.h"

struct pair {            /* of answers to one step */
    struct answer first; /* which is delivered */
    struct answer second;
};

static void hear_pair(struct dialogue *d, struct pair *pair)
{
    const struct fby_request *r[2];
    for (int i = 0; i < 2; i++) {
        r[i] = &await_message(d, &d->workers[i], FBY_MSG_REQUEST)->request;
    }
    int first = r[0]->request.value < r[1]->request.value ? 0 : 1;
    assert_int_equal(r[0]->step, r[1]->step);
    make_answer(d, &pair->first, &d->workers[first], r[first]);
    make_answer(d, &pair->second, &d->workers[1 - first], r[1 - first]);
}

static void open_audited(struct dialogue *d, struct pair *pair)
{
    dialogue_begin(d, 2);
    d->options.audit = 1;
    open_all(d);
    hear_pair(d, pair);
}

/* Wait until this many steps were compared or skipped. */
static void assert_audits(
    struct dialogue *d, uint64_t compared, uint64_t skipped)
{
    int64_t deadline = fby_now_ns() + PATIENCE;
    while (
        stats_of(d).audits + stats_of(d).audits_skipped < compared + skipped &&
        fby_now_ns() < deadline) {
        receive_all(d);
    }
    assert_int_equal(stats_of(d).audits, compared);
    assert_int_equal(stats_of(d).audits_skipped, skipped);
}

static void equal_answers_pass_whichever_comes_first(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        struct dialogue d;
        struct pair     pair;
        open_audited(&d, &pair);
        send_answer(turn == 0 ? &pair.first : &pair.second);
        if (turn == 0) {
            assert_delivers(&d, 0);
        } else {
            send_message(pair.second.worker, &pair.second.end); /* once more */
            send_frame(pair.second.worker, "garbage", 7);
            await_errors(&d, 1); /* so all before it was taken in */
            assert_no_batch(&d);
        }
        send_answer(turn == 0 ? &pair.second : &pair.first);
        assert_audits(&d, 1, 0);
        if (turn == 1) {
            assert_delivers(&d, 0);
        }
        assert_int_equal(stats_of(&d).protocol_errors, turn);
        assert_int_equal(stats_of(&d).checksum_failures, 0);
        dialogue_end(&d);
    }
}

/* No END needs to arrive. */
static void damage_a_chunk(struct answer *a)
{
    send_message(a->worker, &a->header);
    send_chunk(a, 0);
    send_damaged_chunk(a, 1);
}

static void skip_a_chunk(struct answer *a)
{
    send_message(a->worker, &a->header);
    send_chunk(a, 1);
    send_message(a->worker, &a->end);
}

static void send_a_wrong_sum(struct answer *a)
{
    a->sums[0].bytes[0] ^= 1;
    send_answer(a);
}

static void be_busy(struct answer *a)
{
    send_message(a->worker, &(struct fby_message){.type = FBY_MSG_BUSY,
                                .busy = {.session = a->end.end.session,
                                    .request      = a->end.end.request,
                                    .retry_ms     = 1}});
}

static void lose_it(struct answer *a)
{
    send_lost(a);
}

/* Damage does not count as a different value, and causes no new request. */
static void a_second_answer_that_is_damaged_is_skipped(void **state)
{
    (void)state;
    static const struct {
        void (*send_message)(struct answer *a);
        uint64_t checksums;
    } all[] = {{damage_a_chunk, 1}, {skip_a_chunk, 0}, {send_a_wrong_sum, 0},
        {lose_it, 0}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct dialogue d;
        struct pair     pair;
        open_audited(&d, &pair);
        all[i].send_message(&pair.second);
        assert_audits(&d, 0, 1);
        send_answer(&pair.first);
        assert_delivers(&d, 0);
        hear_pair(&d, &pair);
        assert_int_equal(pair.first.header.header.step, 1);
        send_answer(&pair.first);
        send_answer(&pair.second);
        assert_delivers(&d, 1);
        assert_audits(&d, 1, 1);
        assert_int_equal(stats_of(&d).checksum_failures, all[i].checksums);
        assert_int_equal(stats_of(&d).rerequests, 0);
        assert_int_equal(stats_of(&d).protocol_errors, 0);
        dialogue_end(&d);
    }
}

static void a_second_worker_without_room_audits_nothing(void **state)
{
    (void)state;
    struct dialogue d;
    struct pair     pair;
    open_audited(&d, &pair);
    be_busy(&pair.second);
    assert_audits(&d, 0, 1);
    send_answer(&pair.first);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).busy, 1);
    dialogue_end(&d);
}

static void a_second_answer_to_another_question_is_a_breach(void **state)
{
    (void)state;
    struct dialogue d;
    struct pair     pair;
    open_audited(&d, &pair);
    pair.second.header.header.request_checksum ^= 1;
    send_message(pair.second.worker, &pair.second.header);
    assert_audits(&d, 0, 1);
    send_answer(&pair.first);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).protocol_errors, 2);
    assert_int_equal(stats_of(&d).workers_in_use, 1);
    dialogue_end(&d);
}

static void change_a_value(struct dialogue *d, struct answer *a)
{
    a->values[1][2]++;
    a->chunks[1].raw_hash = fby_xxh3_64(a->values[1], ROWS);
    fill_sums(d, a);
}

static void change_a_substitute(struct dialogue *d, struct answer *a)
{
    (void)d;
    a->bad = (struct fby_substituted){
        .row = 1, .substitute = 2, .shard = "s", .key = "k", .text = "t"};
    a->end.end.n_substituted = 1;
}

static void other_content_fails_the_stream_by_both_names(void **state)
{
    (void)state;
    static void (*const change[])(struct dialogue * d, struct answer * a) = {
        change_a_value, change_a_substitute};
    for (size_t i = 0; i < 4; i++) {
        struct dialogue d;
        struct pair     pair;
        char            text[400];
        open_audited(&d, &pair);
        change[i / 2](&d, &pair.second);
        send_answer(i % 2 == 0 ? &pair.first : &pair.second);
        send_answer(i % 2 == 0 ? &pair.second : &pair.first);
        snprintf(text, sizeof(text),
            "worker here (%s) and worker here (%s) made different values of "
            "epoch 0 step 0",
            pair.first.worker->endpoint, pair.second.worker->endpoint);
        await_failure(&d, FOREBAY_DATA, text);
        dialogue_end(&d);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_answers_pass_whichever_comes_first),
        cmocka_unit_test(a_second_answer_that_is_damaged_is_skipped),
        cmocka_unit_test(a_second_worker_without_room_audits_nothing),
        cmocka_unit_test(a_second_answer_to_another_question_is_a_breach),
        cmocka_unit_test(other_content_fails_the_stream_by_both_names),
    };
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver_audit", tests, NULL, NULL);
}
