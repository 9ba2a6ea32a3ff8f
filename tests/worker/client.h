/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - a minimal trainer client of one worker.
 *
 * It sends exactly what a test passes and returns every answer. Waiting has a
 * deadline; a worker that does not answer fails the test. */
#ifndef FBY_TESTS_WORKER_CLIENT_H
#define FBY_TESTS_WORKER_CLIENT_H

#include <zmq.h>

#include "proto/frame.h"
#include "proto/wire.h"
#include "tests/worker/kit.h"

struct client {
    void                    *zmq;
    void                    *dealer;
    const char              *endpoint; /* borrowed */
    struct fby_session_id    session;
    struct fby_route_id      route;
    uint64_t                 received; /* bytes of chunk frames on this route */
    uint64_t                 next_request;
    uint64_t                 max_bytes;
    bool                     silent; /* gives no CREDIT */
    uint64_t                 features;
    uint32_t                 n_choices;  /* of its requests */
    struct fby_coding_choice choices[2]; /* image, label */
    struct fby_coding        coding[2];  /* of the last chunk of each field */
    zmq_msg_t                frame;      /* the last one received */
    struct fby_message       message;    /* the last one decoded */
};

/* Connect a client with a random session. */
void client_open(struct client *client, const char *endpoint);
/* Close its connection and free what it has received. */
void client_close(struct client *client);
/* Open a new connection, as after a reset; the session stays. */
void client_reconnect(struct client *client);

/* Send a frame, which need not be valid, or a message. */
void client_send(struct client *client, const void *frame, size_t size);
void client_send_message(
    struct client *client, const struct fby_message *message);

/* Receive the next frame, which must be a control message of type `type`. */
const struct fby_message *client_expect(
    struct client *client, enum fby_message_type type);
/* Skip frames until a control message of type `type`. */
const struct fby_message *client_wait_for(
    struct client *client, enum fby_message_type type);
/* Receive the next frame, of any kind. */
void client_receive(struct client *client);

/* Send HELLO on a new route; returns the WELCOME. */
const struct fby_welcome *client_hello(struct client *client);
/* Send PING; returns the number of open requests in the PONG. */
size_t client_ping(struct client *client);

/* Send OPEN of the kit's content; returns the OPENED after any SCANNING. */
const struct fby_opened *client_content(
    struct client *client, const struct kit *kit);

/* Send a REQUEST for rows of the kit's content; returns its id. */
struct fby_request_id client_request(
    struct client *client, const struct fby_job_spec *spec);

/* Receive HEADER, all chunks and END of a request, and check every byte. */
void client_take_batch(struct client *client, const struct fby_job_spec *spec,
    struct fby_request_id id);

#endif
