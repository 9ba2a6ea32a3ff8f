/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - the two steps of a probe: TCP connections, then sessions. */
#include "cli/doctor/probe.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/peer_endpoint.h"
#include "trainer_client/receive/sockets.h"

enum { MAX_MESSAGE = 64 << 10 }; /* bytes; no answer to a probe is longer */

/* The milliseconds until `until_ns`, rounded up; 0 if it has passed. */
static int left_ms(int64_t until_ns)
{
    int64_t left_ns = until_ns - fby_now_ns();
    return left_ns > 0 ? (int)(left_ns / FBY_NS_PER_MS) + 1 : 0;
}

/* Parse "tcp://ADDRESS:PORT"; an IPv6 address is in brackets. Returns NULL if
 * it is invalid. The caller calls freeaddrinfo. */
static struct addrinfo *parse_endpoint(const char *endpoint)
{
    char             host[FBY_ENDPOINT_SIZE];
    const char      *begin = strstr(endpoint, "://");
    const char      *colon = strrchr(endpoint, ':');
    struct addrinfo *found = NULL;
    struct addrinfo  hints = {.ai_socktype = SOCK_STREAM,
         .ai_flags                         = AI_NUMERICHOST | AI_NUMERICSERV};
    if (fby_peer_endpoint_check(endpoint, NULL) != FBY_OK) {
        return NULL;
    }
    snprintf(host, sizeof(host), "%.*s", (int)(colon - begin - 3), begin + 3);
    size_t n = strlen(host);
    if (n > 1 && host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = '\0';
        memmove(host, host + 1, n - 1);
    }
    return getaddrinfo(host, colon + 1, &hints, &found) == 0 ? found : NULL;
}

static void end_connect(struct fby_probe *probe, int error)
{
    probe->error      = error;
    probe->connect_ns = fby_now_ns() - probe->started_ns;
    if (probe->fd >= 0) {
        close(probe->fd);
        probe->fd = -1;
    }
}

static void begin_connect(struct fby_probe *probe)
{
    struct addrinfo *peer = parse_endpoint(probe->endpoint);
    probe->started_ns     = fby_now_ns();
    probe->fd             = -1;
    if (peer == NULL) {
        end_connect(probe, EADDRNOTAVAIL);
        return;
    }
    probe->fd =
        socket(peer->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* Most connects go on in the background: errno is EINPROGRESS. */
    bool connected = probe->fd >= 0 &&
                     connect(probe->fd, peer->ai_addr, peer->ai_addrlen) == 0;
    if (connected || probe->fd < 0 || errno != EINPROGRESS) {
        end_connect(probe, connected ? 0 : errno);
    }
    freeaddrinfo(peer);
}

static uint32_t count_connecting(const struct fby_probe *probes, uint32_t n)
{
    uint32_t connecting = 0;
    for (uint32_t i = 0; i < n; i++) {
        connecting += probes[i].fd >= 0;
    }
    return connecting;
}

/* End a connect after poll() has returned `events` for its socket. */
static void end_if_ready(struct fby_probe *probe, short events)
{
    int       error = 0;
    socklen_t size  = sizeof(error);
    if (probe->fd >= 0 && events != 0) {
        int failed = getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        end_connect(probe, failed != 0 ? errno : error);
    }
}

void fby_probe_connect(struct fby_probe *probes, uint32_t n, int64_t until_ns)
{
    struct pollfd *items = fby_zalloc((n + 1) * sizeof(*items)); /* never 0 */
    for (uint32_t i = 0; i < n; i++) {
        begin_connect(&probes[i]);
    }
    while (count_connecting(probes, n) > 0 && fby_now_ns() < until_ns) {
        for (uint32_t i = 0; i < n; i++) { /* poll() ignores fd -1 */
            items[i] = (struct pollfd){.fd = probes[i].fd, .events = POLLOUT};
        }
        (void)poll(items, n, left_ms(until_ns));
        for (uint32_t i = 0; i < n; i++) {
            end_if_ready(&probes[i], items[i].revents);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (probes[i].fd >= 0) {
            end_connect(&probes[i], ETIMEDOUT);
        }
    }
    free(items);
}

/* Receive the next valid message that has arrived, without waiting. */
static bool receive_pending(void *socket, struct fby_message *out)
{
    zmq_msg_t               frame;
    struct fby_error_detail why;
    bool                    found = false;
    zmq_msg_init(&frame);
    while (!found && zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) >= 0) {
        found = fby_message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame),
                    out, &why) == FBY_OK;
    }
    zmq_msg_close(&frame);
    return found;
}

bool fby_probe_receive(void *socket, int64_t until_ns, struct fby_message *out)
{
    while (fby_now_ns() < until_ns) {
        zmq_pollitem_t item = {.socket = socket, .events = ZMQ_POLLIN};
        if (zmq_poll(&item, 1, left_ms(until_ns)) > 0 &&
            receive_pending(socket, out)) {
            return true;
        }
    }
    return false;
}

void fby_probe_send(struct fby_probe *probe, const struct fby_message *message)
{
    struct fby_buffer scratch = {0};
    fby_dealer_send(probe->socket, message, &scratch);
    fby_buffer_fini(&scratch);
}

static void send_hello(struct fby_probe *probe)
{
    fby_probe_send(probe, &(struct fby_message){.type = FBY_MSG_HELLO,
                              .hello = {.session = probe->session,
                                  .route         = {fby_id_random()},
                                  .version_min   = FBY_PROTOCOL_VERSION,
                                  .version_max   = FBY_PROTOCOL_VERSION,
                                  .features      = FBY_FEATURES,
                                  .max_bytes     = 1, /* requests nothing */
                                  .job           = "doctor",
                                  .host          = "doctor",
                                  .pid           = (uint32_t)getpid()}});
}

static void send_ping(struct fby_probe *probe)
{
    probe->started_ns = fby_now_ns();
    fby_probe_send(probe, &(struct fby_message){.type = FBY_MSG_PING,
                              .ping = {.session = probe->session,
                                  .sequence     = probe->n_trips + 1}});
}

static bool is_done(const struct fby_probe *probe)
{
    return probe->socket == NULL || probe->answer == FBY_ANSWER_REFUSED ||
           probe->n_trips == FBY_PROBE_TRIPS;
}

static void end_trip(struct fby_probe *probe)
{
    probe->trips_ns[probe->n_trips++] = fby_now_ns() - probe->started_ns;
    if (!is_done(probe)) {
        send_ping(probe);
    }
}

/* A worker with keys answers HELLO, and then each PING, with a challenge. */
static void on_challenge(struct fby_probe *probe)
{
    if (probe->has_keys) {
        end_trip(probe);
    } else {
        probe->has_keys = true;
        probe->answer   = FBY_ANSWER_GIVEN;
        send_ping(probe);
    }
}

/* Send the first PING after WELCOME, and the next one after each PONG. */
static void on_message(
    struct fby_probe *probe, const struct fby_message *message)
{
    if (message->type == FBY_MSG_REFUSED) {
        probe->answer = FBY_ANSWER_REFUSED;
        snprintf(
            probe->text, sizeof(probe->text), "%.255s", message->refused.text);
    } else if (message->type == FBY_MSG_WELCOME && probe->version == 0) {
        probe->answer  = FBY_ANSWER_GIVEN;
        probe->version = message->welcome.version;
        send_ping(probe);
    } else if (message->type == FBY_MSG_PONG && !is_done(probe) &&
               message->pong.sequence == probe->n_trips + 1) {
        end_trip(probe);
    } else if (message->type == FBY_MSG_HELLO_FIRST &&
               message->hello_first.nonce.known && !is_done(probe)) {
        on_challenge(probe);
    }
}

static void handle_pending(struct fby_probe *probe)
{
    struct fby_message message;
    while (!is_done(probe) && receive_pending(probe->socket, &message)) {
        on_message(probe, &message);
        fby_message_fini(&message);
    }
}

/* List the sockets of probes that wait for messages. Returns their number. */
static uint32_t list_waiting(
    const struct fby_probe *probes, uint32_t n, zmq_pollitem_t *items)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_done(&probes[i])) {
            items[waiting++] = (zmq_pollitem_t){
                .socket = probes[i].socket, .events = ZMQ_POLLIN};
        }
    }
    return waiting;
}

static void open_session(struct fby_probe *probe, void *zmq)
{
    if (probe->error == 0) {
        probe->socket = fby_dealer_open(zmq, probe->endpoint, MAX_MESSAGE);
    }
    if (probe->socket != NULL) {
        probe->session = fby_session_random();
        send_hello(probe);
    }
}

static void close_session(struct fby_probe *probe)
{
    if (probe->answer == FBY_ANSWER_GIVEN && !probe->has_keys) {
        fby_probe_send(probe, &(struct fby_message){.type = FBY_MSG_BYE,
                                  .bye = {.session = probe->session}});
    }
    fby_dealer_close(&probe->socket);
}

static void exchange_messages(
    struct fby_probe *probes, uint32_t n, int64_t until_ns)
{
    zmq_pollitem_t *items = fby_zalloc((n + 1) * sizeof(*items)); /* never 0 */
    uint32_t        waiting = list_waiting(probes, n, items);
    while (waiting > 0 && fby_now_ns() < until_ns) {
        (void)zmq_poll(items, (int)waiting, left_ms(until_ns));
        for (uint32_t i = 0; i < n; i++) {
            handle_pending(&probes[i]);
        }
        waiting = list_waiting(probes, n, items);
    }
    free(items);
}

void fby_probe_workers(
    struct fby_probe *probes, uint32_t n, void *zmq, int64_t until_ns)
{
    for (uint32_t i = 0; i < n; i++) {
        open_session(&probes[i], zmq);
    }
    exchange_messages(probes, n, until_ns);
    for (uint32_t i = 0; i < n; i++) {
        close_session(&probes[i]);
    }
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median of the measured round trips, in ns; 0: none. */
static int64_t median_trip(const struct fby_probe *probe)
{
    int64_t times[FBY_PROBE_TRIPS];
    memcpy(times, probe->trips_ns, sizeof(times));
    qsort(times, probe->n_trips, sizeof(times[0]), compare_times);
    return probe->n_trips > 0 ? times[probe->n_trips / 2] : 0;
}

struct fby_answer_facts fby_probe_facts(const struct fby_probe *probe)
{
    return (struct fby_answer_facts){
        .name          = probe->name,
        .error         = probe->error,
        .connect_ns    = probe->connect_ns,
        .answer        = probe->answer,
        .text          = probe->text,
        .round_trip_ns = median_trip(probe),
        .version       = probe->version,
        .has_keys      = probe->has_keys,
    };
}
