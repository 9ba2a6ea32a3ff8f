/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks that encode threads seal: their order among the other frames, and the
 * end of routes and of the worker while they are sealed. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "tests/worker/loop_rig.h"

enum { LATER = 100 }; /* seconds until a ticket expires */

static const struct rig_limits no_limits;

struct keyed { /* a rig with a client that has a ticket */
    struct rig          rig;
    struct party        party;
    struct party_seal   seal;
    struct fby_job_spec spec;
};

static void take_ticket(
    struct keyed *k, struct party *party, struct party_seal *seal)
{
    party_take_ticket(party, seal, FBY_SECURE_FULL,
        k->rig.loop.now_ns + LATER * FBY_NS_PER_S);
}

static void keyed_open(struct keyed *k, void **state, struct rig_limits limits)
{
    rig_open_keys(&k->rig, state, limits);
    k->party = party_of(&k->rig, 1);
    k->spec  = rig_spec(&k->rig, 0);
    take_ticket(k, &k->party, &k->seal);
    party_open(&k->party);
}

/* A second client with a ticket. */
static struct party open_other(struct keyed *k, struct party_seal *seal)
{
    struct party other = party_of(&k->rig, 2);
    take_ticket(k, &other, seal);
    party_open(&other);
    return other;
}

static void keyed_close(struct keyed *k)
{
    rig_close(&k->rig);
    party_forget_ticket(&k->party);
}

/* Request a batch, which is made, and send it while no thread can seal. Its
 * HEADER is read. */
static struct fby_request_id request_blocked(struct keyed *k)
{
    struct fby_request_id id = party_request(&k->party, &k->spec);
    rig_make(&k->rig);
    rig_block_thread(&k->rig);
    wire_expect(&k->party, FBY_MSG_HEADER);
    wire_expect_nothing(&k->rig);
    return id;
}

static void ping(struct party *party, uint64_t sequence)
{
    party_send(
        party, &(struct fby_message){.type = FBY_MSG_PING,
                   .ping = {.session = party->session, .sequence = sequence}});
}

static void a_batch_arrives_whole(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, no_limits);
    struct fby_request_id id = party_request(&k.party, &k.spec);
    rig_make(&k.rig);
    wire_expect_batch(&k.party, &k.spec, id);
    assert_int_equal(k.rig.loop.counts.copied_chunks, 0);
    keyed_close(&k);
}

/* The frames of a route are opened in the order of their places only. */
static void a_message_waits_for_the_chunks_before_it(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, no_limits);
    request_blocked(&k);
    ping(&k.party, 7);
    wire_expect_nothing(&k.rig);
    rig_free_thread(&k.rig);
    wire_expect_chunk(&k.party);
    wire_expect_chunk(&k.party);
    wire_expect(&k.party, FBY_MSG_END);
    assert_int_equal(wire_expect(&k.party, FBY_MSG_PONG)->pong.sequence, 7);
    keyed_close(&k);
}

static void another_route_does_not_wait(void **state)
{
    static struct keyed k;
    struct party_seal   seal;
    keyed_open(&k, state, no_limits);
    struct party other = open_other(&k, &seal);
    request_blocked(&k);
    ping(&other, 3);
    assert_int_equal(wire_expect(&other, FBY_MSG_PONG)->pong.sequence, 3);
    rig_free_thread(&k.rig);
    keyed_close(&k);
    party_forget_ticket(&other);
}

/* One chunk, sealed for each of its sessions. */
static void a_shared_chunk_is_sealed_for_each_session(void **state)
{
    static struct keyed k;
    struct party_seal   seal;
    keyed_open(&k, state, no_limits);
    struct party          other  = open_other(&k, &seal);
    struct fby_request_id first  = party_request(&k.party, &k.spec);
    struct fby_request_id second = party_request(&other, &k.spec);
    rig_make(&k.rig);
    wire_expect_batch(&k.party, &k.spec, first);
    wire_expect_batch(&other, &k.spec, second);
    assert_int_equal(k.rig.loop.counts.joined, 1);
    keyed_close(&k);
    party_forget_ticket(&other);
}

/* The chunks are sealed for one session. Those for the other are in the clear,
 * among messages that are sealed. */
static void sealed_messages_wait_for_the_chunks_in_the_clear(void **state)
{
    static struct keyed k;
    struct party_seal   seal;
    keyed_open(&k, state, no_limits);
    struct party other = party_of(&k.rig, 2);
    party_take_ticket(&other, &seal, FBY_SECURE_AUTH,
        k.rig.loop.now_ns + LATER * FBY_NS_PER_S);
    party_open(&other);
    party_request(&k.party, &k.spec);
    party_request(&other, &k.spec);
    rig_make(&k.rig);
    rig_block_thread(&k.rig);
    wire_expect(&k.party, FBY_MSG_HEADER);
    wire_expect(&other, FBY_MSG_HEADER);
    ping(&other, 3);
    wire_expect_nothing(&k.rig);
    rig_free_thread(&k.rig);
    wire_expect_chunk(&other);
    wire_expect_chunk(&other);
    wire_expect(&other, FBY_MSG_END);
    assert_int_equal(wire_expect(&other, FBY_MSG_PONG)->pong.sequence, 3);
    assert_int_equal(k.rig.loop.counts.copied_chunks, 0);
    wire_expect_chunk(&k.party);
    keyed_close(&k);
    party_forget_ticket(&other);
}

/* The sealed frames of a session that ends are dropped, and their memory is
 * freed, also that of a frame which a thread is sealing. */
static void a_session_may_end_while_its_chunks_are_sealed(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, no_limits);
    request_blocked(&k);
    party_bye(&k.party);
    wire_expect_nothing(&k.rig);
    rig_free_thread(&k.rig);
    rig_collect_all(&k.rig);
    wire_expect_nothing(&k.rig);
    keyed_close(&k);
}

static void a_ticket_may_expire_while_chunks_are_sealed(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, no_limits);
    request_blocked(&k);
    k.rig.loop.now_ns += LATER * FBY_NS_PER_S;
    ping(&k.party, 1); /* so that the session is not silent */
    fby_loop_peers_sweep(&k.rig.loop);
    rig_free_thread(&k.rig);
    rig_collect_all(&k.rig);
    fby_loop_peers_sweep(&k.rig.loop);
    assert_null(k.rig.loop.peers);
    wire_expect_nothing(&k.rig);
    keyed_close(&k);
}

/* The places of the new route begin at 0, and the client asks again for what
 * WELCOME does not list. */
static void a_new_route_does_not_get_the_frames_of_the_last(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, no_limits);
    request_blocked(&k);
    party_hello(&k.party);
    assert_int_equal(
        wire_expect(&k.party, FBY_MSG_WELCOME)->welcome.requests.n, 0);
    struct fby_request_id id = party_request(&k.party, &k.spec);
    rig_free_thread(&k.rig);
    rig_make(&k.rig);
    wire_expect_batch(&k.party, &k.spec, id);
    keyed_close(&k);
}

static void a_failed_send_ends_the_route_and_its_frames(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, no_limits);
    request_blocked(&k);
    ping(&k.party, 1);
    wire_fail(0);
    rig_free_thread(&k.rig);
    while (k.rig.loop.counts.routes_lost == 0) { /* until it is sealed */
        fby_loop_send_ready(&k.rig.loop);
    }
    rig_collect_all(&k.rig);
    wire_expect_nothing(&k.rig);
    keyed_close(&k);
}

/* A worker that leaves sends what it has sealed. */
static void a_worker_does_not_leave_before_its_frames(void **state)
{
    static struct keyed k;
    keyed_open(&k, state, no_limits);
    request_blocked(&k);
    fby_loop_start_leaving(&k.rig.loop);
    k.rig.loop.now_ns = k.rig.loop.accept_until_ns;
    fby_loop_leave_tick(&k.rig.loop);
    assert_int_equal(party_state(&k.party).open, 0); /* END is in the outbox */
    assert_false(k.rig.loop.done);
    rig_free_thread(&k.rig);
    wire_expect_chunk(&k.party);
    wire_expect_chunk(&k.party);
    wire_expect(&k.party, FBY_MSG_END);
    wire_expect(&k.party, FBY_MSG_LEAVE);
    fby_loop_leave_tick(&k.rig.loop);
    assert_true(k.rig.loop.done);
    keyed_close(&k);
}

/* A chunk for which there is no memory is sealed when there is. */
static void a_chunk_waits_for_memory(void **state)
{
    static struct keyed     k;
    const struct rig_limits limits = {.memory = 64 << 10};
    keyed_open(&k, state, limits);
    struct fby_request_id id = party_request(&k.party, &k.spec);
    rig_make(&k.rig);
    struct fby_memory_block taken;
    size_t left = (64 << 10) - fby_memory_counts(k.rig.loop.memory).used;
    assert_ok(fby_memory_allocate(k.rig.loop.memory, left, &taken));
    wire_expect(&k.party, FBY_MSG_HEADER);
    wire_expect_nothing(&k.rig);
    fby_memory_free(k.rig.loop.memory, &taken);
    wire_expect_chunk(&k.party);
    wire_expect_chunk(&k.party);
    assert_int_equal(
        wire_expect(&k.party, FBY_MSG_END)->end.request.value, id.value);
    keyed_close(&k);
}

/* Otherwise batches could take the memory that the sealed chunk needs. */
static void a_chunk_too_large_for_the_room_for_copies_is_charged(void **state)
{
    static struct keyed   k;
    struct fby_raw_layout layout;
    keyed_open(&k, state, no_limits);
    assert_ok(
        fby_job_layout(&k.spec, &layout, &(struct fby_error_detail){{0}}));
    const uint64_t sealed =
        layout.fields[0].raw_bytes + FBY_CHUNK_PREFIX + FBY_SEAL_BYTES;
    const uint64_t batch  = fby_job_arena_bytes(&layout);
    k.rig.loop.copy_bytes = sealed;
    party_request(&k.party, &k.spec);
    assert_int_equal(k.rig.loop.budget.charged, batch);
    k.rig.loop.copy_bytes = sealed - 10;
    k.spec.step           = 1;
    party_request(&k.party, &k.spec);
    assert_int_equal(k.rig.loop.budget.charged, 2 * batch + 10);
    keyed_close(&k);
}

/* Its sealed chunks stay in memory, and leave room for those of others. */
static void a_client_that_does_not_read_blocks_no_other(void **state)
{
    enum { BATCHES = 4 };
    static struct keyed k;
    struct party_seal   seal;
    keyed_open(&k, state, no_limits);
    struct party          other = open_other(&k, &seal);
    struct fby_raw_layout layout;
    assert_ok(
        fby_job_layout(&k.spec, &layout, &(struct fby_error_detail){{0}}));
    k.rig.loop.copy_bytes = layout.raw_bytes; /* two encoded batches */
    fby_loop_outbox_share_room(&k.rig.loop);
    for (uint64_t i = 0; i < BATCHES; i++) {
        k.spec.step = i % 3;
        k.spec.seed = i;
        party_request(&k.party, &k.spec);
    }
    struct fby_request_id id = party_request(&other, &k.spec);
    rig_make(&k.rig);
    wire_expect_batch(&other, &k.spec, id);
    const uint64_t sent = party_state(&k.party).sent;
    assert_true(sent > 0 && sent <= layout.raw_bytes / 2);
    party_bye(&other); /* now the other has all room */
    while (fby_loop_find_peer(&k.rig.loop, other.session) != NULL) {
        rig_collect(&k.rig); /* until the thread has dropped its batch */
        fby_loop_peers_sweep(&k.rig.loop);
    }
    fby_loop_send_ready(&k.rig.loop);
    assert_true(party_state(&k.party).sent > sent);
    keyed_close(&k);
    party_forget_ticket(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_batch_arrives_whole),
        IN_SANDBOX(a_message_waits_for_the_chunks_before_it),
        IN_SANDBOX(another_route_does_not_wait),
        IN_SANDBOX(a_shared_chunk_is_sealed_for_each_session),
        IN_SANDBOX(sealed_messages_wait_for_the_chunks_in_the_clear),
        IN_SANDBOX(a_session_may_end_while_its_chunks_are_sealed),
        IN_SANDBOX(a_ticket_may_expire_while_chunks_are_sealed),
        IN_SANDBOX(a_new_route_does_not_get_the_frames_of_the_last),
        IN_SANDBOX(a_failed_send_ends_the_route_and_its_frames),
        IN_SANDBOX(a_worker_does_not_leave_before_its_frames),
        IN_SANDBOX(a_chunk_waits_for_memory),
        IN_SANDBOX(a_client_that_does_not_read_blocks_no_other),
        IN_SANDBOX(a_chunk_too_large_for_the_room_for_copies_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
