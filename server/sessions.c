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

/* ---- the tables ---- */

/* Expansions of uthash and utlist:
 * NOLINTBEGIN(bugprone-*,clang-analyzer-*,performance-*,readability-*) */

struct fby_dir_session *fby_directory_find_session(
    const struct fby_directory *self, struct fby_session_id id)
{
    struct fby_dir_session *session = NULL;
    HASH_FIND(hh, self->sessions, &id.value, sizeof(id.value), session);
    return session;
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
    session->patience_ns            = self->config.lease_ns / 4;
    session->join.job               = NULL; /* borrowed from the message */
    session->join.host              = NULL;
    fby_directory_enter_job(self, session, join->job);
    HASH_ADD(hh, self->sessions, id, sizeof(session->id), session);
    return session;
}

void fby_directory_remove_session(
    struct fby_directory *self, struct fby_dir_session *session)
{
    fby_directory_set_state(self, session, SESSION_NEW); /* in no list now */
    fby_directory_set_answer_due(self, session, false);
    HASH_DELETE(hh, self->sessions, session);
    if (session->route.size > 0) {
        HASH_DELETE(hh_route, self->routes, session);
    }
    fby_directory_leave_job(self, session);
    free(session->unusable);
    free(session->host);
    free(session);
}

/* Let messages go to `route`. It has only this session from now on: another one
 * there is removed. So the number of sessions is limited by that of
 * connections. Returns true if the session had another route before. */
static bool set_route(struct fby_directory *self,
    struct fby_dir_session *session, const struct fby_routing_id *route)
{
    struct fby_dir_session *other = NULL;
    HASH_FIND(hh_route, self->routes, route->bytes, route->size, other);
    if (other == session) {
        return false;
    }
    if (other != NULL) {
        fby_directory_remove_session(self, other);
    }
    if (session->route.size > 0) {
        HASH_DELETE(hh_route, self->routes, session);
    }
    session->route = *route;
    HASH_ADD_KEYPTR(hh_route, self->routes, session->route.bytes,
        session->route.size, session);
    return true;
}

/* NOLINTEND(bugprone-*,clang-analyzer-*,performance-*,readability-*) */

/* ---- agreement of ranks ---- */

/* Refuse a session. session->refusal must have the cause already. */
static void refuse(struct fby_directory *self, struct fby_dir_session *session,
    enum fby_join_refused_code code)
{
    fby_directory_set_state(self, session, SESSION_REFUSED);
    session->refusal_code = code;
    fby_directory_set_answer_due(self, session, true);
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
    if (session->job->n_joined == 0) {
        set_facts(session); /* no other rank has set them */
    }
    refuse_if_facts_differ(self, session);
    if (session->state != SESSION_REFUSED) {
        fby_directory_set_state(self, session, SESSION_JOINED);
        fby_directory_set_answer_due(self, session, true);
    }
}

/* Admit a new session, or let it wait until its rank is free. */
static void admit_or_wait(
    struct fby_directory *self, struct fby_dir_session *session)
{
    if (session->rank_entry->holder != NULL) {
        fby_directory_set_state(self, session, SESSION_WAITING);
    } else {
        admit(self, session);
    }
}

/* A RENEW has the number of the last list that the client received, and a JOIN
 * has 0. Lists on a former route are lost. On the same route later ones may be
 * on their way: to send them again at once would make a slow connection slower,
 * until no list arrives before the next RENEW. */
static void repeat_lost_lists(struct fby_directory *self,
    struct fby_dir_session *session, uint64_t sequence, bool has_moved)
{
    if (!has_moved) {
        fby_directory_note_received(self, session, sequence);
    } else if (sequence != session->sequence) {
        fby_directory_send_full_list(self, session);
    }
}

/* A repeated JOIN: repeat the answer, if there is one yet. */
static void join_again(
    struct fby_directory *self, struct fby_dir_session *session, bool has_moved)
{
    if (session->state == SESSION_WAITING) {
        return;
    }
    fby_directory_set_answer_due(self, session, true);
    fby_directory_restart_lease(self, session);
    if (session->state == SESSION_JOINED) {
        repeat_lost_lists(self, session, 0, has_moved);
    }
}

fby_err fby_directory_join(struct fby_directory *self,
    const struct fby_join *join, const struct fby_routing_id *from,
    int64_t now_ns)
{
    struct fby_dir_session *session =
        fby_directory_find_session(self, join->session);
    fby_directory_set_time(self, now_ns);
    if (session != NULL) {
        join_again(self, session, set_route(self, session, from));
        return FBY_OK;
    }
    if (HASH_COUNT(self->sessions) >= self->config.max_sessions) {
        return FBY_FULL;
    }
    session = add_session(self, join);
    set_route(self, session, from);
    admit_or_wait(self, session);
    return FBY_OK;
}

/* Refuse the sessions that wait for the rank of `holder`, which is alive. */
static void refuse_waiting(
    struct fby_directory *self, const struct fby_dir_session *holder)
{
    struct fby_dir_session *waiting = NULL;
    while ((waiting = holder->rank_entry->waiting) != NULL) {
        snprintf(waiting->refusal, sizeof(waiting->refusal),
            "job '%s': rank %u is held by process %u on %s; stop that one, or "
            "use another --job",
            holder->job->name, holder->rank, holder->pid, holder->host);
        refuse(self, waiting, FBY_JOIN_TAKEN);
    }
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* Limit the numbers that a trainer sends: sums and ratios must stay finite. */
static struct fby_pace limit_pace(const struct fby_pace *told)
{
    const uint64_t  most = 1000000000; /* rows, or ms of all threads */
    struct fby_pace pace = *told;
    pace.rows            = at_most(pace.rows, most);
    pace.wait_ms         = (uint32_t)at_most(pace.wait_ms, pace.span_ms);
    pace.fetch_ms        = at_most(pace.fetch_ms, most);
    pace.transform_ms    = at_most(pace.transform_ms, most);
    pace.encode_ms       = at_most(pace.encode_ms, most);
    pace.cpu_ms          = at_most(pace.cpu_ms, most);
    return pace;
}

static void set_unusable(
    struct fby_dir_session *session, const struct fby_instance_ids *unusable)
{
    free(session->unusable);
    session->n_unusable = (uint32_t)unusable->n;
    session->unusable =
        unusable->n > 0
            ? fby_memdup(unusable->at, unusable->n * sizeof(*unusable->at))
            : NULL;
}

fby_err fby_directory_renew(struct fby_directory *self,
    const struct fby_renew *renew, const struct fby_routing_id *from,
    int64_t now_ns)
{
    struct fby_dir_session *session =
        fby_directory_find_session(self, renew->session);
    fby_directory_set_time(self, now_ns);
    if (session == NULL) {
        return FBY_NOT_FOUND;
    }
    bool has_moved = set_route(self, session, from);
    if (session->state == SESSION_WAITING) {
        return FBY_OK; /* only its wait counts */
    }
    fby_directory_restart_lease(self, session);
    if (session->state == SESSION_REFUSED) {
        return FBY_OK;
    }
    session->pace = limit_pace(&renew->pace);
    set_unusable(session, &renew->unusable);
    repeat_lost_lists(self, session, renew->sequence, has_moved);
    fby_directory_set_answer_due(self, session, true);
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

void fby_directory_expire_sessions(struct fby_directory *self)
{
    struct fby_dir_session *session = NULL;
    while ((session = self->session_leases) != NULL &&
           self->awake_ns - session->lease_ns > self->config.lease_ns) {
        fby_info("SESSION-LATE", "job '%s' rank %u on %s", session->job->name,
            session->rank, session->host);
        fby_directory_remove_session(self, session);
        self->counts.expired_sessions++;
    }
}

/* Let all sessions that wait for this rank wait for one lease from now, so that
 * its new holder has time to renew. */
static void restart_waits(
    struct fby_directory *self, const struct fby_dir_rank *rank)
{
    for (struct fby_dir_session *s = rank->waiting; s != NULL;
         s                         = s->rank_next) {
        fby_directory_restart_lease(self, s);
    }
}

/* Return a waiting session that can be admitted; NULL: none. If its wait is
 * over, the holder of its rank is removed. The holder did not renew during the
 * wait, since a renewal would have refused the session. */
static struct fby_dir_session *make_admissible(struct fby_directory *self)
{
    struct fby_dir_session *first = self->waits;
    if (self->vacant != NULL) {
        return self->vacant->waiting;
    }
    if (first == NULL ||
        self->awake_ns - first->lease_ns < self->config.lease_ns) {
        return NULL;
    }
    fby_directory_remove_session(self, first->rank_entry->holder);
    return first;
}

void fby_directory_admit_waiting(struct fby_directory *self)
{
    struct fby_dir_session *session = NULL;
    while ((session = make_admissible(self)) != NULL) {
        admit(self, session);
        restart_waits(self, session->rank_entry);
    }
}

/* ---- keys ---- */

void fby_directory_set_key(struct fby_directory *self, struct fby_session_id id,
    const struct fby_key *public_key)
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
        session->listed_ns = now_ns;
        fby_directory_list_all_again(self, session);
    }
}
