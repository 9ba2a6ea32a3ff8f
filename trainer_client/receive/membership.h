/* membership.h - the client's membership in a job at the server.
 *
 * Pure. JOIN is repeated until the server answers; then RENEW is sent before
 * the lease ends. The client joins again when the server forgot the session or
 * is another instance. If JOIN is refused although the session already streams,
 * the server has lost its state, and another session may have taken the rank.
 * The client then sends QUIT and joins again one lease later. Lists of workers
 * are numbered. After a gap in the numbers RENEW makes the server send a full
 * list. */
#ifndef FBY_CLIENT_RECEIVE_MEMBERSHIP_H
#define FBY_CLIENT_RECEIVE_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire.h"

struct fby_membership {
    struct fby_join        join;         /* JOIN's values; texts borrowed */
    struct fby_instance_id server;       /* the joined server; 0: none */
    uint64_t               sequence;     /* number of the last list used */
    int64_t                heartbeat_ns; /* interval of RENEW */
    int64_t                retry_ns;     /* interval of JOIN */
    int64_t                lease_ns;     /* after this time without RENEW the
                                            server ends the session */
    bool                   refused;      /* QUIT is sent next, then JOIN */
    int64_t                due_ns;       /* time to send the next message */
};

/* Begin with `join`, which has no digests yet. The first tick sends JOIN. */
void fby_membership_init(struct fby_membership *self,
    const struct fby_join *join, int64_t retry_ns, int64_t now_ns);

/* The digests are agreed on: send them with the next message, which is due
 * now. */
void fby_membership_pin(struct fby_membership *self,
    const struct fby_digest *data, const struct fby_digest *fingerprint,
    int64_t now_ns);

/* Set *out and return true if a message must be sent now. */
bool fby_membership_tick(
    struct fby_membership *self, int64_t now_ns, struct fby_message *out);

/* JOINED: begin to renew. */
void fby_membership_joined(struct fby_membership *self,
    const struct fby_joined *joined, int64_t now_ns);
/* JOIN_FIRST: the server forgot the session; join again. */
void fby_membership_join_first(struct fby_membership *self, int64_t now_ns);

/* JOIN_REFUSED of a session that already streams. */
void fby_membership_refused(struct fby_membership *self, int64_t now_ns);

/* True if a list of workers is to be used: it comes from the joined server, and
 * is a full list or has the next number. True records the list's number. */
bool fby_membership_accept_list(struct fby_membership *self,
    const struct fby_workers *workers, int64_t now_ns);

#endif
