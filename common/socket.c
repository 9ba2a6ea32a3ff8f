#include "common/socket.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <zmq.h>

enum { HANDSHAKE_MS = 2000, RECONNECT_MS = 100, RECONNECT_MAX_MS = 5000 };

static bool set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

/* IPv6 only where needed: a dual-stack socket shows IPv4 as [::ffff:...]. */
static bool set_family(void *socket, const char *endpoint)
{
    return set_int(socket, ZMQ_IPV6, strchr(endpoint, '[') != NULL);
}

static bool set_common(void *socket, const struct fby_socket_limits *limits)
{
    int64_t max = limits->max_message_bytes;
    return zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max, sizeof(max)) == 0 &&
           set_int(socket, ZMQ_LINGER, 0) &&
           set_int(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
           set_int(socket, ZMQ_SNDHWM, limits->send_messages) &&
           set_int(socket, ZMQ_RCVHWM, limits->receive_messages) &&
           set_int(socket, ZMQ_TCP_KEEPALIVE, 1) &&
           (limits->dead_peer_ms == 0 ||
               set_int(socket, ZMQ_TCP_MAXRT, limits->dead_peer_ms));
}

static void close_keeping_errno(void *socket)
{
    int cause = errno;
    zmq_close(socket);
    errno = cause;
}

/* libzmq truncates a port above 65535 to 16 bits and listens on another one. */
static bool is_listen_endpoint(const char *endpoint)
{
    const char *colon = strrchr(endpoint, ':');
    if (strncmp(endpoint, "tcp://", 6) != 0 || colon < endpoint + 7) {
        return false;
    }
    const char *port = colon + 1;
    size_t      n    = strlen(port);
    return strcmp(port, "*") == 0 ||
           (n >= 1 && n <= 5 && strspn(port, "0123456789") == n &&
               strtoul(port, NULL, 10) <= UINT16_MAX);
}

static fby_err bind_router(void *socket, const char *endpoint,
    const struct fby_socket_limits *limits, char bound[FBY_ENDPOINT_SIZE])
{
    size_t size = FBY_ENDPOINT_SIZE;
    if (!set_common(socket, limits) || !set_family(socket, endpoint) ||
        !set_int(socket, ZMQ_ROUTER_MANDATORY, 1)) {
        return FBY_SYS;
    }
    if (zmq_bind(socket, endpoint) != 0) {
        return FBY_CONFIG;
    }
    return zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, bound, &size) == 0
               ? FBY_OK
               : FBY_SYS;
}

fby_err fby_socket_bind(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, char bound[FBY_ENDPOINT_SIZE],
    void **out, struct fby_why *why)
{
    if (!is_listen_endpoint(endpoint)) {
        return fby_because(why, FBY_USAGE,
            "cannot listen on '%s'; write tcp://ADDRESS:PORT, with a PORT up "
            "to 65535 or * for any free one",
            endpoint);
    }
    void *socket = zmq_socket(zmq, ZMQ_ROUTER);
    if (socket == NULL) {
        return fby_because(
            why, FBY_SYS, "cannot create a socket: %s", zmq_strerror(errno));
    }
    fby_err err = bind_router(socket, endpoint, limits, bound);
    if (err != FBY_OK) {
        close_keeping_errno(socket);
        return fby_because(
            why, err, "cannot listen on %s: %s", endpoint, zmq_strerror(errno));
    }
    *out = socket;
    return FBY_OK;
}

fby_err fby_socket_connect(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, void **out)
{
    void *socket = zmq_socket(zmq, ZMQ_DEALER);
    if (socket == NULL) {
        return FBY_SYS;
    }
    if (!set_common(socket, limits) || !set_family(socket, endpoint) ||
        !set_int(socket, ZMQ_RECONNECT_IVL, RECONNECT_MS) ||
        !set_int(socket, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS)) {
        close_keeping_errno(socket);
        return FBY_SYS;
    }
    if (zmq_connect(socket, endpoint) != 0) {
        close_keeping_errno(socket);
        return FBY_CONFIG;
    }
    *out = socket;
    return FBY_OK;
}

struct host_port {
    char host[FBY_ENDPOINT_SIZE];
    char port[8];
};

static bool split_endpoint(const char *text, struct host_port *out)
{
    if (strncmp(text, "tcp://", 6) == 0) {
        text += 6;
    }
    const char *colon = strrchr(text, ':');
    if (colon == NULL || colon == text || strlen(colon + 1) > 5 ||
        colon[1] == '\0' ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1)) {
        return false;
    }
    size_t n         = (size_t)(colon - text);
    bool   bracketed = text[0] == '[' && text[n - 1] == ']';
    if (n >= sizeof(out->host) ||
        (!bracketed && memchr(text, ':', n) != NULL)) {
        return false;
    }
    if (bracketed) {
        text++;
        n -= 2;
    }
    memcpy(out->host, text, n);
    out->host[n] = '\0';
    snprintf(out->port, sizeof(out->port), "%s", colon + 1);
    return n > 0;
}

static bool numeric(const struct addrinfo *found, char out[FBY_ENDPOINT_SIZE])
{
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof(host), port,
            sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    int n = snprintf(out, FBY_ENDPOINT_SIZE,
        found->ai_family == AF_INET6 ? "tcp://[%s]:%s" : "tcp://%s:%s", host,
        port);
    return n > 0 && n < FBY_ENDPOINT_SIZE;
}

/* IPv4 if there is one: servers and workers listen on IPv4 by default, and a
 * name such as localhost often has its IPv6 address first. */
static const struct addrinfo *preferred(const struct addrinfo *found)
{
    const struct addrinfo *at = found;
    while (at->ai_family != AF_INET && at->ai_next != NULL) {
        at = at->ai_next;
    }
    return at->ai_family == AF_INET ? at : found;
}

fby_err fby_endpoint_resolve(
    const char *text, char out[FBY_ENDPOINT_SIZE], struct fby_why *why)
{
    struct host_port at;
    if (!split_endpoint(text, &at)) {
        return fby_because(why, FBY_USAGE,
            "'%s' is not an address; write tcp://HOST:PORT, IPv6 in brackets",
            text);
    }
    struct addrinfo  hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int              code  = getaddrinfo(at.host, at.port, &hints, &found);
    if (code != 0) {
        return fby_because(why, FBY_NOT_FOUND, "cannot resolve host '%s': %s",
            at.host, gai_strerror(code));
    }
    bool usable = numeric(preferred(found), out);
    freeaddrinfo(found);
    return usable ? FBY_OK
                  : fby_because(why, FBY_NOT_FOUND,
                        "host '%s' has no numeric address", at.host);
}

bool fby_endpoint_is_loopback(const char *endpoint)
{
    return strncmp(endpoint, "tcp://127.", 10) == 0 ||
           strncmp(endpoint, "tcp://[::1]:", 12) == 0 ||
           strncmp(endpoint, "tcp://localhost:", 16) == 0 ||
           strncmp(endpoint, "inproc://", 9) == 0 ||
           strncmp(endpoint, "ipc://", 6) == 0;
}
