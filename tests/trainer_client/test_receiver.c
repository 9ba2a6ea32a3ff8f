/* SPDX-License-Identifier: Apache-2.0 */
/* The receiver's messages to a server and to workers, and how it handles each
 * of their messages. */
#include "tests/descriptors.h"
#include "tests/trainer_client/dialogue_answers.h"

#include <unistd.h>

#include "common/log.h"

/* ---- Messages it sends --------------------------------------------------- */

static void a_join_and_a_hello_identify_the_client(void **state)
{
    (void)state;
    struct dialogue d;
    char            host[256] = "";
    dialogue_begin(&d, 1);
    d.options.rank  = 1;
    d.options.world = 2;
    dialogue_start(&d);
    gethostname(host, sizeof(host) - 1);
    const struct fby_join *join =
        &await_message(&d, &d.server, FBY_MSG_JOIN)->join;
    assert_int_not_equal(join->session.value, 0);
    assert_string_equal(join->job, "the job");
    assert_int_equal(join->rank, 1);
    assert_int_equal(join->world, 2);
    assert_string_equal(join->host, host);
    assert_int_equal(join->pid, getpid());
    assert_int_equal(join->seed, 7);
    assert_true(fby_digest_equal(&join->content, &d.setup.content_digest));
    assert_false(join->data.known || join->fingerprint.known);
    assert_int_equal(join->epoch + join->step, 0);
    d.session = join->session;
    send_joined(&d);
    send_workers(&d, 0, 1, true);
    const struct fby_hello *h =
        &await_message(&d, &d.workers[0], FBY_MSG_HELLO)->hello;
    assert_int_equal(h->session.value, d.session.value);
    assert_int_equal(h->version_min, FBY_PROTOCOL_VERSION);
    assert_int_equal(h->version_max, FBY_PROTOCOL_VERSION);
    assert_int_equal(h->features, FBY_FEATURES);
    assert_int_equal(h->max_bytes, FIELDS * ROWS / 2);
    assert_string_equal(h->job, "the job");
    assert_int_equal(h->rank, 1);
    assert_string_equal(h->host, host);
    assert_int_equal(h->pid, getpid());
    dialogue_end(&d);
}

static void an_open_names_the_content_and_its_location(void **state)
{
    (void)state;
    struct dialogue d;
    dialogue_begin(&d, 1);
    dialogue_start(&d);
    join_session(&d);
    struct fby_open open = handshake(&d, &d.workers[0]);
    assert_int_equal(open.session.value, d.session.value);
    assert_int_equal(open.open_id.value, 1);
    assert_int_equal(open.content.size, d.setup.content.size);
    assert_memory_equal(
        open.content.data, d.setup.content.data, open.content.size);
    assert_string_equal(open.location, "in1k:train-{0..0}.tar");
    assert_false(open.data.known || open.fingerprint.known);
    dialogue_end(&d);
}

static void a_request_asks_for_the_step_of_the_agreed_data(void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_digest data  = digest_of("data");
    struct fby_digest build = digest_of("build");
    uint64_t          last  = 0;
    dialogue_open(&d, 1);
    for (uint64_t step = 0; step < 7; step++) {
        struct fby_request r = answer_next(&d);
        assert_int_equal(r.session.value, d.session.value);
        assert_true(r.request.value > last);
        assert_true(fby_digest_equal(&r.content, &d.setup.content_digest));
        assert_true(fby_digest_equal(&r.data, &data));
        assert_true(fby_digest_equal(&r.fingerprint, &build));
        assert_int_equal(r.seed, 7);
        assert_int_equal(r.epoch, step / 5);
        assert_int_equal(r.step, step % 5);
        assert_int_equal(r.first_row, 0);
        assert_int_equal(r.rows, ROWS);
        assert_int_equal(r.fields, 0);
        assert_int_equal(r.max_bytes, FIELDS * ROWS);
        assert_int_equal(r.n_choices, FIELDS);
        last = r.request.value;
        assert_delivers(&d, step);
    }
    dialogue_end(&d);
}

/* One choice for each selected field, in the order of the pipeline. */
static void a_request_chooses_the_coding_of_each_selected_field(void **state)
{
    (void)state;
    static const char text[] =
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:train-{0..0}.tar\", last: drop}}\n"
        "global_batch: 4\n"
        "fields:\n"
        "  a: {from: a.cls, classes: 200, wire: {filter: none, codec: lz4}}\n"
        "  b: {from: b.cls, classes: 200, wire: {filter: delta,"
        " codec: store}}\n"
        "  c: {from: c.cls, classes: 200}\n"
        "  d: {from: d.cls, classes: 200, wire: {filter: byte_shuffle,"
        " codec: lz4}}\n";
    const char *const fields[] = {"d", "b", "c"};
    struct dialogue   d;
    struct peer      *worker = NULL;
    dialogue_begin(&d, 1);
    d.options.pipeline_text = text;
    d.options.fields        = fields;
    d.options.n_fields      = 3;
    open_all(&d);
    const struct fby_request *r =
        &await_any_message(&d, FBY_MSG_REQUEST, &worker)->request;
    assert_int_equal(r->fields, 1U << 1 | 1U << 2 | 1U << 3);
    assert_int_equal(r->n_choices, 3);
    assert_int_equal(r->choices[0].filter, FBY_FILTER_DELTA);
    assert_int_equal(r->choices[0].codec, FBY_CODEC_STORE);
    assert_int_equal(r->choices[1].filter, FBY_AUTO);
    assert_int_equal(r->choices[1].codec, FBY_AUTO);
    assert_int_equal(r->choices[2].filter, FBY_FILTER_BYTE_SHUFFLE);
    assert_int_equal(r->choices[2].codec, FBY_CODEC_LZ4);
    assert_int_equal(r->max_bytes, 3 * ROWS);
    dialogue_end(&d);
}

/* `n` bytes of chunks since the HELLO of `route`. */
static void assert_credit(
    struct dialogue *d, struct fby_route_id route, uint64_t n)
{
    uint64_t received = 0;
    while (received < n) {
        const struct fby_credit *credit =
            &await_message(d, &d->workers[0], FBY_MSG_CREDIT)->credit;
        assert_int_equal(credit->session.value, d->session.value);
        assert_int_equal(credit->route.value, route.value);
        assert_true(credit->received > received);
        received = credit->received;
    }
    assert_int_equal(received, n);
}

static void every_chunk_is_credited_used_or_not(void **state)
{
    (void)state;
    enum { FRAME = FBY_CHUNK_PREFIX + ROWS };
    struct dialogue d;
    struct answer   a;
    dialogue_begin(&d, 1);
    dialogue_start(&d);
    join_session(&d);
    const struct fby_hello hello =
        await_message(&d, &d.workers[0], FBY_MSG_HELLO)->hello;
    send_welcome(&d.workers[0], &hello);
    struct fby_open open = await_message(&d, &d.workers[0], FBY_MSG_OPEN)->open;
    struct fby_opened o  = opened_as(&open, "data", "build");
    send_opened(&d.workers[0], &o);
    await_request(&d, &a, &d.workers[0]);
    send_answer(&a);
    assert_delivers(&d, 0);
    assert_credit(&d, hello.route, UINT64_C(2) * FRAME);
    send_chunk(&a, 0); /* late */
    a.chunks[1].request.value += 1000;
    send_chunk(&a, 1); /* never asked for */
    a.chunks[0].session.value ^= 1;
    send_chunk(&a, 0); /* of another session */
    assert_credit(&d, hello.route, UINT64_C(5) * FRAME);
    assert_int_equal(stats_of(&d).late_chunks, 1);
    assert_int_equal(stats_of(&d).wire_bytes, 5 * FRAME);
    dialogue_end(&d);
}

static void closing_says_quit_and_bye(void **state)
{
    (void)state;
    struct dialogue d;
    dialogue_open(&d, 2);
    answer_next(&d);
    assert_delivers(&d, 0);
    fby_receiver_destroy(&d.receiver);
    assert_int_equal(
        await_message(&d, &d.server, FBY_MSG_QUIT)->quit.session.value,
        d.session.value);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            await_message(&d, &d.workers[i], FBY_MSG_BYE)->bye.session.value,
            d.session.value);
    }
    dialogue_end(&d);
}

/* ---- Messages of the server ---------------------------------------------- */

static void refuse(struct dialogue *d, enum fby_join_refused_code code)
{
    send_message(&d->server, &(struct fby_message){.type = FBY_MSG_JOIN_REFUSED,
                                 .join_refused           = {
                                               .session = d->session,
                                               .code    = code,
                                               .text    = "rank 1 has another",
                                 }});
}

static void a_refusal_fails_a_stream_that_is_not_open(void **state)
{
    (void)state;
    for (int code = FBY_JOIN_WORLD; code <= FBY_JOIN_FULL; code++) {
        struct dialogue d;
        char            text[200];
        dialogue_begin(&d, 1);
        dialogue_start(&d);
        snprintf(text, sizeof(text), "no answer from the server %s",
            d.server.endpoint);
        await_waiting(&d, text);
        d.session = await_message(&d, &d.server, FBY_MSG_JOIN)->join.session;
        refuse(&d, (enum fby_join_refused_code)code);
        await_failure(
            &d, FOREBAY_CONFIG, "the server refused: rank 1 has another");
        dialogue_end(&d);
    }
}

static void a_stream_without_memory_for_a_batch_fails(void **state)
{
    (void)state;
    struct dialogue d;
    char            text[80];
    dialogue_begin(&d, 1);
    d.pool_out_bytes = UINT64_C(1) << 60;
    open_all(&d);
    snprintf(text, sizeof(text), "no memory for a batch of %llu bytes",
        (unsigned long long)d.setup.out_bytes);
    await_failure(&d, FOREBAY_SYSTEM, text);
    dialogue_end(&d);
}

static void an_open_stream_fails_only_for_other_data(void **state)
{
    (void)state;
    for (int code = FBY_JOIN_WORLD; code <= FBY_JOIN_FULL; code++) {
        struct dialogue d;
        bool fatal = code == FBY_JOIN_DATA || code == FBY_JOIN_FINGERPRINT;
        dialogue_open(&d, 1);
        answer_next(&d);
        assert_delivers(&d, 0);
        refuse(&d, (enum fby_join_refused_code)code);
        if (fatal) {
            await_failure(
                &d, FOREBAY_CONFIG, "the server refused: rank 1 has another");
        } else { /* it asks again when a lease has passed */
            (void)await_message(&d, &d.server, FBY_MSG_QUIT);
            answer_next(&d);
            assert_delivers(&d, 1);
            assert_int_equal(phase_of(&d), FBY_PHASE_STREAMING);
            assert_no_message(&d, &d.server, FBY_MSG_JOIN);
        }
        dialogue_end(&d);
    }
}

static void a_server_that_does_not_know_the_session_is_joined_again(
    void **state)
{
    (void)state;
    struct dialogue   d;
    struct fby_digest data = digest_of("data");
    dialogue_open(&d, 1);
    answer_next(&d);
    assert_delivers(&d, 0);
    send_message(&d.server, &(struct fby_message){.type = FBY_MSG_JOIN_FIRST,
                                .join_first             = {d.session}});
    const struct fby_join *join =
        &await_message(&d, &d.server, FBY_MSG_JOIN)->join;
    assert_int_equal(join->session.value, d.session.value);
    assert_true(join->data.known && join->fingerprint.known);
    assert_true(fby_digest_equal(&join->data.digest, &data));
    dialogue_end(&d);
}

static void a_server_without_workers_is_reported(void **state)
{
    (void)state;
    struct dialogue d;
    dialogue_begin(&d, 1);
    dialogue_start(&d);
    d.session = await_message(&d, &d.server, FBY_MSG_JOIN)->join.session;
    send_joined(&d);
    await_waiting(&d, "the server knows no worker yet");
    send_workers(&d, 0, 1, true);
    struct fby_open open = handshake(&d, &d.workers[0]);
    send_message(
        &d.workers[0], &(struct fby_message){.type = FBY_MSG_SCANNING,
                           .scanning = {d.session, open.open_id, 1, 2}});
    char text[200];
    snprintf(text, sizeof(text), "worker here (%s) is scanning: 1 of 2 shards",
        d.workers[0].endpoint);
    await_waiting(&d, text);
    send_joined(&d); /* that there are workers is known by now */
    await_server(&d);
    await_waiting(&d, text);
    dialogue_end(&d);
}

/* There is one worker from the next step on. */
static void answer_rest(struct dialogue *d, struct peer *worker)
{
    struct answer a;
    for (uint64_t step = 1; step < 3; step++) {
        await_request(d, &a, worker);
        send_answer(&a);
        assert_delivers(d, step);
    }
}

/* One list names the removed, another those that are left. */
static void a_worker_off_the_list_is_forgotten_once_it_fails(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        struct dialogue d;
        dialogue_open(&d, 3);
        answer_next(&d);
        assert_delivers(&d, 0);
        if (full != 0) {
            send_workers(&d, 1, 2, true);
        } else {
            const struct fby_message m = {.type = FBY_MSG_WORKERS,
                .workers                        = {
                                           .session  = d.session,
                                           .server   = d.server.instance,
                                           .sequence = ++d.lists,
                                           .removed  = {&d.workers[0].instance, 1},
                }};
            send_message(&d.server, &m);
        }
        await_server(&d);
        for (int i = 0; i < 2; i++) { /* both have no room any more */
            send_refused(&d, &d.workers[i], FBY_REFUSED_FULL, "no room");
        }
        answer_rest(&d, &d.workers[2]);
        assert_int_equal(stats_of(&d).workers_known, 2);
        assert_int_equal(stats_of(&d).workers_in_use, 1);
        dialogue_end(&d);
    }
}

static void invalid_messages_from_the_server_are_counted(void **state)
{
    (void)state;
    struct dialogue d;
    dialogue_open(&d, 1);
    (void)await_message(&d, &d.server, FBY_MSG_RENEW);
    send_frame(&d.server, "garbage", 7);
    await_errors(&d, 1);
    send_message(&d.server,
        &(struct fby_message){.type = FBY_MSG_LEAVE, .leave = {d.session}});
    await_errors(&d, 2);
    struct fby_session_id own = d.session;
    d.session.value ^= 1;
    refuse(&d, FBY_JOIN_DATA);
    await_errors(&d, 3);
    d.session = own;
    answer_next(&d);
    assert_delivers(&d, 0);
    assert_no_message(&d, &d.server, FBY_MSG_QUIT);
    dialogue_end(&d);
}

/* ---- Refused by a worker ------------------------------------------------- */

/* UNREACHABLE names the worker that leaves, not the full one. */
static void a_worker_without_room_is_tried_again_later(void **state)
{
    (void)state;
    static const enum fby_refused_code codes[] = {
        FBY_REFUSED_FULL, FBY_REFUSED_LEAVING};
    for (int i = 0; i < 2; i++) {
        struct dialogue d;
        dialogue_begin(&d, 1);
        dialogue_start(&d);
        join_session(&d);
        (void)await_message(&d, &d.workers[0], FBY_MSG_HELLO);
        int64_t begun_ns = fby_now_ns();
        send_refused(&d, &d.workers[0], codes[i], "not here");
        if (codes[i] == FBY_REFUSED_LEAVING) {
            const struct fby_unreachable *u =
                &await_message(&d, &d.server, FBY_MSG_UNREACHABLE)->unreachable;
            assert_int_equal(u->instance.value, d.workers[0].instance.value);
            assert_int_equal(u->session.value, d.session.value);
            assert_non_null(strstr(u->text, d.workers[0].endpoint));
            /* at once, not after a long silence */
            assert_null(find_received(&d.workers[0], FBY_MSG_HELLO));
        }
        struct fby_open open = handshake(&d, &d.workers[0]);
        assert_true(fby_now_ns() - begun_ns >= FBY_NS_PER_S / 2);
        struct fby_opened opened = opened_as(&open, "data", "build");
        send_opened(&d.workers[0], &opened);
        answer_next(&d);
        assert_delivers(&d, 0);
        assert_no_message(&d, &d.server, FBY_MSG_UNREACHABLE);
        dialogue_end(&d);
    }
}

static void a_worker_of_another_version_is_never_tried_again(void **state)
{
    (void)state;
    for (int i = 0; i < 3;
         i++) { /* REFUSED, with its session or none; WELCOME */
        struct dialogue    d;
        struct fby_message welcome = {.type = FBY_MSG_WELCOME};
        char               text[256];
        dialogue_begin(&d, 1);
        dialogue_start(&d);
        join_session(&d);
        const struct fby_hello *hello =
            &await_message(&d, &d.workers[0], FBY_MSG_HELLO)->hello;
        welcome.welcome = (struct fby_welcome){.session = d.session,
            .route                                      = hello->route,
            .instance                                   = d.workers[0].instance,
            .version                                    = 2,
            .send_window                                = 1 << 20};
        d.session.value = i == 1 ? 0 : d.session.value;
        if (i < 2) {
            send_refused(&d, &d.workers[0], FBY_REFUSED_VERSION, "not here");
        } else {
            send_message(&d.workers[0], &welcome);
        }
        snprintf(text, sizeof(text), "worker here (%s): %s",
            d.workers[0].endpoint,
            i < 2 ? "it speaks version 1 of the protocol, and this process "
                    "version 1: install the same release of Forebay on both"
                  : "the worker chose another version");
        await_failure(&d, FOREBAY_CONFIG, text);
        assert_int_equal(stats_of(&d).workers_left_aside, 1);
        dialogue_end(&d);
    }
}

static void a_receiver_that_is_destroyed_leaves_no_file_open(void **state)
{
    (void)state;
    unsigned before = open_descriptors();
    for (int i = 0; i < 2; i++) {
        struct dialogue d;
        dialogue_open(&d, 1);
        answer_next(&d);
        assert_delivers(&d, 0);
        dialogue_end(&d);
        assert_int_equal(open_descriptors(), before);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receiver_that_is_destroyed_leaves_no_file_open),
        cmocka_unit_test(a_join_and_a_hello_identify_the_client),
        cmocka_unit_test(an_open_names_the_content_and_its_location),
        cmocka_unit_test(a_request_asks_for_the_step_of_the_agreed_data),
        cmocka_unit_test(a_request_chooses_the_coding_of_each_selected_field),
        cmocka_unit_test(every_chunk_is_credited_used_or_not),
        cmocka_unit_test(closing_says_quit_and_bye),
        cmocka_unit_test(a_refusal_fails_a_stream_that_is_not_open),
        cmocka_unit_test(a_stream_without_memory_for_a_batch_fails),
        cmocka_unit_test(an_open_stream_fails_only_for_other_data),
        cmocka_unit_test(
            a_server_that_does_not_know_the_session_is_joined_again),
        cmocka_unit_test(a_server_without_workers_is_reported),
        cmocka_unit_test(a_worker_off_the_list_is_forgotten_once_it_fails),
        cmocka_unit_test(invalid_messages_from_the_server_are_counted),
        cmocka_unit_test(a_worker_without_room_is_tried_again_later),
        cmocka_unit_test(a_worker_of_another_version_is_never_tried_again),
    };
    fby_log_init("test", FBY_LOG_ERROR);
    if (argc > 1) { /* one test alone, to look into it */
        cmocka_set_test_filter(argv[1]);
    }
    return cmocka_run_group_tests_name(
        "trainer_client.receiver", tests, NULL, NULL);
}
