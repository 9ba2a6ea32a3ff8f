/* client.h - a trainer client just large enough to question one worker.
 *
 * It sends exactly what a test tells it to and shows every answer. Waiting has
 * a deadline; a worker that does not answer fails the test. */
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

void client_open(struct client *client, const char *endpoint);
void client_close(struct client *client);
/* A new connection, as after a reset; the session stays. */
void client_reconnect(struct client *client);

void client_send(struct client *client, const void *frame, size_t size);
void client_send_message(
    struct client *client, const struct fby_message *message);

/* The next frame, which must be a control message; of type `type`. */
const struct fby_message *client_expect(
    struct client *client, enum fby_message_type type);
/* The next control message of that type, after whatever comes before it. */
const struct fby_message *client_wait_for(
    struct client *client, enum fby_message_type type);
/* The next frame, whichever it is. */
void client_receive(struct client *client);

/* HELLO on a fresh route, and the WELCOME. */
const struct fby_welcome *client_hello(struct client *client);
/* PING and PONG: how many requests are open. */
size_t client_ping(struct client *client);

/* OPEN the kit's content, and the OPENED after any SCANNING. */
const struct fby_opened *client_content(
    struct client *client, const struct kit *kit);

/* REQUEST rows of the kit's content; its id. */
struct fby_request_id client_request(
    struct client *client, const struct fby_job_spec *spec);

/* Receive HEADER, all chunks and END of a request, and check every byte. */
void client_take_batch(struct client *client, const struct fby_job_spec *spec,
    struct fby_request_id id);

#endif
