/* SPDX-License-Identifier: Apache-2.0 */
/* Create ZeroMQ sockets with all options set; split and resolve endpoints. */
#include "common/socket.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    HANDSHAKE_MS     = 2000,
    RECONNECT_MS     = 300,
    RECONNECT_MAX_MS = 5000,
    BACKLOG          = 4096,
    KEY_BYTES        = 32
};

/* Without a domain libzmq asks no handler about keys. */
static const char zap_domain[] = "forebay";

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof(value)) == 0;
}

/* Enable IPv6 only for an endpoint with brackets, which is IPv6: a socket with
 * both would show IPv4 addresses as [::ffff:...]. */
static bool set_family(void *socket, const char *endpoint)
{
    return set_int(socket, ZMQ_IPV6, strchr(endpoint, '[') != NULL);
}

static bool set_key(void *socket, int option, const uint8_t *key)
{
    return zmq_setsockopt(socket, option, key, KEY_BYTES) == 0;
}

/* The socket encrypts with CURVE, as the side that binds or that connects. */
static bool set_keys(void *socket, const struct fby_socket_limits *limits)
{
    if (limits->secret_key == NULL) {
        return true;
    }
    if (limits->server_key == NULL) {
        return set_int(socket, ZMQ_CURVE_SERVER, 1) &&
               set_key(socket, ZMQ_CURVE_SECRETKEY, limits->secret_key) &&
               zmq_setsockopt(
                   socket, ZMQ_ZAP_DOMAIN, zap_domain, strlen(zap_domain)) == 0;
    }
    return set_key(socket, ZMQ_CURVE_SERVERKEY, limits->server_key) &&
           set_key(socket, ZMQ_CURVE_PUBLICKEY, limits->public_key) &&
           set_key(socket, ZMQ_CURVE_SECRETKEY, limits->secret_key);
}

static bool set_options(void *socket, const struct fby_socket_limits *limits)
{
    int64_t bytes = limits->max_message_bytes;
    return zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &bytes, sizeof(bytes)) == 0 &&
           set_int(socket, ZMQ_LINGER, 0) &&
           set_int(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS) &&
           set_int(socket, ZMQ_SNDHWM, limits->send_messages) &&
           set_int(socket, ZMQ_RCVHWM, limits->receive_messages) &&
           set_int(socket, ZMQ_TCP_KEEPALIVE, 1) && set_keys(socket, limits) &&
           (limits->dead_peer_ms == 0 ||
               set_int(socket, ZMQ_TCP_MAXRT, limits->dead_peer_ms));
}

static void close_keeping_errno(void *socket)
{
    int cause = errno;
    zmq_close(socket);
    errno = cause;
}

/* True for a number up to 65535. Of a higher one, libzmq and getaddrinfo() take
 * the lower 16 bits, which are another port. */
static bool is_port(const char *text)
{
    size_t length = strlen(text);
    return length >= 1 && length <= 5 && strspn(text, "0123456789") == length &&
           strtoul(text, NULL, 10) <= UINT16_MAX;
}

/* True if the endpoint is "tcp://HOST:PORT", of which PORT may be *. */
static bool is_listen_endpoint(const char *endpoint)
{
    struct fby_host_port parts;
    if (!has_prefix(endpoint, "tcp://") ||
        !fby_endpoint_split(endpoint, &parts)) {
        return false;
    }
    return strcmp(parts.port, "*") == 0 || is_port(parts.port);
}

static fby_err bind_router(void *socket, const char *endpoint,
    const struct fby_socket_limits *limits, char bound[FBY_ENDPOINT_SIZE])
{
    size_t size = FBY_ENDPOINT_SIZE;
    /* After a restart all peers connect at once. Those beyond the backlog, 100
     * by default, would try again only after seconds. */
    if (!set_options(socket, limits) || !set_family(socket, endpoint) ||
        !set_int(socket, ZMQ_BACKLOG, BACKLOG) ||
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
        return fby_error_set(why, err, "cannot listen on %s: %s%s", endpoint,
            zmq_strerror(errno),
            err == FBY_CONFIG ? "; choose another address or port with --listen"
                              : "");
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
        !set_int(socket, ZMQ_RECONNECT_IVL,
            limits->reconnect_ms > 0 ? limits->reconnect_ms : RECONNECT_MS) ||
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

bool fby_routing_id_equal(
    const struct fby_routing_id *a, const struct fby_routing_id *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

fby_err fby_socket_receive(
    void *router, struct fby_routing_id *from, zmq_msg_t *frame)
{
    int size = zmq_recv(router, from->bytes, sizeof(from->bytes), ZMQ_DONTWAIT);
    if (size < 0) {
        return FBY_AGAIN;
    }
    from->size        = (size_t)size;
    unsigned n_frames = 0;
    bool     has_more = true;
    while (has_more) {
        zmq_msg_init(frame);
        if (zmq_msg_recv(frame, router, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(frame);
            return FBY_AGAIN;
        }
        has_more = zmq_msg_more(frame) != 0;
        n_frames++;
        if (has_more || n_frames > 1) { /* too many frames: drop all */
            zmq_msg_close(frame);
        }
    }
    return n_frames == 1 ? FBY_OK : FBY_PROTO;
}

bool fby_socket_send(void *router, const struct fby_routing_id *to,
    const void *frame, size_t size)
{
    if (zmq_send(router, to->bytes, to->size, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
        return false; /* no such peer: nothing was sent */
    }
    return zmq_send(router, frame, size, ZMQ_DONTWAIT) >= 0;
}

bool fby_endpoint_split(const char *endpoint, struct fby_host_port *out)
{
    const char *host =
        endpoint + (has_prefix(endpoint, "tcp://") ? strlen("tcp://") : 0);
    const char *colon = strrchr(host, ':');
    if (colon == NULL || strlen(colon + 1) >= sizeof(out->port)) {
        return false;
    }
    size_t length  = (size_t)(colon - host);
    out->bracketed = length >= 2 && host[0] == '[' && colon[-1] == ']';
    if (out->bracketed) {
        host++;
        length -= strlen("[]");
    }
    if (length == 0 || length >= sizeof(out->host)) {
        return false;
    }
    memcpy(out->host, host, length);
    out->host[length] = '\0';
    snprintf(out->port, sizeof(out->port), "%s", colon + 1);
    return true;
}

static bool format_address(
    const struct addrinfo *address, char out[FBY_ENDPOINT_SIZE])
{
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getnameinfo(address->ai_addr, address->ai_addrlen, host, sizeof(host),
            port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    int length = snprintf(out, FBY_ENDPOINT_SIZE,
        address->ai_family == AF_INET6 ? "tcp://[%s]:%s" : "tcp://%s:%s", host,
        port);
    return length > 0 && length < FBY_ENDPOINT_SIZE;
}

static bool has_endpoint(const struct fby_endpoints *list, const char *endpoint)
{
    bool found = false;
    for (size_t i = 0; i < list->n && !found; i++) {
        found = strcmp(list->text[i], endpoint) == 0;
    }
    return found;
}

/* Append the addresses of one family to `out`. */
static void append_family(
    const struct addrinfo *list, bool is_ipv4, struct fby_endpoints *out)
{
    for (; list != NULL && out->n < FBY_MAX_ADDRESSES; list = list->ai_next) {
        char *endpoint = out->text[out->n];
        if ((list->ai_family == AF_INET) == is_ipv4 &&
            format_address(list, endpoint) && !has_endpoint(out, endpoint)) {
            out->n++;
        }
    }
}

static fby_err split_address(
    const char *text, struct fby_host_port *out, struct fby_error_detail *why)
{
    if (!fby_endpoint_split(text, out) || !is_port(out->port) ||
        (!out->bracketed && strchr(out->host, ':') != NULL)) {
        return fby_error_set(why, FBY_USAGE,
            "'%s' is not an address; write tcp://HOST:PORT, with a PORT up to "
            "65535, IPv6 in brackets",
            text);
    }
    return FBY_OK;
}

/* Resolve with further `flags` of getaddrinfo(), whose result it returns. */
static int resolve_parts(
    const struct fby_host_port *parts, int flags, struct fby_endpoints *out)
{
    struct addrinfo  hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *list  = NULL;
    int code = getaddrinfo(parts->host, parts->port, &hints, &list);
    out->n   = 0;
    if (code == 0) {
        append_family(list, true, out);
        append_family(list, false, out);
        freeaddrinfo(list);
    }
    return code;
}

fby_err fby_endpoint_check(const char *text, char out[FBY_ENDPOINT_SIZE],
    bool *is_name, struct fby_error_detail *why)
{
    struct fby_host_port parts;
    struct fby_endpoints found;
    FBY_TRY(split_address(text, &parts, why));
    int code = resolve_parts(&parts, AI_NUMERICHOST, &found);
    *is_name = code != 0 || found.n == 0;
    if (!*is_name) {
        memcpy(out, found.text[0], FBY_ENDPOINT_SIZE);
    } else {
        snprintf(
            out, FBY_ENDPOINT_SIZE, "tcp://%.240s:%s", parts.host, parts.port);
    }
    return FBY_OK;
}

fby_err fby_endpoint_resolve_all(
    const char *text, struct fby_endpoints *out, struct fby_error_detail *why)
{
    struct fby_host_port parts;
    FBY_TRY(split_address(text, &parts, why));
    int code = resolve_parts(&parts, 0, out);
    if (code != 0) {
        return fby_error_set(why, FBY_NOT_FOUND, "cannot resolve host '%s': %s",
            parts.host, gai_strerror(code));
    }
    return out->n > 0 ? FBY_OK
                      : fby_error_set(why, FBY_NOT_FOUND,
                            "host '%s' has no numeric address", parts.host);
}

fby_err fby_endpoint_resolve(
    const char *text, char out[FBY_ENDPOINT_SIZE], struct fby_error_detail *why)
{
    struct fby_endpoints found;
    FBY_TRY(fby_endpoint_resolve_all(text, &found, why));
    memcpy(out, found.text[0], FBY_ENDPOINT_SIZE);
    return FBY_OK;
}

bool fby_endpoint_is_loopback(const char *endpoint)
{
    return has_prefix(endpoint, "tcp://127.") ||
           has_prefix(endpoint, "tcp://[::1]:") ||
           has_prefix(endpoint, "tcp://localhost:") ||
           has_prefix(endpoint, "inproc://") || has_prefix(endpoint, "ipc://");
}
