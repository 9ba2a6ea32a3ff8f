/* Messages to a trainer while no worker can be asked, and which workers opening
 * waits for. Timers of the protocol run ten times as fast. */
#include "tests/trainer_client/dialogue.h"

#include "common/log.h"

static void a_server_that_does_not_answer_is_told_of(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[300];
    dialogue_begin(&d, 0);
    dialogue_start(&d);
    snprintf(text, sizeof(text),
        "no answer from the server %s; is it running, and is that where it "
        "listens?",
        d.server.endpoint);
    await_waiting(&d, text);
    dialogue_end(&d);
}

static void a_server_that_knows_no_worker_is_told_of(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[300];
    dialogue_begin(&d, 0);
    dialogue_start(&d);
    admit(&d);
    snprintf(text, sizeof(text), "no worker: the server %s has none registered",
        d.server.endpoint);
    await_waiting(&d, text);
    dialogue_end(&d);
}

static void refuse(struct dialogue *d, int i)
{
    say(&d->workers[i], &(struct fby_message){.type = FBY_MSG_REFUSED,
                            .refused                = {
                                               .session     = d->session,
                                               .code        = FBY_REFUSED_FULL,
                                               .version_min = 1,
                                               .version_max = 1,
                                               .text        = "no memory left",
                            }});
}

/* Wait until the trainer is told; each HELLO is refused, the first worker
 * does not answer. */
static void refuse_until(struct dialogue *d, int i, const char *text)
{
    struct fby_why waiting  = {""};
    int64_t        patience = fby_now_ns() + PATIENCE;
    while (strcmp(waiting.text, text) != 0 && fby_now_ns() < patience) {
        listen_all(d);
        if (find_heard(&d->workers[i], FBY_MSG_HELLO) != NULL) {
            (void)hear(d, &d->workers[i], FBY_MSG_HELLO);
            refuse(d, i);
        }
        pthread_mutex_lock(&d->desk.lock);
        waiting = d->desk.waiting;
        pthread_mutex_unlock(&d->desk.lock);
    }
    assert_string_equal(waiting.text, text);
}

/* As ever once there are workers again. */
static void assert_tells_of_busy(struct dialogue *d, struct party *worker)
{
    char text[400];
    snprintf(text, sizeof(text),
        "worker here (%s) is busy: it has no room, memory or files for a "
        "batch now, and is asked again; where that lasts its log says why",
        worker->endpoint);
    const struct fby_request *r = &hear(d, worker, FBY_MSG_REQUEST)->request;
    say(worker, &(struct fby_message){
                    .type = FBY_MSG_BUSY, .busy = {d->session, r->request, 1}});
    await_waiting(d, text);
}

static void of_workers_without_room_one_says_why(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct dialogue d;
        char            text[400];
        dialogue_begin(&d, 2);
        dialogue_start(&d);
        admit(&d);
        snprintf(text, sizeof(text),
            "no worker: none of 2 can be asked now, such as worker here (%s): "
            "no memory left",
            d.workers[i].endpoint);
        refuse_until(&d, i, text);
        struct fby_open   open   = greet(&d, &d.workers[i]);
        struct fby_opened opened = opened_as(&open, "data", "build");
        say_opened(&d.workers[i], &opened);
        answer_next(&d);
        assert_delivers(&d, 0);
        await_waiting(&d, "");
        assert_tells_of_busy(&d, &d.workers[i]);
        dialogue_end(&d);
    }
}

/* Two workers, of which one opens and one scans for a while. False: this thread
 * was held up for so long that nothing can be said. */
static bool try_to_scan(void)
{
    const int64_t   mute_ns = FBY_NS_PER_S / 2;
    bool            timely  = true;
    struct dialogue d;
    dialogue_begin(&d, 2);
    dialogue_start(&d);
    admit(&d);
    struct fby_open   open   = greet(&d, &d.workers[0]);
    struct fby_open   slow   = greet(&d, &d.workers[1]);
    struct fby_opened opened = opened_as(&open, "data", "build");
    say_opened(&d.workers[0], &opened);
    int64_t said_ns = fby_now_ns();
    for (uint32_t i = 1; i < 4; i++) {
        int64_t before_ns = said_ns;
        while (fby_now_ns() < before_ns + mute_ns / 3) {
            listen_all(&d);
        }
        said_ns = fby_now_ns();
        timely  = timely && said_ns < before_ns + mute_ns / 2;
        say(&d.workers[1], &(struct fby_message){.type = FBY_MSG_SCANNING,
                               .scanning = {d.session, slow.open, i, 4}});
    }
    answer_next(&d); /* of the first, once the other counts as mute */
    assert_true(!timely || fby_now_ns() - said_ns >= mute_ns);
    assert_delivers(&d, 0);
    dialogue_end(&d);
    return timely;
}

/* As long as it shows that it goes on. */
static void one_that_scans_is_waited_for(void **state)
{
    (void)state;
    for (int i = 0; i < 10 && !try_to_scan(); i++) {
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_does_not_answer_is_told_of),
        cmocka_unit_test(a_server_that_knows_no_worker_is_told_of),
        cmocka_unit_test(of_workers_without_room_one_says_why),
        cmocka_unit_test(one_that_scans_is_waited_for),
    };
    setenv("FOREBAY_TIME_DIVISOR", "10", 1);
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver_waiting", tests, NULL, NULL);
}
