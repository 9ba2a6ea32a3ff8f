/* SPDX-License-Identifier: Apache-2.0 */
/* fake_server.c - the server of fake_worker.h, on a thread of its own. */
#include "tests/trainer_client/fake_worker.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/mem.h"
#include "tests/trainer_client/fake_sockets.h"

enum { MAX_WORKERS = 16 };

struct fake_server {
    void           *zmq;
    void           *socket;
    char            endpoint[64];
    pthread_t       thread;
    atomic_bool     stop;
    atomic_uint     joins;
    atomic_uint     quits;
    pthread_mutex_t lock; /* guards all below */
    uint64_t        instance;
    uint64_t        session; /* the one that joined; 0: none */
    uint64_t        sequence;
    char            endpoints[MAX_WORKERS][64];
    uint64_t        instances[MAX_WORKERS];
    uint32_t        n;
    int             code; /* of the refusal */
    char            refusal[256];
    bool            pinned;
    uint8_t         data_salt;
};

static void send_workers(struct fake_server *s, const struct route *to)
{
    struct fby_worker_info infos[MAX_WORKERS];
    const char            *names[MAX_WORKERS];
    for (uint32_t i = 0; i < s->n; i++) {
        names[i] = s->endpoints[i];
        infos[i] = (struct fby_worker_info){
            .instance  = {s->instances[i]},
            .endpoints = {&names[i], 1},
            .host      = "here",
        };
    }
    const struct fby_message workers = {.type = FBY_MSG_WORKERS,
        .workers                              = {
                                         .session     = {s->session},
                                         .server      = {s->instance},
                                         .sequence    = s->sequence,
                                         .is_complete = true,
                                         .added       = infos,
                                         .n_added     = s->n,
        }};
    send_message(s->socket, to, &workers);
}

static void send_joined(struct fake_server *s, const struct route *to)
{
    struct fby_message joined = {.type = FBY_MSG_JOINED,
        .joined                        = {
                                   .session      = {s->session},
                                   .server       = {s->instance},
                                   .lease_ms     = 200,
                                   .heartbeat_ms = 20,
        }};
    if (s->pinned) {
        joined.joined.data = (struct fby_maybe_digest){
            .known = true, .digest = digest_with_salt("data", s->data_salt)};
    }
    send_message(s->socket, to, &joined);
    send_workers(s, to);
}

static void on_join(struct fake_server *s, const struct route *from,
    const struct fby_join *join)
{
    atomic_fetch_add(&s->joins, 1);
    s->session = join->session.value;
    if (s->refusal[0] == '\0') {
        send_joined(s, from);
        return;
    }
    const struct fby_message refused = {
        .type = FBY_MSG_JOIN_REFUSED,
        .join_refused =
            {
                .session = join->session,
                .code    = (enum fby_join_refused_code)s->code,
                .text    = s->refusal,
            },
    };
    send_message(s->socket, from, &refused);
}

static void on_renew(struct fake_server *s, const struct route *from,
    const struct fby_renew *renew)
{
    const struct fby_message first = {
        .type = FBY_MSG_JOIN_FIRST, .join_first = {.session = renew->session}};
    if (renew->session.value != s->session) {
        send_message(s->socket, from, &first);
    } else if (renew->sequence != s->sequence) {
        send_workers(s, from);
    }
}

static void *server_main(void *opaque)
{
    struct fake_server *s = opaque;
    while (!atomic_load(&s->stop)) {
        struct fby_message m;
        struct route       from;
        if (!receive(s->socket, &from, &m)) {
            continue;
        }
        pthread_mutex_lock(&s->lock);
        if (m.type == FBY_MSG_JOIN) {
            on_join(s, &from, &m.join);
        } else if (m.type == FBY_MSG_RENEW) {
            on_renew(s, &from, &m.renew);
        } else if (m.type == FBY_MSG_QUIT) {
            atomic_fetch_add(&s->quits, 1);
        }
        pthread_mutex_unlock(&s->lock);
        fby_message_fini(&m);
    }
    zmq_close(s->socket);
    return NULL;
}

static void start_server(struct fake_server *s)
{
    s->zmq      = zmq_ctx_new();
    s->instance = fby_id_random();
    s->session  = 0;
    s->socket   = bind_router(s->zmq, s->endpoint, sizeof(s->endpoint));
    atomic_store(&s->stop, false);
    if (pthread_create(&s->thread, NULL, server_main, s) != 0) {
        abort();
    }
}

static void end_server(struct fake_server *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    zmq_ctx_term(s->zmq);
}

struct fake_server *fake_server_start(void)
{
    struct fake_server *s = fby_zalloc(sizeof(*s));
    pthread_mutex_init(&s->lock, NULL);
    s->sequence = 1;
    snprintf(s->endpoint, sizeof(s->endpoint), "tcp://127.0.0.1:*");
    start_server(s);
    return s;
}

void fake_server_restart(struct fake_server *self)
{
    end_server(self);
    start_server(self);
}

void fake_server_stop(struct fake_server **self_p)
{
    struct fake_server *s = *self_p;
    *self_p               = NULL;
    end_server(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const char *fake_server_endpoint(const struct fake_server *self)
{
    return self->endpoint;
}

void fake_server_add(struct fake_server *self, const struct fake_worker *worker)
{
    pthread_mutex_lock(&self->lock);
    snprintf(self->endpoints[self->n], sizeof(self->endpoints[0]), "%s",
        fake_worker_endpoint(worker));
    self->instances[self->n] = fake_worker_instance(worker);
    self->n++;
    self->sequence++;
    pthread_mutex_unlock(&self->lock);
}

void fake_server_refuse(struct fake_server *self, int code, const char *text)
{
    pthread_mutex_lock(&self->lock);
    self->code = code;
    snprintf(self->refusal, sizeof(self->refusal), "%s", text);
    pthread_mutex_unlock(&self->lock);
}

void fake_server_pin(struct fake_server *self, uint8_t data_salt)
{
    pthread_mutex_lock(&self->lock);
    self->pinned    = true;
    self->data_salt = data_salt;
    pthread_mutex_unlock(&self->lock);
}

uint32_t fake_server_joins(struct fake_server *self)
{
    return atomic_load(&self->joins);
}

uint32_t fake_server_quits(struct fake_server *self)
{
    return atomic_load(&self->quits);
}
