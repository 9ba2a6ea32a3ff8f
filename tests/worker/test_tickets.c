/* SPDX-License-Identifier: Apache-2.0 */
/* A worker with keys: which tickets and frames it accepts, and what a client
 * with a ticket may do. The test makes the tickets, as a server does. */
#include "tests/test.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/log.h"
#include "secure/key_file.h"
#include "tests/worker/loop_rig.h"

#define S FBY_NS_PER_S

struct keyed { /* a worker, and what its server knows */
    struct rig       rig;
    struct fby_aead *aead;
    struct fby_key   secret;
    char             path[200]; /* of its key file */
};

struct guest { /* a client */
    struct party            party;
    struct fby_ticket       ticket; /* as the server makes it */
    struct fby_key          seals;  /* what it seals the ticket with */
    struct fby_lanes        lanes;
    struct fby_sealed_hello hello; /* the last one that was sent */
    struct fby_buffer       ticket_bytes, hello_bytes;
};

/* ---- open and close ------------------------------------------------------ */

static void write_key(struct keyed *self, const struct sandbox *sandbox)
{
    const struct fby_key server = {{1}};
    struct fby_buffer    text   = {0};
    struct fby_key_file  key =
        fby_key_file_generate(FBY_ROLE_WORKER, "worker", &server);
    fby_key_file_format(&key, &text);
    sandbox_write(sandbox, "worker.key", text.data, text.size);
    snprintf(self->path, sizeof(self->path), "%s",
        sandbox_path(sandbox, "worker.key"));
    assert_int_equal(chmod(self->path, 0600), 0);
    fby_buffer_fini(&text);
}

static void keyed_open(struct keyed *self, void **state)
{
    struct fby_error_detail why          = {""};
    struct fby_registration registration = {0};
    rig_open(&self->rig, state);
    write_key(self, *state);
    self->rig.loop.options.keys = self->path;
    assert_ok(fby_loop_keys_open(&self->rig.loop, &why));
    assert_ok(fby_aead_create(&self->aead));
    fby_loop_keys_register(&self->rig.loop, &registration);
    memcpy(self->secret.bytes, registration.secret.digest.bytes, FBY_KEY_BYTES);
    fby_log_redirect(FBY_LOG_ERROR, NULL, NULL);
}

static void keyed_close(struct keyed *self)
{
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    fby_aead_destroy(&self->aead);
    rig_close(&self->rig);
    fby_loop_keys_close(&self->rig.loop);
}

static struct guest guest_of(struct keyed *self, uint64_t number)
{
    struct guest guest = {
        .party = party_of(&self->rig, number), .seals = self->secret};
    guest.ticket = (struct fby_ticket){.session = guest.party.session,
        .session_key                            = {{(uint8_t)number, 9}},
        .mode                                   = FBY_SECURE_AUTH,
        .expiry_ns                              = self->rig.loop.now_ns + 1,
        .job                                    = "job",
        .all_roots                              = true};
    return guest;
}

static void guest_fini(struct guest *guest)
{
    fby_buffer_fini(&guest->ticket_bytes);
    fby_buffer_fini(&guest->hello_bytes);
}

/* ---- frames -------------------------------------------------------------- */

static void encode(const struct fby_message *message, struct fby_buffer *out)
{
    struct fby_error_detail why = {""};
    if (fby_message_encode(message, out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

/* Append the message to `out`, sealed as the guest's next frame. */
static void seal(struct keyed *self, struct guest *guest,
    const struct fby_message *message, struct fby_buffer *out)
{
    struct fby_buffer frame = {0};
    struct fby_seal   place;
    encode(message, &frame);
    assert_ok(fby_lane_next(&guest->lanes.to_worker, frame.size, &place));
    assert_ok(fby_seal_frame(self->aead, &place, (struct fby_span){NULL, 0},
        (struct fby_span){frame.data, frame.size},
        fby_put_room(out, frame.size + FBY_SEAL_BYTES)));
    fby_buffer_fini(&frame);
}

/* Let the worker receive bytes on the guest's connection. */
static void receive(
    struct keyed *self, const struct guest *guest, struct fby_buffer *frame)
{
    fby_loop_handle_frame(
        &self->rig.loop, &guest->party.routing_id, frame->data, frame->size);
}

static void send_sealed(
    struct keyed *self, struct guest *guest, const struct fby_message *message)
{
    struct fby_buffer frame = {0};
    seal(self, guest, message, &frame);
    receive(self, guest, &frame);
    fby_buffer_fini(&frame);
}

/* Open the next frame to the guest, which must be sealed and of this type. */
static struct fby_message expect_sealed(
    struct keyed *self, struct guest *guest, enum fby_message_type type)
{
    struct fby_seal         place;
    struct fby_message      message;
    struct fby_error_detail why  = {""};
    zmq_msg_t              *sent = wire_expect_frame(&guest->party);
    uint8_t                *data = zmq_msg_data(sent);
    size_t                  size = zmq_msg_size(sent);
    assert_true(fby_is_sealed_frame(data, size));
    assert_ok(fby_lane_accept(&guest->lanes.to_client, data, size, &place));
    assert_ok(fby_open_frame(self->aead, &place, data, size));
    assert_ok(fby_message_decode(
        data + FBY_SEAL_HEAD, size - FBY_SEAL_BYTES, &message, &why));
    assert_string_equal(fby_message_name(message.type), fby_message_name(type));
    return message;
}

/* ---- SEALED_HELLO -------------------------------------------------------- */

static struct fby_message ping_of(const struct guest *guest)
{
    return (struct fby_message){.type = FBY_MSG_PING,
        .ping = {.session = guest->party.session, .sequence = 4}};
}

/* The nonce of HELLO_FIRST, which answers a message in the clear. */
static struct fby_route_nonce ask_nonce(struct guest *guest)
{
    struct fby_message     ping = ping_of(guest);
    struct fby_route_nonce nonce;
    party_send(&guest->party, &ping);
    const struct fby_hello_first *first =
        &wire_expect(&guest->party, FBY_MSG_HELLO_FIRST)->hello_first;
    assert_true(first->nonce.known);
    memcpy(nonce.bytes, first->nonce.digest.bytes, sizeof(nonce.bytes));
    return nonce;
}

static void derive(struct guest *guest, struct fby_route_nonce nonce)
{
    const struct fby_route_secrets secrets = {
        .session_key  = guest->ticket.session_key,
        .worker_nonce = nonce,
        .client_nonce = {{7}},
        .cipher       = FBY_CIPHER_CHACHA,
        .mode         = guest->ticket.mode,
        .session      = guest->party.session,
        .worker       = guest->party.rig->loop.instance,
    };
    assert_ok(fby_lanes_derive(&secrets, &guest->lanes));
}

static struct fby_message hello_of(struct guest *guest)
{
    guest->party.route.value++;
    return (struct fby_message){.type = FBY_MSG_HELLO,
        .hello                        = {.session = guest->party.session,
                                   .route         = guest->party.route,
                                   .version_min   = 1,
                                   .version_max   = 1,
                                   .max_bytes     = 1 << 20,
                                   .job           = "job",
                                   .host          = "there"}};
}

/* Prepare SEALED_HELLO with the ticket and a new nonce of the worker. */
static void prepare_hello(struct keyed *self, struct guest *guest)
{
    struct fby_message hello = hello_of(guest);
    derive(guest, ask_nonce(guest));
    guest->ticket_bytes.size = 0;
    guest->hello_bytes.size  = 0;
    assert_ok(fby_ticket_seal(
        self->aead, &guest->seals, &guest->ticket, &guest->ticket_bytes));
    seal(self, guest, &hello, &guest->hello_bytes);
    guest->hello = (struct fby_sealed_hello){.session = guest->party.session,
        .ticket = {guest->ticket_bytes.data, guest->ticket_bytes.size},
        .nonce  = {.known = true, .digest = {{7}}},
        .cipher = FBY_CIPHER_CHACHA,
        .hello  = {guest->hello_bytes.data, guest->hello_bytes.size}};
}

static void send_hello(struct guest *guest)
{
    party_send(
        &guest->party, &(struct fby_message){.type = FBY_MSG_SEALED_HELLO,
                           .sealed_hello           = guest->hello});
}

/* Begin a route, which must be welcome. */
static void enter(struct keyed *self, struct guest *guest)
{
    prepare_hello(self, guest);
    send_hello(guest);
    struct fby_message welcome = expect_sealed(self, guest, FBY_MSG_WELCOME);
    assert_int_equal(welcome.welcome.route.value, guest->party.route.value);
    fby_message_fini(&welcome);
}

static void expect_pong(struct keyed *self, struct guest *guest)
{
    struct fby_message ping = ping_of(guest);
    send_sealed(self, guest, &ping);
    struct fby_message pong = expect_sealed(self, guest, FBY_MSG_PONG);
    assert_int_equal(pong.pong.sequence, 4);
    fby_message_fini(&pong);
}

/* Send the HELLO; it must be refused, counted, and begin no session. */
static void expect_refused(
    struct keyed *self, struct guest *guest, const char *text)
{
    uint64_t before = self->rig.loop.counts.refused_clients;
    send_hello(guest);
    const struct fby_refused *refused =
        &wire_expect(&guest->party, FBY_MSG_REFUSED)->refused;
    assert_int_equal(refused->code, FBY_REFUSED_KEY);
    assert_string_equal(refused->text, text);
    assert_int_equal(self->rig.loop.counts.refused_clients, before + 1);
    guest_fini(guest);
}

/* ---- tests: tickets ------------------------------------------------------ */

static void a_ticket_begins_a_route(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest guest = guest_of(&worker, 1);
    enter(&worker, &guest);
    expect_pong(&worker, &guest);
    expect_pong(&worker, &guest);
    guest_fini(&guest);
    keyed_close(&worker);
}

static const char foreign[] =
    "the ticket is not for this worker: it was restarted, or the ticket is "
    "forged";

static void a_ticket_of_another_worker_or_a_changed_one_is_refused(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest guest = guest_of(&worker, 1);
    guest.seals        = (struct fby_key){{1, 2, 3}};
    prepare_hello(&worker, &guest);
    expect_refused(&worker, &guest, foreign);
    guest = guest_of(&worker, 1);
    prepare_hello(&worker, &guest);
    guest.ticket_bytes.data[30] ^= 1;
    expect_refused(&worker, &guest, foreign);
    guest = guest_of(&worker, 1);
    prepare_hello(&worker, &guest);
    guest.hello.ticket.size--;
    expect_refused(&worker, &guest, foreign);
    assert_null(worker.rig.loop.peers);
    keyed_close(&worker);
}

static void a_ticket_that_has_expired_is_refused(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest guest     = guest_of(&worker, 1);
    guest.ticket.expiry_ns = worker.rig.loop.now_ns;
    prepare_hello(&worker, &guest);
    expect_refused(&worker, &guest,
        "the ticket has expired: the server does not answer the trainer, or "
        "its key was removed");
    assert_null(worker.rig.loop.peers);
    keyed_close(&worker);
}

static void a_ticket_of_another_session_or_job_is_refused(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest guest         = guest_of(&worker, 1);
    guest.ticket.session.value = 2;
    prepare_hello(&worker, &guest);
    expect_refused(&worker, &guest,
        "the ticket is of another session; the client is faulty");
    guest            = guest_of(&worker, 1);
    guest.ticket.job = "other";
    prepare_hello(&worker, &guest);
    expect_refused(
        &worker, &guest, "HELLO is not of the ticket's session and job");
    assert_null(worker.rig.loop.peers);
    keyed_close(&worker);
}

static void a_session_ends_with_its_ticket_unless_it_is_renewed(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest guest = guest_of(&worker, 1);
    enter(&worker, &guest);
    guest.ticket.expiry_ns += S;
    guest.ticket_bytes.size = 0;
    assert_ok(fby_ticket_seal(
        worker.aead, &guest.seals, &guest.ticket, &guest.ticket_bytes));
    send_sealed(&worker, &guest,
        &(struct fby_message){.type = FBY_MSG_TICKET,
            .ticket_renewal         = {guest.party.session,
                        {guest.ticket_bytes.data, guest.ticket_bytes.size}}});
    worker.rig.loop.now_ns += S;
    fby_loop_peers_sweep(&worker.rig.loop);
    expect_pong(&worker, &guest);
    worker.rig.loop.now_ns += 1;
    fby_loop_peers_sweep(&worker.rig.loop);
    assert_null(worker.rig.loop.peers);
    guest_fini(&guest);
    keyed_close(&worker);
}

/* ---- tests: HELLO and frames that are repeated --------------------------- */

static void a_hello_that_is_repeated_begins_no_route(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest guest = guest_of(&worker, 1);
    enter(&worker, &guest);
    /* On the same connection its nonce is used up. */
    send_hello(&guest);
    wire_expect(&guest.party, FBY_MSG_HELLO_FIRST);
    expect_pong(&worker, &guest);
    /* On another one the worker has drawn another nonce. */
    struct guest thief              = guest;
    thief.party.routing_id.bytes[4] = 99;
    (void)ask_nonce(&thief);
    send_hello(&thief);
    const struct fby_refused *refused =
        &wire_expect(&thief.party, FBY_MSG_REFUSED)->refused;
    assert_string_equal(refused->text, "HELLO was not sealed with the ticket");
    expect_pong(&worker, &guest);
    guest_fini(&guest);
    keyed_close(&worker);
}

enum harm { REPEATED, LEFT_OUT, FLIPPED, CUT, N_HARMS };

/* Send PING as a frame that was harmed on its way. */
static void send_harmed(struct keyed *self, struct guest *guest, enum harm harm)
{
    struct fby_message ping  = ping_of(guest);
    struct fby_buffer  frame = {0};
    seal(self, guest, &ping, &frame);
    if (harm == REPEATED) {
        receive(self, guest, &frame);
        struct fby_message pong = expect_sealed(self, guest, FBY_MSG_PONG);
        fby_message_fini(&pong);
        frame.size = 0;
        guest->lanes.to_worker.count--;
        seal(self, guest, &ping, &frame);
    } else if (harm == LEFT_OUT) {
        frame.size = 0;
        seal(self, guest, &ping, &frame);
    } else if (harm == FLIPPED) {
        frame.data[frame.size / 2] ^= 1;
    } else {
        frame.size--;
    }
    receive(self, guest, &frame);
    fby_buffer_fini(&frame);
}

/* The route ends, and the client can begin a new one. */
static void a_harmed_frame_ends_its_route_and_is_counted(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest other = guest_of(&worker, 2);
    enter(&worker, &other);
    for (int harm = 0; harm < N_HARMS; harm++) {
        uint64_t     before = worker.rig.loop.counts.malformed;
        struct guest guest  = guest_of(&worker, 1);
        enter(&worker, &guest);
        send_harmed(&worker, &guest, (enum harm)harm);
        wire_expect_nothing(&worker.rig);
        assert_int_equal(worker.rig.loop.counts.malformed, before + 1);
        struct fby_message ping = ping_of(&guest);
        send_sealed(&worker, &guest, &ping);
        wire_expect(&guest.party, FBY_MSG_HELLO_FIRST);
        guest_fini(&guest);
        expect_pong(&worker, &other);
    }
    guest_fini(&other);
    keyed_close(&worker);
}

static void a_message_in_the_clear_is_answered_by_a_nonce_only(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest guest = guest_of(&worker, 1);
    enter(&worker, &guest);
    party_bye(&guest.party); /* forged by a host on the path */
    party_hello(&guest.party);
    wire_expect(&guest.party, FBY_MSG_HELLO_FIRST);
    expect_pong(&worker, &guest);
    guest_fini(&guest);
    keyed_close(&worker);
}

/* ---- tests: roots -------------------------------------------------------- */

static const char not_permitted[] =
    "the key of this trainer does not permit data:photos: change its roots in "
    "the list of keys";

static struct fby_message open_of(const struct guest *guest)
{
    const struct kit *kit = &guest->party.rig->kit;
    return (struct fby_message){.type = FBY_MSG_OPEN,
        .open                         = {.session = guest->party.session,
                                    .open_id      = {1},
                                    .content      = {kit->content.data, kit->content.size},
                                    .location     = kit->location}};
}

static void a_root_that_is_not_in_the_ticket_is_not_opened(void **state)
{
    static const char *const other[] = {"other"};
    struct keyed             worker;
    keyed_open(&worker, state);
    struct guest guest     = guest_of(&worker, 1);
    guest.ticket.all_roots = false;
    guest.ticket.roots     = other;
    guest.ticket.n_roots   = 1;
    enter(&worker, &guest);
    struct fby_message open = open_of(&guest);
    send_sealed(&worker, &guest, &open);
    struct fby_message failed =
        expect_sealed(&worker, &guest, FBY_MSG_OPEN_FAILED);
    assert_string_equal(failed.open_failed.text, not_permitted);
    fby_message_fini(&failed);
    guest_fini(&guest);
    keyed_close(&worker);
}

static void open_data(struct keyed *self, struct guest *guest)
{
    struct fby_loop   *loop  = &self->rig.loop;
    struct fby_message open  = open_of(guest);
    struct pollfd      ended = {
             .fd = fby_plan_cache_fd(loop->plans), .events = POLLIN};
    send_sealed(self, guest, &open);
    while (loop->opens != NULL) {
        poll(&ended, 1, -1); /* bounded by CTest's time-out */
        fby_loop_answer_ended_opens(loop);
    }
    struct fby_message opened = expect_sealed(self, guest, FBY_MSG_OPENED);
    fby_message_fini(&opened);
}

/* The worker has the plan already, for another session, with other roots. */
static void data_that_the_session_did_not_open_is_not_sent(void **state)
{
    struct keyed worker;
    keyed_open(&worker, state);
    struct guest        guest = guest_of(&worker, 1);
    struct fby_job_spec spec  = rig_spec(&worker.rig, 0);
    struct guest        owner = guest_of(&worker, 2);
    enter(&worker, &owner);
    open_data(&worker, &owner);
    enter(&worker, &guest);
    struct fby_loop_peer *peer =
        fby_loop_find_peer(&worker.rig.loop, guest.party.session);
    struct fby_dataset_plan own = {
        .content_digest = spec.dataset_plan->content_digest,
        .data_digest    = spec.dataset_plan->data_digest,
        .location       = {{5}}}; /* of the same names and sizes */
    fby_loop_note_opened(peer, &own);
    struct fby_message request    = {.type = FBY_MSG_REQUEST,
           .request = party_request_message(&guest.party, &spec)};
    request.request.request.value = 1;
    send_sealed(&worker, &guest, &request);
    struct fby_message answer =
        expect_sealed(&worker, &guest, FBY_MSG_SEND_CONTENT);
    fby_message_fini(&answer);
    open_data(&worker, &guest);
    struct fby_dataset_plan *found = NULL;
    assert_ok(
        fby_loop_find_plan(&worker.rig.loop, peer, &request.request, &found));
    assert_false(fby_digest_equal(&found->location, &own.location));
    guest_fini(&owner);
    guest_fini(&guest);
    keyed_close(&worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_ticket_begins_a_route),
        IN_SANDBOX(a_ticket_of_another_worker_or_a_changed_one_is_refused),
        IN_SANDBOX(a_ticket_that_has_expired_is_refused),
        IN_SANDBOX(a_ticket_of_another_session_or_job_is_refused),
        IN_SANDBOX(a_session_ends_with_its_ticket_unless_it_is_renewed),
        IN_SANDBOX(a_hello_that_is_repeated_begins_no_route),
        IN_SANDBOX(a_harmed_frame_ends_its_route_and_is_counted),
        IN_SANDBOX(a_message_in_the_clear_is_answered_by_a_nonce_only),
        IN_SANDBOX(a_root_that_is_not_in_the_ticket_is_not_opened),
        IN_SANDBOX(data_that_the_session_did_not_open_is_not_sent),
    };
    return cmocka_run_group_tests_name("worker.loop_keys", tests, NULL, NULL);
}
