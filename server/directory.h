/* directory.h - who is there: workers, jobs, and the sessions of their ranks.
 *
 * Pure decisions on soft state: every call gets `now_ns`, nothing here knows a
 * socket or a clock. What has to be said to a session is marked as due and
 * handed out by fby_directory_due(). Nothing is kept on disk: after a restart
 * workers and clients tell it all again.
 *
 * Lists of workers only ever add to what a client may use: a worker that is
 * late is no longer told to new clients, but no client leaves it for that. */
#ifndef FBY_SERVER_DIRECTORY_H
#define FBY_SERVER_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "proto/wire.h"

struct fby_directory;

/* Where the answers to a session go: the transport's own bytes, kept but not
 * read here. */
struct fby_route {
    uint8_t id[255];
    uint8_t size;
};

struct fby_directory_config {
    int64_t  lease_ns;     /* silent for longer: gone */
    uint32_t max_workers;  /* more are refused */
    uint32_t max_sessions; /* more are refused */
};

struct fby_directory_counts {
    uint32_t workers, sessions, jobs;
    uint64_t expired_workers, expired_sessions, refused, unreachable;
};

struct fby_directory *fby_directory_create(
    const struct fby_directory_config *config);
void fby_directory_destroy(struct fby_directory **self_p);

/* ---- workers ---- */

/* A worker says what it is; saying it again renews it.
 * Errors: FBY_FULL when there are max_workers already. */
FBY_CHECKED fby_err fby_directory_register(struct fby_directory *self,
    const struct fby_register *told, int64_t now_ns);

/* Errors: FBY_NOT_FOUND: it has to register (again). */
FBY_CHECKED fby_err fby_directory_heartbeat(struct fby_directory *self,
    struct fby_instance_id instance, int64_t now_ns);

void fby_directory_deregister(
    struct fby_directory *self, struct fby_instance_id instance);

/* A client cannot reach it: counted, and answered as known or not. */
void fby_directory_unreachable(
    struct fby_directory *self, struct fby_instance_id instance);

/* ---- sessions ---- */

/* A session asks to be rank `join->rank` of a job. The answer becomes due:
 * JOINED, JOIN_REFUSED, or, while another session holds the rank, one of them
 * after at most one lease: refused if that one renews, joined if not. `from`
 * is where answers go from now on, here and in renew. A job is what its live
 * sessions agree on; without any it is forgotten.
 * Errors: FBY_FULL when there are max_sessions already. */
FBY_CHECKED fby_err fby_directory_join(struct fby_directory *self,
    const struct fby_join *join, const struct fby_route *from, int64_t now_ns);

/* A joined session is alive, and tells what it pinned since and which list it
 * has. Digests that differ from the job's make JOIN_REFUSED due.
 * Errors: FBY_NOT_FOUND: it has to join (again). */
FBY_CHECKED fby_err fby_directory_renew(struct fby_directory *self,
    const struct fby_renew *renew, const struct fby_route *from,
    int64_t now_ns);

void fby_directory_quit(struct fby_directory *self, struct fby_session_id id);

/* ---- time and answers ---- */

/* This process was away for `gap_ns` (stopped, starved): nobody is judged by
 * what could not be heard meanwhile. */
void fby_directory_shift(struct fby_directory *self, int64_t gap_ns);

/* Let leases run out. */
void fby_directory_tick(struct fby_directory *self, int64_t now_ns);

/* When tick is needed next; INT64_MAX when nobody is there. */
int64_t fby_directory_deadline(const struct fby_directory *self);

/* One thing that is due to a session, and where it goes; false when nothing
 * is. The message's pointers lead into the directory and hold until its next
 * call; `server` and the times of JOINED are the caller's to fill. */
bool fby_directory_due(
    struct fby_directory *self, struct fby_message *out, struct fby_route *to);

struct fby_directory_counts fby_directory_counts(
    const struct fby_directory *self);

#endif
