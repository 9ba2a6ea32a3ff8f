/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/simulate/sim.h"

enum { BATCH_BYTES = 1000 }; /* charged to the budget per batch */

static void send_to_client(
    struct sim *sim, int worker, const struct sim_message *message)
{
    struct sim_worker *w    = &sim->workers[worker];
    struct sim_message copy = *message;
    if (w->route >= 0) {
        sim_keys_seal_down(sim, worker, &copy);
    }
    if (w->route < 0 || !sim_send_down(sim, w->route, w->connection, &copy)) {
        if (w->session != NULL) {
            fby_session_route_lost(w->session);
        }
        w->route = -1;
    }
}

static void send_about(struct sim *sim, int worker, enum sim_message_kind kind,
    struct fby_request_id id)
{
    send_to_client(sim, worker,
        &(struct sim_message){
            .kind = kind, .id = id, .number = 50 * FBY_NS_PER_MS});
}

/* ---- Start and stop ------------------------------------------------------ */

void sim_worker_start(struct sim *sim, int worker)
{
    struct sim_worker *w = &sim->workers[worker];
    w->alive             = true;
    w->leaving           = false;
    w->content           = false;
    w->generation++;
    w->instance    = sim_random(sim) | 1;
    w->paused_ns   = 0;
    w->slow_ns     = 0;
    w->busy_ns     = 0;
    w->working     = 0;
    w->n_corrupt   = 0;
    w->n_duplicate = 0;
    w->n_bad_end   = 0;
    w->n_drop      = 0;
    w->slow_by     = 8;
    sim_keys_start_worker(sim, worker);
    w->route = -1;
    fby_budget_init(
        &w->budget, (uint64_t)sim->config.budget_batches * BATCH_BYTES);
}

static void free_job(struct sim_worker *w, struct sim_job *job)
{
    fby_session_freed(w->session, job->id);
    job->used = false;
}

static void end_session(struct sim_worker *w)
{
    for (int i = 0; i < SIM_JOBS; i++) {
        if (w->jobs[i].used) {
            free_job(w, &w->jobs[i]);
        }
        w->jobs[i].working = false;
    }
    w->generation++; /* results of the work in progress are dropped */
    w->working = 0;
    fby_session_destroy(&w->session);
    w->route = -1;
}

void sim_worker_stop(struct sim *sim, int worker)
{
    struct sim_worker *w = &sim->workers[worker];
    if (w->session != NULL) {
        end_session(w);
    }
    if (w->rival != NULL) {
        fby_session_freed(w->rival, (struct fby_request_id){w->rival_id});
        fby_session_destroy(&w->rival);
    }
    w->alive = false;
    for (int i = 0; i < SIM_PEERS; i++) {
        if (sim->peers[i].worker == worker && sim->peers[i].open) {
            sim_reset(sim, i);
        }
    }
}

void sim_worker_leave(struct sim *sim, int worker)
{
    struct sim_worker *w = &sim->workers[worker];
    w->leaving           = true;
    if (w->session != NULL) {
        fby_session_leave(w->session);
        send_about(sim, worker, SIM_LEAVE, (struct fby_request_id){0});
    }
}

/* ---- Another client of the same worker ----------------------------------- */

/* It requests its fair share, one batch; a session with more must shed one. */
void sim_worker_rival(struct sim *sim, int worker)
{
    struct sim_worker        *w = &sim->workers[worker];
    struct fby_session_config c = fby_session_defaults();
    if (w->rival != NULL) {
        return;
    }
    w->rival = fby_session_create(&c, &w->budget, BATCH_BYTES, sim->now);
    enum fby_session_answer answer = fby_session_request(w->rival, sim->now,
        &(struct fby_session_request){
            .id = {++w->rival_id}, .bytes = BATCH_BYTES});
    if (answer == FBY_SESSION_BUSY) {
        struct fby_session *victim = fby_session_choose_victim(
            &w->session, w->session != NULL, w->rival, sim->now);
        if (victim != NULL) {
            sim_trace(sim, "worker %d sheds a batch", worker);
            (void)fby_session_shed_batch(victim);
        }
    }
    sim_push(sim, sim->now + sim_between(sim, 1, 200) * FBY_NS_PER_MS,
        SIM_RIVAL_LEAVES, worker, w->generation);
}

void sim_worker_rival_leaves(struct sim *sim, const struct sim_event *event)
{
    struct sim_worker *w = &sim->workers[event->a];
    if (w->rival == NULL) {
        return;
    }
    fby_session_freed(w->rival, (struct fby_request_id){w->rival_id});
    fby_session_bye(w->rival);
    fby_session_destroy(&w->rival);
    w->rival_id = 0;
}

/* ---- Making -------------------------------------------------------------- */

static int64_t chunk_time(
    struct sim *sim, const struct sim_worker *w, const struct sim_job *job)
{
    int64_t time = w->service_ns / (job->n_chunks > 0 ? job->n_chunks : 1);
    time         = sim_between(sim, time - time / 8, time + time / 8);
    return sim->now < w->slow_ns ? w->slow_by * time : time;
}

static struct sim_job *lowest_job(struct sim_worker *w)
{
    struct sim_job *lowest = NULL;
    for (int i = 0; i < SIM_JOBS; i++) {
        struct sim_job *job = &w->jobs[i];
        if (job->used && !job->working && job->made < job->n_chunks &&
            fby_session_is_open(w->session, job->id) &&
            (lowest == NULL || job->step < lowest->step)) {
            lowest = job;
        }
    }
    return lowest;
}

static void work_on(struct sim *sim, int worker, struct sim_job *job)
{
    struct sim_worker *w = &sim->workers[worker];
    job->working         = true;
    w->working++;
    sim_push(sim, sim->now + chunk_time(sim, w, job), SIM_MADE,
        worker * SIM_JOBS + (int)(job - w->jobs), w->generation);
}

static void start_jobs(struct sim *sim, int worker)
{
    struct sim_worker *w   = &sim->workers[worker];
    struct sim_job    *job = NULL;
    while (w->working < w->cores && (job = lowest_job(w)) != NULL) {
        if (job->made == 0 && fby_session_header(w->session, job->id,
                                  job->chunks, job->n_chunks) != FBY_OK) {
            sim_fail(sim, "an open batch has no place for its HEADER");
        }
        work_on(sim, worker, job);
    }
}

static void chunk_made(
    struct sim *sim, struct sim_worker *w, struct sim_job *job)
{
    struct fby_session_chunk chunk = {
        .chunk      = job->made++,
        .wire_bytes = (uint32_t)sim->config.chunk_bytes,
    };
    if (fby_session_chunk_ready(w->session, job->id, chunk) == FBY_OK &&
        job->made == job->n_chunks &&
        fby_session_all_ready(w->session, job->id) != FBY_OK) {
        sim_fail(sim, "a batch with all chunks is not all ready");
    }
}

void sim_worker_made(struct sim *sim, const struct sim_event *event)
{
    int                worker = event->a / SIM_JOBS;
    struct sim_worker *w      = &sim->workers[worker];
    struct sim_job    *job    = &w->jobs[event->a % SIM_JOBS];
    if (w->generation != event->b) {
        return;
    }
    if (w->paused_ns > sim->now) {
        sim_push(sim, w->paused_ns, event->kind, event->a, event->b);
        return;
    }
    w->working--;
    job->working = false;
    chunk_made(sim, w, job);
    if (job->made < job->n_chunks && fby_session_is_open(w->session, job->id)) {
        work_on(sim, worker, job);
    }
    sim_worker_pump(sim, worker);
}

/* Drop a message, as if it was lost; the next PONG shows that. */
static bool drops_message(struct sim_worker *w)
{
    bool drop = w->n_drop > 0;
    w->n_drop -= drop;
    return drop;
}

/* ---- Sending ------------------------------------------------------------- */

static const struct sim_job *job_of(
    const struct sim_worker *w, struct fby_request_id id)
{
    for (int i = 0; i < SIM_JOBS; i++) {
        if (w->jobs[i].used && w->jobs[i].id.value == id.value) {
            return &w->jobs[i];
        }
    }
    return NULL;
}

static void send_chunk(struct sim *sim, int worker, const struct sim_job *job,
    const struct fby_session_item *item)
{
    struct sim_worker *w       = &sim->workers[worker];
    struct sim_message message = {
        .kind  = SIM_CHUNK,
        .id    = item->id,
        .chunk = item->chunk,
        .value = sim_value_of(job->step, item->chunk),
        .bytes = item->wire_bytes,
        .good  = w->n_corrupt == 0,
    };
    if (w->n_corrupt > 0) {
        w->n_corrupt--;
        message.value ^= 1;
        sim_asked(sim, job->step)->damaged++;
        message.id.value = sim_chance(sim, 20) ? 0 : message.id.value;
    }
    send_to_client(sim, worker, &message);
    if (w->n_duplicate > 0) {
        w->n_duplicate--;
        message.bytes = 0; /* the session does not count it */
        send_to_client(sim, worker, &message);
    }
}

static void send_end(struct sim *sim, int worker, const struct sim_job *job)
{
    struct sim_worker *w   = &sim->workers[worker];
    bool               bad = w->n_bad_end > 0;
    w->n_bad_end -= bad;
    sim_asked(sim, job->step)->damaged += bad;
    send_to_client(sim, worker,
        &(struct sim_message){
            .kind  = SIM_END,
            .id    = job->id,
            .value = job->step ^ (bad ? 1U << 20 : 0),
            .good  = !bad,
        });
}

static void send_item(
    struct sim *sim, int worker, const struct fby_session_item *item)
{
    const struct sim_job *job = job_of(&sim->workers[worker], item->id);
    if (item->kind == FBY_SEND_LOST) {
        if (!drops_message(&sim->workers[worker])) {
            send_about(sim, worker, SIM_LOST, item->id);
        }
        return;
    }
    if (job == NULL || job->cancelled) {
        sim_fail(sim, "a batch is sent without a request for it");
        return;
    }
    if (sim->workers[worker].mute && item->kind != FBY_SEND_HEADER) {
        return;
    }
    if (item->kind == FBY_SEND_CHUNK) {
        send_chunk(sim, worker, job, item);
    } else if (item->kind == FBY_SEND_END) {
        send_end(sim, worker, job);
    } else {
        send_to_client(sim, worker,
            &(struct sim_message){
                .kind = SIM_HEADER, .id = item->id, .chunk = job->n_chunks});
    }
}

static void check_bytes(struct sim *sim, const struct sim_worker *w)
{
    struct fby_session_state state = fby_session_state(w->session);
    uint64_t                 out   = state.sent - state.credited;
    uint64_t most = sim->config.send_window > sim->config.chunk_bytes
                        ? sim->config.send_window
                        : sim->config.chunk_bytes;
    if (out > most) {
        sim_fail(sim, "more is sent than send_window allows");
    }
    uint64_t used = 0;
    for (int i = 0; i < SIM_JOBS; i++) {
        used += w->jobs[i].used ? BATCH_BYTES : 0;
    }
    if (w->budget.charged > w->budget.total || used > w->budget.total) {
        sim_fail(sim, "more is charged than the budget has");
    }
}

static void free_closed(struct sim_worker *w)
{
    for (int i = 0; i < SIM_JOBS; i++) {
        struct sim_job *job = &w->jobs[i];
        if (job->used && !job->working &&
            !fby_session_is_open(w->session, job->id)) {
            free_job(w, job);
        }
    }
}

void sim_worker_pump(struct sim *sim, int worker)
{
    struct sim_worker      *w = &sim->workers[worker];
    struct fby_session_item item;
    if (w->session == NULL) {
        return;
    }
    start_jobs(sim, worker);
    while (
        w->session != NULL && fby_session_next(w->session, sim->now, &item)) {
        send_item(sim, worker, &item);
    }
    free_closed(w);
    check_bytes(sim, w);
}

/* ---- Messages ------------------------------------------------------------ */

static void list_open(struct sim_worker *w, struct sim_message *message)
{
    message->instance = w->instance;
    message->n_open =
        (uint32_t)fby_session_list_open(w->session, message->open, SIM_NAMED);
}

static void make_session(struct sim *sim, struct sim_worker *w)
{
    struct fby_session_config c = fby_session_defaults();
    c.send_window               = sim->config.send_window;
    c.max_batches               = SIM_JOBS;
    w->session = fby_session_create(&c, &w->budget, BATCH_BYTES, sim->now);
}

static void refuse(struct sim *sim, int peer)
{
    (void)sim_send_down(sim, peer, sim->peers[peer].connection,
        &(struct sim_message){.kind = SIM_FULL});
}

static void send_hello_first(struct sim *sim, int peer)
{
    struct sim_message message = {.kind = SIM_HELLO_FIRST};
    sim_keys_challenge(sim, peer, &message);
    (void)sim_send_down(sim, peer, sim->peers[peer].connection, &message);
}

static void begin_route(struct sim *sim, int peer,
    const struct sim_message *message, const struct fby_lanes *lanes)
{
    int                worker     = sim->peers[peer].worker;
    struct sim_worker *w          = &sim->workers[worker];
    uint64_t           connection = sim->peers[peer].connection;
    if (w->leaving) {
        refuse(sim, peer);
        return;
    }
    if (w->session == NULL) {
        make_session(sim, w);
    }
    w->route      = peer;
    w->connection = connection;
    w->lanes      = *lanes;
    fby_session_hello(w->session, sim->now, message->number);
    struct sim_message welcome = {
        .kind = SIM_WELCOME, .value = message->number};
    list_open(w, &welcome);
    send_to_client(sim, worker, &welcome);
}

static void hello(struct sim *sim, int peer, const struct sim_message *message)
{
    struct fby_lanes lanes = {0};
    switch (sim_keys_hello(sim, peer, message, &lanes)) {
    case SIM_HELLO_GOOD:
        begin_route(sim, peer, message, &lanes);
        break;
    case SIM_HELLO_REFUSED:
        refuse(sim, peer);
        break;
    case SIM_HELLO_REPEATED:
        send_hello_first(sim, peer);
        break;
    }
}

static struct sim_job *unused_job(struct sim_worker *w)
{
    for (int i = 0; i < SIM_JOBS; i++) {
        if (!w->jobs[i].used && !w->jobs[i].working) {
            return &w->jobs[i];
        }
    }
    return NULL;
}

static void accept(
    struct sim *sim, struct sim_worker *w, const struct sim_message *message)
{
    struct sim_job *job = unused_job(w);
    if (job == NULL) {
        sim_fail(sim, "a worker accepts more batches than it has room for");
        return;
    }
    *job = (struct sim_job){
        .used     = true,
        .id       = message->id,
        .step     = message->number,
        .n_chunks = sim_chunks_of(sim, message->number),
    };
}

static void request(
    struct sim *sim, int worker, const struct sim_message *message)
{
    struct sim_worker *w = &sim->workers[worker];
    if (drops_message(w)) {
        return;
    }
    if (!w->content) {
        fby_session_heard(w->session, sim->now);
        send_about(sim, worker, SIM_SEND_CONTENT, message->id);
        return;
    }
    if (w->cannot >> (message->number % 64) & 1) {
        send_about(sim, worker, SIM_CANNOT, message->id);
        return;
    }
    if (sim->now < w->busy_ns) {
        send_about(sim, worker, SIM_BUSY, message->id);
        return;
    }
    switch (fby_session_request(w->session, sim->now,
        &(struct fby_session_request){.id = message->id,
            .order                        = message->number,
            .bytes                        = BATCH_BYTES})) {
    case FBY_SESSION_ACCEPT:
        accept(sim, w, message);
        break;
    case FBY_SESSION_BUSY:
    case FBY_SESSION_NO_SHARE:
        send_about(sim, worker, SIM_BUSY, message->id);
        break;
    case FBY_SESSION_LOST:
        send_about(sim, worker, SIM_LOST, message->id);
        break;
    case FBY_SESSION_TOO_LARGE:
    case FBY_SESSION_REPEATED:
        sim_fail(sim, "a request id came twice, or a batch never fits");
        break;
    }
}

static void cancel(
    struct sim *sim, struct sim_worker *w, struct fby_request_id id)
{
    fby_session_cancel(w->session, sim->now, id);
    for (int i = 0; i < SIM_JOBS; i++) {
        w->jobs[i].cancelled |= w->jobs[i].id.value == id.value;
    }
}

static void pong(struct sim *sim, int worker, const struct sim_message *message)
{
    struct sim_worker *w      = &sim->workers[worker];
    struct sim_message answer = {.kind = SIM_PONG, .number = message->number};
    fby_session_heard(w->session, sim->now);
    list_open(w, &answer);
    send_to_client(sim, worker, &answer);
}

static void session_message(
    struct sim *sim, int worker, const struct sim_message *message)
{
    struct sim_worker *w = &sim->workers[worker];
    switch ((int)message->kind) {
    case SIM_OPEN:
        fby_session_heard(w->session, sim->now);
        w->content = true;
        send_about(sim, worker, SIM_OPENED, message->id);
        break;
    case SIM_REQUEST:
        request(sim, worker, message);
        break;
    case SIM_CANCEL:
        cancel(sim, w, message->id);
        break;
    case SIM_PING:
        pong(sim, worker, message);
        break;
    case SIM_CREDIT:
        if (fby_session_credit(w->session, sim->now, message->value,
                message->number) != FBY_OK) {
            sim_fail(sim, "the client credits what was not sent");
        }
        break;
    case SIM_BYE:
        fby_session_bye(w->session);
        end_session(w);
        break;
    default:
        sim_fail(sim, "a worker got a client's message");
    }
}

/* Handle a message on the session's route. */
static void route_message(
    struct sim *sim, int worker, const struct sim_message *message)
{
    struct sim_worker *w = &sim->workers[worker];
    if (sim_keys_at_worker(sim, worker, message)) {
        session_message(sim, worker, message);
    } else {
        sim_trace(sim, "worker %d gets a frame of another route", worker);
        fby_session_route_lost(w->session);
        w->route = -1;
    }
}

void sim_worker_message(
    struct sim *sim, int peer, const struct sim_message *message)
{
    int                worker     = sim->peers[peer].worker;
    struct sim_worker *w          = &sim->workers[worker];
    uint64_t           connection = sim->peers[peer].connection;
    if (w->session != NULL && fby_session_expired(w->session, sim->now)) {
        sim_trace(sim, "session at worker %d expires", worker);
        end_session(w);
    }
    bool in_the_clear = sim->config.keys && !message->is_sealed;
    if (message->kind == SIM_HELLO) {
        hello(sim, peer, message);
    } else if (w->session == NULL || w->route != peer ||
               w->connection != connection || in_the_clear) {
        send_hello_first(sim, peer);
    } else {
        route_message(sim, worker, message);
    }
    sim_worker_pump(sim, worker);
}
