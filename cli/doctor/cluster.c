/* cluster.c - the server, and each worker that it knows.
 *
 * Only those who join are told of workers, so this joins a job of its own with
 * a random name and leaves it. Round trips to the server are those of a RENEW
 * of a session that it does not know, which it answers at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/probe.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/plural.h"
#include "trainer_client/receive/sockets.h"

enum { MOST_PROBES = 64 };

static const int64_t step_ns = 3 * FBY_NS_PER_S;
static const int64_t list_ns = FBY_NS_PER_S; /* for the list, once joined */

struct cluster {
    struct fby_probe  server;
    struct fby_probe *probes; /* MOST_PROBES */
    uint32_t          n_probes;
    uint32_t          n_looked_at; /* workers */
    uint64_t          n_workers;   /* that the server knows */
    void             *zmq;
    struct fby_buffer scratch;
};

static void say_join(struct cluster *self)
{
    struct fby_id_text job  = fby_id_text(fby_id_random());
    struct fby_digest  none = fby_digest_of(job.text, strlen(job.text));
    fby_dealer_send(self->server.socket,
        &(struct fby_message){.type = FBY_MSG_JOIN,
            .join                   = {.session = self->server.session,
                                  .job          = job.text,
                                  .world        = 1,
                                  .host         = "doctor",
                                  .pid          = (uint32_t)getpid(),
                                  .content      = none}},
        &self->scratch);
}

/* It tells of no message that is not of this type. */
static bool hear_type(struct cluster *self, enum fby_message_type type,
    int64_t until_ns, struct fby_message *out)
{
    while (fby_probe_hear(self->server.socket, until_ns, out)) {
        if (out->type == type) {
            return true;
        }
        if (out->type == FBY_MSG_JOIN_REFUSED) {
            self->server.answer = FBY_ANSWER_REFUSED;
            snprintf(self->server.text, sizeof(self->server.text), "%.255s",
                out->join_refused.text);
        }
        fby_message_fini(out);
        if (self->server.answer == FBY_ANSWER_REFUSED) {
            return false;
        }
    }
    return false;
}

static void add_worker(struct cluster *self, const struct fby_worker_info *info)
{
    self->n_workers++;
    if (self->n_probes + info->endpoints.n > MOST_PROBES) {
        return;
    }
    for (size_t i = 0; i < info->endpoints.n; i++) {
        struct fby_probe *probe = &self->probes[self->n_probes++];
        probe->worker           = self->n_looked_at;
        snprintf(probe->endpoint, sizeof(probe->endpoint), "%s",
            info->endpoints.at[i]);
        snprintf(probe->who, sizeof(probe->who), "%.250s (%.250s)", info->host,
            info->endpoints.at[i]);
    }
    self->n_looked_at++;
}

/* A server that knows of no worker sends no list. */
static void hear_workers(struct cluster *self)
{
    struct fby_message message;
    int64_t            until_ns = fby_now_ns() + list_ns;
    if (hear_type(self, FBY_MSG_WORKERS, until_ns, &message)) {
        for (size_t i = 0; i < message.workers.n_added; i++) {
            add_worker(self, &message.workers.added[i]);
        }
        fby_message_fini(&message);
    }
}

static void measure_trips(struct cluster *self)
{
    struct fby_message message;
    struct fby_probe  *server   = &self->server;
    int64_t            until_ns = fby_now_ns() + step_ns;
    while (server->n_trips < FBY_PROBE_TRIPS) {
        int64_t before_ns = fby_now_ns();
        fby_dealer_send(server->socket,
            &(struct fby_message){.type = FBY_MSG_RENEW,
                .renew                  = {.session = fby_session_random(),
                                     .server        = {fby_id_random()}}},
            &self->scratch);
        if (!hear_type(self, FBY_MSG_JOIN_FIRST, until_ns, &message)) {
            return;
        }
        fby_message_fini(&message);
        server->trips_ns[server->n_trips++] = fby_now_ns() - before_ns;
    }
}

static void talk_to_server(struct cluster *self)
{
    struct fby_message message;
    struct fby_probe  *server = &self->server;
    server->socket =
        fby_dealer_open(self->zmq, server->endpoint, FBY_MESSAGE_MAX);
    server->session = fby_session_random();
    if (server->socket == NULL) {
        return;
    }
    say_join(self);
    if (hear_type(self, FBY_MSG_JOINED, fby_now_ns() + step_ns, &message)) {
        fby_message_fini(&message);
        server->answer = FBY_ANSWER_GIVEN;
        hear_workers(self);
        measure_trips(self);
        fby_dealer_send(server->socket,
            &(struct fby_message){
                .type = FBY_MSG_QUIT, .quit = {.session = server->session}},
            &self->scratch);
    }
    fby_dealer_close(&server->socket);
}

/* ---- What is said -------------------------------------------------------- */

/* Of a worker with several addresses the one that answers counts. */
static const struct fby_probe *best_of(
    const struct cluster *self, uint32_t worker)
{
    const struct fby_probe *best = NULL;
    for (uint32_t i = 0; i < self->n_probes; i++) {
        const struct fby_probe *probe = &self->probes[i];
        if (probe->worker == worker &&
            (best == NULL || probe->answer > best->answer)) {
            best = probe;
        }
    }
    return best;
}

static void say_workers(const struct cluster *self, int out)
{
    for (uint32_t i = 0; i < self->n_looked_at; i++) {
        const struct fby_probe *probe = best_of(self, i);
        if (probe != NULL) {
            struct fby_answer_facts facts   = fby_probe_facts(probe);
            struct fby_verdict      verdict = fby_judge_worker(&facts);
            fby_doctor_say(out, "worker", &verdict);
        }
    }
    if (self->n_looked_at < self->n_workers) {
        struct fby_verdict rest =
            fby_verdict(FBY_DOCTOR_NOTE, "%s more were not looked at",
                fby_plural(self->n_workers - self->n_looked_at, "worker").text);
        fby_doctor_say(out, "worker", &rest);
    }
}

static void say_exposure(const struct cluster *self, int out)
{
    const char *first = NULL;
    uint32_t    open  = 0;
    for (uint32_t i = 0; i <= self->n_probes; i++) {
        const char *endpoint = i == self->n_probes ? self->server.endpoint
                                                   : self->probes[i].endpoint;
        if (!fby_endpoint_is_loopback(endpoint)) {
            first = first != NULL ? first : endpoint;
            open++;
        }
    }
    struct fby_verdict verdict =
        fby_judge_exposure(open, self->n_probes + 1, first);
    fby_doctor_say(out, "keys", &verdict);
}

static void look_at(struct cluster *self, int out)
{
    fby_probe_connect(&self->server, 1, fby_now_ns() + step_ns);
    if (self->server.error == 0) {
        talk_to_server(self);
    }
    struct fby_answer_facts facts   = fby_probe_facts(&self->server);
    struct fby_verdict      verdict = fby_judge_server(&facts, self->n_workers);
    fby_doctor_say(out, "server", &verdict);
    if (self->server.answer != FBY_ANSWER_GIVEN) {
        return;
    }
    fby_probe_connect(self->probes, self->n_probes, fby_now_ns() + step_ns);
    fby_probe_workers(
        self->probes, self->n_probes, self->zmq, fby_now_ns() + step_ns);
    say_workers(self, out);
    say_exposure(self, out);
}

void fby_doctor_cluster(const struct fby_doctor_options *options, int out)
{
    struct fby_why why  = {{0}};
    struct cluster self = {.zmq = zmq_ctx_new()};
    if (fby_endpoint_resolve(options->server, self.server.endpoint, &why) !=
        FBY_OK) {
        struct fby_verdict verdict = fby_judge_name(why.text);
        fby_doctor_say(out, "server", &verdict);
    } else {
        snprintf(self.server.who, sizeof(self.server.who), "%.500s",
            options->server);
        self.probes = fby_zalloc(MOST_PROBES * sizeof(*self.probes));
        look_at(&self, out);
        free(self.probes);
    }
    fby_buffer_fini(&self.scratch);
    zmq_ctx_term(self.zmq);
}
