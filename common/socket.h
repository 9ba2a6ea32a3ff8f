/* SPDX-License-Identifier: Apache-2.0 */
/* socket.h - ZeroMQ sockets with safe settings, and endpoints as text.
 *
 * ZeroMQ's defaults are unsafe on an open port: messages of any size,
 * handshakes without a timeout, and a close that waits for a dead peer. So
 * every TCP socket of the project is created here. Host names are resolved
 * before ZeroMQ gets an endpoint, which would resolve them at every connect.
 *
 * ZeroMQ's own heartbeat stays off: when a connection breaks while its queue is
 * full, libzmq (4.3.4 and later) aborts the process at the next connection.
 * Forebay's own messages detect dead peers, and TCP drops peers that do not
 * acknowledge. The queue of a connecting socket must never become full: libzmq
 * aborts when such a socket reads again after a reconnect. Forebay's flow
 * control keeps queues far below their high-water marks (the longest queues
 * that ZeroMQ allows), so that the marks only limit untrusted peers. */
#ifndef FBY_COMMON_SOCKET_H
#define FBY_COMMON_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "common/err.h"

enum {
    FBY_ENDPOINT_SIZE  = 256, /* bytes of an endpoint, with its NUL */
    FBY_ROUTING_ID_MAX = 255  /* bytes */
};

struct fby_socket_limits {
    int64_t max_message_bytes; /* a longer message closes the connection */
    int     receive_messages; /* longest receive queue of a peer; 0: no limit */
    int     send_messages;    /* longest send queue of a peer; 0: no limit */
    int     dead_peer_ms;     /* TCP closes a connection when data was not
                                  acknowledged for so long; 0: system default */
    /* The least pause before a connection that ended is made again; 0: 300 ms.
     * libzmq lengthens it, to 5 s, only while none can be made, and not when
     * the other side closes each new one, because its keys do not suit it. */
    int reconnect_ms;
    /* Keys of CURVE, of 32 bytes each; NULL: no encryption. A socket that binds
     * needs secret_key only, and a handler of keys (secure/zap.h). */
    const uint8_t *secret_key;
    const uint8_t *public_key; /* of secret_key */
    const uint8_t *server_key; /* the public key of the side that binds */
};

/* Create a ROUTER socket in the context `zmq` and bind it to `endpoint`
 * ("tcp://127.0.0.1:*" picks a port); `bound` receives the endpoint with its
 * port. Sending fails for unknown peers (EHOSTUNREACH), and for peers whose
 * send queue is full (EAGAIN).
 *
 * Ownership: the socket is the caller's, who closes it with zmq_close.
 * Thread:    the socket may be used by the calling thread only.
 * Errors:    FBY_USAGE  `endpoint` is malformed
 *            FBY_CONFIG the address cannot be bound; `why` has the cause
 *            FBY_SYS    the socket cannot be created or configured. */
FBY_CHECKED fby_err fby_socket_bind(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, char bound[FBY_ENDPOINT_SIZE],
    void **out, struct fby_error_detail *why);

/* Create a DEALER socket that connects to a numeric endpoint, and reconnects
 * when the connection breaks. Ownership and thread as for fby_socket_bind.
 *
 * Blocks: never.
 * Errors: FBY_CONFIG  ZeroMQ refuses the endpoint
 *         FBY_SYS     the socket cannot be created or configured. */
FBY_CHECKED fby_err fby_socket_connect(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, void **out);

struct fby_routing_id { /* ZeroMQ's name of a connection to a ROUTER */
    uint8_t bytes[FBY_ROUTING_ID_MAX];
    size_t  size; /* bytes; 0: no connection */
};

/* True if both name the same connection. */
bool fby_routing_id_equal(
    const struct fby_routing_id *a, const struct fby_routing_id *b);

/* Receive one message from a ROUTER socket. The message must have two frames:
 * the sender's routing id, and *frame.
 *
 * Ownership: on FBY_OK the caller closes *frame, else *frame is not
 * initialised.
 * Blocks:    never.
 * Errors:    FBY_AGAIN  there is no message
 *            FBY_PROTO  the message had more frames and was dropped. */
FBY_CHECKED fby_err fby_socket_receive(
    void *router, struct fby_routing_id *from, zmq_msg_t *frame);

/* Send `size` bytes as one frame to the peer `to`. Blocks: never.
 * Returns false when the connection is gone or its queue is full; errno has the
 * cause. */
bool fby_socket_send(void *router, const struct fby_routing_id *to,
    const void *frame, size_t size);

struct fby_host_port {
    char host[FBY_ENDPOINT_SIZE]; /* without brackets; not empty */
    char port[8];                 /* any text; may be empty */
    bool bracketed;               /* the host was in brackets: it is IPv6 */
};

/* Split "HOST:PORT" or "tcp://HOST:PORT" at its last colon; false when there is
 * no host, no colon, or a part is too long. */
bool fby_endpoint_split(const char *endpoint, struct fby_host_port *out);

/* Check "HOST:PORT" or "tcp://HOST:PORT", IPv6 in brackets. `out` receives it
 * as a numeric endpoint or, if HOST is a name, as tcp://HOST:PORT; then
 * *is_name becomes true.
 *
 * Blocks: never.
 * Errors: FBY_USAGE  `text` is malformed. */
FBY_CHECKED fby_err fby_endpoint_check(const char *text,
    char out[FBY_ENDPOINT_SIZE], bool *is_name, struct fby_error_detail *why);

enum { FBY_MAX_ADDRESSES = 8 }; /* of a host; further ones are not used */

struct fby_endpoints {
    char   text[FBY_MAX_ADDRESSES][FBY_ENDPOINT_SIZE];
    size_t n;
};

/* Resolve an address to all its numeric endpoints, IPv4 before IPv6: servers
 * and workers listen on IPv4 by default, and a name such as localhost often has
 * its IPv6 address first. Blocks and errors as for fby_endpoint_resolve. */
FBY_CHECKED fby_err fby_endpoint_resolve_all(
    const char *text, struct fby_endpoints *out, struct fby_error_detail *why);

/* Resolve "HOST:PORT" or "tcp://HOST:PORT", IPv6 in brackets, to a numeric
 * endpoint, the first of fby_endpoint_resolve_all.
 *
 * Blocks: while the name is resolved.
 * Errors: FBY_USAGE      `text` is malformed
 *         FBY_NOT_FOUND  the name has no address. */
FBY_CHECKED fby_err fby_endpoint_resolve(const char *text,
    char out[FBY_ENDPOINT_SIZE], struct fby_error_detail *why);

/* True if the text of an endpoint shows that only this machine can reach it. */
bool fby_endpoint_is_loopback(const char *endpoint);

#endif
