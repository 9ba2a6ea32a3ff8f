/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c - check the server, and each worker that it knows.
 *
 * The server lists workers only to members of a job, so the check joins a new
 * job with a random name and leaves it afterwards. For a round trip it sends
 * RENEW with an unknown session: the server answers JOIN_FIRST at once. With
 * keys the connection to the server is encrypted; no session is opened with
 * workers then (probe.h), because the check of the stream does that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "cli/doctor/checks.h"
#include "cli/doctor/probe.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/plural.h"
#include "trainer_client/receive/sockets.h"

enum { MAX_PROBES = 64 }; /* further addresses of workers are not checked */

static const int64_t list_timeout_ns = FBY_NS_PER_S; /* the list of workers */
static const int64_t step_timeout_ns = 3 * FBY_NS_PER_S; /* other steps */

struct cluster_check {
    struct fby_probe    server;
    struct fby_probe   *probes; /* one for each address of the workers */
    uint32_t            n_probes;
    uint32_t            n_checked; /* workers that have probes */
    uint64_t            n_workers; /* workers that the server knows */
    void               *zmq;       /* context of ZeroMQ */
    const char         *job;       /* NULL: a random name */
    struct fby_key_file key;       /* if `has_keys` */
    bool                has_keys;
};

static void send_join(struct cluster_check *self)
{
    struct fby_id_text name = fby_id_text(fby_id_random());
    const char        *job  = self->job != NULL ? self->job : name.text;
    /* Any digest: the server only compares those of several ranks of a job. */
    struct fby_digest content = fby_digest_of(name.text, strlen(name.text));
    fby_probe_send(&self->server, &(struct fby_message){.type = FBY_MSG_JOIN,
                                      .join = {.session = self->server.session,
                                          .job          = job,
                                          .world        = 1,
                                          .host         = "doctor",
                                          .pid          = (uint32_t)getpid(),
                                          .content      = content}});
}

/* Store a refusal to join in self->server. Returns false for other messages. */
static bool take_refusal(
    struct cluster_check *self, const struct fby_message *message)
{
    struct fby_probe *server = &self->server;
    if (message->type == FBY_MSG_REFUSED) { /* its list lacks the key */
        server->answer = FBY_ANSWER_KEY_REFUSED;
        snprintf(server->text, sizeof(server->text), "%.255s",
            message->refused.text);
    } else if (message->type == FBY_MSG_JOIN_REFUSED) {
        server->answer = message->join_refused.code == FBY_JOIN_KEY
                             ? FBY_ANSWER_KEY_REFUSED
                             : FBY_ANSWER_REFUSED;
        snprintf(server->text, sizeof(server->text), "%.255s",
            message->join_refused.text);
    }
    return server->answer == FBY_ANSWER_KEY_REFUSED ||
           server->answer == FBY_ANSWER_REFUSED;
}

/* Receive the next message of `type`, and drop others. Returns false at the
 * deadline, and after a refusal to join. */
static bool receive_type(struct cluster_check *self, enum fby_message_type type,
    int64_t until_ns, struct fby_message *out)
{
    while (fby_probe_receive(self->server.socket, until_ns, out)) {
        if (out->type == type) {
            return true;
        }
        bool is_refused = take_refusal(self, out);
        fby_message_fini(out);
        if (is_refused) {
            return false;
        }
    }
    return false;
}

static void add_worker(
    struct cluster_check *self, const struct fby_worker_info *info)
{
    self->n_workers++;
    if (self->n_probes + info->endpoints.n > MAX_PROBES) {
        return; /* too many addresses: only counted */
    }
    for (size_t i = 0; i < info->endpoints.n; i++) {
        struct fby_probe *probe = &self->probes[self->n_probes++];
        probe->worker           = self->n_checked;
        snprintf(probe->endpoint, sizeof(probe->endpoint), "%s",
            info->endpoints.at[i]);
        snprintf(probe->name, sizeof(probe->name), "%.250s (%.250s)",
            info->host, info->endpoints.at[i]);
    }
    self->n_checked++;
}

/* Receive the list of workers. A server without workers sends no list. */
static void receive_workers(struct cluster_check *self)
{
    struct fby_message message;
    int64_t            until_ns = fby_now_ns() + list_timeout_ns;
    if (receive_type(self, FBY_MSG_WORKERS, until_ns, &message)) {
        for (size_t i = 0; i < message.workers.n_added; i++) {
            add_worker(self, &message.workers.added[i]);
        }
        fby_message_fini(&message);
    }
}

/* Measure round trips: the server answers each RENEW with JOIN_FIRST. */
static void measure_trips(struct cluster_check *self)
{
    struct fby_message message;
    struct fby_probe  *server   = &self->server;
    int64_t            until_ns = fby_now_ns() + step_timeout_ns;
    while (server->n_trips < FBY_PROBE_TRIPS) {
        int64_t before_ns = fby_now_ns();
        fby_probe_send(server, &(struct fby_message){.type = FBY_MSG_RENEW,
                                   .renew = {.session = fby_session_random(),
                                       .server        = {fby_id_random()}}});
        if (!receive_type(self, FBY_MSG_JOIN_FIRST, until_ns, &message)) {
            return;
        }
        fby_message_fini(&message);
        server->trips_ns[server->n_trips++] = fby_now_ns() - before_ns;
    }
}

static void query_server(struct cluster_check *self)
{
    struct fby_message message;
    struct fby_probe  *server = &self->server;
    server->socket  = fby_dealer_open_server(self->zmq, server->endpoint,
         FBY_MESSAGE_MAX, self->has_keys ? &self->key : NULL);
    server->session = fby_session_random();
    if (server->socket == NULL) {
        return;
    }
    send_join(self);
    if (receive_type(
            self, FBY_MSG_JOINED, fby_now_ns() + step_timeout_ns, &message)) {
        fby_message_fini(&message);
        server->answer = FBY_ANSWER_GIVEN;
        receive_workers(self);
        measure_trips(self);
        fby_probe_send(server, &(struct fby_message){.type = FBY_MSG_QUIT,
                                   .quit = {.session = server->session}});
    }
    fby_dealer_close(&server->socket);
}

/* The probe with the best answer among the addresses of a worker. */
static const struct fby_probe *best_probe(
    const struct cluster_check *self, uint32_t worker)
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

static void report_workers(const struct cluster_check *self, int pipe_fd)
{
    for (uint32_t i = 0; i < self->n_checked; i++) {
        const struct fby_probe *probe = best_probe(self, i);
        if (probe != NULL) {
            struct fby_answer_facts facts = fby_probe_facts(probe);
            facts.is_elsewhere =
                fby_endpoint_is_loopback(probe->endpoint) &&
                !fby_endpoint_is_loopback(self->server.endpoint);
            fby_doctor_report(pipe_fd, "worker", fby_judge_worker(&facts));
        }
    }
    if (self->n_checked < self->n_workers) {
        fby_doctor_report(pipe_fd, "worker",
            fby_verdict(FBY_DOCTOR_NOTE, NULL, "%s more were not checked",
                fby_plural(self->n_workers - self->n_checked, "worker").text));
    }
}

static void report_exposure(const struct cluster_check *self, int pipe_fd)
{
    const char *first   = NULL;
    uint32_t    exposed = 0;
    uint32_t    n       = self->n_probes + 1; /* the last is the server */
    for (uint32_t i = 0; i < n; i++) {
        const char *endpoint = i == self->n_probes ? self->server.endpoint
                                                   : self->probes[i].endpoint;
        if (!fby_endpoint_is_loopback(endpoint)) {
            first = first != NULL ? first : endpoint;
            exposed++;
        }
    }
    fby_doctor_report(
        pipe_fd, "keys", fby_judge_exposure(self->has_keys, exposed, n, first));
}

static void check_cluster(struct cluster_check *self, int pipe_fd)
{
    fby_probe_connect(&self->server, 1, fby_now_ns() + step_timeout_ns);
    if (self->server.error == 0) {
        query_server(self);
    }
    struct fby_answer_facts facts = fby_probe_facts(&self->server);
    fby_doctor_report(
        pipe_fd, "server", fby_judge_server(&facts, self->n_workers));
    if (self->server.answer != FBY_ANSWER_GIVEN) {
        return;
    }
    fby_probe_connect(
        self->probes, self->n_probes, fby_now_ns() + step_timeout_ns);
    fby_probe_workers(self->probes, self->n_probes, self->zmq,
        fby_now_ns() + step_timeout_ns);
    report_workers(self, pipe_fd);
    report_exposure(self, pipe_fd);
}

/* Read the key that a trainer would use. */
static fby_err load_key(struct cluster_check *self,
    const struct fby_doctor_options *options, struct fby_error_detail *why)
{
    const char *path      = fby_key_path_of_trainer(options->keys);
    self->has_keys        = path != NULL;
    self->server.has_keys = self->has_keys;
    return self->has_keys
               ? fby_key_file_load(path, FBY_ROLE_TRAINER, &self->key, why)
               : FBY_OK;
}

void fby_doctor_cluster(const struct fby_doctor_options *options, int pipe_fd)
{
    struct fby_error_detail why  = {{0}};
    struct cluster_check    self = {.zmq = zmq_ctx_new(), .job = options->job};
    if (load_key(&self, options, &why) != FBY_OK) {
        fby_doctor_report(pipe_fd, "keys",
            fby_verdict(FBY_DOCTOR_FAIL,
                "name the key file of a trainer, as forebay keys add wrote it",
                "%s", why.text));
    } else if (fby_endpoint_resolve(
                   options->server, self.server.endpoint, &why) != FBY_OK) {
        fby_doctor_report(pipe_fd, "server", fby_judge_unresolved(why.text));
    } else {
        snprintf(self.server.name, sizeof(self.server.name), "%.500s",
            options->server);
        self.probes = fby_zalloc(MAX_PROBES * sizeof(*self.probes));
        check_cluster(&self, pipe_fd);
        free(self.probes);
    }
    zmq_ctx_term(self.zmq);
}
