/* socket.h - ZeroMQ sockets with safe settings, and endpoints as text.
 *
 * The library's defaults are unsafe on an open port: messages of any size,
 * handshakes that never end, a close that waits for a dead peer. Every TCP
 * socket of the project is made here. Endpoints are numeric before ZeroMQ sees
 * them: its I/O thread would otherwise resolve names at every connect.
 *
 * ZeroMQ's own heartbeat stays off. When a connection breaks while its queue is
 * full, libzmq (4.3.4 and later) aborts the process at the next one; messages
 * of ours say who is alive, and TCP gives up on those who do not acknowledge.
 * A connecting socket must never fill its queue either: libzmq aborts when it
 * reads on after a reconnect. Its high-water mark is for strangers, far beyond
 * what flow control lets wait. */
#ifndef FBY_COMMON_SOCKET_H
#define FBY_COMMON_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

enum { FBY_ENDPOINT_SIZE = 256 }; /* with NUL */

struct fby_socket_limits {
    int64_t max_message_bytes; /* longer ones cut the connection */
    int     receive_messages;  /* high-water mark of a peer; 0: none */
    int     send_messages;     /* likewise: beyond it sending fails */
    int     dead_peer_ms; /* TCP gives up on unacknowledged data; 0: system */
};

/* A ROUTER bound to `endpoint` ("tcp://127.0.0.1:*" picks a port); it refuses
 * to send to unknown peers (EHOSTUNREACH), and to those that do not read
 * (EAGAIN).
 * `bound` gets the endpoint with its port.
 *
 * Ownership: zmq_close(*out).     Thread: of the caller, from then on.
 * Errors: FBY_USAGE no such form; FBY_CONFIG the address cannot be bound, with
 * the cause; FBY_SYS. */
FBY_CHECKED fby_err fby_socket_bind(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, char bound[FBY_ENDPOINT_SIZE],
    void **out, struct fby_why *why);

/* A DEALER that connects to a numeric endpoint, now and whenever the
 * connection breaks. Never blocks. Errors: FBY_CONFIG, FBY_SYS. */
FBY_CHECKED fby_err fby_socket_connect(void *zmq, const char *endpoint,
    const struct fby_socket_limits *limits, void **out);

/* "HOST:PORT" or "tcp://HOST:PORT" to a numeric endpoint; IPv6 in brackets. Of
 * a name with addresses of both kinds the IPv4 one is taken.
 * Blocks:  while names are resolved.
 * Errors:  FBY_USAGE the form, FBY_NOT_FOUND the name; `why` says it. */
FBY_CHECKED fby_err fby_endpoint_resolve(
    const char *text, char out[FBY_ENDPOINT_SIZE], struct fby_why *why);

/* Does a bound or to-be-bound endpoint stay on this machine? */
bool fby_endpoint_is_loopback(const char *endpoint);

#endif
