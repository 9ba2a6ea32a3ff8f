/* SPDX-License-Identifier: Apache-2.0 */
/* directory.c - the leases of workers and sessions, and the messages that are
 * due to sessions. workers.c and sessions.c change the tables. */
#include "server/directory.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"
#include "server/directory_state.h"

/* ---- create and destroy ---- */

struct fby_directory *fby_directory_create(
    const struct fby_directory_config *config)
{
    struct fby_directory *self = fby_zalloc(sizeof(*self));
    self->config               = *config;
    self->added                = fby_zalloc(MAX_ADDED * sizeof(*self->added));
    return self;
}

void fby_directory_destroy(struct fby_directory **self_p)
{
    struct fby_directory *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    while (self->workers != NULL) {
        fby_directory_remove_worker(self, self->workers);
    }
    while (self->sessions != NULL) {
        fby_directory_remove_session(self, self->sessions);
    }
    free(self->added);
    free(self);
}

/* ---- time ---- */

void fby_directory_extend_leases(struct fby_directory *self, int64_t gap_ns)
{
    for (struct fby_dir_worker *w = self->workers; w != NULL; w = w->hh.next) {
        w->seen_ns += gap_ns;
    }
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        s->seen_ns += gap_ns;
        s->waits_until_ns += gap_ns;
    }
}

void fby_directory_tick(struct fby_directory *self, int64_t now_ns)
{
    fby_directory_expire_workers(self, now_ns);
    fby_directory_expire_sessions(self, now_ns);
    fby_directory_admit_waiting(self, now_ns);
}

int64_t fby_directory_deadline(const struct fby_directory *self)
{
    int64_t deadline_ns = INT64_MAX;
    int64_t expiry_ns = self->config.lease_ns + 1; /* first ns after a lease */
    for (struct fby_dir_worker *w = self->workers; w != NULL; w = w->hh.next) {
        deadline_ns = fby_earlier_ns(deadline_ns, w->seen_ns + expiry_ns);
    }
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        deadline_ns = fby_earlier_ns(deadline_ns, s->state == SESSION_WAITING
                                                      ? s->waits_until_ns
                                                      : s->seen_ns + expiry_ns);
    }
    return deadline_ns;
}

/* ---- due messages ---- */

static void fill_join_answer(
    const struct fby_dir_session *session, struct fby_message *out)
{
    if (session->state == SESSION_JOINED) {
        out->type   = FBY_MSG_JOINED;
        out->joined = (struct fby_joined){.session = {session->id},
            .data                                  = session->job->data,
            .fingerprint                           = session->job->fingerprint};
    } else {
        out->type         = FBY_MSG_JOIN_REFUSED;
        out->join_refused = (struct fby_join_refused){.session = {session->id},
            .code = session->refusal_code,
            .text = session->refusal};
    }
}

/* Collect in self->added up to MAX_ADDED workers whose serial number is above
 * *serial, and set *serial to that of the last one. Returns their number. The
 * table is in order of adding, so the serial numbers ascend. */
static size_t collect_added(struct fby_directory *self, uint64_t *serial)
{
    size_t n = 0;
    for (struct fby_dir_worker *w = self->workers; w != NULL && n < MAX_ADDED;
         w                        = w->hh.next) {
        if (w->serial > *serial) {
            self->added[n++] = (struct fby_worker_info){
                .instance  = {w->instance},
                .endpoints = {(const char *const *)w->endpoints,
                    w->n_endpoints},
                .host      = w->host,
            };
            *serial = w->serial;
        }
    }
    return n;
}

static void fill_workers(struct fby_directory *self,
    struct fby_dir_session *session, struct fby_message *out)
{
    bool   full  = session->sent_serial == 0;
    size_t n     = collect_added(self, &session->sent_serial);
    out->type    = FBY_MSG_WORKERS;
    out->workers = (struct fby_workers){
        .session     = {session->id},
        .sequence    = ++session->sequence,
        .is_complete = full,
        .added       = self->added,
        .n_added     = n,
    };
}

static bool has_new_workers(
    const struct fby_directory *self, const struct fby_dir_session *session)
{
    if (session->state != SESSION_JOINED || self->workers == NULL) {
        return false;
    }
    /* uthash appends, so the tail of the table is the newest worker. */
    const struct fby_dir_worker *newest =
        ELMT_FROM_HH(self->workers->hh.tbl, self->workers->hh.tbl->tail);
    return newest->serial > session->sent_serial;
}

/* Take one message that is due to the session; false when none is due. */
static bool take_due_message(struct fby_directory *self,
    struct fby_dir_session *session, struct fby_message *out)
{
    if (session->answer_due) {
        session->answer_due = false;
        fill_join_answer(session, out);
        return true;
    }
    if (has_new_workers(self, session)) {
        fill_workers(self, session, out);
        return true;
    }
    return false;
}

bool fby_directory_take_due(struct fby_directory *self, struct fby_message *out,
    struct fby_routing_id *to)
{
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        if (take_due_message(self, s, out)) {
            *to = s->route;
            return true;
        }
    }
    return false;
}

struct fby_directory_counts fby_directory_counts(
    const struct fby_directory *self)
{
    struct fby_directory_counts counts = self->counts;
    counts.workers                     = HASH_COUNT(self->workers);
    counts.sessions                    = HASH_COUNT(self->sessions);
    counts.jobs                        = HASH_COUNT(self->jobs);
    return counts;
}
