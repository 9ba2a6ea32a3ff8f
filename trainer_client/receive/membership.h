/* membership.h - our place in a job, as the server is told and asked.
 *
 * Pure: joins until it is answered, renews in time, joins again when the
 * server forgot us or is another one. A session that streams and is then
 * refused leaves and asks again a lease later: it was admitted before, so the
 * server has forgotten that, and others may have come in its place. Lists of
 * workers carry numbers; one that does not follow the last is answered by the
 * server with a full one. */
#ifndef FBY_CLIENT_RECEIVE_MEMBERSHIP_H
#define FBY_CLIENT_RECEIVE_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire.h"

struct fby_membership {
    struct fby_join        join;         /* what JOIN says; texts borrowed */
    struct fby_instance_id server;       /* that we joined; 0: none */
    uint64_t               sequence;     /* of the last list taken */
    int64_t                heartbeat_ns; /* between two RENEWs */
    int64_t                retry_ns;     /* between two JOINs */
    int64_t                lease_ns;     /* after which the server forgets us */
    bool                   refused;      /* QUIT comes next, then JOIN */
    int64_t                due_ns;       /* when to speak next */
};

/* `join` without digests; says JOIN at the first tick. */
void fby_membership_init(struct fby_membership *self,
    const struct fby_join *join, int64_t retry_ns, int64_t now_ns);

/* The digests are settled: say so soon. */
void fby_membership_pin(struct fby_membership *self,
    const struct fby_digest *data, const struct fby_digest *fingerprint,
    int64_t now_ns);

/* True when `out` is to be sent now. */
bool fby_membership_tick(
    struct fby_membership *self, int64_t now_ns, struct fby_message *out);

void fby_membership_joined(struct fby_membership *self,
    const struct fby_joined *joined, int64_t now_ns);
void fby_membership_join_first(struct fby_membership *self, int64_t now_ns);

/* JOIN_REFUSED, though we stream already. */
void fby_membership_refused(struct fby_membership *self, int64_t now_ns);

/* Whether a list is to be taken: from the server we joined, and the next one
 * or a full one. */
bool fby_membership_workers(struct fby_membership *self,
    const struct fby_workers *workers, int64_t now_ns);

#endif
