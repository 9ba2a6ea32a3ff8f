/* SPDX-License-Identifier: Apache-2.0 */
/* How the receiver handles answers to OPEN, while the stream is opened and
 * later. */
#include "tests/trainer_client/dialogue_answers.h"

#include "common/log.h"
#include "pipeline/plan/order.h"

/* One worker has got OPEN. */
static struct fby_open begin_open(struct dialogue *d, int n)
{
    dialogue_begin(d, n);
    dialogue_start(d);
    join_session(d);
    return handshake(d, &d->workers[0]);
}

static void send_open_failed(struct dialogue *d, struct peer *worker,
    struct fby_open_id open, enum fby_open_failed_code code)
{
    send_message(worker, &(struct fby_message){.type = FBY_MSG_OPEN_FAILED,
                             .open_failed            = {
                                            .session = d->session,
                                            .open_id = open,
                                            .code    = code,
                                            .text    = "it does not open",
                             }});
}

/* The connection broke: HELLO comes again, then another OPEN. */
static struct fby_open greet_again(struct dialogue *d, struct peer *worker)
{
    send_message(worker, &(struct fby_message){.type = FBY_MSG_HELLO_FIRST,
                             .hello_first = {.session = d->session}});
    return handshake(d, worker);
}

static void assert_asks_for(
    struct dialogue *d, struct peer *worker, const char *data)
{
    struct fby_digest         want = digest_of(data);
    const struct fby_request *r =
        &await_message(d, worker, FBY_MSG_REQUEST)->request;
    assert_true(fby_digest_equal(&r->data, &want));
}

static void an_answer_to_an_older_open_decides_nothing(void **state)
{
    (void)state;
    struct dialogue   d;
    char              hex[65];
    struct fby_open   first  = begin_open(&d, 1);
    struct peer      *worker = &d.workers[0];
    struct fby_open   second = greet_again(&d, worker);
    struct fby_opened older  = opened_as(&first, "other data", "build");
    struct fby_opened newer  = opened_as(&second, "data", "build");
    assert_int_equal(second.open_id.value, first.open_id.value + 1);
    send_opened(worker, &older);
    send_open_failed(&d, worker, first.open_id, FBY_OPEN_NOT_FOUND);
    send_opened(worker, &newer);
    struct answer a;
    await_request(&d, &a, worker);
    send_opened(worker, &older);
    send_open_failed(&d, worker, first.open_id, FBY_OPEN_NOT_FOUND);
    send_opened(worker, &newer); /* a second OPENED changes nothing */
    send_answer(&a);
    assert_delivers(&d, 0);
    assert_string_equal(
        info_of(&d).data_digest, fby_hex(newer.data.bytes, 32, hex));
    assert_int_equal(stats_of(&d).protocol_errors, 0);
    dialogue_end(&d);
}

static void an_answer_to_no_open_or_other_content_is_an_error(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_open   open   = begin_open(&d, 1);
    struct fby_opened right  = opened_as(&open, "data", "build");
    struct fby_opened beyond = right;
    struct fby_opened other  = right;
    beyond.open_id.value++;
    other.content.bytes[31] ^= 1;
    send_opened(&d.workers[0], &beyond);
    await_errors(&d, 1);
    send_opened(&d.workers[0], &other);
    await_errors(&d, 2);
    assert_int_equal(phase_of(&d), FBY_PHASE_OPENING);
    send_opened(&d.workers[0], &right);
    assert_asks_for(&d, &d.workers[0], "data");
    assert_int_equal(stats_of(&d).protocol_errors, 2);
    dialogue_end(&d);
}

static void an_open_that_may_succeed_later_is_repeated(void **state)
{
    (void)state;
    static const enum fby_open_failed_code later[] = {
        FBY_OPEN_BUSY, FBY_OPEN_IO};
    struct dialogue d;
    struct fby_open open = begin_open(&d, 1);
    for (uint64_t i = 0; i < 2; i++) {
        int64_t begun_ns = fby_now_ns();
        send_open_failed(&d, &d.workers[0], open.open_id, later[i]);
        open = await_message(&d, &d.workers[0], FBY_MSG_OPEN)->open;
        assert_true(fby_now_ns() - begun_ns >= FBY_NS_PER_S / 2);
        assert_int_equal(open.open_id.value, i + 2);
    }
    struct fby_opened opened = opened_as(&open, "data", "build");
    send_opened(&d.workers[0], &opened);
    assert_asks_for(&d, &d.workers[0], "data");
    assert_no_message(&d, &d.workers[0], FBY_MSG_OPEN);
    dialogue_end(&d);
}

/* After the last answer: more workers may be registering. */
static void an_open_that_cannot_succeed_fails_with_the_workers_words(
    void **state)
{
    (void)state;
    static const enum fby_open_failed_code never[] = {FBY_OPEN_BAD_CONTENT,
        FBY_OPEN_BAD_LOCATION, FBY_OPEN_NOT_FOUND, FBY_OPEN_BAD_DATA,
        FBY_OPEN_DIFFERS};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        struct dialogue d;
        char            text[300];
        struct fby_open open     = begin_open(&d, 1);
        int64_t         begun_ns = fby_now_ns();
        send_open_failed(&d, &d.workers[0], open.open_id, never[i]);
        snprintf(text, sizeof(text), "it does not open: worker here (%s)",
            d.workers[0].endpoint);
        await_failure(&d, FOREBAY_CONFIG, text);
        assert_true(fby_now_ns() - begun_ns >= 300 * FBY_NS_PER_MS);
        dialogue_end(&d);
    }
}

/* The others decide, and it is not asked. */
static void a_worker_that_cannot_open_is_left_aside(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_open   open     = begin_open(&d, 2);
    struct fby_open   other    = handshake(&d, &d.workers[1]);
    struct fby_opened good     = opened_as(&open, "data", "build");
    int64_t           begun_ns = fby_now_ns();
    send_open_failed(&d, &d.workers[1], other.open_id, FBY_OPEN_NOT_FOUND);
    send_opened(&d.workers[0], &good);
    answer_next(&d);
    assert_true(fby_now_ns() - begun_ns >= 300 * FBY_NS_PER_MS);
    assert_delivers(&d, 0);
    (void)await_message(&d, &d.workers[1], FBY_MSG_BYE);
    assert_int_equal(stats_of(&d).workers_left_aside, 1);
    assert_int_equal(stats_of(&d).workers_in_use, 1);
    assert_int_equal(stats_of(&d).workers_known, 2);
    dialogue_end(&d);
}

/* A worker that cannot read tries again, and its scans find nothing. */
static void the_cause_why_a_worker_cannot_open_stays_shown(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[300];
    struct fby_open open = begin_open(&d, 1);
    snprintf(text, sizeof(text), "worker here (%s): cannot open d:x.tar: stale",
        d.workers[0].endpoint);
    send_message(
        &d.workers[0], &(struct fby_message){.type = FBY_MSG_OPEN_FAILED,
                           .open_failed            = {.session = d.session,
                                          .open_id             = open.open_id,
                                          .code                = FBY_OPEN_IO,
                                          .text = "cannot open d:x.tar: stale"}});
    await_waiting(&d, text);
    open = await_message(&d, &d.workers[0], FBY_MSG_OPEN)->open;
    send_message(
        &d.workers[0], &(struct fby_message){.type = FBY_MSG_SCANNING,
                           .scanning = {d.session, open.open_id, 0, 17}});
    struct fby_opened opened = opened_as(&open, "data", "build");
    await_waiting(&d, text);
    send_opened(&d.workers[0], &opened);
    answer_next(&d);
    assert_delivers(&d, 0);
    dialogue_end(&d);
}

static void scanning_is_shown_until_the_stream_is_open(void **state)
{
    (void)state;
    struct dialogue    d;
    char               text[300];
    struct fby_open    open    = begin_open(&d, 1);
    struct fby_message message = {
        .type = FBY_MSG_SCANNING, .scanning = {d.session, open.open_id, 3, 17}};
    snprintf(text, sizeof(text), "worker here (%s) is scanning: 3 of 17 shards",
        d.workers[0].endpoint);
    send_message(&d.workers[0], &message);
    await_waiting(&d, text);
    assert_int_equal(d.ready_queue.scan_done, 3);
    assert_int_equal(d.ready_queue.scan_total, 17);
    struct fby_opened opened = opened_as(&open, "data", "build");
    send_opened(&d.workers[0], &opened);
    (void)await_message(&d, &d.server, FBY_MSG_RENEW);
    message.scanning.shards_done = 4;
    send_message(&d.workers[0], &message);
    answer_next(&d);
    assert_delivers(&d, 0);
    assert_int_equal(d.ready_queue.scan_done, 3);
    await_waiting(&d, "");
    dialogue_end(&d);
}

/* The server lists the other of two when the stream is open. */
static struct fby_open begin_late(struct dialogue *d)
{
    dialogue_begin(d, 2);
    dialogue_start(d);
    d->session = await_message(d, &d->server, FBY_MSG_JOIN)->join.session;
    send_joined(d);
    send_workers(d, 0, 1, true);
    struct fby_open   open  = handshake(d, &d->workers[0]);
    struct fby_opened first = opened_as(&open, "data", "build");
    send_opened(&d->workers[0], &first);
    (void)await_message(d, &d->workers[0], FBY_MSG_REQUEST);
    send_workers(d, 1, 1, false);
    await_server(d);
    send_message(
        &d->workers[0], &(struct fby_message){.type = FBY_MSG_STALE_DATA,
                            .stale_data             = {.session = d->session,
                                            .request            = {1},
                                            .shard              = "",
                                            .text               = "gone"}});
    struct fby_open late = handshake(d, &d->workers[1]);
    assert_true(late.data.known && late.fingerprint.known);
    assert_true(fby_digest_equal(&late.data.digest, &first.data));
    assert_true(fby_digest_equal(&late.fingerprint.digest, &first.fingerprint));
    return late;
}

static void a_late_worker_is_asked_where_its_data_is_the_streams(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_open   late   = begin_late(&d);
    struct fby_opened opened = opened_as(&late, "data", "build");
    send_opened(&d.workers[1], &opened);
    answer_next(&d);
    assert_delivers(&d, 0);
    assert_int_equal(stats_of(&d).workers_left_aside, 1);
    dialogue_end(&d);
}

static void assert_says_digests(
    struct dialogue *d, const char *what, const char *want, const char *rest)
{
    char              text[400];
    char              a[17];
    char              b[17];
    struct fby_digest here   = digest_of("other");
    struct fby_digest agreed = digest_of(want);
    snprintf(text, sizeof(text), "worker here (%s): %s %s, the stream has %s%s",
        d->workers[1].endpoint, what, fby_hex(here.bytes, 8, a),
        fby_hex(agreed.bytes, 8, b), rest);
    await_failure(d, FOREBAY_CONFIG, text);
}

/* All are set aside then; the failure has the text of the last one. */
static void a_late_worker_of_another_build_is_left_aside(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_open   late  = begin_late(&d);
    struct fby_opened other = opened_as(&late, "data", "other");
    send_opened(&d.workers[1], &other);
    (void)await_message(&d, &d.workers[1], FBY_MSG_BYE);
    assert_says_digests(&d, "fingerprint", "build",
        ": start workers of the build that began the run, or begin a new run");
    dialogue_end(&d);
}

/* The other list has one sample less. */
static void send_other_data(struct dialogue *d, const struct fby_open *open)
{
    const struct fby_shard_info shard = {
        .name = "train-0.tar", .samples = SAMPLES - 1, .digest = {{1}}};
    struct fby_opened other = opened_as(open, "other", "build");
    other.samples           = shard.samples;
    other.shards            = &shard;
    send_opened(&d->workers[1], &other);
    (void)await_message(d, &d->workers[1], FBY_MSG_BYE);
}

static void assert_says_first_shard(struct dialogue *d)
{
    char text[120];
    snprintf(text, sizeof(text),
        "; first difference: shard train-0.tar (%d samples in the stream, %d "
        "at the worker)",
        SAMPLES, SAMPLES - 1);
    assert_says_digests(d, "data digest", "data", text);
}

static void a_late_worker_of_other_data_is_left_aside(void **state)
{
    (void)state;
    struct dialogue d;
    struct fby_open late = begin_late(&d);
    send_other_data(&d, &late);
    assert_says_first_shard(&d);
    dialogue_end(&d);
}

/* The answer OPEN_FAILED has no list. */
static void a_late_worker_of_other_data_is_asked_for_its_shards(void **state)
{
    (void)state;
    struct dialogue    d;
    struct fby_open    late   = begin_late(&d);
    struct fby_message failed = {.type = FBY_MSG_OPEN_FAILED,
        .open_failed                   = {
                              .session     = d.session,
                              .open_id     = late.open_id,
                              .code        = FBY_OPEN_DIFFERS,
                              .data        = {true, digest_of("other")},
                              .fingerprint = {true, digest_of("build")},
                              .text        = "it differs",
        }};
    assert_true(late.data.known);
    send_message(&d.workers[1], &failed);
    struct fby_open again =
        await_message(&d, &d.workers[1], FBY_MSG_OPEN)->open;
    assert_false(again.data.known || again.fingerprint.known);
    send_other_data(&d, &again);
    assert_says_first_shard(&d);
    dialogue_end(&d);
}

/* It gets another HELLO while the other opens: it has not answered, but it was
 * unreachable. */
static void an_absent_worker_does_not_delay_the_stream(void **state)
{
    (void)state;
    struct dialogue d;
    struct fby_open open = begin_open(&d, 2);
    (void)await_message(&d, &d.workers[1], FBY_MSG_HELLO);
    send_refused(&d, &d.workers[1], FBY_REFUSED_LEAVING, "leaving");
    (void)await_message(&d, &d.server, FBY_MSG_UNREACHABLE);
    (void)await_message(&d, &d.workers[1], FBY_MSG_HELLO);
    struct fby_opened opened = opened_as(&open, "data", "build");
    send_opened(&d.workers[0], &opened);
    (void)await_message(&d, &d.workers[0], FBY_MSG_REQUEST);
    assert_no_message(&d, &d.server, FBY_MSG_UNREACHABLE);
    dialogue_end(&d);
}

static void a_late_worker_that_cannot_open_is_left_aside(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[300];
    struct fby_open late = begin_late(&d);
    send_open_failed(&d, &d.workers[1], late.open_id, FBY_OPEN_DIFFERS);
    snprintf(text, sizeof(text), "worker here (%s): it does not open",
        d.workers[1].endpoint);
    await_failure(&d, FOREBAY_CONFIG, text);
    dialogue_end(&d);
}

/* Otherwise a worker that answers twice would outvote the other. */
static void a_worker_has_one_vote(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_open   open    = begin_open(&d, 2);
    struct fby_open   other   = handshake(&d, &d.workers[1]);
    struct fby_opened opened  = opened_as(&open, "data", "build");
    struct fby_opened against = opened_as(&other, "other", "build");
    send_opened(&d.workers[0], &opened);
    send_opened(&d.workers[0], &opened);
    send_opened(&d.workers[1], &against);
    assert_non_null(
        strstr(await_failed(&d, FOREBAY_CONFIG), "workers differ in data"));
    dialogue_end(&d);
}

/* ---- The agreed data ----------------------------------------------------- */

static void the_info_is_that_of_the_agreed_data(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_digest data  = digest_of("data");
    struct fby_digest build = digest_of("build");
    char              hex[65];
    dialogue_begin(&d, 1);
    d.options.epochs = 3;
    d.options.steps  = 20;
    open_all(&d);
    const struct fby_renew *renew =
        &await_message(&d, &d.server, FBY_MSG_RENEW)->renew;
    assert_true(renew->data.known && renew->fingerprint.known);
    assert_true(fby_digest_equal(&renew->data.digest, &data));
    assert_true(fby_digest_equal(&renew->fingerprint.digest, &build));
    assert_int_equal(renew->sequence, 1);
    (void)await_message(&d, &d.workers[0], FBY_MSG_REQUEST);
    struct forebay_info info = info_of(&d);
    assert_int_equal(info.samples, SAMPLES);
    assert_int_equal(info.steps_per_epoch, SAMPLES / ROWS);
    assert_int_equal(info.global_batch, ROWS);
    assert_int_equal(info.n_fields, FIELDS);
    assert_int_equal(info.seed, 7);
    assert_int_equal(info.first_epoch + info.first_step, 0);
    assert_int_equal(info.end_step, 15);
    assert_string_equal(info.job, "the job");
    assert_string_equal(
        info.content_digest, fby_hex(d.setup.content_digest.bytes, 32, hex));
    assert_string_equal(info.data_digest, fby_hex(data.bytes, 32, hex));
    assert_string_equal(info.fingerprint, fby_hex(build.bytes, 32, hex));
    dialogue_end(&d);
}

/* Two shards, the second of three samples, in blocks of one shard. */
static void open_blocks(struct dialogue *d)
{
    static const char text[] =
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:train-{0..1}.tar\","
        " shuffle: {block: 1}, last: drop}}\n"
        "global_batch: 4\n"
        "seed: 7\n"
        "fields:\n"
        "  colour: {from: col, decode: label, classes: 200}\n"
        "  label: {from: cls, classes: 200}\n";
    static const struct fby_shard_info shards[2] = {
        {.name = "train-0.tar", .samples = SAMPLES - 3},
        {.name = "train-1.tar", .samples = 3}};

    dialogue_begin(d, 1);
    d->options.pipeline_text = text;
    dialogue_start(d);
    join_session(d);
    struct fby_open   open   = handshake(d, &d->workers[0]);
    struct fby_opened opened = opened_as(&open, "data", "build");
    opened.shards            = shards;
    opened.n_shards          = 2;
    send_opened(&d->workers[0], &opened);
}

static void sample_numbers_follow_from_the_samples_of_each_shard(void **state)
{
    (void)state;
    static const uint32_t samples[2] = {SAMPLES - 3, 3};

    struct dialogue         d;
    struct fby_order       *order = NULL;
    struct fby_error_detail why   = {""};
    open_blocks(&d);
    struct fby_order_spec spec =
        fby_order_spec_of(&d.setup.split->content, 7, 0);
    spec.samples       = SAMPLES;
    spec.shard_samples = samples;
    spec.n_shards      = 2;
    assert_ok(fby_order_create(&spec, &order, &why));
    for (uint64_t step = 0; step < SAMPLES / ROWS; step++) {
        uint64_t want[ROWS];
        fby_order_fill_samples(order, step, 0, ROWS, want);
        (void)answer_next(&d);
        struct forebay_batch *batch = next_batch(&d);
        assert_memory_equal(batch->samples, want, sizeof(want));
        fby_batch_unref(batch);
    }
    fby_order_destroy(&order);
    dialogue_end(&d);
}

static uint64_t end_step(uint64_t steps, uint64_t epochs)
{
    struct dialogue d;
    dialogue_begin(&d, 1);
    d.options.steps  = steps;
    d.options.epochs = epochs;
    open_all(&d);
    (void)await_message(&d, &d.workers[0], FBY_MSG_REQUEST);
    uint64_t end = info_of(&d).end_step;
    dialogue_end(&d);
    return end;
}

static void a_stream_ends_with_its_steps_or_its_epochs(void **state)
{
    (void)state;
    assert_int_equal(end_step(0, 0), UINT64_MAX);
    assert_int_equal(end_step(3, 0), 3);
    assert_int_equal(end_step(0, 2), 10);
    assert_int_equal(end_step(9, 2), 9);
    assert_int_equal(end_step(10, 2), 10);
    assert_int_equal(end_step(11, 2), 10); /* the epochs' end comes first */
}

/* A token of epoch 1, step 3. */
static void begin_with_token(struct dialogue *d, char *text)
{
    struct fby_setup        setup = {0};
    struct fby_error_detail why   = {""};
    dialogue_begin(d, 1);
    assert_ok(fby_setup_init(&setup, &d->options, &why));
    const struct fby_token token = {
        .content     = setup.content_digest,
        .data        = digest_of("data"),
        .fingerprint = digest_of("build"),
        .seed        = 7,
        .epoch       = 1,
        .step        = 3,
    };
    fby_setup_fini(&setup);
    d->options.token = fby_token_encode(&token, text);
    dialogue_start(d);
}

static void a_token_sets_the_position_and_the_data(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[FBY_TOKEN_TEXT_SIZE];
    begin_with_token(&d, text);
    const struct fby_join join =
        await_message(&d, &d.server, FBY_MSG_JOIN)->join;
    assert_int_equal(join.seed, 7);
    assert_int_equal(join.epoch, 1);
    assert_int_equal(join.step, 3);
    d.session = join.session;
    send_joined(&d);
    send_workers(&d, 0, 1, true);
    struct fby_open   open = handshake(&d, &d.workers[0]);
    struct fby_opened o    = opened_as(&open, "data", "build");
    assert_true(open.data.known && open.fingerprint.known);
    assert_true(fby_digest_equal(&open.data.digest, &o.data));
    assert_true(fby_digest_equal(&open.fingerprint.digest, &o.fingerprint));
    send_opened(&d.workers[0], &o);
    struct fby_request r = answer_next(&d);
    assert_int_equal(r.epoch, 1);
    assert_int_equal(r.step, 3);
    assert_int_equal(r.seed, 7);
    assert_int_equal(info_of(&d).first_epoch, 1);
    assert_int_equal(info_of(&d).first_step, 3);
    assert_delivers(&d, 8);
    dialogue_end(&d);
}

static void a_job_of_other_data_than_the_tokens_is_refused(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[FBY_TOKEN_TEXT_SIZE];
    begin_with_token(&d, text);
    d.session = await_message(&d, &d.server, FBY_MSG_JOIN)->join.session;
    const struct fby_message m = {.type = FBY_MSG_JOINED,
        .joined                         = {
                                    .session      = d.session,
                                    .server       = d.server.instance,
                                    .data         = {true, digest_of("other")},
                                    .lease_ms     = 60000,
                                    .heartbeat_ms = 20000,
        }};
    send_message(&d.server, &m);
    struct fby_digest data  = digest_of("data");
    struct fby_digest other = digest_of("other");
    char              want[300];
    char              a[17];
    char              b[17];
    snprintf(want, sizeof(want),
        "the token and the job disagree: data digest %s, but it must be %s",
        fby_hex(other.bytes, 8, a), fby_hex(data.bytes, 8, b));
    await_failure(&d, FOREBAY_CONFIG, want);
    dialogue_end(&d);
}

/* The worker is asked once more, for its list, from which the message is made.
 */
static void data_other_than_the_tokens_is_described(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[FBY_TOKEN_TEXT_SIZE];
    setenv("FOREBAY_CACHE_DIR", "/proc/none", 1); /* no list of "data" */
    begin_with_token(&d, text);
    d.session = await_message(&d, &d.server, FBY_MSG_JOIN)->join.session;
    send_joined(&d);
    send_workers(&d, 0, 1, true);
    struct fby_open          open = handshake(&d, &d.workers[0]);
    const struct fby_message m    = {.type = FBY_MSG_OPEN_FAILED,
           .open_failed                    = {.session = d.session,
                                  .open_id             = open.open_id,
                                  .code                = FBY_OPEN_DIFFERS,
                                  .data                = {true, digest_of("other")},
                                  .fingerprint         = open.fingerprint,
                                  .text                = "it differs"}};
    send_message(&d.workers[0], &m);
    open = await_message(&d, &d.workers[0], FBY_MSG_OPEN)->open;
    assert_false(open.data.known || open.fingerprint.known);
    struct fby_opened o = opened_as(&open, "other", "build");
    send_opened(&d.workers[0], &o);
    char want[300];
    snprintf(want, sizeof(want),
        "the data changed since this state was saved: 20 samples in 1 shard "
        "now, at worker here (%s): bring the data back, or start a new run "
        "without the state",
        d.workers[0].endpoint);
    await_failure(&d, FOREBAY_CONFIG, want);
    dialogue_end(&d);
}

/* A list of each of these endpoints, and then one with a usable worker. */
static void a_worker_without_a_numeric_endpoint_is_ignored(void **state)
{
    static const char *const evil[] = {
        "ipc:///tmp/forebay-test", "tcp://localhost:1", "tcp://*:1"};
    struct dialogue d;
    (void)state;
    dialogue_begin(&d, 2);
    dialogue_start(&d);
    d.session = await_message(&d, &d.server, FBY_MSG_JOIN)->join.session;
    send_joined(&d);
    for (uint64_t i = 0; i < 3; i++) {
        d.workers[0].named[0] = evil[i];
        send_workers(&d, 0, 1, true);
        await_errors(&d, i + 1);
    }
    send_workers(&d, 1, 1, true);
    (void)handshake(&d, &d.workers[1]);
    assert_int_equal(stats_of(&d).protocol_errors, 3);
    dialogue_end(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_to_an_older_open_decides_nothing),
        cmocka_unit_test(an_answer_to_no_open_or_other_content_is_an_error),
        cmocka_unit_test(an_open_that_may_succeed_later_is_repeated),
        cmocka_unit_test(
            an_open_that_cannot_succeed_fails_with_the_workers_words),
        cmocka_unit_test(a_worker_that_cannot_open_is_left_aside),
        cmocka_unit_test(the_cause_why_a_worker_cannot_open_stays_shown),
        cmocka_unit_test(scanning_is_shown_until_the_stream_is_open),
        cmocka_unit_test(a_late_worker_is_asked_where_its_data_is_the_streams),
        cmocka_unit_test(a_late_worker_of_another_build_is_left_aside),
        cmocka_unit_test(a_late_worker_of_other_data_is_left_aside),
        cmocka_unit_test(a_late_worker_of_other_data_is_asked_for_its_shards),
        cmocka_unit_test(a_late_worker_that_cannot_open_is_left_aside),
        cmocka_unit_test(an_absent_worker_does_not_delay_the_stream),
        cmocka_unit_test(a_worker_has_one_vote),
        cmocka_unit_test(the_info_is_that_of_the_agreed_data),
        cmocka_unit_test(sample_numbers_follow_from_the_samples_of_each_shard),
        cmocka_unit_test(a_stream_ends_with_its_steps_or_its_epochs),
        cmocka_unit_test(a_token_sets_the_position_and_the_data),
        cmocka_unit_test(a_job_of_other_data_than_the_tokens_is_refused),
        cmocka_unit_test(data_other_than_the_tokens_is_described),
        cmocka_unit_test(a_worker_without_a_numeric_endpoint_is_ignored),
    };
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver_open", tests, NULL, NULL);
}
