/* sockets.h - the client's ZeroMQ sockets: made, limited, written to. */
#ifndef FBY_CLIENT_RECEIVE_SOCKETS_H
#define FBY_CLIENT_RECEIVE_SOCKETS_H

#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"
#include "proto/wire.h"

/* A DEALER connected to `endpoint` (numeric, "tcp://..."), which answers with
 * frames of at most `max_frame` bytes; longer ones end the connection.
 * NULL when there can be none. */
void *fby_dealer_open(void *zmq, const char *endpoint, int64_t max_frame);

/* Close, after giving what was sent last a moment to leave. */
void fby_dealer_close(void **socket_p);

/* Send one message; `scratch` is only kept to be reused. Never blocks: what
 * does not fit is dropped, as by a broken connection, and mended likewise. */
void fby_dealer_send(void *socket, const struct fby_message *message,
    struct fby_buffer *scratch);

#endif
