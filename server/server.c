/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - the event loop of the server. Each iteration waits, reads messages
 * and hands them to the directory, expires leases, and sends what is due. */
#include "server/server.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/exposure.h"
#include "common/fault.h"
#include "common/file_watch.h"
#include "common/handshakes.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/peer_endpoint.h"
#include "common/ready.h"
#include "common/service_manager.h"
#include "common/socket.h"
#include "common/timer.h"
#include "secure/zap.h"
#include "server/access.h"
#include "server/directory.h"
#include "server/pages.h"
#include "server/tickets.h"
#include "server/wanted.h"

enum {
    MAX_WORKERS  = 8192,
    MAX_SESSIONS = 8192,
    OWN_FILES    = 14, /* descriptors of the loop and of ZeroMQ */
    CONNECTIONS  = 16, /* of workers and trainers, at least */
    ZMQ_THREADS  = 2,
    SPARE_BYTES  = 16 << 20, /* memory for ZeroMQ, at least */
    MAX_READ     = 256,      /* messages read per iteration of the loop */
    MAX_SENT     = 512,      /* due messages sent per iteration of the loop */
    MAX_QUEUED   = 1000 /* messages queued from or to a peer; more are lost */
};

/* If a wait ends more than max_oversleep_ns too late, the process was stopped
 * or starved, and leases are extended by the excess. Waits are short, so that
 * the excess is about the whole time for which the process did not run. */
static const int64_t max_oversleep_ns = FBY_NS_PER_S / 2;
static const int64_t longest_wait_ns  = FBY_NS_PER_S / 2;
/* A ticket is valid for this time, and is renewed after half of it. */
static const int64_t normal_ticket_ns = 600 * FBY_NS_PER_S;
/* A change of the list of keys is noticed within this time. */
static const int64_t refresh_period_ns = FBY_NS_PER_S;

/* Peers send a message this often, or ten times in a lease if that is more. */
static const int64_t longest_heartbeat_ns = FBY_NS_PER_S;

struct server {
    struct fby_server_options options;
    int64_t heartbeat_ns; /* time between two messages that renew a lease */
    int64_t ticket_ns;    /* how long a ticket is valid */
    bool    announced;    /* the ready file was written */
    struct fby_directory  *directory;
    struct fby_instance_id instance;   /* id of this process */
    void                  *zmq;        /* context */
    void                  *socket;     /* ROUTER */
    struct fby_handshakes  handshakes; /* of `socket` */
    struct fby_access     *access;     /* NULL: no keys */
    struct fby_zap        *zap;        /* NULL: no keys */
    struct fby_tickets    *tickets;    /* NULL: no keys */
    int64_t                refresh_ns; /* when to look at the list of keys */
    struct fby_wanted      wanted;     /* number of workers */
    struct fby_file_watch  files;
    struct fby_service_manager manager;
    int                        signal_fd; /* signalfd for SIGTERM and SIGINT */
    int64_t                    now_ns;    /* clock, read once per iteration */
    uint64_t                   refused_messages;
    char                       bound[FBY_ENDPOINT_SIZE]; /* its endpoint */
    uint64_t                   refused_workers; /* FULL, also the next */
    uint64_t                   refused_joins;
    struct fby_http           *http; /* NULL: no HTTP */
    bool                       stopping;
    struct fby_buffer          frame; /* scratch memory of send_to */
};

struct fby_server_options fby_server_defaults(void)
{
    return (struct fby_server_options){
        .listen   = "tcp://127.0.0.1:7070",
        .ready_fd = -1,
        .lease_ns = 10 * FBY_NS_PER_S,
        .secure   = FBY_SECURE_FULL,
    };
}

/* ---- sending ---- */

/* Errors are only logged: a peer that gets no answer asks again. */
static void send_to(struct server *self, const struct fby_routing_id *to,
    const struct fby_message *message)
{
    struct fby_error_detail why;
    self->frame.size = 0;
    if (fby_message_encode(message, &self->frame, &why) != FBY_OK) {
        fby_error("SEND", "%s: %s", fby_message_name(message->type), why.text);
        return;
    }
    if (!fby_socket_send(
            self->socket, to, self->frame.data, self->frame.size)) {
        fby_debug("SEND", "%s", zmq_strerror(errno));
    }
}

/* ---- one handler per message type ---- */

struct sender { /* of one message */
    const struct fby_routing_id *route;
    const char *address; /* numeric; NULL: unknown; valid for the call */
    const struct fby_allowed_key *key; /* NULL: the server has no keys */
};

typedef void handler(struct server *self, const struct sender *from,
    const struct fby_message *message);

static uint32_t ns_to_ms(int64_t ns)
{
    return (uint32_t)(ns / FBY_NS_PER_MS);
}

/* The code is FULL for all causes, because older workers know no other one. The
 * text says the cause, which the worker logs. */
static void refuse_worker(
    struct server *self, const struct fby_routing_id *to, const char *text)
{
    self->refused_workers++;
    fby_warn("WORKER-REFUSED", "%s", text);
    send_to(self, to,
        FBY_MESSAGE(REFUSED, refused, .code = FBY_REFUSED_FULL,
            .version_min = FBY_PROTOCOL_VERSION,
            .version_max = FBY_PROTOCOL_VERSION, .text = text));
}

/* Check that the sender may name all endpoints of its registration. */
static fby_err check_endpoints(const struct fby_name_list *endpoints,
    const struct sender *from, struct fby_error_detail *why)
{
    for (size_t i = 0; i < endpoints->n; i++) {
        FBY_TRY(fby_peer_endpoint_check_sender(
            endpoints->at[i], from->address, from->key != NULL, why));
    }
    return FBY_OK;
}

static fby_err register_worker(struct server *self,
    const struct fby_registration *worker, const struct sender *from,
    struct fby_error_detail *why)
{
    FBY_TRY(check_endpoints(&worker->endpoints, from, why));
    fby_err err = fby_directory_register(
        self->directory, worker, from->route, self->now_ns);
    const struct fby_id_text id = fby_id_text(worker->instance.value);
    if (err == FBY_GONE) {
        return fby_error_set(why, err,
            "worker %s is registered by another process, or with other "
            "endpoints: restart this worker",
            id.text);
    }
    if (err == FBY_AGAIN) {
        return fby_error_set(why, err,
            "worker %s is registered on another connection, which is in use",
            id.text);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_error_set(why, err,
                               "this server has %d workers already and takes "
                               "no more; start another server",
                               MAX_WORKERS);
}

static void on_register(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    const struct fby_registration *worker = &message->registration;
    struct fby_error_detail        why;
    if (register_worker(self, worker, from, &why) != FBY_OK) {
        refuse_worker(self, from->route, why.text);
        return;
    }
    send_to(self, from->route,
        FBY_MESSAGE(REGISTERED, registered, .instance = worker->instance,
            .server       = self->instance,
            .lease_ms     = ns_to_ms(self->options.lease_ns),
            .heartbeat_ms = ns_to_ms(self->heartbeat_ns)));
}

static void on_heartbeat(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    struct fby_instance_id worker = message->heartbeat.instance;
    fby_err                err    = fby_directory_heartbeat(
                          self->directory, &message->heartbeat, from->route, self->now_ns);
    send_to(self, from->route,
        err == FBY_OK
            ? FBY_MESSAGE(HEARTBEAT_OK, heartbeat_ok, .instance = worker,
                  .server = self->instance)
            : FBY_MESSAGE(REGISTER_FIRST, register_first, .instance = worker));
}

static void on_deregister(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    fby_directory_deregister(
        self->directory, message->deregister.instance, from->route);
}

static void refuse_join(struct server *self, const struct fby_routing_id *to,
    const struct fby_join *join)
{
    char text[128];
    snprintf(text, sizeof(text),
        "this server has %d sessions already and takes no more; start another "
        "server",
        MAX_SESSIONS);
    self->refused_joins++;
    fby_warn("JOIN-REFUSED", "%s", text);
    send_to(self, to,
        FBY_MESSAGE(JOIN_REFUSED, join_refused, .session = join->session,
            .code = FBY_JOIN_FULL, .text = text));
}

static void refuse_job(
    struct server *self, const struct sender *from, const struct fby_join *join)
{
    struct fby_error_detail why = {""};
    (void)fby_error_set(&why, FBY_CONFIG,
        "the key '%s' does not permit the job '%.100s', but only '%.100s'; "
        "change the list of keys, or the job's name",
        from->key->name, join->job, from->key->jobs);
    fby_warn("JOIN-REFUSED", "%s", why.text);
    send_to(self, from->route,
        FBY_MESSAGE(JOIN_REFUSED, join_refused, .session = join->session,
            .code = FBY_JOIN_KEY, .text = why.text));
}

static void on_join(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    const struct fby_join *join = &message->join;
    if (from->key != NULL && !fby_allowed_permits_job(from->key, join->job)) {
        refuse_job(self, from, join);
        return;
    }
    if (fby_directory_join(self->directory, join, from->route, self->now_ns) !=
        FBY_OK) {
        refuse_join(self, from->route, join);
    } else if (from->key != NULL) {
        fby_directory_set_key(
            self->directory, join->session, &from->key->public_key);
    } /* the answer is a due message of the directory */
}

static void on_renew(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    const struct fby_renew *renew = &message->renew;
    /* Fault injection for tests; does nothing otherwise. */
    fby_fault_kill_or_stop("server.exit", "server.stop", "renew");
    if (fby_directory_renew(
            self->directory, renew, from->route, self->now_ns) != FBY_OK) {
        send_to(self, from->route,
            FBY_MESSAGE(JOIN_FIRST, join_first, .session = renew->session));
    }
    fby_directory_renew_tickets(
        self->directory, renew->session, self->ticket_ns / 2, self->now_ns);
}

static void on_unreachable(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    (void)from;
    fby_directory_report_unreachable(
        self->directory, &message->unreachable, self->now_ns);
}

static void on_quit(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    (void)from;
    fby_directory_quit(self->directory, message->quit.session);
}

static void on_scale(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    const char        *reasons[FBY_REASONS_MAX];
    struct fby_message answer = {.type = FBY_MSG_SCALED};
    answer.scaled = fby_wanted_answer(&self->wanted, self->now_ns, reasons);
    answer.scaled.session = message->scale.session;
    answer.scaled.server  = self->instance;
    send_to(self, from->route, &answer);
}

static handler *const handlers[UINT8_MAX + 1] = {
    /* by message type */
    [FBY_MSG_REGISTER]    = on_register,
    [FBY_MSG_HEARTBEAT]   = on_heartbeat,
    [FBY_MSG_DEREGISTER]  = on_deregister,
    [FBY_MSG_JOIN]        = on_join,
    [FBY_MSG_RENEW]       = on_renew,
    [FBY_MSG_UNREACHABLE] = on_unreachable,
    [FBY_MSG_QUIT]        = on_quit,
    [FBY_MSG_SCALE]       = on_scale,
};

/* ---- receiving ---- */

static void refuse_message(struct server *self, const char *cause)
{
    self->refused_messages++;
    fby_debug("MESSAGE-REFUSED", "%s", cause);
}

/* Answer a message whose sender may not send it. Nothing of a stranger's message
 * is read, so its session is not known. */
static void refuse_key(struct server *self, const struct sender *from,
    struct fby_session_id session, const char *text)
{
    refuse_message(self, text);
    fby_warn("KEY-REFUSED", "%s: %s",
        from->address != NULL ? from->address : "a peer", text);
    send_to(self, from->route,
        FBY_MESSAGE(REFUSED, refused, .session = session,
            .code = FBY_REFUSED_KEY, .version_min = FBY_PROTOCOL_VERSION,
            .version_max = FBY_PROTOCOL_VERSION, .text = text));
}

/* Answer a message of another version, which is not read. */
static void refuse_version(struct server *self, const struct sender *from)
{
    static const char text[] = "a message of another protocol version";
    refuse_message(self, text);
    send_to(self, from->route,
        FBY_MESSAGE(REFUSED, refused, .code = FBY_REFUSED_VERSION,
            .version_min = FBY_PROTOCOL_VERSION,
            .version_max = FBY_PROTOCOL_VERSION, .text = text));
}

/* Set the key of the sender. False: it is a stranger, and was refused. */
static bool admit(struct server *self, struct sender *from, zmq_msg_t *frame)
{
    struct fby_key key;
    if (self->access == NULL) {
        return true;
    }
    if (fby_zap_key_of(frame, &key)) {
        from->key = fby_access_find(self->access, &key);
    }
    if (from->key == NULL) {
        refuse_key(self, from, (struct fby_session_id){0},
            "the server does not admit this key: it was removed, or is of "
            "another cluster; forebay keys add makes a new one");
    }
    return from->key != NULL;
}

static void handle_message(struct server *self, const struct sender *from,
    const struct fby_message *message)
{
    handler *handle = handlers[(uint8_t)message->type];
    if (handle == NULL) {
        refuse_message(self, fby_message_name(message->type));
        return;
    }
    if (from->key != NULL &&
        !fby_access_permits(from->key->role, message->type)) {
        struct fby_error_detail why = {""};
        (void)fby_error_set(&why, FBY_CONFIG,
            "the key '%s' is of a %s, which sends no %s; use a key of the "
            "right role",
            from->key->name, fby_role_name(from->key->role),
            fby_message_name(message->type));
        refuse_key(self, from, fby_message_session(message), why.text);
        return;
    }
    handle(self, from, message);
}

static void dispatch(
    struct server *self, const struct fby_routing_id *route, zmq_msg_t *frame)
{
    struct sender from = {route, zmq_msg_gets(frame, "Peer-Address"), NULL};
    struct fby_message      message;
    struct fby_error_detail why;
    if (!admit(self, &from, frame)) {
        return;
    }
    if (fby_frame_kind(zmq_msg_data(frame), zmq_msg_size(frame)) ==
        FBY_FRAME_OTHER_VERSION) {
        refuse_version(self, &from);
        return;
    }
    if (fby_message_decode(zmq_msg_data(frame), zmq_msg_size(frame), &message,
            &why) != FBY_OK) {
        refuse_message(self, why.text);
        return;
    }
    handle_message(self, &from, &message);
    fby_message_fini(&message);
}

/* Receive and handle one message; false when there is none. */
static bool receive_one(struct server *self)
{
    struct fby_routing_id from;
    zmq_msg_t             frame;
    fby_err               err = fby_socket_receive(self->socket, &from, &frame);
    if (err == FBY_OK) {
        dispatch(self, &from, &frame);
        zmq_msg_close(&frame);
    } else if (err == FBY_PROTO) {
        refuse_message(self, "several frames");
    }
    return err != FBY_AGAIN;
}

/* ---- the loop ---- */

/* The end of the next wait: the deadline, at most longest_wait_ns from now. */
static int64_t wait_until_ns(const struct server *self)
{
    int64_t deadline_ns = fby_directory_deadline(self->directory);
    int64_t latest_ns   = self->now_ns + longest_wait_ns;
    int64_t until_ns    = fby_earlier_ns(deadline_ns, latest_ns);
    return until_ns > self->now_ns ? until_ns : self->now_ns;
}

/* Add tickets to a list of workers. A session whose key was removed gets no
 * list. Returns false if the list must not be sent. */
static bool add_tickets(struct server *self, struct fby_workers *workers)
{
    struct fby_dir_admitted session;
    if (self->access == NULL) {
        return true;
    }
    if (!fby_directory_find_admitted(
            self->directory, workers->session, &session)) {
        return false;
    }
    const struct fby_allowed_key *key =
        fby_access_find(self->access, &session.public_key);
    return key != NULL && fby_tickets_add(self->tickets, self->directory,
                              &session, key, self->now_ns, workers) == FBY_OK;
}

static void send_due_messages(struct server *self)
{
    struct fby_message    message;
    struct fby_routing_id to;
    for (int i = 0;
         i < MAX_SENT && fby_directory_take_due(self->directory, &message, &to);
         i++) {
        if (message.type == FBY_MSG_JOINED) {
            message.joined.server       = self->instance;
            message.joined.lease_ms     = ns_to_ms(self->options.lease_ns);
            message.joined.heartbeat_ms = ns_to_ms(self->heartbeat_ns);
        } else if (message.type == FBY_MSG_WORKERS) {
            message.workers.server = self->instance;
            if (!add_tickets(self, &message.workers)) {
                continue;
            }
        }
        send_to(self, &to, &message);
    }
}

static void publish_view(struct server *self)
{
    struct fby_server_view *view =
        fby_server_view_create(self->directory, self->bound, self->now_ns);
    fby_server_view_set_wanted(view, &self->wanted);
    view->instance                  = self->instance;
    view->numbers[FBY_SERVER_READY] = !self->stopping;
    view->numbers[FBY_SERVER_REFUSED_CONNECTIONS] =
        self->zap != NULL ? fby_zap_refused(self->zap) : 0;
    view->numbers[FBY_SERVER_HANDSHAKES]       = self->handshakes.failed;
    view->numbers[FBY_SERVER_REFUSED_MESSAGES] = self->refused_messages;
    view->numbers[FBY_SERVER_REFUSED_WORKERS]  = self->refused_workers;
    view->numbers[FBY_SERVER_REFUSED_JOINS] += self->refused_joins;
    fby_http_publish(self->http, view);
}

static void run_iteration(struct server *self)
{
    zmq_pollitem_t items[] = {
        {.socket = self->socket, .events = ZMQ_POLLIN},
        {.fd = self->signal_fd, .events = ZMQ_POLLIN},
    };
    int64_t until_ns = wait_until_ns(self);
    int64_t left_ns  = until_ns - fby_now_ns();
    long    wait_ms  = /* rounded up */
        left_ns > 0 ? (long)(left_ns / FBY_NS_PER_MS) + 1 : 0;
    if (zmq_poll(items, 2, wait_ms) < 0 && errno != EINTR) {
        fby_error("POLL", "%s", zmq_strerror(errno));
    }
    self->now_ns      = fby_now_ns();
    int64_t excess_ns = self->now_ns - until_ns;
    if (excess_ns > max_oversleep_ns) {
        fby_directory_extend_leases(self->directory, excess_ns);
    }
    self->stopping = (items[1].revents & ZMQ_POLLIN) != 0;
    int n_read     = 0;
    /* Messages come before the tick, because they may renew leases. */
    while (n_read < MAX_READ && receive_one(self)) {
        n_read++;
    }
    if (self->access != NULL && self->now_ns >= self->refresh_ns) {
        fby_access_refresh(self->access);
        self->refresh_ns = self->now_ns + refresh_period_ns;
    }
    fby_file_watch_tick(&self->files, self->now_ns);
    fby_service_manager_tick(&self->manager, self->now_ns);
    fby_handshakes_tick(&self->handshakes, self->now_ns);
    fby_directory_tick(self->directory, self->now_ns);
    fby_wanted_tick(&self->wanted, self->directory, self->now_ns);
    send_due_messages(self);
    if (self->stopping) {
        fby_service_manager_tell(&self->manager, "STOPPING=1");
        fby_http_refresh(self->http);
    }
    if (fby_http_turn(self->http, self->now_ns)) {
        publish_view(self);
    }
}

static fby_err report_ready(struct server *self, struct fby_error_detail *why)
{
    const char *endpoint = self->bound;
    FBY_TRY(fby_ready_announce(
        self->options.ready_fd, self->options.ready_file, endpoint, why));
    self->announced = true;
    fby_info("SERVER-READY", "%s", endpoint);
    fby_service_manager_tell(&self->manager, "READY=1");
    if (self->access == NULL && !fby_endpoint_is_loopback(endpoint)) {
        fby_warn("LISTENS-OPENLY",
            "%s, with --insecure: any host that reaches this port can list and "
            "register workers and join jobs; it has no keys (--keys), so keep "
            "the "
            "port in a trusted network",
            endpoint);
    }
    return FBY_OK;
}

/* Block SIGTERM and SIGINT in this process and return a signalfd for them. */
static int block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static fby_err check_limits(bool has_http, struct fby_error_detail *why)
{
    static const char user[]  = "a server";
    uint32_t          files   = has_http ? FBY_HTTP_FILES : 0;
    uint32_t          threads = has_http ? FBY_HTTP_THREADS : 0;
    fby_err           err =
        fby_limits_check_files(user, OWN_FILES + CONNECTIONS + files, why);
    if (err == FBY_OK) {
        err = fby_limits_check_threads(user, ZMQ_THREADS + threads, why);
    }
    return err == FBY_OK ? fby_limits_check_memory(user, SPARE_BYTES, why)
                         : err;
}

/* Read the keys, if there are any, and start the handler of keys. */
static fby_err open_keys(struct server *self, struct fby_error_detail *why)
{
    if (self->options.keys == NULL) {
        return FBY_OK;
    }
    FBY_TRY(fby_access_open(
        self->options.keys, self->options.allowed, &self->access, why));
    if (fby_tickets_create(
            self->options.secure, self->ticket_ns, &self->tickets) != FBY_OK ||
        fby_zap_start(self->zmq, fby_access_knows, self->access, &self->zap) !=
            FBY_OK) {
        return fby_error_set(why, FBY_SYS,
            "cannot start the handler of keys: %s", strerror(errno));
    }
    return FBY_OK;
}

static fby_err start_http(struct server *self, struct fby_error_detail *why)
{
    const struct fby_http_config config = {
        .options = self->options.http,
        .pages   = fby_server_pages,
        .n_pages = FBY_SERVER_PAGES,
        .destroy = fby_server_view_destroy,
    };
    return fby_http_start(&config, &self->http, why);
}

static fby_err open_server(struct server *self, struct fby_error_detail *why)
{
    const struct fby_directory_config config = {
        .lease_ns     = self->options.lease_ns,
        .heartbeat_ns = self->heartbeat_ns,
        .max_workers  = MAX_WORKERS,
        .max_sessions = MAX_SESSIONS,
    };
    struct fby_socket_limits limits = {
        .max_message_bytes = FBY_MESSAGE_MAX,
        .receive_messages  = MAX_QUEUED,
        .send_messages     = MAX_QUEUED,
        .dead_peer_ms      = (int)(self->options.lease_ns / FBY_NS_PER_MS),
    };
    self->directory = fby_directory_create(&config);
    self->instance  = fby_instance_random();
    self->now_ns    = fby_now_ns();
    fby_wanted_start(&self->wanted, self->options.lease_ns, self->now_ns);
    self->signal_fd = block_signals();
    FBY_TRY(check_limits(self->options.http.listen != NULL, why));
    FBY_TRY(fby_ready_prepare(self->options.ready_file, why));
    self->zmq = zmq_ctx_new();
    if (self->signal_fd < 0 || self->zmq == NULL) {
        return fby_error_set(why, FBY_SYS, "cannot start: %s", strerror(errno));
    }
    FBY_TRY(open_keys(self, why));
    if (self->access != NULL) {
        limits.secret_key = fby_access_secret(self->access);
    }
    FBY_TRY(fby_socket_bind(self->zmq, self->options.listen, &limits,
        self->bound, &self->socket, why));
    FBY_TRY(
        fby_handshakes_watch(&self->handshakes, self->zmq, self->socket, why));
    /* Nothing is received before this check. */
    FBY_TRY(fby_exposure_check(
        self->bound, self->access != NULL, self->options.is_insecure, why));
    FBY_TRY(start_http(self, why));
    return report_ready(self, why);
}

static void log_ended(const struct server *self)
{
    struct fby_directory_counts counts = fby_directory_counts(self->directory);
    fby_info("SERVER-ENDED",
        "messages refused %" PRIu64 ", joins refused %" PRIu64
        ", late workers %" PRIu64 ", late sessions %" PRIu64
        ", reported unreachable %" PRIu64,
        self->refused_messages, counts.refused, counts.expired_workers,
        counts.expired_sessions, counts.unreachable);
}

static void close_server(struct server *self)
{
    if (self->announced) {
        fby_ready_withdraw(self->options.ready_file);
    }
    if (self->socket != NULL) {
        zmq_close(self->socket);
    }
    fby_handshakes_fini(&self->handshakes);
    if (self->zmq != NULL) {
        zmq_ctx_shutdown(self->zmq); /* ends the handler of keys */
        fby_zap_join(&self->zap);
        zmq_ctx_term(self->zmq);
    }
    fby_access_close(&self->access);
    fby_tickets_destroy(&self->tickets);
    if (self->signal_fd >= 0) {
        close(self->signal_fd);
    }
    fby_wanted_fini(&self->wanted);
    fby_directory_destroy(&self->directory);
    fby_buffer_fini(&self->frame);
    fby_http_stop(&self->http); /* until now /readyz said that it stops */
}

fby_err fby_server_run(
    const struct fby_server_options *options, struct fby_error_detail *why)
{
    struct server self    = {.options = *options, .signal_fd = -1};
    self.options.lease_ns = fby_scaled_timeout_ns(options->lease_ns);
    self.heartbeat_ns     = fby_earlier_ns(self.options.lease_ns / 10,
            fby_scaled_timeout_ns(longest_heartbeat_ns));
    self.ticket_ns        = fby_scaled_timeout_ns(normal_ticket_ns);
    self.manager          = fby_service_manager_open();
    fby_err err           = open_server(&self, why);
    while (err == FBY_OK && !self.stopping) {
        run_iteration(&self);
    }
    if (err == FBY_OK) {
        log_ended(&self);
    }
    close_server(&self);
    fby_service_manager_close(&self.manager);
    return err;
}
