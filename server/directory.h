/* directory.h - the registered workers, the jobs and the sessions of their
 * ranks.
 *
 * The functions use neither socket nor clock: callers pass `now_ns`. Messages
 * to a session are marked as due, and fby_directory_take_due() returns them.
 * Nothing is stored on disk. After a restart workers register again, and
 * clients join again.
 *
 * A lease is the time for which a worker or session stays registered without a
 * message of it. The message that extends a lease renews it.
 *
 * Lists of workers that are sent to a client only add workers. A worker whose
 * lease expired is not sent to new clients, but connected clients keep using
 * it. */
#ifndef FBY_SERVER_DIRECTORY_H
#define FBY_SERVER_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/socket.h"
#include "proto/wire.h"

struct fby_directory;

struct fby_directory_config {
    int64_t  lease_ns;
    uint32_t max_workers;  /* further workers are refused */
    uint32_t max_sessions; /* further sessions are refused */
};

struct fby_directory_counts {
    uint32_t workers, sessions, jobs;           /* registered now */
    uint64_t expired_workers, expired_sessions; /* since create, as below */
    uint64_t refused;                           /* joins */
    uint64_t unreachable;                       /* reports of clients */
};

/* An empty directory; never NULL. `config` is copied. */
struct fby_directory *fby_directory_create(
    const struct fby_directory_config *config);

/* Free the directory and set *self_p to NULL; NULL is allowed. */
void fby_directory_destroy(struct fby_directory **self_p);

/* ---- workers ---- */

/* Add a worker, or renew its lease if it is registered already.
 * Errors: FBY_FULL  there are max_workers workers. */
FBY_CHECKED fby_err fby_directory_register(struct fby_directory *self,
    const struct fby_registration *registration, int64_t now_ns);

/* Renew the lease of a worker.
 * Errors: FBY_NOT_FOUND  unknown: the worker has to register. */
FBY_CHECKED fby_err fby_directory_heartbeat(struct fby_directory *self,
    struct fby_instance_id instance, int64_t now_ns);

/* Remove a worker that stops; an unknown one is ignored. */
void fby_directory_deregister(
    struct fby_directory *self, struct fby_instance_id instance);

/* Count and log a client's report that it cannot reach a worker. */
void fby_directory_unreachable(
    struct fby_directory *self, struct fby_instance_id instance);

/* ---- sessions ---- */

/* Handle the request of a session to be rank `join->rank` of a job. If the rank
 * is free, JOINED or JOIN_REFUSED becomes due at once. If another session holds
 * the rank, JOIN_REFUSED becomes due when the holder renews its lease, or
 * JOINED when the holder does not renew within one lease. Later messages to the
 * session go to `from`. A job is removed with its last session.
 * Errors: FBY_FULL  there are max_sessions sessions. */
FBY_CHECKED fby_err fby_directory_join(struct fby_directory *self,
    const struct fby_join *join, const struct fby_routing_id *from,
    int64_t now_ns);

/* Renew the lease of a session. `renew` has the digests that the session knows
 * by now and the sequence of its list of workers. Digests that differ from
 * those of the job make JOIN_REFUSED due. Later messages to the session go to
 * `from`.
 * Errors: FBY_NOT_FOUND  unknown: the session has to join. */
FBY_CHECKED fby_err fby_directory_renew(struct fby_directory *self,
    const struct fby_renew *renew, const struct fby_routing_id *from,
    int64_t now_ns);

/* Remove a session; an unknown one is ignored. */
void fby_directory_quit(struct fby_directory *self, struct fby_session_id id);

/* ---- time and due messages ---- */

/* Extend all leases by `gap_ns`, because this process did not run for that time
 * and could not receive messages. */
void fby_directory_extend_leases(struct fby_directory *self, int64_t gap_ns);

/* Remove workers and sessions whose lease expired, and admit sessions that
 * waited for a rank. */
void fby_directory_tick(struct fby_directory *self, int64_t now_ns);

/* When fby_directory_tick must be called next; INT64_MAX: never. */
int64_t fby_directory_deadline(const struct fby_directory *self);

/* Take one due message and its destination; false when none is due. The
 * pointers in the message are borrowed from the directory until the next call.
 * The caller sets `server`, and in JOINED also the times. */
bool fby_directory_take_due(struct fby_directory *self, struct fby_message *out,
    struct fby_routing_id *to);

/* The counters. */
struct fby_directory_counts fby_directory_counts(
    const struct fby_directory *self);

#endif
