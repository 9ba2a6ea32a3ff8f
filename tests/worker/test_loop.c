/* SPDX-License-Identifier: Apache-2.0 */
/* The loop's answers to the messages of clients. */
#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "tests/worker/loop_rig.h"

#define S FBY_NS_PER_S

static void a_batch_is_sent_and_counted(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 1);
    party_open(&a);
    struct fby_request_id id = party_request(&a, &spec);
    rig_make(&rig);
    const struct fby_job_chunk *chunk = rig.loop.works->job->chunks;
    uint64_t wire_bytes = chunk[0].wire_bytes + chunk[1].wire_bytes;
    wire_expect_batch(&a, &spec, id);
    wire_expect_nothing(&rig);
    const struct fby_loop_counts *n = &rig.loop.counts;
    assert_int_equal(n->batches, 1);
    assert_int_equal(n->requests, 1);
    assert_int_equal(n->chunks, 2);
    assert_int_equal(n->raw_bytes, UINT64_C(3072) * KIT_BATCH + KIT_BATCH);
    assert_int_equal(
        n->wire_bytes, UINT64_C(2) * FBY_CHUNK_PREFIX + wire_bytes);
    assert_int_equal(n->joined + n->copied_chunks + n->busy + n->lost, 0);
    rig_close(&rig);
}

/* ---- HELLO --------------------------------------------------------------- */

static void welcome_has_the_features_of_both(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.window = 12345});
    struct party a = party_of(&rig, 1);
    party_send(&a, &(struct fby_message){.type = FBY_MSG_HELLO,
                       .hello                  = {.session = a.session,
                                            .route         = {9},
                                            .version_min   = 1,
                                            .version_max   = 1,
                                            .features      = 1 | UINT64_C(1) << 63,
                                            .max_bytes     = 1,
                                            .job           = "job",
                                            .host          = "there"}});
    const struct fby_welcome *w = &wire_expect(&a, FBY_MSG_WELCOME)->welcome;
    assert_int_equal(w->route.value, 9);
    assert_int_equal(w->instance.value, 4711);
    assert_int_equal(w->version, 1);
    assert_int_equal(w->features, 1);
    assert_int_equal(w->send_window, 12345);
    assert_int_equal(w->requests.n, 0);
    assert_string_equal(rig.loop.peers->name, "job/0 at there");
    assert_int_equal(party_state(&a).route, 9);
    rig_close(&rig);
}

static void hello_with_versions(
    struct party *party, uint32_t least, uint32_t most)
{
    party_send(party, &(struct fby_message){.type = FBY_MSG_HELLO,
                          .hello                  = {.session = party->session,
                                               .route         = {1},
                                               .version_min   = least,
                                               .version_max   = most,
                                               .max_bytes     = 1,
                                               .job           = "j",
                                               .host          = "h"}});
}

static void only_version_ranges_with_ours_are_welcomed(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party a = party_of(&rig, 1);
    hello_with_versions(&a, 2, 9);
    const struct fby_refused *refused =
        &wire_expect(&a, FBY_MSG_REFUSED)->refused;
    assert_int_equal(refused->code, FBY_REFUSED_VERSION);
    assert_int_equal(refused->version_min, 1);
    assert_int_equal(refused->version_max, 1);
    assert_string_equal(refused->text, "no protocol version in common");
    assert_null(rig.loop.peers);
    assert_int_equal(rig.loop.counts.refused_clients, 1);
    hello_with_versions(&a, 1, 9);
    wire_expect(&a, FBY_MSG_WELCOME);
    rig_close(&rig);
}

static void a_frame_of_another_version_is_refused(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party a       = party_of(&rig, 1);
    uint8_t      other[] = "FBYM\2\1\0\0";
    fby_loop_handle_frame(&rig.loop, &a.routing_id, other, 8);
    struct party stranger = a;
    stranger.session      = (struct fby_session_id){0};
    const struct fby_refused *refused =
        &wire_expect(&stranger, FBY_MSG_REFUSED)->refused;
    assert_int_equal(refused->code, FBY_REFUSED_VERSION);
    assert_int_equal(rig.loop.counts.malformed, 1);
    uint8_t cut[]   = "FBYM\1\1\0\0\377";
    uint8_t words[] = "hello";
    fby_loop_handle_frame(&rig.loop, &a.routing_id, cut, 9);
    fby_loop_handle_frame(&rig.loop, &a.routing_id, words, 5);
    assert_int_equal(rig.loop.counts.malformed, 3);
    assert_int_equal(rig.loop.counts.out_of_place, 0);
    wire_expect_nothing(&rig);
    rig_close(&rig);
}

/* Connect with batches of `max_bytes`, then send a first REQUEST. */
static void party_begin(struct party *party, uint64_t max_bytes)
{
    struct fby_job_spec spec = rig_spec(party->rig, 0);
    party->max_bytes         = max_bytes;
    party_open(party);
    assert_int_equal(party_state(party).entitled, 0);
    party->max_bytes = 1 << 20; /* room for the answer */
    party_request(party, &spec);
}

/* A sixty-fourth and 64 KiB beyond the batch, for head rooms and pages. */
static void a_session_is_entitled_to_its_largest_batch(void **state)
{
    enum { BUDGET = 4 << 20, LEAST = 64 << 10 };
    static const uint64_t asked[] = {
        1, 1 << 20, BUDGET, BUDGET + 1, UINT64_MAX};
    static const uint64_t right[] = {
        LEAST + 1, (1 << 20) + (16 << 10) + LEAST, LEAST, LEAST, LEAST};
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.budget = BUDGET});
    for (uint64_t i = 0; i < 5; i++) {
        struct party party = party_of(&rig, i + 1);
        party_begin(&party, asked[i]);
        assert_int_equal(party_state(&party).entitled, right[i]);
    }
    rig_close(&rig);
}

static void a_session_may_be_entitled_to_the_whole_budget(void **state)
{
    enum { BUDGET = (1 << 20) + (16 << 10) + (64 << 10) };
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.budget = BUDGET});
    struct party a = party_of(&rig, 1);
    struct party b = party_of(&rig, 2);
    party_begin(&a, 1 << 20);
    assert_int_equal(party_state(&a).entitled, BUDGET);
    party_begin(&b, 1);
    wire_expect(&b, FBY_MSG_BUSY);
    rig_close(&rig);
}

static void a_full_worker_reports_how_much_is_promised(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.budget = 100000});
    struct party a = party_of(&rig, 1);
    struct party b = party_of(&rig, 2);
    party_begin(&a, 1);
    party_begin(&b, 64);
    const struct fby_busy *busy = &wire_expect(&b, FBY_MSG_BUSY)->busy;
    assert_string_equal(busy->text,
        "no room for a session with batches of 64 bytes: 65537 of 100000 "
        "bytes are reserved for others (--memory)");
    assert_int_equal(rig.loop.counts.busy, 1);
    assert_int_equal(rig.loop.counts.refused_clients, 0);
    rig_close(&rig);
}

/* They take nothing from others, and all but the last have ended. */
static void many_sessions_on_one_connection_are_one(void **state)
{
    struct rig   rig;
    struct party many;
    struct party trainer;
    rig_open_limited(&rig, state, (struct rig_limits){.budget = 100000});
    many = party_of(&rig, 1);
    for (uint64_t i = 0; i < 200; i++) {
        many.session.value = 10 + i;
        party_hello(&many);
        wire_expect(&many, FBY_MSG_WELCOME);
    }
    fby_loop_peers_sweep(&rig.loop);
    assert_ptr_equal(
        rig.loop.peers, fby_loop_find_peer(&rig.loop, many.session));
    assert_null(rig.loop.peers->next);
    trainer = party_of(&rig, 2);
    party_begin(&trainer, 1);
    wire_expect(&trainer, FBY_MSG_HEADER);
    rig_close(&rig);
}

/* The connection is closed, which ZeroMQ does not tell. */
static void a_silent_session_ends_after_a_lease(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.budget = 100000});
    struct party a = party_of(&rig, 1);
    party_begin(&a, 1);
    assert_true(rig.loop.budget.entitled > 0);
    fby_loop_peers_extend_leases(&rig.loop, FBY_NS_PER_S);
    rig.loop.now_ns += 11 * FBY_NS_PER_S;
    fby_loop_peers_sweep(&rig.loop);
    assert_true(rig.loop.budget.entitled > 0);
    rig.loop.now_ns++;
    fby_loop_peers_sweep(&rig.loop);
    assert_int_equal(rig.loop.budget.entitled, 0);
    rig_close(&rig);
}

/* ---- Known and unknown routes -------------------------------------------- */

static void send_ping(struct party *party, uint64_t sequence)
{
    party_send(party, &(struct fby_message){.type = FBY_MSG_PING,
                          .ping = {party->session, sequence}});
}

static void a_session_is_known_by_its_route(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party a     = party_of(&rig, 1);
    struct party other = party_of(&rig, 2);
    other.session      = a.session;
    party_hello(&a);
    wire_expect(&a, FBY_MSG_WELCOME);
    send_ping(&other, 5);
    wire_expect(&other, FBY_MSG_HELLO_FIRST);
    other.routing_id.size--;
    other.routing_id.bytes[4] = 1;
    send_ping(&other, 5);
    wire_expect(&other, FBY_MSG_HELLO_FIRST);
    assert_int_equal(rig.loop.counts.unknown_peers, 2);
    party_bye(&other); /* unknown to this worker: no answer */
    wire_expect_nothing(&rig);
    send_ping(&a, 6);
    wire_expect(&a, FBY_MSG_PONG);
    party_bye(&a);
    send_ping(&a, 7);
    wire_expect(&a, FBY_MSG_HELLO_FIRST);
    assert_int_equal(rig.loop.counts.unknown_peers, 3);
    rig_close(&rig);
}

static void pong_names_what_is_open(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_request(&a, &spec);
    spec.step = 1;
    party_request(&a, &spec);
    rig.loop.now_ns += 9 * S;
    send_ping(&a, UINT64_MAX);
    const struct fby_pong *pong = &wire_expect(&a, FBY_MSG_PONG)->pong;
    assert_int_equal(pong->sequence, UINT64_MAX);
    assert_int_equal(pong->instance.value, 4711);
    assert_int_equal(pong->requests.n, 2);
    assert_int_equal(
        pong->requests.at[0].value + pong->requests.at[1].value, 3);
    rig.loop.now_ns += 9 * S;
    fby_loop_peers_sweep(&rig.loop);
    assert_false(rig.loop.peers->has_left); /* its PING ended the silence */
    rig_close(&rig);
}

static void forbidden_messages_are_counted_and_dropped(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_send(&a, &(struct fby_message){.type = FBY_MSG_PONG,
                       .pong = {.session = a.session, .instance = {1}}});
    party_credit(&a, 1);
    a.newest = 4;
    party_request(&a, &spec);
    a.newest = 4;
    party_request(&a, &spec);
    a.newest = 1;
    party_request(&a, &spec);
    assert_int_equal(rig.loop.counts.out_of_place, 4);
    assert_int_equal(rig.loop.counts.requests, 1);
    party_cancel(&a, (struct fby_request_id){3});
    assert_int_equal(party_state(&a).open, 1);
    assert_int_equal(rig.loop.counts.out_of_place, 4);
    wire_expect(&a, FBY_MSG_HEADER);
    wire_expect_nothing(&rig);
    rig_close(&rig);
}

static void credit_lets_more_be_sent(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.window = 1});
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_request(&a, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    struct fby_chunk chunk = wire_expect_chunk(&a);
    wire_expect_nothing(&rig);
    uint64_t bytes = FBY_CHUNK_PREFIX + chunk.wire_bytes;
    assert_int_equal(party_state(&a).sent, bytes);
    party_credit(&a, bytes - 1);
    wire_expect_nothing(&rig);
    rig.loop.peers->duplicate_bytes = 10; /* not counted by the session */
    party_credit(&a, bytes + 10);
    assert_int_equal(party_state(&a).credited, bytes);
    wire_expect_chunk(&a);
    wire_expect(&a, FBY_MSG_END);
    rig_close(&rig);
}

/* ---- Silence ------------------------------------------------------------- */

static void a_silent_client_is_forgotten(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct party        b    = party_of(&rig, 2);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_open(&b);
    party_request(&a, &spec);
    rig.loop.now_ns += 10 * S;
    fby_loop_peers_sweep(&rig.loop);
    assert_int_equal(party_state(&a).open, 1);
    send_ping(&b, 1);
    wire_expect(&b, FBY_MSG_PONG);
    rig.loop.now_ns += 1;
    fby_loop_peers_sweep(&rig.loop);
    assert_null(rig.loop.works);
    wire_expect(&a, FBY_MSG_HEADER);
    send_ping(&a, 1);
    wire_expect(&a, FBY_MSG_HELLO_FIRST);
    rig_collect_all(&rig);
    fby_loop_peers_sweep(&rig.loop);
    assert_null(fby_loop_find_peer(&rig.loop, a.session));
    assert_non_null(fby_loop_find_peer(&rig.loop, b.session));
    rig_close(&rig);
}

/* ---- Opening ------------------------------------------------------------- */

static struct fby_open kit_content(const struct party *party)
{
    const struct kit *kit = &party->rig->kit;
    return (struct fby_open){.session = party->session,
        .open_id                      = {8},
        .content                      = {kit->content.data, kit->content.size},
        .location                     = kit->location};
}

static void opened_data_must_have_the_expected_digests(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party a = party_of(&rig, 1);
    party_hello(&a);
    wire_expect(&a, FBY_MSG_WELCOME);
    const struct fby_dataset_plan *own  = rig.kit.dataset_plan;
    struct fby_open                open = kit_content(&a);
    open.data        = (struct fby_maybe_digest){true, own->data_digest};
    open.fingerprint = (struct fby_maybe_digest){true, own->fingerprint};
    party_ask_open(&a, &open);
    assert_int_equal(wire_expect(&a, FBY_MSG_OPENED)->opened.open_id.value,
        open.open_id.value);
    for (int i = 0; i < 2; i++) {
        open.data.digest        = own->data_digest;
        open.fingerprint.digest = own->fingerprint;
        struct fby_digest *other =
            i == 0 ? &open.data.digest : &open.fingerprint.digest;
        other->bytes[31] ^= 1;
        party_ask_open(&a, &open);
        const struct fby_open_failed *failed =
            &wire_expect(&a, FBY_MSG_OPEN_FAILED)->open_failed;
        assert_int_equal(failed->open_id.value, 8);
        assert_int_equal(failed->code, FBY_OPEN_DIFFERS);
        assert_true(fby_digest_equal(&failed->data.digest, &own->data_digest));
        assert_true(
            fby_digest_equal(&failed->fingerprint.digest, &own->fingerprint));
        assert_string_equal(failed->text,
            i == 0 ? "the data of this worker is not the data requested"
                   : "this worker decodes or transforms differently");
    }
    rig_close(&rig);
}

static void send_open(struct party *party, uint64_t id)
{
    struct fby_open open = kit_content(party);
    open.open_id.value   = id;
    party_send(
        party, &(struct fby_message){.type = FBY_MSG_OPEN, .open = open});
}

static unsigned count_opens(const struct rig *rig)
{
    unsigned n = 0;
    for (const struct fby_loop_open *o = rig->loop.opens; o; o = o->next) {
        n++;
    }
    return n;
}

/* No answer is sent before the loop's turn. */
static void a_session_waits_for_eight_opens_at_most(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party a = party_of(&rig, 1);
    struct party b = party_of(&rig, 2);
    party_hello(&a);
    party_hello(&b);
    wire_expect(&a, FBY_MSG_WELCOME);
    wire_expect(&b, FBY_MSG_WELCOME);
    for (uint64_t id = 1; id <= 8; id++) {
        send_open(&a, id);
    }
    send_open(&a, 3); /* again: replaces the first */
    assert_int_equal(count_opens(&rig), 8);
    wire_expect_nothing(&rig);
    send_open(&a, 9);
    const struct fby_open_failed *failed =
        &wire_expect(&a, FBY_MSG_OPEN_FAILED)->open_failed;
    assert_int_equal(failed->open_id.value, 9);
    assert_int_equal(failed->code, FBY_OPEN_BUSY);
    assert_non_null(strstr(failed->text, "8 contents"));
    send_open(&b, 3);
    assert_int_equal(count_opens(&rig), 9);
    fby_loop_send_progress(&rig.loop);
    assert_int_equal(
        wire_expect(&b, FBY_MSG_SCANNING)->scanning.open_id.value, 3);
    party_bye(&a);
    assert_int_equal(count_opens(&rig), 1);
    rig_close(&rig);
}

/* ---- Leaving ------------------------------------------------------------- */

static void a_leaving_worker_takes_nothing_new_and_ends_what_is_open(
    void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.window = 1});
    struct party        a    = party_of(&rig, 1);
    struct party        b    = party_of(&rig, 2);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_request_id id = party_request(&a, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    fby_loop_start_leaving(&rig.loop);
    assert_int_equal(rig.loop.leave_until_ns, rig.loop.now_ns + 25 * S);
    struct fby_chunk chunk = wire_expect_chunk(&a);
    wire_expect(&a, FBY_MSG_LEAVE);
    rig.loop.now_ns = rig.loop.accept_until_ns;
    fby_loop_leave_tick(&rig.loop);
    struct fby_request_id late = party_request(&a, &spec);
    assert_int_equal(
        wire_expect(&a, FBY_MSG_LOST)->lost.request.value, late.value);
    assert_int_equal(rig.loop.counts.lost, 1);
    party_hello(&b);
    assert_int_equal(
        wire_expect(&b, FBY_MSG_REFUSED)->refused.code, FBY_REFUSED_LEAVING);
    fby_loop_leave_tick(&rig.loop);
    assert_false(rig.loop.done);
    party_hello(&a); /* a known session may connect again */
    assert_int_equal(
        wire_expect(&a, FBY_MSG_WELCOME)->welcome.requests.at[0].value,
        id.value);
    wire_expect(&a, FBY_MSG_HEADER);
    wire_expect_chunk(&a);
    party_credit(&a, FBY_CHUNK_PREFIX + chunk.wire_bytes);
    wire_expect_chunk(&a);
    wire_expect(&a, FBY_MSG_END);
    fby_loop_leave_tick(&rig.loop);
    assert_true(rig.loop.done);
    rig_close(&rig);
}

static void a_leaving_worker_takes_requests_that_were_on_their_way(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    fby_loop_start_leaving(&rig.loop);
    wire_expect(&a, FBY_MSG_LEAVE);
    fby_loop_leave_tick(&rig.loop);
    assert_false(rig.loop.done);
    party_request(&a, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    wire_expect_chunk(&a);
    wire_expect_chunk(&a);
    wire_expect(&a, FBY_MSG_END);
    fby_loop_leave_tick(&rig.loop);
    assert_false(rig.loop.done);
    party_bye(&a); /* nothing can be on its way any more */
    fby_loop_leave_tick(&rig.loop);
    assert_true(rig.loop.done);
    rig_close(&rig);
}

static void batches_open_at_the_deadline_are_given_back(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.window = 1});
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_request_id id = party_request(&a, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    wire_expect_chunk(&a);
    fby_loop_leave_tick(&rig.loop);
    fby_loop_start_leaving(&rig.loop);
    wire_expect(&a, FBY_MSG_LEAVE);
    rig.loop.now_ns += 25 * S - 1;
    fby_loop_leave_tick(&rig.loop);
    assert_false(rig.loop.done);
    wire_expect_nothing(&rig);
    fby_loop_start_leaving(&rig.loop); /* the second call: end now */
    assert_int_equal(rig.loop.leave_until_ns, rig.loop.now_ns);
    fby_loop_leave_tick(&rig.loop);
    assert_true(rig.loop.done);
    assert_int_equal(
        wire_expect(&a, FBY_MSG_LOST)->lost.request.value, id.value);
    rig_close(&rig);
}

/* ---- Counters ------------------------------------------------------------ */

static uint64_t counter(
    const struct fby_counter_values *values, const char *name)
{
    uint64_t           value = UINT64_MAX;
    struct fby_counter list[FBY_N_COUNTERS];
    size_t             n = fby_counter_values_list(values, list);
    assert_int_equal(n, FBY_N_COUNTERS);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].name, name) == 0) {
            assert_true(value == UINT64_MAX); /* named once */
            value = list[i].value;
        }
    }
    return value;
}

static void every_counter_is_reported_by_its_name(void **state)
{
    static const char *const  names[] = {"batches", "wire_bytes", "raw_bytes",
         "chunks", "requests", "joined", "busy", "lost", "cannot", "malformed",
         "out_of_place", "unknown_peers", "routes_lost", "copied_chunks",
         "refused_clients"};
    struct rig                rig;
    struct fby_counter_values counters = {0};
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_request(&a, &spec);
    rig_make(&rig);
    uint64_t *counts = &rig.loop.counts.batches;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        counts[i] = 1000 + i;
    }
    fby_loop_counters_read(&rig.loop, &counters);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(counter(&counters, names[i]), 1000 + i);
    }
    assert_int_equal(counter(&counters, "memory.limit"), 64 << 20);
    assert_int_equal(counter(&counters, "memory.used"), 7 << 12);
    assert_int_equal(counter(&counters, "fetch.threads"), 1);
    assert_int_equal(counter(&counters, "transform.failures"), 0);
    assert_int_equal(counter(&counters, "backlog_rows"), 0);
    assert_int_equal(counter(&counters, "substituted"), 0);
    assert_int_equal(counter(&counters, "faults"), 0);
    assert_true(counter(&counters, "fetched_bytes") > 1000);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_batch_is_sent_and_counted),
        IN_SANDBOX(welcome_has_the_features_of_both),
        IN_SANDBOX(only_version_ranges_with_ours_are_welcomed),
        IN_SANDBOX(a_frame_of_another_version_is_refused),
        IN_SANDBOX(a_session_is_entitled_to_its_largest_batch),
        IN_SANDBOX(a_session_may_be_entitled_to_the_whole_budget),
        IN_SANDBOX(many_sessions_on_one_connection_are_one),
        IN_SANDBOX(a_silent_session_ends_after_a_lease),
        IN_SANDBOX(a_full_worker_reports_how_much_is_promised),
        IN_SANDBOX(a_session_is_known_by_its_route),
        IN_SANDBOX(pong_names_what_is_open),
        IN_SANDBOX(forbidden_messages_are_counted_and_dropped),
        IN_SANDBOX(credit_lets_more_be_sent),
        IN_SANDBOX(a_silent_client_is_forgotten),
        IN_SANDBOX(opened_data_must_have_the_expected_digests),
        IN_SANDBOX(a_session_waits_for_eight_opens_at_most),
        IN_SANDBOX(a_leaving_worker_takes_nothing_new_and_ends_what_is_open),
        IN_SANDBOX(a_leaving_worker_takes_requests_that_were_on_their_way),
        IN_SANDBOX(batches_open_at_the_deadline_are_given_back),
        IN_SANDBOX(every_counter_is_reported_by_its_name),
    };
    return cmocka_run_group_tests_name("worker.loop", tests, NULL, NULL);
}
