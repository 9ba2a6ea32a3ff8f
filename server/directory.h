/* directory.h - the registered workers, the jobs and the sessions of their
 * ranks.
 *
 * Pure functions on soft state, without socket or clock: callers pass `now_ns`.
 * Messages to a session are marked as due and returned by fby_directory_due().
 * Nothing is stored on disk: after a restart workers register and clients join
 * again.
 *
 * Worker lists only add workers: a late worker is left out of lists for new
 * clients, but connected clients keep using it. */
#ifndef FBY_SERVER_DIRECTORY_H
#define FBY_SERVER_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "proto/wire.h"

struct fby_directory;

/* The destination of messages to a session: the routing id of ZeroMQ, which the
 * directory stores but does not interpret. */
struct fby_route {
    uint8_t id[255];
    uint8_t size;
};

struct fby_directory_config {
    int64_t  lease_ns;     /* removed after a longer silence */
    uint32_t max_workers;  /* more are refused */
    uint32_t max_sessions; /* more are refused */
};

struct fby_directory_counts {
    uint32_t workers, sessions, jobs; /* now */
    uint64_t expired_workers, expired_sessions;
    uint64_t refused;     /* joins */
    uint64_t unreachable; /* reports of clients */
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
    const struct fby_register *registration, int64_t now_ns);

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

/* A session asks to be rank `join->rank` of a job. JOINED or JOIN_REFUSED
 * becomes due at once. While another session holds the rank it becomes due
 * within one lease: JOIN_REFUSED if the holder renews, else JOINED. Later
 * messages to the session go to `from`, here and in renew. A job is defined by
 * its live sessions, and removed with the last of them.
 * Errors: FBY_FULL  there are max_sessions sessions. */
FBY_CHECKED fby_err fby_directory_join(struct fby_directory *self,
    const struct fby_join *join, const struct fby_route *from, int64_t now_ns);

/* Renew the lease of a session. `renew` has the digests that it knows by now
 * and the sequence of its worker list. Digests that differ from those of the
 * job make JOIN_REFUSED due.
 * Errors: FBY_NOT_FOUND  unknown: the session has to join. */
FBY_CHECKED fby_err fby_directory_renew(struct fby_directory *self,
    const struct fby_renew *renew, const struct fby_route *from,
    int64_t now_ns);

/* Remove a session; an unknown one is ignored. */
void fby_directory_quit(struct fby_directory *self, struct fby_session_id id);

/* ---- time and due messages ---- */

/* Extend all leases by `gap_ns`, because this process did not run for that time
 * (stopped, starved) and could not receive renewals. */
void fby_directory_shift(struct fby_directory *self, int64_t gap_ns);

/* Remove workers and sessions whose lease expired, and admit sessions that
 * waited for a rank. */
void fby_directory_tick(struct fby_directory *self, int64_t now_ns);

/* The time of the next necessary tick; INT64_MAX: none. */
int64_t fby_directory_deadline(const struct fby_directory *self);

/* Take one due message and its destination; false when none is due. The
 * message's pointers are borrowed from the directory, until the next call. The
 * caller sets `server`, and the times of JOINED. */
bool fby_directory_due(
    struct fby_directory *self, struct fby_message *out, struct fby_route *to);

/* The counters since create. */
struct fby_directory_counts fby_directory_counts(
    const struct fby_directory *self);

#endif
