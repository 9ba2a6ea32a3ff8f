/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/zap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "secure/key_file.h"

enum {
    REQUEST_FRAMES = 7, /* version, id, domain, address, identity, mechanism,
                           credentials */
    FRAME_ID       = 1,
    FRAME_KEY      = 6,
    FRAME_SIZE     = 256
};

static const int64_t unknown_period_ns = 10 * FBY_NS_PER_S;

struct fby_zap {
    void                  *socket; /* REP; only its thread uses it */
    pthread_t              thread;
    fby_zap_knows         *knows;
    void                  *context;
    struct fby_zap_unknown unknown;
    _Atomic uint64_t       refused;
};

struct frame {
    uint8_t bytes[FRAME_SIZE];
    size_t  size;
};

bool fby_zap_admit_unknown(struct fby_zap_unknown *self, int64_t now_ns)
{
    if (self->n == 0 || now_ns - self->since_ns >= unknown_period_ns) {
        *self = (struct fby_zap_unknown){.since_ns = now_ns};
    }
    bool admitted = self->n < FBY_ZAP_UNKNOWN_MAX;
    self->n += admitted ? 1 : 0;
    return admitted;
}

/* Receive a request; false at the end of the context. A frame that does not
 * exist, or is too long, has size 0. */
static bool receive(void *socket, struct frame request[REQUEST_FRAMES])
{
    int    more = 1;
    size_t size = sizeof(more);
    memset(request, 0, REQUEST_FRAMES * sizeof(*request));
    for (int i = 0; more != 0; i++) {
        struct frame  extra;
        struct frame *to = i < REQUEST_FRAMES ? &request[i] : &extra;
        int           n  = zmq_recv(socket, to->bytes, sizeof(to->bytes), 0);
        if (n < 0) {
            return false;
        }
        to->size = (size_t)n <= sizeof(to->bytes) ? (size_t)n : 0;
        if (zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) != 0) {
            return false;
        }
    }
    return true;
}

static bool send_text(void *socket, const char *text, int flags)
{
    return zmq_send(socket, text, strlen(text), flags) >= 0;
}

static bool answer(void *socket, const struct frame *id, const char *status,
    const char *user_id)
{
    return send_text(socket, "1.0", ZMQ_SNDMORE) &&
           zmq_send(socket, id->bytes, id->size, ZMQ_SNDMORE) >= 0 &&
           send_text(socket, status, ZMQ_SNDMORE) &&
           send_text(socket, "" /* status text */, ZMQ_SNDMORE) &&
           send_text(socket, user_id, ZMQ_SNDMORE) &&
           send_text(socket, "" /* metadata */, 0);
}

static bool decide(
    struct fby_zap *self, const struct frame request[REQUEST_FRAMES])
{
    const struct frame *sent = &request[FRAME_KEY];
    struct fby_key      key;
    char                text[FBY_KEY_TEXT_SIZE] = "";
    bool                admitted                = false;
    if (sent->size == sizeof(key.bytes)) {
        memcpy(key.bytes, sent->bytes, sizeof(key.bytes));
        if (self->knows(self->context, &key)) {
            fby_key_write_text(&key, text);
        }
        admitted = text[0] != '\0' ||
                   fby_zap_admit_unknown(&self->unknown, fby_now_ns());
    }
    self->refused += admitted ? 0 : 1;
    return answer(
        self->socket, &request[FRAME_ID], admitted ? "200" : "400", text);
}

static void *thread_main(void *opaque)
{
    struct fby_zap *self = opaque;
    struct frame    request[REQUEST_FRAMES];
    while (receive(self->socket, request) && decide(self, request)) {
    }
    zmq_close(self->socket);
    return NULL;
}

fby_err fby_zap_start(
    void *zmq, fby_zap_knows *knows, void *context, struct fby_zap **out)
{
    struct fby_zap *self = fby_zalloc(sizeof(*self));
    self->knows          = knows;
    self->context        = context;
    self->socket         = zmq_socket(zmq, ZMQ_REP);
    bool bound           = self->socket != NULL &&
                 zmq_bind(self->socket, "inproc://zeromq.zap.01") == 0;
    if (!bound || pthread_create(&self->thread, NULL, thread_main, self) != 0) {
        if (self->socket != NULL) {
            zmq_close(self->socket);
        }
        free(self);
        return FBY_SYS;
    }
    pthread_setname_np(self->thread, "fby-keys");
    *out = self;
    return FBY_OK;
}

void fby_zap_join(struct fby_zap **self_p)
{
    if (*self_p != NULL) {
        pthread_join((*self_p)->thread, NULL);
        free(*self_p);
        *self_p = NULL;
    }
}

uint64_t fby_zap_refused(const struct fby_zap *self)
{
    return self->refused;
}

bool fby_zap_key_of(zmq_msg_t *frame, struct fby_key *out)
{
    const char *user_id = zmq_msg_gets(frame, "User-Id");
    return user_id != NULL && fby_key_parse_text(user_id, out);
}
