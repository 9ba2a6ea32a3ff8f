/* SPDX-License-Identifier: Apache-2.0 */
/* sockets.h - the client's ZeroMQ sockets, one to each server or worker. */
#ifndef FBY_CLIENT_RECEIVE_SOCKETS_H
#define FBY_CLIENT_RECEIVE_SOCKETS_H

#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"
#include "proto/wire.h"
#include "secure/key_file.h"

/* Open a DEALER socket that connects to `endpoint` ("tcp://...", numeric). A
 * received frame longer than `max_frame` bytes ends the connection. NULL: the
 * socket could not be opened, and the log says why. */
void *fby_dealer_open(void *zmq, const char *endpoint, int64_t max_frame);
/* The same to a server. A server that demands other keys closes the connection,
 * which is made again once a second at most. `key`: encrypt with it (CURVE);
 * NULL: the server has no keys. */
void *fby_dealer_open_server(void *zmq, const char *endpoint, int64_t max_frame,
    const struct fby_key_file *key);

/* Close the socket. ZeroMQ goes on sending queued messages for at most 200 ms.
 * *socket_p becomes NULL. NULL is allowed. */
void fby_dealer_close(void **socket_p);

/* Send one message, encoded in `scratch`. A message that does not fit into the
 * socket's queue is dropped. The protocol recovers from this as from a broken
 * connection. Blocks: never. */
void fby_dealer_send(void *socket, const struct fby_message *message,
    struct fby_buffer *scratch);

#endif
