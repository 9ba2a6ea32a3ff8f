/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/worker/loop_rig.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/mem.h"
#include "secure/key_file.h"
#include "worker/worker.h"

enum { PLENTY = 64 << 20, WINDOW = 16 << 20, SENT = 256, PATIENCE_MS = 20000 };

/* ---- The wire ------------------------------------------------------------ */

struct sent {
    struct fby_routing_id to;
    bool                  is_chunk, seen, released;
    zmq_msg_t             frame;
};

static struct wire {
    struct fby_routing_id to; /* of the first part, until the second */
    struct sent           sent[SENT];
    unsigned              n;
    struct sent          *last;  /* the last one read */
    const uint8_t        *bytes; /* of it; what was in its seal */
    size_t                size;
    int                   fails; /* parts before the one that fails; -1: none */
    struct fby_message    message; /* the last one read */
} wire;

static char router; /* its address stands for the socket */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */

int __real_zmq_send(void *socket, const void *data, size_t size, int flags);
int __wrap_zmq_send(void *socket, const void *data, size_t size, int flags);
int __real_zmq_msg_send(zmq_msg_t *message, void *socket, int flags);
int __wrap_zmq_msg_send(zmq_msg_t *message, void *socket, int flags);

void wire_fail(int n)
{
    wire.fails = n;
}

/* A part in the middle fails: no part of the message is sent. */
static bool fails_now(void)
{
    errno = EHOSTUNREACH;
    return wire.fails >= 0 && wire.fails-- == 0;
}

static struct sent *add_sent(bool is_chunk)
{
    assert_true(wire.n < SENT);
    assert_true(wire.to.size > 0);
    struct sent *sent = &wire.sent[wire.n++];
    sent->to          = wire.to;
    sent->is_chunk    = is_chunk;
    wire.to.size      = 0;
    zmq_msg_init(&sent->frame);
    return sent;
}

int __wrap_zmq_send(void *socket, const void *data, size_t size, int flags)
{
    if (socket != &router) {
        return __real_zmq_send(socket, data, size, flags);
    }
    assert_true((flags & ZMQ_DONTWAIT) != 0);
    if (fails_now()) {
        wire.to.size = 0;
        return -1;
    }
    if ((flags & ZMQ_SNDMORE) != 0) {
        assert_int_equal(wire.to.size, 0);
        wire.to.size = size;
        memcpy(wire.to.bytes, data, size);
    } else {
        struct sent *sent = add_sent(false);
        zmq_msg_init_size(&sent->frame, size);
        memcpy(zmq_msg_data(&sent->frame), data, size);
    }
    return (int)size;
}

int __wrap_zmq_msg_send(zmq_msg_t *message, void *socket, int flags)
{
    if (socket != &router) {
        return __real_zmq_msg_send(message, socket, flags);
    }
    assert_int_equal(flags, ZMQ_DONTWAIT);
    if (fails_now()) {
        wire.to.size = 0;
        return -1;
    }
    struct sent *sent = add_sent(true);
    zmq_msg_move(&sent->frame, message);
    return (int)zmq_msg_size(&sent->frame);
}

/* NOLINTEND(readability-identifier-naming) */

void wire_release(void)
{
    for (unsigned i = 0; i < wire.n; i++) {
        struct sent *sent = &wire.sent[i];
        if (sent->seen && !sent->released) {
            zmq_msg_close(&sent->frame);
            sent->released = true;
        }
    }
}

static void forget_message(void)
{
    if (wire.message.type != 0) {
        fby_message_fini(&wire.message);
        wire.message.type = 0;
    }
}

static void wire_open(void)
{
    wire       = (struct wire){.n = 0};
    wire.fails = -1;
}

static void wire_close(void)
{
    forget_message();
    for (unsigned i = 0; i < wire.n; i++) {
        wire.sent[i].seen = true;
    }
    wire_release();
}

void wire_expect_nothing(struct rig *rig)
{
    fby_loop_send_ready(&rig->loop);
    for (unsigned i = 0; i < wire.n; i++) {
        if (!wire.sent[i].seen) {
            const uint8_t *frame = zmq_msg_data(&wire.sent[i].frame);
            fail_msg("something was sent, of type %u", frame[5]);
        }
    }
}

static struct sent *find_unseen(const struct party *to)
{
    for (unsigned i = 0; i < wire.n; i++) {
        struct sent *sent = &wire.sent[i];
        if (!sent->seen && sent->to.size == to->routing_id.size &&
            memcmp(sent->to.bytes, to->routing_id.bytes, sent->to.size) == 0) {
            return sent;
        }
    }
    return NULL;
}

/* Open a sealed frame in place, which must be the next one of its route. */
static void open_sealed(const struct party *to, uint8_t *frame, size_t size)
{
    struct fby_seal    place;
    struct party_seal *seal = to->seal;
    assert_ok(fby_lane_accept(&seal->lanes.to_client, frame, size, &place));
    assert_ok(fby_open_frame(seal->aead, &place, frame, size));
    wire.bytes = frame + FBY_SEAL_HEAD;
    wire.size  = size - FBY_SEAL_BYTES;
}

static void read_sent(const struct party *to, struct sent *sent)
{
    wire.bytes = zmq_msg_data(&sent->frame);
    wire.size  = zmq_msg_size(&sent->frame);
    if (fby_is_sealed_frame(wire.bytes, wire.size)) {
        assert_non_null(to->seal);
        open_sealed(to, zmq_msg_data(&sent->frame), wire.size);
    }
    sent->is_chunk = fby_frame_kind(wire.bytes, wire.size) == FBY_FRAME_CHUNK;
}

static bool has_waiting_frames(const struct party *to)
{
    const struct fby_loop_peer *peer =
        fby_loop_find_peer(&to->rig->loop, to->session);
    return peer != NULL && peer->outbox != NULL;
}

/* Let the loop send until there is a frame for the party. */
static struct sent *await_sent(const struct party *to)
{
    struct fby_loop *loop = &to->rig->loop;
    struct pollfd ready = {.fd = fby_stages_fd(loop->stages), .events = POLLIN};
    fby_loop_send_ready(loop);
    while (find_unseen(to) == NULL && has_waiting_frames(to) &&
           poll(&ready, 1, PATIENCE_MS) > 0) {
        fby_loop_handle_events(loop);
        fby_loop_send_ready(loop);
    }
    return find_unseen(to);
}

/* Each client has its own connection: only the order within it is visible. */
static struct sent *next_unread(const struct party *to)
{
    struct sent *sent = await_sent(to);
    if (sent == NULL) {
        fail_msg("nothing was sent to client %llu",
            (unsigned long long)to->session.value);
        return wire.sent; /* not reached */
    }
    sent->seen = true;
    wire.last  = sent;
    return sent;
}

static struct sent *next_sent(const struct party *to)
{
    struct sent *sent = next_unread(to);
    read_sent(to, sent);
    return sent;
}

unsigned wire_position(void)
{
    return (unsigned)(wire.last - wire.sent);
}

zmq_msg_t *wire_expect_frame(const struct party *to)
{
    return &next_unread(to)->frame;
}

const struct fby_message *wire_expect(
    const struct party *to, enum fby_message_type type)
{
    struct fby_error_detail why  = {{0}};
    struct sent            *sent = next_sent(to);
    assert_false(sent->is_chunk);
    forget_message();
    assert_ok(fby_message_decode(wire.bytes, wire.size, &wire.message, &why));
    assert_string_equal(
        fby_message_name(wire.message.type), fby_message_name(type));
    assert_int_equal(
        fby_message_session(&wire.message).value, to->session.value);
    return &wire.message;
}

const uint8_t *wire_frame(void)
{
    return wire.bytes;
}

struct fby_chunk wire_expect_chunk(const struct party *to)
{
    struct fby_chunk        chunk;
    struct fby_error_detail why  = {{0}};
    struct sent            *sent = next_sent(to);
    size_t                  size = wire.size;
    assert_true(sent->is_chunk);
    assert_ok(fby_chunk_read_prefix(wire_frame(), size, &chunk, &why));
    assert_true(fby_chunk_is_intact(wire_frame(), size));
    assert_int_equal(chunk.session.value, to->session.value);
    assert_int_equal(size, FBY_CHUNK_PREFIX + chunk.wire_bytes);
    return chunk;
}

/* ---- A batch ------------------------------------------------------------- */

void wire_expect_batch(const struct party *to, const struct fby_job_spec *spec,
    struct fby_request_id id)
{
    struct kit_batch         batch;
    struct fby_request       wanted = party_request_message(to, spec);
    const struct fby_header *header = &wire_expect(to, FBY_MSG_HEADER)->header;
    assert_int_equal(header->request.value, id.value);
    assert_int_equal(header->request_checksum, fby_request_checksum(&wanted));
    kit_batch_begin(&batch, spec, header);
    for (uint32_t i = 0; i < batch.layout.n_chunks; i++) {
        struct fby_chunk chunk = wire_expect_chunk(to);
        assert_int_equal(chunk.request.value, id.value);
        kit_batch_chunk(&batch, &chunk, wire_frame() + FBY_CHUNK_PREFIX);
    }
    const struct fby_end *end = &wire_expect(to, FBY_MSG_END)->end;
    assert_int_equal(end->request.value, id.value);
    kit_batch_end(&batch, end);
}

/* ---- The loop ------------------------------------------------------------ */

static void open_stages(struct fby_loop *loop)
{
    const struct fby_stages_config config = {.fetch_threads = 1,
        .transform_threads                                  = 1,
        .encode_threads                                     = 1,
        .fetch_bytes                                        = 1 << 20,
        .scratch_bytes                                      = 4 << 20,
        .encode_bytes                                       = 8 << 20};
    assert_ok(fby_stages_create(&config, &loop->stages));
}

static uint64_t or_plenty(uint64_t bytes)
{
    return bytes > 0 ? bytes : PLENTY;
}

static void open_loop(struct fby_loop *loop, const struct sandbox *sandbox,
    struct rig_limits limits)
{
    const struct fby_plan_cache_config plans = {.roots = sandbox->roots,
        .cache_dir                                     = "",
        .max_running                                   = 1,
        .max_waiting                                   = 16,
        .max_plans                                     = 2};
    *loop           = (struct fby_loop){.options = fby_worker_defaults(),
                  .instance                      = {4711},
                  .session_config                = fby_session_defaults(),
                  .router                        = &router,
                  .signal_fd                     = -1,
                  .manager                       = {.fd = -1},
                  .now_ns                        = 1000 * FBY_NS_PER_S};
    uint64_t window = limits.window > 0 ? limits.window : WINDOW;
    loop->options.send_window_bytes  = window;
    loop->session_config.send_window = window;
    fby_budget_init(&loop->budget, or_plenty(limits.budget));
    loop->memory = fby_memory_create(or_plenty(limits.memory));
    assert_ok(fby_arenas_create(loop->memory, &loop->arenas));
    assert_ok(fby_plan_cache_create(&plans, &loop->plans));
    open_stages(loop);
}

/* A new worker key, in the sandbox. */
static const char *write_key(const struct sandbox *sandbox)
{
    const struct fby_key server = {{9}};
    struct fby_key_file  key =
        fby_key_file_generate(FBY_ROLE_WORKER, "worker", &server);
    struct fby_buffer text = {0};
    fby_key_file_format(&key, &text);
    sandbox_write(sandbox, "worker.key", text.data, text.size);
    fby_buffer_fini(&text);
    const char *path = sandbox_path(sandbox, "worker.key");
    assert_int_equal(chmod(path, S_IRUSR), 0);
    return path;
}

static void open_all(struct rig *rig, void **state, const char *more,
    const char *rule, struct rig_limits limits)
{
    wire_open();
    kit_open(&rig->kit, *state, more, rule);
    open_loop(&rig->loop, *state, limits);
}

void rig_open(struct rig *rig, void **state)
{
    open_all(rig, state, "", "", (struct rig_limits){0});
}

void rig_open_limited(struct rig *rig, void **state, struct rig_limits limits)
{
    open_all(rig, state, "", "", limits);
}

void rig_open_content(
    struct rig *rig, void **state, const char *more, const char *rule)
{
    open_all(rig, state, more, rule, (struct rig_limits){0});
}

void rig_open_keys(struct rig *rig, void **state, struct rig_limits limits)
{
    struct fby_error_detail why  = {{0}};
    struct fby_loop        *loop = &rig->loop;
    open_all(rig, state, "", "", limits);
    loop->options.encode_threads = 1;
    loop->copy_bytes             = PLENTY;
    loop->options.keys           = write_key(*state);
    assert_ok(fby_loop_keys_open(loop, &why));
}

void rig_collect(struct rig *rig)
{
    fby_arenas_free_released(
        rig->loop.arenas, fby_loop_request_free, &rig->loop);
}

void rig_collect_all(struct rig *rig)
{
    struct fby_loop *loop    = &rig->loop;
    struct pollfd    ready[] = {
           {.fd = fby_arenas_fd(loop->arenas), .events = POLLIN},
           {.fd = fby_stages_fd(loop->stages), .events = POLLIN}};
    rig_collect(rig);
    while (fby_memory_counts(loop->memory).used > 0) {
        if (poll(ready, 2, PATIENCE_MS) < 1) {
            fail_msg("memory is never released");
        }
        fby_loop_handle_events(loop); /* an event may hold a cancelled batch */
        rig_collect(rig);
    }
    assert_int_equal(rig->loop.budget.charged, 0);
}

void rig_close(struct rig *rig)
{
    struct fby_loop *loop = &rig->loop;
    for (struct fby_loop_peer *peer = loop->peers; peer != NULL;
         peer                       = peer->next) {
        fby_loop_peer_end(loop, peer);
    }
    assert_null(loop->works);
    assert_null(loop->opens);
    fby_stages_destroy(&loop->stages);
    wire_close();
    rig_collect(rig);
    fby_loop_peers_sweep(loop);
    fby_loop_keys_close(loop);
    assert_null(loop->peers);
    assert_int_equal(loop->budget.charged + loop->budget.entitled, 0);
    assert_int_equal(fby_memory_counts(loop->memory).used, 0);
    fby_plan_cache_destroy(&loop->plans);
    fby_arenas_destroy(&loop->arenas);
    fby_memory_destroy(&loop->memory);
    fby_buffer_fini(&loop->frame);
    kit_close(&rig->kit);
}

static bool is_at_work(const struct fby_loop *loop)
{
    for (const struct fby_loop_work *w = loop->works; w != NULL; w = w->next) {
        if (w->job->ready_chunks < w->job->layout.n_chunks) {
            return true;
        }
    }
    return false;
}

void rig_make(struct rig *rig)
{
    struct fby_loop *loop = &rig->loop;
    struct pollfd ready = {.fd = fby_stages_fd(loop->stages), .events = POLLIN};
    fby_loop_handle_events(loop);
    while (is_at_work(loop)) {
        poll(&ready, 1, -1); /* bounded by CTest's time-out */
        fby_loop_handle_events(loop);
    }
}

/* ---- The encode thread --------------------------------------------------- */

static struct blocker { /* work that ends when it is told to */
    struct fby_encode_item item;
    pthread_barrier_t      begun, freed;
} blocker;

static void block(struct fby_encode_item *item, uint32_t thread)
{
    (void)item;
    (void)thread;
    pthread_barrier_wait(&blocker.begun);
    pthread_barrier_wait(&blocker.freed);
}

void rig_block_thread(struct rig *rig)
{
    blocker.item.run = block;
    pthread_barrier_init(&blocker.begun, NULL, 2);
    pthread_barrier_init(&blocker.freed, NULL, 2);
    fby_stages_run(rig->loop.stages, &blocker.item);
    pthread_barrier_wait(&blocker.begun);
}

void rig_free_thread(struct rig *rig)
{
    (void)rig;
    pthread_barrier_wait(&blocker.freed);
}

/* ---- Parties ------------------------------------------------------------- */

struct party party_of(struct rig *rig, uint64_t number)
{
    struct party party        = {.rig = rig,
               .session               = {number},
               .route                 = {100 * number},
               .features              = UINT64_MAX,
               .max_bytes             = 1 << 20};
    party.routing_id.size     = 5;
    party.routing_id.bytes[4] = (uint8_t)number;
    return party;
}

void party_take_ticket(struct party *party, struct party_seal *seal,
    enum fby_secure_mode mode, int64_t expiry_ns)
{
    struct fby_registration registration = {0};
    struct fby_key          secret;
    *seal       = (struct party_seal){.mode = mode, .expiry_ns = expiry_ns};
    party->seal = seal;
    fby_loop_keys_register(&party->rig->loop, &registration);
    memcpy(secret.bytes, registration.secret.digest.bytes, FBY_KEY_BYTES);
    memset(&seal->session_key, (int)party->session.value, FBY_KEY_BYTES);
    assert_ok(fby_aead_create(&seal->aead));
    assert_ok(fby_ticket_seal(seal->aead, &secret,
        &(struct fby_ticket){.session = party->session,
            .session_key              = seal->session_key,
            .mode                     = mode,
            .expiry_ns                = expiry_ns,
            .job                      = "job",
            .all_roots                = true},
        &seal->ticket));
}

void party_forget_ticket(struct party *party)
{
    fby_aead_destroy(&party->seal->aead);
    fby_buffer_fini(&party->seal->ticket);
    party->seal = NULL;
}

static void encode(const struct fby_message *message, struct fby_buffer *frame)
{
    struct fby_error_detail why = {{0}};
    if (fby_message_encode(message, frame, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

/* Replace the frame by it, sealed. */
static void seal_frame(struct party_seal *seal, struct fby_buffer *frame)
{
    struct fby_seal   place;
    struct fby_buffer sealed = {0};
    assert_ok(fby_lane_next(&seal->lanes.to_worker, frame->size, &place));
    assert_ok(fby_seal_frame(seal->aead, &place, (struct fby_span){0},
        (struct fby_span){frame->data, frame->size},
        fby_put_room(&sealed, frame->size + FBY_SEAL_BYTES)));
    fby_buffer_fini(frame);
    *frame = sealed;
}

void party_send(struct party *party, const struct fby_message *message)
{
    struct fby_buffer frame = {0};
    encode(message, &frame);
    if (party->seal != NULL && party->seal->has_lanes) {
        seal_frame(party->seal, &frame);
    }
    fby_loop_handle_frame(
        &party->rig->loop, &party->routing_id, frame.data, frame.size);
    fby_buffer_fini(&frame);
}

/* Begin a route: get a nonce, and derive its keys. */
static struct fby_route_nonce derive_lanes(struct party *party)
{
    struct party_seal       *seal    = party->seal;
    struct fby_route_secrets secrets = {.session_key = seal->session_key,
        .client_nonce                                = {{1, 2, 3}},
        .cipher                                      = FBY_CIPHER_AES,
        .mode                                        = seal->mode,
        .session                                     = party->session,
        .worker = party->rig->loop.instance};
    seal->has_lanes                  = false;
    party->routing_id.bytes[3]++; /* a new connection */
    party_send(party, &(struct fby_message){.type = FBY_MSG_PING,
                          .ping = {.session = party->session}});
    const struct fby_message *first = wire_expect(party, FBY_MSG_HELLO_FIRST);
    memcpy(secrets.worker_nonce.bytes, first->hello_first.nonce.digest.bytes,
        FBY_ROUTE_NONCE);
    assert_ok(fby_lanes_derive(&secrets, &seal->lanes));
    return secrets.client_nonce;
}

static void send_sealed_hello(
    struct party *party, const struct fby_message *hello)
{
    struct party_seal           *seal  = party->seal;
    const struct fby_route_nonce nonce = derive_lanes(party);
    struct fby_buffer            frame = {0};
    encode(hello, &frame);
    seal_frame(seal, &frame);
    struct fby_message message = {.type = FBY_MSG_SEALED_HELLO,
        .sealed_hello                   = {.session = party->session,
                              .ticket               = {seal->ticket.data, seal->ticket.size},
                              .nonce                = {.known = true},
                              .cipher               = FBY_CIPHER_AES,
                              .hello                = {frame.data, frame.size}}};
    memcpy(
        message.sealed_hello.nonce.digest.bytes, nonce.bytes, FBY_ROUTE_NONCE);
    party_send(party, &message);
    fby_buffer_fini(&frame);
    seal->has_lanes = true;
}

void party_hello(struct party *party)
{
    party->route.value++;
    const struct fby_message hello = {.type = FBY_MSG_HELLO,
        .hello                              = {.session = party->session,
                                         .route         = party->route,
                                         .version_min   = 1,
                                         .version_max   = 1,
                                         .features      = party->features,
                                         .max_bytes     = party->max_bytes,
                                         .job           = "job",
                                         .rank          = 3,
                                         .host          = "there",
                                         .pid           = 1}};
    if (party->seal != NULL) {
        send_sealed_hello(party, &hello);
    } else {
        party_send(party, &hello);
    }
}

void party_ask_open(struct party *party, const struct fby_open *open)
{
    struct fby_loop *loop  = &party->rig->loop;
    struct pollfd    ended = {
           .fd = fby_plan_cache_fd(loop->plans), .events = POLLIN};
    party_send(
        party, &(struct fby_message){.type = FBY_MSG_OPEN, .open = *open});
    while (loop->opens != NULL) {
        poll(&ended, 1, -1);
        fby_loop_answer_ended_opens(loop);
    }
}

void party_open(struct party *party)
{
    const struct kit *kit = &party->rig->kit;
    party_hello(party);
    wire_expect(party, FBY_MSG_WELCOME);
    party_ask_open(party, &(struct fby_open){.session = party->session,
                              .open_id                = {1},
                              .content = {kit->content.data, kit->content.size},
                              .location = kit->location});
    wire_expect(party, FBY_MSG_OPENED);
}

struct fby_job_spec rig_spec(const struct rig *rig, uint64_t step)
{
    return (struct fby_job_spec){.dataset_plan = rig->kit.dataset_plan,
        .seed                                  = 11,
        .epoch                                 = 2,
        .step                                  = step,
        .rows                                  = KIT_BATCH};
}

struct fby_request party_request_message(
    const struct party *party, const struct fby_job_spec *spec)
{
    return (struct fby_request){.session = party->session,
        .content                         = spec->dataset_plan->content_digest,
        .data                            = spec->dataset_plan->data_digest,
        .fingerprint                     = spec->dataset_plan->fingerprint,
        .seed                            = spec->seed,
        .epoch                           = spec->epoch,
        .step                            = spec->step,
        .first_row                       = spec->first_row,
        .rows                            = spec->rows,
        .fields                          = spec->fields,
        .max_bytes                       = party->max_bytes};
}

struct fby_request_id party_request(
    struct party *party, const struct fby_job_spec *spec)
{
    struct fby_message message = {
        .type = FBY_MSG_REQUEST, .request = party_request_message(party, spec)};
    message.request.request.value = ++party->newest;
    party_send(party, &message);
    return message.request.request;
}

void party_credit(struct party *party, uint64_t received)
{
    party_send(party, &(struct fby_message){.type = FBY_MSG_CREDIT,
                          .credit = {party->session, party->route, received}});
}

void party_cancel(struct party *party, struct fby_request_id id)
{
    party_send(party, &(struct fby_message){.type = FBY_MSG_CANCEL,
                          .cancel                 = {party->session, id}});
}

void party_bye(struct party *party)
{
    party_send(party,
        &(struct fby_message){.type = FBY_MSG_BYE, .bye = {party->session}});
}

struct fby_session_state party_state(const struct party *party)
{
    const struct fby_loop_peer *peer =
        fby_loop_find_peer(&party->rig->loop, party->session);
    assert_non_null(peer);
    return fby_session_state(peer->session);
}
