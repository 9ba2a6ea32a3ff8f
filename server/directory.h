/* SPDX-License-Identifier: Apache-2.0 */
/* directory.h - the workers, jobs and sessions that the server knows.
 *
 * A job is one training run. Each of its trainer processes is a rank of the
 * job, and its client has a session. Workers and sessions have leases: without
 * a message that renews the lease, they are removed when it ends.
 *
 * The functions use neither socket nor clock: callers pass `now_ns`. Messages
 * to a session are marked as due, and fby_directory_take_due() returns them.
 * The directory is only in memory. After a restart of the server, workers
 * register again, and clients join again.
 *
 * The message WORKERS only adds workers to the list of a client. A worker whose
 * lease has expired is not listed for new clients, but clients that are
 * connected to it keep using it. */
#ifndef FBY_SERVER_DIRECTORY_H
#define FBY_SERVER_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/socket.h"
#include "proto/wire.h"
#include "secure/aead.h"

struct fby_directory;

struct fby_directory_config {
    int64_t  lease_ns;     /* length of all leases */
    int64_t  heartbeat_ns; /* time between two messages that renew a lease */
    uint32_t max_workers;  /* further workers are refused */
    uint32_t max_sessions; /* further sessions are refused */
};

struct fby_directory_counts {
    uint32_t workers, sessions, jobs; /* registered now */
    /* Since create: */
    uint64_t expired_workers, expired_sessions;
    uint64_t refused;     /* sessions that were refused */
    uint64_t unreachable; /* reports that a worker cannot be reached */
};

/* An empty directory; never NULL. `config` is copied. */
struct fby_directory *fby_directory_create(
    const struct fby_directory_config *config);

/* Free the directory and set *self_p to NULL; NULL is allowed. */
void fby_directory_destroy(struct fby_directory **self_p);

/* ---- workers ---- */

/* A registration belongs to the route (connection) that it came from, because
 * the lists of workers tell each client the ids of all instances. */

/* Add a worker, or renew its lease if it is registered already. A registration
 * from another route moves to it, because the worker has reconnected, if it
 * shows the secret of the registered one. A worker that registered without a
 * secret must have been silent on its old route for two heartbeats.
 * Errors: FBY_FULL   there are max_workers workers
 *         FBY_GONE   the instance is registered with other endpoints, or from
 *                    another route with another secret
 *         FBY_AGAIN  without a secret, and the old route was heard just now:
 *                    the worker registers again later. */
FBY_CHECKED fby_err fby_directory_register(struct fby_directory *self,
    const struct fby_registration                               *registration,
    const struct fby_routing_id *from, int64_t now_ns);

/* Renew the lease of a worker, and keep its load, sessions, counters and clock.
 * Errors: FBY_NOT_FOUND  the worker is not registered from this route and has
 *                        to register. */
FBY_CHECKED fby_err fby_directory_heartbeat(struct fby_directory *self,
    const struct fby_heartbeat *heartbeat, const struct fby_routing_id *from,
    int64_t now_ns);

/* Remove a worker that stops. One that is not registered from this route is
 * ignored. */
void fby_directory_deregister(struct fby_directory *self,
    struct fby_instance_id instance, const struct fby_routing_id *from);

/* Count the report of a session that it cannot reach a worker, and log it at
 * most once in a lease for each worker. Reports of unknown sessions, and about
 * unknown workers, are ignored. */
void fby_directory_report_unreachable(struct fby_directory *self,
    const struct fby_unreachable *report, int64_t now_ns);

struct fby_dir_secret {               /* of a worker with keys, from REGISTER */
    struct fby_digest secret;         /* 32 random bytes */
    int64_t           clock_ahead_ns; /* the worker's clock less this one */
};
/* False if the worker is unknown, or sent no secret. */
bool fby_directory_find_secret(const struct fby_directory *self,
    struct fby_instance_id instance, struct fby_dir_secret *out);

/* ---- sessions ---- */

/* Add a session that asks to be rank `join->rank` of a job. If the rank is
 * free, JOINED or JOIN_REFUSED becomes due at once. If another session holds
 * the rank, JOIN_REFUSED becomes due when the holder renews its lease, or
 * JOINED when the holder does not renew within one lease. Later messages to the
 * session go to `from`. A job is removed with its last session.
 * Errors: FBY_FULL  there are max_sessions sessions. */
FBY_CHECKED fby_err fby_directory_join(struct fby_directory *self,
    const struct fby_join *join, const struct fby_routing_id *from,
    int64_t now_ns);

/* Renew the lease of a session. `renew` has the digests that the session knows
 * by now and the sequence number of the last list of workers that it received.
 * If that does not rise for a quarter of a lease although later lists were sent,
 * a full list is due again, and then after twice the time, up to a lease. It is
 * due at once if the session comes from another route.
 * Digests that differ from those of the job make JOIN_REFUSED due. Else JOINED
 * becomes due to a session that has joined, so that its client knows that the
 * server is there. Later messages to the session go to `from`.
 * Errors: FBY_NOT_FOUND  the session is unknown and has to join. */
FBY_CHECKED fby_err fby_directory_renew(struct fby_directory *self,
    const struct fby_renew *renew, const struct fby_routing_id *from,
    int64_t now_ns);

/* Remove a session. An unknown session is ignored. */
void fby_directory_quit(struct fby_directory *self, struct fby_session_id id);

struct fby_dir_admitted { /* a session, and the key that it joined with */
    struct fby_session_id id;
    const char           *job;
    struct fby_key        public_key;
};
/* Note the key that a session joined with. */
void fby_directory_set_key(struct fby_directory *self, struct fby_session_id id,
    const struct fby_key *public_key);
/* False if the session is unknown or has no key. The name of the job is
 * borrowed until the session ends. */
bool fby_directory_find_admitted(const struct fby_directory *self,
    struct fby_session_id id, struct fby_dir_admitted *out);
/* Make a list of all workers due to a session with a key, if the last one is
 * older than `age_ns`: its tickets expire. */
void fby_directory_renew_tickets(struct fby_directory *self,
    struct fby_session_id id, int64_t age_ns, int64_t now_ns);

/* ---- time and due messages ---- */

/* Extend all leases by `gap_ns`, because this process did not run for that time
 * and could not receive messages. */
void fby_directory_extend_leases(struct fby_directory *self, int64_t gap_ns);

/* Remove workers and sessions whose lease expired, and admit sessions that
 * waited for a rank. */
void fby_directory_tick(struct fby_directory *self, int64_t now_ns);

/* The time of the next call of fby_directory_tick; INT64_MAX: never. */
int64_t fby_directory_deadline(const struct fby_directory *self);

/* Take one due message and its destination; false when none is due at the time
 * of the last call with now_ns. A session gets one WORKERS in 50 ms. The
 * pointers in the message are borrowed from the directory until the next call.
 * The caller sets the `server` of the message; in JOINED also lease_ms and
 * heartbeat_ms. */
bool fby_directory_take_due(struct fby_directory *self, struct fby_message *out,
    struct fby_routing_id *to);

struct fby_directory_counts fby_directory_counts(
    const struct fby_directory *self);

#endif
