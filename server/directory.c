#include "server/directory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/log.h"
#include "common/mem.h"

enum { MAX_DELTA = 1024 }; /* entries of one WORKERS message */

struct worker {
    uint64_t       instance; /* key */
    char          *host;
    char         **endpoints;
    size_t         n_endpoints;
    uint64_t       version; /* of the directory when it was added */
    int64_t        seen_ns;
    UT_hash_handle hh;
};

enum session_state {
    SESSION_WAITING, /* another session holds its rank */
    SESSION_JOINED,
    SESSION_REFUSED /* forgotten once it was told */
};

struct job;

struct session {
    uint64_t                   id; /* key */
    enum session_state         state;
    struct job                *job;
    char                      *host;
    uint32_t                   pid;
    uint32_t                   rank;
    int64_t                    seen_ns;
    int64_t                    waits_until_ns; /* WAITING */
    struct fby_join            asked;          /* its pointers are not kept */
    bool                       answer_due;
    enum fby_join_refused_code code; /* REFUSED */
    char                       text[512];
    uint64_t                   told_version; /* of the directory */
    uint64_t                   sequence;     /* of lists sent */
    UT_hash_handle             hh;
};

struct job {
    char                   *name; /* key */
    struct fby_join         facts;
    char                   *said_by; /* host of who said them */
    struct fby_maybe_digest data, fingerprint;
    uint32_t                sessions; /* of any state */
    UT_hash_handle          hh;
};

struct fby_directory {
    struct fby_directory_config config;
    struct worker              *workers;
    struct session             *sessions;
    struct job                 *jobs;
    uint64_t                    version; /* grows with each new worker */
    struct fby_directory_counts counts;
    struct fby_worker_info     *delta; /* of the last WORKERS message */
};

/* ---- making and freeing ---- */

struct fby_directory *fby_directory_create(
    const struct fby_directory_config *config)
{
    struct fby_directory *self = fby_zalloc(sizeof(*self));
    self->config               = *config;
    self->delta                = fby_zalloc(MAX_DELTA * sizeof(*self->delta));
    return self;
}

static void forget_worker(struct fby_directory *self, struct worker *worker)
{
    HASH_DEL(self->workers, worker);
    for (size_t i = 0; i < worker->n_endpoints; i++) {
        free(worker->endpoints[i]);
    }
    free(worker->endpoints);
    free(worker->host);
    free(worker);
}

static void forget_session(struct fby_directory *self, struct session *session)
{
    struct job *job = session->job;
    HASH_DEL(self->sessions, session);
    if (--job->sessions == 0) {
        HASH_DEL(self->jobs, job);
        free(job->name);
        free(job->said_by);
        free(job);
    }
    free(session->host);
    free(session);
}

void fby_directory_destroy(struct fby_directory **self_p)
{
    struct fby_directory *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    while (self->workers != NULL) {
        forget_worker(self, self->workers);
    }
    while (self->sessions != NULL) {
        forget_session(self, self->sessions);
    }
    free(self->delta);
    free(self);
}

/* ---- workers ---- */

static struct worker *find_worker(
    const struct fby_directory *self, uint64_t instance)
{
    struct worker *worker = NULL;
    HASH_FIND(hh, self->workers, &instance, sizeof(instance), worker);
    return worker;
}

static struct worker *copy_worker(const struct fby_register *told)
{
    struct worker *worker = fby_zalloc(sizeof(*worker));
    worker->instance      = told->instance.value;
    worker->host          = fby_strdup(told->host);
    worker->n_endpoints   = told->endpoints.n;
    worker->endpoints     = fby_zalloc(told->endpoints.n * sizeof(char *));
    for (size_t i = 0; i < told->endpoints.n; i++) {
        worker->endpoints[i] = fby_strdup(told->endpoints.at[i]);
    }
    return worker;
}

fby_err fby_directory_register(
    struct fby_directory *self, const struct fby_register *told, int64_t now_ns)
{
    struct worker *worker = find_worker(self, told->instance.value);
    if (worker == NULL) {
        if (HASH_COUNT(self->workers) >= self->config.max_workers) {
            return FBY_FULL;
        }
        worker          = copy_worker(told);
        worker->version = ++self->version;
        HASH_ADD(hh, self->workers, instance, sizeof(worker->instance), worker);
        fby_info("WORKER-NEW", "%s at %s on %s",
            fby_id_text(worker->instance).text,
            worker->n_endpoints > 0 ? worker->endpoints[0] : "?", worker->host);
    }
    worker->seen_ns = now_ns;
    return FBY_OK;
}

fby_err fby_directory_heartbeat(
    struct fby_directory *self, struct fby_instance_id instance, int64_t now_ns)
{
    struct worker *worker = find_worker(self, instance.value);
    if (worker == NULL) {
        return FBY_NOT_FOUND;
    }
    worker->seen_ns = now_ns;
    return FBY_OK;
}

void fby_directory_deregister(
    struct fby_directory *self, struct fby_instance_id instance)
{
    struct worker *worker = find_worker(self, instance.value);
    if (worker != NULL) {
        fby_info("WORKER-LEFT", "%s on %s", fby_id_text(instance.value).text,
            worker->host);
        forget_worker(self, worker);
    }
}

void fby_directory_unreachable(
    struct fby_directory *self, struct fby_instance_id instance)
{
    const struct worker *worker = find_worker(self, instance.value);
    self->counts.unreachable++;
    fby_warn("WORKER-UNREACHABLE", "%s on %s: a client cannot connect to it",
        fby_id_text(instance.value).text,
        worker != NULL ? worker->host : "a host no longer known");
}

/* ---- sessions: what must agree ---- */

static void refuse(struct fby_directory *self, struct session *session,
    enum fby_join_refused_code code)
{
    session->state      = SESSION_REFUSED;
    session->code       = code;
    session->answer_due = true;
    self->counts.refused++;
    fby_warn("JOIN-REFUSED", "%s", session->text);
}

static void say_differs(struct session *session, const char *what,
    const char *mine, const char *theirs)
{
    snprintf(session->text, sizeof(session->text),
        "job '%s': %s %s on %s (rank %u) is not %s as on %s; all ranks of a "
        "job must agree",
        session->job->name, what, mine, session->host, session->rank, theirs,
        session->job->said_by);
}

static bool same_number(
    struct session *session, const char *what, uint64_t mine, uint64_t theirs)
{
    char a[24];
    char b[24];
    if (mine == theirs) {
        return true;
    }
    snprintf(a, sizeof(a), "%" PRIu64, mine);
    snprintf(b, sizeof(b), "%" PRIu64, theirs);
    say_differs(session, what, a, b);
    return false;
}

static bool same_digest(struct session *session, const char *what,
    const struct fby_digest *mine, const struct fby_digest *theirs)
{
    char a[65];
    char b[65];
    if (fby_digest_equal(mine, theirs)) {
        return true;
    }
    fby_hex(mine->bytes, sizeof(mine->bytes), a);
    fby_hex(theirs->bytes, sizeof(theirs->bytes), b);
    say_differs(session, what, a, b);
    return false;
}

static bool same_start(struct session *session, const struct fby_join *facts)
{
    return same_number(
               session, "start epoch", session->asked.epoch, facts->epoch) &&
           same_number(session, "start step", session->asked.step, facts->step);
}

/* A digest is pinned by the first session that knows it. */
static bool same_or_pin(struct session *session, const char *what,
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

static bool agrees(struct fby_directory *self, struct session *session)
{
    struct job            *job   = session->job;
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

static struct session *find_session(
    const struct fby_directory *self, uint64_t id)
{
    struct session *session = NULL;
    HASH_FIND(hh, self->sessions, &id, sizeof(id), session);
    return session;
}

static struct session *find_in_job(struct fby_directory *self,
    const struct session *other, enum session_state state, bool same_rank)
{
    for (struct session *s = self->sessions; s != NULL; s = s->hh.next) {
        if (s != other && s->job == other->job && s->state == state &&
            (s->rank == other->rank) == same_rank) {
            return s;
        }
    }
    return NULL;
}

static struct job *find_or_make_job(
    struct fby_directory *self, const struct fby_join *join)
{
    struct job *job = NULL;
    HASH_FIND_STR(self->jobs, join->job, job);
    if (job == NULL) {
        job       = fby_zalloc(sizeof(*job));
        job->name = fby_strdup(join->job);
        HASH_ADD_KEYPTR(hh, self->jobs, job->name, strlen(job->name), job);
    }
    return job;
}

static struct session *make_session(
    struct fby_directory *self, const struct fby_join *join)
{
    struct session *session = fby_zalloc(sizeof(*session));
    session->id             = join->session.value;
    session->host           = fby_strdup(join->host);
    session->pid            = join->pid;
    session->rank           = join->rank;
    session->asked          = *join;
    session->asked.job = session->asked.host = NULL;
    session->job                             = find_or_make_job(self, join);
    session->job->sessions++;
    HASH_ADD(hh, self->sessions, id, sizeof(session->id), session);
    return session;
}

static void set_facts(const struct session *session)
{
    struct job *job = session->job;
    free(job->said_by);
    job->facts       = session->asked;
    job->said_by     = fby_strdup(session->host);
    job->data        = session->asked.data;
    job->fingerprint = session->asked.fingerprint;
}

/* The rank is free: join unless it differs from the job's other ranks. */
static void admit(struct fby_directory *self, struct session *session)
{
    if (find_in_job(self, session, SESSION_JOINED, false) == NULL) {
        set_facts(session);
    }
    if (agrees(self, session)) {
        session->state      = SESSION_JOINED;
        session->answer_due = true;
    }
}

fby_err fby_directory_join(
    struct fby_directory *self, const struct fby_join *join, int64_t now_ns)
{
    struct session *session = find_session(self, join->session.value);
    if (session == NULL) {
        if (HASH_COUNT(self->sessions) >= self->config.max_sessions) {
            return FBY_FULL;
        }
        session = make_session(self, join);
        if (find_in_job(self, session, SESSION_JOINED, true) != NULL) {
            session->state          = SESSION_WAITING;
            session->waits_until_ns = now_ns + self->config.lease_ns;
        } else {
            admit(self, session);
        }
    } else {
        session->answer_due = session->state != SESSION_WAITING;
    }
    session->seen_ns      = now_ns;
    session->told_version = 0;
    return FBY_OK;
}

/* The holder of a rank is alive: whoever waits for the rank is refused. */
static void refuse_waiting(
    struct fby_directory *self, const struct session *holder)
{
    struct session *waiting = NULL;
    while (
        (waiting = find_in_job(self, holder, SESSION_WAITING, true)) != NULL) {
        snprintf(waiting->text, sizeof(waiting->text),
            "job '%s': rank %u is held by process %u on %s; stop that one, or "
            "use another --job",
            holder->job->name, holder->rank, holder->pid, holder->host);
        refuse(self, waiting, FBY_JOIN_TAKEN);
    }
}

static void check_pins(struct fby_directory *self, struct session *session,
    const struct fby_renew *renew)
{
    struct job *job = session->job;
    if (!same_or_pin(session, "data digest", &renew->data, &job->data)) {
        refuse(self, session, FBY_JOIN_DATA);
    } else if (!same_or_pin(session, "fingerprint", &renew->fingerprint,
                   &job->fingerprint)) {
        refuse(self, session, FBY_JOIN_FINGERPRINT);
    }
}

fby_err fby_directory_renew(
    struct fby_directory *self, const struct fby_renew *renew, int64_t now_ns)
{
    struct session *session = find_session(self, renew->session.value);
    if (session == NULL) {
        return FBY_NOT_FOUND;
    }
    session->seen_ns = now_ns;
    if (session->state != SESSION_JOINED) {
        return FBY_OK;
    }
    if (renew->sequence != session->sequence) {
        session->told_version = 0; /* a list was lost: tell it all again */
    }
    refuse_waiting(self, session);
    check_pins(self, session, renew);
    return FBY_OK;
}

void fby_directory_quit(struct fby_directory *self, struct fby_session_id id)
{
    struct session *session = find_session(self, id.value);
    if (session != NULL) {
        forget_session(self, session);
    }
}

bool fby_directory_knows(
    const struct fby_directory *self, struct fby_session_id id)
{
    return find_session(self, id.value) != NULL;
}

/* ---- time ---- */

static void expire_workers(struct fby_directory *self, int64_t now_ns)
{
    struct worker *worker = NULL;
    struct worker *next   = NULL;
    HASH_ITER(hh, self->workers, worker, next)
    {
        if (now_ns - worker->seen_ns > self->config.lease_ns) {
            fby_warn("WORKER-LATE", "%s on %s: no heartbeat for %.1f s",
                fby_id_text(worker->instance).text, worker->host,
                (double)(now_ns - worker->seen_ns) / 1e9);
            forget_worker(self, worker);
            self->counts.expired_workers++;
        }
    }
}

static bool is_expired(
    const struct fby_directory *self, const struct session *s, int64_t now_ns)
{
    return now_ns - s->seen_ns > self->config.lease_ns &&
           s->state != SESSION_WAITING;
}

static void expire_sessions(struct fby_directory *self, int64_t now_ns)
{
    struct session *session = NULL;
    struct session *next    = NULL;
    HASH_ITER(hh, self->sessions, session, next)
    {
        if (is_expired(self, session, now_ns)) {
            fby_info("SESSION-LATE", "job '%s' rank %u on %s",
                session->job->name, session->rank, session->host);
            forget_session(self, session);
            self->counts.expired_sessions++;
        }
    }
}

static void admit_waiting(struct fby_directory *self, int64_t now_ns)
{
    for (struct session *s = self->sessions; s != NULL; s = s->hh.next) {
        if (s->state != SESSION_WAITING) {
            continue;
        }
        struct session *holder = find_in_job(self, s, SESSION_JOINED, true);
        if (holder == NULL || now_ns >= s->waits_until_ns) {
            if (holder != NULL) {
                forget_session(self, holder);
            }
            s->seen_ns = now_ns;
            admit(self, s);
            return; /* the list has changed; the next tick goes on */
        }
    }
}

void fby_directory_shift(struct fby_directory *self, int64_t gap_ns)
{
    for (struct worker *w = self->workers; w != NULL; w = w->hh.next) {
        w->seen_ns += gap_ns;
    }
    for (struct session *s = self->sessions; s != NULL; s = s->hh.next) {
        s->seen_ns += gap_ns;
        s->waits_until_ns += gap_ns;
    }
}

void fby_directory_tick(struct fby_directory *self, int64_t now_ns)
{
    expire_workers(self, now_ns);
    expire_sessions(self, now_ns);
    admit_waiting(self, now_ns);
}

static void earlier(int64_t *deadline_ns, int64_t other_ns)
{
    if (other_ns < *deadline_ns) {
        *deadline_ns = other_ns;
    }
}

int64_t fby_directory_deadline(const struct fby_directory *self)
{
    int64_t deadline_ns = INT64_MAX;
    int64_t lease_ns    = self->config.lease_ns + 1;
    for (struct worker *w = self->workers; w != NULL; w = w->hh.next) {
        earlier(&deadline_ns, w->seen_ns + lease_ns);
    }
    for (struct session *s = self->sessions; s != NULL; s = s->hh.next) {
        earlier(&deadline_ns, s->state == SESSION_WAITING
                                  ? s->waits_until_ns
                                  : s->seen_ns + lease_ns);
    }
    return deadline_ns;
}

/* ---- answers ---- */

static void fill_joined(const struct session *session, struct fby_message *out)
{
    out->type   = FBY_MSG_JOINED;
    out->joined = (struct fby_joined){
        .session     = {session->id},
        .data        = session->job->data,
        .fingerprint = session->job->fingerprint,
    };
}

static void fill_refused(const struct session *session, struct fby_message *out)
{
    out->type         = FBY_MSG_JOIN_REFUSED;
    out->join_refused = (struct fby_join_refused){
        .session = {session->id}, .code = session->code, .text = session->text};
}

/* Workers newer than `version`, oldest first, as many as fit a message. */
static size_t collect_delta(struct fby_directory *self, uint64_t *version)
{
    size_t   n     = 0;
    uint64_t since = *version;
    for (struct worker *w = self->workers; w != NULL && n < MAX_DELTA;
         w                = w->hh.next) {
        if (w->version > since) {
            self->delta[n++] = (struct fby_worker_info){
                .instance  = {w->instance},
                .endpoints = {(const char *const *)w->endpoints,
                    w->n_endpoints},
                .host      = w->host,
            };
            *version = w->version;
        }
    }
    return n;
}

static void fill_workers(struct fby_directory *self, struct session *session,
    struct fby_message *out)
{
    bool   full  = session->told_version == 0;
    size_t n     = collect_delta(self, &session->told_version);
    out->type    = FBY_MSG_WORKERS;
    out->workers = (struct fby_workers){
        .session  = {session->id},
        .sequence = ++session->sequence,
        .full     = full,
        .added    = self->delta,
        .n_added  = n,
    };
}

static bool has_news(
    const struct fby_directory *self, const struct session *session)
{
    return session->state == SESSION_JOINED && self->workers != NULL &&
           session->told_version <
               ((struct worker *)ELMT_FROM_HH(
                    self->workers->hh.tbl, self->workers->hh.tbl->tail))
                   ->version;
}

static bool fill_due(struct fby_directory *self, struct session *session,
    struct fby_message *out)
{
    if (session->answer_due) {
        session->answer_due = false;
        if (session->state == SESSION_JOINED) {
            fill_joined(session, out);
        } else {
            fill_refused(session, out);
        }
        return true;
    }
    if (has_news(self, session)) {
        fill_workers(self, session, out);
        return true;
    }
    return false;
}

bool fby_directory_due(struct fby_directory *self, struct fby_message *out)
{
    for (struct session *s = self->sessions; s != NULL; s = s->hh.next) {
        if (fill_due(self, s, out)) {
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
