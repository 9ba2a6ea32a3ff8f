/* SPDX-License-Identifier: Apache-2.0 */
/* How the receiver handles workers that refuse a request, serve other data,
 * leave or connect again. */
#include "tests/trainer_client/dialogue_answers.h"

#include <stdatomic.h>

#include "common/log.h"

/* ---- Refusals ------------------------------------------------------------ */

static void a_busy_worker_is_asked_again_when_it_says(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    uint64_t id       = a.end.end.request.value;
    int64_t  begun_ns = fby_now_ns();
    send_busy_for(
        &d, a.worker, a.end.end.request, 150, "no memory for a batch");
    await_request(&d, &a, &d.workers[0]);
    assert_true(fby_now_ns() - begun_ns >= 150 * FBY_NS_PER_MS);
    assert_true(a.end.end.request.value > id);
    assert_int_equal(stats_of(&d).busy, 1);
    send_message(a.worker, &a.header);
    await_waiting(&d, "");
    send_chunk(&a, 0);
    send_chunk(&a, 1);
    send_message(a.worker, &a.end);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).rerequests, 0); /* BUSY is not a loss */
    dialogue_end(&d);
}

static void a_lost_request_is_asked_again(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    struct answer   b;
    dialogue_open(&d, 2);
    struct peer *other = await_either_request(&d, &a);
    send_lost(&a);
    await_request(&d, &b, other); /* it may have lost all its requests */
    assert_int_equal(b.header.header.step, 0);
    send_answer(&b);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).lost, 1);
    assert_int_equal(stats_of(&d).rerequests, 1);
    dialogue_end(&d);
}

static void forgotten_content_is_opened_again(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    send_message(a.worker, &(struct fby_message){.type = FBY_MSG_SEND_CONTENT,
                               .send_content = {d.session, a.end.end.request,
                                   d.setup.content_digest}});
    struct fby_open open = await_message(&d, &d.workers[0], FBY_MSG_OPEN)->open;
    assert_int_equal(open.open_id.value, 2);
    assert_no_message(&d, &d.workers[0], FBY_MSG_REQUEST);
    struct fby_opened opened = opened_as(&open, "data", "build");
    send_opened(&d.workers[0], &opened);
    answer_next(&d);
    assert_delivers(&d, 0);
    dialogue_end(&d);
}

static void send_cannot(const struct dialogue *d, const struct answer *a,
    const char *shard, const char *words)
{
    const struct fby_message message = {.type = FBY_MSG_CANNOT,
        .cannot                               = {
                                          .session = d->session,
                                          .request = a->end.end.request,
                                          .code    = FBY_CANNOT_SAMPLE,
                                          .shard   = shard,
                                          .key     = "",
                                          .text    = words,
        }};
    send_message(a->worker, &message);
}

#define REMEDY                                                  \
    ": replace it, set on_bad_sample: substitute, or list all " \
    "bad samples with forebay lint --pipeline FILE --check"

/* All workers have refused the step: `shard` is to blame, or none. */
static void check_cannot(const char *shard, const char *words)
{
    struct dialogue d;
    struct answer   a;
    char            text[512];
    dialogue_open(&d, 2);
    struct peer *other = await_either_request(&d, &a);
    for (int i = 0; i < 2; i++) {
        send_cannot(&d, &a, shard, words);
        if (i == 0) {
            await_request(&d, &a, other);
        }
    }
    snprintf(text, sizeof(text), "in in1k:train-{0..0}.tar: %s" REMEDY, words);
    if (shard[0] == '\0') {
        snprintf(
            text, sizeof(text), "worker here (%s): %s", other->endpoint, words);
    }
    await_failure(&d, FOREBAY_DATA, text);
    dialogue_end(&d);
}

static void a_step_that_all_workers_refuse_fails_the_stream(void **state)
{
    (void)state;
    check_cannot("train-0.tar", "shard train-0.tar, sample 7: cut short");
    check_cannot("", "more memory than there is");
}

/* A cause that says what to do gets no other advice. */
static void a_cause_with_a_remedy_is_passed_on_as_it_is(void **state)
{
    (void)state;
    static const char words[] = "sample 7: class 'add me' is not in names: add "
                                "it to names or correct the data";
    struct dialogue   d;
    struct answer     a;
    dialogue_begin(&d, 1);
    open_all(&d);
    await_request(&d, &a, &d.workers[0]);
    send_cannot(&d, &a, "train-0.tar", words);
    char text[256];
    snprintf(text, sizeof(text), "in in1k:train-{0..0}.tar: %s", words);
    await_failure(&d, FOREBAY_DATA, text);
    dialogue_end(&d);
}

static void batches_before_the_one_that_fails_are_delivered(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   first;
    struct answer   second;
    dialogue_begin(&d, 1);
    d.options.window_batches = 2;
    open_all(&d);
    await_request(&d, &first, &d.workers[0]);
    await_request(&d, &second, &d.workers[0]);
    send_cannot(&d, &second, "train-0.tar", "cut short");
    send_answer(&first);
    assert_delivers(&d, 0);
    await_failure(
        &d, FOREBAY_DATA, "in in1k:train-{0..0}.tar: cut short" REMEDY);
    dialogue_end(&d);
}

struct heard { /* log lines of level warning and error */
    atomic_int n_lines;
    atomic_int n_cannot;
};

static void hear(void *arg, enum fby_log_level level, const char *line)
{
    struct heard *heard = arg;
    (void)level;
    atomic_fetch_add(&heard->n_lines, 1);
    if (strncmp(line, "WORKER-CANNOT worker here (", 27) == 0 &&
        strstr(line, "cut short; another worker delivered it") != NULL) {
        atomic_fetch_add(&heard->n_cannot, 1);
    }
}

/* A caller reports the failure of a stream, so the log need not. */
static void only_a_refusal_that_another_worker_resolves_is_logged(void **state)
{
    (void)state;
    struct heard    heard = {0};
    struct dialogue d;
    struct answer   a;
    fby_log_redirect(FBY_LOG_WARN, hear, &heard);
    check_cannot("train-0.tar", "cut short");
    assert_int_equal(heard.n_lines, 0);
    dialogue_open(&d, 2);
    struct peer *other = await_either_request(&d, &a);
    send_cannot(&d, &a, "train-0.tar", "cut short");
    await_request(&d, &a, other);
    assert_int_equal(heard.n_cannot, 0);
    send_answer(&a);
    assert_delivers(&d, 0);
    assert_int_equal(heard.n_cannot, 1);
    dialogue_end(&d);
    fby_log_redirect(FBY_LOG_ERROR, NULL, NULL);
    assert_int_equal(heard.n_lines, 1);
}

/* ---- Other data than it was opened with ---------------------------------- */

/* The only worker's message, which names the stream's failure. */
static void check_aside(const struct fby_message *message, const char *words)
{
    struct dialogue    d;
    struct answer      a;
    char               text[500];
    struct fby_message m = *message;
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    m.stale_data.session = d.session; /* first in all of them */
    send_message(a.worker, &m);
    (void)await_message(&d, &d.workers[0], FBY_MSG_BYE);
    snprintf(text, sizeof(text), "worker here (%s): %s", d.workers[0].endpoint,
        words);
    bool names_shard =
        m.type == FBY_MSG_STALE_DATA && m.stale_data.shard[0] != '\0';
    await_failure(&d, names_shard ? FOREBAY_DATA : FOREBAY_CONFIG, text);
    assert_int_equal(stats_of(&d).workers_left_aside, 1);
    dialogue_end(&d);
}

static void workers_that_serve_other_bytes_are_left_aside(void **state)
{
    (void)state;
    char              text[200];
    char              hex[17];
    struct fby_digest other = digest_of("other");
    check_aside(&(struct fby_message){.type = FBY_MSG_STALE_DATA,
                    .stale_data             = {.request = {1},
                                    .shard              = "train-0.tar",
                                    .text = "shard train-0.tar: another size"}},
        "shard train-0.tar: another size: restore the file and resume, or "
        "begin a "
        "new run with the data as it is now");
    check_aside(&(struct fby_message){.type = FBY_MSG_STALE_DATA,
                    .stale_data             = {.request = {1},
                                    .shard              = "",
                                    .text               = "it has other data"}},
        "it has other data");
    snprintf(text, sizeof(text),
        "its fingerprint is %s: it runs another build: start workers of the "
        "build that began the run, or begin a new run",
        fby_hex(other.bytes, 8, hex));
    check_aside(
        &(struct fby_message){.type = FBY_MSG_WRONG_FINGERPRINT,
            .wrong_fingerprint      = {.request = {1}, .fingerprint = other}},
        text);
    check_aside(&(struct fby_message){.type = FBY_MSG_REFUSED,
                    .refused                = {.code = FBY_REFUSED_VERSION,
                                       .version_min  = 2,
                                       .version_max  = 3,
                                       .text         = "no version in common"}},
        "it speaks versions 2 to 3 of the protocol, and this process version "
        "1: install the same release of Forebay on both");
}

/* ---- Leaving, and what a worker still has -------------------------------- */

static void a_worker_that_leaves_finishes_what_it_has(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    struct answer   b;
    dialogue_open(&d, 2);
    struct peer *other = await_either_request(&d, &a);
    send_message(a.worker,
        &(struct fby_message){.type = FBY_MSG_LEAVE, .leave = {d.session}});
    send_answer(&a);
    assert_delivers(&d, 0);
    (void)await_message(&d, a.worker, FBY_MSG_BYE);
    for (uint64_t step = 1; step < 4; step++) {
        await_request(&d, &b, other);
        send_answer(&b);
        assert_delivers(&d, step);
    }
    assert_no_message(&d, a.worker, FBY_MSG_REQUEST);
    assert_int_equal(stats_of(&d).workers_known, 1);
    assert_int_equal(stats_of(&d).rerequests, 0);
    dialogue_end(&d);
}

static void welcome_again(
    struct dialogue *d, const struct fby_request_id *open, size_t n_open)
{
    struct peer *worker = &d->workers[0];
    send_message(worker, &(struct fby_message){.type = FBY_MSG_HELLO_FIRST,
                             .hello_first = {.session = d->session}});
    send_welcome_with(
        worker, &await_message(d, worker, FBY_MSG_HELLO)->hello, open, n_open);
}

static void a_new_route_keeps_what_the_worker_names(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_open(&d, 1);
    await_request(&d, &a, &d.workers[0]);
    welcome_again(&d, &a.end.end.request, 1);
    send_answer(&a);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).lost, 0);
    await_request(&d, &a, &d.workers[0]);
    welcome_again(&d, NULL, 0);
    await_request(&d, &a, &d.workers[0]);
    send_answer(&a);
    assert_delivers(&d, 1);
    assert_int_equal(stats_of(&d).lost, 1);
    assert_int_equal(stats_of(&d).reconnects, 2);
    dialogue_end(&d);
}

/* PINGs come every second. */
static void a_pong_says_what_the_worker_still_has(void **state)
{
    (void)state;
    struct dialogue d;
    struct answer   a;
    dialogue_begin(&d, 1);
    d.workers[0].silent = true;
    open_all(&d);
    await_request(&d, &a, &d.workers[0]);
    const struct fby_ping *ping =
        &await_message(&d, &d.workers[0], FBY_MSG_PING)->ping;
    assert_int_equal(ping->session.value, d.session.value);
    send_pong(&d.workers[0], ping, &a.end.end.request, 1);
    ping = &await_message(&d, &d.workers[0], FBY_MSG_PING)->ping;
    assert_no_message(&d, &d.workers[0], FBY_MSG_REQUEST);
    send_pong(&d.workers[0], ping, NULL, 0);
    answer_next(&d);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).lost, 1);
    dialogue_end(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_worker_is_asked_again_when_it_says),
        cmocka_unit_test(a_lost_request_is_asked_again),
        cmocka_unit_test(forgotten_content_is_opened_again),
        cmocka_unit_test(a_step_that_all_workers_refuse_fails_the_stream),
        cmocka_unit_test(a_cause_with_a_remedy_is_passed_on_as_it_is),
        cmocka_unit_test(batches_before_the_one_that_fails_are_delivered),
        cmocka_unit_test(only_a_refusal_that_another_worker_resolves_is_logged),
        cmocka_unit_test(workers_that_serve_other_bytes_are_left_aside),
        cmocka_unit_test(a_worker_that_leaves_finishes_what_it_has),
        cmocka_unit_test(a_new_route_keeps_what_the_worker_names),
        cmocka_unit_test(a_pong_says_what_the_worker_still_has),
    };
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver_refusals", tests, NULL, NULL);
}
