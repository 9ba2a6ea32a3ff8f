/* membership.h - the client's membership in a job at the server.
 *
 * Pure. It repeats JOIN until the server answers, then sends RENEW in time. It
 * joins again when the server forgot the session or is another instance. A
 * session that already streams and is then refused sends QUIT and joins again
 * one lease later: the server has lost its state, and another session may have
 * taken the rank. Lists of workers are numbered. After a gap in the numbers
 * RENEW makes the server send a full list. */
#ifndef FBY_CLIENT_RECEIVE_MEMBERSHIP_H
#define FBY_CLIENT_RECEIVE_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire.h"

struct fby_membership {
    struct fby_join        join;         /* JOIN's values; texts borrowed */
    struct fby_instance_id server;       /* joined; 0: none */
    uint64_t               sequence;     /* of the last list taken */
    int64_t                heartbeat_ns; /* between two RENEWs */
    int64_t                retry_ns;     /* between two JOINs */
    int64_t                lease_ns;     /* the server forgets us after it */
    bool                   refused;      /* QUIT comes next, then JOIN */
    int64_t                due_ns;       /* time of the next message */
};

/* Begin with `join`, which has no digests yet. The first tick sends JOIN. */
void fby_membership_init(struct fby_membership *self,
    const struct fby_join *join, int64_t retry_ns, int64_t now_ns);

/* The digests are agreed on: send them with the next message, which is due
 * now. */
void fby_membership_pin(struct fby_membership *self,
    const struct fby_digest *data, const struct fby_digest *fingerprint,
    int64_t now_ns);

/* True when the caller must send `out` now. */
bool fby_membership_tick(
    struct fby_membership *self, int64_t now_ns, struct fby_message *out);

/* JOINED: begin to renew. */
void fby_membership_joined(struct fby_membership *self,
    const struct fby_joined *joined, int64_t now_ns);
/* JOIN_FIRST: the server forgot the session; join again. */
void fby_membership_join_first(struct fby_membership *self, int64_t now_ns);

/* JOIN_REFUSED of a session that already streams. */
void fby_membership_refused(struct fby_membership *self, int64_t now_ns);

/* Whether to use a list of workers: it is from the joined server, and is the
 * next one or a full one. */
bool fby_membership_workers(struct fby_membership *self,
    const struct fby_workers *workers, int64_t now_ns);

#endif
