/* SPDX-License-Identifier: Apache-2.0 */
/* membership.h - the client's membership in a job (the trainers that share a
 * dataset) at the server. It decides which message to the server is due.
 *
 * The client repeats JOIN until the server answers. Then it sends RENEW before
 * the lease ends. It joins again when the server was restarted or has forgotten
 * the session. If the server has lost its state and another session has taken
 * the rank, JOIN is refused although the session already streams. The client
 * then sends QUIT, and joins again one lease later. Worker lists are numbered.
 * After a gap in the numbers the client sends RENEW and gets a full list.
 * Pure: no socket and no clock. */
#ifndef FBY_CLIENT_RECEIVE_MEMBERSHIP_H
#define FBY_CLIENT_RECEIVE_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire.h"

struct fby_membership {
    struct fby_join        join;         /* what JOIN says; texts borrowed */
    struct fby_instance_id server;       /* the joined server; 0: not joined */
    uint64_t               sequence;     /* number of the last accepted list */
    int64_t                heartbeat_ns; /* time between RENEWs */
    int64_t                retry_ns;     /* time between unanswered JOINs */
    int64_t                lease_ns;     /* a session ends so long after its
                                            last RENEW */
    bool                   refused;      /* send QUIT next, and JOIN later */
    int64_t                due_ns;       /* time to send the next message */
};

/* Begin with `join`, which has no digests of dataset and fingerprint yet. The
 * first tick sends JOIN. */
void fby_membership_init(struct fby_membership *self,
    const struct fby_join *join, int64_t retry_ns, int64_t now_ns);

/* The dataset is chosen: send its digest and the workers' fingerprint to the
 * server in the next message, which is due now. */
void fby_membership_pin(struct fby_membership *self,
    const struct fby_digest *data, const struct fby_digest *fingerprint,
    int64_t now_ns);

/* Set *out and return true if a message must be sent now. */
bool fby_membership_tick(
    struct fby_membership *self, int64_t now_ns, struct fby_message *out);

/* JOINED: begin to renew, unless it only answers a RENEW. */
void fby_membership_joined(struct fby_membership *self,
    const struct fby_joined *joined, int64_t now_ns);
/* JOIN_FIRST: the server forgot the session; join again. */
void fby_membership_join_first(struct fby_membership *self, int64_t now_ns);

/* JOIN_REFUSED, while the stream goes on: send QUIT, and join again later. */
void fby_membership_refused(struct fby_membership *self, int64_t now_ns);

/* If a list of workers is from the joined server, and is full or has the next
 * number, record its number and return true: the caller must use the list. */
bool fby_membership_accept_list(struct fby_membership *self,
    const struct fby_workers *workers, int64_t now_ns);

#endif
