/* socket.h - ZeroMQ sockets with safe settings, and endpoints as text.
 *
 * The library's defaults are unsafe on an open port: messages of any size,
 * handshakes that never end, a close that waits for a dead peer. Every TCP
 * socket of the project is created here. Endpoints are made numeric before
 * ZeroMQ gets them, else its I/O thread would resolve names at every connect.
 *
 * ZeroMQ's own heartbeat stays off: when a connection breaks while its queue is
 * full, libzmq (4.3.4 and later) aborts the process at the next connection.
 * Forebay's own messages detect dead peers, and TCP drops peers that do not
 * acknowledge. A connecting socket must never fill its queue either: libzmq
 * aborts when it reads on after a reconnect. Its high-water mark only limits
 * untrusted peers; it is far above what flow control lets queue up. */
#ifndef FBY_COMMON_SOCKET_H
#define FBY_COMMON_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

enum { FBY_ENDPOINT_SIZE = 256 }; /* with NUL */

struct fby_socket_limits {
    int64_t max_message_bytes; /* a longer message closes the connection */
    int     receive_messages;  /* high-water mark of a peer; 0: none */
    int     send_messages;     /* likewise; beyond it sending fails */
    int     dead_peer_ms; /* TCP timeout of unacknowledged data; 0: system's */
};

/* Create a ROUTER bound to `endpoint` ("tcp://127.0.0.1:*" picks a port);
 * `bound` receives the endpoint with its port. Sending fails for unknown peers
 * (EHOSTUNREACH), and for peers that do not read (EAGAIN).
 *
 * Ownership: the caller's, released by zmq_close(*out).
 * Thread:    the socket may be used by the calling thread only.
 * Errors:    FBY_USAGE  `endpoint` is malformed
 *            FBY_CONFIG the address cannot be bound; `why` has the cause
 *            FBY_SYS    the socket cannot be created or configured. */
FBY_CHECKED fby_err fby_socket_bind(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, char bound[FBY_ENDPOINT_SIZE],
    void **out, struct fby_why *why);

/* Create a DEALER that connects to a numeric endpoint and reconnects after a
 * break. Ownership and thread as above.
 *
 * Blocks: never.
 * Errors: FBY_CONFIG  ZeroMQ refuses the endpoint
 *         FBY_SYS     the socket cannot be created or configured. */
FBY_CHECKED fby_err fby_socket_connect(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, void **out);

/* Resolve "HOST:PORT" or "tcp://HOST:PORT", IPv6 in brackets, to a numeric
 * endpoint. A name with IPv4 and IPv6 addresses gives the IPv4 one.
 *
 * Blocks: while the name is resolved.
 * Errors: FBY_USAGE      `text` is malformed
 *         FBY_NOT_FOUND  the name has no address. */
FBY_CHECKED fby_err fby_endpoint_resolve(
    const char *text, char out[FBY_ENDPOINT_SIZE], struct fby_why *why);

/* Whether an endpoint can be reached only from this machine. */
bool fby_endpoint_is_loopback(const char *endpoint);

#endif
