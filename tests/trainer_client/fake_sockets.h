/* SPDX-License-Identifier: Apache-2.0 */
/* fake_sockets.h - helpers shared by the fake worker and the fake server:
 * ROUTER sockets on loopback, whole messages, and digests. */
#ifndef FBY_TESTS_FAKE_SOCKETS_H
#define FBY_TESTS_FAKE_SOCKETS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#include "proto/wire.h"

struct route {
    uint8_t id[32];
    size_t  size;
};

static inline void *bind_router(void *zmq, char *endpoint, size_t size)
{
    void     *socket = zmq_socket(zmq, ZMQ_ROUTER);
    const int zero   = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &zero, sizeof(zero));
    zmq_setsockopt(socket, ZMQ_SNDHWM, &zero, sizeof(zero));
    if (zmq_bind(socket, endpoint) != 0) {
        abort(); /* no free port on loopback */
    }
    zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &size);
    return socket;
}

static inline void send_frame(
    void *socket, const struct route *to, const void *data, size_t size)
{
    if (zmq_send(socket, to->id, to->size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0) {
        zmq_send(socket, data, size, ZMQ_DONTWAIT);
    }
}

static inline void send_message(
    void *socket, const struct route *to, const struct fby_message *message)
{
    struct fby_buffer       buffer = {0};
    struct fby_error_detail why    = {""};
    if (fby_message_encode(message, &buffer, &why) != FBY_OK) {
        fprintf(stderr, "fake: %s\n", why.text);
        abort();
    }
    send_frame(socket, to, buffer.data, buffer.size);
    fby_buffer_fini(&buffer);
}

/* Wait up to 10 ms for a message; on true the caller must fini *out. */
static inline bool receive(
    void *socket, struct route *from, struct fby_message *out)
{
    zmq_pollitem_t item = {.socket = socket, .events = ZMQ_POLLIN};
    zmq_msg_t      frame;
    if (zmq_poll(&item, 1, 10) <= 0) {
        return false;
    }
    int n = zmq_recv(socket, from->id, sizeof(from->id), 0);
    if (n <= 0 || n > (int)sizeof(from->id)) {
        return false;
    }
    from->size = (size_t)n;
    zmq_msg_init(&frame);
    bool ok = zmq_msg_recv(&frame, socket, 0) >= 0 &&
              fby_message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame),
                  out, NULL) == FBY_OK;
    zmq_msg_close(&frame);
    return ok;
}

static inline struct fby_digest digest_with_salt(const char *what, uint8_t salt)
{
    char text[32];
    int  n = snprintf(text, sizeof(text), "%s %u", what, salt);
    return fby_digest_of(text, (size_t)n);
}

#endif
