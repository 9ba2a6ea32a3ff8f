/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/simulate/sim.h"

enum { BATCH_BYTES = 1000 };

/* ---- Start --------------------------------------------------------------- */

static uint64_t locality(const void *context, uint64_t epoch, uint64_t step)
{
    (void)context;
    return epoch * 1000 + step / 3;
}

static struct fby_window_config window_config(const struct sim *sim)
{
    struct fby_window_config c = fby_window_defaults();
    c.max_batches              = sim->config.max_batches;
    c.max_bytes                = c.max_batches * (uint64_t)BATCH_BYTES;
    c.batch_bytes              = BATCH_BYTES;
    c.max_chunks               = SIM_CHUNKS;
    c.max_peers                = SIM_PEERS;
    c.seed                     = sim->seed;
    c.audit                    = sim->config.audit;
    c.times.backoff            = 250 * FBY_NS_PER_MS;
    c.times.backoff_max        = 2 * FBY_NS_PER_S;
    if (sim->config.stall_ns > 0) {
        c.times.stall = sim->config.stall_ns;
    }
    return c;
}

void sim_client_start(struct sim *sim)
{
    struct fby_window_config c    = window_config(sim);
    struct fby_window_plan   plan = {
          .steps_per_epoch = sim->config.steps_per_epoch,
          .epoch           = sim->config.first / sim->config.steps_per_epoch,
          .step            = sim->config.first % sim->config.steps_per_epoch,
          .total           = sim->config.total,
          .locality        = locality,
    };
    struct fby_error_detail why;
    if (fby_window_create(&c, sim->now, &sim->window, &why) != FBY_OK ||
        fby_window_start(sim->window, sim->now, &plan, &why) != FBY_OK) {
        sim_fail(sim, "the window cannot be made");
    }
    sim->cursor  = sim->config.first;
    sim->wake_ns = INT64_MAX;
}

/* The list has a restarted worker only once. Without keys the peer of the last
 * instance becomes that of the new one. */
static void unlist_ended(struct sim *sim, int worker)
{
    uint64_t instance = sim->workers[worker].instance;
    for (int i = 0; i < SIM_PEERS && sim->config.keys; i++) {
        if (sim->peers[i].worker == worker &&
            sim->peers[i].ticket_of != instance) {
            fby_window_peer_unlist(sim->window, sim->now, i);
        }
    }
}

void sim_client_join(struct sim *sim, int worker)
{
    struct sim_worker *w    = &sim->workers[worker];
    int                peer = FBY_NO_PEER;
    if (!w->alive || w->leaving || sim->done) {
        return;
    }
    if (fby_window_peer_add(sim->window, sim->now,
            (struct fby_instance_id){w->instance}, w->key, &peer) != FBY_OK) {
        sim_fail(sim, "the window has no room for a peer");
        return;
    }
    sim_trace(sim, "worker %d is peer %d", worker, peer);
    sim->peers[peer].worker = worker;
    sim_keys_list(sim, peer);
    unlist_ended(sim, worker);
}

/* ---- Actions ------------------------------------------------------------- */

static void check_slot(
    struct sim *sim, const struct fby_action *action, struct sim_asked *asked)
{
    struct sim_slot *slot = &sim->slots[action->slot];
    if (slot->decoding > 0 || slot->held) {
        sim_fail(sim, "a slot in use is given to a new request");
    }
    memset(slot->value, 0, sizeof(slot->value));
    asked->peer = action->peer;
}

static void check_audit(struct sim *sim, const struct fby_action *action,
    struct sim_asked *asked, uint64_t step)
{
    if (sim->config.audit == 0 || step % sim->config.audit != 0 ||
        asked->audited || action->hedge) {
        sim_fail(sim, "an audit is asked for that is not due");
    }
    if (asked->peer == action->peer) {
        sim_fail(sim, "a worker is asked to audit itself");
    }
    asked->audited = true;
}

static void check_request(
    struct sim *sim, const struct fby_action *action, uint64_t step)
{
    struct sim_asked *asked = sim_asked(sim, step);
    if (action->id.value <= sim->newest) {
        sim_fail(sim, "a request id is used twice");
    }
    sim->newest = action->id.value;
    if (action->probe) {
        return; /* its answer is dropped */
    }
    if (action->slot == FBY_NO_SLOT) {
        check_audit(sim, action, asked, step);
    } else {
        check_slot(sim, action, asked);
    }
}

static void send_request(struct sim *sim, const struct fby_action *action)
{
    uint64_t step = action->epoch * sim->config.steps_per_epoch + action->step;
    sim_trace(sim, "  request %llu of step %llu to peer %d, slot %d%s",
        (unsigned long long)action->id.value, (unsigned long long)step,
        action->peer, action->slot, action->hedge ? ", hedge" : "");
    check_request(sim, action, step);
    sim_client_send(sim, action->peer,
        &(struct sim_message){
            .kind = SIM_REQUEST, .id = action->id, .number = step});
}

static void send_action(struct sim *sim, enum sim_message_kind kind,
    const struct fby_action *action)
{
    sim_client_send(sim, action->peer,
        &(struct sim_message){.kind = kind,
            .id                     = action->id,
            .number                 = action->number,
            .value                  = action->route});
}

/* The server still lists the worker if it is alive: it joins again. */
static void rejoin_later(struct sim *sim, int peer)
{
    int worker = sim->peers[peer].worker;
    sim_trace(sim, "  peer %d is gone", peer);
    sim_push(sim, sim->now + 500 * FBY_NS_PER_MS, SIM_JOIN, worker, 0);
}

/* The window may fail if all workers refused a step, or if too many of its
 * answers were damaged. */
static bool may_fail(struct sim *sim, const struct fby_window_failure *failure)
{
    uint64_t step =
        failure->epoch * sim->config.steps_per_epoch + failure->step;
    return failure->cause == FBY_CAUSE_CORRUPT
               ? sim_asked(sim, step)->damaged >= FBY_CORRUPT_MAX
               : failure->cause == FBY_CAUSE_CANNOT && sim->config.cannot;
}

static void failed(struct sim *sim)
{
    const struct fby_window_failure *f = fby_window_failure(sim->window);
    sim->failed                        = true;
    if (f == NULL || !may_fail(sim, f)) {
        sim_fail(sim, "the stream fails without a reason");
    }
}

static void trace_action(struct sim *sim, const struct fby_action *action)
{
    static const char *const names[] = {"CONNECT", "HELLO", "OPEN", "REQUEST",
        "CANCEL", "PING", "CREDIT", "BYE", "CLOSE", "UNREACHABLE", "GONE",
        "NO_WORKERS", "FAIL"};
    sim_trace(sim, "  %s peer %d id %llu number %llu", names[action->kind],
        action->peer, (unsigned long long)action->id.value,
        (unsigned long long)action->number);
}

static void act(struct sim *sim, const struct fby_action *action)
{
    static const enum sim_message_kind message[] = {
        [FBY_DO_HELLO]  = SIM_HELLO,
        [FBY_DO_OPEN]   = SIM_OPEN,
        [FBY_DO_CANCEL] = SIM_CANCEL,
        [FBY_DO_PING]   = SIM_PING,
        [FBY_DO_CREDIT] = SIM_CREDIT,
        [FBY_DO_BYE]    = SIM_BYE,
    };
    trace_action(sim, action);
    switch (action->kind) {
    case FBY_DO_CONNECT:
        sim_keys_forget(sim, action->peer);
        sim_connect(sim, action->peer, sim->peers[action->peer].worker);
        break;
    case FBY_DO_REQUEST:
        send_request(sim, action);
        break;
    case FBY_DO_HELLO:
    case FBY_DO_OPEN:
    case FBY_DO_CANCEL:
    case FBY_DO_PING:
    case FBY_DO_CREDIT:
    case FBY_DO_BYE:
        send_action(sim, message[action->kind], action);
        break;
    case FBY_DO_CLOSE:
        sim_close(sim, action->peer);
        break;
    case FBY_DO_GONE:
        rejoin_later(sim, action->peer);
        break;
    case FBY_DO_FAIL:
        failed(sim);
        break;
    case FBY_DO_UNREACHABLE:
    case FBY_DO_WARN_NO_WORKERS:
        break;
    }
}

/* ---- The consumer -------------------------------------------------------- */

static void check_batch(struct sim *sim, const struct fby_window_batch *batch)
{
    uint64_t step = batch->epoch * sim->config.steps_per_epoch + batch->step;
    const struct sim_slot *slot = &sim->slots[batch->slot];
    if (step != sim->cursor) {
        sim_fail(sim, "a batch is delivered out of order");
    }
    for (uint32_t i = 0; i < sim_chunks_of(sim, step); i++) {
        if (slot->value[i] != sim_value_of(step, i)) {
            sim_fail(sim, "a batch is delivered with other bytes");
        }
    }
    if (slot->decoding > 0 || slot->held) {
        sim_fail(sim, "a batch is delivered from a slot in use");
    }
}

static void deliver(struct sim *sim, const struct fby_window_batch *batch)
{
    sim_trace(sim, "  takes step %llu", (unsigned long long)sim->cursor);
    check_batch(sim, batch);
    int64_t waited = sim->now - sim->waiting_since_ns;
    sim->longest_wait_ns =
        waited > sim->longest_wait_ns ? waited : sim->longest_wait_ns;
    sim->cursor++;
    sim->consumer_waiting        = false;
    sim->slots[batch->slot].held = true;
    int64_t hold                 = sim->config.hold_ns;
    int64_t next                 = sim->config.interval_ns;
    sim_push(sim, sim->now + hold, SIM_RELEASE, batch->slot, 0);
    sim_push(sim, sim->now + next, SIM_TAKE, 0, 0);
}

static void check_end(struct sim *sim)
{
    const struct sim_config   *config = &sim->config;
    struct fby_window_counters c      = fby_window_counters(sim->window);
    uint64_t                   due    = 0;
    for (uint64_t at = config->first; at < config->total; at++) {
        due += config->audit != 0 && at % config->audit == 0;
    }
    if (sim->cursor != config->total) {
        sim_fail(sim, "the stream ends before its end");
    }
    if (c.audits + c.audits_skipped != due && sim->n_seeks == 0) {
        sim_fail(sim, "an audit is neither made nor skipped");
    }
}

static void try_take(struct sim *sim)
{
    struct fby_window_batch batch;
    if (!sim->consumer_waiting || sim->done) {
        return;
    }
    fby_err err = fby_window_take(sim->window, sim->now, &batch);
    if (err == FBY_OK) {
        deliver(sim, &batch);
    } else if (err != FBY_AGAIN) {
        sim->done = true;
        if (err == FBY_GONE) {
            check_end(sim);
        }
    }
}

void sim_client_take(struct sim *sim)
{
    sim->consumer_waiting = true;
    sim->waiting_since_ns = sim->now;
    sim_client_turn(sim);
}

void sim_client_release(struct sim *sim, int slot)
{
    sim->slots[slot].held = false;
    fby_window_release(sim->window, sim->now, slot);
    sim_client_turn(sim);
}

/* The steps behind the new one are requested, and audited, again. */
void sim_client_seek(struct sim *sim, uint64_t step)
{
    uint64_t steps = sim->config.steps_per_epoch;
    if (sim->done) {
        return;
    }
    sim_trace(sim, "  seeks step %llu", (unsigned long long)step);
    for (int i = 0; i < SIM_STEPS; i++) {
        sim->asked[i].audited = false;
    }
    fby_window_seek(sim->window, sim->now, step / steps, step % steps);
    sim->cursor = step;
    sim->n_seeks++;
    sim_client_turn(sim);
}

/* ---- Decoding ------------------------------------------------------------ */

static struct sim_decode *free_decode(struct sim *sim)
{
    for (int i = 0; i < SIM_DECODES; i++) {
        if (!sim->decodes[i].used) {
            return &sim->decodes[i];
        }
    }
    return NULL;
}

static void decode(struct sim *sim, const struct sim_message *message)
{
    struct sim_decode *d    = free_decode(sim);
    int                slot = fby_window_find_slot(sim->window, message->id);
    if (d == NULL || slot == FBY_NO_SLOT) {
        sim_fail(sim, "a chunk is taken for no slot");
        return;
    }
    *d = (struct sim_decode){
        .used  = true,
        .slot  = slot,
        .id    = message->id,
        .chunk = message->chunk,
        .value = message->value,
        .good  = message->good,
    };
    sim->slots[slot].decoding++;
    sim_push(sim, sim->now + sim_between(sim, 0, 2 * sim->config.decode_ns),
        SIM_DECODED, (int)(d - sim->decodes), 0);
}

void sim_client_decoded(struct sim *sim, int number)
{
    struct sim_decode *d    = &sim->decodes[number];
    struct sim_slot   *slot = &sim->slots[d->slot];
    d->used                 = false;
    slot->decoding--;
    if (slot->held) {
        sim_fail(sim, "a chunk is decoded into a delivered batch");
    }
    slot->value[d->chunk] = d->value;
    fby_window_decoded(sim->window, sim->now, d->slot, d->id, d->good);
    sim_client_turn(sim);
}

/* ---- Messages ------------------------------------------------------------ */

static void chunk(struct sim *sim, int peer, const struct sim_message *message)
{
    enum fby_verdict verdict = fby_window_chunk(sim->window, sim->now,
        &(struct fby_window_chunk){.peer = peer,
            .id                          = message->id,
            .chunk                       = message->chunk,
            .wire_bytes                  = message->bytes});
    if (verdict == FBY_TAKE) {
        decode(sim, message);
    } else if (verdict == FBY_AUDIT && !message->good) {
        fby_window_audit_damaged(sim->window, sim->now, message->id);
    } else if (verdict == FBY_BREACH) {
        sim_fail(sim, "a correct worker's chunk counts as a breach");
    }
}

/* True if the chunks of an answer are kept, so that its END can be compared
 * with them. Otherwise a damaged END fails the hash of its message and is
 * dropped. */
static bool is_gathered(const struct sim *sim, struct fby_request_id id)
{
    return fby_window_find_slot(sim->window, id) != FBY_NO_SLOT ||
           fby_window_audit_index(sim->window, id) != FBY_NO_SLOT;
}

static void end(struct sim *sim, int peer, const struct sim_message *message)
{
    if (!message->good && !is_gathered(sim, message->id)) {
        return;
    }
    struct fby_window_end end = {
        .peer = peer, .id = message->id, .matches = message->good};
    memcpy(end.content_hash.bytes, &message->value, sizeof(message->value));
    if (fby_window_end(sim->window, sim->now, &end) == FBY_BREACH) {
        sim_fail(sim, "a correct worker's END counts as a breach");
    }
}

static void welcome(
    struct sim *sim, int peer, const struct sim_message *message)
{
    fby_window_welcome(sim->window, sim->now, peer,
        &(struct fby_window_welcome){
            .instance    = {message->instance},
            .route       = message->value,
            .send_window = sim->config.send_window,
            .open_ids    = message->open,
            .n_open      = message->n_open,
        });
}

static void pong(struct sim *sim, int peer, const struct sim_message *message)
{
    fby_window_pong(sim->window, sim->now, peer,
        &(struct fby_window_pong){
            .instance = {message->instance},
            .sequence = message->number,
            .open_ids = message->open,
            .n_open   = message->n_open,
        });
}

static void data(struct sim *sim, int peer, const struct sim_message *message)
{
    switch ((int)message->kind) {
    case SIM_HEADER:
        if (fby_window_header(sim->window, sim->now, peer, message->id,
                message->chunk) == FBY_BREACH) {
            sim_fail(sim, "a correct worker's HEADER counts as a breach");
        }
        break;
    case SIM_CHUNK:
        chunk(sim, peer, message);
        break;
    case SIM_END:
        end(sim, peer, message);
        break;
    default:
        sim_fail(sim, "the client got a worker's message");
    }
}

static void refusal(
    struct sim *sim, int peer, const struct sim_message *message)
{
    struct fby_window *w = sim->window;
    switch ((int)message->kind) {
    case SIM_SEND_CONTENT:
        fby_window_send_content(w, sim->now, peer, message->id);
        break;
    case SIM_BUSY:
        fby_window_busy(
            w, sim->now, peer, message->id, (int64_t)message->number);
        break;
    case SIM_LOST:
        fby_window_lost(w, sim->now, peer, message->id);
        break;
    case SIM_CANNOT:
        fby_window_cannot(w, sim->now, peer, message->id, 1);
        break;
    default:
        data(sim, peer, message);
    }
}

void sim_client_message(
    struct sim *sim, int peer, const struct sim_message *message)
{
    struct fby_window *w = sim->window;
    if (!sim_keys_at_client(sim, peer, message)) {
        sim_client_turn(sim);
        return;
    }
    switch ((int)message->kind) {
    case SIM_WELCOME:
        welcome(sim, peer, message);
        break;
    case SIM_HELLO_FIRST:
        fby_window_hello_first(w, sim->now, peer);
        break;
    case SIM_FULL:
        fby_window_refused_full(w, sim->now, peer);
        break;
    case SIM_OPENED:
        fby_window_opened(w, sim->now, peer);
        break;
    case SIM_PONG:
        pong(sim, peer, message);
        break;
    case SIM_LEAVE:
        fby_window_leave(w, sim->now, peer);
        break;
    default:
        refusal(sim, peer, message);
    }
    sim_client_turn(sim);
}

/* ---- A turn -------------------------------------------------------------- */

static void drain(struct sim *sim)
{
    struct fby_action action;
    while (fby_window_next_action(sim->window, &action)) {
        act(sim, &action);
    }
}

static void schedule_wake(struct sim *sim)
{
    int64_t due = fby_window_deadline(sim->window);
    if (due <= sim->now) {
        due = sim->now + 1;
    }
    if (due < sim->wake_ns) {
        sim->wake_ns = due;
        sim_push(sim, due, SIM_WAKE, 0, 0);
    }
}

static void check_bounds(struct sim *sim)
{
    uint64_t most = (sim->config.max_batches + 1) * (uint64_t)BATCH_BYTES;
    if (fby_window_used_bytes(sim->window) > most) {
        sim_fail(sim, "the window holds more bytes than it may");
    }
}

/* The consumer acts before the tick and again after it. */
void sim_client_turn(struct sim *sim)
{
    drain(sim);
    try_take(sim);
    fby_window_tick(sim->window, sim->now);
    drain(sim);
    try_take(sim);
    schedule_wake(sim);
    check_bounds(sim);
}
