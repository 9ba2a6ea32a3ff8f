/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to a trainer while no worker can be asked, and which workers opening
 * waits for. Timers of the protocol run ten times as fast. */
#include "tests/trainer_client/dialogue_answers.h"

#include "common/log.h"

static void a_server_that_does_not_answer_is_reported(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[300];
    dialogue_begin(&d, 0);
    dialogue_start(&d);
    snprintf(text, sizeof(text),
        "no answer from the server %s; check that it runs and listens at this "
        "address, and whether it demands keys (--keys, FOREBAY_KEYS)",
        d.server.endpoint);
    await_waiting(&d, text);
    dialogue_end(&d);
}

static void a_server_that_knows_no_worker_is_reported(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[300];
    dialogue_begin(&d, 0);
    dialogue_start(&d);
    join_session(&d);
    snprintf(text, sizeof(text), "no worker: the server %s has none registered",
        d.server.endpoint);
    await_waiting(&d, text);
    send_joined(&d); /* as it answers a RENEW: no news */
    send_message(&d.server, &(struct fby_message){.type = FBY_MSG_JOIN_FIRST,
                                .join_first             = {d.session}});
    (void)await_message(&d, &d.server, FBY_MSG_JOIN);
    pthread_mutex_lock(&d.ready_queue.lock);
    struct fby_error_detail waiting = d.ready_queue.wait_reason;
    pthread_mutex_unlock(&d.ready_queue.lock);
    assert_string_equal(waiting.text, text);
    dialogue_end(&d);
}

/* Wait until the stream waits for this reason. Each HELLO is refused, and the
 * first worker does not answer. */
static void refuse_until(struct dialogue *d, int i, const char *text)
{
    struct fby_error_detail waiting  = {""};
    int64_t                 deadline = fby_now_ns() + PATIENCE;
    while (strcmp(waiting.text, text) != 0 && fby_now_ns() < deadline) {
        receive_all(d);
        if (find_received(&d->workers[i], FBY_MSG_HELLO) != NULL) {
            (void)await_message(d, &d->workers[i], FBY_MSG_HELLO);
            send_refused(d, &d->workers[i], FBY_REFUSED_FULL, "no memory left");
        }
        pthread_mutex_lock(&d->ready_queue.lock);
        waiting = d->ready_queue.wait_reason;
        pthread_mutex_unlock(&d->ready_queue.lock);
    }
    assert_string_equal(waiting.text, text);
}

static void one_worker_without_room_is_named_with_its_reason(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct dialogue d;
        char            text[400];
        dialogue_begin(&d, 2);
        dialogue_start(&d);
        join_session(&d);
        snprintf(text, sizeof(text),
            "no worker: none of the 2 known accepts requests now, for example "
            "worker here (%s): no memory left",
            d.workers[i].endpoint);
        refuse_until(&d, i, text);
        struct fby_open   open   = handshake(&d, &d.workers[i]);
        struct fby_opened opened = opened_as(&open, "data", "build");
        send_opened(&d.workers[i], &opened);
        answer_next(&d);
        assert_delivers(&d, 0);
        await_waiting(&d, "");
        struct answer a;
        await_request(&d, &a, &d.workers[i]);
        send_busy(&d, &d.workers[i], a.end.end.request, 1);
        dialogue_end(&d);
    }
}

/* While the stream is opened, the worker that does not answer is named, with
 * the message that it does not answer. */
static void a_worker_that_does_not_answer_is_named(void **state)
{
    (void)state;
    static const char *const messages[] = {"HELLO", "OPEN"};
    for (int i = 0; i < 2; i++) {
        struct dialogue d;
        char            text[300];
        dialogue_begin(&d, 1);
        dialogue_start(&d);
        join_session(&d);
        snprintf(text, sizeof(text),
            "worker here (%s) has not answered %s yet: see its log, and check "
            "that this host reaches its address",
            d.workers[0].endpoint, messages[i]);
        if (i == 1) {
            (void)handshake(&d, &d.workers[0]);
        }
        await_waiting(&d, text);
        snprintf(text, sizeof(text),
            "no worker: none of the 1 known accepts requests now, for example "
            "worker here (%s): no answer to %s",
            d.workers[0].endpoint, messages[i]);
        await_waiting(&d, text);
        dialogue_end(&d);
    }
}

static void an_invalid_message_is_reported_until_a_header_comes(void **state)
{
    (void)state;
    struct dialogue         d;
    struct answer           a;
    char                    text[800];
    uint8_t                 frame[16] = {'F', 'B', 'Y', 'M', 1, FBY_MSG_HEADER};
    struct fby_error_detail why       = {""};
    struct fby_message      none;
    assert_int_equal(
        fby_message_decode(frame, sizeof(frame), &none, &why), FBY_PROTO);
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    send_frame(&d.workers[0], frame, sizeof(frame));
    snprintf(text, sizeof(text),
        "worker here (%s) sent an invalid message: %s; if this continues, "
        "install one version of forebay on all hosts",
        d.workers[0].endpoint, why.text);
    await_waiting(&d, text);
    send_answer(&a);
    assert_delivers(&d, 0);
    await_waiting(&d, "");
    dialogue_end(&d);
}

/* The client closes the connection; the worker does not answer HELLO. */
static void a_header_for_another_step_is_reported(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    char            text[800];
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    a.header.header.step++;
    send_message(&d.workers[0], &a.header);
    snprintf(text, sizeof(text),
        "no worker: none of the 1 known accepts requests now, for example "
        "worker here (%s): invalid HEADER: epoch 0 step 1, 4 rows from row 0 "
        "on: not as requested",
        d.workers[0].endpoint);
    await_waiting(&d, text);
    dialogue_end(&d);
}

/* Two workers, of which one opens and one scans for a while. False: this thread
 * was held up for so long that there is no result. */
static bool try_to_scan(void)
{
    const int64_t   mute_ns = FBY_NS_PER_S / 2;
    bool            timely  = true;
    struct dialogue d;
    dialogue_begin(&d, 2);
    dialogue_start(&d);
    join_session(&d);
    struct fby_open   open   = handshake(&d, &d.workers[0]);
    struct fby_open   slow   = handshake(&d, &d.workers[1]);
    struct fby_opened opened = opened_as(&open, "data", "build");
    send_opened(&d.workers[0], &opened);
    int64_t said_ns = fby_now_ns();
    for (uint32_t i = 1; i < 4; i++) {
        int64_t before_ns = said_ns;
        while (fby_now_ns() < before_ns + mute_ns / 3) {
            receive_all(&d);
        }
        said_ns = fby_now_ns();
        timely  = timely && said_ns < before_ns + mute_ns / 2;
        send_message(
            &d.workers[1], &(struct fby_message){.type = FBY_MSG_SCANNING,
                               .scanning = {d.session, slow.open_id, i, 4}});
    }
    answer_next(&d); /* of the first, once the other counts as silent */
    assert_true(!timely || fby_now_ns() - said_ns >= mute_ns);
    assert_delivers(&d, 0);
    dialogue_end(&d);
    return timely;
}

/* As long as it shows that it goes on. */
static void open_waits_for_a_worker_that_scans(void **state)
{
    (void)state;
    for (int i = 0; i < 10 && !try_to_scan(); i++) {
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_does_not_answer_is_reported),
        cmocka_unit_test(a_server_that_knows_no_worker_is_reported),
        cmocka_unit_test(one_worker_without_room_is_named_with_its_reason),
        cmocka_unit_test(a_worker_that_does_not_answer_is_named),
        cmocka_unit_test(an_invalid_message_is_reported_until_a_header_comes),
        cmocka_unit_test(a_header_for_another_step_is_reported),
        cmocka_unit_test(open_waits_for_a_worker_that_scans),
    };
    setenv("FOREBAY_TIME_DIVISOR", "10", 1);
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver_waiting", tests, NULL, NULL);
}
