/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/light_peers.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "bench/bench.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/socket.h"
#include "proto/counters.h"
#include "secure/key_file.h"
#include "trainer_client/receive/membership.h"

enum {
    TRAINERS_OF_JOB = 8,
    RECEIVE_TURNS =
        8, /* receive in one of so many turns: it asks all sockets */
    FIRST_ID      = 1000000, /* instance of worker 0 */
    FIRST_PORT    = 10000,   /* of worker 0; nothing listens there */
    SPARE_SOCKETS = 16
};

static const int64_t retry_ns  = FBY_NS_PER_S; /* as real peers */
static const int64_t spread_ns = FBY_NS_PER_S;

struct light_worker {
    void                  *socket;
    unsigned               number;
    struct fby_digest      secret; /* for its tickets */
    struct fby_instance_id server; /* 0: not registered */
    int64_t                heartbeat_ns;
    int64_t                due_ns; /* of the next message */
};

struct light_trainer {
    void                 *socket;
    char                  job[32];
    struct fby_membership membership;
    bool                 *has_ticket; /* for each worker */
    unsigned              n_tickets;
};

struct bench_light_peers {
    struct bench_light_config config;
    void                     *zmq;
    struct light_worker      *workers;
    struct light_trainer     *trainers;
    struct fby_buffer         frame; /* scratch memory of send_message */
    struct fby_instance_id    server;
    int64_t                   now_ns;
    uint64_t                  turns;
    unsigned                  hurry; /* factor of bench_light_hurry */
};

/* ---- sockets ------------------------------------------------------------- */

static void *connect_to_server(const struct bench_light_peers *self,
    enum fby_role role, unsigned number, int64_t max_message)
{
    char                    path[256];
    struct fby_key_file     key;
    struct fby_error_detail why    = {""};
    void                   *socket = NULL;
    const char             *name   = fby_role_name(role);
    snprintf(path, sizeof(path), "%s/%s-%c%u.key", self->config.keys, name,
        name[0], number);
    if (fby_key_file_load(path, role, &key, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    const struct fby_socket_limits limits = {
        .max_message_bytes = max_message,
        .secret_key        = key.secret_key.bytes,
        .public_key        = key.public_key.bytes,
        .server_key        = key.server_key.bytes,
    };
    if (fby_socket_connect(self->zmq, self->config.server, &limits, &socket) !=
        FBY_OK) {
        bench_die("%s %u: %s", name, number, zmq_strerror(zmq_errno()));
    }
    return socket;
}

/* As in real peers, a message that cannot be sent is repeated by a timer. */
static void send_message(struct bench_light_peers *self, void *socket,
    const struct fby_message *message)
{
    struct fby_error_detail why = {""};
    self->frame.size            = 0;
    if (fby_message_encode(message, &self->frame, &why) != FBY_OK) {
        bench_die("%s: %s", fby_message_name(message->type), why.text);
    }
    zmq_send(socket, self->frame.data, self->frame.size, ZMQ_DONTWAIT);
}

/* Receive a message, which the caller ends with fby_message_fini. */
static bool receive_message(void *socket, struct fby_message *out)
{
    struct fby_error_detail why = {""};
    zmq_msg_t               frame;
    zmq_msg_init(&frame);
    bool received = zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) >= 0;
    if (received && fby_message_decode(zmq_msg_data(&frame),
                        zmq_msg_size(&frame), out, &why) != FBY_OK) {
        bench_die("a message of the server: %s", why.text);
    }
    zmq_msg_close(&frame);
    if (received &&
        (out->type == FBY_MSG_REFUSED || out->type == FBY_MSG_JOIN_REFUSED)) {
        bench_die("the server refused: %s", out->type == FBY_MSG_REFUSED
                                                ? out->refused.text
                                                : out->join_refused.text);
    }
    return received;
}

/* ---- workers ------------------------------------------------------------- */

static struct fby_instance_id worker_id(unsigned number)
{
    return (struct fby_instance_id){FIRST_ID + number};
}

static void init_worker(struct bench_light_peers *self, unsigned number)
{
    struct light_worker *worker = &self->workers[number];
    worker->number              = number;
    worker->socket =
        connect_to_server(self, FBY_ROLE_WORKER, number, FBY_MESSAGE_SMALL);
    worker->due_ns = self->now_ns + spread_ns * number / self->config.workers;
    randombytes_buf(&worker->secret, sizeof(worker->secret));
}

static void send_register(
    struct bench_light_peers *self, const struct light_worker *worker)
{
    char        endpoint[32];
    char        host[32];
    const char *endpoint_p = endpoint;
    const char *root       = "in1k";
    snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%u",
        FIRST_PORT + worker->number);
    snprintf(host, sizeof(host), "worker-%u.rack", worker->number);
    send_message(self, worker->socket,
        FBY_MESSAGE(REGISTER, registration,
            .instance  = worker_id(worker->number),
            .endpoints = {&endpoint_p, 1}, .host = host,
            .pid = (uint32_t)getpid(), .cores = 8, .roots = {&root, 1},
            .secret   = {.known = true, .digest = worker->secret},
            .clock_ns = (uint64_t)self->now_ns));
}

static void send_heartbeat(
    struct bench_light_peers *self, const struct light_worker *worker)
{
    struct fby_counter_values values = {
        .known = ((uint64_t)1 << FBY_N_COUNTERS) - 1};
    struct fby_counter list[FBY_N_COUNTERS];
    for (int i = 0; i < FBY_N_COUNTERS; i++) {
        values.at[i] = (uint64_t)self->now_ns;
    }
    send_message(self, worker->socket,
        FBY_MESSAGE(HEARTBEAT, heartbeat, .instance = worker_id(worker->number),
            .sessions = self->config.trainers, .load_permille = 600,
            .counters   = list,
            .n_counters = fby_counter_values_list(&values, list),
            .clock_ns   = (uint64_t)self->now_ns));
}

static void send_of_worker(
    struct bench_light_peers *self, struct light_worker *worker)
{
    if (self->now_ns < worker->due_ns) {
        return;
    }
    if (worker->server.value == 0) {
        send_register(self, worker);
        worker->due_ns = self->now_ns + retry_ns;
    } else {
        send_heartbeat(self, worker);
        worker->due_ns = self->now_ns + worker->heartbeat_ns / self->hurry;
    }
}

static void receive_of_worker(
    struct bench_light_peers *self, struct light_worker *worker)
{
    struct fby_message message;
    while (receive_message(worker->socket, &message)) {
        if (message.type == FBY_MSG_REGISTERED) {
            worker->server = self->server = message.registered.server;
            worker->heartbeat_ns =
                message.registered.heartbeat_ms * FBY_NS_PER_MS;
            worker->due_ns = self->now_ns + worker->heartbeat_ns;
        } else if (message.type == FBY_MSG_REGISTER_FIRST) {
            worker->server = (struct fby_instance_id){0};
            worker->due_ns = self->now_ns;
        }
        fby_message_fini(&message);
    }
}

/* ---- trainers ------------------------------------------------------------ */

static void init_trainer(struct bench_light_peers *self, unsigned number)
{
    struct light_trainer *trainer = &self->trainers[number];
    struct fby_join       join    = {.job = trainer->job,
                 .rank                    = number % TRAINERS_OF_JOB,
                 .world                   = TRAINERS_OF_JOB,
                 .host                    = "trainer.rack",
                 .pid                     = (uint32_t)getpid(),
                 .content                 = fby_digest_of("content", 7)};
    randombytes_buf(&join.session, sizeof(join.session));
    snprintf(
        trainer->job, sizeof(trainer->job), "job-%u", number / TRAINERS_OF_JOB);
    trainer->has_ticket =
        fby_zalloc(self->config.workers * sizeof(*trainer->has_ticket));
    trainer->socket =
        connect_to_server(self, FBY_ROLE_TRAINER, number, FBY_MESSAGE_MAX);
    fby_membership_init(&trainer->membership, &join, retry_ns,
        self->now_ns + spread_ns * number / self->config.trainers);
}

static void send_of_trainer(
    struct bench_light_peers *self, struct light_trainer *trainer)
{
    struct fby_message message;
    if (fby_membership_tick(&trainer->membership, self->now_ns, &message)) {
        send_message(self, trainer->socket, &message);
    }
}

static void add_workers(const struct bench_light_peers *self,
    struct light_trainer *trainer, const struct fby_workers *workers)
{
    if (workers->is_complete) {
        memset(trainer->has_ticket, 0,
            self->config.workers * sizeof(*trainer->has_ticket));
        trainer->n_tickets = 0;
    }
    for (size_t i = 0; i < workers->n_added; i++) {
        const struct fby_worker_info *info   = &workers->added[i];
        uint64_t                      number = info->instance.value - FIRST_ID;
        if (number >= self->config.workers || info->ticket.size == 0 ||
            !info->session_key.known) {
            bench_die("a list of workers has a wrong entry");
        }
        trainer->n_tickets += trainer->has_ticket[number] ? 0 : 1;
        trainer->has_ticket[number] = true;
    }
}

static void receive_of_trainer(
    struct bench_light_peers *self, struct light_trainer *trainer)
{
    struct fby_membership *membership = &trainer->membership;
    struct fby_message     message;
    while (receive_message(trainer->socket, &message)) {
        if (message.type == FBY_MSG_JOINED) {
            self->server = message.joined.server;
            fby_membership_joined(membership, &message.joined, self->now_ns);
            membership->heartbeat_ns /= self->hurry;
        } else if (message.type == FBY_MSG_JOIN_FIRST) {
            fby_membership_join_first(membership, self->now_ns);
        } else if (message.type == FBY_MSG_WORKERS &&
                   fby_membership_accept_list(
                       membership, &message.workers, self->now_ns)) {
            add_workers(self, trainer, &message.workers);
        }
        fby_message_fini(&message);
    }
}

/* ---- all ----------------------------------------------------------------- */

struct bench_light_peers *bench_light_create(
    const struct bench_light_config *config)
{
    struct bench_light_peers *self = fby_zalloc(sizeof(*self));
    unsigned                  n    = config->workers + config->trainers;
    self->config                   = *config;
    self->zmq                      = zmq_ctx_new();
    self->workers  = fby_zalloc(config->workers * sizeof(*self->workers));
    self->trainers = fby_zalloc(config->trainers * sizeof(*self->trainers));
    self->now_ns   = fby_now_ns();
    self->hurry    = 1;
    zmq_ctx_set(self->zmq, ZMQ_MAX_SOCKETS, (int)n + SPARE_SOCKETS);
    for (unsigned i = 0; i < config->workers; i++) {
        init_worker(self, i);
    }
    for (unsigned i = 0; i < config->trainers; i++) {
        init_trainer(self, i);
    }
    return self;
}

void bench_light_destroy(struct bench_light_peers **self_p)
{
    struct bench_light_peers *self = *self_p;
    *self_p                        = NULL;
    for (unsigned i = 0; i < self->config.workers; i++) {
        zmq_close(self->workers[i].socket);
    }
    for (unsigned i = 0; i < self->config.trainers; i++) {
        zmq_close(self->trainers[i].socket);
        free(self->trainers[i].has_ticket);
    }
    zmq_ctx_term(self->zmq);
    fby_buffer_fini(&self->frame);
    free(self->workers);
    free(self->trainers);
    free(self);
}

static void receive_all(struct bench_light_peers *self)
{
    for (unsigned i = 0; i < self->config.workers; i++) {
        receive_of_worker(self, &self->workers[i]);
    }
    for (unsigned i = 0; i < self->config.trainers; i++) {
        receive_of_trainer(self, &self->trainers[i]);
    }
}

void bench_light_turn(struct bench_light_peers *self)
{
    bench_sleep_until(self->now_ns + FBY_NS_PER_MS);
    self->now_ns = fby_now_ns();
    for (unsigned i = 0; i < self->config.workers; i++) {
        send_of_worker(self, &self->workers[i]);
    }
    for (unsigned i = 0; i < self->config.trainers; i++) {
        send_of_trainer(self, &self->trainers[i]);
    }
    if (self->turns++ % RECEIVE_TURNS == 0) {
        receive_all(self);
    }
}

void bench_light_hurry(struct bench_light_peers *self, unsigned factor)
{
    self->hurry = factor;
}

struct bench_light_state bench_light_state(const struct bench_light_peers *self)
{
    struct bench_light_state state  = {.server = self->server};
    uint64_t                 server = self->server.value;
    for (unsigned i = 0; server != 0 && i < self->config.workers; i++) {
        state.registered += self->workers[i].server.value == server;
    }
    for (unsigned i = 0; server != 0 && i < self->config.trainers; i++) {
        const struct light_trainer *trainer = &self->trainers[i];
        bool joined = trainer->membership.server.value == server;
        state.joined += joined;
        state.informed += joined && trainer->n_tickets == self->config.workers;
    }
    return state;
}
