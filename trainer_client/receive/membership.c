/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer_client/receive/membership.h"

#include "common/clock.h"
#include "common/log.h"

void fby_membership_init(struct fby_membership *self,
    const struct fby_join *join, int64_t retry_ns, int64_t now_ns)
{
    *self = (struct fby_membership){
        .join         = *join,
        .heartbeat_ns = retry_ns,
        .retry_ns     = retry_ns,
        .due_ns       = now_ns,
    };
}

void fby_membership_pin(struct fby_membership *self,
    const struct fby_digest *data, const struct fby_digest *fingerprint,
    int64_t now_ns)
{
    self->join.data = (struct fby_maybe_digest){.known = true, .digest = *data};
    self->join.fingerprint =
        (struct fby_maybe_digest){.known = true, .digest = *fingerprint};
    self->due_ns = now_ns;
}

bool fby_membership_tick(
    struct fby_membership *self, int64_t now_ns, struct fby_message *out)
{
    if (now_ns < self->due_ns) {
        return false;
    }
    if (self->refused) {
        out->type     = FBY_MSG_QUIT;
        out->quit     = (struct fby_quit){.session = self->join.session};
        self->refused = false; /* the next message is JOIN, one lease later */
        int64_t wait_ns =
            self->lease_ns > self->retry_ns ? self->lease_ns : self->retry_ns;
        self->due_ns = now_ns + wait_ns;
    } else if (self->server.value == 0) {
        out->type    = FBY_MSG_JOIN;
        out->join    = self->join;
        self->due_ns = now_ns + self->retry_ns;
    } else {
        out->type  = FBY_MSG_RENEW;
        out->renew = (struct fby_renew){
            .session     = self->join.session,
            .server      = self->server,
            .sequence    = self->sequence,
            .data        = self->join.data,
            .fingerprint = self->join.fingerprint,
        };
        self->due_ns = now_ns + self->heartbeat_ns;
    }
    return true;
}

void fby_membership_joined(struct fby_membership *self,
    const struct fby_joined *joined, int64_t now_ns)
{
    bool is_first = self->server.value != joined->server.value;
    if (is_first) {
        self->sequence = 0;
        fby_info("JOINED", "job %s, rank %u of %u", self->join.job,
            self->join.rank, self->join.world);
    }
    self->server       = joined->server;
    self->lease_ns     = (int64_t)joined->lease_ms * FBY_NS_PER_MS;
    self->heartbeat_ns = (int64_t)joined->heartbeat_ms * FBY_NS_PER_MS;
    if (self->heartbeat_ns < FBY_NS_PER_MS) { /* 0 would send without pause */
        self->heartbeat_ns = FBY_NS_PER_MS;
    }
    if (is_first) { /* else it answers a RENEW, and another one may be due */
        self->due_ns = now_ns + self->heartbeat_ns;
    }
}

void fby_membership_join_first(struct fby_membership *self, int64_t now_ns)
{
    if (self->server.value != 0) {
        self->server = (struct fby_instance_id){0};
        self->due_ns = now_ns;
    }
}

void fby_membership_refused(struct fby_membership *self, int64_t now_ns)
{
    self->server  = (struct fby_instance_id){0};
    self->refused = true;
    self->due_ns  = now_ns;
}

bool fby_membership_accept_list(struct fby_membership *self,
    const struct fby_workers *workers, int64_t now_ns)
{
    if (workers->server.value != self->server.value) {
        return false;
    }
    if (!workers->is_complete && workers->sequence != self->sequence + 1) {
        self->due_ns = now_ns; /* send RENEW, which has the last number */
        return false;
    }
    self->sequence = workers->sequence;
    return true;
}
