/* SPDX-License-Identifier: Apache-2.0 */
/* directory_state.h - the state of the directory. Internal to server/.
 *
 * Hash tables (uthash) find a worker by its instance, a session by its id or
 * route, a job by its name, and a rank by job and number. Lists (utlist) are in
 * the order in which something becomes due, so that no call walks all peers:
 * leases by the time of the last message, waits by their end, and WORKERS by
 * the time at which the next one may be sent. A session belongs to exactly one
 * job; job and rank are freed with their last session.
 *
 * Times of leases and waits are awake times: now_ns less the time for which
 * the process did not run. */
#ifndef FBY_SERVER_DIRECTORY_STATE_H
#define FBY_SERVER_DIRECTORY_STATE_H

#include <uthash.h>
#include <utlist.h>

#include "proto/counters.h"
#include "server/directory.h"

enum { MAX_ADDED = 256 }; /* workers in one WORKERS message */

struct fby_dir_worker {
    uint64_t instance; /* key */
    char    *host;
    char   **endpoints;
    size_t   n_endpoints;
    uint32_t pid;
    uint32_t cores;
    uint64_t serial;        /* number in the order of adding, from 1 */
    int64_t  seen_ns;       /* awake time of the last register or heartbeat */
    int64_t unreachable_ns; /* time of the last log line that it is; 0: never */
    struct fby_routing_id route; /* of its registration */
    /* Of the last heartbeat: */
    bool                      heard; /* there was one */
    uint32_t                  sessions;
    uint32_t                  load_permille;
    struct fby_counter_values counters;
    bool                      has_secret;
    struct fby_dir_secret     secret;         /* if has_secret */
    uint32_t                  n_set_aside_by; /* jobs; see wanted.c */
    struct fby_dir_worker    *prev, *next;    /* by seen_ns */
    UT_hash_handle            hh;
};

/* An entry of the list of workers in the order of adding. */
struct fby_dir_added {
    uint64_t               serial;
    struct fby_dir_worker *worker; /* NULL: it was removed */
};

enum session_state {
    SESSION_NEW,     /* not checked yet */
    SESSION_WAITING, /* another session holds its rank */
    SESSION_JOINED,
    SESSION_REFUSED /* kept until its lease expires, to repeat the answer */
};

struct fby_dir_job;
struct fby_dir_rank;

struct fby_dir_session {
    uint64_t                   id; /* key */
    enum session_state         state;
    struct fby_dir_job        *job;
    struct fby_dir_rank       *rank_entry;
    char                      *host;
    uint32_t                   pid;
    uint32_t                   rank;
    int64_t                    lease_ns; /* awake time at which its lease began,
                                            or its wait for the rank */
    struct fby_join            join;     /* its JOIN; the texts are NULL */
    struct fby_pace            pace;     /* of its last RENEW */
    struct fby_instance_id    *unusable; /* of its last RENEW; n_unusable */
    uint32_t                   n_unusable;
    struct fby_routing_id      route;        /* where to send messages */
    bool                       answer_due;   /* send JOINED or JOIN_REFUSED */
    enum fby_join_refused_code refusal_code; /* only in SESSION_REFUSED */
    char                       refusal[512]; /* cause of SESSION_REFUSED */
    bool                       full_due; /* the next WORKERS is a full list */
    uint64_t                   sent_serial; /* of the newest worker sent */
    int64_t        list_due_ns; /* the next WORKERS is sent no earlier */
    uint64_t       sequence;    /* number of the last WORKERS message */
    uint64_t       received;    /* the number that RENEW had last */
    int64_t        unseen_ns;   /* awake time since which a later one is on its
                                   way, with `received` unchanged */
    int64_t        patience_ns; /* after this time it counts as lost */
    bool           has_key;
    struct fby_key public_key; /* if has_key */
    int64_t        listed_ns;  /* when the last list of all was made due */
    struct fby_dir_session **leases; /* its list: session_leases or waits */
    struct fby_dir_session  *prev, *next;
    struct fby_dir_session  *answer_prev, *answer_next; /* if answer_due */
    struct fby_dir_session **lists; /* its list: behind, current; or NULL */
    struct fby_dir_session  *lists_prev, *lists_next;
    struct fby_dir_session  *rank_prev, *rank_next; /* if it waits */
    UT_hash_handle           hh, hh_route;
};

struct fby_dir_job {
    char                   *name;  /* key */
    struct fby_join         facts; /* JOIN of the first session: seed, ... */
    char                   *facts_host; /* host of the first session */
    struct fby_maybe_digest data,
        fingerprint;           /* of all ranks; set when first known */
    uint32_t       n_sessions; /* in any state */
    uint32_t       n_joined;   /* in SESSION_JOINED */
    uint32_t       index;      /* in the array of jobs that was made last */
    UT_hash_handle hh;
};

struct fby_dir_rank_key {
    struct fby_dir_job *job;
    uint64_t            number;
};

struct fby_dir_rank { /* a rank of a job */
    struct fby_dir_rank_key key;
    uint32_t                n_sessions; /* in any state */
    struct fby_dir_session *holder;     /* in SESSION_JOINED; NULL: none */
    struct fby_dir_session *waiting;    /* the one that waits longest first */
    bool                    is_vacant;  /* in the list of vacant ranks */
    struct fby_dir_rank    *prev, *next;
    UT_hash_handle          hh;
};

struct fby_directory {
    struct fby_directory_config config;
    int64_t                     asleep_ns; /* time the process did not run */
    int64_t awake_ns; /* awake time of the last call with now_ns */
    struct fby_dir_worker      *workers; /* by instance */
    struct fby_dir_worker      *worker_leases;
    struct fby_dir_added       *added_order; /* serials ascend */
    uint32_t                    n_added_order;
    struct fby_dir_session     *sessions;       /* by id */
    struct fby_dir_session     *routes;         /* the same, by route */
    struct fby_dir_session     *session_leases; /* that do not wait */
    struct fby_dir_session     *waits;
    struct fby_dir_session     *answers; /* answer_due */
    struct fby_dir_session     *behind;  /* joined; a list may be due */
    struct fby_dir_session     *current; /* joined; had all at its last list */
    struct fby_dir_job         *jobs;
    struct fby_dir_rank        *ranks;
    struct fby_dir_rank        *vacant; /* sessions wait, and none holds it */
    uint64_t                    last_serial; /* of the newest worker */
    struct fby_directory_counts counts;
    struct fby_worker_info     *added; /* [MAX_ADDED]: of the last WORKERS */
};

static inline void fby_directory_set_time(
    struct fby_directory *self, int64_t now_ns)
{
    self->awake_ns = now_ns - self->asleep_ns;
}

/* The worker with this instance, or NULL. */
struct fby_dir_worker *fby_directory_find_worker(
    const struct fby_directory *self, struct fby_instance_id instance);

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
void fby_directory_expire_workers(struct fby_directory *self);
void fby_directory_expire_sessions(struct fby_directory *self);

/* Admit sessions that wait for a rank whose holder left or did not renew. */
void fby_directory_admit_waiting(struct fby_directory *self);

/* ---- workers.c ----------------------------------------------------------- */

/* Collect in self->added up to MAX_ADDED workers whose serial number is above
 * *serial, and set *serial to that of the last one, or of the newest worker if
 * there are no more. Returns their number. */
size_t fby_directory_collect_added(
    struct fby_directory *self, uint64_t *serial);

/* ---- ranks.c: the states and lists of sessions ---------------------------- */

/* Add a session to its rank and to the job `name`, which are added if they are
 * new. */
void fby_directory_enter_job(struct fby_directory *self,
    struct fby_dir_session *session, const char *name);
/* Undo it; the session must be in SESSION_NEW. */
void fby_directory_leave_job(
    struct fby_directory *self, struct fby_dir_session *session);

/* Change the state, with all lists that follow from it. */
void fby_directory_set_state(struct fby_directory *self,
    struct fby_dir_session *session, enum session_state state);

/* A lease of the session begins now: it was heard from, or waits from now on
 * for a rank. */
void fby_directory_restart_lease(
    struct fby_directory *self, struct fby_dir_session *session);

/* ---- lists.c: due messages ------------------------------------------------ */

/* JOINED or JOIN_REFUSED is due to the session, or no longer. */
void fby_directory_set_answer_due(
    struct fby_directory *self, struct fby_dir_session *session, bool is_due);

/* Send all workers once more, as added ones: each entry has a new ticket. */
void fby_directory_list_all_again(
    struct fby_directory *self, struct fby_dir_session *session);

/* A session that joined gets a full list of workers as soon as the pace allows
 * it, and later those that are added, until lists end. */
void fby_directory_send_full_list(
    struct fby_directory *self, struct fby_dir_session *session);
void fby_directory_end_lists(struct fby_dir_session *session);

/* The client says the number of the last list that it received. If later ones
 * do not arrive for long, a full list becomes due. */
void fby_directory_note_received(struct fby_directory *self,
    struct fby_dir_session *session, uint64_t sequence);

/* The awake time at which the next message is due; INT64_MAX: none. */
int64_t fby_directory_lists_deadline(const struct fby_directory *self);

#endif
