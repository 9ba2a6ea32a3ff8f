#include "common/socket.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

static bool set_options(void *socket, const struct fby_socket_limits *limits)
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

static bool is_port(const char *text)
{
    size_t n = strlen(text);
    return n >= 1 && n <= 5 && strspn(text, "0123456789") == n;
}

/* True if the endpoint is "tcp://HOST:PORT" with a valid port. libzmq would not
 * refuse a port above 65535, but listen on another one. */
static bool is_listen_endpoint(const char *endpoint)
{
    struct fby_host_port at;
    return strncmp(endpoint, "tcp://", 6) == 0 &&
           fby_endpoint_split(endpoint, &at) &&
           (strcmp(at.port, "*") == 0 ||
               (is_port(at.port) && strtoul(at.port, NULL, 10) <= UINT16_MAX));
}

static fby_err bind_router(void *socket, const char *endpoint,
    const struct fby_socket_limits *limits, char bound[FBY_ENDPOINT_SIZE])
{
    size_t size = FBY_ENDPOINT_SIZE;
    if (!set_options(socket, limits) || !set_family(socket, endpoint) ||
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
    void **out, struct fby_error_detail *why)
{
    if (!is_listen_endpoint(endpoint)) {
        return fby_error_set(why, FBY_USAGE,
            "cannot listen on '%s'; write tcp://ADDRESS:PORT, with a PORT up "
            "to 65535 or * for any free one",
            endpoint);
    }
    void *socket = zmq_socket(zmq, ZMQ_ROUTER);
    if (socket == NULL) {
        return fby_error_set(
            why, FBY_SYS, "cannot create a socket: %s", zmq_strerror(errno));
    }
    fby_err err = bind_router(socket, endpoint, limits, bound);
    if (err != FBY_OK) {
        close_keeping_errno(socket);
        return fby_error_set(
            why, err, "cannot listen on %s: %s", endpoint, zmq_strerror(errno));
    }
    *out = socket;
    return FBY_OK;
}

fby_err fby_socket_connect(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, void **out)
{
    fby_err err    = FBY_OK;
    void   *socket = zmq_socket(zmq, ZMQ_DEALER);
    if (socket == NULL) {
        return FBY_SYS;
    }
    if (!set_options(socket, limits) || !set_family(socket, endpoint) ||
        !set_int(socket, ZMQ_RECONNECT_IVL, RECONNECT_MS) ||
        !set_int(socket, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX_MS)) {
        err = FBY_SYS;
    } else if (zmq_connect(socket, endpoint) != 0) {
        err = FBY_CONFIG;
    }
    if (err != FBY_OK) {
        close_keeping_errno(socket);
        return err;
    }
    *out = socket;
    return FBY_OK;
}

fby_err fby_socket_receive(
    void *router, struct fby_routing_id *from, zmq_msg_t *frame)
{
    int n = zmq_recv(router, from->bytes, sizeof(from->bytes), ZMQ_DONTWAIT);
    if (n < 0) {
        return FBY_AGAIN;
    }
    from->size      = (size_t)n;
    unsigned frames = 0;
    int      more   = 1;
    for (; more != 0; frames++) {
        zmq_msg_init(frame);
        if (zmq_msg_recv(frame, router, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(frame);
            return FBY_AGAIN;
        }
        more = zmq_msg_more(frame);
        if (more != 0 || frames > 0) { /* too many frames: drop all */
            zmq_msg_close(frame);
        }
    }
    return frames == 1 ? FBY_OK : FBY_PROTO;
}

bool fby_socket_send(void *router, const struct fby_routing_id *to,
    const void *frame, size_t size)
{
    return zmq_send(router, to->bytes, to->size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >=
               0 &&
           zmq_send(router, frame, size, ZMQ_DONTWAIT) >= 0;
}

bool fby_endpoint_split(const char *endpoint, struct fby_host_port *out)
{
    const char *host = endpoint + (strncmp(endpoint, "tcp://", 6) == 0 ? 6 : 0);
    const char *colon = strrchr(host, ':');
    if (colon == NULL || strlen(colon + 1) >= sizeof(out->port)) {
        return false;
    }
    size_t n       = (size_t)(colon - host);
    out->bracketed = n >= 2 && host[0] == '[' && host[n - 1] == ']';
    if (out->bracketed) {
        host++;
        n -= 2;
    }
    if (n == 0 || n >= sizeof(out->host)) {
        return false;
    }
    memcpy(out->host, host, n);
    out->host[n] = '\0';
    snprintf(out->port, sizeof(out->port), "%s", colon + 1);
    return true;
}

static bool format_address(
    const struct addrinfo *found, char out[FBY_ENDPOINT_SIZE])
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

/* The first IPv4 address, else the first address: servers and workers listen on
 * IPv4 by default, and a name such as localhost often has its IPv6 address
 * first. */
static const struct addrinfo *preferred_address(const struct addrinfo *found)
{
    const struct addrinfo *at = found;
    while (at->ai_family != AF_INET && at->ai_next != NULL) {
        at = at->ai_next;
    }
    return at->ai_family == AF_INET ? at : found;
}

fby_err fby_endpoint_resolve(
    const char *text, char out[FBY_ENDPOINT_SIZE], struct fby_error_detail *why)
{
    struct fby_host_port at;
    if (!fby_endpoint_split(text, &at) || !is_port(at.port) ||
        (!at.bracketed && strchr(at.host, ':') != NULL)) {
        return fby_error_set(why, FBY_USAGE,
            "'%s' is not an address; write tcp://HOST:PORT, IPv6 in brackets",
            text);
    }
    struct addrinfo  hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int              code  = getaddrinfo(at.host, at.port, &hints, &found);
    if (code != 0) {
        return fby_error_set(why, FBY_NOT_FOUND, "cannot resolve host '%s': %s",
            at.host, gai_strerror(code));
    }
    bool usable = format_address(preferred_address(found), out);
    freeaddrinfo(found);
    return usable ? FBY_OK
                  : fby_error_set(why, FBY_NOT_FOUND,
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
