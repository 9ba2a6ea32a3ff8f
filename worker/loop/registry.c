/* SPDX-License-Identifier: Apache-2.0 */
/* Register this worker at the server, and send it heartbeats. After a restart
 * the server knows no worker: it answers REGISTER_FIRST, and the worker
 * registers again. A server that moves to another address is found there
 * (common/locator.h). Clients that are connected are not affected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cores.h"
#include "common/fault.h"
#include "common/log.h"
#include "common/mem.h"
#include "proto/refusal.h"
#include "worker/loop/loop.h"

enum {
    MAX_RECEIVED     = 16,     /* messages handled in one turn of the loop */
    QUEUE_MESSAGES   = 100000, /* received messages that ZeroMQ may queue */
    SILENT_REGISTERS = 4 /* without an answer to so many, the log says it */
};

/* ---- The worker's own address -------------------------------------------- */

static bool is_any_address(const char *endpoint)
{
    return strncmp(endpoint, "tcp://0.0.0.0:", strlen("tcp://0.0.0.0:")) == 0 ||
           strncmp(endpoint, "tcp://[::]:", strlen("tcp://[::]:")) == 0 ||
           strncmp(endpoint, "tcp://*:", strlen("tcp://*:")) == 0;
}

/* Check and resolve --advertise, which takes precedence. */
static fby_err read_advertise(
    struct fby_loop *self, struct fby_error_detail *why)
{
    const char *advertise = self->options.advertise;
    if (advertise == NULL) {
        return FBY_OK;
    }
    if (is_any_address(advertise)) {
        return fby_error_set(why, FBY_USAGE,
            "clients cannot connect to %s; --advertise takes the address "
            "that trainers see",
            advertise);
    }
    return fby_endpoint_resolve(advertise, self->registry.advertise, why);
}

/* Without --advertise: the address that is bound, or if this is a wildcard, the
 * one on the route to the server. */
static fby_err choose_client_endpoint(
    struct fby_loop *self, struct fby_error_detail *why)
{
    struct fby_loop_registry *registry = &self->registry;
    if (self->options.advertise != NULL) {
        return FBY_OK;
    }
    struct fby_host_port bound;
    if (is_any_address(self->bound) &&
        fby_endpoint_split(self->bound, &bound)) {
        return fby_loop_route_endpoint(
            registry->endpoint, bound.port, registry->advertise, why);
    }
    snprintf(registry->advertise, FBY_ENDPOINT_SIZE, "%s", self->bound);
    return FBY_OK;
}

/* ---- Connecting ---------------------------------------------------------- */

static void close_socket(struct fby_loop_registry *registry)
{
    if (registry->socket != NULL) {
        zmq_close(registry->socket);
        registry->socket = NULL;
    }
}

/* Other hosts cannot reach a loopback address that is registered for them. */
static void warn_of_loopback(struct fby_loop_registry *registry)
{
    if (!registry->loopback_logged &&
        fby_endpoint_is_loopback(registry->advertise) &&
        !fby_endpoint_is_loopback(registry->endpoint)) {
        registry->loopback_logged = true;
        fby_warn("REGISTERS-LOOPBACK",
            "%s at the server %s: no trainer on another host can reach this "
            "worker; --listen takes an address of this host",
            registry->advertise, registry->endpoint);
    }
}

/* Replace the connection to the server by one to the endpoint of the locator.
 * The old one is kept on failure. */
static fby_err reconnect(struct fby_loop *self, struct fby_error_detail *why)
{
    struct fby_socket_limits  limits = {.max_message_bytes = FBY_MESSAGE_SMALL,
         .receive_messages                                 = QUEUE_MESSAGES,
         .reconnect_ms = (int)(self->options.register_ns / FBY_NS_PER_MS)};
    struct fby_loop_registry *registry = &self->registry;
    const char *endpoint = fby_locator_endpoint(registry->locator);
    void       *socket   = NULL;
    fby_loop_keys_set_socket(self, &limits);
    fby_err err = fby_socket_connect(self->zmq, endpoint, &limits, &socket);
    if (err != FBY_OK) {
        return fby_error_set(why, err, "cannot connect to server %s: %s",
            endpoint, zmq_strerror(errno));
    }
    close_socket(registry);
    snprintf(registry->endpoint, sizeof(registry->endpoint), "%s", endpoint);
    registry->socket      = socket;
    registry->server      = (struct fby_instance_id){0};
    registry->unanswered  = 0;
    registry->due_ns      = 0; /* register in the next turn */
    registry->connect_due = false;
    FBY_TRY(choose_client_endpoint(self, why));
    warn_of_loopback(registry);
    return FBY_OK;
}

fby_err fby_loop_registry_open(
    struct fby_loop *self, struct fby_error_detail *why)
{
    struct fby_loop_registry        *registry = &self->registry;
    const struct fby_resolver_source source   = {
          .text = self->options.server, .file = self->options.server_file};
    if (source.text == NULL && source.file == NULL) {
        return FBY_OK;
    }
    if (gethostname(registry->host, sizeof(registry->host) - 1) != 0) {
        snprintf(registry->host, sizeof(registry->host), "unknown");
    }
    registry->heartbeat_ns = self->options.heartbeat_ns;
    FBY_TRY(fby_locator_create(&source, &registry->locator, why));
    FBY_TRY(read_advertise(self, why));
    fby_loop_registry_locate(self);
    return FBY_OK;
}

fby_err fby_loop_registry_connect(
    struct fby_loop *self, struct fby_error_detail *why)
{
    return self->registry.connect_due ? reconnect(self, why) : FBY_OK;
}

const char *fby_loop_registry_server(const struct fby_loop *self)
{
    return self->registry.locator != NULL
               ? fby_locator_endpoint(self->registry.locator)
               : "";
}

void fby_loop_registry_close(struct fby_loop *self)
{
    close_socket(&self->registry);
    fby_locator_destroy(&self->registry.locator);
}

/* A worker that leaves has nothing to say to the server any more. */
static bool is_active(const struct fby_loop *self)
{
    return self->registry.locator != NULL && self->leave_until_ns == 0;
}

int fby_loop_registry_fd(const struct fby_loop *self)
{
    return is_active(self) ? fby_locator_fd(self->registry.locator) : -1;
}

int64_t fby_loop_registry_deadline(const struct fby_loop *self)
{
    const struct fby_loop_registry *registry = &self->registry;
    if (!is_active(self)) {
        return INT64_MAX;
    }
    int64_t due_ns = fby_locator_deadline(registry->locator);
    bool    sends  = registry->socket != NULL || registry->connect_due;
    return sends ? fby_earlier_ns(due_ns, registry->due_ns) : due_ns;
}

/* ---- Messages to the server ---------------------------------------------- */

static void send_to_server(
    struct fby_loop *self, const struct fby_message *message)
{
    if (fby_loop_encode(self, message) &&
        zmq_send(self->registry.socket, self->frame.data, self->frame.size,
            ZMQ_DONTWAIT) < 0) {
        fby_debug("SEND", "to the server: %s", zmq_strerror(errno));
    }
    self->registry.unanswered++; /* even if it could not be sent */
}

static void send_register(struct fby_loop *self)
{
    const char  *endpoint = self->registry.advertise;
    uint32_t     n_roots  = fby_roots_count(self->roots);
    const char **names    = fby_zalloc(n_roots * sizeof(*names));
    for (uint32_t i = 0; i < n_roots; i++) {
        names[i] = fby_roots_name(self->roots, i);
    }
    struct fby_message *message = FBY_MESSAGE(REGISTER, registration,
        .instance = self->instance, .endpoints = {&endpoint, 1},
        .host = self->registry.host, .pid = (uint32_t)getpid(),
        .cores = fby_usable_cores(), .roots = {names, n_roots});
    fby_loop_keys_register(self, &message->registration);
    send_to_server(self, message);
    free(names);
}

/* Measure the share of time that the transform threads were busy since the last
 * call. It helps the user to choose the number of machines. */
static uint32_t measure_load_permille(struct fby_loop *self)
{
    struct fby_loop_registry *registry = &self->registry;
    struct fby_stage_counts counts = fby_stages_counts(self->stages).transform;
    int64_t busy_ns             = counts.busy_ns - registry->heartbeat_busy_ns;
    int64_t elapsed_ns          = self->now_ns - registry->last_heartbeat_ns;
    int64_t thread_ns           = elapsed_ns * counts.threads;
    registry->heartbeat_busy_ns = counts.busy_ns;
    registry->last_heartbeat_ns = self->now_ns;
    int64_t permille = thread_ns > 0 ? busy_ns * 1000 / thread_ns : 0;
    return permille < 1000 ? (uint32_t)permille : 1000;
}

static void send_heartbeat(struct fby_loop *self)
{
    struct fby_counter_values values = {0};
    struct fby_counter        list[FBY_N_COUNTERS];
    fby_loop_counters_read(self, &values);
    send_to_server(self,
        FBY_MESSAGE(HEARTBEAT, heartbeat, .instance = self->instance,
            .sessions      = fby_loop_count_sessions(self),
            .load_permille = measure_load_permille(self), .counters = list,
            .n_counters = fby_counter_values_list(&values, list),
            .clock_ns   = (uint64_t)self->now_ns));
}

/* A server tells a client whose keys do not suit it nothing. */
static void log_silence(struct fby_loop *self)
{
    struct fby_loop_registry *registry = &self->registry;
    if (registry->unanswered > 0 && !registry->silence_logged) {
        registry->silence_logged = true;
        fby_warn("SERVER-SILENT",
            "no answer from %s; check that it runs and listens at this "
            "address%s; this worker keeps trying",
            registry->endpoint,
            self->keys != NULL
                ? ", and that the key file is of this server"
                : ", and whether it demands keys (--keys, FOREBAY_KEYS)");
    }
}

void fby_loop_registry_locate(struct fby_loop *self)
{
    struct fby_loop_registry *registry = &self->registry;
    if (fby_locator_tick(registry->locator, self->now_ns)) {
        registry->connect_due = true;
        registry->due_ns      = self->now_ns;
        log_silence(self);
    }
}

/* Connect if the locator has said so. Returns false after a failure; then try
 * again later. */
static bool connect_if_due(struct fby_loop *self)
{
    struct fby_loop_registry *registry = &self->registry;
    struct fby_error_detail   why      = {""};
    fby_loop_registry_locate(self);
    if (!registry->connect_due || self->now_ns < registry->due_ns) {
        return true;
    }
    if (reconnect(self, &why) != FBY_OK) {
        fby_error("SERVER-LOST", "%s; trying again", why.text);
        registry->connect_due = true;
        registry->due_ns      = self->now_ns + self->options.register_ns;
        return false;
    }
    return true;
}

void fby_loop_registry_tick(struct fby_loop *self)
{
    struct fby_loop_registry *registry = &self->registry;
    if (!is_active(self) || !connect_if_due(self) || registry->socket == NULL ||
        self->now_ns < registry->due_ns) {
        return;
    }
    if (registry->server.value == 0) {
        if (registry->unanswered >= SILENT_REGISTERS) {
            log_silence(self);
        }
        send_register(self);
        registry->due_ns = self->now_ns + self->options.register_ns;
    } else {
        send_heartbeat(self);
        registry->due_ns = self->now_ns + registry->heartbeat_ns;
    }
}

void fby_loop_registry_deregister(struct fby_loop *self)
{
    if (self->registry.socket != NULL) {
        send_to_server(self,
            FBY_MESSAGE(DEREGISTER, deregister, .instance = self->instance));
    }
}

/* ---- Messages of the server ---------------------------------------------- */

static void on_registered(
    struct fby_loop *self, const struct fby_registered *registered)
{
    struct fby_loop_registry *registry = &self->registry;
    if (registry->server.value != registered->server.value) {
        fby_info("REGISTERED", "at %s as %s", registry->endpoint,
            registry->advertise);
    }
    fby_http_refresh(self->http);
    fby_locator_set_lease(
        registry->locator, (int64_t)registered->lease_ms * FBY_NS_PER_MS);
    registry->server         = registered->server;
    registry->refusal_logged = false;
    registry->heartbeat_ns   = registered->heartbeat_ms * FBY_NS_PER_MS;
    registry->due_ns         = self->now_ns + registry->heartbeat_ns;
}

static void on_register_first(struct fby_loop *self)
{
    fby_http_refresh(self->http);
    self->registry.server = (struct fby_instance_id){0};
    self->registry.due_ns = self->now_ns;
    if (fby_fault_takes_effect("worker.register_delay", "register_first")) {
        self->registry.due_ns +=
            fby_fault_param("worker.register_delay", "ms", 1000) *
            FBY_NS_PER_MS;
    }
}

static void on_refused(struct fby_loop *self, const struct fby_refused *refused)
{
    struct fby_loop_registry *registry = &self->registry;
    char                      text[FBY_REFUSAL_SIZE];
    if (!registry->refusal_logged) {
        registry->refusal_logged = true;
        fby_warn("REGISTER-REFUSED", "by %s: %s; this worker keeps trying",
            registry->endpoint, fby_refusal_explain(refused, text));
    }
}

static void handle_answer(struct fby_loop *self, const void *frame, size_t size)
{
    struct fby_message      message;
    struct fby_error_detail why = {{0}};
    if (fby_message_decode(frame, size, &message, &why) != FBY_OK) {
        self->counts.malformed++;
        fby_debug("MESSAGE-REFUSED", "from the server: %s", why.text);
        return;
    }
    fby_locator_heard(self->registry.locator, self->now_ns);
    self->registry.unanswered     = 0;
    self->registry.silence_logged = false;
    if (message.type == FBY_MSG_REGISTERED) {
        on_registered(self, &message.registered);
    } else if (message.type == FBY_MSG_REGISTER_FIRST) {
        on_register_first(self);
    } else if (message.type == FBY_MSG_REFUSED) {
        on_refused(self, &message.refused);
    } else if (message.type != FBY_MSG_HEARTBEAT_OK) {
        self->counts.out_of_place++;
    }
    fby_message_fini(&message);
}

void fby_loop_registry_receive(struct fby_loop *self)
{
    bool received = self->registry.socket != NULL;
    for (int i = 0; received && i < MAX_RECEIVED; i++) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        received =
            zmq_msg_recv(&frame, self->registry.socket, ZMQ_DONTWAIT) >= 0;
        if (received) {
            handle_answer(self, zmq_msg_data(&frame), zmq_msg_size(&frame));
        }
        zmq_msg_close(&frame);
    }
}
