/* sessions.c - the sessions of the directory: ranks of a job, which must agree.
 *
 * The first session that joins sets the facts of the job (world size, seed,
 * content, start). The first session that knows a digest pins it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "server/directory_state.h"

static void set_state(struct fby_directory *self,
    struct fby_dir_session *session, enum session_state state)
{
    self->waiting -= session->state == SESSION_WAITING;
    self->waiting += state == SESSION_WAITING;
    session->state = state;
}

void fby_directory_remove_session(
    struct fby_directory *self, struct fby_dir_session *session)
{
    struct fby_dir_job *job = session->job;
    set_state(self, session, SESSION_NEW);
    fby_table_del_session(self, session);
    if (--job->sessions == 0) {
        fby_table_del_job(self, job);
        free(job->name);
        free(job->facts_host);
        free(job);
    }
    free(session->host);
    free(session);
}

/* ---- agreement of ranks ---- */

static void refuse(struct fby_directory *self, struct fby_dir_session *session,
    enum fby_join_refused_code code)
{
    set_state(self, session, SESSION_REFUSED);
    session->code       = code;
    session->answer_due = true;
    self->counts.refused++;
    fby_warn("JOIN-REFUSED", "%s", session->text);
}

static void describe_difference(struct fby_dir_session *session,
    const char *what, const char *mine, const char *theirs)
{
    snprintf(session->text, sizeof(session->text),
        "job '%s': %s %s on %s (rank %u) is not %s as on %s; all ranks of a "
        "job must agree",
        session->job->name, what, mine, session->host, session->rank, theirs,
        session->job->facts_host);
}

static bool same_number(struct fby_dir_session *session, const char *what,
    uint64_t mine, uint64_t theirs)
{
    char a[24];
    char b[24];
    if (mine == theirs) {
        return true;
    }
    snprintf(a, sizeof(a), "%" PRIu64, mine);
    snprintf(b, sizeof(b), "%" PRIu64, theirs);
    describe_difference(session, what, a, b);
    return false;
}

static bool same_digest(struct fby_dir_session *session, const char *what,
    const struct fby_digest *mine, const struct fby_digest *theirs)
{
    char a[65];
    char b[65];
    if (fby_digest_equal(mine, theirs)) {
        return true;
    }
    fby_hex(mine->bytes, sizeof(mine->bytes), a);
    fby_hex(theirs->bytes, sizeof(theirs->bytes), b);
    describe_difference(session, what, a, b);
    return false;
}

static bool same_start(
    struct fby_dir_session *session, const struct fby_join *facts)
{
    return same_number(
               session, "start epoch", session->asked.epoch, facts->epoch) &&
           same_number(session, "start step", session->asked.step, facts->step);
}

/* Pin a digest that the job does not have yet, else compare. */
static bool same_or_pin(struct fby_dir_session *session, const char *what,
    const struct fby_maybe_digest *mine, struct fby_maybe_digest *job)
{
    if (!mine->known) {
        return true;
    }
    if (!job->known) {
        *job = *mine;
        return true;
    }
    return same_digest(session, what, &mine->digest, &job->digest);
}

static bool agrees(struct fby_directory *self, struct fby_dir_session *session)
{
    struct fby_dir_job    *job   = session->job;
    const struct fby_join *mine  = &session->asked;
    const struct fby_join *facts = &job->facts;
    if (!same_number(session, "world size", mine->world, facts->world)) {
        refuse(self, session, FBY_JOIN_WORLD);
    } else if (!same_number(session, "seed", mine->seed, facts->seed)) {
        refuse(self, session, FBY_JOIN_SEED);
    } else if (!same_digest(session, "content digest", &mine->content,
                   &facts->content)) {
        refuse(self, session, FBY_JOIN_CONTENT);
    } else if (!same_start(session, facts)) {
        refuse(self, session, FBY_JOIN_START);
    } else if (!same_or_pin(session, "data digest", &mine->data, &job->data)) {
        refuse(self, session, FBY_JOIN_DATA);
    } else if (!same_or_pin(session, "fingerprint", &mine->fingerprint,
                   &job->fingerprint)) {
        refuse(self, session, FBY_JOIN_FINGERPRINT);
    }
    return session->state != SESSION_REFUSED;
}

/* ---- sessions ---- */

static struct fby_dir_session *find_in_job(struct fby_directory *self,
    const struct fby_dir_session *other, enum session_state state,
    bool same_rank)
{
    if (state == SESSION_WAITING && self->waiting == 0) {
        return NULL; /* the usual case of every renewal */
    }
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        if (s != other && s->job == other->job && s->state == state &&
            (s->rank == other->rank) == same_rank) {
            return s;
        }
    }
    return NULL;
}

static struct fby_dir_job *find_or_make_job(
    struct fby_directory *self, const struct fby_join *join)
{
    struct fby_dir_job *job = fby_table_job(self, join->job);
    if (job == NULL) {
        job       = fby_zalloc(sizeof(*job));
        job->name = fby_strdup(join->job);
        fby_table_add_job(self, job);
    }
    return job;
}

static struct fby_dir_session *make_session(
    struct fby_directory *self, const struct fby_join *join)
{
    struct fby_dir_session *session = fby_zalloc(sizeof(*session));
    session->id                     = join->session.value;
    session->host                   = fby_strdup(join->host);
    session->pid                    = join->pid;
    session->rank                   = join->rank;
    session->asked                  = *join;
    session->asked.job = session->asked.host = NULL;
    session->job                             = find_or_make_job(self, join);
    session->job->sessions++;
    fby_table_add_session(self, session);
    return session;
}

static void set_facts(const struct fby_dir_session *session)
{
    struct fby_dir_job *job = session->job;
    free(job->facts_host);
    job->facts       = session->asked;
    job->facts_host  = fby_strdup(session->host);
    job->data        = session->asked.data;
    job->fingerprint = session->asked.fingerprint;
}

/* The rank is free: join, unless the session differs from the other ranks. */
static void admit(struct fby_directory *self, struct fby_dir_session *session)
{
    if (find_in_job(self, session, SESSION_JOINED, false) == NULL) {
        set_facts(session);
    }
    if (agrees(self, session)) {
        set_state(self, session, SESSION_JOINED);
        session->answer_due = true;
    }
}

fby_err fby_directory_join(struct fby_directory *self,
    const struct fby_join *join, const struct fby_route *from, int64_t now_ns)
{
    struct fby_dir_session *session =
        fby_table_session(self, join->session.value);
    if (session == NULL) {
        if (HASH_COUNT(self->sessions) >= self->config.max_sessions) {
            return FBY_FULL;
        }
        session = make_session(self, join);
        if (find_in_job(self, session, SESSION_JOINED, true) != NULL) {
            set_state(self, session, SESSION_WAITING);
            session->waits_until_ns = now_ns + self->config.lease_ns;
        } else {
            admit(self, session);
        }
    } else {
        session->answer_due = session->state != SESSION_WAITING;
    }
    session->route        = *from;
    session->seen_ns      = now_ns;
    session->sent_version = 0;
    return FBY_OK;
}

/* The holder of a rank is alive: refuse sessions that wait for the rank. */
static void refuse_waiting(
    struct fby_directory *self, const struct fby_dir_session *holder)
{
    struct fby_dir_session *waiting = NULL;
    while (
        (waiting = find_in_job(self, holder, SESSION_WAITING, true)) != NULL) {
        snprintf(waiting->text, sizeof(waiting->text),
            "job '%s': rank %u is held by process %u on %s; stop that one, or "
            "use another --job",
            holder->job->name, holder->rank, holder->pid, holder->host);
        refuse(self, waiting, FBY_JOIN_TAKEN);
    }
}

static void check_digests(struct fby_directory *self,
    struct fby_dir_session *session, const struct fby_renew *renew)
{
    struct fby_dir_job *job = session->job;
    if (!same_or_pin(session, "data digest", &renew->data, &job->data)) {
        refuse(self, session, FBY_JOIN_DATA);
    } else if (!same_or_pin(session, "fingerprint", &renew->fingerprint,
                   &job->fingerprint)) {
        refuse(self, session, FBY_JOIN_FINGERPRINT);
    }
}

fby_err fby_directory_renew(struct fby_directory *self,
    const struct fby_renew *renew, const struct fby_route *from, int64_t now_ns)
{
    struct fby_dir_session *session =
        fby_table_session(self, renew->session.value);
    if (session == NULL) {
        return FBY_NOT_FOUND;
    }
    session->route   = *from;
    session->seen_ns = now_ns;
    if (session->state != SESSION_JOINED) {
        return FBY_OK;
    }
    if (renew->sequence != session->sequence) {
        session->sent_version = 0; /* a list was lost: send a full one */
    }
    refuse_waiting(self, session);
    check_digests(self, session, renew);
    return FBY_OK;
}

void fby_directory_quit(struct fby_directory *self, struct fby_session_id id)
{
    struct fby_dir_session *session = fby_table_session(self, id.value);
    if (session != NULL) {
        fby_directory_remove_session(self, session);
    }
}

static bool is_expired(const struct fby_directory *self,
    const struct fby_dir_session *s, int64_t now_ns)
{
    return now_ns - s->seen_ns > self->config.lease_ns &&
           s->state != SESSION_WAITING;
}

void fby_directory_expire_sessions(struct fby_directory *self, int64_t now_ns)
{
    struct fby_dir_session *next = NULL;
    for (struct fby_dir_session *session = self->sessions; session != NULL;
         session                         = next) {
        next = session->hh.next;
        if (is_expired(self, session, now_ns)) {
            fby_info("SESSION-LATE", "job '%s' rank %u on %s",
                session->job->name, session->rank, session->host);
            fby_directory_remove_session(self, session);
            self->counts.expired_sessions++;
        }
    }
}

/* Other sessions that wait for the rank now wait for its new holder. */
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

/* A waiting session whose rank is free, or whose holder did not renew during
 * the wait; such a holder is removed. */
static struct fby_dir_session *next_to_admit(
    struct fby_directory *self, int64_t now_ns)
{
    for (struct fby_dir_session *s = self->sessions; s != NULL;
         s                         = s->hh.next) {
        struct fby_dir_session *holder = NULL;
        if (s->state != SESSION_WAITING) {
            continue;
        }
        holder = find_in_job(self, s, SESSION_JOINED, true);
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
    while ((session = next_to_admit(self, now_ns)) != NULL) {
        session->seen_ns = now_ns;
        admit(self, session);
        restart_waits(self, session, now_ns);
    }
}
