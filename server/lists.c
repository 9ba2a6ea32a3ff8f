/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c - the messages that are due to sessions: answers to JOIN at once, and
 * lists of workers at most once in LIST_PACE_NS for each session.
 *
 * A session that may get a list now is `behind`. One that had all workers when
 * its last list was made is `current`. Both lists are in the order of the last
 * WORKERS message. So if the first session of `current` lacks no worker, none
 * of them does. */
#include "common/clock.h"
#include "server/directory_state.h"

#define LIST_PACE_NS (50 * FBY_NS_PER_MS)

void fby_directory_set_answer_due(
    struct fby_directory *self, struct fby_dir_session *session, bool is_due)
{
    if (is_due && !session->answer_due) {
        DL_APPEND2(self->answers, session, answer_prev, answer_next);
    } else if (!is_due && session->answer_due) {
        DL_DELETE2(self->answers, session, answer_prev, answer_next);
    }
    session->answer_due = is_due;
}

static void set_lists(
    struct fby_dir_session *session, struct fby_dir_session **lists)
{
    if (session->lists != NULL) {
        DL_DELETE2(*session->lists, session, lists_prev, lists_next);
    }
    session->lists = lists;
    if (lists != NULL) {
        DL_APPEND2(*lists, session, lists_prev, lists_next);
    }
}

void fby_directory_send_full_list(
    struct fby_directory *self, struct fby_dir_session *session)
{
    session->full_due    = true;
    session->sent_serial = 0;
    set_lists(session, &self->behind);
}

void fby_directory_note_received(struct fby_directory *self,
    struct fby_dir_session *session, uint64_t sequence)
{
    if (sequence == session->sequence) {
        session->patience_ns = self->config.lease_ns / 4;
    }
    if (sequence == session->sequence || sequence != session->received) {
        session->received  = sequence;
        session->unseen_ns = self->awake_ns;
    } else if (self->awake_ns - session->unseen_ns >= session->patience_ns) {
        session->unseen_ns = self->awake_ns;
        session->patience_ns =
            fby_earlier_ns(2 * session->patience_ns, self->config.lease_ns);
        fby_directory_send_full_list(self, session);
    }
}

void fby_directory_list_all_again(
    struct fby_directory *self, struct fby_dir_session *session)
{
    session->sent_serial = 0;
    set_lists(session, &self->behind);
}

void fby_directory_end_lists(struct fby_dir_session *session)
{
    set_lists(session, NULL);
}

/* The session that is the next to get a list; NULL: none lacks a worker. */
static struct fby_dir_session *next_for_list(const struct fby_directory *self)
{
    struct fby_dir_session *behind  = self->behind;
    struct fby_dir_session *current = self->current;
    if (self->last_serial == 0) {
        return NULL; /* no worker has registered yet */
    }
    if (current == NULL || current->sent_serial == self->last_serial) {
        return behind;
    }
    return behind == NULL || current->list_due_ns < behind->list_due_ns
               ? current
               : behind;
}

int64_t fby_directory_lists_deadline(const struct fby_directory *self)
{
    const struct fby_dir_session *next = next_for_list(self);
    if (self->answers != NULL) {
        return self->awake_ns;
    }
    return next != NULL ? next->list_due_ns : INT64_MAX;
}

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

/* Make the next list of a session; false if there is no worker to list. */
static bool fill_workers(struct fby_directory *self,
    struct fby_dir_session *session, struct fby_message *out)
{
    size_t n = fby_directory_collect_added(self, &session->sent_serial);
    set_lists(session, session->sent_serial < self->last_serial
                           ? &self->behind
                           : &self->current);
    if (n == 0) {
        return false;
    }
    if (session->sequence == session->received) {
        session->unseen_ns = self->awake_ns;
    }
    session->list_due_ns = self->awake_ns + LIST_PACE_NS;
    out->type            = FBY_MSG_WORKERS;
    out->workers         = (struct fby_workers){
                .session     = {session->id},
                .sequence    = ++session->sequence,
                .is_complete = session->full_due,
                .added       = self->added,
                .n_added     = n,
    };
    session->full_due = false;
    return true;
}

bool fby_directory_take_due(struct fby_directory *self, struct fby_message *out,
    struct fby_routing_id *to)
{
    struct fby_dir_session *session = self->answers;
    if (session != NULL) {
        fby_directory_set_answer_due(self, session, false);
        fill_join_answer(session, out);
        *to = session->route;
        return true;
    }
    while ((session = next_for_list(self)) != NULL &&
           session->list_due_ns <= self->awake_ns) {
        if (fill_workers(self, session, out)) {
            *to = session->route;
            return true;
        }
    }
    return false;
}
