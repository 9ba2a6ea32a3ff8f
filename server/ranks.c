/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - jobs, their ranks, and the states of sessions. A rank is held by at
 * most one session, and others may wait for it. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "server/directory_state.h"

/* Expansions of uthash and utlist:
 * NOLINTBEGIN(bugprone-*,clang-analyzer-*,performance-*,readability-*) */

static struct fby_dir_job *find_or_add_job(
    struct fby_directory *self, const char *name)
{
    struct fby_dir_job *job = NULL;
    HASH_FIND_STR(self->jobs, name, job);
    if (job == NULL) {
        job       = fby_zalloc(sizeof(*job));
        job->name = fby_strdup(name);
        HASH_ADD_KEYPTR(hh, self->jobs, job->name, strlen(job->name), job);
    }
    return job;
}

static struct fby_dir_rank *find_or_add_rank(
    struct fby_directory *self, struct fby_dir_job *job, uint32_t number)
{
    const struct fby_dir_rank_key key  = {job, number};
    struct fby_dir_rank          *rank = NULL;
    HASH_FIND(hh, self->ranks, &key, sizeof(key), rank);
    if (rank == NULL) {
        rank      = fby_zalloc(sizeof(*rank));
        rank->key = key;
        HASH_ADD(hh, self->ranks, key, sizeof(rank->key), rank);
    }
    return rank;
}

void fby_directory_enter_job(struct fby_directory *self,
    struct fby_dir_session *session, const char *name)
{
    session->job        = find_or_add_job(self, name);
    session->rank_entry = find_or_add_rank(self, session->job, session->rank);
    session->job->n_sessions++;
    session->rank_entry->n_sessions++;
}

void fby_directory_leave_job(
    struct fby_directory *self, struct fby_dir_session *session)
{
    struct fby_dir_job  *job  = session->job;
    struct fby_dir_rank *rank = session->rank_entry;
    if (--rank->n_sessions == 0) {
        HASH_DEL(self->ranks, rank);
        free(rank);
    }
    if (--job->n_sessions == 0) {
        HASH_DEL(self->jobs, job);
        free(job->name);
        free(job->facts_host);
        free(job);
    }
}

/* NOLINTEND(bugprone-*,clang-analyzer-*,performance-*,readability-*) */

/* ---- states -------------------------------------------------------------- */

static void set_leases(
    struct fby_dir_session *session, struct fby_dir_session **leases)
{
    if (session->leases != NULL) {
        DL_DELETE(*session->leases, session);
    }
    session->leases = leases;
    if (leases != NULL) {
        DL_APPEND(*leases, session);
    }
}

void fby_directory_restart_lease(
    struct fby_directory *self, struct fby_dir_session *session)
{
    session->lease_ns = self->awake_ns;
    set_leases(session, session->state == SESSION_WAITING
                            ? &self->waits
                            : &self->session_leases);
}

/* Keep the list of vacant ranks: sessions wait for each, and none holds it. */
static void note_vacancy(struct fby_directory *self, struct fby_dir_rank *rank)
{
    bool is_vacant = rank->waiting != NULL && rank->holder == NULL;
    if (is_vacant && !rank->is_vacant) {
        DL_APPEND(self->vacant, rank);
    } else if (!is_vacant && rank->is_vacant) {
        DL_DELETE(self->vacant, rank);
    }
    rank->is_vacant = is_vacant;
}

static void leave_state(struct fby_dir_session *session)
{
    struct fby_dir_rank *rank = session->rank_entry;
    if (session->state == SESSION_WAITING) {
        DL_DELETE2(rank->waiting, session, rank_prev, rank_next);
    } else if (session->state == SESSION_JOINED) {
        rank->holder = NULL;
        session->job->n_joined--;
        fby_directory_end_lists(session);
    }
}

static void enter_state(
    struct fby_directory *self, struct fby_dir_session *session)
{
    struct fby_dir_rank *rank = session->rank_entry;
    if (session->state == SESSION_WAITING) {
        DL_APPEND2(rank->waiting, session, rank_prev, rank_next);
    } else if (session->state == SESSION_JOINED) {
        rank->holder = session;
        session->job->n_joined++;
        fby_directory_send_full_list(self, session);
    }
}

void fby_directory_set_state(struct fby_directory *self,
    struct fby_dir_session *session, enum session_state state)
{
    leave_state(session);
    session->state = state;
    enter_state(self, session);
    note_vacancy(self, session->rank_entry);
    if (state == SESSION_NEW) {
        set_leases(session, NULL);
    } else {
        fby_directory_restart_lease(self, session);
    }
}
