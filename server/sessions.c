/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.c - the sessions of the directory: join, renew, agree, remove.
 *
 * A job is one training run. Each of its trainer processes is a rank, and its
 * client joins the job with a session. All ranks of a job must agree: the first
 * session that joins sets the facts of the job (world size, seed, content
 * digest, start), and sessions with other facts are refused. The first
 * session that knows a data digest or fingerprint sets that of the job. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "server/directory_state.h"

/* Set the state, and keep n_waiting the number of waiting sessions. */
static void set_state(struct fby_directory *self,
    struct fby_dir_session *session, enum session_state state)
{
    self->n_waiting -= session->state == SESSION_WAITING;
    self->n_waiting += state == SESSION_WAITING;
    session->state = state;
}

/* ---- the tables ---- */

/* NOLINTBEGIN(bugprone-*,performance-*,readability-*): uthash's expansions */

struct fby_dir_session *fby_directory_find_session(
    const struct fby_directory *self, struct fby_session_id id)
{
    struct fby_dir_session *session = NULL;
    HASH_FIND(hh, self->sessions, &id.value, sizeof(id.value), session);
    return session;
}

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

static struct fby_dir_session *add_session(
    struct fby_directory *self, const struct fby_join *join)
{
    struct fby_dir_session *session = fby_zalloc(sizeof(*session));
    session->id                     = join->session.value;
    session->host                   = fby_strdup(join->host);
    session->pid                    = join->pid;
    session->rank                   = join->rank;
    session->join                   = *join;
    session->join.job               = NULL; /* borrowed from the message */
    session->join.host              = NULL;
    session->job                    = find_or_add_job(self, join->job);
    session->job->n_sessions++;
    HASH_ADD(hh, self->sessions, id, sizeof(session->id), session);
    return session;
}

void fby_directory_remove_session(
    struct fby_directory *self, struct fby_dir_session *session)
{
    struct fby_dir_job *job = session->job;
    set_state(self, session, SESSION_NEW); /* no longer counted in n_waiting */
    HASH_DEL(self->sessions, session);
    if (--job->n_sessions == 0) {
        HASH_DEL(self->jobs, job);
        free(job->name);
        free(job->facts_host);
        free(job);
    }
    free(session->host);
    free(session);
}

/* NOLINTEND(bugprone-*,performance-*,readability-*) */

/* ---- agreement of ranks ---- */

/* Refuse a session. session->refusal must have the cause already. */
static void refuse(struct fby_directory *self, struct fby_dir_session *session,
    enum fby_join_refused_code code)
{
    set_state(self, session, SESSION_REFUSED);
    session->refusal_code = code;
    session->answer_due   = true;
    self->counts.refused++;
    fby_warn("JOIN-REFUSED", "%s", session->refusal);
}

/* Set session->refusal: the value of `fact` is `mine`, in the job `theirs`. */
static void describe_difference(struct fby_dir_session *session,
    const char *fact, const char *mine, const char *theirs)
{
    snprintf(session->refusal, sizeof(session->refusal),
        "job '%s': %s %s on %s (rank %u) is not %s as on %s; all ranks of a "
        "job must agree",
        session->job->name, fact, mine, session->host, session->rank, theirs,
        session->job->facts_host);
}

/* True if both are equal. If not, session->refusal says how they differ. */
static bool numbers_match(struct fby_dir_session *session, const char *fact,
    uint64_t mine, uint64_t theirs)
{
    char mine_text[24]; /* up to 20 digits */
    char theirs_text[24];
    if (mine == theirs) {
        return true;
    }
    snprintf(mine_text, sizeof(mine_text), "%" PRIu64, mine);
    snprintf(theirs_text, sizeof(theirs_text), "%" PRIu64, theirs);
    describe_difference(session, fact, mine_text, theirs_text);
    return false;
}

/* True if both are equal. If not, session->refusal says how they differ. */
static bool digests_match(struct fby_dir_session *session, const char *fact,
    const struct fby_digest *mine, const struct fby_digest *theirs)
{
    char mine_hex[2 * sizeof(mine->bytes) + 1];
    char theirs_hex[2 * sizeof(theirs->bytes) + 1];
    if (fby_digest_equal(mine, theirs)) {
        return true;
    }
    fby_hex(mine->bytes, sizeof(mine->bytes), mine_hex);
    fby_hex(theirs->bytes, sizeof(theirs->bytes), theirs_hex);
    describe_difference(session, fact, mine_hex, theirs_hex);
    return false;
}

/* True if the session's digest `mine` is unknown, or equals that of the job. If
 * the job's digest is unknown, sets it to `mine`. */
static bool set_or_match_digest(struct fby_dir_session *session,
    const char *fact, const struct fby_maybe_digest *mine,
    struct fby_maybe_digest *theirs)
{
    if (!mine->known) {
        return true; /* checked when the session knows its digest */
    }
    if (!theirs->known) {
        *theirs = *mine;
        return true;
    }
    return digests_match(session, fact, &mine->digest, &theirs->digest);
}

/* Set digests that the job lacks. Refuse `session` if it has others. */
static void set_or_check_digests(struct fby_directory *self,
    struct fby_dir_session *session, const struct fby_maybe_digest *data,
    const struct fby_maybe_digest *fingerprint)
{
    struct fby_dir_job *job = session->job;
    if (!set_or_match_digest(session, "data digest", data, &job->data)) {
        refuse(self, session, FBY_JOIN_DATA);
    } else if (!set_or_match_digest(
                   session, "fingerprint", fingerprint, &job->fingerprint)) {
        refuse(self, session, FBY_JOIN_FINGERPRINT);
    }
}

/* Refuse `session` if a fact or digest differs from that of its job. */
static void refuse_if_facts_differ(
    struct fby_directory *self, struct fby_dir_session *session)
{
    const struct fby_join *mine  = &session->join;
    const struct fby_join *facts = &session->job->facts;
    if (!numbers_match(session, "world size", mine->world, facts->world)) {
        refuse(self, session, FBY_JOIN_WORLD);
    } else if (!numbers_match(session, "seed", mine->seed, facts->seed)) {
        refuse(self, session, FBY_JOIN_SEED);
    } else if (!digests_match(session, "content digest", &mine->content,
                   &facts->content)) {
        refuse(self, session, FBY_JOIN_CONTENT);
    } else if (!numbers_match(
                   session, "start epoch", mine->epoch, facts->epoch) ||
               !numbers_match(session, "start step", mine->step, facts->step)) {
        refuse(self, session, FBY_JOIN_START);
    } else {
        set_or_check_digests(self, session, &mine->data, &mine->fingerprint);
    }
}

/* ---- sessions ---- */

enum which_rank { SAME_RANK, ANOTHER_RANK };

/* Another session of the job, in `state`, of the same or another rank. */
static struct fby_dir_session *find_in_job(struct fby_directory *self,
    const struct fby_dir_session *session, enum session_state state,
    enum which_rank which)
{
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): removed ones are unlinked */
        bool same_rank = s->rank == session->rank;
        if (s != session && s->job == session->job && s->state == state &&
            same_rank == (which == SAME_RANK)) {
            return s;
        }
    }
    return NULL;
}

/* The session that holds the rank of `session`; NULL: none. */
static struct fby_dir_session *find_holder(
    struct fby_directory *self, const struct fby_dir_session *session)
{
    return find_in_job(self, session, SESSION_JOINED, SAME_RANK);
}

/* A session that waits for the rank of `holder`; NULL: none, the usual case. */
static struct fby_dir_session *find_waiting(
    struct fby_directory *self, const struct fby_dir_session *holder)
{
    return self->n_waiting > 0
               ? find_in_job(self, holder, SESSION_WAITING, SAME_RANK)
               : NULL;
}

static void set_facts(const struct fby_dir_session *session)
{
    struct fby_dir_job *job = session->job;
    free(job->facts_host);
    job->facts       = session->join;
    job->facts_host  = fby_strdup(session->host);
    job->data        = session->join.data;
    job->fingerprint = session->join.fingerprint;
}

/* Let a session whose rank is free join, unless its facts differ from those of
 * other ranks. */
static void admit(struct fby_directory *self, struct fby_dir_session *session)
{
    if (find_in_job(self, session, SESSION_JOINED, ANOTHER_RANK) == NULL) {
        set_facts(session); /* no other rank has set them */
    }
    refuse_if_facts_differ(self, session);
    if (session->state != SESSION_REFUSED) {
        set_state(self, session, SESSION_JOINED);
        session->answer_due = true;
    }
}

fby_err fby_directory_join(struct fby_directory *self,
    const struct fby_join *join, const struct fby_routing_id *from,
    int64_t now_ns)
{
    struct fby_dir_session *session =
        fby_directory_find_session(self, join->session);
    if (session == NULL) {
        if (HASH_COUNT(self->sessions) >= self->config.max_sessions) {
            return FBY_FULL;
        }
        session = add_session(self, join);
        if (find_holder(self, session) != NULL) {
            set_state(self, session, SESSION_WAITING);
            session->waits_until_ns = now_ns + self->config.lease_ns;
        } else {
            admit(self, session);
        }
    } else { /* a repeated request: repeat the answer, if there is one yet */
        session->answer_due = session->state != SESSION_WAITING;
    }
    session->route       = *from;
    session->seen_ns     = now_ns;
    session->sent_serial = 0; /* send a full list of workers */
    return FBY_OK;
}

/* Refuse the sessions that wait for the rank of `holder`, which is alive. */
static void refuse_waiting(
    struct fby_directory *self, const struct fby_dir_session *holder)
{
    struct fby_dir_session *waiting = NULL;
    while ((waiting = find_waiting(self, holder)) != NULL) {
        snprintf(waiting->refusal, sizeof(waiting->refusal),
            "job '%s': rank %u is held by process %u on %s; stop that one, or "
            "use another --job",
            holder->job->name, holder->rank, holder->pid, holder->host);
        refuse(self, waiting, FBY_JOIN_TAKEN);
    }
}

fby_err fby_directory_renew(struct fby_directory *self,
    const struct fby_renew *renew, const struct fby_routing_id *from,
    int64_t now_ns)
{
    struct fby_dir_session *session =
        fby_directory_find_session(self, renew->session);
    if (session == NULL) {
        return FBY_NOT_FOUND;
    }
    session->route   = *from;
    session->seen_ns = now_ns;
    if (session->state != SESSION_JOINED) {
        return FBY_OK; /* waiting or refused: only the lease is renewed */
    }
    if (renew->sequence != session->sequence) {
        session->sent_serial = 0; /* a list was lost: send a full one */
    }
    refuse_waiting(self, session);
    set_or_check_digests(self, session, &renew->data, &renew->fingerprint);
    return FBY_OK;
}

void fby_directory_quit(struct fby_directory *self, struct fby_session_id id)
{
    struct fby_dir_session *session = fby_directory_find_session(self, id);
    if (session != NULL) {
        fby_directory_remove_session(self, session);
    }
}

void fby_directory_expire_sessions(struct fby_directory *self, int64_t now_ns)
{
    struct fby_dir_session *next = NULL;
    for (struct fby_dir_session *session = self->sessions; session != NULL;
         session                         = next) {
        next = session->hh.next; /* read before `session` may be freed */
        if (now_ns - session->seen_ns > self->config.lease_ns &&
            session->state != SESSION_WAITING) { /* its own deadline applies */
            fby_info("SESSION-LATE", "job '%s' rank %u on %s",
                session->job->name, session->rank, session->host);
            fby_directory_remove_session(self, session);
            self->counts.expired_sessions++;
        }
    }
}

/* Let sessions that wait for the rank of the new `holder` wait for one lease
 * from now, so that the holder has time to renew. */
static void restart_waits(struct fby_directory *self,
    const struct fby_dir_session *holder, int64_t now_ns)
{
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        if (s->state == SESSION_WAITING && s->job == holder->job &&
            s->rank == holder->rank) {
            s->waits_until_ns = now_ns + self->config.lease_ns;
        }
    }
}

/* Return a waiting session that can be admitted; NULL: none. If its wait is
 * over, the holder of its rank is removed. The holder did not renew during the
 * wait, since a renewal would have refused the session. */
static struct fby_dir_session *make_admissible(
    struct fby_directory *self, int64_t now_ns)
{
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        struct fby_dir_session *holder = NULL;
        if (s->state != SESSION_WAITING) {
            continue;
        }
        holder = find_holder(self, s);
        if (holder == NULL) {
            return s;
        }
        if (now_ns >= s->waits_until_ns) {
            fby_directory_remove_session(self, holder);
            return s;
        }
    }
    return NULL;
}

void fby_directory_admit_waiting(struct fby_directory *self, int64_t now_ns)
{
    struct fby_dir_session *session = NULL;
    while ((session = make_admissible(self, now_ns)) != NULL) {
        session->seen_ns = now_ns;
        admit(self, session);
        restart_waits(self, session, now_ns);
    }
}

/* ---- keys ---- */

void fby_directory_set_key(struct fby_directory *self, struct fby_session_id id,
    const struct fby_digest *public_key)
{
    struct fby_dir_session *session = fby_directory_find_session(self, id);
    if (session != NULL) {
        session->has_key    = true;
        session->public_key = *public_key;
    }
}

bool fby_directory_find_admitted(const struct fby_directory *self,
    struct fby_session_id id, struct fby_dir_admitted *out)
{
    const struct fby_dir_session *session =
        fby_directory_find_session(self, id);
    bool known = session != NULL && session->has_key;
    if (known) {
        *out = (struct fby_dir_admitted){
            id, session->job->name, session->public_key};
    }
    return known;
}

void fby_directory_renew_tickets(struct fby_directory *self,
    struct fby_session_id id, int64_t age_ns, int64_t now_ns)
{
    struct fby_dir_session *session = fby_directory_find_session(self, id);
    if (session == NULL || !session->has_key) {
        return;
    }
    if (session->listed_ns == 0) {
        session->listed_ns = now_ns; /* of the list that JOIN made due */
    } else if (now_ns - session->listed_ns > age_ns) {
        session->listed_ns   = now_ns;
        session->sent_serial = 0;
    }
}
