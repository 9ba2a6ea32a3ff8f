/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "cli/signals.h"
#include "common/clock.h"
#include "common/locator.h"
#include "common/mem.h"
#include "common/timer.h"
#include "proto/frame.h"
#include "proto/wire.h"
#include "trainer_client/receive/sockets.h"

enum { POLL_MS = 200 /* so that a signal is seen */ };

static const int64_t repeat_ns = FBY_NS_PER_S; /* a question without answer */
static const int64_t grace_ns  = 5 * FBY_NS_PER_S; /* after the server's wait */

struct fby_ask {
    const char           *server; /* borrowed */
    bool                  has_key;
    struct fby_key_file   key;
    struct fby_locator   *locator;
    void                 *zmq;
    void                 *socket; /* NULL: not connected */
    struct fby_session_id query;  /* of the last question */
    int64_t known_ns; /* when a new server has a number; 0: it did not say */
    struct fby_buffer scratch;
};

fby_err fby_ask_open(const char *server, const struct fby_key_file *key,
    struct fby_ask **out, struct fby_error_detail *why)
{
    const struct fby_resolver_source source = {.text = server};
    struct fby_ask                  *self   = fby_zalloc(sizeof(*self));
    self->server                            = server;
    self->has_key                           = key != NULL;
    self->key = key != NULL ? *key : (struct fby_key_file){0};
    self->zmq = zmq_ctx_new();
    fby_err err =
        self->zmq != NULL
            ? fby_locator_create(&source, &self->locator, why)
            : fby_error_set(why, FBY_SYS, "no ZeroMQ: %s", strerror(errno));
    if (err != FBY_OK) {
        fby_ask_close(&self);
    }
    *out = self;
    return err;
}

void fby_ask_close(struct fby_ask **self_p)
{
    struct fby_ask *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_locator_destroy(&self->locator);
    fby_dealer_close(&self->socket);
    if (self->zmq != NULL) {
        zmq_ctx_term(self->zmq);
    }
    fby_buffer_fini(&self->scratch);
    sodium_memzero(&self->key, sizeof(self->key));
    free(self);
}

/* ---- one question --------------------------------------------------------- */

static void send_question(struct fby_ask *self)
{
    self->query = fby_session_random();
    if (self->socket != NULL) {
        fby_dealer_send(self->socket,
            FBY_MESSAGE(SCALE, scale, .session = self->query), &self->scratch);
    }
}

/* Connect to where the server is now. Returns true if a question is due. */
static bool connect_to_server(struct fby_ask *self, int64_t now_ns)
{
    if (!fby_locator_tick(self->locator, now_ns)) {
        return false;
    }
    fby_dealer_close(&self->socket);
    self->socket =
        fby_dealer_open_server(self->zmq, fby_locator_endpoint(self->locator),
            FBY_MESSAGE_SMALL, self->has_key ? &self->key : NULL);
    return true;
}

/* Wait for a message, a lookup or the time. */
static void wait_a_moment(struct fby_ask *self)
{
    zmq_pollitem_t items[] = {
        {.fd = fby_locator_fd(self->locator), .events = ZMQ_POLLIN},
        {.socket = self->socket, .events = ZMQ_POLLIN},
    };
    (void)zmq_poll(items, self->socket != NULL ? 2 : 1, POLL_MS);
}

static void copy_answer(
    const struct fby_scaled *scaled, struct fby_ask_answer *out)
{
    *out = (struct fby_ask_answer){.wanted = scaled->wanted,
        .workers                           = scaled->workers,
        .jobs                              = scaled->jobs};
    for (size_t i = 0; i < scaled->reasons.n; i++) {
        fby_words_add(&out->reasons, scaled->reasons.at[i]);
    }
}

/* FBY_AGAIN: wait for another message. */
static fby_err handle_message(struct fby_ask *self,
    const struct fby_message *message, struct fby_ask_answer *out,
    struct fby_error_detail *why)
{
    int64_t now_ns = fby_now_ns();
    fby_locator_heard(self->locator, now_ns);
    if (message->type == FBY_MSG_REFUSED) {
        return fby_error_set(why, FBY_CONFIG, "server %s: %s", self->server,
            message->refused.text);
    }
    if (message->type != FBY_MSG_SCALED ||
        message->scaled.session.value != self->query.value) {
        return FBY_AGAIN;
    }
    if (message->scaled.wait_ms > 0) {
        self->known_ns = now_ns + message->scaled.wait_ms * FBY_NS_PER_MS;
        return FBY_AGAIN;
    }
    copy_answer(&message->scaled, out);
    return FBY_OK;
}

/* FBY_AGAIN: there is no answer yet. */
static fby_err read_answer(struct fby_ask *self, struct fby_ask_answer *out,
    struct fby_error_detail *why)
{
    zmq_msg_t frame;
    fby_err   err = FBY_AGAIN;
    zmq_msg_init(&frame);
    while (err == FBY_AGAIN && self->socket != NULL &&
           zmq_msg_recv(&frame, self->socket, ZMQ_DONTWAIT) >= 0) {
        struct fby_message      message;
        struct fby_error_detail unused;
        if (fby_message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame),
                &message, &unused) == FBY_OK) {
            err = handle_message(self, &message, out, why);
            fby_message_fini(&message);
        }
    }
    zmq_msg_close(&frame);
    return err;
}

static fby_err refuse_silence(
    const struct fby_ask *self, struct fby_error_detail *why)
{
    const char *problem = fby_locator_problem(self->locator);
    if (problem[0] != '\0') {
        return fby_error_set(why, FBY_TIMEOUT, "%s", problem);
    }
    if (self->known_ns != 0) {
        return fby_error_set(why, FBY_AGAIN,
            "server %s has just started, and has no number yet; try again",
            self->server);
    }
    return fby_error_set(why, FBY_TIMEOUT,
        "no answer from server %s: is it running and reachable, and of version "
        "0.2 or later? %s",
        self->server,
        self->has_key ? "is --keys of its cluster?"
                      : "does it need a key (--keys)?");
}

/* The time until which to ask. */
static int64_t give_up_ns(
    const struct fby_ask *self, int64_t deadline_ns, bool waits_for_start)
{
    int64_t started_ns = self->known_ns + grace_ns;
    return waits_for_start && started_ns > deadline_ns ? started_ns
                                                       : deadline_ns;
}

fby_err fby_ask_workers(struct fby_ask *self, int64_t deadline_ns,
    bool waits_for_start, struct fby_ask_answer *out,
    struct fby_error_detail *why)
{
    int64_t due_ns = 0; /* of the next question */
    self->known_ns = 0;
    for (;;) {
        int64_t now_ns = fby_now_ns();
        if (connect_to_server(self, now_ns) || now_ns >= due_ns) {
            send_question(self);
            due_ns = now_ns + fby_scaled_timeout_ns(repeat_ns);
        }
        wait_a_moment(self);
        fby_err err = read_answer(self, out, why);
        if (err != FBY_AGAIN) {
            return err;
        }
        if (fby_signals_caught() != 0) {
            return FBY_GONE;
        }
        if (fby_now_ns() >= give_up_ns(self, deadline_ns, waits_for_start)) {
            return refuse_silence(self, why);
        }
    }
}

void fby_ask_limit(struct fby_ask_answer *answer, uint32_t min, uint32_t max)
{
    if (answer->wanted < min) {
        answer->wanted = min;
        fby_words_add(&answer->reasons, "no fewer than --min");
    } else if (answer->wanted > max) {
        answer->wanted = max;
        fby_words_add(&answer->reasons, "no more than --max");
    }
}
