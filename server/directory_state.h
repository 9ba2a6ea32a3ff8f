/* SPDX-License-Identifier: Apache-2.0 */
/* directory_state.h - the state of the directory. Internal to server/.
 *
 * Three hash tables (uthash): workers by instance, sessions by id, jobs by
 * name. Iterate by hh.next, in the order of adding. A session belongs to
 * exactly one job; a job is freed with its last session. */
#ifndef FBY_SERVER_DIRECTORY_STATE_H
#define FBY_SERVER_DIRECTORY_STATE_H

#include <uthash.h>

#include "server/directory.h"

enum { MAX_ADDED = 1024 }; /* workers in one WORKERS message */

struct fby_dir_worker {
    uint64_t instance; /* key */
    char    *host;
    char   **endpoints;
    size_t   n_endpoints;
    uint64_t serial;        /* number in the order of adding, from 1 */
    int64_t  seen_ns;       /* time of the last register or heartbeat */
    int64_t unreachable_ns; /* time of the last log line that it is; 0: never */
    struct fby_routing_id route; /* of its registration */
    bool                  has_secret;
    struct fby_dir_secret secret; /* if has_secret */
    UT_hash_handle        hh;
};

enum session_state {
    SESSION_NEW,     /* not checked yet */
    SESSION_WAITING, /* another session holds its rank */
    SESSION_JOINED,
    SESSION_REFUSED /* kept until its lease expires, to repeat the answer */
};

struct fby_dir_job;

struct fby_dir_session {
    uint64_t                   id; /* key */
    enum session_state         state;
    struct fby_dir_job        *job;
    char                      *host;
    uint32_t                   pid;
    uint32_t                   rank;
    int64_t                    seen_ns; /* time of the last join or renew */
    int64_t                    waits_until_ns; /* only in SESSION_WAITING */
    struct fby_join            join;         /* its JOIN; the texts are NULL */
    struct fby_routing_id      route;        /* where to send messages */
    bool                       answer_due;   /* send JOINED or JOIN_REFUSED */
    enum fby_join_refused_code refusal_code; /* only in SESSION_REFUSED */
    char                       refusal[512]; /* cause of SESSION_REFUSED */
    uint64_t sent_serial; /* of the newest worker sent; 0: a full list is due */
    uint64_t sequence;    /* number of the last WORKERS message */
    bool     has_key;
    struct fby_digest public_key; /* if has_key */
    int64_t           listed_ns;  /* when the last full list was made due */
    UT_hash_handle    hh;
};

struct fby_dir_job {
    char                   *name;  /* key */
    struct fby_join         facts; /* JOIN of the first session: seed, ... */
    char                   *facts_host; /* host of the first session */
    struct fby_maybe_digest data,
        fingerprint;           /* of all ranks; set when first known */
    uint32_t       n_sessions; /* in any state */
    UT_hash_handle hh;
};

struct fby_directory {
    struct fby_directory_config config;
    struct fby_dir_worker      *workers;
    struct fby_dir_session     *sessions;
    struct fby_dir_job         *jobs;
    uint32_t                    n_waiting;   /* sessions in SESSION_WAITING */
    uint64_t                    last_serial; /* of the newest worker */
    struct fby_directory_counts counts;
    struct fby_worker_info     *added; /* [MAX_ADDED]: of the last WORKERS */
};

/* The session with this id, or NULL. */
struct fby_dir_session *fby_directory_find_session(
    const struct fby_directory *self, struct fby_session_id id);

/* Remove and free a worker, or a session. The last session of a job is freed
 * with its job. */
void fby_directory_remove_worker(
    struct fby_directory *self, struct fby_dir_worker *worker);
void fby_directory_remove_session(
    struct fby_directory *self, struct fby_dir_session *session);

/* Remove and free the workers, or the sessions, whose lease expired. */
void fby_directory_expire_workers(struct fby_directory *self, int64_t now_ns);
void fby_directory_expire_sessions(struct fby_directory *self, int64_t now_ns);

/* Admit sessions that wait for a rank whose holder left or did not renew. */
void fby_directory_admit_waiting(struct fby_directory *self, int64_t now_ns);

#endif
